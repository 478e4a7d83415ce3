//! Tasks on several threads.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Runs tasks, with `parallel` on as many threads as the pool has.
///
/// The calling thread is one of them, and begins at once: on two virtual cores of an Intel Xeon, a thread of the pool
/// wakes after 0.1 ms.
pub fn run_tasks<T: Send>(tasks: Vec<T>, parallel: bool, run: impl Fn(T) + Sync) {
    if !parallel {
        return tasks.into_iter().for_each(run);
    }
    let others = 1..rayon::current_num_threads().min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter());
    let run_some = || {
        loop {
            // A panic while the lock is held leaves the other tasks as they are.
            let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(task) = task else { return };
            run(task);
        }
    };
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| others.into_par_iter().for_each(|_| run_some()));
        run_some();
    });
}
