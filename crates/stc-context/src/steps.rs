//! The steps that a text takes, by name.

/// A step on the way of a text to the model, in the order in which they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Escape sequences of terminals go.
    Ansi,
    /// Secrets are replaced by the names of rules.
    Redact,
    /// Output that is not text becomes a line with its length.
    Binary,
    /// The middle of a text over a bound goes, but for its first error.
    Cap,
    /// JSON becomes another format.
    Json,
    /// Blanks that align the cells of a table go.
    Table,
    /// Lines go that say little, by what is known of the tool and its command.
    Family,
    /// Lines that repeat are written once.
    Fold,
    /// Blanks at line ends and blank lines go.
    Space,
    /// Lines that differ only in times, durations, addresses and ids are written once.
    Noise,
    /// The middle of a text of many lines goes, but for lines about problems.
    Excerpt,
    /// Repeated passages become markers.
    Dictionary,
}

impl Step {
    /// All steps.
    pub const ALL: [Self; 12] = [
        Self::Ansi,
        Self::Redact,
        Self::Binary,
        Self::Cap,
        Self::Json,
        Self::Table,
        Self::Family,
        Self::Fold,
        Self::Space,
        Self::Noise,
        Self::Excerpt,
        Self::Dictionary,
    ];

    /// Returns the name used in reports, telemetry and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ansi => "ansi",
            Self::Redact => "redact",
            Self::Binary => "binary",
            Self::Cap => "cap",
            Self::Json => "json",
            Self::Table => "table",
            Self::Family => "family",
            Self::Fold => "fold",
            Self::Space => "space",
            Self::Noise => "noise",
            Self::Excerpt => "excerpt",
            Self::Dictionary => "dictionary",
        }
    }

    /// Returns whether something is lost that a model may read.
    #[must_use]
    pub const fn loses(self) -> bool {
        matches!(self, Self::Redact | Self::Binary | Self::Cap | Self::Family | Self::Noise | Self::Excerpt)
    }
}

/// A set of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Steps(u16);

impl Steps {
    /// Returns whether a step is in the set.
    #[must_use]
    pub const fn has(self, step: Step) -> bool {
        self.0 >> step as u16 & 1 == 1
    }

    /// Returns the steps in order.
    pub fn iter(self) -> impl Iterator<Item = Step> {
        Step::ALL.into_iter().filter(move |step| self.has(*step))
    }

    /// Returns whether a step of the set loses something.
    #[must_use]
    pub fn lose(self) -> bool {
        self.iter().any(Step::loses)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn add(&mut self, step: Step) {
        self.0 |= 1 << step as u16;
    }

    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// Returns the set of these bits; `None` if a bit is no step.
    pub(crate) const fn of_bits(bits: u16) -> Option<Self> {
        if bits >> Step::ALL.len() == 0 { Some(Self(bits)) } else { None }
    }
}

/// What a step did to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The step.
    pub step: Step,
    /// Whether its result was kept.
    pub kept: bool,
    /// Bytes before and after.
    pub bytes: [u64; 2],
    /// Estimated tokens before and after.
    pub tokens: [u64; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_the_order() {
        let mut steps = Steps::default();
        assert!(steps.is_empty() && !steps.lose());
        steps.add(Step::Fold);
        steps.add(Step::Ansi);
        assert_eq!(steps.iter().collect::<Vec<_>>(), [Step::Ansi, Step::Fold]);
        assert!(!steps.lose());
        steps.add(Step::Noise);
        assert!(steps.lose() && steps.has(Step::Noise) && !steps.has(Step::Cap));
        assert_eq!(Steps::of_bits(steps.bits()), Some(steps));
        assert_eq!(Steps::of_bits(1 << 12), None);
        for (place, step) in Step::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, place);
        }
    }
}
