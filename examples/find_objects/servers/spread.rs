//! Jobs spread over workers, some of which may fail for good: the others take over what a failed one had begun.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Why a job has no result.
#[derive(Debug, PartialEq)]
pub enum Failure<E> {
    /// The worker has failed for good, for this reason. Another one can do the job.
    Worker(String),
    /// No worker can do the job.
    Job(E),
}

/// What becomes known while jobs run, on the thread that waits for them.
pub enum Event<T> {
    /// A job is done: its number and its result.
    Done(usize, T),
    /// A worker has failed: its name and the reason.
    Lost(String, String),
}

/// Why not all jobs are done.
#[derive(Debug, PartialEq)]
pub enum Incomplete<E> {
    /// No worker is left, and so many jobs are not done.
    NoWorker(usize),
    /// A job that no worker can do, or an event that could not be handled.
    Job(E),
}

/// Does the jobs `0..jobs`, each once, with workers that have names: each worker one job at a time. A panic of a worker
/// is its failure.
pub fn spread<W: Send, T: Send, E: Send>(
    workers: Vec<(String, W)>,
    jobs: usize,
    work: impl Fn(&mut W, usize) -> Result<T, Failure<E>> + Sync,
    mut handle: impl FnMut(Event<T>) -> Result<(), E>,
) -> Result<(), Incomplete<E>> {
    let queue = Queue::new(jobs);
    let (events, received) = channel();
    thread::scope(|scope| {
        for (name, worker) in workers {
            let (queue, work, events) = (&queue, &work, events.clone());
            scope.spawn(move || run(&name, worker, queue, work, &events));
        }
        drop(events);
        let mut left = jobs;
        for event in received {
            let event = event.inspect_err(|_| queue.stop()).map_err(Incomplete::Job)?;
            left -= usize::from(matches!(event, Event::Done(..)));
            handle(event).inspect_err(|_| queue.stop()).map_err(Incomplete::Job)?;
        }
        match left {
            0 => Ok(()),
            left => Err(Incomplete::NoWorker(left)),
        }
    })
}

/// One worker, until no job is left or it fails.
fn run<W, T, E>(
    name: &str,
    mut worker: W,
    queue: &Queue,
    work: &impl Fn(&mut W, usize) -> Result<T, Failure<E>>,
    events: &Sender<Result<Event<T>, E>>,
) {
    while let Some(job) = queue.take() {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut worker, job)));
        // The waiting thread may have stopped listening: then nobody wants the event.
        match outcome.unwrap_or_else(|panic| Err(Failure::Worker(text(&*panic)))) {
            Ok(result) => {
                queue.finish(None);
                let _ = events.send(Ok(Event::Done(job, result)));
            }
            Err(Failure::Worker(reason)) => {
                queue.finish(Some(job));
                let _ = events.send(Ok(Event::Lost(name.to_string(), reason)));
                return;
            }
            Err(Failure::Job(error)) => {
                queue.finish(None);
                let _ = events.send(Err(error));
                return;
            }
        }
    }
}

/// What a panic said.
fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = literal.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_string())
}

/// The jobs that wait, and how many run. A job that runs may come back.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<usize>,
    running: usize,
}

impl Queue {
    fn new(jobs: usize) -> Self {
        Self {
            state: Mutex::new(State {
                waiting: (0..jobs).collect(),
                running: 0,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job; waits while none waits and one runs, and gives none at the end.
    fn take(&self) -> Option<usize> {
        let state = self.state();
        let idle = |state: &mut State| state.waiting.is_empty() && state.running > 0;
        let mut state = self
            .changed
            .wait_while(state, idle)
            .unwrap_or_else(PoisonError::into_inner);
        let job = state.waiting.pop_front()?;
        state.running += 1;
        Some(job)
    }

    /// A job has ended; one that is not done waits again, before all others.
    fn finish(&self, unfinished: Option<usize>) {
        let mut state = self.state();
        state.running -= 1;
        if let Some(job) = unfinished {
            state.waiting.push_front(job);
        }
        self.changed.notify_all();
    }

    /// No further job begins.
    fn stop(&self) {
        self.state().waiting.clear();
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(count: usize) -> Vec<(String, usize)> {
        (0..count).map(|number| (format!("worker {number}"), number)).collect()
    }

    /// Each job once, though all workers but the last fail, by an error or by a panic.
    #[test]
    fn the_rest_takes_over() {
        let (mut done, mut lost) = (Vec::new(), 0);
        let work = |worker: &mut usize, job: usize| match (*worker, job % 3) {
            (0, 1) => Err(Failure::Worker("gone".to_string())),
            (1, 2) => panic!("gone"),
            _ => {
                thread::sleep(std::time::Duration::from_millis(1));
                Ok(10 * job)
            }
        };
        let outcome: Result<(), Incomplete<()>> = spread(workers(3), 60, work, |event| {
            match event {
                Event::Done(job, result) => done.push((job, result)),
                Event::Lost(_, reason) => {
                    assert_eq!(reason, "gone");
                    lost += 1;
                }
            }
            Ok(())
        });
        assert_eq!(outcome, Ok(()));
        done.sort_unstable();
        assert_eq!(done, (0..60).map(|job| (job, 10 * job)).collect::<Vec<_>>());
        assert!(lost <= 2, "{lost}");
    }

    #[test]
    fn without_a_worker_the_rest_is_counted() {
        let work = |left: &mut usize, _| match left.checked_sub(1) {
            Some(less) => {
                *left = less;
                Ok(())
            }
            None => Err(Failure::Worker("gone".to_string())),
        };
        let workers = vec![("one".to_string(), 2), ("two".to_string(), 3)];
        let outcome: Result<(), Incomplete<()>> = spread(workers, 9, work, |_| Ok(()));
        assert_eq!(outcome, Err(Incomplete::NoWorker(4)));
        let none: Result<(), Incomplete<()>> = spread(Vec::new(), 2, work, |_| Ok(()));
        assert_eq!(none, Err(Incomplete::NoWorker(2)));
    }

    #[test]
    fn a_job_that_cannot_be_done_ends_all() {
        let work = |_: &mut usize, job| match job {
            3 => Err(Failure::Job("broken")),
            _ => Ok(()),
        };
        let outcome = spread(workers(2), 1000, work, |_| Ok(()));
        assert_eq!(outcome, Err(Incomplete::Job("broken")));
        let outcome = spread(workers(2), 1000, |_, _| Ok(()), |_: Event<()>| Err("full disk"));
        assert_eq!(outcome, Err(Incomplete::Job("full disk")));
    }
}
