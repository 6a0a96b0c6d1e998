//! Shared parts of the workspace-level tests. The examples of the README are
//! tested as documentation of this crate.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
