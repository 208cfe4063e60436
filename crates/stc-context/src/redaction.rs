//! Secrets in what is sent: found by the rules of `stc-redact`, before anything else is done with a text.

use crate::key::Secret;
use crate::refused::RedactionFailed;
use crate::{Mode, RedactSettings, RedactWhen, Settings};
use stc_redact::{Redacted, Redactor};
use stc_wire::budget::charge_bytes;
use stc_wire::edit::Edits;
use stc_wire::span;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// Whether secrets are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redaction {
    /// Secrets stay.
    Off,
    /// Secrets are replaced; a text that cannot be looked through is sent as it is, and counted.
    On,
    /// Secrets are replaced; a request with a text that cannot be looked through is not sent.
    Required,
}

impl Redaction {
    /// Returns what applies to a request of this mode; `wanted` is its own option.
    pub(crate) fn of(settings: &Settings, mode: Mode, wanted: Option<bool>) -> Self {
        let is_on = match settings.redact.enabled {
            RedactWhen::Required => return Self::Required,
            RedactWhen::ByMode => mode.is_lossy(),
            RedactWhen::On => mode != Mode::Disabled,
            RedactWhen::Off => false,
        };
        if wanted.unwrap_or(is_on) { Self::On } else { Self::Off }
    }

    pub(crate) fn is_on(self) -> bool {
        self != Self::Off
    }

    /// Returns all that decides which secrets are replaced, for the fingerprint of a request's settings.
    pub(crate) fn described(self, settings: &RedactSettings) -> String {
        static BUILTIN: LazyLock<u128> = LazyLock::new(|| fingerprint(stc_redact::RULES));
        format!("{self:?} {settings:?} {:032x}", *BUILTIN)
    }
}

/// Returns a fingerprint of rules as they are written: what was kept under other rules does not count.
fn fingerprint(rules: &str) -> u128 {
    Secret::new([0; 16]).hash(&[b"rules", rules.as_bytes()])
}

/// Test hook: a function that finds secrets, called instead of the rules.
#[cfg(feature = "__internal")]
pub type Redact = for<'a> fn(&'a str) -> Result<Redacted<'a>, stc_redact::Failed>;

/// What looks for secrets. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum Finder {
    Rules(Arc<Redactor>),
    #[cfg(feature = "__internal")]
    Test(Redact, bool),
}

impl Finder {
    /// Returns whether this requires what the settings do not.
    pub(crate) const fn requires(&self) -> bool {
        match self {
            Self::Rules(_) => false,
            #[cfg(feature = "__internal")]
            Self::Test(_, required) => *required,
        }
    }

    /// Returns the length in bytes that a text with a secret has at least.
    fn shortest(&self) -> usize {
        match self {
            Self::Rules(rules) => rules.shortest(),
            #[cfg(feature = "__internal")]
            Self::Test(..) => 1,
        }
    }

    fn redact<'a>(&self, text: &'a str) -> Option<Redacted<'a>> {
        charge_bytes(text.len());
        match self {
            Self::Rules(rules) => rules.redact(text).ok(),
            #[cfg(feature = "__internal")]
            Self::Test(redact, _) => redact(text).ok(),
        }
    }
}

/// The search for secrets of one request, and what it found so far.
pub(crate) struct Guard {
    finder: Finder,
    redaction: Redaction,
    /// What was found, by rule.
    pub(crate) found: Vec<(&'static str, u64)>,
    /// Texts that could not be looked through.
    pub(crate) failed: u64,
}

impl Guard {
    pub(crate) const fn new(finder: Finder, redaction: Redaction) -> Self {
        Self { finder, redaction, found: Vec::new(), failed: 0 }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.redaction.is_on()
    }

