//! Tables with an open list (STC.md, section 17.10): rows keep their keys, and the header holds what all of them share.
//!
//! A model reads `{id:1,name:"x"}` as well as JSON and misreads cells that have to be counted, so this is the form of
//! the default level; eval/README.md has the measurement. Of the other constructs of version 2 it has bare strings alone. Of 178
//! answers in tuples of two to four values a model lost 14 points with the question after the data and 7 with it on both
//! sides, and of 185 in copies (section 19.2), which would save nearly eight per cent of JSON's tokens, 16 and 3.
//!
//! A constant stands directly before the first of an object's keys that come after it in the header. So the header also names
//! each key that may come directly after a constant. For rows `{"id":…,"state":"open","title":…}` that is `title`:
//! `{*,state=open,title}`.

use super::columns::{Column, ColumnRole, Columns, List, ListId, NONE};
use crate::estimate::{TOKEN, tokens};
use crate::format::{is_bare, is_bare_string};
use crate::v2::tree::{Token, Tree};

/// The cost of a table besides its columns: `[12]`, `{*`, `}:` and the line feed.
const OPEN_TABLE_COST: i64 = 5 * TOKEN;
/// The cost of a row: `}`, a line feed and `{`, where JSON has `},{`.
const ROW_COST: i64 = TOKEN;
/// The cost of a list besides its columns: its braces and its mark.
const OPEN_LIST_COST: i64 = 3 * TOKEN;
/// The cost of a key that the header names, besides its letters.
const NAMED_KEY_COST: i64 = TOKEN / 2;

/// What an object costs whose own key keeps its quotes: `":{"` is one token, `":{` two.
pub(super) const QUOTED_KEY_COST: i64 = TOKEN;

/// Returns whether the key of a member keeps its quotes.
pub(super) fn has_quoted_key(tree: Tree<'_>, value: Token) -> bool {
    !is_bare(tree.key_body(value - 1))
}

/// Returns what a document must save to be written in this form: one token of 512, so that one whose saving is smaller than the
/// error of the estimate stays JSON.
pub(super) fn margin(tree: Tree<'_>) -> i64 {
    // A token has about four bytes.
    tree.text.len() as i64 / 4 / 512 * TOKEN
}

/// Returns what the bare strings of a document save (section 14.5), up to the first sum over `enough`.
pub(super) fn saving_of_bare_strings(tree: Tree<'_>, enough: i64) -> i64 {
    let is_member = |&string: &Token| tree.first(string) == b'"' && tree.is_key(string - 1);
    let mut saving = 0;
    for string in (1..tree.len() as Token).filter(is_member) {
        saving += bare_string_saving(tree.value(string));
        if saving > enough {
            break;
        }
    }
    saving
}

/// Returns what a string saves without its quotes. In 140 files that is a token for an address, half a token for a word, and
/// less for what is cut into many tokens: after a quote, `/` or `:` is often part of a longer one.
fn bare_string_saving(string: &[u8]) -> i64 {
    let body = &string[1..string.len() - 1];
    if !is_bare_string(body) {
        return 0;
    }
    match body.iter().position(|byte| matches!(byte, b':' | b'/')) {
        None => TOKEN / 2,
        Some(at) if body[at..].starts_with(b"://") => TOKEN,
        Some(_) => TOKEN / 4,
    }
}

/// Decides the form of each list of a table, and the role of each column, and returns what the table saves.
pub(super) fn decide_table(tree: Tree<'_>, columns: &mut Columns<'_>, table: ListId) -> i64 {
    // The list of a column comes after the list that the column belongs to.
    for list in (table..columns.list_count()).rev() {
        columns.list_mut(list).is_open = true;
        // A list below a row that is not complete is not used.
        if columns.list(list).complete {
            mark_before_displaced(columns, list);
            let saving = decide_open(tree, columns, list);
            columns.list_mut(list).saving = saving - if list == table { OPEN_TABLE_COST } else { OPEN_LIST_COST };
        }
    }
    columns.list_mut(table).saving -= ROW_COST * i64::from(columns.list(table).objects);
    columns.list(table).saving
}

/// Returns whether all objects of a list have the column, with one value.
fn is_constant(column: &Column, objects: u32) -> bool {
    column.uniform && column.rows == objects && objects > 1
}

/// Decides the columns of an open list and returns what it saves: the constants and what is in the lists below, less the keys
/// that the header names.
fn decide_open(tree: Tree<'_>, columns: &mut Columns<'_>, list: ListId) -> i64 {
    let objects = columns.list(list).objects;
    let mut saving = 0;
    // Whether the keys up to the next one that all objects have may come directly after a constant.
    let mut after_constant = false;
    let mut at = columns.list(list).head;
    while at != NONE {
        let (id, column) = (at, *columns.column(at));
        at = column.next;
        if column.rows == 0 {
            continue;
        }
        let key = || tokens(tree.key_body(column.key));
        let (mut role, mut in_header) = (ColumnRole::Cell, after_constant && !column.displaced);
        if is_constant(&column, objects) && !column.displaced && !column.before_displaced {
            let member = key() + TOKEN + tokens(tree.value(column.frequent)) + TOKEN / 2;
            saving += i64::from(objects - 1) * member;
            (role, in_header, after_constant) = (ColumnRole::Constant, true, true);
        } else {
            let mut below = saving_below(columns, &column);
            if in_header {
                saving -= key() + NAMED_KEY_COST;
            } else if below > 0 {
                below -= key() + NAMED_KEY_COST;
            }
            if below > 0 && !column.displaced {
                saving += below;
                (role, in_header) = (ColumnRole::Nested, true);
            }
            after_constant &= column.rows < objects || column.displaced;
        }
        let decided = columns.column_mut(id);
        (decided.role, decided.in_header) = (role, in_header);
    }
    saving
}

/// Marks the column that all objects have before each displaced column, as if the displaced one came directly after it: the
/// header cannot name a displaced column, so a constant cannot stand before it.
fn mark_before_displaced(columns: &mut Columns<'_>, list: ListId) {
    let List { head, objects, regular, .. } = *columns.list(list);
    if regular {
        return;
    }
    let (mut at, mut required) = (head, NONE);
    while at != NONE {
        let Column { displaced, rows, next, .. } = *columns.column(at);
        if !displaced && rows == objects {
            required = at;
        } else if displaced && required != NONE {
            columns.column_mut(required).before_displaced = true;
        }
        at = next;
    }
}

/// Returns what the list below a column saves; not positive if there is none that does.
fn saving_below(columns: &Columns<'_>, column: &Column) -> i64 {
    if column.nested == NONE { 0 } else { columns.list(column.nested).saving }
}
