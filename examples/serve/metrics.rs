//! Counts and times, as Prometheus reads them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The upper ends of the buckets of a request's time, in seconds.
const BUCKETS: [f64; 10] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

#[derive(Default)]
pub struct Metrics(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// The requests of `/detect` by their status, or `gone` if the client went away.
    requests: BTreeMap<String, u64>,
    /// The times of requests that were answered, by bucket.
    buckets: [u64; BUCKETS.len()],
    answered: Sum,
    stages: BTreeMap<&'static str, Sum>,
    batches: Sum,
    restarts: u64,
}

#[derive(Default)]
struct Sum {
    count: u64,
    sum: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
    }
}

impl Metrics {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A batch of so many pictures.
    pub fn batch(&self, pictures: usize) {
        self.counts().batches.add(pictures as f64);
    }

    /// A stage took so long.
    pub fn stage(&self, stage: &'static str, time: Duration) {
        self.counts().stages.entry(stage).or_default().add(time.as_secs_f64());
    }

    /// A model panicked.
    pub fn restart(&self) {
        self.counts().restarts += 1;
    }

    /// A request begins. Until it is told that the request is done, it counts as one whose client went away.
    pub fn request(&self) -> Request<'_> {
        Request {
            metrics: self,
            begun: Instant::now(),
            outcome: None,
        }
    }

    /// The text that Prometheus reads.
    ///
    /// - `gauges`: what else is measured, as name, description and value.
    pub fn text(&self, gauges: &[(&str, &str, usize)]) -> String {
        let counts = self.counts();
        let mut text = Text::default();
        text.head(
            "serve_requests_total",
            "counter",
            "Requests of /detect by status; gone: the client went away.",
        );
        for (status, count) in &counts.requests {
            text.line(&format!("serve_requests_total{{status=\"{status}\"}}"), count);
        }
        text.head(
            "serve_request_seconds",
            "histogram",
            "Times of answered requests of /detect.",
        );
        for (end, count) in BUCKETS.iter().zip(counts.buckets) {
            text.line(&format!("serve_request_seconds_bucket{{le=\"{end}\"}}"), &count);
        }
        text.line("serve_request_seconds_bucket{le=\"+Inf\"}", &counts.answered.count);
        text.sum("serve_request_seconds", "", &counts.answered);
        text.head("serve_batch_pictures", "summary", "Pictures of a call of the model.");
        text.sum("serve_batch_pictures", "", &counts.batches);
        text.head(
            "serve_stage_seconds",
            "summary",
            "Times by stage; on a GPU those within `model` only queue work.",
        );
        for (stage, sum) in &counts.stages {
            text.sum("serve_stage_seconds", &format!("{{stage=\"{stage}\"}}"), sum);
        }
        text.head(
            "serve_model_restarts_total",
            "counter",
            "Models that panicked and were made anew.",
        );
        text.line("serve_model_restarts_total", &counts.restarts);
        for (name, help, value) in gauges {
            text.head(name, "gauge", help);
            text.line(name, value);
        }
        text.0
    }
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, value: &dyn std::fmt::Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn sum(&mut self, name: &str, labels: &str, sum: &Sum) {
        self.line(&format!("{name}_sum{labels}"), &sum.sum);
        self.line(&format!("{name}_count{labels}"), &sum.count);
    }
}

/// A request that runs.
pub struct Request<'a> {
    metrics: &'a Metrics,
    begun: Instant,
    outcome: Option<u16>,
}

impl Request<'_> {
    /// The request is answered with this status.
    pub fn answered(mut self, status: u16) {
        self.outcome = Some(status);
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let mut counts = self.metrics.counts();
        let outcome = self.outcome.map_or("gone".to_string(), |status| status.to_string());
        *counts.requests.entry(outcome).or_default() += 1;
        if self.outcome.is_none() {
            return;
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        counts.answered.add(seconds);
        // A bucket of Prometheus has all that are shorter.
        for (count, end) in counts.buckets.iter_mut().zip(BUCKETS) {
            *count += u64::from(seconds <= end);
        }
    }
}