    /// Returns a text without its secrets, and their number. `None` if there are none, or if redaction is off.
    pub(crate) fn redact(&mut self, text: &str) -> Result<Option<(String, u32)>, RedactionFailed> {
        if !self.is_on() {
            return Ok(None);
        }
        let Some(Redacted { text, found }) = self.finder.redact(text) else {
            return self.fail().map(|()| None);
        };
        let count = self.count(found);
        Ok(match text {
            Cow::Owned(text) => Some((text, count)),
            Cow::Borrowed(_) => None,
        })
    }

    /// Counts what was found, by rule; returns how much it is.
    pub(crate) fn count(&mut self, found: Vec<(&'static str, u32)>) -> u32 {
        let mut count = 0;
        for (rule, times) in found.into_iter().filter(|(_, times)| *times > 0) {
            count += times;
            match self.found.iter_mut().find(|(name, _)| *name == rule) {
                Some((_, all)) => *all += u64::from(times),
                None => self.found.push((rule, times.into())),
            }
        }
        count
    }

    /// Returns the length in bytes that a text with a secret has at least.
    pub(crate) fn shortest(&self) -> usize {
        self.finder.shortest()
    }

    /// Returns a text without its secrets, and counts nothing; `None` if it could not be looked through.
    pub(crate) fn peek<'a>(&self, text: &'a str) -> Option<Redacted<'a>> {
        self.finder.redact(text)
    }

    /// Returns whether a text has secrets, or could not be looked through; escape sequences do not hide one.
    pub(crate) fn has_secrets(&self, text: &str) -> bool {
        let shown = stc_abridge::ansi(text, false);
        self.peek(shown.as_deref().unwrap_or(text)).is_none_or(|redacted| !redacted.found.is_empty())
    }

    /// Replaces the secrets in strings that edits write.
    pub(crate) fn redact_written(&mut self, edits: &mut Edits) -> Result<(), RedactionFailed> {
        for written in edits.written_mut().filter(|written| !written.is_empty()) {
            let Some(text) = span::string(written, &(0..written.len())) else { continue };
            if let Some((after, _)) = self.redact_plain(&text)? {
                written.clear();
                span::quote_into(&after, written);
            }
        }
        Ok(())
    }

    /// Returns whether what cannot be looked through must not be sent.
    pub(crate) fn is_required(&self) -> bool {
        self.redaction == Redaction::Required
    }

    /// Counts a text that could not be looked through, or a request with texts that were not found.
    pub(crate) fn fail(&mut self) -> Result<(), RedactionFailed> {
        self.failed += 1;
        if self.redaction == Redaction::Required { Err(RedactionFailed) } else { Ok(()) }
    }

    /// Returns the same as [`redact`](Self::redact) for a text that stays in all else: escape sequences do not hide a secret, and stay if there is none.
    pub(crate) fn redact_plain(&mut self, text: &str) -> Result<Option<(String, u32)>, RedactionFailed> {
        if !self.is_on() {
            return Ok(None);
        }
        match stc_abridge::ansi(text, false) {
            Some(shown) => self.redact(&shown),
            None => self.redact(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_is_described() {
        let rules = stc_redact::RULES;
        let other = rules.replacen("entropy = 3.5", "entropy = 3.6", 1);
        assert_ne!(fingerprint(rules), fingerprint(&other));
        let settings = RedactSettings::default();
        let described = Redaction::On.described(&settings);
        assert!(described.contains(&format!("{:032x}", fingerprint(rules))), "{described}");
        let without = RedactSettings { rules: vec!["-jwt".to_owned()], ..settings.clone() };
        for other in [Redaction::Off.described(&settings), Redaction::On.described(&without)] {
            assert_ne!(described, other);
        }
    }

    #[test]
    fn routes_share_the_built_in_rules() {
        let compiled = || RedactSettings::default().redactor().unwrap();
        assert!(Arc::ptr_eq(&compiled(), &compiled()));
        let own = RedactSettings { rules: vec!["-jwt".to_owned()], ..RedactSettings::default() }.redactor().unwrap();
        assert_eq!(own.ids().count() + 1, compiled().ids().count());
    }
}
