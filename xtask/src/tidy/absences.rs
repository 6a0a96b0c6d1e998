//! What occurs in one place and nowhere else: caught panics, signals, `unsafe`.

use super::{Finding, source::Source, tree::Tree};
use proc_macro2::TokenTree;

/// The one file that catches panics.
const CONTAINED: &str = "crates/jobs/src/contain.rs";

/// The one module that sends signals and may be unsafe.
const PLATFORM: &str = "crates/jobs-process/src/platform/";

/// Functions that send a signal, whatever crate they come from.
const SIGNALS: &[&str] = &[
    "kill_process",
    "kill_process_group",
    "kill_current_process_group",
    "pidfd_send_signal",
    "killpg",
    "start_kill",
    "tgkill",
    "tkill",
    "SYS_kill",
    "SYS_pidfd_send_signal",
    "SYS_tgkill",
    "SYS_tkill",
];

/// Crates whose `kill` is the system call. Elsewhere `kill` is the registry's method.
const SYSTEM: &[&str] = &["libc", "nix", "rustix"];

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = panics(tree);
    for source in &tree.sources {
        if !source.path.starts_with(PLATFORM) {
            findings.extend(signals(source));
            findings.extend(unsafety(source));
        }
    }
    findings
}

fn panics(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut contained = false;
    for source in &tree.sources {
        for path in source.naming(|segments| position(segments, "catch_unwind")) {
            if source.path == CONTAINED {
                contained = true;
            } else if !source.is_test(path.line) {
                let advice = format!("call the helper in {CONTAINED}: one place catches panics");
                findings.push(Finding::new(&source.path, path.line, "panics", advice));
            }
        }
    }
    if !contained {
        let advice = "catch panics here: this is the one place that does";
        findings.push(Finding::new(CONTAINED, 1, "panics", advice));
    }
    findings
}

fn signals(source: &Source) -> Vec<Finding> {
    let sent = |segments: &[String]| {
        let system = SYSTEM.contains(&segments[0].as_str());
        let call = if system {
            position(segments, "kill")
        } else {
            None
        };
        call.or_else(|| SIGNALS.iter().find_map(|name| position(segments, name)))
    };
    source
        .naming(sent)
        .filter(|path| !source.is_test(path.line))
        .map(|path| {
            let advice = format!("send signals only in {PLATFORM}");
            Finding::new(&source.path, path.line, "signals", advice)
        })
        .collect()
}

fn unsafety(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    source.walk(&mut |tokens, at| {
        if let TokenTree::Ident(word) = &tokens[at]
            && word == "unsafe"
        {
            let advice = format!("write it without unsafe, or move it to {PLATFORM}");
            let line = word.span().start().line;
            findings.push(Finding::new(&source.path, line, "unsafe", advice));
        }
    });
    findings
}

/// How many leading segments reach this name.
fn position(segments: &[String], name: &str) -> Option<usize> {
    let index = segments.iter().position(|segment| segment == name)?;
    Some(index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    const LOCAL: &str = "crates/jobs-local/src/lib.rs";
    const PROCESS: &str = "crates/jobs-process/src/lib.rs";

    #[test]
    fn a_second_place_catches_panics() {
        Fixture::good()
            .append(LOCAL, "fn f() { let _ = std::panic::catch_unwind(g); }\n")
            .expect_at("panics", LOCAL, "catch_unwind");
        Fixture::good()
            .append(LOCAL, "fn f() { drop(future.catch_unwind()); }\n")
            .expect_at("panics", LOCAL, "catch_unwind");
    }

    #[test]
    fn no_place_catches_panics() {
        Fixture::good()
            .write("crates/jobs/src/contain.rs", "//! Empty.\n")
            .expect("panics", "crates/jobs/src/contain.rs", 1);
    }

    #[test]
    fn words_in_comments_and_tests_do_not_count() {
        Fixture::good()
            .append(LOCAL, "// catch_unwind, unsafe\nconst S: &str = \"unsafe catch_unwind libc::kill\";\n")
            .append(LOCAL, "#[cfg(test)]\nmod tests {\n    fn f() { std::panic::catch_unwind(g); libc::kill(0, 0); }\n}\n")
            .expect_nothing();
    }

    #[test]
    fn signals_leave_the_platform_module() {
        for line in [
            "fn f() { libc::kill(1, 9); }",
            "use libc::{c_int, kill};",
            "use libc as c; fn f() { c::kill(1, 9); }",
            "fn f() { rustix::process::kill_process_group(p, s); }",
            "use rustix::process::pidfd_send_signal;",
            "macro_rules! m { () => { libc::kill(1, 9) } }",
            "fn f() { libc::syscall(libc::SYS_tgkill, 1); }",
            "fn f() { child.start_kill(); }",
        ] {
            Fixture::good()
                .append(PROCESS, &format!("{line}\n"))
                .expect_at("signals", PROCESS, line);
        }
    }

    #[test]
    fn the_registry_has_a_kill_of_its_own() {
        Fixture::good()
            .append(
                LOCAL,
                "fn f() { registry.kill(id); JobRegistry::kill(r); }\n",
            )
            .expect_nothing();
    }

    #[test]
    fn unsafe_leaves_the_platform_module() {
        Fixture::good()
            .append(PROCESS, "fn f() { unsafe { g() } }\n")
            .expect_at("unsafe", PROCESS, "unsafe");
        Fixture::good()
            .write(
                "crates/jobs-process/tests/all.rs",
                "//! Tests.\nunsafe fn f() {}\n",
            )
            .expect("unsafe", "crates/jobs-process/tests/all.rs", 2);
    }
}
