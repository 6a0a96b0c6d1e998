//! Conformance cases and puppet producers for implementations of the jobs contract.
