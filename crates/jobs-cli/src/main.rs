//! The binary `agent-jobs`.

fn main() {}
