//! A thread that detects with a model of its own, which it makes anew after a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Instant;

use burn_roi_detection::models::{Instances, Stage, StageObserver};

use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::model::{MakeModel, Model};
use crate::queue::Job;
use crate::service::Service;

/// Makes a model. A panic is an error.
pub fn make(make: &MakeModel) -> Result<Box<dyn Model>, String> {
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| Err("its code panicked".to_string()))
}

/// Detects in what waits, until the queue is closed and empty.
pub fn run(make: &MakeModel, model: Box<dyn Model>, service: &Service) {
    let mut worker = Worker {
        make,
        model: Some(model),
        service,
    };
    while let Some(jobs) = service.queue.take() {
        worker.work(jobs);
    }
}

struct Worker<'a> {
    make: &'a MakeModel,
    /// `None` if the last one panicked and no other could be made.
    model: Option<Box<dyn Model>>,
    service: &'a Service,
}

impl Worker<'_> {
    /// Detects in a batch. If that fails, in each of its pictures alone, so that one picture spoils no other's request.
    fn work(&mut self, jobs: Vec<Job>) {
        let metrics = &self.service.metrics;
        metrics.batch(jobs.len());
        for job in &jobs {
            metrics.stage("wait", job.since.elapsed());
        }
        let found = self.detect(&jobs);
        match found {
            Ok(found) => {
                for (job, instances) in jobs.into_iter().zip(found) {
                    answer(job, Ok(instances));
                }
            }
            Err(_) if jobs.len() > 1 => {
                for job in jobs.into_iter().filter(|job| !job.reply.is_closed()) {
                    let found = self.detect(std::slice::from_ref(&job));
                    answer(job, found.map(|mut found| found.remove(0)));
                }
            }
            Err(failure) => jobs.into_iter().for_each(|job| answer(job, Err(failure.clone()))),
        }
    }

    /// The instances of each picture.
    fn detect(&mut self, jobs: &[Job]) -> Result<Vec<Instances>, Failure> {
        if self.model.is_none() {
            self.make_anew();
        }
        let Some(model) = &self.model else {
            return Err(Failure::busy("the model failed, and cannot be made anew"));
        };
        let begun = Instant::now();
        let mut stages = Stages {
            begun,
            metrics: &self.service.metrics,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let pictures = jobs.iter().map(|job| &job.picture.pixels);
            model.detect(&pictures.collect::<Vec<_>>(), &mut stages)
        }));
        self.service.metrics.stage("model", begun.elapsed());
        match outcome {
            Ok(Ok(found)) if found.len() == jobs.len() => Ok(found),
            Ok(Ok(_)) => Err(Failure::internal("the model did not answer for each picture")),
            Ok(Err(error)) => Err(Failure::internal(error.to_string())),
            Err(_) => {
                // Standard error has its message.
                self.make_anew();
                Err(Failure::internal("the model panicked"))
            }
        }
    }

    /// Drops the model, and makes another.
    fn make_anew(&mut self) {
        let service = self.service;
        if let Some(model) = self.model.take() {
            service.ready.fetch_sub(1, Ordering::Relaxed);
            service.metrics.restart();
            // What panicked once may panic again.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(model)));
        }
        match make(self.make) {
            Ok(model) => {
                self.model = Some(model);
                service.ready.fetch_add(1, Ordering::Relaxed);
            }
            Err(reason) => eprintln!("error: cannot make the model anew: {reason}"),
        }
    }
}

fn answer(job: Job, found: Result<Instances, Failure>) {
    // The client may have gone away.
    let _ = job.reply.send(found);
}

/// Times the stages of a detection. It does not wait for a GPU, which only queues work.
struct Stages<'a> {
    begun: Instant,
    metrics: &'a Metrics,
}

impl StageObserver for Stages<'_> {
    fn begins(&mut self, _stage: Stage) {
        self.begun = Instant::now();
    }

    fn ends(&mut self, stage: Stage) {
        self.metrics.stage(stage.name(), self.begun.elapsed());
    }
}
