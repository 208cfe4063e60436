//! Shapes: the keys of objects that are written out, and which of them come often enough to be named.
//!
//! The first object of a shape to end is the one that names it, since a name may be used only behind it; an object
//! of the same shape around that one keeps its keys.

use hashbrown::HashTable;

use super::hash::Hasher;
use crate::estimate::{TOKEN, tokens};
use crate::options::Limits;
use crate::v2::tree::{Token, Tree};

pub(crate) type ShapeId = u32;

#[derive(Clone, Copy, Debug)]
struct Shape {
    /// The object that names it.
    object: Token,
    hash: u64,
    /// How many objects come after it.
    uses: u32,
    pays: bool,
}

/// The shapes of a document.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    map: HashTable<ShapeId>,
    hasher: Hasher,
    /// How many there may be.
    pub(super) few: usize,
}

impl Shapes {
    pub(super) fn clear(&mut self) {
        self.shapes.clear();
        self.map.clear();
    }

    pub(super) fn pays(&self, shape: ShapeId) -> bool {
        self.shapes[shape as usize].pays
    }

    /// Meets an object, which has ended, with so many members: its shape, and whether it names it or comes after it. None for
    /// one that stands around the object that does.
    pub(super) fn meet(&mut self, tree: Tree<'_>, object: Token, members: u32) -> Option<(ShapeId, bool)> {
        // One without keys has none to spare.
        if members == 0 {
            return None;
        }
        let Self { shapes, map, hasher, few } = self;
        // Mostly the first key and the number of keys tell shapes apart. Where they do not, all keys do.
        let mut hash = add_key(*hasher, hasher.word(hasher.start(), u64::from(members)), tree, object + 1);
        let same = |&shape: &ShapeId| same_keys(tree, shapes[shape as usize].object, object);
        let mut known = map.find(hash, same);
        if known.is_none() && map.find(hash, |&shape| shapes[shape as usize].hash == hash).is_some() {
            hash = tree.values(object).fold(hash, |hash, value| add_key(*hasher, hash, tree, value - 1));
            known = map.find(hash, same);
        }
        if let Some(&shape) = known {
            let known = &mut shapes[shape as usize];
            let behind = object > tree.close(known.object);
            known.uses += u32::from(behind);
            return behind.then_some((shape, false));
        }
        if shapes.len() >= *few {
            return None;
        }
        let shape = shapes.len() as ShapeId;
        shapes.push(Shape { object, hash, uses: 0, pays: false });
        map.insert_unique(hash, shape, |&shape| shapes[shape as usize].hash);
        Some((shape, true))
    }

    /// All objects have been met: finds out which shapes pay, and how much.
    pub(super) fn decide(&mut self, tree: Tree<'_>, limits: &Limits) -> i64 {
        let (mut named, mut length, mut saving) = (0, 0, 0);
        for shape in self.shapes.iter_mut().filter(|shape| shape.uses > 0) {
            // Each object that follows leaves out its keys and their colons, and says the name instead.
            let cost: i64 = keys(tree, shape.object).map(|key| tokens(&key[1..key.len() - 1]) + TOKEN).sum();
            let width = tree.children(shape.object) as usize;
            let longer = length + keys(tree, shape.object).map(<[u8]>::len).sum::<usize>();
            let within = named < limits.columns && width <= limits.columns && longer <= limits.header;
            let saved = i64::from(shape.uses) * (cost - 2 * TOKEN) - 2 * TOKEN;
            shape.pays = within && saved > 0;
            if shape.pays {
                named += 1;
                length = longer;
                saving += saved;
            }
        }
        saving
    }
}

/// The hash of some keys and one more.
#[inline(always)]
fn add_key(hasher: Hasher, keys: u64, tree: Tree<'_>, key: Token) -> u64 {
    let key = tree.key_place(key);
    let length = tree.at(key).len() as u128;
    match tree.short(key) {
        Some((first, None)) => hasher.short(keys, first),
        // The length takes the place of the quote at its end: a run of one letter is the same in any two lengths.
        Some((first, Some(last))) => hasher.short(hasher.short(keys, first), last ^ (length << 120)),
        None => hasher.text(keys, tree.at(key)),
    }
}

/// The keys of an object, with their quotes.
fn keys<'a>(tree: Tree<'a>, object: Token) -> impl Iterator<Item = &'a [u8]> {
    tree.values(object).map(move |value| tree.key(value - 1))
}

/// Have two objects the same keys, in the same order?
fn same_keys(tree: Tree<'_>, one: Token, other: Token) -> bool {
    let (end, other_end) = (tree.close(one), tree.close(other));
    let (mut at, mut other) = (one + 1, other + 1);
    while at < end && other < other_end {
        if !tree.equal(tree.key_place(at), tree.key_place(other)) {
            return false;
        }
        (at, other) = (tree.after(at + 1), tree.after(other + 1));
    }
    at == end && other == other_end
}
