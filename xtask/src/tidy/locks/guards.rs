//! What a guard looks like in the source.

use super::super::source::Source;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, Pat, ReturnType, Signature, Type};

/// Types that hold a lock while they live.
const TYPES: &[&str] = &[
    "MappedMutexGuard",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
];

/// Methods that return a guard if they have no argument.
const METHODS: &[&str] = &["lock", "read", "write", "try_lock", "try_read", "try_write"];

/// Which functions of a crate deal in guards, by their names.
#[derive(Default)]
pub(super) struct Functions {
    /// They return a guard.
    pub(super) locking: BTreeSet<String>,
    /// They call a parameter while they hold a lock.
    pub(super) calling: BTreeSet<String>,
}

impl Functions {
    /// The functions of these sources that return a guard.
    pub(super) fn locking(sources: &[&Source]) -> Self {
        let mut functions = Self::default();
        for source in sources {
            functions.visit_file(&source.syntax);
        }
        functions
    }

    /// Whether the method returns a guard.
    pub(super) fn is_lock_method(&self, call: &ExprMethodCall) -> bool {
        let plain = call.args.is_empty() && METHODS.iter().any(|name| call.method == name);
        plain || self.locking.contains(&call.method.to_string())
    }

    /// Whether the function returns a guard.
    pub(super) fn is_lock_function(&self, call: &ExprCall) -> bool {
        called(call).is_some_and(|name| self.locking.contains(&name))
    }

    /// Whether a `let` with this value keeps a guard: it is one, or borrows from one.
    pub(super) fn is_guard(&self, value: &Expr) -> bool {
        match value {
            Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => {
                self.is_guard(&call.receiver)
            }
            Expr::MethodCall(call) => self.is_lock_method(call),
            Expr::Call(call) => self.is_lock_function(call),
            Expr::Paren(inner) => self.is_guard(&inner.expr),
            Expr::Try(inner) => self.is_guard(&inner.expr),
            Expr::Reference(inner) => self.is_guard(place(&inner.expr)),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_signature(&mut self, signature: &'ast Signature) {
        if let ReturnType::Type(_, returned) = &signature.output
            && is_guard_type(returned)
        {
            self.locking.insert(signature.ident.to_string());
        }
        visit::visit_signature(self, signature);
    }
}

/// What `*value`, `value.field` and `value[index]` take from.
fn place(value: &Expr) -> &Expr {
    match value {
        Expr::Unary(inner) => place(&inner.expr),
        Expr::Field(inner) => place(&inner.base),
        Expr::Index(inner) => place(&inner.expr),
        Expr::Paren(inner) => place(&inner.expr),
        other => other,
    }
}

/// The last name of the function that is called.
pub(super) fn called(call: &ExprCall) -> Option<String> {
    let Expr::Path(function) = &*call.func else {
        return None;
    };
    let last = function.path.segments.last()?;
    Some(last.ident.to_string())
}

/// The name, if the value is nothing else.
pub(super) fn name(value: &Expr) -> Option<String> {
    let Expr::Path(path) = value else {
        return None;
    };
    path.path.get_ident().map(ToString::to_string)
}

/// Whether the type, or a type in it, is a guard.
pub(super) fn is_guard_type(kind: &Type) -> bool {
    struct Names(bool);
    impl<'ast> Visit<'ast> for Names {
        fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
            self.0 |= TYPES.iter().any(|guard| ident == guard);
        }
    }
    let mut names = Names(false);
    names.visit_type(kind);
    names.0
}

/// The one name that a pattern binds.
pub(super) fn bound(pattern: &Pat) -> Option<String> {
    struct Names(Vec<String>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            self.0.push(pattern.ident.to_string());
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0.pop().filter(|_| names.0.is_empty())
}
