//! Rust as tokens: comments are gone, string literals stay whole, the bodies of macros are visible.

use proc_macro2::{TokenStream, TokenTree};

/// Calls `visit` with every list of tokens and each place in it, outer lists first.
pub(crate) fn walk(stream: &TokenStream, visit: &mut impl FnMut(&[TokenTree], usize)) {
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        visit(&tokens, at);
        if let TokenTree::Group(group) = token {
            walk(&group.stream(), visit);
        }
    }
}

/// Whether this identifier occurs, at any depth.
pub(crate) fn mentions(stream: &TokenStream, word: &str) -> bool {
    stream.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(&group.stream(), word),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
