//! What merging has to find, by a slow reading of the rules of STC.md, section 21.3; the tests compare the two.

use super::*;
use crate::testing::with_columns;

/// A list as the rules of STC.md, section 21.3, give it: its columns are in a row, and every key is compared with all of them.
#[derive(Default)]
struct Naive<'t> {
    columns: Vec<NaiveColumn<'t>>,
    objects: u32,
    irregular: bool,
    incomplete: bool,
}

#[derive(Default)]
struct NaiveColumn<'t> {
    key: &'t [u8],
    rows: u32,
    differs: bool,
    /// The value that counts as the most frequent, and the rows that have it.
    frequent: (&'t [u8], u32),
    /// The value that takes its place once it has been met more often, by a majority vote among the others (rule 4), and the rows that
    /// have had it since it was elected.
    candidate: (&'t [u8], u32),
    votes: u32,
    first: Token,
    /// The objects in it, and how many equal ones each stands for.
    inside: Vec<(Token, u32)>,
    in_arrays: bool,
    writes_objects: bool,
    displaced: bool,
    before_displaced: bool,
}

impl<'t> NaiveColumn<'t> {
    fn add(&mut self, tree: Tree<'t>, value: Token, weight: u32, open: bool, level: u32) {
        let text = tree.value(value);
        let before = self.rows;
        self.rows += weight;
        if before == 0 {
            (self.frequent, self.first) = ((text, 0), value);
        } else if self.differs || text != self.frequent.0 {
            if !self.differs {
                (self.differs, self.frequent.1) = (true, before);
                self.add_inside(tree, self.first, before, open, level);
            }
            if !open {
                self.count(text, weight);
            }
            self.add_inside(tree, value, weight, open, level);
        }
    }

    fn count(&mut self, text: &'t [u8], weight: u32) {
        if text == self.frequent.0 {
            self.frequent.1 += weight;
        } else if text == self.candidate.0 {
            self.candidate.1 += weight;
            self.votes += weight;
            if self.candidate.1 > self.frequent.1 {
                (self.frequent, self.candidate) = (self.candidate, self.frequent);
            }
        } else if self.votes < weight {
            (self.candidate, self.votes) = ((text, weight), weight - self.votes);
        } else {
            self.votes -= weight;
        }
    }

    fn add_inside(&mut self, tree: Tree<'t>, value: Token, weight: u32, open: bool, level: u32) {
        let is_object = |value: Token| tree.first(value) == b'{';
        let has_object = |value: Token| tree.value(value).contains(&b'{');
        if level == if open { MAX_OPEN_LEVELS } else { MAX_LEVELS } {
            self.writes_objects |= has_object(value);
        } else if is_object(value) {
            self.inside.push((value, weight));
        } else if tree.first(value) == b'[' {
            for element in tree.values(value) {
                if is_object(element) {
                    self.inside.push((element, weight));
                    self.in_arrays = true;
                } else {
                    self.writes_objects |= has_object(element);
                }
            }
        }
    }
}

impl<'t> Naive<'t> {
    fn has_constant(&self) -> bool {
        self.objects > 1 && self.columns.iter().any(|column| !column.differs && column.rows == self.objects)
    }

    /// Merges objects into a list. `around` tells of the lists around it, the nearest first, whether they have a constant.
    fn merge(tree: Tree<'t>, objects: &[(Token, u32)], open: bool, level: u32, around: &[bool]) -> Self {
        let mut list = Self::default();
        for &(object, weight) in objects {
            let in_vain = level >= 2 && list.objects > 1 && !list.has_constant() && !around[..2].contains(&true);
            list.incomplete |= open && in_vain && list.objects.is_power_of_two();
            if open && list.incomplete {
                break;
            }
            let same = {
                let mut keys = tree.values(object).map(|value| tree.key(value - 1));
                list.columns.iter().all(|column| keys.next() == Some(column.key)) && keys.next().is_none()
            };
            let is_empty = tree.child_count(object) == 0;
            let places = if is_empty { None } else { list.places(tree, object, open) };
            let Some(places) = places else {
                (list.irregular, list.incomplete) = (true, true);
                continue;
            };
            list.irregular |= !same && list.objects > 0;
            list.objects += weight;
            for (place, value) in places.into_iter().zip(tree.values(object)) {
                list.columns[place].add(tree, value, weight, open, level);
            }
        }
        list
    }

    /// Returns the columns of an object's keys, which are added if they are new; none if the object does not agree.
    fn places(&mut self, tree: Tree<'t>, object: Token, open: bool) -> Option<Vec<usize>> {
        let (mut places, mut last, mut before) = (Vec::new(), None, None);
        for key in tree.values(object).map(|value| tree.key(value - 1)) {
            let place = match self.columns.iter().position(|column| column.key == key) {
                Some(place) if last.is_none_or(|last| place > last) => place,
                Some(place) if open && !places.contains(&place) => {
                    self.columns[place].displaced = true;
                    if let Some(before) = before {
                        let column: &mut NaiveColumn<'_> = &mut self.columns[before];
                        column.before_displaced = true;
                    }
                    places.push(place);
                    before = Some(place);
                    continue;
                }
                Some(_) => return None,
                None => {
                    let place = last.map_or(0, |last| last + 1);
                    self.columns.insert(place, NaiveColumn { key, ..NaiveColumn::default() });
                    place
                }
            };
            places.push(place);
            (last, before) = (Some(place), Some(place));
        }
        Some(places)
    }

    /// Asserts that a list, and what is below it, is this one.
    fn assert_is(&self, tree: Tree<'t>, columns: &Columns<'_>, list: ListId, around: &[bool], json: &str) {
        let List { objects, regular, complete, width, level, .. } = *columns.list(list);
        assert_eq!(complete, !self.incomplete, "whether a list of level {level} is complete in {json}");
        // An open list that is not complete is not used.
        if columns.open && !complete {
            return;
        }
        assert_eq!((objects, regular), (self.objects, !self.irregular), "level {level} of {json}");
        assert_eq!(columns.of(list).count(), self.columns.len(), "level {level} of {json}");
        assert_eq!(width as usize, self.columns.len(), "level {level} of {json}");
        let mut rank = 0;
        for (id, naive) in columns.of(list).zip(&self.columns) {
            let column = columns.column(id);
            assert_eq!(tree.bytes(column.key_range), naive.key, "{json}");
            assert!(column.rank > rank, "ranks of level {level} in {json}");
            rank = column.rank;
            let what = (column.rows, column.uniform, column.displaced, column.before_displaced, column.writes_objects);
            let expected = (naive.rows, !naive.differs, naive.displaced, naive.before_displaced, naive.writes_objects);
            assert_eq!(what, expected, "{} in {json}", naive.key.escape_ascii());
            if column.rows > 0 {
                let frequent = (tree.bytes(column.frequent_range), column.frequent_count);
                assert_eq!(frequent, naive.frequent, "{} in {json}", naive.key.escape_ascii());
                assert_eq!(tree.value(column.frequent), naive.frequent.0, "{json}");
            }
            assert_eq!(column.nested == NONE, naive.inside.is_empty(), "{json}");
            if column.nested != NONE {
                assert_eq!(columns.list(column.nested).in_arrays, naive.in_arrays, "{json}");
                let around = [&[self.has_constant()], around].concat();
                let below = Naive::merge(tree, &naive.inside, columns.open, level + 1, &around);
                below.assert_is(tree, columns, column.nested, &around, json);
            }
        }
    }
}

/// Asserts that a table is merged as [`Naive`] merges it, whether its rows keep their keys or not. Returns which of the two are
/// tables.
pub(super) fn assert_merged(json: &str) -> [bool; 2] {
    [false, true].map(|open| {
        with_columns(json, 1 << 20, true, |tree, columns| {
            columns.open = open;
            let rows: Vec<(Token, u32)> = tree.values(0).map(|row| (row, 1)).collect();
            let naive = Naive::merge(tree, &rows, open, 0, &[]);
            // Where rows keep their keys, flat ones are given up once two, four or eight of them share nothing.
            let is_flat = rows.iter().all(|&(row, _)| tree.is_leaf(row));
            let is_flat_in_vain = open
                && is_flat
                && [2, 4, 8]
                    .iter()
                    .any(|&some| some <= rows.len() && !Naive::merge(tree, &rows[..some], open, 0, &[]).has_constant());
            let expected = !naive.incomplete && !is_flat_in_vain;
            let list = columns.merge_table(tree, 0, 1 << 20);
            assert_eq!(list.is_some(), expected, "open: {open}, {json}");
            if let Some(list) = list {
                naive.assert_is(tree, columns, list, &[], json);
            }
            expected
        })
    })
}
