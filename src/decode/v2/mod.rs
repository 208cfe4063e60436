//! What only version 2 has (grammar/STC.md, sections 14 to 20): tables, shapes, the dictionary, templates and anchors.
//!
//! `*_steps` are the machine's own steps, byte by byte; they alone decide what is an error. `*_fast_path` take the common cases
//! a token at a time. The other files are the types that both work on.

pub(super) mod bare_strings;
pub(super) mod cell_fast_path;
pub(super) mod columns;
pub(super) mod context;
pub(super) mod frames;
pub(super) mod header_fast_path;
pub(super) mod header_steps;
pub(super) mod listed_key;
pub(super) mod listed_row_fast_path;
pub(super) mod name_fast_path;
pub(super) mod name_steps;
pub(super) mod names;
pub(super) mod object_fast_path;
pub(super) mod object_steps;
pub(super) mod open_lists;
pub(super) mod schema;
pub(super) mod shape_keys;
pub(super) mod steps;
pub(super) mod table_fast_path;
pub(super) mod table_steps;
pub(super) mod template;
