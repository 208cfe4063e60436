//! The plan of a document: the form of each container, decided before the first byte is written.
//!
//! Tables are found from the outside in: an array whose elements are all objects is tried as a table, an object whose values
//! are all objects as a keyed table. A table that pays, by the [cost model](cost), takes everything inside with it; inside one
//! that does not, the search goes on. Objects that are left to be written out are [surveyed](survey) for shapes and, with
//! references, for copies and common strings. STC.md, section 21.3, lists the rules.

mod anchors;
mod bare;
pub(crate) mod columns;
mod cost;
mod dictionary;
mod fillings;
pub(crate) mod form;
mod hash;
mod open;
pub(crate) mod shapes;
mod survey;
mod tables;
mod templates;

use bumpalo::Bump;

use crate::options::{Format, Limits, Options};
use crate::v2::arena::ArenaVec;
use crate::v2::tree::{Token, Tree};
use anchors::{AnchorSlots, Anchors};
use columns::{ColumnId, ColumnMemory, ColumnRole, Columns, ListId};
use dictionary::{Dictionary, DictionarySlots};
use form::Forms;
pub(crate) use hash::Hasher;
use templates::Templates;

/// What a plan keeps in memory that is reused, and not in the arena: arrays indexed by token, which need not be cleared whole, and
/// what would take twice the memory by growing in an arena.
#[derive(Debug, Default)]
pub(crate) struct PlanMemory {
    /// The [packed form](Forms) of each container.
    pub(crate) forms: Vec<u32>,
    columns: ColumnMemory,
    anchors: AnchorSlots,
    dictionary: DictionarySlots,
}

/// The decisions for one document.
pub(crate) struct Plan<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) forms: Forms<'a>,
    pub(crate) templates: Templates<'a>,
    pub(crate) anchors: Anchors<'a>,
    pub(crate) dictionary: Dictionary<'a>,
    /// What all of it saves, in quarters of a token.
    saving: i64,
    /// What it must save at least to be used.
    margin: i64,
    /// What bare keys of objects that are written out save of that, with references.
    written_out_saving: i64,
    /// What tables and shapes save of it, or all that a plan without references would save if that is known.
    saving_without_references: i64,
    /// The objects of columns that are to be spliced, as the survey visited them.
    spliced_objects: ArenaVec<'a, (Token, ColumnId)>,
    /// The copies that the survey met, if columns inside rows may be filled.
    copies: ArenaVec<'a, Token>,
    /// What filled columns save.
    fillings_save: i64,
    hasher: Hasher,
    arena: &'a Bump,
}

/// Returns the most columns, shapes, anchors or strings that are held while a document of this length is planned. Each takes
/// more memory than the few bytes it may be found in. What is found after that is written out.
fn max_found(text_len: usize) -> usize {
    (1 << 14) + text_len / 128
}

impl<'a> Plan<'a> {
    /// Decides everything about a document of this depth. The form of each container in `memory` is zero.
    pub(crate) fn new(
        tree: Tree<'_>,
        depth: usize,
        options: &Options,
        memory: &'a mut PlanMemory,
        hasher: Hasher,
        arena: &'a Bump,
    ) -> Self {
        let (limits, references) = (&options.limits, options.has_references());
        let max_found = max_found(tree.text.len());
        let container_defaults = depth.saturating_add(columns::MAX_LEVELS as usize) < limits.depth;
        let mut plan = Self {
            columns: Columns::new(arena, &mut memory.columns, hasher, max_found, container_defaults, references),
            forms: Forms::new(&mut memory.forms, arena, hasher, max_found),
            templates: Templates::new(arena),
            anchors: Anchors::new(arena, &mut memory.anchors, max_found),
            dictionary: Dictionary::new(arena, &mut memory.dictionary, hasher, max_found),
            saving: 0,
            margin: 0,
            written_out_saving: 0,
            saving_without_references: 0,
            spliced_objects: ArenaVec::new_in(arena),
            copies: ArenaVec::new_in(arena),
            fillings_save: 0,
            hasher,
            arena,
        };
        if references {
            plan.find_tables::<false>(tree, limits);
            plan.find_templates(tree, limits);
            plan.survey(tree, limits);
            if plan.keep_splices(tree) {
                plan.forms.clear_shapes(tree);
                plan.survey(tree, limits);
            }
            if plan.fill_inside_rows(tree, limits) {
                plan.forms.clear_shapes(tree);
                plan.survey(tree, limits);
            }
            plan.undo_splices_with_anchors();
        } else {
            plan.columns.open = options.format == Format::Stc2Labelled;
            plan.find_tables::<true>(tree, limits);
        }
        plan.margin = bare::margin(tree);
        plan.saving_without_references = plan.columns.saving() + plan.forms.decide_shapes(tree, limits);
        plan.saving += plan.saving_without_references;
        if references && !plan.depends_on_references() {
            plan.saving_without_references += plan.written_out_saving;
        }
        // A lower bound of what anchors save is mostly enough.
        if references && !plan.pays() {
            plan.saving += plan.anchors.saving(tree) - plan.anchors.least_saving();
        }
        // Where tables pay, bare strings are not needed to decide.
        if !plan.pays() {
            let least = if references { plan.saving.min(plan.saving_without_references) } else { plan.saving };
            let saved = bare::saving_of_bare_strings(tree, plan.margin - least);
            plan.saving += saved;
            plan.saving_without_references += saved;
        }
        plan
    }

