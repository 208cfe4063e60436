//! Copies in objects that keep their keys (STC.md, section 19): a member whose object or array was written before, byte for
//! byte, is a copy of it.
//!
//! A name is a word from the value itself, so that a model reads most of a copy from its name: `user:*octocat`. Of 201 answers
//! that stand in copies, a model that saw the question on both sides of the data lost none with such names and 2.5 points with
//! letters. With the question after the data alone it lost 14 and 18, most of the 14 where the word also stands in the strings
//! after the value. Such a value is not copied, which left a loss of 6.5. Of 185 answers about documents that took no part in this
//! choice it lost 16 with the question after the data and 3 with it on both sides (eval/README.md).
//!
//! Whether two containers are the same is asked only of those with the same length and the same bytes in four places, so that
//! the document need not be read once more.

use super::Plan;
use super::anchors::{Anchor, AnchorName, Anchors, MIN_BYTES_BY_WORD, NEVER};
use super::columns::{Columns, List, ListId, Role};
use super::form::{Form, Forms};
use super::hash::Hasher;
use crate::estimate::{TOKEN, tokens};
use crate::format::{NAME_BYTES, NUMBER_SIGN, is_in_name, is_literal};
use crate::options::Limits;
use crate::v2::arena::{ArenaTable, FIRST_CAPACITY};
use crate::v2::tree::{TextRange, Token, Tree};

/// The cost of a name with its sigil.
const NAME: i64 = 4 * TOKEN;

/// What a container must cost at least to get a name: a short one is read faster than it is looked up.
const MIN_COST: i64 = 12 * TOKEN;

/// Containers of so many bytes are not estimated.
const ENOUGH_BYTES: usize = 256;

/// The most bytes of a name that are taken from the value. The others are for the number of a name that is taken.
const MAX_WORD: usize = 16;
const _: () = assert!(MAX_WORD + 1 + NUMBER_DIGITS <= NAME_BYTES);

/// The digits of the largest number: no document has ten million anchors with the same word.
const NUMBER_DIGITS: usize = 7;

/// The fewest bytes of a word that makes a name.
const MIN_WORD: usize = 2;

/// The bytes of a document for each container that is expected to be held.
const BYTES_PER_ANCHOR: usize = 256;

/// The tokens of a container that are looked at for its name.
const TOKENS_LOOKED_AT: usize = 128;

/// Where a name is looked for: in the next members after the value, in strings of at most so many bytes.
const MEMBERS_LOOKED_AT: usize = 32;
const STRING_LOOKED_AT: usize = 256;

/// A value is not copied if its name stands in so many of these strings. In the documents that a model was asked about it stands in
/// five or more, or in none.
const COMMON: usize = 3;

