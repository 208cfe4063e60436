//! The walk over a planned document, in the order in which version 2 writes it.
//!
//! It knows the grammar and nothing else: which brackets, commas and line feeds stand where. What comes of them is
//! the page's: one walk surveys what is left to be written out, another writes. The tree is walked with a stack of
//! our own; inside a table's row or a tuple the columns lead, everywhere else the text.

mod header;

use crate::v2::plan::columns::{ColumnId, Columns, List, ListId, NONE, Role};
use crate::v2::plan::{Form, ShapeId};
use crate::v2::tree::{Place, Token, Tree};

/// What a walk is for.
pub(crate) trait Page {
    /// Does it want to see each string of an array?
    const CARES: bool;

    /// Does it care for nothing but objects that are written out?
    const SHALLOW: bool;

    /// Are objects spliced in where they can be, or does it want to see each as if it were a tuple, unless the splice is
    /// [firm](crate::v2::plan::columns::Column::firm)?
    const SPLICES: bool;

    /// Bytes of the text.
    fn put(&mut self, bytes: &[u8]);

    /// A piece of the document, from one place to another, behind a comma if there is to be one.
    fn copy(&mut self, comma: bool, text: &[u8], from: usize, to: usize);

    /// A key, with its quotes from one place to another, behind a comma if there is to be one.
    fn key(&mut self, comma: bool, text: &[u8], from: usize, to: usize);

    /// A key and the scalar behind its colon, which ends at `end`.
    #[inline(always)]
    fn member(&mut self, comma: bool, text: &[u8], from: usize, colon: usize, end: usize) {
        self.key(comma, text, from, colon);
        self.copy(false, text, colon, end);
    }

