//! Follows the guards that are live, in the order of evaluation.

use super::super::source::Source;
use super::branches::{Branch, binds, expression_leaves, leaves};
use super::guards::{Functions, bound, called, is_guard_type, name};
use crate::tokens::mentions;
use std::collections::BTreeSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, Pat, Signature, Stmt, Token};

/// The helper through which foreign code is called: a module or a function.
const FOREIGN: &str = "contain";

/// Methods that run foreign code, with the number of their arguments: a future's, and a waker's.
const FOREIGN_METHODS: &[(&str, usize)] = &[("poll", 1), ("wake", 0), ("wake_by_ref", 0)];

/// Where a lock is held that must not be.
pub(super) struct Held {
    pub(super) line: usize,
    /// The line of the lock.
    pub(super) locked: usize,
    pub(super) what: &'static str,
}

#[derive(Clone)]
struct Guard {
    /// In the order of their beginnings; scopes end those that began in them.
    number: usize,
    /// `None` if it lives to the end of its statement.
    name: Option<String>,
    line: usize,
}

/// Walks a file; what it found is in its public fields.
pub(super) struct Visitor<'s> {
    source: &'s Source,
    functions: &'s Functions,
    live: Vec<Guard>,
    begun: usize,
    /// The function that we are in, and its parameters.
    function: String,
    parameters: BTreeSet<String>,
    pub(super) held: Vec<Held>,
    /// Functions that call a parameter under a lock.
    pub(super) calling: BTreeSet<String>,
}

impl<'s> Visitor<'s> {
    pub(super) fn follow(source: &'s Source, functions: &'s Functions) -> Self {
        let mut visitor = Self {
            source,
            functions,
            live: Vec::new(),
            begun: 0,
            function: String::new(),
            parameters: BTreeSet::new(),
            held: Vec::new(),
            calling: BTreeSet::new(),
        };
        visitor.visit_file(&source.syntax);
        visitor
    }

    fn begin(&mut self, name: Option<String>, line: usize) {
        self.begun += 1;
        self.live.push(Guard {
            number: self.begun,
            name,
            line,
        });
    }

    fn end(&mut self, name: &str) {
        self.live
            .retain(|guard| guard.name.as_deref() != Some(name));
    }

    fn reach(&mut self, line: usize, what: &'static str) {
        if let Some(guard) = self.live.last()
            && !self.source.is_test(line)
        {
            let locked = guard.line;
            self.held.push(Held { line, locked, what });
        }
    }

    fn foreign(&mut self, line: usize) {
        self.reach(line, "the call into foreign code");
    }