impl Plan<'_> {
    /// Begins to look for copies, before tables are found: [`find_tables`](Self::find_tables) adds every container outside of
    /// tables.
    pub(super) fn begin_copies(&mut self, tree: Tree<'_>) {
        self.anchors.begin_sampled(tree);
    }

    /// Gives the copies names and adds what they save.
    pub(super) fn name_copies(&mut self, tree: Tree<'_>) {
        if self.anchors.has_copies() {
            self.anchors.name_by_words(tree, self.hasher);
            self.saving += self.anchors.saving_of_copies(tree);
        }
    }

    /// Adds a container outside of tables, or of an object inside a row. Returns whether it is a copy of an earlier one, which
    /// only the value of a member can be.
    #[inline(always)]
    pub(super) fn is_copy(&mut self, tree: Tree<'_>, container: Token, is_member: bool, limits: &Limits) -> bool {
        if !self.anchors.is_used {
            return false;
        }
        self.anchors.slots.anchor_of[container as usize] = 0;
        is_member && tree.value(container).len() >= MIN_BYTES_BY_WORD && self.is_copied_member(tree, container, limits)
    }

    /// Adds the containers in the rows of a table. They are written in the order of the text.
    pub(super) fn find_copies_in_table(&mut self, tree: Tree<'_>, table: Token, list: ListId, limits: &Limits) {
        if !self.anchors.is_used {
            return;
        }
        let has_container_constant = self.columns.list(list).has_container_constant;
        let containers = tree.containers();
        let mut at = containers.partition_point(|&container| container <= table);
        let end = tree.containers_before_end(table);
        // Each turn is a row and what is inside it.
        while let Some(&row) = containers[..end].get(at) {
            if has_container_constant {
                mark_constants(tree, &self.columns, &mut self.forms, row, list);
            }
            at += 1;
            let end = tree.containers_before_end(row);
            while let Some(&container) = containers[..end].get(at) {
                let is_member = tree.text[tree.start(container) - 1] == b':';
                let is_done = has_container_constant && self.forms.of(container) == Form::InHeader
                    || self.is_copy(tree, container, is_member, limits)
                    || tree.is_flat(container);
                at = if is_done { tree.containers_before_end(container) } else { at + 1 };
            }
        }
    }

    fn is_copied_member(&mut self, tree: Tree<'_>, container: Token, limits: &Limits) -> bool {
        let text = tree.value(container);
        let hash = sample(self.hasher, text);
        let Anchors { table, anchors, max_found, may_compare, .. } = &mut self.anchors;
        // At most one container with the same sample is held, so that nothing depends on the order of the table.
        let Some(&id) = table.find(hash, |&id| anchors[id as usize].hash == hash) else {
            if anchors.len() < *max_found {
                let id = anchors.len() as u32;
                anchors.push(Anchor { container, hash, copies: 0 });
                table.insert_unique(hash, id, |&id| anchors[id as usize].hash);
            }
            return false;
        };
        if text.len() > *may_compare || anchors[id as usize].copies == NEVER {
            return false;
        }
        if tree.value(anchors[id as usize].container) != text {
            *may_compare -= text.len();
            return false;
        }
        if text.len() < ENOUGH_BYTES && tokens(text) < MIN_COST {
            return false;
        }
        let anchor = &mut anchors[id as usize];
        if anchor.copies == 0 && has_common_name(tree, anchor.container) {
            anchor.copies = NEVER;
            return false;
        }
        self.anchors.add_copy(text.len(), id, container, limits)
    }
}

/// Marks the constants of an object of an open list that are objects or arrays: its header has them, and they are not written
/// in their place. The lists below are a few levels deep.
fn mark_constants(tree: Tree<'_>, columns: &Columns<'_>, forms: &mut Forms<'_>, object: Token, list: ListId) {
    let List { head, regular, .. } = *columns.list(list);
    let (mut key, close, mut due) = (object + 1, tree.close(object), head);
    while key < close {
        let value = key + 1;
        let id = if regular { Some(due) } else { columns.find(tree, list, due, tree.key_range(key)) };
        if let Some(column) = id.map(|id| columns.column(id)) {
            due = column.next;
            match column.role {
                Role::Constant if tree.is_container(value) => forms.set_in_header(value),
                Role::Nested if !columns.list(column.nested).has_container_constant => {}
                Role::Nested if tree.first(value) == b'{' => mark_constants(tree, columns, forms, value, column.nested),
                Role::Nested if tree.has_object(value) => {
                    let objects = tree.values(value).filter(|&element| tree.first(element) == b'{');
                    objects.for_each(|object| mark_constants(tree, columns, forms, object, column.nested));
                }
                _ => {}
            }
        }
        key = tree.after(value);
    }
}

