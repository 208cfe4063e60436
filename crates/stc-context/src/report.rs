//! What became of every tool result of a request, without any of its text.

use crate::steps::{Step, Steps, Trace};
use crate::{Api, Mode, Reading};
use stc_wire::Saved;
use std::fmt;
use std::ops::Range;

/// What became of a request.
#[derive(Clone, Debug)]
pub struct Report {
    /// The request's API.
    pub api: Api,
    /// The mode that applied.
    pub mode: Mode,
    /// The format by the model that reads; `None` where it does not depend on that, or the request was not read.
    pub reading: Option<Reading>,
    /// The reason why the whole request was left alone, if it was.
    pub left: Option<Status>,
    /// The texts of tool results, in the order of the request. A result in several parts has an item for each.
    pub items: Vec<Item>,
    /// The sizes of all texts together.
    pub saved: Saved,
    /// A keyed hash of the tenant and the session, if the request has a session.
    pub session: Option<u64>,
    /// Secrets that were found in texts and arguments, by rule. What came from a memo is not among them.
    pub redactions: Vec<(&'static str, u64)>,
    /// Texts and arguments that could not be looked through for secrets; one more if the places of some are ambiguous.
    pub redaction_failures: u64,
    /// The ranges in the request that were replaced beside texts, of arguments, other values and descriptions, and the lengths of what is
    /// sent for them.
    pub(crate) values: Vec<(Range<usize>, usize)>,
    pub(crate) tools: Vec<String>,
}

/// What became of one text of a tool result.
#[derive(Clone, Debug)]
pub struct Item {
    /// The range of the text in the request, with its quotes. Where the text is not a string, that of an array or object.
    pub text: Range<usize>,
    /// The range of the text in the body that is sent, with its quotes.
    pub sent: Range<usize>,
    /// The range of the call's id in the request, with its quotes.
    pub call: Option<Range<usize>>,
    /// The range of the call's arguments in the request, if the call is there.
    pub arguments: Option<Range<usize>>,
    /// What was done, or why nothing was.
    pub status: Status,
    /// Whether the legend was put before the text.
    pub legend: bool,
    /// The steps that changed it.
    pub steps: Steps,
    /// The number of secrets that were replaced.
    pub redacted: u32,
    /// What each step did, where the context has [traces](crate::Context::with_traces) and the text is not from a memo.
    pub traces: Vec<Trace>,
    /// What its memo was good for, if the request has a session.
    pub memo: Option<Memo>,
    /// The sizes before and after.
    pub saved: Saved,
    /// The range that a new text replaces, and the bytes around the string that is written there.
    pub(crate) place: Range<usize>,
    pub(crate) around: (usize, usize),
    pub(crate) family: &'static str,
    pub(crate) program: Option<&'static str>,
    pub(crate) tool: Option<usize>,
}

impl Report {
    pub(crate) fn new(api: Api, mode: Mode, left: Option<Status>) -> Self {
        Self {
            api,
            mode,
            reading: None,
            left,
            items: Vec::new(),
            saved: Saved::default(),
            session: None,
            redactions: Vec::new(),
            redaction_failures: 0,
            values: Vec::new(),
            tools: Vec::new(),
        }
    }

    /// Returns the tool of an item, if the request names it. Untrusted input.
    #[must_use]
    pub fn tool(&self, item: &Item) -> Option<&str> {
        item.tool.map(|tool| self.tools[tool].as_str())
    }

    /// Returns the number of texts that changed.
    #[must_use]
    pub fn changed(&self) -> usize {
        self.items.iter().filter(|item| item.status.is_change()).count()
    }

    /// Returns the number of texts whose memo was good for this.
    #[must_use]
    pub fn memos(&self, memo: Memo) -> usize {
        self.items.iter().filter(|item| item.memo == Some(memo)).count()
    }

