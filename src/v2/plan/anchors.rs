//! Anchors (STC.md, section 19): objects and arrays that occur more than once, byte for byte.
//!
//! Every container has a hash, computed from the text directly in it and the hashes of the containers inside, so that all
//! hashes together read every byte once. In `[[1],2,[1]]` the two inner arrays get the hash of `[1]`; the outer one gets that
//! of `[`, the inner hash, `,2,`, the inner hash and `]`. Of several equal containers the first is named and the others are
//! copies.

use bumpalo::Bump;

use super::hash::Hasher;
use crate::estimate::{TOKEN_COST, tokens};
use crate::options::Limits;
use crate::v2::arena::{ArenaTable, ArenaVec, FIRST_CAPACITY};
use crate::v2::tree::{Token, Tree};

/// The cost of a name with its sigil, where it is given and where it is used.
pub(super) const NAME_COST: i64 = 2 * TOKEN_COST;

/// What a container must cost at least to get a name: the name twice, and something for the reader's effort.
const MIN_COST: i64 = 2 * NAME_COST + 2 * TOKEN_COST;

/// A shorter container never costs [`MIN_COST`].
const MIN_ANCHOR_BYTES: usize = 20;

#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// The first of the equal containers, which has the name.
    container: Token,
    hash: u64,
    copies: u32,
}

/// What [`Anchors`] keep for each token. Only entries of containers are read, and they are written before, so nothing is
/// cleared: these are not in the arena, where 12 bytes for each token would have to be.
#[derive(Debug, Default)]
pub(crate) struct AnchorSlots {
    /// By closing bracket: the hash of the container.
    hashes: Vec<u64>,
    /// By container: the number of its anchor plus one, if it has the name or is a copy; else zero.
    anchor_of: Vec<u32>,
}

/// The containers of a document that occur more than once.
pub(crate) struct Anchors<'a> {
    slots: &'a mut AnchorSlots,
    anchors: ArenaVec<'a, Anchor>,
    table: ArenaTable<'a, u32>,
    /// The number of anchors that have copies, and their JSON bytes in sum.
    named: usize,
    bytes: usize,
    max_found: usize,
}

impl<'a> Anchors<'a> {
    /// Returns no anchors. At most `max_found` containers get one.
    pub(super) fn new(arena: &'a Bump, slots: &'a mut AnchorSlots, max_found: usize) -> Self {
        Self {
            slots,
            anchors: ArenaVec::new_in(arena),
            table: ArenaTable::new_in(arena),
            named: 0,
            bytes: 0,
            max_found,
        }
    }

    /// Hashes every container of the document and takes back all anchors, before the document is visited.
    pub(super) fn begin(&mut self, arena: &Bump, hasher: Hasher, tree: Tree<'_>) {
        let AnchorSlots { hashes, anchor_of } = self.slots;
        hashes.resize(tree.len().max(hashes.len()), 0);
        anchor_of.resize(tree.len().max(anchor_of.len()), 0);
        let containers = hash_containers(arena, hasher, tree, self.slots);
        self.anchors.clear();
        self.anchors.reserve(FIRST_CAPACITY);
        self.table.clear();
        // Enough for all, because to grow a table is to hash everything in it again.
        self.table.reserve(containers.min(self.max_found), |_| 0);
        (self.named, self.bytes) = (0, 0);
    }

    /// Returns whether some container is a copy of another.
    pub(super) fn has_copies(&self) -> bool {
        self.named > 0
    }

    /// Returns a lower bound of what the anchors save.
    pub(super) fn least_saving(&self) -> i64 {
        self.saving_by(|_| MIN_COST)
    }

    /// Returns an estimate of what the anchors save, for which each container is read.
    pub(super) fn saving(&self, tree: Tree<'_>) -> i64 {
        self.saving_by(|container| costs(tree, container).sum())
    }

    fn saving_by(&self, cost: impl Fn(Token) -> i64) -> i64 {
        let named = self.anchors.iter().filter(|anchor| anchor.copies > 0);
        named.map(|anchor| i64::from(anchor.copies) * (cost(anchor.container) - NAME_COST) - NAME_COST).sum()
    }

