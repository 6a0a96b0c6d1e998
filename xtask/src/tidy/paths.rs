//! The paths of a Rust file, imports written out.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use std::collections::BTreeMap;

/// A path such as `std::sync::Mutex`.
pub(super) struct PathUse {
    /// The segments, a leading import of the same file written out.
    pub(super) segments: Vec<String>,
    /// How many of the segments an import already names; 0 for a path that is written in full.
    pub(super) imported: usize,
    pub(super) line: usize,
}

/// What the names of a file's imports stand for.
pub(super) type Imports = BTreeMap<String, Vec<String>>;

/// The paths of a stream of tokens, leading imports written out, and the imports.
pub(super) fn paths(stream: &TokenStream) -> (Vec<PathUse>, Imports) {
    let mut collector = Paths::default();
    collector.collect(stream.clone(), &[], Place::Code);
    let Paths { mut found, imports } = collector;
    for path in &mut found {
        if path.imported == IN_IMPORT {
            path.imported = 0;
        } else if let Some(full) = imports.get(&path.segments[0]) {
            path.segments.splice(..1, full.iter().cloned());
            path.imported = full.len();
        }
    }
    (found, imports)
}

/// Marks a path of an import until the imports are written out.
const IN_IMPORT: usize = usize::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    Import,
}

#[derive(Default)]
struct Paths {
    found: Vec<PathUse>,
    imports: Imports,
}

impl Paths {
    fn collect(&mut self, stream: TokenStream, prefix: &[String], mut place: Place) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Ident(ident) if ident == "use" && !is_capture(&tokens, at) => {
                    place = Place::Import;
                }
                TokenTree::Ident(ident) => at = self.path(&tokens, at, ident, prefix, place),
                TokenTree::Group(group) => self.collect(group.stream(), prefix, place),
                TokenTree::Punct(punct) if punct.as_char() == ';' => place = Place::Code,
                TokenTree::Punct(punct) if punct.as_char() == '*' && !prefix.is_empty() => {
                    let mut segments = prefix.to_vec();
                    segments.push("*".to_owned());
                    self.push(segments, punct.span().start().line, None, place);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Reads the path that begins with `first`; returns the place after it.
    fn path(
        &mut self,
        tokens: &[TokenTree],
        mut at: usize,
        first: &Ident,
        prefix: &[String],
        place: Place,
    ) -> usize {
        let mut segments = prefix.to_vec();
        segments.push(first.to_string());
        while is_path_separator(tokens, at) {
            match tokens.get(at + 2) {
                Some(TokenTree::Ident(next)) => segments.push(next.to_string()),
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                    segments.push("*".to_owned());
                }
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.collect(group.stream(), &segments, place);
                    return at + 3;
                }
                _ => break,
            }
            at += 3;
        }
        let mut alias = None;
        if place == Place::Import
            && let [TokenTree::Ident(word), TokenTree::Ident(name), ..] = &tokens[at..]
            && word == "as"
        {
            alias = Some(name.to_string());
            at += 2;
        }
        self.push(segments, first.span().start().line, alias, place);
        at
    }

    fn push(
        &mut self,
        mut segments: Vec<String>,
        line: usize,
        alias: Option<String>,
        place: Place,
    ) {
        let mut imported = 0;
        if place == Place::Import {
            imported = IN_IMPORT;
            if segments.len() > 1 {
                segments.pop_if(|last| last == "self");
            }
            if alias.is_some() || segments.len() > 1 {
                let name = alias.or_else(|| segments.last().cloned());
                self.imports
                    .extend(name.map(|name| (name, segments.clone())));
            }
        }
        self.found.push(PathUse {
            segments,
            imported,
            line,
        });
    }
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(at) && colon(at + 1)
}

/// Whether the `use` before this place is that of `impl Trait + use<'a>`.
fn is_capture(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == '<')
}
