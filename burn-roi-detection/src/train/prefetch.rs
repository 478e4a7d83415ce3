//! [`Prefetch`]: items that several threads make ahead of their use.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Items that several threads make ahead of their use, in the order of their indices.
///
/// The order does not depend on the number of threads. The items do not either, if `make` depends only on the index. If
/// `make` panics, the panic is raised when its item is next.
///
/// ```
/// use burn_roi_detection::train::Prefetch;
///
/// let squares: Vec<usize> = Prefetch::new(0..5, 2, 3, |index| index * index).collect();
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
pub struct Prefetch<T> {
    shared: Arc<Shared<T>>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Told of each change.
    changed: Condvar,
    end: usize,
    ahead: usize,
}

struct State<T> {
    /// The index that the next free thread makes.
    next: usize,
    /// The index of the item that is used next.
    used: usize,
    made: BTreeMap<usize, thread::Result<T>>,
    stopped: bool,
}

impl<T: Send + 'static> Prefetch<T> {
    /// Starts threads that make the items of `indices`.
    ///
    /// - `threads`: the number of threads; 0 counts as 1.
    /// - `ahead`: the largest number of items that are being made or wait to be used; 0 counts as 1.
    /// - `make`: makes the item of an index.
    pub fn new(
        indices: Range<usize>,
        threads: usize,
        ahead: usize,
        make: impl Fn(usize) -> T + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                next: indices.start,
                used: indices.start,
                made: BTreeMap::new(),
                stopped: false,
            }),
            changed: Condvar::new(),
            end: indices.end,
            ahead: ahead.max(1),
        });
        let make = Arc::new(make);
        let threads = threads.clamp(1, ahead.max(1)).min(indices.len().max(1));
        let threads = (0..threads).map(|_| {
            let (shared, make) = (shared.clone(), make.clone());
            thread::spawn(move || shared.work(&*make))
        });
        let threads = threads.collect();
        Self { shared, threads }
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No panic happens while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while `is_waiting`.
    fn wait(&self, is_waiting: impl Fn(&State<T>) -> bool) -> MutexGuard<'_, State<T>> {
        let guard = self.changed.wait_while(self.lock(), |state| is_waiting(state));
        guard.unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes items until there is none left.
    fn work(&self, make: &dyn Fn(usize) -> T) {
        let is_full = |state: &State<T>| state.next < self.end && state.next - state.used >= self.ahead;
        loop {
            let mut state = self.wait(|state| !state.stopped && is_full(state));
            if state.stopped || state.next >= self.end {
                return;
            }
            let index = state.next;
            state.next += 1;
            drop(state);
            let item = catch_unwind(AssertUnwindSafe(|| make(index)));
            self.lock().made.insert(index, item);
            self.changed.notify_all();
        }
    }
}

impl<T> Iterator for Prefetch<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let shared = &self.shared;
        let mut state = shared.wait(|state| state.used < shared.end && !state.made.contains_key(&state.used));
        if state.used >= shared.end {
            return None;
        }
        let used = state.used;
        let item = state.made.remove(&used)?;
        state.used += 1;
        drop(state);
        shared.changed.notify_all();
        match item {
            Ok(item) => Some(item),
            Err(panic) => resume_unwind(panic),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.shared.end.saturating_sub(self.shared.lock().used);
        (left, Some(left))
    }
}

impl<T> ExactSizeIterator for Prefetch<T> {}

impl<T> Drop for Prefetch<T> {
    /// Waits for the items that are being made, and makes no more.
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread catches the panics of `make`.
            _ = thread.join();
        }
    }
}