    /// Adds a container that is about to be written. Returns whether it is a copy of an earlier one. If `may_name` is false
    /// (section 17.3) it gets no anchor for later copies.
    pub(super) fn add(&mut self, tree: Tree<'_>, container: Token, may_name: bool, limits: &Limits) -> bool {
        let text = tree.value(container);
        if text.len() < MIN_ANCHOR_BYTES {
            return false;
        }
        let hash = self.slots.hashes[tree.close(container) as usize];
        let Self { table, anchors, .. } = self;
        if let Some(&id) = table.find(hash, |&id| tree.value(anchors[id as usize].container) == text) {
            let anchor = &mut anchors[id as usize];
            if anchor.copies == 0 {
                // The limits of a decoder (sections 20.3 and 20.4).
                if self.named == limits.columns || self.bytes + text.len() > limits.anchors {
                    return false;
                }
                self.named += 1;
                self.bytes += text.len();
                self.slots.anchor_of[anchor.container as usize] = id + 1;
            }
            anchor.copies += 1;
            self.slots.anchor_of[container as usize] = id + 1;
            return true;
        }
        if may_name && anchors.len() < self.max_found && is_worth_a_name(tree, container) {
            let id = anchors.len() as u32;
            anchors.push(Anchor { container, hash, copies: 0 });
            table.insert_unique(hash, id, |&id| anchors[id as usize].hash);
        }
        false
    }

    /// Returns the number of copies of the anchor of a container, and whether the container has the name.
    pub(super) fn copies(&self, container: Token) -> Option<(u32, bool)> {
        self.of(container).map(|(id, has_name)| (self.anchors[id as usize].copies, has_name))
    }

    /// Returns the anchor of a container, and whether the container has the name or is a copy.
    pub(crate) fn of(&self, container: Token) -> Option<(u32, bool)> {
        let id = self.slots.anchor_of[container as usize].checked_sub(1)?;
        Some((id, self.anchors[id as usize].container == container))
    }
}

/// Computes the hash of every container that may get an anchor, and clears its anchor. Returns the number of containers.
fn hash_containers(arena: &Bump, hasher: Hasher, tree: Tree<'_>, slots: &mut AnchorSlots) -> usize {
    let mut stack = ArenaVec::new_in(arena);
    // The hash of the innermost open container so far, and the offset from which its text is not in the hash yet. The hashes
    // of the containers around it are on the stack.
    let mut hash = hasher.start();
    let mut from = 0;
    let (mut token, mut containers) = (0, 0);
    while (token as usize) < tree.len() {
        let first = tree.first(token);
        if matches!(first, b'{' | b'[') {
            let start = tree.start(token);
            slots.anchor_of[token as usize] = 0;
            stack.push(hasher.text(hash, &tree.text[from..start]));
            (hash, from) = (hasher.start(), start);
            // Arrays inside an array without objects are copied with it and get no anchor.
            token = if tree.is_flat(token) { tree.close(token) } else { token + 1 };
        } else if matches!(first, b'}' | b']') {
            let end = tree.start(token) + 1;
            hash = hasher.text(hash, &tree.text[from..end]);
            slots.hashes[token as usize] = hash;
            hash = hasher.word(stack.pop().unwrap_or_default(), hash);
            from = end;
            containers += 1;
            token += 1;
        } else {
            token += 1;
        }
    }
    containers
}

/// Returns whether a container costs more than [`MIN_COST`] without its keys, which may be in a header.
fn is_worth_a_name(tree: Tree<'_>, container: Token) -> bool {
    // A bracket or a scalar is a token at least, and has a comma.
    const MIN_VALUE_COST: i64 = TOKEN_COST + TOKEN_COST / 2;
    const ENOUGH_VALUES: usize = (MIN_COST / MIN_VALUE_COST) as usize;
    if tree.values(container).take(ENOUGH_VALUES).count() == ENOUGH_VALUES {
        return true;
    }
    let mut cost = 0;
    costs(tree, container).any(|of_token| {
        cost += of_token;
        cost > MIN_COST
    })
}