    /// Returns whether the document is better written by this plan than as minified JSON.
    pub(crate) fn pays(&self) -> bool {
        self.saving > self.margin
    }

    /// Returns whether a plan without references may pay if this one does not.
    pub(crate) fn may_pay_without_references(&self) -> bool {
        self.saving_without_references > self.margin
    }

    /// Returns whether a plan without references may have other tables or write out other objects: where there are tables or
    /// copies, or where a table was decided by what references may save.
    fn depends_on_references(&self) -> bool {
        self.columns.list_count() > 0 || self.columns.kept_for_anchors || self.anchors.has_copies()
    }

    /// Marks the columns whose splice saves more than anchors for their objects (STC.md, section 21.3, rule 6). Returns
    /// whether there are any.
    fn keep_splices(&mut self, tree: Tree<'_>) -> bool {
        let Self { columns, anchors, spliced_objects, .. } = self;
        let anchored =
            || spliced_objects.iter().filter_map(|&(object, id)| Some((object, id, anchors.copies(object)?)));
        for (object, id, (copies, has_name)) in anchored() {
            let column = *columns.column(id);
            // To compute the cost of a long object takes time, so the sum ends where it is decisive.
            if column.anchors_save <= cost::saving_of_splice(&column) {
                let saved = cost::tuple_cost(tree, columns, column.nested, object) - anchors::NAME_COST;
                // The object that has the name counts for all copies, in other columns too.
                let saved = if has_name { i64::from(copies) * saved - anchors::NAME_COST } else { saved };
                columns.column_mut(id).anchors_save += saved;
            }
        }
        let mut any = false;
        for (_, id, _) in anchored() {
            let column = columns.column_mut(id);
            column.keeps_splice = column.anchors_save <= cost::saving_of_splice(column);
            any |= column.keeps_splice;
        }
        any
    }

    /// Makes spliced columns nested ones if an object in them has a name or is a copy: only a tuple can be either.
    fn undo_splices_with_anchors(&mut self) {
        for &(object, column) in &self.spliced_objects {
            if self.anchors.of(object).is_some() {
                self.columns.column_mut(column).role = ColumnRole::Nested;
            }
        }
    }

    /// Finds the columns that are filled from others, and those whose strings begin or end alike.
    fn find_templates(&mut self, tree: Tree<'_>, limits: &Limits) {
        let Some(mut merged) = self.columns.merged.take() else { return };
        for list in 0..self.columns.list_count() {
            let (templates, fillings) =
                (Templates::may_be_in(tree, &self.columns, list), fillings::may_be_in(tree, &self.columns, list));
            self.columns.list_mut(list).may_have_templates = templates;
            self.columns.list_mut(list).may_be_filled = fillings;
        }
        let may_have_any = |list: &columns::List| list.may_have_templates || list.may_be_filled;
        merged.retain(|&(list, _)| may_have_any(self.columns.list(list)));
        // Objects of a list are in the order of the text, so the result is that of a stable sort, which would allocate.
        merged.sort_unstable();
        for objects in merged.chunk_by(|one, other| one.0 == other.0) {
            let list = objects[0].0;
            if self.columns.list(list).may_have_templates {
                self.templates.find(tree, &mut self.columns, list, objects, limits);
            }
            let columns::List { may_be_filled, parent, .. } = *self.columns.list(list);
            if may_be_filled && parent == columns::NONE {
                self.fillings_save += fillings::find(tree, &mut self.columns, list, objects, limits, self.arena);
            }
        }
        self.columns.merged = Some(merged);
    }

