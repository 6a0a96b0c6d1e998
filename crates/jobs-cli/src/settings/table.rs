//! Every setting, once: its place in a file, its flag, its variable, its default.

use std::borrow::Cow;

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Where it is in a file: tables and key, with dots between.
    pub(crate) path: &'static str,
    /// The flag, without its dashes. The variable is named after it.
    pub(crate) flag: &'static str,
    pub(crate) kind: Kind,
    /// As a flag would give it.
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
}

/// What a setting holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole number; `none` where there may be none.
    Number,
    Text,
    /// Texts; the flag is repeated, the variable separates with commas.
    List,
}

impl Row {
    /// The variable of the environment.
    pub(crate) fn variable(&self) -> String {
        let name = self.flag.to_ascii_uppercase().replace('-', "_");
        format!("AGENT_JOBS_{name}")
    }

    /// The tables around the key, and the key.
    pub(crate) fn split(&self) -> (&'static str, &'static str) {
        self.path.rsplit_once('.').unwrap_or(("", self.path))
    }

    /// The default; one of them is known at run time only.
    pub(crate) fn default(&self) -> Cow<'static, str> {
        if self.path == "process.spillDirectory" {
            return Cow::Owned(std::env::temp_dir().to_string_lossy().into_owned());
        }
        Cow::Borrowed(self.default)
    }
}

