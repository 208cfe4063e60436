//! The sizes of an input: a grid of formats and units, which `stats` prints as a table or as JSON.

use stc::Format;

use crate::format::{key, title};
use crate::tokens::VOCABULARIES;

/// A text of the same data: its key in `--json`, its title in the table.
pub(crate) struct TextFormat {
    pub(crate) key: String,
    pub(crate) title: String,
}

/// The number of texts: the JSON as given, minified JSON, and every one of [`Format::STC`].
pub(crate) const FORMATS: usize = BASELINE + 1 + Format::STC.len();

/// The index of minified JSON, with which the STC formats are compared.
pub(crate) const BASELINE: usize = 1;

/// Returns the texts, in the order of the grid.
pub(crate) fn columns() -> impl Iterator<Item = TextFormat> {
    let plain = [("as_is", "as is"), ("minified", "minified")];
    let plain = plain.map(|(key, title)| TextFormat { key: key.to_owned(), title: title.to_owned() });
    // "dense" and "refs" alone: lines of six-digit numbers stay within a hundred columns.
    let stc = Format::STC.map(|format| {
        let title = title(format);
        TextFormat { key: key(format), title: title.strip_prefix("STC 2 ").unwrap_or(&title).to_owned() }
    });
    plain.into_iter().chain(stc)
}

/// The units: bytes, then the tokens of each vocabulary.
pub(crate) const UNITS: [&str; 3] = ["bytes", VOCABULARIES[0].name, VOCABULARIES[1].name];

/// The sizes of one input or of all together: a row for each text, a column for each unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) sizes: [[u64; UNITS.len()]; FORMATS],
}

impl Measured {
    /// Returns a text's size relative to minified JSON.
    pub(crate) fn ratio(&self, format: usize, unit: usize) -> Option<f64> {
        let baseline = self.sizes[BASELINE][unit];
        (baseline > 0).then(|| self.sizes[format][unit] as f64 / baseline as f64)
    }

    /// Returns the sums over all inputs.
    pub(crate) fn total(all: &[Self]) -> Self {
        let mut total = Self { name: format!("total of {} files", all.len()), ..Self::default() };
        for measured in all {
            for (sum, size) in total.sizes.iter_mut().flatten().zip(measured.sizes.iter().flatten()) {
                *sum += size;
            }
        }
        total
    }
}