impl Anchors<'_> {
    /// Gives each anchor that has copies a name.
    fn name_by_words(&mut self, tree: Tree<'_>, hasher: Hasher) {
        let arena = self.anchors.bump();
        // The anchors that were the first with their word, and how many have it.
        let mut words: ArenaTable<'_, (TextRange, u32)> = ArenaTable::new_in(arena);
        let hash = |word: TextRange| hasher.text(hasher.start(), tree.bytes(word));
        self.names.clear();
        self.names.reserve(self.anchors.len());
        for anchor in &self.anchors {
            let word = if anchor.has_name() { word_of(tree, anchor.container) } else { TextRange::default() };
            let mut number = 1;
            if anchor.has_name() {
                match words.find_mut(hash(word), |&(other, _)| tree.bytes(other) == tree.bytes(word)) {
                    Some((_, given)) => {
                        *given += 1;
                        number = *given;
                    }
                    None => {
                        words.insert_unique(hash(word), (word, 1), |&(word, _)| hash(word));
                    }
                }
            }
            self.names.push(AnchorName { word, number });
        }
    }

    /// Returns an estimate of what the copies save.
    fn saving_of_copies(&self, tree: Tree<'_>) -> i64 {
        self.saving_by(NAME, |container| tokens(tree.value(container)))
    }

    fn begin_sampled(&mut self, tree: Tree<'_>) {
        self.is_used = true;
        self.may_compare = tree.text.len();
        let anchor_of = &mut self.slots.anchor_of;
        anchor_of.resize(tree.len().max(anchor_of.len()), 0);
        self.anchors.reserve(FIRST_CAPACITY);
        // Enough for most documents, because to grow a table is to hash everything in it again.
        let expected = tree.containers().len().min(tree.text.len() / BYTES_PER_ANCHOR).min(self.max_found);
        self.table.reserve(expected.max(FIRST_CAPACITY), |_| 0);
    }
}

/// Returns a hash of the length of a text and of its bytes in four places.
fn sample(hasher: Hasher, text: &[u8]) -> u64 {
    const PLACE: usize = 16;
    let last = text.len() - PLACE;
    let hash = hasher.word(hasher.start(), text.len() as u64);
    [0, last / 3, last / 3 * 2, last].into_iter().fold(hash, |hash, at| {
        let place = text[at..].first_chunk::<PLACE>().expect("the last place is a whole one");
        hasher.short(hash, u128::from_le_bytes(*place))
    })
}

/// Returns the word that names a container: the first string in it that is one, else its key; nothing if neither is a word.
fn word_of(tree: Tree<'_>, container: Token) -> TextRange {
    let is_value = |&token: &Token| tree.first(token) == b'"' && !tree.is_key(token);
    let strings = (container..tree.close(container)).take(TOKENS_LOOKED_AT).filter(is_value);
    let bodies = strings.map(|string| tree.value_range(string).0.inner());
    let mut words = bodies.chain([tree.key_range(container - 1).inner()]).filter(|&body| is_word(tree.bytes(body)));
    words.next().unwrap_or_default()
}

/// Returns whether the name of a member's value stands in many of the strings after it, in the same object: the login of an
/// owner, for instance, in every address of a repository. Looks at a few kilobytes at most, once for each anchor.
fn has_common_name(tree: Tree<'_>, container: Token) -> bool {
    let name = tree.bytes(word_of(tree, container));
    let keys = std::iter::successors(Some(tree.after(container)), |&key| Some(tree.after(key + 1)));
    let members = keys.take_while(|&key| tree.first(key) != b'}').take(MEMBERS_LOOKED_AT);
    let strings =
        members.map(|key| tree.value(key + 1)).filter(|value| value[0] == b'"' && value.len() <= STRING_LOOKED_AT);
    let finder = memchr::memmem::Finder::new(name);
    let with_name = strings.filter(|string| finder.find(string).is_some());
    !name.is_empty() && with_name.take(COMMON).count() == COMMON
}

/// Returns whether the body of a string is a word that can be a name. One that ends like a numbered name is none.
fn is_word(body: &[u8]) -> bool {
    let is_number = |end: &[u8]| end.iter().all(u8::is_ascii_digit);
    (MIN_WORD..=MAX_WORD).contains(&body.len())
        && body[0].is_ascii_alphabetic()
        && body.iter().all(|&byte| is_in_name(byte))
        && !is_literal(body)
        && !body.iter().rposition(|&byte| byte == NUMBER_SIGN).is_some_and(|at| is_number(&body[at + 1..]))
}
