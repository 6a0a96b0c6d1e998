//! What the check of the locks finds, and what it leaves alone.

use super::super::fixture::Fixture;

const FILE: &str = "crates/jobs-local/src/lib.rs";

/// The source after the first line of the file; findings are expected in the lines that end with `// held`.
#[track_caller]
fn check(source: &str) {
    let fixture = Fixture::good().write(FILE, &format!("//! A crate.\n{source}"));
    let marked: Vec<usize> = source
        .lines()
        .enumerate()
        .filter(|(_, line)| line.ends_with("// held"))
        .map(|(index, _)| index + 2)
        .collect();
    if marked.is_empty() {
        fixture.expect_nothing();
    } else {
        fixture.expect_lines("locks", FILE, &marked);
    }
}

#[test]
fn a_bound_guard_lives_to_the_end_of_its_block() {
    check(
        "async fn f(&self) {
            {
                let mut state = self.state.lock();
                contain::call(cancel); // held
                next().await; // held
            }
            contain::call(cancel);
            next().await;
        }",
    );
}

#[test]
fn it_lives_to_where_it_is_dropped_or_given_away() {
    check(
        "fn f(&self) {
            let state = self.state.lock().unwrap();
            drop(state);
            contain::call(cancel);
            let other = self.state.lock();
            self.settle(other);
            contain::call(cancel);
        }",
    );
}

#[test]
fn a_borrow_keeps_the_guard_and_another_name_is_the_same_guard() {
    check(
        "fn f(&self) {
            let jobs = &mut self.state.lock().jobs;
            jobs::contain::call(cancel); // held
        }
        fn g(&self) {
            let one = self.state.lock();
            let two = one;
            contain::call(cancel); // held
            drop(two);
            contain::call(cancel);
        }",
    );
}

#[test]
fn an_unbound_guard_lives_to_the_end_of_its_statement() {
    check(
        "fn f(&self) {
            let count = self.state.lock().count;
            contain::call(cancel);
            self.state.lock().push(contain::call(cancel)); // held
            let _ = self.state.lock();
            contain::call(cancel);
            match self.state.lock().first() {
                Some(hook) => contain::call(hook), // held
                None => {}
            }
            contain::call(cancel);
        }",
    );
}

#[test]
fn the_condition_of_if_let_and_while_let_lives_in_the_body() {
    check(
        "fn f(&self) {
            if self.state.lock().is_empty() { contain::call(cancel); }
            if let Some(hook) = self.state.lock().pop() {
                contain::call(hook); // held
            } else {
                contain::call(other);
            }
            while let Some(hook) = self.state.lock().pop() {
                contain::call(hook); // held
            }
            for hook in self.state.lock().iter() {
                contain::call(hook); // held
            }
        }",
    );
}

#[test]
fn branches_join() {
    check(
        "fn f(&self, early: Early) {
            let state = self.state.lock();
            if early.yes() {
                drop(state);
                contain::call(cancel);
                return;
            }
            contain::call(cancel); // held
        }
        fn g(&self, early: Early) {
            let state = self.state.lock();
            if early.yes() { drop(state); } else { drop(state); }
            contain::call(cancel);
        }
        fn h(&self, early: Early) {
            let state = self.state.lock();
            match early { Early::Yes => drop(state), Early::No => {} }
            contain::call(cancel); // held
        }
        fn i(&self) {
            let Some(state) = self.state.try_lock() else {
                contain::call(cancel);
                return;
            };
            contain::call(cancel); // held
        }",
    );
}

#[test]
fn functions_of_the_crate_return_guards_or_call_under_one() {
    check(
        "fn state(&self) -> MutexGuard<'_, State> { self.inner.lock() }
        fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R { f(&mut self.state()) }
        fn later(&self, f: impl FnOnce()) { self.state().count += 1; f() }
        fn f(&self) {
            let state = self.state();
            contain::call(cancel); // held
        }
        fn g(&self) {
            self.with(|state| {
                contain::call(&state.hook); // held
            });
            self.later(|| contain::call(cancel));
        }
        fn h(state: MutexGuard<'_, State>) {
            contain::call(cancel); // held
        }",
    );
}

#[test]
fn closures_run_where_they_stand_and_async_blocks_do_not() {
    check(
        "fn f(&self) {
            let state = self.state.lock();
            hooks.for_each(|hook| {
                contain::call(hook); // held
            });
            let later = async move { next().await; contain::call(cancel); };
        }",
    );
}

#[test]
fn an_import_of_the_helper_is_the_helper() {
    check(
        "use jobs::contain::call as contained;
        use jobs::contain;
        fn f(&self) {
            let state = self.state.lock();
            contained(cancel); // held
            contain(cancel); // held
            other(cancel);
        }",
    );
}

#[test]
fn futures_and_wakers_are_foreign() {
    check(
        "fn f(&self) {
            let state = self.state.lock();
            state.done.as_mut().poll(cx); // held
            state.waker.wake(); // held
            state.waker.wake_by_ref(); // held
            drop(state);
            waker.wake();
        }",
    );
}

#[test]
fn macros_are_read() {
    check(
        "async fn f(&self) {
            let state = self.state.lock();
            debug!(\"{}\", contain::call(cancel)); // held
            select! { x = next() => { x.await } } // held
        }",
    );
}

#[test]
fn a_guard_that_is_taken_again_is_live_again() {
    check(
        "fn f(&self) {
            let mut state = self.state.lock();
            drop(state);
            contain::call(cancel);
            { state = self.state.lock(); }
            contain::call(cancel); // held
        }",
    );
}

#[test]
fn methods_with_arguments_are_no_locks() {
    check(
        "async fn f(&self) {
            let read = log.read(offset);
            next().await;
            let read = registry.read().await;
            next().await;
        }",
    );
}

#[test]
fn tests_may_hold_locks() {
    check("#[cfg(test)]\nmod tests {\n fn f() { let s = m.lock(); contain::call(x); }\n}\n");
}
