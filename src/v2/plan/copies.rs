//! Copies in objects that keep their keys (STC.md, section 19): a member whose object or array was written before, byte for
//! byte, is a copy of it.
//!
//! A name is a word from the value itself, so that a model reads most of a copy from its name: `user:*octocat`. Of 201 answers
//! that stand in copies, a model that saw the question on both sides of the data lost none with such names and 2.5 points with
//! letters; with the question after the data alone it lost 14 and 18 (eval/README.md).
//!
//! Whether two containers are the same is asked only of those with the same length and the same bytes in four places, so that
//! the document need not be read once more.

use super::Plan;
use super::anchors::{Anchor, AnchorName, Anchors};
use super::columns::{Columns, ListId};
use super::form::{Form, Forms};
use super::hash::Hasher;
use super::shapes::ShapeId;
use crate::estimate::{TOKEN, tokens};
use crate::format::{NAME_BYTES, NUMBER_SIGN, is_in_name, is_literal};
use crate::options::Limits;
use crate::v2::arena::{ArenaTable, FIRST_CAPACITY};
use crate::v2::tree::{TextRange, Token, Tree};
use crate::v2::visit::{Visitor, visit};

/// The cost of a name with its sigil.
const NAME: i64 = 4 * TOKEN;

/// What a container must cost at least to get a name: a short one is read faster than it is looked up.
const MIN_COST: i64 = 12 * TOKEN;

/// Shorter containers are not looked at, and those of [`ENOUGH_BYTES`] or more are not estimated.
const MIN_BYTES: usize = 40;
const ENOUGH_BYTES: usize = 256;

/// The most bytes of a name that are taken from the value. The others are for the number of a name that is taken.
const MAX_WORD: usize = 16;
const _: () = assert!(MAX_WORD + 1 + NUMBER_DIGITS <= NAME_BYTES);

/// The digits of the largest number: no document has ten million anchors with the same word.
const NUMBER_DIGITS: usize = 7;

/// The fewest bytes of a word that makes a name.
const MIN_WORD: usize = 2;

/// The tokens of a container that are looked at for its name.
const TOKENS_LOOKED_AT: usize = 128;

impl Plan<'_> {
    /// Finds the copies of a document whose tables are known, and adds what they save.
    pub(super) fn find_copies(&mut self, tree: Tree<'_>, limits: &Limits) {
        let Self { columns, forms, anchors, hasher, arena, .. } = self;
        anchors.begin_sampled(tree);
        let budget = tree.text.len();
        visit(tree, 0, columns, arena, &mut CopySurvey { forms, anchors, hasher: *hasher, limits, budget });
        if anchors.has_copies() {
            anchors.name_by_words(tree, *hasher);
            self.saving += anchors.saving_of_copies(tree);
        }
    }
}

impl Anchors<'_> {
    /// Adds the value of a member that is about to be written. Returns whether it is a copy of an earlier one. `budget` is the
    /// number of bytes that may still be compared in vain.
    fn add_member(
        &mut self,
        tree: Tree<'_>,
        container: Token,
        may_name: bool,
        hasher: Hasher,
        limits: &Limits,
        budget: &mut usize,
    ) -> bool {
        self.slots.anchor_of[container as usize] = 0;
        let text = tree.value(container);
        if text.len() < MIN_BYTES || container == 0 || !tree.is_key(container - 1) {
            return false;
        }
        let hash = sample(hasher, text);
        let Self { table, anchors, .. } = self;
        // At most one container with the same sample is held, so that nothing depends on the order of the table.
        let Some(&id) = table.find(hash, |&id| anchors[id as usize].hash == hash) else {
            if may_name && anchors.len() < self.max_found {
                let id = anchors.len() as u32;
                anchors.push(Anchor { container, hash, copies: 0 });
                table.insert_unique(hash, id, |&id| anchors[id as usize].hash);
            }
            return false;
        };
        let first = anchors[id as usize].container;
        if text.len() > *budget {
            return false;
        }
        if tree.value(first) != text {
            *budget -= text.len();
            return false;
        }
        if text.len() < ENOUGH_BYTES && tokens(text) < MIN_COST {
            return false;
        }
        self.add_copy(text.len(), id, container, limits)
    }

    /// Gives each anchor that has copies a name.
    fn name_by_words(&mut self, tree: Tree<'_>, hasher: Hasher) {
        let arena = self.anchors.bump();
        // The anchors that were the first with their word, and how many have it.
        let mut words: ArenaTable<'_, (TextRange, u32)> = ArenaTable::new_in(arena);
        let hash = |word: TextRange| hasher.text(hasher.start(), tree.bytes(word));
        self.names.clear();
        self.names.reserve(self.anchors.len());
        for anchor in &self.anchors {
            let word = if anchor.copies > 0 { word_of(tree, anchor.container) } else { TextRange::default() };
            let mut number = 1;
            if anchor.copies > 0 {
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
        let anchor_of = &mut self.slots.anchor_of;
        anchor_of.resize(tree.len().max(anchor_of.len()), 0);
        self.anchors.reserve(FIRST_CAPACITY);
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

/// Returns whether the body of a string is a word that can be a name. One that ends like a numbered name is none.
fn is_word(body: &[u8]) -> bool {
    let is_number = |end: &[u8]| end.iter().all(u8::is_ascii_digit);
    (MIN_WORD..=MAX_WORD).contains(&body.len())
        && body[0].is_ascii_alphabetic()
        && body.iter().all(|&byte| is_in_name(byte))
        && !is_literal(body)
        && !body.iter().rposition(|&byte| byte == NUMBER_SIGN).is_some_and(|at| is_number(&body[at + 1..]))
}

/// A visitor that finds copies.
struct CopySurvey<'a, 'p> {
    forms: &'a Forms<'p>,
    anchors: &'a mut Anchors<'p>,
    hasher: Hasher,
    limits: &'a Limits,
    budget: usize,
}

impl Visitor for CopySurvey<'_, '_> {
    const VISITS_STRINGS: bool = false;
    const VISITS_OBJECTS_ONLY: bool = false;
    const VISITS_SPLICES: bool = false;

    #[inline(always)]
    fn put(&mut self, _: &[u8]) {}

    #[inline(always)]
    fn copy(&mut self, _: bool, _: &[u8], _: usize, _: usize) {}

    #[inline(always)]
    fn key(&mut self, _: bool, _: &[u8], _: usize, _: usize) {}

    #[inline(always)]
    fn string(&mut self, _: Tree<'_>, _: Token) {}

    fn template(&mut self, _: u32) {}

    #[inline(always)]
    fn form(&self, container: Token) -> Form {
        self.forms.of(container)
    }

    #[inline(always)]
    fn is_copy(&mut self, tree: Tree<'_>, container: Token, may_name: bool) -> bool {
        let Self { anchors, hasher, limits, budget, .. } = self;
        anchors.add_member(tree, container, may_name, *hasher, limits, budget)
    }

    fn is_tuple(&mut self, _: Tree<'_>, _: Token, _: &Columns<'_>, _: ListId) -> bool {
        false
    }

    fn shape_name(&mut self, _: ShapeId) {}

    #[inline(always)]
    fn expands(&mut self, _: usize) {}

    #[inline(always)]
    fn end_object(&mut self, _: Tree<'_>, _: Token, _: bool) {}
}
