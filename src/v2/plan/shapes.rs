//! Shapes (STC.md, section 18): the keys of objects that are written out, and which of them are worth a name.
//!
//! The first object of a shape to end defines it, because a name can be used only after the value it names is complete. An
//! object of the same shape around that one keeps its keys.

use bumpalo::Bump;

use super::hash::Hasher;
use crate::estimate::{TOKEN, tokens};
use crate::options::Limits;
use crate::v2::arena::{ArenaTable, ArenaVec, FIRST_CAPACITY};
use crate::v2::tree::{Token, Tree};

pub(crate) type ShapeId = u32;

/// The cost of a shape's name with its sigil, where it is defined and where it is used.
const NAME_COST: i64 = 2 * TOKEN;

#[derive(Clone, Copy, Debug)]
struct Shape {
    /// The object that defines it.
    object: Token,
    hash: u64,
    /// The number of objects that use it.
    uses: u32,
    pays: bool,
}

/// The shapes of a document.
pub(super) struct Shapes<'a> {
    shapes: ArenaVec<'a, Shape>,
    table: ArenaTable<'a, ShapeId>,
    hasher: Hasher,
    max_found: usize,
}

impl<'a> Shapes<'a> {
    /// Returns an empty set that holds at most `max_found` shapes.
    pub(super) fn new(arena: &'a Bump, hasher: Hasher, max_found: usize) -> Self {
        Self {
            shapes: ArenaVec::with_capacity_in(FIRST_CAPACITY, arena),
            table: ArenaTable::with_capacity_in(FIRST_CAPACITY, arena),
            hasher,
            max_found,
        }
    }

    pub(super) fn clear(&mut self) {
        self.shapes.clear();
        self.table.clear();
    }

    /// Returns whether a shape is worth its name.
    pub(super) fn pays(&self, shape: ShapeId) -> bool {
        self.shapes[shape as usize].pays
    }

    /// Adds an object that has ended and has this number of members. Returns its shape and whether it defines it; none if it
    /// is around the object that does, has no keys, or there are too many shapes.
    pub(super) fn add(&mut self, tree: Tree<'_>, object: Token, members: u32) -> Option<(ShapeId, bool)> {
        if members == 0 {
            return None;
        }
        let Self { shapes, table, hasher, max_found } = self;
        // The first key and the number of keys tell most shapes apart. Where they do not, all keys are hashed.
        let mut hash = hash_key(*hasher, hasher.word(hasher.start(), u64::from(members)), tree, object + 1);
        let same = |&shape: &ShapeId| has_same_keys(tree, shapes[shape as usize].object, object);
        let mut known = table.find(hash, same);
        if known.is_none() && table.find(hash, |&shape| shapes[shape as usize].hash == hash).is_some() {
            hash = tree.values(object).fold(hash, |hash, value| hash_key(*hasher, hash, tree, value - 1));
            known = table.find(hash, same);
        }
        if let Some(&shape) = known {
            let known = &mut shapes[shape as usize];
            let is_after = object > tree.close(known.object);
            known.uses += u32::from(is_after);
            return is_after.then_some((shape, false));
        }
        if shapes.len() >= *max_found {
            return None;
        }
        let shape = shapes.len() as ShapeId;
        shapes.push(Shape { object, hash, uses: 0, pays: false });
        table.insert_unique(hash, shape, |&shape| shapes[shape as usize].hash);
        Some((shape, true))
    }

    /// Decides which shapes pay, once all objects have been added, and returns what they save. What a decoder with these
    /// limits would reject (section 20.3) gets no name.
    pub(super) fn decide(&mut self, tree: Tree<'_>, limits: &Limits) -> i64 {
        let (mut named, mut key_bytes, mut saving) = (0, 0, 0);
        for shape in self.shapes.iter_mut().filter(|shape| shape.uses > 0) {
            let keys = || tree.values(shape.object).map(|value| value - 1);
            // Each use leaves out the keys and their colons and has the name instead.
            let cost: i64 = keys().map(|key| tokens(tree.key_body(key)) + TOKEN).sum();
            let width = tree.child_count(shape.object) as usize;
            let with_this = key_bytes + keys().map(|key| tree.key(key).len()).sum::<usize>();
            let within = named < limits.columns && width <= limits.columns && with_this <= limits.header;
            let saved = i64::from(shape.uses) * (cost - NAME_COST) - NAME_COST;
            shape.pays = within && saved > 0;
            if shape.pays {
                named += 1;
                key_bytes = with_this;
                saving += saved;
            }
        }
        saving
    }
}

/// Returns the hash of some keys and one more.
#[inline(always)]
fn hash_key(hasher: Hasher, hash: u64, tree: Tree<'_>, key: Token) -> u64 {
    let key = tree.key_range(key);
    let length = tree.bytes(key).len() as u128;
    match tree.short_bytes(key) {
        Some((first, None)) => hasher.short(hash, first),
        // The length replaces the closing quote: in keys of one repeated letter, the first and last bytes are the same for
        // any two lengths.
        Some((first, Some(last))) => hasher.short(hasher.short(hash, first), last ^ (length << 120)),
        None => hasher.text(hash, tree.bytes(key)),
    }
}

/// Returns whether two objects have the same keys in the same order.
fn has_same_keys(tree: Tree<'_>, one: Token, other: Token) -> bool {
    let (end, other_end) = (tree.close(one), tree.close(other));
    let (mut at, mut other) = (one + 1, other + 1);
    while at < end && other < other_end {
        if !tree.same_bytes(tree.key_range(at), tree.key_range(other)) {
            return false;
        }
        (at, other) = (tree.after(at + 1), tree.after(other + 1));
    }
    at == end && other == other_end
}
