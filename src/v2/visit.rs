//! The traversal of a planned document, in the order in which version 2 writes it.
//!
//! It knows the grammar and nothing else: which brackets, commas and line feeds stand where (STC.md, sections 14 to 19). What
//! becomes of them is up to the [`Visitor`]: one surveys what can be named, one writes, one records for an explanation. There
//! is no recursion: open containers are on a stack, so deep input cannot overflow the program's (section 10.1). Inside a row or
//! a tuple the columns give the order, everywhere else the text does.

mod cells;
mod header;
mod members;
mod open;

use bumpalo::Bump;

use crate::format::{
    ARRAY_CLOSE, ARRAY_OPEN, COMMA, COUNT_CLOSE, COUNT_OPEN, DENSE_COLON, KEYED_COUNT_CLOSE, KEYED_COUNT_OPEN,
    OBJECT_OPEN, SHAPE_SIGIL, TUPLE_OPEN, WHOLE_ROW_SIGN,
};
use crate::v2::arena::{ArenaVec, FIRST_CAPACITY};
use crate::v2::plan::columns::{ColumnId, Columns, List, ListId, NONE};
use crate::v2::plan::form::ContainerForm;
use crate::v2::plan::shapes::ShapeId;
use crate::v2::tree::{TextRange, Token, Tree};

/// The receiver of a traversal.
pub(crate) trait Visitor {
    /// Whether [`string`](Self::string) is called for each string, in arrays too. If not, strings are copied like numbers.
    const VISITS_STRINGS: bool;

    /// Whether only objects that are written out are of interest, so that everything else is skipped.
    const VISITS_OBJECTS_ONLY: bool;

    /// Whether spliced objects are visited cell by cell. If not, each is visited as if it were a tuple, unless its column
    /// [keeps its splice](crate::v2::plan::columns::Column::keeps_splice).
    const VISITS_SPLICES: bool;

    /// Takes bytes that are not in the document.
    fn put(&mut self, bytes: &[u8]);

    /// Takes a part of the document, after a comma if `comma`.
    fn copy(&mut self, comma: bool, text: &[u8], from: usize, to: usize);

    /// Takes a key, which has its quotes in the document, after a comma if `comma`.
    fn key(&mut self, comma: bool, text: &[u8], from: usize, to: usize);

    /// Takes a key and the scalar after its colon, which ends at `end`.
    #[inline(always)]
    fn member(&mut self, comma: bool, text: &[u8], from: usize, colon: usize, end: usize) {
        self.key(comma, text, from, colon);
        self.put(&[DENSE_COLON]);
        self.scalar(false, text, colon + 1, end);
    }

    /// Takes a scalar that may be a bare string: the value of a member, a constant or a cell. It comes after a comma if `comma`.
    #[inline(always)]
    fn scalar(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        self.copy(comma, text, from, to);
    }

