//! Models that do as the colour of a picture says, and a service of them.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use burn_roi_detection::DetectionError;
use burn_roi_detection::models::{DetectorConfig, Instances, StageObserver};
use image::RgbImage;
use serve::{MakeModel, Model, Settings};
use tokio::sync::oneshot;

/// The first pixel of a picture on which the model panics, if it is alone or not.
pub const PANICS: [u8; 3] = [255, 0, 0];
/// The model waits until it is let go.
pub const WAITS: [u8; 3] = [0, 0, 255];
/// The model finds an object.
pub const GOOD: [u8; 3] = [0, 255, 0];

/// What holds a model on pictures of the colour `WAITS`.
#[derive(Default)]
pub struct Gate {
    /// Whether it is open, and how many models wait.
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    fn wait(&self) {
        let mut state = self.state.lock().expect("the gate");
        state.1 += 1;
        self.changed.notify_all();
        while !state.0 {
            state = self.changed.wait(state).expect("the gate");
        }
        state.1 -= 1;
    }

    pub fn open(&self) {
        self.state.lock().expect("the gate").0 = true;
        self.changed.notify_all();
    }

    /// Returns when a model waits.
    pub fn reached(&self) {
        let mut state = self.state.lock().expect("the gate");
        while state.1 == 0 {
            state = self.changed.wait(state).expect("the gate");
        }
    }
}

struct Obedient {
    config: DetectorConfig,
    gate: Arc<Gate>,
}

impl Model for Obedient {
    fn config(&self) -> &DetectorConfig {
        &self.config
    }

    fn detect(&self, pictures: &[&RgbImage], _: &mut dyn StageObserver) -> Result<Vec<Instances>, DetectionError> {
        let found = pictures.iter().map(|picture| {
            let colour = picture.get_pixel(0, 0).0;
            if colour == PANICS {
                panic!("asked to");
            }
            if colour == WAITS {
                self.gate.wait();
            }
            Instances {
                size: [picture.height() as usize, picture.width() as usize],
                boxes: vec![[1.0, 2.0, 8.0, 6.0]],
                scores: vec![f32::from(colour[1]) / 255.0],
                labels: vec![1],
                ..Instances::default()
            }
        });
        Ok(found.collect())
    }
}

/// A service on a thread of its own.
pub struct Running {
    pub address: SocketAddr,
    pub gate: Arc<Gate>,
    /// How many models were made.
    pub made: Arc<Mutex<usize>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Settings of short times and small sizes.
pub fn settings() -> Settings {
    Settings {
        batch: 4,
        wait: Duration::from_millis(20),
        queue: 16,
        timeout: Duration::from_secs(30),
        body: 1 << 20,
        pictures: 3,
        decoded: 1 << 20,
        connections: 100,
        headers: Duration::from_secs(2),
        token: None,
    }
}

impl Running {
    pub fn new(settings: Settings) -> Self {
        Self::with_models(settings, 1)
    }

    pub fn with_models(settings: Settings, models: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let (gate, made) = (Arc::<Gate>::default(), Arc::new(Mutex::new(0)));
        let makes = (0..models).map(|_| {
            let (gate, made) = (gate.clone(), made.clone());
            let make = move || {
                *made.lock().expect("the number") += 1;
                let config = DetectorConfig::named("fasterrcnn_resnet50_fpn").expect("a model");
                let gate = gate.clone();
                Ok(Box::new(Obedient { config, gate }) as Box<dyn Model>)
            };
            Box::new(make) as MakeModel
        });
        let makes = makes.collect();
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            // Dropped without a word if a test fails.
            let _ = stopped.await;
        };
        let thread = thread::spawn(move || serve::serve(listener, makes, settings, stopped).expect("it serves"));
        Self {
            address,
            gate,
            made,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Asks the service to stop.
    pub fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until the service has stopped.
    pub fn join(mut self) {
        self.stop();
        let thread = self.thread.take().expect("its thread");
        thread.join().expect("it stops in order");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A model that waits would hold the service.
        self.gate.open();
    }
}