    /// Guards that begin in the scope end with it.
    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.begun;
        visit(self);
        self.live.retain(|guard| guard.number <= before);
    }

    /// Code that runs elsewhere: it holds nothing of what is held here.
    fn elsewhere(&mut self, visit: impl FnOnce(&mut Self)) {
        let here = std::mem::take(&mut self.live);
        visit(self);
        self.live = here;
    }

    /// One of the branches runs; each begins with what is live now.
    fn branches(&mut self, branches: Vec<Branch<'_, Self>>) {
        let start = self.live.clone();
        let mut ends: Vec<Guard> = Vec::new();
        for branch in branches {
            self.live.clone_from(&start);
            self.scoped(branch.visit);
            if !branch.leaves {
                ends.append(&mut self.live);
            }
        }
        ends.sort_by_key(|guard| guard.number);
        ends.dedup_by_key(|guard| guard.number);
        self.live = ends;
    }

    fn function(&mut self, signature: &Signature, block: &syn::Block) {
        let outer = std::mem::replace(&mut self.function, signature.ident.to_string());
        let outer_parameters = std::mem::take(&mut self.parameters);
        self.elsewhere(|this| {
            for input in &signature.inputs {
                let syn::FnArg::Typed(typed) = input else {
                    continue;
                };
                let name = bound(&typed.pat);
                if is_guard_type(&typed.ty) {
                    this.begin(name.clone(), typed.span().start().line);
                }
                this.parameters.extend(name);
            }
            this.visit_block(block);
        });
        self.function = outer;
        self.parameters = outer_parameters;
    }

    /// Visits the arguments; closures run under a lock if the function calls them so.
    fn arguments(&mut self, function: &str, arguments: &Punctuated<Expr, Token![,]>) {
        for argument in arguments {
            let under_lock = self.functions.calling.contains(function);
            if under_lock && matches!(argument, Expr::Closure(_)) {
                self.scoped(|this| {
                    this.begin(None, argument.span().start().line);
                    this.visit_expr(argument);
                });
            } else {
                self.visit_expr(argument);
            }
        }
    }

    /// What is given away is no longer ours.
    fn give_away(&mut self, arguments: &Punctuated<Expr, Token![,]>) {
        for name in arguments.iter().filter_map(name) {
            self.end(&name);
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.scoped(|this| visit::visit_block(this, block));
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        match statement {
            Stmt::Local(local) => self.visit_local(local),
            other => self.scoped(|this| visit::visit_stmt(this, other)),
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let Some(init) = &local.init else { return };
        self.scoped(|this| this.visit_expr(&init.expr));
        if let Some((_, otherwise)) = &init.diverge {
            self.branches(vec![
                Branch::new(true, |this: &mut Self| {
                    this.visit_expr(otherwise);
                }),
                Branch::new(false, |_| {}),
            ]);
        }
        if self.functions.is_guard(&init.expr) && !matches!(local.pat, Pat::Wild(_)) {
            self.begin(bound(&local.pat), init.expr.span().start().line);
        }
        if let (Some(old), Some(new)) = (name(&init.expr), bound(&local.pat)) {
            let mut guards = self.live.iter_mut();
            if let Some(guard) = guards.find(|guard| guard.name.as_ref() == Some(&old)) {
                guard.name = Some(new);
            }
        }
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        visit::visit_expr_assign(self, assign);
        if let Some(name) = name(&assign.left)
            && self.functions.is_guard(&assign.right)
        {
            // Its `let` is further out than this scope, so no scope in this function ends it.
            let line = assign.span().start().line;
            self.live.insert(
                0,
                Guard {
                    number: 0,
                    name: Some(name),
                    line,
                },
            );
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        self.arguments(&call.method.to_string(), &call.args);
        let line = call.method.span().start().line;
        let shape =
            |(name, count): &(&str, usize)| call.method == name && call.args.len() == *count;
        if FOREIGN_METHODS.iter().any(shape) {
            self.foreign(line);
        }
        self.give_away(&call.args);
        if self.functions.is_lock_method(call) {
            self.begin(None, line);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let function = called(call).unwrap_or_default();
        self.visit_expr(&call.func);
        self.arguments(&function, &call.args);
        let line = call.func.span().start().line;
        if let Expr::Path(path) = &*call.func
            && self
                .source
                .written_out(&path.path)
                .iter()
                .any(|segment| segment == FOREIGN)
        {
            self.foreign(line);
        }
        let own = name(&call.func).is_some_and(|name| self.parameters.contains(&name));
        if own && !self.live.is_empty() {
            self.calling.insert(self.function.clone());
        }
        self.give_away(&call.args);
        if self.functions.is_lock_function(call) {
            self.begin(None, line);
        }
    }

    fn visit_expr_await(&mut self, wait: &'ast syn::ExprAwait) {
        match &*wait.base {
            // An async method of that name returns no guard of a blocking lock.
            Expr::MethodCall(call) if self.functions.is_lock_method(call) => {
                self.visit_expr(&call.receiver);
            }
            base => self.visit_expr(base),
        }
        self.reach(wait.await_token.span.start().line, "the await");
    }

    fn visit_expr_async(&mut self, block: &'ast syn::ExprAsync) {
        self.elsewhere(|this| this.visit_block(&block.block));
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.scoped(|this| this.visit_expr(&closure.body));
    }

    fn visit_expr_if(&mut self, expression: &'ast syn::ExprIf) {
        let condition = &*expression.cond;
        let then = &expression.then_branch;
        let otherwise = expression.else_branch.as_ref().map(|(_, branch)| branch);
        if !binds(condition) {
            self.scoped(|this| this.visit_expr(condition));
        }
        let mut branches = vec![Branch::new(leaves(then), |this: &mut Self| {
            if binds(condition) {
                this.visit_expr(condition);
            }
            this.visit_block(then);
        })];
        let leaves = otherwise.is_some_and(|branch| expression_leaves(branch));
        branches.push(Branch::new(leaves, move |this: &mut Self| {
            if let Some(branch) = otherwise {
                this.visit_expr(branch);
            }
        }));
        self.branches(branches);
    }

    fn visit_expr_match(&mut self, expression: &'ast syn::ExprMatch) {
        self.visit_expr(&expression.expr);
        let arms = expression.arms.iter().map(|arm| {
            Branch::new(expression_leaves(&arm.body), |this: &mut Self| {
                this.visit_arm(arm);
            })
        });
        self.branches(arms.collect());
    }

    fn visit_expr_while(&mut self, expression: &'ast syn::ExprWhile) {
        self.scoped(|this| {
            if binds(&expression.cond) {
                this.visit_expr(&expression.cond);
            } else {
                this.scoped(|this| this.visit_expr(&expression.cond));
            }
            this.visit_block(&expression.body);
        });
    }

    fn visit_expr_for_loop(&mut self, expression: &'ast syn::ExprForLoop) {
        self.scoped(|this| {
            this.visit_expr(&expression.expr);
            this.visit_block(&expression.body);
        });
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let arguments = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        if let Ok(arguments) = arguments {
            // The arguments live as long as this visit; guards in them end with the statement.
            self.arguments("", &arguments);
            return;
        }
        let line = mac.span().start().line;
        if mentions(&mac.tokens, FOREIGN) {
            self.foreign(line);
        }
        if mentions(&mac.tokens, "await") {
            self.reach(line, "the await");
        }
    }
}
