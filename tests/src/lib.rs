//! Shared parts of the workspace-level tests.