    /// A string that stands as a value.
    fn text(&mut self, tree: Tree<'_>, string: Token);

    /// A string that a header has, between its quotes, with names of columns in it.
    fn template(&mut self, template: u32);

    /// The form of a container.
    fn form(&self, container: Token) -> Form;

    /// A container is to be written, and may be named here if `names`. True if it is said by a name that it has got
    /// before, and all of it is done with.
    fn again(&mut self, tree: Tree<'_>, container: Token, names: bool) -> bool;

    /// Can an object be written as a tuple of this list, with which not all agree?
    fn fits(&mut self, tree: Tree<'_>, object: Token, columns: &Columns, list: ListId) -> bool;

    /// The name of a shape that is defined or used here.
    fn name(&mut self, shape: ShapeId);

    /// Something that stands for more than itself begins, a row, a tuple or a name, and the JSON it stands for ends at
    /// `end`.
    fn expands(&mut self, end: usize);

    /// An object that could be spliced in, met as a tuple by a page that does not splice.
    #[inline(always)]
    fn whole(&mut self, _: Token, _: ColumnId) {}

    /// Columns and object do not agree, which the plan should have seen to: this text must not be sent.
    fn fails(&mut self) {}

    /// An object that was written out has ended; `table` if there is one in it.
    fn ended(&mut self, tree: Tree<'_>, object: Token, table: bool);

    /// A table, or an array with objects in it, has ended.
    #[inline(always)]
    fn left(&mut self, _: Token) {}
}

/// A container that is being walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    kind: Kind,
    /// What comes next of it: a value, or the key of one.
    at: Token,
    close: Token,
    /// Has nothing of it been written yet? Of what is spliced in: nothing of the row or tuple around.
    fresh: bool,
    /// Tables of the document before it.
    tables: u32,
    /// Its own token.
    open: Token,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Object,
    /// The values of an object whose keys have been said before.
    Shape,
    /// Tuples in it take the columns of this list, if there is one.
    Array(ListId),
    Table(ListId),
    Keyed(ListId),
    /// A row of a table, from this column on.
    Row(ColumnId),
    /// A tuple, from this column on.
    Tuple(ColumnId),
    /// The same of an object that is spliced into what is around it.
    Spliced(ColumnId),
}

impl Kind {
    /// A row or a tuple goes on with this column.
    #[inline(always)]
    fn at(self, column: ColumnId) -> Self {
        match self {
            Self::Row(_) => Self::Row(column),
            Self::Spliced(_) => Self::Spliced(column),
            _ => Self::Tuple(column),
        }
    }
}

/// Walks one value of `tree`, whose tables have these `columns`. The stack is only memory.
#[inline(always)]
pub(crate) fn walk(tree: Tree<'_>, value: Token, columns: &Columns, stack: &mut Vec<Frame>, page: &mut impl Page) {
    stack.clear();
    // Around the value, whatever that is.
    let top = Frame { kind: Kind::Object, at: 0, close: 0, fresh: true, tables: 0, open: 0 };
    let mut walk = Walk { tree, columns, top, stack, page, after_table: false, in_header: false, tables: 0 };
    walk.value(value, NONE);
    while !walk.stack.is_empty() {
        walk.next();
    }
}

struct Walk<'a, P> {
    tree: Tree<'a>,
    columns: &'a Columns,
    /// The innermost container. Not on the stack, where it would be stored in parts and loaded as a whole, for which the
    /// processor has to wait.
    top: Frame,
    /// Those around it.
    stack: &'a mut Vec<Frame>,
    page: &'a mut P,
    /// A table has just ended: its last line feed is the comma too.
    after_table: bool,
    in_header: bool,
    /// Tables so far.
    tables: u32,
}

impl<P: Page> Walk<'_, P> {
    /// A scalar, or the beginning of a container. A tuple that stands here takes the columns of `list`.
    #[inline(always)]
    fn value(&mut self, value: Token, list: ListId) {
        match self.tree.first(value) {
            b'"' => self.page.text(self.tree, value),
            b'{' | b'[' => self.container(value, list),
            _ => self.page.copy(false, self.tree.text, self.tree.start(value), self.tree.end(value)),
        }
    }

    fn container(&mut self, value: Token, list: ListId) {
        let tree = self.tree;
        let form = self.page.form(value);
        if let Form::Table(columns) = form {
            self.tables += 1;
            let keyed = tree.first(value) == b'{';
            if P::SHALLOW && !self.columns.list(columns).leaves {
                return;
            }
            self.page.put(if keyed { b"{" } else { b"[" });
            self.header(tree.children(value), columns, if keyed { b'}' } else { b']' });
            return self.push(value, if keyed { Kind::Keyed(columns) } else { Kind::Table(columns) });
        }
        if self.page.again(tree, value, !self.in_header) {
            self.page.expands(tree.end(value));
            return;
        }
        if tree.is_flat(value) {
            return self.flat(value);
        }
        if tree.first(value) == b'[' {
            self.page.put(b"[");
            return self.push(value, Kind::Array(list));
        }
        if list != NONE && (self.columns.list(list).complete || self.page.fits(tree, value, self.columns, list)) {
            self.page.put(b"(");
            return self.push(value, Kind::Tuple(self.columns.list(list).head));
        }
        let kind = match form {
            // In a header nothing is named, and what is named behind it is not known yet.
            _ if self.in_header => {
                self.page.put(b"{");
                Kind::Object
            }
            Form::Uses(shape) => {
                self.page.expands(tree.end(value));
                self.page.put(b"@");
                self.page.name(shape);
                self.page.put(b"(");
                Kind::Shape
            }
            Form::Defines(shape) => {
                self.page.put(b"@");
                self.page.name(shape);
                self.page.put(b"{");
                Kind::Object
            }
            _ => {
                self.page.put(b"{");
                Kind::Object
            }
        };
        self.push(value, kind);
    }

    fn push(&mut self, open: Token, kind: Kind) {
        self.stack.push(self.top);
        let close = self.tree.close(open);
        self.top = Frame { kind, at: open + 1, close, fresh: true, tables: self.tables, open };
    }

    fn pop(&mut self) {
        if let Some(around) = self.stack.pop() {
            self.top = around;
        }
    }

    /// An array without objects in it: its text, string by string only if somebody cares for them.
    fn flat(&mut self, array: Token) {
        if P::CARES {
            self.dense(array)
        } else {
            self.page.copy(false, self.tree.text, self.tree.start(array), self.tree.end(array))
        }
    }

    /// What comes next of the innermost container.
    #[inline(always)]
    fn next(&mut self) {
        let Frame { kind, at, close, open, .. } = self.top;
        match kind {
            Kind::Object => self.members(),
            Kind::Shape => self.shape(),
            Kind::Array(_) if at == close => {
                self.end(b"]");
                self.page.left(open);
            }
            Kind::Array(list) => {
                self.comma();
                self.step(at);
                // A tuple is a direct element; an array inside the array holds none.
                self.value(at, if self.tree.first(at) == b'{' { list } else { NONE });
            }
            Kind::Table(_) | Kind::Keyed(_) if at == close => {
                self.pop();
                self.after_table = true;
                self.page.left(open);
            }
            Kind::Table(list) => {
                self.page.expands(self.tree.end(at));
                self.step(at);
                self.push(at, Kind::Row(self.columns.list(list).head));
            }
            Kind::Keyed(list) => {
                self.page.expands(self.tree.end(at + 1));
                self.key(false, at);
                self.page.put(b":");
                self.step(at + 1);
                self.push(at + 1, Kind::Row(self.columns.list(list).head));
            }
            Kind::Row(column) | Kind::Tuple(column) | Kind::Spliced(column) => self.cells(column),
        }
    }

    /// The members of an object, up to one whose value is a container, or all that are left.
    #[inline(always)]
    fn members(&mut self) {
        let tree = self.tree;
        let Frame { mut at, close, fresh, .. } = self.top;
        let mut comma = !fresh && !self.after_table;
        self.after_table = false;
        while at < close {
            let value = at + 1;
            if P::SHALLOW && !tree.is_container(value) {
                at += 2;
                continue;
            }
            let start = tree.start(at);
            let (place, after) = tree.place(value);
            let colon = place.start() - 1;
            at = after;
            if after == value + 1 && !(P::CARES && tree.first(value) == b'"') {
                self.page.member(comma, tree.text, start, colon, place.end());
                comma = true;
                continue;
            }
            self.page.key(comma, tree.text, start, colon);
            self.page.put(b":");
            comma = true;
            if after > value + 1 {
                self.leave(at);
                return self.container(value, NONE);
            }
            self.page.text(tree, value);
        }
        if !self.in_header {
            self.page.ended(tree, self.top.open, self.tables > self.top.tables);
        }
        self.end(b"}");
    }

    /// The same of an object whose keys have been said before.
    #[inline(always)]
    fn shape(&mut self) {
        let Frame { mut at, close, fresh, .. } = self.top;
        let mut comma = !fresh && !self.after_table;
        self.after_table = false;
        while at < close {
            let value = at + 1;
            let (place, after) = self.tree.place(value);
            at = after;
            if after > value + 1 {
                if comma {
                    self.page.put(b",");
                }
                self.leave(at);
                return self.container(value, NONE);
            }
            self.scalar(comma, value, place);
            comma = true;
        }
        self.end(b")");
    }

    /// A scalar, behind a comma if there is to be one.
    #[inline(always)]
    fn scalar(&mut self, comma: bool, value: Token, place: Place) {
        let tree = self.tree;
        if P::CARES && tree.first(value) == b'"' {
            if comma {
                self.page.put(b",");
            }
            self.page.text(tree, value);
        } else {
            self.page.copy(comma, tree.text, place.start(), place.end());
        }
    }

    /// The innermost container goes on at `at` once what is in it has ended.
    #[inline(always)]
    fn leave(&mut self, at: Token) {
        self.top.at = at;
        self.top.fresh = false;
    }

    /// The cells of a row or tuple, up to one that is a container, or all that are left.
    #[inline(always)]
    fn cells(&mut self, mut id: ColumnId) {
        let tree = self.tree;
        let Frame { kind, mut at, close, fresh, .. } = self.top;
        // How many commas there are to be before the next cell: one more for each that is empty.
        let mut commas = usize::from(!fresh);
        if id != NONE {
            let columns = self.columns;
            let owner = columns.column(id).owner;
            let List { regular, objects, optionals, .. } = *columns.list(owner);
            while id != NONE {
                let mut column = columns.column(id);
                if !regular && column.rows != objects {
                    // The cells of columns that it lacks are empty: it has none of those between two keys of its own.
                    let found = if at < close {
                        columns.seek(tree, owner, id, tree.key_place(at)).unwrap_or(NONE)
                    } else {
                        NONE
                    };
                    let before = if found == NONE { optionals } else { columns.column(found).optionals };
                    commas += before.saturating_sub(column.optionals) as usize;
                    if found == NONE {
                        break;
                    }
                    (id, column) = (found, columns.column(found));
                }
                let this = id;
                let value = at + 1;
                let (place, after) = tree.place(value);
                at = after;
                id = column.next;
                if matches!(column.role, Role::Constant | Role::Template(_))
                    || P::SHALLOW && (!column.leaves || tree.is_plain(value))
                {
                    continue;
                }
                if column.role == Role::Spliced {
                    if P::SPLICES || column.firm {
                        self.skip(commas);
                        self.top.kind = kind.at(id);
                        self.top.at = at;
                        self.top.fresh = commas == 0;
                        return self.splice(value, column.list);
                    }
                    self.page.whole(value, this);
                }
                if column.default && tree.equal(column.likely_place, place) {
                    commas += 1;
                    continue;
                }
                self.skip(commas);
                let comma = commas > 0;
                commas = 1;
                if after == value + 1 {
                    self.scalar(comma, value, place);
                    continue;
                }
                if comma {
                    self.page.put(b",");
                }
                self.top.kind = kind.at(id);
                self.leave(at);
                let tuples = matches!(column.role, Role::Nested | Role::Spliced);
                return self.container(value, if tuples { column.list } else { NONE });
            }
        }
        debug_assert_eq!(at, close, "an object has other keys than its columns");
        if at != close {
            self.page.fails();
        }
        self.skip(commas);
        if let Kind::Spliced(_) = kind {
            self.pop();
            self.top.fresh = commas == 0;
            return;
        }
        self.end(if let Kind::Row(_) = kind { b"\n" } else { b")" });
    }

    /// Of so many commas all but the last, which is for the cell behind them.
    #[inline(always)]
    fn skip(&mut self, commas: usize) {
        if commas > 1 {
            self.put_commas(commas - 1);
        }
    }

    fn put_commas(&mut self, mut count: usize) {
        const COMMAS: &[u8; 64] = &[b','; 64];
        while count > 0 {
            let some = count.min(COMMAS.len());
            self.page.put(&COMMAS[..some]);
            count -= some;
        }
    }

    /// The cells of an object go on where those around it are.
    fn splice(&mut self, object: Token, list: ListId) {
        let fresh = self.top.fresh;
        self.push(object, Kind::Spliced(self.columns.list(list).head));
        self.top.fresh = fresh;
    }

    /// The innermost container goes on behind `value`.
    #[inline(always)]
    fn step(&mut self, value: Token) {
        self.leave(self.tree.after(value));
    }

    #[inline(always)]
    fn comma(&mut self) {
        if !self.top.fresh && !self.after_table {
            self.page.put(b",");
        }
        self.after_table = false;
    }

    #[inline(always)]
    fn end(&mut self, bracket: &[u8]) {
        self.page.put(bracket);
        self.after_table = false;
        self.pop();
    }

    /// A key, behind a comma if there is to be one.
    #[inline(always)]
    fn key(&mut self, comma: bool, key: Token) {
        let place = self.tree.key_place(key);
        self.page.key(comma, self.tree.text, place.start(), place.end());
    }
}
