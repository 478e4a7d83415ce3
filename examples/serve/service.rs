//! What all requests share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use burn_roi_detection::models::DetectorConfig;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;
use crate::metrics::Metrics;
use crate::model::MakeModel;
use crate::queue::Queue;
use crate::settings::Settings;
use crate::worker;

/// Unoptimized code moves whole detectors on the stack, and overflowed the 2 MiB of a thread.
const STACK: usize = 16 << 20;

/// What all requests share.
pub struct Service {
    pub settings: Settings,
    /// Of the model.
    pub config: DetectorConfig,
    pub queue: Queue,
    pub metrics: Metrics,
    /// A permit for each request that may be read, wait or be worked on.
    places: Arc<Semaphore>,
    /// A permit for each KiB of decoded pixels.
    pub decoded: Arc<Semaphore>,
    /// A permit for each thread that may decode, draw or write JSON.
    pub processors: Arc<Semaphore>,
    /// A permit for each connection.
    pub connections: Arc<Semaphore>,
    workers: usize,
    /// How many workers have a model.
    pub ready: AtomicUsize,
}

impl Service {
    /// Starts a worker for each model, and waits until all have made theirs. There is at least one.
    pub fn start(models: Vec<MakeModel>, settings: Settings) -> Result<(Arc<Self>, Vec<JoinHandle<()>>), Error> {
        let workers = models.len();
        let (made, all_made) = mpsc::channel();
        let mut starts = Vec::new();
        let mut threads = Vec::new();
        for (number, make) in models.into_iter().enumerate() {
            let made = made.clone();
            let (start, started) = mpsc::channel::<Arc<Self>>();
            let work = move || {
                let model = worker::make(&make);
                let config = model.as_ref().map(|model| model.config().clone());
                let _ = made.send(config.map_err(Clone::clone));
                // The service waits until all are dropped, also by a thread that ended without a word.
                drop(made);
                // There is no service if another worker has no model.
                if let (Ok(model), Ok(service)) = (model, started.recv()) {
                    worker::run(&make, model, &service);
                }
            };
            let thread = thread::Builder::new().name(format!("model {number}")).stack_size(STACK);
            threads.push(thread.spawn(work).map_err(Error::Start)?);
            starts.push(start);
        }
        drop(made);
        let configs: Vec<DetectorConfig> = all_made.iter().collect::<Result<_, _>>().map_err(Error::NoModel)?;
        let config = configs.into_iter().next();
        let config = config.ok_or_else(|| Error::NoModel("there is no device".to_string()))?;
        let processors = thread::available_parallelism().map_or(1, |count| count.get());
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        let service = Arc::new(Self {
            places: semaphore(settings.queue),
            decoded: semaphore(kibibytes(settings.all_decoded()) as usize),
            processors: semaphore(processors),
            connections: semaphore(settings.connections),
            queue: Queue::new(settings.batch, settings.wait),
            metrics: Metrics::default(),
            ready: AtomicUsize::new(workers),
            settings,
            config,
            workers,
        });
        for start in starts {
            // A worker that waits for it has not ended.
            let _ = start.send(service.clone());
        }
        Ok((service, threads))
    }

    /// A place for a request, unless all are taken.
    pub fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Whether every worker has a model.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed) == self.workers
    }

    /// The metrics, as Prometheus reads them.
    pub fn metrics(&self) -> String {
        let taken = |all: usize, semaphore: &Semaphore| all.saturating_sub(semaphore.available_permits());
        self.metrics.text(&[
            (
                "serve_requests_open",
                "Requests that are read, wait or are worked on.",
                taken(self.settings.queue, &self.places),
            ),
            (
                "serve_pictures_waiting",
                "Pictures that wait for a worker.",
                self.queue.len(),
            ),
            (
                "serve_connections",
                "Connections that are open.",
                taken(self.settings.connections, &self.connections),
            ),
            (
                "serve_models_ready",
                "Workers that have a model.",
                self.ready.load(Ordering::Relaxed),
            ),
        ])
    }
}

/// Bytes in KiB, rounded up.
pub fn kibibytes(bytes: u64) -> u32 {
    bytes.div_ceil(1024).try_into().unwrap_or(u32::MAX)
}
