//! Scopes: where in a tree of compositions an owner, a controller or a
//! receiver of news stands (spec: registry, §7).

use std::fmt;
use std::sync::Arc;

/// A place in the tree of compositions of one process.
///
/// What is registered at a scope serves exactly the owners whose scope is that
/// scope or below it; at the root it serves everyone. Identity is the scope,
/// not its name: two children of one name are two scopes.
///
/// ```
/// use jobs::Scope;
///
/// let preset = Scope::root().child("preset");
/// assert!(preset.is_within(&Scope::root()));
/// assert!(!Scope::root().is_within(&preset));
/// assert_ne!(preset, Scope::root().child("preset"));
/// ```
#[derive(Clone, Default)]
pub struct Scope(Option<Arc<Node>>);

struct Node {
    parent: Scope,
    name: Box<str>,
}

impl Scope {
    /// The scope that contains every other.
    #[must_use]
    pub fn root() -> Self {
        Self(None)
    }

    /// A new scope below this one. The name serves logs only.
    #[must_use]
    pub fn child(&self, name: impl Into<Box<str>>) -> Self {
        Self(Some(Arc::new(Node {
            parent: self.clone(),
            name: name.into(),
        })))
    }

    /// The scope above, or `None` at the root.
    #[must_use]
    pub fn parent(&self) -> Option<&Scope> {
        self.0.as_deref().map(|node| &node.parent)
    }

    /// This scope and those above it, innermost first, the root last.
    pub fn chain(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.parent())
    }

    /// Whether this scope is `outer` or below it.
    #[must_use]
    pub fn is_within(&self, outer: &Scope) -> bool {
        self.chain().any(|scope| scope == outer)
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Eq for Scope {}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref() {
            None => f.write_str("/"),
            Some(node) if node.parent.0.is_none() => write!(f, "/{}", node.name),
            Some(node) => write!(f, "{:?}/{}", node.parent, node.name),
        }
    }
}
