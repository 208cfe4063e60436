//! What a rewrite of a message is given, and what it reports.

use super::calls::Calls;
use crate::job::Job;
use crate::negotiate::Source;
use crate::rules::Structured;
use crate::{Format, Policy, Saved, Skip};
use std::borrow::Cow;

/// What applies to every message of one response.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) calls: &'a Calls,
    pub(crate) format: Format,
    pub(crate) min_bytes: usize,
    pub(crate) structured: Structured,
    pub(crate) legend: bool,
    /// The highest format that the client reads; `None` if the operator decided.
    most: Option<Format>,
}

impl<'a> Setting<'a> {
    pub(crate) fn new(policy: &'a Policy, job: &'a Job) -> Self {
        Self {
            policy,
            calls: &job.calls,
            format: job.format,
            min_bytes: policy.min_bytes,
            structured: policy.mcp.structured,
            legend: job.legend,
            most: (job.ask.source != Source::Operator).then_some(job.ask.format),
        }
    }

    /// Returns the settings for a format that the operator decided on.
    pub(crate) fn decided(policy: &'a Policy, calls: &'a Calls, format: Format) -> Self {
        let (min_bytes, structured) = (policy.min_bytes, policy.mcp.structured);
        Self { policy, calls, format, min_bytes, structured, legend: policy.mcp.legend, most: None }
    }

    /// Returns what applies to the results of a tool.
    pub(crate) fn for_tool(self, tool: Option<&str>) -> Self {
        let rule = tool.and_then(|tool| self.policy.overrides.iter().find(|rule| rule.fits(tool)));
        let Some(rule) = rule else { return self };
        let format = rule.format.and_then(|format| match self.most {
            // Clients of TOON and of STC do not read the other.
            Some(most) if (most == Format::Toon) != (format == Format::Toon) => None,
            Some(most) => Some(format.min(most)),
            None => Some(format),
        });
        Self {
            format: format.and_then(|format| self.policy.choose(format).ok()).unwrap_or(self.format),
            min_bytes: rule.min_bytes.unwrap_or(self.min_bytes),
            structured: rule.structured.unwrap_or(self.structured),
            ..self
        }
    }

    /// Returns whether `structuredContent` is removed for any tool.
    pub(crate) fn strips(&self) -> bool {
        let mut rules = self.policy.overrides.iter();
        self.structured == Structured::Strip || rules.any(|rule| rule.structured == Some(Structured::Strip))
    }
}

/// What was found in a message, or in all the messages of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The number of texts that changed.
    pub(crate) changed: u64,
    /// The sizes of these texts before and after, in sum.
    pub(crate) saved: Saved,
    /// The format of the last text that changed.
    pub(crate) format: Option<Format>,
    /// Why the last unchanged text did not change.
    pub(crate) skipped: Option<Skip>,
}

impl Findings {
    /// Returns the job with the format that was sent, for the report.
    pub(crate) fn job<'a>(&self, job: &'a Job) -> Cow<'a, Job> {
        match self.format {
            Some(format) if format != job.format => Cow::Owned(Job { format, ..job.clone() }),
            _ => Cow::Borrowed(job),
        }
    }
}
