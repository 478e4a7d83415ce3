//! The one way from tasks to threads.
//!
//! Rayon's functions are generic: they would be compiled again for each type of task. Here they are compiled once, for
//! the index of a task.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

/// A call with fewer output elements is faster on one thread.
const PARALLEL: usize = 1 << 14;

/// Whether a call of so many output elements runs on several threads.
pub fn in_parallel(elements: usize) -> bool {
    elements >= PARALLEL && rayon::current_num_threads() > 1
}

/// Runs tasks, with `parallel` on the threads of the pool.
pub fn run_tasks<T: Send>(tasks: Vec<T>, parallel: bool, run: impl Fn(T) + Sync) {
    let count = tasks.len();
    let tasks = Mutex::new(tasks.into_iter());
    for_each_index(count, parallel, &|_| {
        let task = lock(&tasks).next();
        run(task.expect("a task for each index"));
    });
}

fn for_each_index(count: usize, parallel: bool, run: &(dyn Fn(usize) + Sync)) {
    if parallel && count > 1 {
        (0..count).into_par_iter().for_each(run);
    } else {
        (0..count).for_each(run);
    }
}

/// A thread that panics while it holds the lock leaves whole values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `Iterator::filter_map` over items and their indices, in order. With `parallel`, a task has `chunk` items.
pub fn filter_map<I: Sync, T: Send>(
    items: &[I],
    chunk: usize,
    parallel: bool,
    make: impl Fn(usize, &I) -> Option<T> + Sync,
) -> Vec<T> {
    let mut chunks = Vec::new();
    chunks.resize_with(items.len().div_ceil(chunk), || Mutex::new(Vec::new()));
    for_each_index(chunks.len(), parallel, &|task| {
        let mut made = lock(&chunks[task]);
        let first = task * chunk;
        for (index, item) in (first..first + chunk).zip(&items[first..]) {
            if let Some(value) = make(index, item) {
                made.push(value);
            }
        }
    });
    let mut all = Vec::new();
    for chunk in &chunks {
        all.append(&mut lock(chunk));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_keeps_its_order() {
        let items: Vec<usize> = (0..1000).collect();
        for parallel in [false, true] {
            for chunk in [1, 7, 1000, 2000] {
                let odd = filter_map(&items, chunk, parallel, |index, &item| {
                    assert_eq!(index, item);
                    (item % 2 == 1).then_some(item)
                });
                assert_eq!(odd, (0..500).map(|half| 2 * half + 1).collect::<Vec<_>>());
            }
        }
    }
}
