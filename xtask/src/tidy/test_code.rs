//! Which files and which lines of a file are compiled only for tests.

use proc_macro2::{Group, TokenStream, TokenTree};
use std::ops::RangeInclusive;
use syn::{Attribute, spanned::Spanned as _, visit::Visit};

/// The lines of the items that are compiled only for tests.
pub(super) fn test_lines(file: &syn::File) -> Vec<RangeInclusive<usize>> {
    let mut items = TestItems::default();
    items.visit_file(file);
    items.lines
}

/// Tests, benches and examples, wherever their directory lies.
pub(super) fn is_test_path(path: &str) -> bool {
    let mut directories = path.split('/').rev().skip(1);
    directories.any(|part| matches!(part, "tests" | "benches" | "examples"))
}

/// `#[test]`, `#[…::test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path.is_ident("cfg") {
            let condition = attribute
                .meta
                .require_list()
                .map(|list| list.tokens.clone());
            return condition.is_ok_and(|tokens| implies_test(&tokens));
        }
        path.segments
            .last()
            .is_some_and(|last| last.ident == "test")
    })
}

/// Whether `test`, or `all` with `test` in it, is the condition.
fn implies_test(condition: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.clone().into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(word)] => word == "test",
        [TokenTree::Ident(word), TokenTree::Group(group)] if word == "all" => {
            arguments(group).iter().any(implies_test)
        }
        _ => false,
    }
}

/// What stands between the commas of a group.
fn arguments(group: &Group) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    tokens
        .split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))
        .map(|argument| argument.iter().cloned().collect())
        .collect()
}

#[derive(Default)]
struct TestItems {
    lines: Vec<RangeInclusive<usize>>,
}

impl TestItems {
    fn note(&mut self, attributes: &[Attribute], item: proc_macro2::Span) {
        if is_for_tests(attributes) {
            self.lines.push(item.start().line..=item.end().line);
        }
    }
}

impl<'ast> Visit<'ast> for TestItems {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes: &[Attribute] = match item {
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Macro(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Trait(item) => &item.attrs,
            syn::Item::Type(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => &[],
        };
        self.note(attributes, item.span());
        syn::visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.note(&item.attrs, item.span());
        syn::visit::visit_impl_item_fn(self, item);
    }
}
