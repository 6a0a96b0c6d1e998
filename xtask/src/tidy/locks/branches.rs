//! Branches, and how they end.

use syn::{Expr, Stmt};

/// A way that control may go.
pub(super) struct Branch<'b, V> {
    /// Nothing after the branches runs if this one has.
    pub(super) leaves: bool,
    pub(super) visit: Box<dyn FnOnce(&mut V) + 'b>,
}

impl<'b, V> Branch<'b, V> {
    pub(super) fn new(leaves: bool, visit: impl FnOnce(&mut V) + 'b) -> Self {
        Self {
            leaves,
            visit: Box::new(visit),
        }
    }
}

/// Whether the block ends by leaving: `return`, `break`, `continue`, a panic.
pub(super) fn leaves(block: &syn::Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(expression, _)) => expression_leaves(expression),
        Some(Stmt::Macro(last)) => is_panic(&last.mac),
        _ => false,
    }
}

/// The same of an expression.
pub(super) fn expression_leaves(expression: &Expr) -> bool {
    match expression {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Block(block) => leaves(&block.block),
        Expr::Macro(last) => is_panic(&last.mac),
        _ => false,
    }
}

fn is_panic(mac: &syn::Macro) -> bool {
    mac.path.is_ident("panic") || mac.path.is_ident("unreachable")
}

/// Whether a condition binds: `if let`, also in a chain.
pub(super) fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(chain) => binds(&chain.left) || binds(&chain.right),
        _ => false,
    }
}
