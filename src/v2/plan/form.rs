//! The form of every container: one packed number for each token.

use super::columns::ListId;
use super::hash::Hasher;
use super::shapes::{ShapeId, Shapes};
use crate::options::Limits;
use crate::v2::tree::{Token, Tree};
use bumpalo::Bump;

/// How a container is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerForm {
    /// As in JSON, but for bare keys.
    Plain,
    /// As a table or a keyed table with this list of columns (STC.md, section 16).
    Table(ListId),
    /// As the object that defines a shape, `@a{…}` (section 18.1).
    DefinesShape(ShapeId),
    /// As a tuple of a shape that was defined before, `@a(…)` (section 18.2).
    UsesShape(ShapeId),
    /// As a tuple of its column's list (section 17.4), which other objects of the column do not fit. Where all fit, the list is
    /// complete, and no object needs a form.
    Tuple,
}

/// The upper three bits of a packed form are its kind, the others the list or shape.
const KIND: u32 = 7 << 29;
const TABLE: u32 = 1 << 29;
const DEFINES_SHAPE: u32 = 2 << 29;
const USES_SHAPE: u32 = 3 << 29;
const TUPLE: u32 = 4 << 29;

/// The form of every container of a document, and the shapes of its objects.
pub(crate) struct Forms<'a> {
    /// Indexed by token. Only the entries of containers are cleared and read: to clear the others too took two per cent of an
    /// encoder's time. So this is memory that documents share; an arena's would have to be cleared whole.
    packed: &'a mut [u32],
    shapes: Shapes<'a>,
}

impl<'a> Forms<'a> {
    /// Takes the packed forms, in which each container has zero.
    pub(super) fn new(packed: &'a mut [u32], arena: &'a Bump, hasher: Hasher, max_found: usize) -> Self {
        Self { packed, shapes: Shapes::new(arena, hasher, max_found) }
    }

    /// Returns the form of a container.
    #[inline(always)]
    pub(crate) fn of(&self, container: Token) -> ContainerForm {
        let packed = self.packed[container as usize];
        let id = packed & !KIND;
        match packed & KIND {
            TABLE => ContainerForm::Table(id),
            DEFINES_SHAPE if self.shapes.pays(id) => ContainerForm::DefinesShape(id),
            USES_SHAPE if self.shapes.pays(id) => ContainerForm::UsesShape(id),
            TUPLE => ContainerForm::Tuple,
            _ => ContainerForm::Plain,
        }
    }

    /// Makes a container a table.
    pub(super) fn set_table(&mut self, container: Token, list: ListId) {
        self.packed[container as usize] = TABLE | list;
    }

    /// Makes an object a tuple of its column's list.
    pub(super) fn set_tuple(&mut self, object: Token) {
        self.packed[object as usize] = TUPLE;
    }

    /// Adds an object that is written out, has this number of members and has no table inside.
    pub(super) fn add_object(&mut self, tree: Tree<'_>, object: Token, members: u32) {
        if let Some((shape, defines)) = self.shapes.add(tree, object, members) {
            self.packed[object as usize] = shape | if defines { DEFINES_SHAPE } else { USES_SHAPE };
        }
    }

    /// Decides which shapes pay and returns what they save.
    pub(super) fn decide_shapes(&mut self, tree: Tree<'_>, limits: &Limits) -> i64 {
        self.shapes.decide(tree, limits)
    }

    /// Takes back the shapes, before the objects of the document are visited once more.
    #[cold]
    pub(super) fn clear_shapes(&mut self, tree: Tree<'_>) {
        self.shapes.clear();
        for container in containers(tree) {
            let packed = &mut self.packed[container as usize];
            if matches!(*packed & KIND, DEFINES_SHAPE | USES_SHAPE) {
                *packed = 0;
            }
        }
    }
}

/// Clears the forms of all containers, before the document is planned once more.
#[cold]
pub(crate) fn clear_forms(packed: &mut [u32], tree: Tree<'_>) {
    for container in containers(tree) {
        packed[container as usize] = 0;
    }
}

fn containers(tree: Tree<'_>) -> impl Iterator<Item = Token> {
    (0..tree.len() as Token).filter(move |&token| matches!(tree.first(token), b'{' | b'['))
}
