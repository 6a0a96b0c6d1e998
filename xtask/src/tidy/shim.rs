//! A crate with a `sync.rs` is model-checked, so its locks, tasks and clocks come through that file.
//!
//! Model checks run the same sources as the release build. So nothing but the shim knows which of the two it
//! is (there is no twin of a function under `cfg(shuttle)`), and nothing goes past it.

use super::{Finding, source::Source, tree::Tree};
use crate::tokens::mentions;
use proc_macro2::TokenTree;

/// These have a shim as soon as they have a lock.
const SHIMMED: &[&str] = &["jobs-local", "tool-jobs"];

/// What only a shim imports.
const THROUGH_THE_SHIM: &[&[&str]] = &[
    &["core", "sync", "atomic"],
    &["parking_lot"],
    &["shuttle"],
    &["std", "sync", "*"],
    &["std", "sync", "Barrier"],
    &["std", "sync", "Condvar"],
    &["std", "sync", "Mutex"],
    &["std", "sync", "RwLock"],
    &["std", "sync", "atomic"],
    &["std", "sync", "mpsc"],
    &["std", "thread", "*"],
    &["std", "thread", "Builder"],
    &["std", "thread", "park"],
    &["std", "thread", "scope"],
    &["std", "thread", "sleep"],
    &["std", "thread", "spawn"],
    &["std", "thread", "yield_now"],
    &["tokio", "*"],
    &["tokio", "runtime"],
    &["tokio", "spawn"],
    &["tokio", "sync"],
    &["tokio", "task"],
    &["tokio", "time"],
];

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, directory) in tree.crates() {
        let sources = format!("{directory}/src");
        let shim = format!("{sources}/sync.rs");
        let shimmed = SHIMMED.contains(&name) || tree.file(&shim).is_some();
        for source in tree.sources_below(&sources) {
            if source.path != shim {
                findings.extend(twins(source));
                if shimmed {
                    findings.extend(past_the_shim(source, &shim));
                }
            }
        }
    }
    findings
}

fn past_the_shim(source: &Source, shim: &str) -> Vec<Finding> {
    source
        .naming(|segments| {
            let named = THROUGH_THE_SHIM.iter().find(|name| {
                segments.len() >= length(name) && segments.iter().zip(**name).all(|(a, b)| a == b)
            });
            named.map(|name| length(name))
        })
        .filter(|path| !source.is_test(path.line))
        .map(|path| {
            let name = path.segments.join("::");
            let advice = format!("take {name} from {shim}: model checks run the same sources");
            Finding::new(&source.path, path.line, "shim", advice)
        })
        .collect()
}

/// How many segments a path needs to match: the name of a crate alone imports nothing.
fn length(name: &[&str]) -> usize {
    name.len().max(2)
}

fn twins(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    source.walk(&mut |tokens, at| {
        let (condition, line) = match &tokens[at..] {
            [TokenTree::Ident(word), TokenTree::Group(group), ..]
                if word == "cfg" || word == "cfg_attr" =>
            {
                (group, word.span().start().line)
            }
            [
                TokenTree::Ident(word),
                TokenTree::Punct(bang),
                TokenTree::Group(group),
                ..,
            ] if word == "cfg" && bang.as_char() == '!' => (group, word.span().start().line),
            _ => return,
        };
        if mentions(&condition.stream(), "shuttle") && !source.is_test(line) {
            let advice = "move what differs under shuttle to sync.rs: there are no cfg twins";
            findings.push(Finding::new(&source.path, line, "twins", advice));
        }
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    const LOCAL: &str = "crates/jobs-local/src/lib.rs";

    #[test]
    fn a_lock_goes_past_the_shim() {
        for line in [
            "use std::sync::Mutex;",
            "use std::{fmt, sync::{Arc, RwLock as Lock}};",
            "use std::sync; fn f() { sync::Mutex::new(1); }",
            "use std::sync::*;",
            "use std::sync::atomic::AtomicBool;",
            "use core::sync::atomic;",
            "use parking_lot::Mutex;",
            "use parking_lot as pl; type L = pl::Mutex<u8>;",
            "type L = parking_lot::Mutex<u8>;",
            "use tokio::sync::Mutex;",
            "fn f() { std::thread::spawn(g); }",
            "fn f() { tokio::spawn(g()); }",
            "async fn f() { tokio::time::sleep(d).await; }",
            "fn f() { format!(\"{}\", tokio::time::Instant::now()); }",
        ] {
            Fixture::good()
                .append(LOCAL, &format!("{line}\n"))
                .expect_at("shim", LOCAL, line);
        }
    }

    #[test]
    fn an_import_is_reported_once() {
        Fixture::good()
            .append(
                LOCAL,
                "use std::sync::Mutex;\nstatic A: Mutex<u8> = Mutex::new(1);\n",
            )
            .expect_at("shim", LOCAL, "use std::sync::Mutex");
    }

    #[test]
    fn the_shim_and_tests_may_name_anything() {
        Fixture::good()
            .append("crates/jobs-local/src/sync.rs", "pub(crate) use parking_lot::Mutex;\n#[cfg(shuttle)]\nuse shuttle::sync::Condvar;\n")
            .append(LOCAL, "use std::sync::Arc;\nuse crate::sync::Mutex;\n#[cfg(test)]\nuse std::sync::Mutex as Plain;\n")
            .expect_nothing();
    }

    #[test]
    fn a_crate_that_adds_a_shim_is_held_to_it() {
        let seam = "crates/jobs/src/lib.rs";
        Fixture::good()
            .append(seam, "use std::sync::Mutex;\n")
            .expect_nothing();
        Fixture::good()
            .append(seam, "use std::sync::Mutex;\n")
            .write("crates/jobs/src/sync.rs", "//! The shim.\n")
            .append("docs/architecture.md", "- `crates/jobs/src/sync.rs`\n")
            .expect_at("shim", seam, "use std::sync::Mutex");
    }

    #[test]
    fn code_knows_that_it_is_model_checked() {
        for line in [
            "#[cfg(shuttle)] fn f() {}",
            "#[cfg(not(shuttle))] fn f() {}",
            "#[cfg(all(unix, not(shuttle)))] fn f() {}",
            "#[cfg_attr(shuttle, derive(Debug))] struct S;",
            "fn f() -> bool { cfg!(shuttle) }",
        ] {
            Fixture::good()
                .append(LOCAL, &format!("{line}\n"))
                .expect_at("twins", LOCAL, line);
        }
    }

    #[test]
    fn tests_may_know_it() {
        Fixture::good()
            .append(
                LOCAL,
                "#[cfg(all(test, shuttle))]\nmod model {\n    #[cfg(shuttle)]\n    fn f() {}\n}\n",
            )
            .expect_nothing();
    }
}
