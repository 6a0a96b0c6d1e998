//! `docs/tools.md` is what the code says.

use super::{Finding, tree::Tree};
use crate::docs;

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let there = tree.file(docs::PATH).map_or("", |file| &file.text);
    let (line, advice) = match docs::page() {
        Ok(page) => match docs::drift(there, page) {
            None => return Vec::new(),
            Some(line) => (
                line,
                "run cargo xtask docs: the code says something else".to_owned(),
            ),
        },
        Err(error) => (1, format!("mend the tools: {error:#}")),
    };
    vec![Finding::new(docs::PATH, line, "generated", advice)]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use crate::docs::PATH;

    #[test]
    fn a_page_that_has_drifted() {
        Fixture::good()
            .replace(PATH, "had already finished", "is already finished")
            .expect_first("generated", PATH, "is already finished");
        Fixture::good()
            .append(PATH, "more\n")
            .expect_at("generated", PATH, "more");
        Fixture::good().remove(PATH).expect("generated", PATH, 1);
    }
}