    /// Finds the filled columns of lists inside rows, whose objects may be copies, which only the survey knows. Returns whether
    /// there are any.
    fn fill_inside_rows(&mut self, tree: Tree<'_>, limits: &Limits) -> bool {
        let Some(merged) = self.columns.merged.take() else { return false };
        let before = self.fillings_save;
        self.copies.sort_unstable();
        let copies = &self.copies;
        // A copy is written without what is in it.
        let is_written = |&&(_, object): &&(ListId, Token)| {
            let around = copies[..copies.partition_point(|&copy| copy <= object)].last();
            around.is_none_or(|&copy| tree.close(copy) < object)
        };
        for objects in merged.chunk_by(|one, other| one.0 == other.0) {
            let list = objects[0].0;
            let columns::List { may_be_filled, parent, .. } = *self.columns.list(list);
            if may_be_filled && parent != columns::NONE {
                let objects = ArenaVec::from_iter_in(objects.iter().filter(is_written).copied(), self.arena);
                self.fillings_save += fillings::find(tree, &mut self.columns, list, &objects, limits, self.arena);
            }
        }
        self.columns.merged = Some(merged);
        self.fillings_save > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{TOKEN_COST, tokens};
    use crate::testing::{LABELLED, NO_REFERENCES, WHOLE, array, with_plan};

    /// Returns whether the plan of a document with these options pays, and whether one without references may.
    fn pays(json: &str, options: Options) -> (bool, bool) {
        planned(json, options, Limits::DEFAULT, |plan| (plan.pays(), plan.may_pay_without_references()))
    }

    /// Returns rows: `differ` of them have a key that no row before them has, and `repeat` more have these keys again.
    fn rows(differ: usize, repeat: usize) -> String {
        let row = |number: usize| format!(r#"{{"always":"{number:09}","key_{}":"some text"}}"#, number % differ);
        array(differ + repeat, row)
    }

    #[test]
    fn a_second_plan_is_made_only_if_it_may_pay() {
        // Few shapes, which save less than bare keys cost; many shapes, which save more.
        for (json, expected) in [(rows(400, 40), false), (rows(400, 800), true)] {
            assert_eq!(pays(&json, NO_REFERENCES).0, expected);
            assert_eq!(pays(&json, WHOLE), (expected, expected));
        }
    }

    /// Calls `read` with the plan of a document.
    fn planned<R>(json: &str, options: Options, limits: Limits, read: impl FnOnce(&Plan<'_>) -> R) -> R {
        with_plan(json, &options.limits(limits), |_, plan| read(plan))
    }

    #[test]
    fn more_is_found_in_a_longer_document() {
        for (length, expected) in
            [(0, 1 << 14), (127, 1 << 14), (128, (1 << 14) + 1), (1 << 21, 1 << 15), (1 << 24, 9 << 14)]
        {
            assert_eq!(max_found(length), expected, "{length}");
        }
    }

    /// Without tables, shapes and names a plan saves a token for each literal that is a member's value. It loses one for each object
    /// that opens an array or follows another one, and for each that is the value of a quoted key.
    #[test]
    fn what_is_written_out_saves_by_its_literals() {
        let documents = [
            r#"{"a":true,"b":null,"c":[{}]}"#,
            r#"{"a":[[]],"b":false,"c":{"d":null,"e":[[{"f":true}]],"g":true}}"#,
            r#"[{"a":1}]"#,
            r#"[1,{"a":null,"b":[{}],"c":true,"d":1}]"#,
            r#"[[{"a":""},1,{"b":""},{"c":false}]]"#,
            r#"{"a-b":{"c":null,"d":null,"e":null},"f":{"g h":{"i":{}}},"":[{"j":2}]}"#,
            r#"{"a b":{"c":[],"d":true,"e":true,"k":true},"l":{"é":{"m":[1],"n":null}}}"#,
            r#"[true,null,{"a":{"b":{"c":{"d":false}}}}]"#,
            r#"{"t":[true,false,null],"s":"null"}"#,
        ];
        for json in documents {
            let count = |part: &str| json.matches(part).count() as i64;
            let literals = count(":true") + count(":false") + count(":null");
            let opening = count("[{") + count("\"},{");
            let quoted = count("a-b\":{") + count("a b\":{") + count("g h\":{") + count("é\":{");
            let saving = (literals - opening - quoted) * TOKEN_COST;
            for options in [LABELLED, NO_REFERENCES] {
                assert_eq!(planned(json, options, Limits::DEFAULT, |plan| plan.saving), saving, "{json}");
            }
            planned(json, WHOLE, Limits::DEFAULT, |plan| {
                assert_eq!((plan.saving, plan.saving_without_references), (saving, saving), "{json}");
                assert_eq!((plan.pays(), plan.may_pay_without_references()), (saving > 0, saving > 0), "{json}");
            });
        }
    }

    #[test]
    fn objects_in_the_cells_of_a_table_save_by_their_literals_too() {
        let json =
            array(
                9,
                |n| if n % 2 == 0 { format!(r#"{{"a":{n},"x":{{"p":true}}}}"#) } else { format!(r#"{{"a":{n}}}"#) },
            );
        planned(&json, NO_REFERENCES, Limits::DEFAULT, |plan| {
            assert!(plan.columns.list_count() > 0);
            assert_eq!(plan.saving, plan.columns.saving() + 5 * cost::LITERAL);
        });
    }

    /// Without tables, copies and columns that were decided for copies, a plan without references would be the same.
    #[test]
    fn what_a_plan_without_references_saves_is_known_where_it_is_the_same() {
        let saving = |json: &str| {
            let dense = planned(json, NO_REFERENCES, Limits::DEFAULT, |plan| plan.saving);
            planned(json, WHOLE, Limits::DEFAULT, |plan| {
                let kinds = (plan.columns.list_count() > 0, plan.columns.kept_for_anchors, plan.anchors.has_copies());
                (kinds, plan.saving_without_references, plan.columns.saving(), dense)
            })
        };
        let literals = r#""n":null,"m":true"#;
        assert_eq!(saving(&format!(r#"{{{literals},"o":[1,2]}}"#)), ((false, false, false), 8, 0, 8));
        let rows = array(6, |n| format!(r#"{{"id":{n},"name":{n}}}"#));
        let (kinds, known, of_tables, dense) = saving(&format!(r#"{{{literals},"rows":{rows}}}"#));
        assert!(kinds == (true, false, false) && known == of_tables && known + 8 == dense);
        let copy = "[12345678,12345678,12345678,12345678]";
        let (kinds, known, _, dense) = saving(&format!(r#"{{{literals},"k":{copy},"l":{copy}}}"#));
        assert_eq!((kinds, known, dense), ((false, false, true), 0, 8));
        // A table whose objects might have got anchors, and which does not pay for its many empty cells.
        let rows = array(6, |n| {
            let (text, number) = if n < 3 { ("word".to_owned(), 7) } else { (format!("w{n}"), n) };
            format!(r#"{{"x":{{"c":"{text}","d":{number}}},"r{n}":1,"s{n}":1,"t{n}":1}}"#)
        });
        let (kinds, known, _, dense) = saving(&format!(r#"{{{literals},"rows":{rows}}}"#));
        // What is known are the shapes; the literals save 8, and the object that opens the array costs a token.
        assert_eq!((kinds, known + 8 - TOKEN_COST), ((false, true, false), dense));
    }

    /// Anchors are read only where a lower bound of what they save does not decide.
    #[test]
    fn copies_pay_where_they_save_more_than_the_rest_costs() {
        for (numbers, costs) in (3..9).flat_map(|numbers| (0..12).map(move |costs| (numbers, costs))) {
            let copy = array(numbers, |_| "12345678".to_owned());
            // Each of these costs a token.
            let others: String = (0..costs).map(|n| format!(r#","m{n}":[{{"a{n}":1}}]"#)).collect();
            let json = format!(r#"{{"k":{copy},"l":{copy}{others}}}"#);
            let value = |text: &[u8]| tokens(text) + TOKEN_COST / 2;
            let cost = value(b"[") + numbers as i64 * value(b"12345678");
            let saving = cost - 2 * anchors::NAME_COST - costs as i64 * TOKEN_COST;
            assert_eq!(pays(&json, WHOLE).0, saving > 0, "{numbers} numbers, {costs} tokens");
        }
    }

    /// Objects in every row are spliced, unless copies of some of them save more than the brackets of all.
    #[test]
    fn a_splice_is_kept_where_it_saves_as_much_as_copies() {
        let text = |n: usize| format!("some words of text {}", 100 + n);
        for (pairs, rows) in [4, 5].into_iter().flat_map(|pairs| (20..60).map(move |rows| (pairs, rows))) {
            let number = |row: usize| if row < 2 * pairs { row / 2 } else { row };
            let table = array(rows, |row| {
                let n = number(row);
                format!(r#"{{"id":{},"of":{{"x":"{}","y":{}}}}}"#, 500 + row, text(n), 100 + n)
            });
            // Two objects of two short keys are one too few for a shape, though the survey visits them again.
            let json = format!(r#"{{"rows":{table},"s":[1,{{"k":1,"l":[]}}],"t":[2,{{"k":2,"l":[]}}]}}"#);
            let value = |text: &str| tokens(text.as_bytes());
            let tuple = TOKEN_COST + value(&format!("\"{}\"", text(7))) + value("107");
            // The first of each pair gets a name, the other one is the name.
            let by_copies = pairs as i64 * (2 * (tuple - anchors::NAME_COST) - anchors::NAME_COST);
            let by_splice = rows as i64 * TOKEN_COST;
            let is_spliced = by_splice > 4 * (tuple - TOKEN_COST / 2 - 2 * TOKEN_COST) && by_copies <= by_splice;
            planned(&json, WHOLE, Limits::DEFAULT, |plan| {
                let roles: Vec<ColumnRole> = plan.columns.of(0).map(|id| plan.columns.column(id).role).collect();
                assert_eq!(roles[1] == ColumnRole::Spliced, is_spliced, "{pairs} pairs in {rows} rows: {by_copies}");
                assert_eq!(plan.saving_without_references, plan.columns.saving(), "{pairs} pairs in {rows} rows");
            });
        }
    }

    /// Where rows keep their keys, a container is tried as a table if at most one around it was tried in vain.
    #[test]
    fn tables_are_tried_inside_one_that_does_not_pay() {
        for options in [LABELLED, NO_REFERENCES] {
            let mut json = array(9, |n| format!(r#"{{"id":{n},"state":"the same text in all of them","n":{n}}}"#));
            for around in 0..5 {
                let found = planned(&json, options, Limits::DEFAULT, |plan| plan.columns.list_count() > 0);
                assert_eq!(found, options == NO_REFERENCES || around <= 1, "{options:?} {around} around");
                json = format!(r#"[{{"p{around}":[[{json}]]}},{{"q{around}":0}}]"#);
            }
        }
    }

    #[test]
    fn a_table_must_save_something_and_fit_the_limit_on_headers() {
        let tables = |json: &str, limits| planned(json, NO_REFERENCES, limits, |plan| plan.columns.list_count());
        // Three rows of one key save just what the header costs.
        for (count, found) in [(2, 0), (3, 0), (4, 1)] {
            assert_eq!(tables(&array(count, |n| format!(r#"{{"a":{n}}}"#)), Limits::DEFAULT), found, "{count} rows");
        }
        let json = array(5, |n| format!(r#"{{"ab":{n},"cd":{n}}}"#));
        for bytes in 0..20 {
            assert_eq!(tables(&json, Limits::DEFAULT.header(bytes)), u32::from(bytes >= 8), "{bytes} bytes");
        }
    }

    /// Rows whose keys are in the less frequent of two orders are left out of the list, and each costs its mark.
    #[test]
    fn rows_that_disagree_cost_a_token_each() {
        for (count, others) in (1..9).flat_map(|count| (1..9).map(move |others| (count, others))) {
            let json = array(count + others, |n| match n < count {
                true => format!(r#"{{"a":{n},"b":{n}}}"#),
                false => format!(r#"{{"b":{n},"a":{n}}}"#),
            });
            let (most, least) = (count.max(others) as i64, count.min(others) as i64);
            // Two keys and their colons for each row but one, and what the table costs.
            let saving = 4 * (most - 1) * TOKEN_COST - 4 * TOKEN_COST - least * cost::WHOLE_ROW;
            planned(&json, NO_REFERENCES, Limits::DEFAULT, |plan| {
                assert_eq!(plan.columns.list_count() > 0, saving > 0, "{count} and {others} rows");
                assert_eq!(plan.columns.saving(), saving.max(0), "{count} and {others} rows");
            });
        }
    }

    /// Arrays and objects may be defaults where no list below a row can bring one to a level that is too deep.
    #[test]
    fn containers_are_defaults_if_the_deepest_list_may_have_them() {
        let json =
            array(9, |n| if n == 4 { r#"{"a":1}"#.to_owned() } else { r#"{"a":["some","words",1]}"#.to_owned() });
        for depth in 4..40 {
            planned(&json, NO_REFERENCES, Limits::DEFAULT.depth(depth), |plan| {
                let column = plan.columns.column(plan.columns.list(0).head);
                assert_eq!(column.has_default, depth > 4 + columns::MAX_LEVELS as usize, "{depth} levels");
            });
        }
    }
}
