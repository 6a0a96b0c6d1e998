//! The broken variants that the sources hold, and the compiler that builds one.

use crate::tokens::walk;
use crate::workspace::Workspace;
use anyhow::{Context as _, Result, ensure};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The names in `cfg(broken = "NAME")`.
pub(super) fn variants(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for package in workspace.packages() {
        let sources = workspace
            .root()
            .join(workspace.directory(package))
            .join("src");
        for entry in ignore::Walk::new(sources) {
            let entry = entry.context("failed to walk the sources")?;
            if entry
                .path()
                .extension()
                .is_some_and(|ending| ending == "rs")
            {
                let text = std::fs::read_to_string(entry.path())?;
                let tokens = text.parse::<TokenStream>();
                let tokens = tokens.map_err(|error| anyhow::anyhow!("{error}"))?;
                found.extend(variants_in(&tokens));
            }
        }
    }
    Ok(found)
}

fn variants_in(tokens: &TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    walk(tokens, &mut |tokens, at| {
        if let [
            TokenTree::Ident(word),
            TokenTree::Punct(equals),
            TokenTree::Literal(name),
            ..,
        ] = &tokens[at..]
            && word == "broken"
            && equals.as_char() == '='
        {
            found.push(name.to_string().trim_matches('"').to_owned());
        }
    });
    found
}

/// A compiler for the workspace's own crates that builds the variant. Its path tells cargo the variants apart,
/// and the crates of others are built once for all of them.
pub(super) fn wrapper(target: &Path, variant: &str) -> Result<PathBuf> {
    ensure!(
        variant
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_'),
        "a variant has a name of letters, digits and underscores, got {variant}"
    );
    let directory = target.join("broken");
    let path = directory.join(variant);
    let script = format!("#!/bin/sh\nexec \"$@\" --cfg 'broken=\"{variant}\"'\n");
    std::fs::create_dir_all(&directory)
        .and_then(|()| std::fs::write(&path, script))
        .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o755)))
        .with_context(|| format!("failed to write {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variants_of_a_source() {
        let source = r#"
            // cfg(broken = "comment")
            #[cfg(broken = "twice")] fn f() {}
            fn g() -> bool { cfg!(any(test, broken = "late")) }
        "#;
        let tokens: TokenStream = source.parse().expect("tokens");
        assert_eq!(variants_in(&tokens), ["twice", "late"]);
    }

    #[test]
    fn a_variant_is_a_plain_name() {
        let target = tempfile::tempdir().expect("a temporary directory");
        assert!(wrapper(target.path(), "two_locks").is_ok());
        assert!(wrapper(target.path(), "../x'").is_err());
    }
}
