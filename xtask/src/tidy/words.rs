//! Words that stand in no file: paths of one machine, hosts of registries, unowned work.

use super::{Finding, tree::Tree};

/// Directories at the root of a file system that only a particular machine has. Examples use `/repo`.
const MACHINE: &[&str] = &["Users", "home", "root", "work"];

/// The registries of packages, by their names; the dots are added so that this file does not name one.
const REGISTRIES: &[&[&str]] = &[
    &["crates", "io"],
    &["deb", "debian", "org"],
    &["npmjs", "com"],
    &["npmjs", "org"],
    &["proxy", "golang", "org"],
    &["pypi", "org"],
];

/// Marks of work that is left, in two parts for the same reason.
const LEFT: &[(&str, &str)] = &[("TO", "DO"), ("FIX", "ME")];

pub(super) fn check(tree: &Tree<'_>) -> Vec<Finding> {
    let machine: Vec<String> = MACHINE.iter().map(|name| format!("/{name}/")).collect();
    let registries: Vec<String> = REGISTRIES.iter().map(|parts| parts.join(".")).collect();
    let left: Vec<String> = LEFT.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let mut findings = Vec::new();
    let files = tree.files.iter().filter(|file| file.path != "Cargo.lock");
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            let mut report = |rule, advice: String| {
                findings.push(Finding::new(&file.path, index + 1, rule, advice));
            };
            if let Some(path) = machine.iter().find(|path| names_root(line, path)) {
                report(
                    "machine-path",
                    format!("name no path of a machine: {path}…"),
                );
            }
            if let Some(host) = registries.iter().find(|host| line.contains(host.as_str())) {
                report("registry-host", format!("name no registry's host: {host}"));
            }
            if let Some(mark) = left.iter().find(|mark| is_unowned(line, mark)) {
                report("unowned", format!("do it, or write {mark}(owner)"));
            }
        }
    }
    findings
}

/// Whether an absolute path begins with `directory`, such as `/repo/`.
fn names_root(line: &str, directory: &str) -> bool {
    line.match_indices(directory).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~}>*".contains(c))
    })
}

/// Whether the mark stands alone, without `(owner)` after it.
fn is_unowned(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let rest = &line[at + mark.len()..];
        let alone = !line[..at].ends_with(word) && !rest.starts_with(word);
        let owner = rest
            .strip_prefix('(')
            .is_some_and(|rest| rest.starts_with(word));
        alone && !owner
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::{LEFT, MACHINE, REGISTRIES};

    #[test]
    fn a_path_of_a_machine() {
        for name in MACHINE {
            Fixture::good()
                .write("docs/a.md", &format!("# A\nsee `/{name}/x`\n"))
                .expect("machine-path", "docs/a.md", 2);
            Fixture::good()
                .append(".ci/run", &format!("cat file:///{name}/x\n"))
                .expect("machine-path", ".ci/run", 2);
        }
    }

    #[test]
    fn a_path_below_the_repository() {
        let name = MACHINE[0];
        Fixture::good()
            .write(
                "docs/a.md",
                &format!("src/{name}/x and $HOME/{name} ../{name}/x\n"),
            )
            .expect_nothing();
    }

    #[test]
    fn a_host_of_a_registry() {
        for parts in REGISTRIES {
            let host = parts.join(".");
            Fixture::good()
                .write("docs/a.md", &format!("<https://{host}/x>\n"))
                .expect("registry-host", "docs/a.md", 1);
            Fixture::good().write("Cargo.lock", &host).expect_nothing();
        }
    }

    #[test]
    fn work_without_an_owner() {
        for (a, b) in LEFT {
            let mark = format!("{a}{b}");
            Fixture::good()
                .append("docs/contract.md", &format!("{mark}: more\n"))
                .expect_at("unowned", "docs/contract.md", &mark);
            Fixture::good()
                .append("docs/contract.md", &format!("{mark}(ann): more, {mark}S\n"))
                .expect_nothing();
        }
    }
}
