//! Times a whole detector of torchvision's architecture. `benches/detectors.py` and `benches/gpu_detectors.py` run it
//! beside others.
//!
//! ```text
//! cargo bench -p burn-roi-detection --bench detector --no-default-features --features flex,train,x86-v4 -- \
//!     maskrcnn_resnet50_fpn WEIGHTS.pth RECORDING.safetensors stages 10
//! ```
//!
//! The recording is one that `burn-roi-onnx/detectors/export.py` made. After it comes what is timed:
//!
//! - `stages RUNS`: each stage of a detection in one picture, and the whole.
//! - `batch N`: N pictures in one call, and N calls of one picture.
//! - `train N`: a training step with N pictures, and the most memory that the process had.
//! - `stages-bf16`, `batch-bf16` and `train-bf16`: the same with layers of bf16.
//!
//! Two more arguments may follow: the backend, `flex` or `cuda`, and the length of the shorter side of pictures, if it
//! is not the model's.
//!
//! All times are milliseconds. Those of stages are medians, that of a training step the median of five.

use std::error::Error;
use std::time::Instant;

use burn::tensor::{Device, FloatDType};
use burn_roi_detection::RunLengths;
use burn_roi_detection::models::{Detector, DetectorConfig, Picture, Stage, StageObserver};
use burn_roi_detection::train::{
    HalfPrecision, LearningRateSchedule, Object, Sample, Trainer, TrainerConfig, TrainingBatch,
};
use burn_roi_detection::weights::{NameTable, StateDict};
use safetensors::SafeTensors;

/// How many of the recorded objects a training picture has.
const OBJECTS: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|text| text != "--bench").collect();
    let [name, weights, recording, what, number, more @ ..] = arguments.as_slice() else {
        println!("nothing is timed without the arguments NAME WEIGHTS RECORDING stages|batch|train[-bf16] NUMBER");
        return Ok(());
    };
    let number = number.parse()?;
    let mut config = DetectorConfig::named(name).ok_or_else(|| format!("there is no model {name}"))?;
    if let Some(side) = more.get(1) {
        config.preprocessing.min_size = side.parse()?;
    }
    let mut detector = Detector::try_new(config, &device(more.first().map_or("flex", String::as_str))?)?;
    StateDict::read(weights)?.load_into(&mut detector, NameTable::torchvision)?;
    let sample = recorded(&std::fs::read(recording)?)?;
    let (what, half_precision) = match what.strip_suffix("-bf16") {
        Some(what) => (what, Some(HalfPrecision::BF16)),
        None => (what.as_str(), None),
    };
    // A training casts the layers itself.
    if half_precision.is_some() && what != "train" {
        detector = detector.try_with_layers_dtype(FloatDType::BF16)?;
    }
    match what {
        "stages" => time_stages(&detector, &sample, number),
        "batch" => time_batch(&detector, &sample, number),
        "train" => time_step(detector, sample, number, half_precision),
        _ => Err(format!("`{what}` must be stages, batch or train").into()),
    }
}

fn device(backend: &str) -> Result<Device, String> {
    match backend {
        #[cfg(feature = "flex")]
        "flex" => Ok(Device::flex()),
        #[cfg(feature = "cuda")]
        "cuda" => Ok(Device::cuda(0)),
        _ => Err(format!("this program has no backend `{backend}`")),
    }
}

