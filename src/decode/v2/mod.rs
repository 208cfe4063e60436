//! What only version 2 has: tables, shapes, the dictionary, templates and anchors (grammar/STC.md, sections 14 to 21).

pub(super) mod columns;
pub(super) mod frames;
pub(super) mod names;
pub(super) mod records;
pub(super) mod references;
pub(super) mod rows;
pub(super) mod schema;
pub(super) mod state;
pub(super) mod steps;
