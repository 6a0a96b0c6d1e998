//! The project's own checks and generators.

fn main() {}
