//! The section of an agent's prompt that goes with the tools.

/// A section of a prompt; the same at every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptSection {
    /// Tells it from other sections.
    pub name: &'static str,
    /// Where it stands among other sections: the lower, the earlier.
    pub order: u32,
    /// What the model reads.
    pub text: &'static str,
}

impl PromptSection {
    pub(crate) fn jobs() -> Self {
        Self {
            name: "tool:jobs",
            order: 106,
            text: "Background jobs: remember their ids. You are told when a job ends, so do not \
                   poll, sleep, or do its work a second time; go on with something independent. \
                   Before your final answer, collect what matters with job_output (wait only if \
                   you are blocked) and stop with job_kill what no longer does.",
        }
    }
}
