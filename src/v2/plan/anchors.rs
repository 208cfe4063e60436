//! Anchors: objects and arrays that stand in the text more than once, byte for byte.
//!
//! Every container has a hash, made from the hashes of the containers in it and the text between them, so that all of
//! them together cost one look at every byte. The first of several equal ones is named, the others are the name.

use hashbrown::HashTable;

use super::hash::Hasher;
use crate::estimate::{TOKEN, tokens};
use crate::options::Limits;
use crate::v2::tree::{Token, Tree};

/// A name, where it is given and where it is used.
pub(super) const NAME: i64 = 2 * TOKEN;
/// What a container must at least be worth to be said by a name: the name, twice, and some more for the reader's
/// trouble.
const WORTH: i64 = 2 * NAME + 2 * TOKEN;

/// The containers of a document that come again.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    /// By the token that closes it: the hash of a container.
    hashes: Vec<u64>,
    /// By token: the number of an anchor plus one, of the container that it names or that comes again; else zero.
    of: Vec<u32>,
    anchors: Vec<Anchor>,
    map: HashTable<u32>,
    /// How many have a name, and how long they are together.
    named: usize,
    bytes: usize,
    hasher: Hasher,
    stack: Vec<u64>,
    /// How many there may be.
    pub(super) few: usize,
}

#[derive(Clone, Copy, Debug)]
struct Anchor {
    container: Token,
    hash: u64,
    uses: u32,
}

impl Anchors {
    /// About what they save, at least.
    pub(super) fn saving(&self) -> i64 {
        self.saving_by(|_| WORTH)
    }

    /// About what they save, with a look at each.
    pub(super) fn saving_in_all(&self, tree: Tree<'_>) -> i64 {
        self.saving_by(|container| worth(tree, container).sum())
    }

    fn saving_by(&self, worth: impl Fn(Token) -> i64) -> i64 {
        let named = self.anchors.iter().filter(|anchor| anchor.uses > 0);
        named.map(|anchor| i64::from(anchor.uses) * (worth(anchor.container) - NAME) - NAME).sum()
    }

    /// Hashes every container.
    pub(super) fn begin(&mut self, tree: Tree<'_>) {
        let Self { hashes, of, anchors, map, hasher, stack, .. } = self;
        // Those of other documents are written over before anybody asks.
        hashes.resize(tree.len().max(hashes.len()), 0);
        of.clear();
        of.resize(tree.len(), 0);
        anchors.clear();
        map.clear();
        (self.named, self.bytes) = (0, 0);
        stack.clear();
        // The hash of the container in hand, as far as it goes, and where the text begins that is not in it yet; those
        // further out are on the stack.
        let mut hash = hasher.start();
        let mut from = 0;
        let mut token = 0;
        while (token as usize) < tree.len() {
            let first = tree.first(token);
            if matches!(first, b'{' | b'[') {
                let start = tree.start(token);
                stack.push(hasher.text(hash, &tree.text[from..start]));
                (hash, from) = (hasher.start(), start);
                // Nobody asks about arrays in an array without objects.
                token = if tree.is_flat(token) { tree.close(token) } else { token + 1 };
            } else if matches!(first, b'}' | b']') {
                let end = tree.start(token) + 1;
                hash = hasher.text(hash, &tree.text[from..end]);
                hashes[token as usize] = hash;
                hash = hasher.word(stack.pop().unwrap_or_default(), hash);
                from = end;
                token += 1;
            } else {
                token += 1;
            }
        }
    }

    /// A container is about to be written: has it been before, so that its name will do?
    pub(super) fn again(&mut self, tree: Tree<'_>, container: Token, names: bool, limits: &Limits) -> bool {
        let span = tree.span(container);
        let hash = self.hashes[tree.close(container) as usize];
        // Long before a container is worth a name it is this long.
        if span.len() < 20 {
            return false;
        }
        let Self { map, anchors, .. } = self;
        if let Some(&id) = map.find(hash, |&id| tree.span(anchors[id as usize].container) == span) {
            let anchor = &mut anchors[id as usize];
            if anchor.uses == 0 {
                if self.named == limits.columns || self.bytes + span.len() > limits.anchors {
                    return false;
                }
                self.named += 1;
                self.bytes += span.len();
                self.of[anchor.container as usize] = id + 1;
            }
            anchor.uses += 1;
            self.of[container as usize] = id + 1;
            return true;
        }
        if names && anchors.len() < self.few && is_worth(tree, container) {
            let id = anchors.len() as u32;
            anchors.push(Anchor { container, hash, uses: 0 });
            map.insert_unique(hash, id, |&id| anchors[id as usize].hash);
        }
        false
    }

    /// How often the name of a container is used, and whether it is the one that it names.
    pub(super) fn uses(&self, container: Token) -> Option<(u32, bool)> {
        self.of(container).map(|(id, names)| (self.anchors[id as usize].uses, names))
    }

    /// The anchor of a container, and whether it is the one that it names.
    pub(crate) fn of(&self, container: Token) -> Option<(u32, bool)> {
        let id = self.of.get(container as usize)?.checked_sub(1)?;
        Some((id, self.anchors[id as usize].container == container))
    }
}

/// Does a container cost more than [`WORTH`] to write, without its keys? They may be in a header.
fn is_worth(tree: Tree<'_>, container: Token) -> bool {
    // A bracket or a scalar is a token at least, and has a comma.
    const EACH: i64 = TOKEN + TOKEN / 2;
    const MANY: usize = (WORTH / EACH) as usize;
    if tree.values(container).take(MANY).count() == MANY {
        return true;
    }
    let mut so_far = 0;
    worth(tree, container).any(|part| {
        so_far += part;
        so_far > WORTH
    })
}

/// What a container costs to write, part by part, without its keys.
fn worth(tree: Tree<'_>, container: Token) -> impl Iterator<Item = i64> {
    (container..tree.close(container)).map(move |token| {
        let key = tree.first(token) == b'"' && tree.is_key(token);
        if key { 0 } else { tokens(tree.lexeme(token)) + TOKEN / 2 }
    })
}