/// The recorded picture, and the first of the objects that torch found in it, with rectangles as masks.
fn recorded(bytes: &[u8]) -> Result<Sample, Box<dyn Error>> {
    let recording = SafeTensors::deserialize(bytes)?;
    let floats = |name: &str| -> Result<Vec<f32>, Box<dyn Error>> {
        let (chunks, _) = recording.tensor(name)?.data().as_chunks::<4>();
        Ok(chunks.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
    };
    let (planes, boxes) = (floats("input.image")?, floats("torch.boxes")?);
    let &[_, height, width] = recording.tensor("input.image")?.shape() else {
        return Err("input.image must be [3, H, W]".into());
    };
    let byte = |at: usize| (planes[at % 3 * height * width + at / 3] * 255.0).round() as u8;
    let object = |&corners: &[f32; 4]| {
        let [x1, y1, x2, y2] = corners;
        let inside = |at: usize| {
            let (x, y) = ((at % width) as f32, (at / width) as f32);
            (x1..x2).contains(&x) && (y1..y2).contains(&y)
        };
        let mask: Vec<bool> = (0..height * width).map(inside).collect();
        Object {
            mask: Some(RunLengths::from_pixels(&mask, [height, width])),
            ..Object::new(corners, 1)
        }
    };
    let objects = boxes.as_chunks::<4>().0.iter().take(OBJECTS).map(object).collect();
    Ok(Sample::try_new(
        [height, width],
        (0..3 * height * width).map(byte).collect(),
        objects,
    )?)
}

/// The times of the stages of one detection.
#[derive(Default)]
struct Times {
    begun: Option<Instant>,
    stages: Vec<(Stage, f64)>,
}

impl StageObserver for Times {
    fn waits(&self) -> bool {
        true
    }

    fn begins(&mut self, _stage: Stage) {
        self.begun = Some(Instant::now());
    }

    fn ends(&mut self, stage: Stage) {
        self.stages.push((stage, self.begun.map_or(0.0, milliseconds)));
    }
}

fn time_stages(detector: &Detector, sample: &Sample, runs: usize) -> Result<(), Box<dyn Error>> {
    let picture = Picture::try_from_rgb(sample.size, &sample.pixels)?;
    let (mut all, mut stages) = (Vec::new(), Vec::new());
    // The first run warms up.
    for run in 0..=runs {
        let (begin, mut times) = (Instant::now(), Times::default());
        detector.try_detect_observed(std::slice::from_ref(&picture), &mut times)?;
        if run > 0 {
            all.push(milliseconds(begin));
            stages.push(times.stages);
        }
    }
    for (at, (stage, _)) in stages[0].iter().enumerate() {
        print(stage.name(), median(stages.iter().map(|run| run[at].1).collect()));
    }
    print("all", median(all));
    Ok(())
}

fn time_batch(detector: &Detector, sample: &Sample, pictures: usize) -> Result<(), Box<dyn Error>> {
    let picture = Picture::try_from_rgb(sample.size, &sample.pixels)?;
    let together = vec![picture.clone(); pictures];
    detector.try_detect(&together[..1])?;
    let begin = Instant::now();
    detector.try_detect(&together)?;
    print("one call", milliseconds(begin));
    let begin = Instant::now();
    for _ in 0..pictures {
        detector.try_detect(&together[..1])?;
    }
    print("single calls", milliseconds(begin));
    Ok(())
}

fn time_step(
    detector: Detector,
    sample: Sample,
    pictures: usize,
    half_precision: Option<HalfPrecision>,
) -> Result<(), Box<dyn Error>> {
    let device = detector.device().clone();
    let batch = TrainingBatch::try_new(&vec![sample; pictures], detector.config(), &device)?;
    let mut config = TrainerConfig::new(LearningRateSchedule::new(1e-4));
    config.half_precision = half_precision;
    let mut trainer = Trainer::try_new(detector, config)?;
    let mut times = Vec::new();
    // On a GPU the first step compiles kernels.
    for _ in 0..5 {
        let begin = Instant::now();
        trainer.step(&batch)?;
        device.sync()?;
        times.push(milliseconds(begin));
    }
    print("a step", median(times));
    println!("  {:24}{:9.1} MB", "most memory", most_memory()?);
    Ok(())
}

/// The largest resident set of this process, in megabytes, as Linux counts it.
fn most_memory() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: f64 = line.ok_or("VmHWM is missing")?.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1.024e-3)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print(name: &str, milliseconds: f64) {
    println!("  {name:24}{milliseconds:9.1} ms");
}