const fn row(
    path: &'static str,
    flag: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Row {
    Row {
        path,
        flag,
        kind,
        default,
        help,
    }
}

/// How commands are run.
#[rustfmt::skip]
pub(crate) const PROCESS: &[Row] = &[
    row("process.shell", "shell", Kind::Text, "bash", "The shell that runs commands"),
    row("process.graceMs", "grace-ms", Kind::Number, "3000", "How long a process that was asked to end may take"),
    row("process.maxRuntimeMs", "max-runtime-ms", Kind::Number, "none", "How long a command may run"),
    row("process.maxOutputBytes", "max-output-bytes", Kind::Number, "5368709120", "How much a command may write before it is ended"),
    row("process.outputCapBytes", "output-cap-bytes", Kind::Number, "30000", "How much output an answer in the foreground shows"),
    row("process.spillLimitBytes", "spill-limit-bytes", Kind::Number, "67108864", "How much of each stream goes to a file; 0 writes none"),
    row("process.spillDirectory", "spill-directory", Kind::Text, "", "Where those files are made [default: the directory for temporary files]"),
    row("process.onLeaderExit", "on-leader-exit", Kind::Text, "stop", "What happens to processes that outlive their command: stop or wait"),
    row("process.containment", "containment", Kind::Text, "supervisor", "The highest rung to use: supervisor, sweep or group"),
    row("process.env.allow", "allow-env", Kind::List, "", "Pass this variable on although it looks like a credential; * at either end"),
    row("process.env.deny", "deny-env", Kind::List, "", "Never pass this variable on; * at either end"),
];

/// How a single command is run: its output is passed on, and all of it should be.
#[rustfmt::skip]
pub(crate) const RUN: &[Row] = &[
    row("process.outputMemoryBytes", "output-memory-bytes", Kind::Number, "16777216", "How much output stays in memory until it is passed on"),
];

/// What the server adds.
#[rustfmt::skip]
pub(crate) const MCP: &[Row] = &[
    row("process.outputMemoryBytes", "output-memory-bytes", Kind::Number, "128000", "How much output of each job stays in memory"),
    row("process.spareSupervisors", "spare-supervisors", Kind::Number, "2", "How many supervisors are kept for the next job; 0 keeps none"),
    row("bash.timeoutMs", "bash-timeout-ms", Kind::Number, "50000", "How long a call of bash takes at most when it does not say"),
    row("bash.maxTimeoutMs", "bash-max-timeout-ms", Kind::Number, "50000", "How long a call of bash takes at most"),
    row("bash.onTimeLimit", "bash-on-time-limit", Kind::Text, "promote", "What happens then: promote to a background job, or kill"),
    row("bash.runInBackground", "bash-run-in-background", Kind::Text, "offered", "Whether a call may ask for a background job: offered or withheld"),
    row("bash.outputLimitBytes", "bash-output-limit-bytes", Kind::Number, "none", "The cap on each text about the jobs of bash"),
    row("tools.waitTimeoutMs", "wait-timeout-ms", Kind::Number, "30000", "How long job_output waits when the call does not say"),
    row("tools.maxWaitTimeoutMs", "max-wait-timeout-ms", Kind::Number, "50000", "How long job_output waits at most; clients often give up after 60 s"),
    row("tools.defaultOutputLimitBytes", "output-limit-bytes", Kind::Number, "32768", "The cap on each text about other jobs"),
    row("tools.listLimitBytes", "list-limit-bytes", Kind::Number, "32768", "The cap on job_list"),
    row("tools.truncation", "truncation", Kind::Text, "counted", "How a cut is marked: counted or plain"),
    row("registry.maxConcurrentJobsPerOwner", "max-concurrent-jobs", Kind::Number, "10", "How many jobs of one owner may live at once"),
    row("registry.stopGraceMs", "stop-grace-ms", Kind::Number, "30000", "How long a job that was told to stop may take; never is a word, too"),
    row("registry.teardownGraceMs", "teardown-grace-ms", Kind::Number, "30000", "How long a job may take to end with its owner"),
    row("registry.shareLeaseMs", "share-lease-ms", Kind::Number, "60000", "How long an undelivered answer holds back the notice of an end"),
    row("registry.maxFinishedJobsPerOwner", "max-finished-jobs", Kind::Number, "1000", "How many finished jobs of one owner are kept"),
    row("registry.maxFinishedOutputBytesPerOwner", "max-finished-output-bytes", Kind::Number, "8388608", "How much output they keep together"),
    row("registry.maxUntoldCompletionsPerOwner", "max-untold-completions", Kind::Number, "10000", "Above how many untold ends an owner starts nothing more"),
    row("mcp.toolPrefix", "tool-prefix", Kind::Text, "", "What stands in front of every tool's name"),
    row("mcp.noticeLimitBytes", "notice-limit-bytes", Kind::Number, "4096", "How much the notices in front of one answer take together"),
    row("mcp.progressIntervalMs", "progress-interval-ms", Kind::Number, "5000", "How often a client that asked for it is told that a call goes on"),
    row("http.address", "http", Kind::Text, "", "Serve streamable HTTP at this address, such as 127.0.0.1:8080, not standard input and output"),
    row("http.access", "http-access", Kind::Text, "tokens", "Who may call: tokens, or single-user for everybody on this machine"),
    row("http.tokenFile", "http-token-file", Kind::Text, "", "The file with the tokens, a line each: a name and its token; or AGENT_JOBS_HTTP_TOKENS holds such lines"),
    row("http.allowedHosts", "http-allow-host", Kind::List, "", "A name under which clients reach the server [default: this machine's own; any, at other addresses]"),
    row("http.allowedOrigins", "http-allow-origin", Kind::List, "", "A web page that may call, as https://host:port"),
    row("http.idleLimitMs", "http-idle-limit-ms", Kind::Number, "86400000", "How long an owner without live jobs is kept after its last request"),
    row("http.maxSessionsPerUser", "http-max-sessions-per-user", Kind::Number, "1000", "How many sessions a user may have at once; an idle one ends for another"),
    row("http.maxConnections", "http-max-connections", Kind::Number, "512", "How many connections there may be at once; others wait"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_command_keeps_more() {
        assert_eq!((RUN[0].path, RUN[0].flag), (MCP[0].path, MCP[0].flag));
    }

    #[test]
    fn every_setting_has_a_place_and_a_flag_of_its_own() {
        let rows = || MCP.iter().chain(PROCESS);
        for (at, row) in rows().enumerate() {
            for other in rows().skip(at + 1) {
                assert_ne!(row.path, other.path);
                assert_ne!(row.flag, other.flag);
            }
        }
        assert_eq!(MCP[2].variable(), "AGENT_JOBS_BASH_TIMEOUT_MS");
        assert_eq!(PROCESS[9].split(), ("process.env", "allow"));
    }
}
