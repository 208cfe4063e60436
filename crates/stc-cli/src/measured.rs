//! The sizes of an input: a grid of formats and units, which `stats` prints as a table or as JSON.

use stc::Format;

use crate::format::{key, title};
use crate::tokens::VOCABULARIES;

/// A text of the same data: its key in `--json`, its title in the table.
pub(crate) struct TextFormat {
    pub(crate) key: String,
    pub(crate) title: String,
}

/// The texts that are not STC: key and title.
const OTHERS: [(&str, &str); 3] = [("as_is", "JSON as given"), ("minified", "minified JSON"), ("toon", "TOON")];

/// The number of texts: [`OTHERS`], and every one of [`Format::STC`].
pub(crate) const FORMATS: usize = OTHERS.len() + Format::STC.len();

/// The index of minified JSON, against which all savings are counted.
pub(crate) const BASELINE: usize = 1;

/// Returns the texts, in the order of the grid.
pub(crate) fn formats() -> impl Iterator<Item = TextFormat> {
    let others = OTHERS.map(|(key, title)| TextFormat { key: key.to_owned(), title: title.to_owned() });
    let stc = Format::STC.map(|format| TextFormat { key: key(format), title: title(format) });
    others.into_iter().chain(stc)
}

/// The units: bytes, then the tokens of each vocabulary.
pub(crate) const UNITS: [&str; 3] = ["bytes", VOCABULARIES[0].name, VOCABULARIES[1].name];

/// The size of a text in each of [`UNITS`].
pub(crate) type Sizes = [u64; UNITS.len()];

/// The sizes of one input or of all together; `None` for a text that could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) sizes: [Option<Sizes>; FORMATS],
}

impl Measured {
    /// Returns the share of minified JSON that a text saves; negative if it is larger.
    pub(crate) fn saved(&self, format: usize, unit: usize) -> Option<f64> {
        let baseline = self.sizes[BASELINE]?[unit];
        let size = self.sizes[format]?[unit];
        (baseline > 0).then(|| 1.0 - size as f64 / baseline as f64)
    }

    /// Returns the sums over all inputs; none for a format that could not write one of them.
    pub(crate) fn total(all: &[Self]) -> Self {
        let sum = |format: usize| {
            let mut sums = Sizes::default();
            for measured in all {
                sums.iter_mut().zip(measured.sizes[format]?).for_each(|(sum, size)| *sum += size);
            }
            Some(sums)
        };
        Self { name: format!("total of {} files", all.len()), sizes: std::array::from_fn(sum) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_leaves_out_a_format_that_lacks_a_file() {
        let file = |bytes: u64| Measured { name: String::new(), sizes: [Some([bytes, bytes / 2, bytes / 4]); FORMATS] };
        let mut second = file(40);
        second.sizes[2] = None;
        second.sizes[4] = Some([10, 5, 5]);
        let total = Measured::total(&[file(80), second]);
        assert_eq!(total.sizes[BASELINE], Some([120, 60, 30]));
        assert_eq!((total.sizes[2], total.saved(2, 0)), (None, None));
        assert_eq!([total.saved(4, 0), total.saved(BASELINE, 0)], [Some(0.25), Some(0.0)]);
    }
}
