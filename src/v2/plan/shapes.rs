//! Shapes (STC.md, section 18): the keys of objects that are written out, and which of them are worth a name.
//!
//! The first object of a shape to end defines it, because a name can be used only after the value it names is complete. An
//! object of the same shape around that one keeps its keys.

use bumpalo::Bump;

use super::hash::Hasher;
use crate::estimate::{TOKEN_COST, tokens};
use crate::options::Limits;
use crate::v2::arena::{ArenaTable, ArenaVec, FIRST_CAPACITY};
use crate::v2::tree::{Token, Tree};

pub(crate) type ShapeId = u32;

/// The cost of a shape's name with its sigil, where it is defined and where it is used.
const NAME_COST: i64 = 2 * TOKEN_COST;

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
        let mut hash = hasher.text(hasher.word(hasher.start(), u64::from(members)), tree.key(object + 1));
        let same = |&shape: &ShapeId| has_same_keys(tree, shapes[shape as usize].object, object);
        let mut known = table.find(hash, same);
        if known.is_none() && table.find(hash, |&shape| shapes[shape as usize].hash == hash).is_some() {
            hash = tree.values(object).fold(hash, |hash, value| hasher.text(hash, tree.key(value - 1)));
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
            let cost: i64 = keys().map(|key| tokens(tree.key_body(key)) + TOKEN_COST).sum();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_tree;

    /// Calls `read` with the shapes of the objects of an array, each added once it has ended, and what became of each object.
    fn with_shapes(
        json: &str,
        max_found: usize,
        read: impl FnOnce(Tree<'_>, &mut Shapes<'_>, &[Option<(ShapeId, bool)>]),
    ) {
        with_tree(json, |tree| {
            let arena = Bump::new();
            let mut shapes = Shapes::new(&arena, Hasher::default(), max_found);
            let add = |object| shapes.add(tree, object, tree.child_count(object));
            let added: Vec<_> = tree.values(0).map(add).collect();
            read(tree, &mut shapes, &added);
        });
    }

    /// Objects with the same first key and as many keys, with other values of every kind.
    fn objects() -> Vec<(String, String)> {
        const VALUES: [&str; 4] = ["1", "\"a\"", "[1,2]", "{\"a\":[]}"];
        const LONG: &str = "a_key_longer_than_32_bytes_in_all_of_these";
        let keys = ["a,b,c", "a,c,b", "a,b,d", "a", "a,b", &format!("a,{LONG},{LONG}1"), &format!("a,{LONG}1,{LONG}")]
            .map(str::to_owned);
        let object = |keys: &str, value: usize| {
            let members =
                keys.split(',').enumerate().map(|(at, key)| format!("\"{key}\":{}", VALUES[(at + value) % 4]));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        keys.iter().flat_map(|keys| (0..4).map(move |value| (keys.clone(), object(keys, value)))).collect()
    }

    #[test]
    fn objects_share_a_shape_exactly_if_they_have_the_same_keys_in_the_same_order() {
        let objects = objects();
        for step in [1, 3, 5, 9, 11] {
            let objects: Vec<_> = (0..2 * objects.len()).map(|at| &objects[at * step % objects.len()]).collect();
            let json: Vec<&str> = objects.iter().map(|object| &*object.1).collect();
            for max_found in [1, 2, 3, 6, 7, 100] {
                with_shapes(&format!("[{}]", json.join(",")), max_found, |_, _, added| {
                    let mut known: Vec<&str> = Vec::new();
                    for ((keys, _), found) in objects.iter().zip(added) {
                        let shape = known.iter().position(|known| known == keys);
                        let expected = match shape {
                            Some(shape) => Some((shape as ShapeId, false)),
                            None if known.len() == max_found => None,
                            None => {
                                known.push(keys);
                                Some((known.len() as ShapeId - 1, true))
                            }
                        };
                        assert_eq!(*found, expected, "{keys}, {max_found}");
                    }
                });
            }
        }
    }

    #[test]
    fn a_shape_is_known_however_many_come_after_it() {
        let objects: Vec<String> = (0..1000).map(|number| format!("{{\"k{number}\":{number}}}")).collect();
        with_shapes(&format!("[{0},{0}]", objects.join(",")), 1000, |_, _, added| {
            let expected = [true, false].map(|defines| (0..1000).map(move |shape| Some((shape, defines))));
            assert!(added.iter().copied().eq(expected.into_iter().flatten()));
        });
    }

    #[test]
    fn an_object_without_keys_and_one_around_the_first_of_its_shape_have_none() {
        with_tree(r#"[{},{"a":{"a":1}},{"a":2}]"#, |tree| {
            let arena = Bump::new();
            let mut shapes = Shapes::new(&arena, Hasher::default(), 9);
            let objects: Vec<Token> = tree.values(0).collect();
            let inner = tree.values(objects[1]).next().expect("an object");
            let added = [objects[0], inner, objects[1], objects[2]]
                .map(|object| shapes.add(tree, object, tree.child_count(object)));
            assert_eq!(added, [None, Some((0, true)), None, Some((0, false))]);
            shapes.clear();
            assert_eq!(shapes.add(tree, objects[2], 1), Some((0, true)));
            assert_eq!(shapes.decide(tree, &Limits::DEFAULT), 0);
        });
    }

    /// Returns objects: of each of these lists of keys as many.
    fn repeated(kinds: &[(&[&str], usize)]) -> String {
        let object = |keys: &[&str]| {
            let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        let objects = kinds.iter().flat_map(|&(keys, count)| vec![object(keys); count]);
        format!("[{}]", objects.collect::<Vec<_>>().join(","))
    }

    /// Returns which shapes pay with these limits, and what they save.
    fn decided(json: &str, limits: &Limits) -> (Vec<bool>, i64) {
        let mut decided = (Vec::new(), 0);
        with_shapes(json, 100, |tree, shapes, added| {
            decided.1 = shapes.decide(tree, limits);
            let all = added.iter().flatten().filter(|(_, defines)| *defines);
            decided.0 = all.map(|&(shape, _)| shapes.pays(shape)).collect();
        });
        decided
    }

    #[test]
    fn a_shape_pays_if_its_uses_save_more_than_its_names_cost() {
        // A key of up to eight letters and its colon are two tokens.
        for (width, count) in (1..6).flat_map(|width| (1..6).map(move |count| (width, count))) {
            let keys = &["one", "two", "three", "four", "five"][..width];
            let saved = (count as i64 - 1) * (2 * TOKEN_COST * width as i64 - NAME_COST) - NAME_COST;
            let expected = if saved > 0 { (vec![true], saved) } else { (vec![false], 0) };
            assert_eq!(decided(&repeated(&[(keys, count)]), &Limits::DEFAULT), expected, "{count} times {width} keys");
        }
    }

    #[test]
    fn shapes_that_a_decoder_would_refuse_have_no_name() {
        let kinds: [&[&str]; 4] = [&["one", "two"], &["three", "four"], &["five", "six", "seven"], &["eight", "nine"]];
        let json = repeated(&kinds.map(|keys| (keys, 9)));
        let bytes = kinds.map(|keys| keys.iter().map(|key| key.len() + 2).sum::<usize>());
        // As many shapes as keys, and the keys of each.
        for (columns, expected) in
            [(1, [false; 4]), (2, [true, true, false, false]), (3, [true, true, true, false]), (4, [true; 4])]
        {
            assert_eq!(decided(&json, &Limits::DEFAULT.columns(columns)).0, expected, "{columns} columns");
        }
        for (of, header) in (0..4).flat_map(|of| [0, 1].map(|less| (of, bytes[..=of].iter().sum::<usize>() - less))) {
            let mut sum = 0;
            let expected = bytes.map(|bytes| {
                let is_within = sum + bytes <= header;
                sum += if is_within { bytes } else { 0 };
                is_within
            });
            assert_eq!(decided(&json, &Limits::DEFAULT.header(header)).0, expected, "{header} bytes up to shape {of}");
        }
    }
}
