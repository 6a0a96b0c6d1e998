//! Shell commands as background jobs: own session, whole-tree kill, bounded capture.