    /// Returns the value of `X-STC-Context`: `results=14; changed=9; tokens=48213/31877; reader=large; by=readers.toml:claude-*`.
    /// Where secrets are replaced, `unsearched=1` is the number of texts that could not be looked through.
    #[must_use]
    pub fn header(&self) -> String {
        let Saved { tokens_in, tokens_out, .. } = self.saved;
        let left = self.left.map_or(String::new(), |left| format!("; left={left}"));
        let reading = self.reading.as_ref().filter(|_| !self.items.is_empty());
        let reading = reading.map_or(String::new(), |Reading { reader, by, .. }| match reader {
            Some(reader) => format!("; reader={}; by={by}", reader.name()),
            None => format!("; by={by}"),
        });
        let (results, changed) = (self.items.len(), self.changed());
        let unsearched = match self.redaction_failures {
            0 => String::new(),
            count => format!("; unsearched={count}"),
        };
        format!("results={results}; changed={changed}; tokens={tokens_in}/{tokens_out}{reading}{left}{unsearched}")
    }
}

impl Item {
    /// Returns the family of the tool.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        self.family
    }

    /// Returns the program that printed the text, if it is a known one.
    #[must_use]
    pub const fn program(&self) -> Option<&'static str> {
        self.program
    }

    /// Returns whether the text lost something.
    #[must_use]
    pub fn is_abridged(&self) -> bool {
        self.steps.lose()
    }

    /// Returns whether the middle of the text was left out.
    #[must_use]
    pub const fn is_capped(&self) -> bool {
        self.steps.has(Step::Cap)
    }
}

/// What a memo was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memo {
    /// The bytes came from it.
    Reused,
    /// There was none.
    Missed,
    /// It was of another text or of other settings.
    Changed,
}

impl Memo {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Reused, Self::Missed, Self::Changed];

    /// Returns the name used in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reused => "hit",
            Self::Missed => "miss",
            Self::Changed => "changed",
        }
    }
}

/// What was done to a text, or why nothing was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Sent as STC 2.
    Stc2,
    /// Sent as STC 2 with keys in its rows.
    Stc2Labelled,
    /// Sent as TOON.
    Toon,
    /// Sent as minified JSON.
    Minified,
    /// Replaced by a line that names an earlier result with the same text.
    Duplicate,
    /// Shortened by a step that loses something.
    Abridged,
    /// Changed by steps that lose nothing.
    Cleaned,
    /// Shorter than `min_bytes`.
    Small,
    /// Longer than `max_bytes`, or for a whole request than `max_request_bytes`.
    Large,
    /// Not a JSON array or object.
    NotJson,
    /// The tokens that it would save are too few.
    NotSmaller,
    /// A tool that `skip_tools` or `skip_unknown` excludes, or for a whole request a mode or bypass.
    Skipped,
    /// The result is marked as an error.
    ErrorResult,
    /// A program called the tool and parses its result, or citations count the text's characters.
    ForAProgram,
    /// For a whole request: its signature or digest covers the body.
    Signed,
    /// Not Unicode, or for a whole request not JSON or in an unknown content coding.
    Invalid,
    /// For a whole request: too many bytes of requests are in memory.
    Busy,
    /// The codec failed or reached a limit, or the steps of the mode would take more work than a text of this length may.
    Failed,
}

impl Status {
    /// All statuses.
    pub const ALL: [Self; 18] = [
        Self::Stc2,
        Self::Stc2Labelled,
        Self::Toon,
        Self::Minified,
        Self::Duplicate,
        Self::Abridged,
        Self::Cleaned,
        Self::Small,
        Self::Large,
        Self::NotJson,
        Self::NotSmaller,
        Self::Skipped,
        Self::ErrorResult,
        Self::ForAProgram,
        Self::Signed,
        Self::Invalid,
        Self::Busy,
        Self::Failed,
    ];

    /// Returns the name used in reports, logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stc2 => "stc2",
            Self::Stc2Labelled => "stc2-labelled",
            Self::Toon => "toon",
            Self::Minified => "minified",
            Self::Duplicate => "duplicate",
            Self::Abridged => "abridged",
            Self::Cleaned => "cleaned",
            Self::Small => "small",
            Self::Large => "large",
            Self::NotJson => "not-json",
            Self::NotSmaller => "not-smaller",
            Self::Skipped => "skipped",
            Self::ErrorResult => "error-result",
            Self::ForAProgram => "for-a-program",
            Self::Signed => "signed",
            Self::Invalid => "invalid",
            Self::Busy => "busy",
            Self::Failed => "failed",
        }
    }

    /// Returns whether the text was changed.
    #[must_use]
    pub const fn is_change(self) -> bool {
        matches!(
            self,
            Self::Stc2
                | Self::Stc2Labelled
                | Self::Toon
                | Self::Minified
                | Self::Duplicate
                | Self::Abridged
                | Self::Cleaned
        )
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