    /// Takes a string that is a value. It stands where a bare string may if `may_be_bare`.
    fn string(&mut self, tree: Tree<'_>, string: Token, may_be_bare: bool);

    /// Takes a template of a header.
    fn template(&mut self, template: u32);

    /// Returns the form of a container that is about to be visited.
    fn form(&self, container: Token) -> ContainerForm;

    /// Returns whether a container is a table.
    #[inline(always)]
    fn is_table(&self, container: Token) -> bool {
        matches!(self.form(container), ContainerForm::Table(_))
    }

    /// Takes a container that is about to be written, and the name it gets, if any. Returns whether it is a copy, which is
    /// complete with its name. `may_name` is false in a header.
    fn begin_container(&mut self, tree: Tree<'_>, container: Token, may_name: bool) -> bool;

    /// Takes an object that is about to be written, in a column whose list not all objects agree with. Returns whether it is a tuple of
    /// that list.
    fn decide_tuple(&mut self, tree: Tree<'_>, object: Token, columns: &Columns<'_>, list: ListId) -> bool;

    /// Takes the name of a shape, where it is defined or used.
    fn shape_name(&mut self, shape: ShapeId);

    /// Takes the beginning of something that stands for more JSON than it is long (a row, a tuple, a name); that JSON ends at
    /// `end`.
    fn expands(&mut self, end: usize);

    /// Takes an object of a spliced column, if it is visited as a tuple.
    #[inline(always)]
    fn spliced_object(&mut self, _object: Token, _column: ColumnId) {}

    /// Takes note that columns and an object disagree, which the plan rules out: this text must not be sent.
    fn fail(&mut self) {}

    /// Takes the end of an object that was written out. `has_table` tells whether a table is inside.
    fn end_object(&mut self, tree: Tree<'_>, object: Token, has_table: bool);

    /// Takes the end of a table, or of an array with objects inside.
    #[inline(always)]
    fn end_array(&mut self, _array: Token) {}
}

/// Visits one value of `tree`, whose tables have these `columns`.
#[inline(always)]
pub(crate) fn visit(tree: Tree<'_>, value: Token, columns: &Columns<'_>, arena: &Bump, visitor: &mut impl Visitor) {
    let stack = ArenaVec::with_capacity_in(FIRST_CAPACITY, arena);
    // Whatever is around the value.
    let top = VisitFrame { kind: VisitKind::Object, at: 0, close: 0, is_first: true, tables: 0, open: 0 };
    let mut traversal =
        Traversal { tree, columns, top, stack, visitor, leaf: None, after_table: false, in_header: false, tables: 0 };
    traversal.value(value, NONE);
    loop {
        traversal.leaf_object();
        if traversal.stack.is_empty() {
            break;
        }
        traversal.next();
    }
}

/// An open container.
#[derive(Clone, Copy, Debug)]
struct VisitFrame {
    kind: VisitKind,
    /// The value, or the key of one, that comes next.
    at: Token,
    close: Token,
    /// Whether nothing of it has been written, so that no comma comes next. Of a spliced object: of the row or tuple around.
    is_first: bool,
    /// The tables of the document before it.
    tables: u32,
    /// Its own token.
    open: Token,
}

#[derive(Clone, Copy, Debug)]
enum VisitKind {
    Object,
    /// The values of a shape's tuple.
    Shape,
    /// An array; tuples in it have the columns of this list, if there is one.
    Array(ListId),
    Table(ListId),
    KeyedTable(ListId),
    /// A row of a table, from this column on.
    Row(ColumnId),
    /// A tuple, from this column on.
    Tuple(ColumnId),
    /// An object that is spliced into the row or tuple around it, from this column on.
    Spliced(ColumnId),
    /// An object of an open list, and the column that is due; a row if `row`.
    Open {
        list: ListId,
        due: ColumnId,
        row: bool,
    },
}

struct Traversal<'t, 'p, V> {
    tree: Tree<'t>,
    columns: &'p Columns<'p>,
    /// The innermost container. It is not on the stack, where it would be stored in parts and loaded as a whole, for which the
    /// processor has to wait.
    top: VisitFrame,
    /// The containers around it.
    stack: ArenaVec<'p, VisitFrame>,
    visitor: &'p mut V,
    /// An object of no list that has been opened and has only scalars inside. It is visited without a frame, and not where it is
    /// opened, so that the loop over its members is compiled once, in the function that is built with the kernel's instructions.
    leaf: Option<Token>,
    /// Whether a table has just ended: its last line feed is the comma too (section 16.4).
    after_table: bool,
    in_header: bool,
    /// The tables so far.
    tables: u32,
}

impl<V: Visitor> Traversal<'_, '_, V> {
    /// Visits a scalar, or opens a container. A tuple has the columns of `list`.
    #[inline(always)]
    fn value(&mut self, value: Token, list: ListId) {
        match self.tree.first(value) {
            b'"' => self.visitor.string(self.tree, value, false),
            b'{' | b'[' => self.open(value, list),
            _ => self.visitor.copy(false, self.tree.text, self.tree.start(value), self.tree.end(value)),
        }
    }

    /// Opens a container; most are objects without others inside. Not inlined: at its three callers it would add 31,000 bytes to
    /// the WebAssembly module.
    #[inline(never)]
    fn open(&mut self, value: Token, list: ListId) {
        if !self.is_plain_leaf(value) {
            return self.container(value, list);
        }
        if list != NONE {
            self.visitor.expands(self.tree.end(value));
        }
        self.object(value, list, false);
    }

    /// Returns whether a value is an object that has only scalars inside and keeps its keys, so that it has no form.
    #[inline(always)]
    fn is_plain_leaf(&self, value: Token) -> bool {
        self.columns.open && self.tree.first(value) == b'{' && self.tree.is_leaf(value)
    }

    fn container(&mut self, value: Token, list: ListId) {
        let tree = self.tree;
        let form = self.visitor.form(value);
        if let ContainerForm::Table(columns) = form {
            return self.table(value, columns);
        }
        if self.visitor.begin_container(tree, value, !self.in_header) {
            self.visitor.expands(tree.end(value));
            return;
        }
        if tree.is_flat(value) {
            return self.flat_array(value);
        }
        if tree.first(value) == b'[' {
            self.visitor.put(&[ARRAY_OPEN]);
            return self.push(value, VisitKind::Array(list));
        }
        if list != NONE && self.columns.list(list).is_open {
            self.visitor.expands(tree.end(value));
            return self.object(value, list, false);
        }
        if list != NONE
            && (self.columns.list(list).complete || self.visitor.decide_tuple(tree, value, self.columns, list))
        {
            self.visitor.put(&[TUPLE_OPEN]);
            return self.push(value, VisitKind::Tuple(self.columns.list(list).head));
        }
        match form {
            ContainerForm::UsesShape(shape) if !self.in_header => {
                self.visitor.expands(tree.end(value));
                self.visitor.put(&[SHAPE_SIGIL]);
                self.visitor.shape_name(shape);
                self.visitor.put(&[TUPLE_OPEN]);
                return self.push(value, VisitKind::Shape);
            }
            ContainerForm::DefinesShape(shape) if !self.in_header => {
                self.visitor.put(&[SHAPE_SIGIL]);
                self.visitor.shape_name(shape);
            }
            // A header defines nothing, and names that are defined after it cannot be used in it (section 17.3).
            _ => {}
        }
        self.object(value, NONE, false);
    }

    fn table(&mut self, value: Token, list: ListId) {
        self.tables += 1;
        if V::VISITS_OBJECTS_ONLY && !self.columns.list(list).writes_objects {
            return;
        }
        let keyed = self.tree.first(value) == b'{';
        self.visitor.put(&[if keyed { KEYED_COUNT_OPEN } else { COUNT_OPEN }]);
        self.header(self.tree.child_count(value), list, if keyed { KEYED_COUNT_CLOSE } else { COUNT_CLOSE });
        self.push(value, if keyed { VisitKind::KeyedTable(list) } else { VisitKind::Table(list) });
    }

    /// Begins a row of a table, after its key if it has one: cells, or an object that begins the line (section 21.2).
    #[inline(always)]
    fn row(&mut self, row: Token, list: ListId) {
        let List { head, is_open, complete, .. } = *self.columns.list(list);
        if !complete && !self.visitor.decide_tuple(self.tree, row, self.columns, list) {
            return self.whole_row(row);
        }
        if !is_open {
            return self.push(row, VisitKind::Row(head));
        }
        self.object(row, list, true);
    }

    /// Begins a row that is a value (section 16.7). What is left of the row after the value is its line feed.
    fn whole_row(&mut self, row: Token) {
        self.visitor.put(&[WHOLE_ROW_SIGN]);
        self.push(row, VisitKind::Row(NONE));
        self.top.at = self.top.close;
        self.container(row, NONE);
    }

    /// Opens an object that is written with its keys, of an open list if there is one.
    #[inline(always)]
    fn object(&mut self, object: Token, list: ListId, row: bool) {
        self.visitor.put(&[OBJECT_OPEN]);
        if list != NONE {
            self.push(object, VisitKind::Open { list, due: self.columns.list(list).head, row });
        } else if self.tree.is_leaf(object) && !self.in_header {
            self.leaf = Some(object);
        } else {
            self.push(object, VisitKind::Object);
        }
    }

    fn push(&mut self, open: Token, kind: VisitKind) {
        self.stack.push(self.top);
        let close = self.tree.close(open);
        self.top = VisitFrame { kind, at: open + 1, close, is_first: true, tables: self.tables, open };
    }

    fn pop(&mut self) {
        if let Some(around) = self.stack.pop() {
            self.top = around;
        }
    }

    /// Visits an array without objects: its text as a whole, or string by string.
    fn flat_array(&mut self, array: Token) {
        if V::VISITS_STRINGS {
            self.dense_value(array)
        } else {
            self.visitor.copy(false, self.tree.text, self.tree.start(array), self.tree.end(array))
        }
    }

    /// Visits what comes next in the innermost container, up to the next container that opens or this one's end.
    #[inline(always)]
    fn next(&mut self) {
        let VisitFrame { kind, at, close, open, .. } = self.top;
        match kind {
            VisitKind::Object => self.members(),
            VisitKind::Shape => self.shape_values(),
            VisitKind::Array(_) if at == close => {
                self.end(&[ARRAY_CLOSE]);
                self.visitor.end_array(open);
            }
            VisitKind::Array(list) => {
                if !self.top.is_first && !self.after_table {
                    self.visitor.put(&[COMMA]);
                }
                self.after_table = false;
                self.go_on_after(at);
                // A tuple is a direct element; an array inside the array holds none (section 17.4).
                self.value(at, if self.tree.first(at) == b'{' { list } else { NONE });
            }
            VisitKind::Table(_) | VisitKind::KeyedTable(_) if at == close => {
                self.pop();
                self.after_table = true;
                self.visitor.end_array(open);
            }
            VisitKind::Table(list) => {
                self.visitor.expands(self.tree.end(at));
                self.go_on_after(at);
                self.row(at, list);
            }
            VisitKind::KeyedTable(list) => {
                self.visitor.expands(self.tree.end(at + 1));
                self.key(false, at);
                self.visitor.put(&[DENSE_COLON]);
                self.go_on_after(at + 1);
                self.row(at + 1, list);
            }
            VisitKind::Open { list, due, row } => self.open_members(list, due, row),
            VisitKind::Row(column) | VisitKind::Tuple(column) | VisitKind::Spliced(column) => self.cells(column),
        }
    }

    /// Visits a scalar that may be a bare string, after a comma if `comma`.
    #[inline(always)]
    fn scalar(&mut self, comma: bool, value: Token, range: TextRange) {
        let tree = self.tree;
        if V::VISITS_STRINGS && tree.first(value) == b'"' {
            if comma {
                self.visitor.put(&[COMMA]);
            }
            self.visitor.string(tree, value, true);
        } else {
            self.visitor.scalar(comma, tree.text, range.start(), range.end());
        }
    }

    /// Visits a key, after a comma if `comma`.
    #[inline(always)]
    fn key(&mut self, comma: bool, key: Token) {
        let range = self.tree.key_range(key);
        self.visitor.key(comma, self.tree.text, range.start(), range.end());
    }

    /// Makes the innermost container go on at a token once the container about to open has ended.
    #[inline(always)]
    fn go_on_at(&mut self, token: Token) {
        self.top.at = token;
        self.top.is_first = false;
    }

    /// Makes the innermost container go on after a value.
    #[inline(always)]
    fn go_on_after(&mut self, value: Token) {
        self.go_on_at(self.tree.after(value));
    }

    /// Ends the innermost container with this bracket.
    #[inline(always)]
    fn end(&mut self, bracket: &[u8]) {
        self.visitor.put(bracket);
        self.after_table = false;
        self.pop();
    }
}
