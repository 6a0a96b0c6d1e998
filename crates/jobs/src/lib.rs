//! The contract of background jobs for LLM agents: the registry trait and its vocabulary.

pub mod text;