/// Returns what a container costs, token by token, without its keys.
fn costs(tree: Tree<'_>, container: Token) -> impl Iterator<Item = i64> {
    (container..tree.close(container)).map(move |token| {
        let key = tree.first(token) == b'"' && tree.is_key(token);
        if key { 0 } else { tokens(tree.lexeme(token)) + TOKEN_COST / 2 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_tree;

    /// Containers, and what each costs in quarters of a token without its keys: a bracket, a number or a word has a token and a half.
    const CONTAINERS: [(&str, i64); 12] = [
        (r#"{"a_long_key_name":1,"another_long_key":2}"#, 18),
        (r#"{"a_long_key_name":1,"another_long_key":2,"k":3}"#, 24),
        (r#"{"a_long_key_name":1,"another_long_key":2,"k":3,"l":4}"#, 30),
        (r#"{"a_long_key_name":1,"another_long_key":2,"k":3,"l":4,"m":5}"#, 36),
        (r#"{"a_key_that_is_long":[1,2]}"#, 30),
        (r#"{"a_key_that_is_long":[1]}"#, 24),
        (r#"{"a_key_that_is_long":{"x":{}}}"#, 30),
        (r#"{"a_key_that_is_long":"word"}"#, 20),
        (r#"{"a_key_that_is_long":"two words"}"#, 24),
        (r#"{"a_key_that_is_long":"three-words"}"#, 28),
        // Of 19 bytes, and of 20.
        ("[1,2,3,4,5,6,7,8,9]", 60),
        ("[1,2,3,4,5,6,7,8,10]", 60),
    ];

    /// Returns whether a container gets a name once it has a copy.
    fn is_worth(container: &(&str, i64)) -> bool {
        container.1 > MIN_COST && container.0.len() >= 20
    }

    /// Adds the elements of an array, and asserts that those are copies that should be. Returns what the anchors save, and
    /// at least.
    fn assert_added(
        json: &str,
        slots: &mut AnchorSlots,
        max_found: usize,
        limits: &Limits,
        expected: &[bool],
    ) -> (i64, i64) {
        with_tree(json, |tree| {
            let arena = Bump::new();
            let mut anchors = Anchors::new(&arena, slots, max_found);
            anchors.begin(&arena, Hasher::default(), tree);
            assert!(!anchors.has_copies());
            let added: Vec<bool> = tree.values(0).map(|container| anchors.add(tree, container, true, limits)).collect();
            assert_eq!(added, expected, "{json}");
            assert_eq!(anchors.has_copies(), expected.contains(&true), "{json}");
            for (container, is_copy) in tree.values(0).zip(added) {
                // A name is given exactly where an equal container comes later and is a copy.
                let mut others = tree.values(0).zip(expected);
                let has_copy = others.any(|(other, &is_copy)| is_copy && tree.value(other) == tree.value(container));
                let name = if has_copy { Some(!is_copy) } else { None };
                assert_eq!(anchors.of(container).map(|(_, has_name)| has_name), name, "{json}");
            }
            (anchors.saving(tree), anchors.least_saving())
        })
    }

    #[test]
    fn a_container_gets_a_name_if_it_costs_more_than_its_names() {
        let mut slots = AnchorSlots::default();
        for container in &CONTAINERS {
            for count in 1..5 {
                let json = format!("[{},{{}}]", vec![container.0; count].join(","));
                let is_copy = |at| is_worth(container) && 0 < at && at < count;
                let expected: Vec<bool> = (0..=count).map(is_copy).collect();
                let saved = |cost: i64| (count as i64 - 1) * (cost - NAME_COST) - NAME_COST;
                let savings =
                    if is_worth(container) && count > 1 { (saved(container.1), saved(MIN_COST)) } else { (0, 0) };
                assert_eq!(assert_added(&json, &mut slots, 99, &Limits::DEFAULT, &expected), savings, "{json}");
            }
        }
    }

    #[test]
    fn anchors_of_a_document_know_nothing_of_the_one_before() {
        let texts = |step: usize| CONTAINERS.iter().cycle().step_by(step).take(CONTAINERS.len());
        let documents = [1, 5, 3, 4, 6, 1].map(|step| texts(step).collect::<Vec<_>>());
        let mut slots = AnchorSlots::default();
        for document in &documents {
            let is_copy = |(at, container): (usize, &&(&str, i64))| {
                is_worth(container) && document[..at].iter().any(|before| before.0 == container.0)
            };
            let expected: Vec<bool> = document.iter().enumerate().map(is_copy).collect();
            let json: Vec<&str> = document.iter().map(|container| container.0).collect();
            assert_added(&format!("[{}]", json.join(",")), &mut slots, 99, &Limits::DEFAULT, &expected);
        }
    }

    #[test]
    fn anchors_use_their_limits_up_to_the_last_name_and_byte() {
        let some: Vec<&str> =
            CONTAINERS.iter().filter(|container| is_worth(container)).map(|container| container.0).collect();
        let json = format!("[{0},{0}]", some.join(","));
        let ends: Vec<usize> = some
            .iter()
            .scan(0, |sum, text| {
                Some({
                    *sum += text.len();
                    *sum
                })
            })
            .collect();
        let mut slots = AnchorSlots::default();
        let mut assert_named = |names: usize, max_found: usize, limits: Limits| {
            let expected: Vec<bool> =
                (0..2 * some.len()).map(|at| (some.len()..some.len() + names).contains(&at)).collect();
            assert_added(&json, &mut slots, max_found, &limits, &expected);
        };
        for names in 0..=some.len() {
            assert_named(names, 99, Limits::DEFAULT.columns(names));
            assert_named(names, names, Limits::DEFAULT);
        }
        // The shortest is last, so that no container after one that is too long has room.
        assert_named(some.len(), 99, Limits::DEFAULT.anchors(ends[some.len() - 1]));
        let first = Limits::DEFAULT.anchors(ends[0]);
        assert_named(1, 99, first);
        let json = format!("[{0},{0}]", some[0]);
        for (less, is_copy) in [(0, true), (1, false)] {
            let limits = Limits::DEFAULT.anchors(ends[0] - less);
            assert_added(&json, &mut AnchorSlots::default(), 99, &limits, &[false, is_copy]);
        }
    }
}
