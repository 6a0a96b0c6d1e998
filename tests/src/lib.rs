//! Shared parts of the workspace-level tests: the bodies of the fuzz targets.
//! The examples of the README are tested as documentation of this crate.

pub mod fuzz;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
