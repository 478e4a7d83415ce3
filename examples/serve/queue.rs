//! The pictures that wait for a worker, and how they form batches.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use burn_roi_detection::models::Instances;
use tokio::sync::oneshot;

use crate::decoding::Decoded;
use crate::failure::Failure;

/// A picture that waits.
pub struct Job {
    pub picture: Arc<Decoded>,
    /// The size of the model's input for the picture. In a batch of one size, no picture changes another's result.
    pub input_size: [usize; 2],
    pub since: Instant,
    /// Closed if the client has gone away, or its time is over.
    pub reply: oneshot::Sender<Result<Instances, Failure>>,
}

/// The pictures that wait, the oldest first. The places of requests bound their number.
pub struct Queue {
    batch: usize,
    wait: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

impl Queue {
    /// - `batch`: the most pictures of a batch.
    /// - `wait`: how long a picture waits for others.
    pub fn new(batch: usize, wait: Duration) -> Self {
        Self {
            batch,
            wait,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn len(&self) -> usize {
        self.state().jobs.len()
    }

    pub fn push(&self, jobs: Vec<Job>) {
        self.state().jobs.extend(jobs);
        self.changed.notify_all();
    }

    /// What waits is still taken.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// The next batch: the oldest picture, and those of its input size that came before it had waited long enough.
    /// `None` if the queue is closed and empty.
    pub fn take(&self) -> Option<Vec<Job>> {
        let mut state = self.state();
        loop {
            // Nobody waits for these. Their pixels are freed here.
            state.jobs.retain(|job| !job.reply.is_closed());
            let Some(first) = state.jobs.front() else {
                if state.is_closed {
                    return None;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let input_size = first.input_size;
            let left = self.wait.saturating_sub(first.since.elapsed());
            let alike = state.jobs.iter().filter(|job| job.input_size == input_size).count();
            if alike >= self.batch || left.is_zero() || state.is_closed {
                return Some(state.batch(input_size, self.batch));
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl State {
    /// Takes the oldest jobs of an input size.
    fn batch(&mut self, input_size: [usize; 2], most: usize) -> Vec<Job> {
        let mut batch = Vec::new();
        let mut left = VecDeque::with_capacity(self.jobs.len());
        for job in self.jobs.drain(..) {
            match batch.len() < most && job.input_size == input_size {
                true => batch.push(job),
                false => left.push_back(job),
            }
        }
        self.jobs = left;
        batch
    }
}
