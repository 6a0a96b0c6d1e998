//! The model-facing job tools: bounded output, completion notices, the agent inbox.

pub mod fit;
