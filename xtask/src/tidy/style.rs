//! How a Rust file looks: it says what it is, excuses nothing silently, and stays short.

use super::{Finding, source::Source, tree::Tree};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A file of a crate has at most this many lines outside its tests.
const MOST_LINES: usize = 500;

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        if !source.text.starts_with("//!") {
            let advice = "open the file with //! and say what the module is for";
            findings.push(Finding::new(&source.path, 1, "module-docs", advice));
        }
        findings.extend(silent_excuses(source));
    }
    for (_, directory) in tree.crates() {
        let directory = format!("{directory}/src");
        findings.extend(tree.sources_below(&directory).filter_map(long));
    }
    findings
}

fn silent_excuses(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    source.walk(&mut |tokens, at| {
        let (TokenTree::Punct(hash), Some(mut next)) = (&tokens[at], tokens.get(at + 1)) else {
            return;
        };
        if hash.as_char() != '#' {
            return;
        }
        if let (TokenTree::Punct(bang), Some(group)) = (next, tokens.get(at + 2))
            && bang.as_char() == '!'
        {
            next = group;
        }
        if let TokenTree::Group(attribute) = next
            && attribute.delimiter() == Delimiter::Bracket
            && allows(&attribute.stream())
        {
            let advice = "write #[expect(lint, reason = \"…\")], or mend what the lint found";
            let line = hash.span().start().line;
            findings.push(Finding::new(&source.path, line, "allow", advice));
        }
    });
    findings
}

/// `allow(…)`, also inside `cfg_attr(…)`.
fn allows(attribute: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = attribute.clone().into_iter().collect();
    let here = tokens.windows(2).any(
        |pair| matches!(pair, [TokenTree::Ident(word), TokenTree::Group(_)] if word == "allow"),
    );
    here || tokens.iter().any(|token| match token {
        TokenTree::Group(group) => allows(&group.stream()),
        _ => false,
    })
}

fn long(source: &Source) -> Option<Finding> {
    if source.is_test_file() {
        return None;
    }
    let count = source.text.lines().count();
    let lines = (1..=count).filter(|line| !source.is_test(*line)).count();
    let advice = format!("split it: it has {lines} lines outside tests, at most {MOST_LINES}");
    (lines > MOST_LINES).then(|| Finding::new(&source.path, count, "length", advice))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    const LOCAL: &str = "crates/jobs-local/src/lib.rs";

    #[test]
    fn a_module_does_not_say_what_it_is() {
        Fixture::good()
            .write("tests/tests/all.rs", "// A test.\n//! Late.\n")
            .expect("module-docs", "tests/tests/all.rs", 1);
        Fixture::good()
            .write("tests/tests/all.rs", "use a::b;\n")
            .expect("module-docs", "tests/tests/all.rs", 1);
    }

    #[test]
    fn a_lint_is_silenced() {
        for line in [
            "#[allow(dead_code)] fn f() {}",
            "#[cfg_attr(test, allow(dead_code))] fn f() {}",
            "mod m { #![allow(dead_code)] }",
            "macro_rules! m { () => { #[allow(dead_code)] fn f() {} } }",
        ] {
            Fixture::good()
                .append(LOCAL, &format!("{line}\n"))
                .expect_at("allow", LOCAL, line);
        }
    }

    #[test]
    fn an_expectation_with_a_reason_is_fine() {
        Fixture::good()
            .append(
                LOCAL,
                "#[expect(dead_code, reason = \"#[allow(x)]\")] fn allow() { allow() }\n",
            )
            .expect_nothing();
    }

    #[test]
    fn a_file_is_too_long() {
        let lines = "// a line\n".repeat(500);
        let text = format!("//! Long.\n{lines}");
        Fixture::good()
            .write(LOCAL, &text)
            .expect("length", LOCAL, 501);
        let tests = format!("//! Long.\n#[cfg(test)]\nmod tests {{\n{lines}}}\n");
        Fixture::good().write(LOCAL, &tests).expect_nothing();
    }
}
