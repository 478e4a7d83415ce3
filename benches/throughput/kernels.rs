//! Single kernels on small problems, so that a change can be judged: `cargo bench -p throughput --features
//! ndarray`.
//!
//! A map of 64 channels of 100 x 152 fits in the processor's cache, unlike those of `throughput`:
//! what is timed is work, and what a call costs before it.

use std::hint::black_box;
use std::time::Duration;

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::*;
use criterion::{Criterion, criterion_group, criterion_main};

mod random;

use random::Random;

const CHANNELS: usize = 64;
const HEIGHT: usize = 100;
const WIDTH: usize = 152;
const REGIONS: usize = 100;

/// Features and regions on a device.
struct Problem {
    features: Tensor<4>,
    rois: Rois,
}

impl Problem {
    /// Regions of 5 to 30 pixels, as those of `box-p2` are on their map.
    fn new(device: &Device, dtype: DType, channels: usize, regions: usize) -> Self {
        let mut random = Random::new(1);
        let numbers: Vec<f32> = (0..channels * HEIGHT * WIDTH)
            .map(|_| random.next() * 2.0 - 1.0)
            .collect();
        let features = TensorData::new(numbers, [1, channels, HEIGHT, WIDTH]);
        // By a sequence of its own, so that the boxes are the same in any number of channels.
        let mut random = Random::new(2);
        let boxes: Vec<f32> = (0..regions)
            .flat_map(|_| {
                let [w, h] = [0; 2].map(|_| 5.0 + random.next() * 25.0);
                let x = random.next() * (WIDTH as f32 - w);
                let y = random.next() * (HEIGHT as f32 - h);
                [x, y, x + w, y + h]
            })
            .collect();
        Self::from_data(features, TensorData::new(boxes, [regions, 4]), device, dtype)
    }

    fn from_data(features: TensorData, boxes: TensorData, device: &Device, dtype: DType) -> Self {
        let features = Tensor::from_data(features.convert_dtype(dtype), (device, dtype));
        let boxes = Tensor::<2>::from_data(boxes.convert_dtype(dtype), (device, dtype));
        Self {
            features,
            rois: Rois::from_images(vec![boxes]),
        }
    }

    fn align(&self, config: &RoiAlignConfig) -> Tensor<4> {
        roi_align(self.features.clone(), &self.rois, config.clone())
    }

    fn pool(&self, config: &RoiPoolConfig) -> Tensor<4> {
        roi_pool(self.features.clone(), &self.rois, config.clone())
    }

    fn crop(&self, config: &CropAndResizeConfig) -> Tensor<4> {
        crop_and_resize(self.features.clone(), &self.rois, config.clone())
    }
}

fn fixed() -> RoiAlignConfig {
    let config = RoiAlignConfig::new([7, 7]).with_aligned(true);
    config.with_sampling_ratio(2)
}

fn adaptive() -> RoiAlignConfig {
    RoiAlignConfig::new([7, 7]).with_aligned(true)
}

fn flex(criterion: &mut Criterion) {
    let device = Device::flex();
    let mut group = criterion.benchmark_group("flex");

    let problem = Problem::new(&device, DType::F32, CHANNELS, REGIONS);
    let max = fixed().with_reduction(Reduction::Max);
    let bins = RoiPoolConfig::new([7, 7]);
    group.bench_function("roi_align fixed", |bencher| {
        bencher.iter(|| problem.align(black_box(&fixed())))
    });
    group.bench_function("roi_align adaptive", |bencher| {
        bencher.iter(|| problem.align(black_box(&adaptive())))
    });
    group.bench_function("roi_align max", |bencher| {
        bencher.iter(|| problem.align(black_box(&max)))
    });
    group.bench_function("roi_pool", |bencher| bencher.iter(|| problem.pool(black_box(&bins))));

    let half = Problem::new(&device, DType::F16, CHANNELS, REGIONS);
    group.bench_function("roi_align fixed f16", |bencher| {
        bencher.iter(|| half.align(black_box(&fixed())))
    });
    group.bench_function("roi_pool f16", |bencher| bencher.iter(|| half.pool(black_box(&bins))));

    // Normalized [y1, x1, y2, x2].
    let mut random = Random::new(3);
    let boxes: Vec<f32> = (0..REGIONS)
        .flat_map(|_| {
            let [y, x] = [0; 2].map(|_| random.next() * 0.8);
            [y, x, y + 0.2, x + 0.2]
        })
        .collect();
    let boxes = Tensor::<2>::from_data(TensorData::new(boxes, [REGIONS, 4]), &device);
    let crops = Problem {
        features: problem.features.clone(),
        rois: Rois::from_images(vec![boxes]),
    };
    let crop = CropAndResizeConfig::new([14, 14]);
    group.bench_function("crop_and_resize", |bencher| {
        bencher.iter(|| crops.crop(black_box(&crop)))
    });

    // As little work as a call can have: 4 channels of one sample.
    let least = Problem::new(&device, DType::F32, 4, 1);
    let one_sample = RoiAlignConfig::new([1, 1]).with_sampling_ratio(1);
    group.bench_function("least call", |bencher| {
        bencher.iter(|| least.align(black_box(&one_sample)))
    });
    for channels in [8, CHANNELS, 4 * CHANNELS] {
        let one = Problem::new(&device, DType::F32, channels, 1);
        group.bench_function(format!("one region {channels} channels"), |bencher| {
            bencher.iter(|| one.align(black_box(&fixed())))
        });
    }
    group.finish();
}

fn ndarray(criterion: &mut Criterion) {
    #[allow(deprecated)] // Burn deprecates NdArray.
    let device = Device::ndarray();
    let mut group = criterion.benchmark_group("ndarray");
    let problem = Problem::new(&device, DType::F32, CHANNELS, REGIONS);
    let max = fixed().with_reduction(Reduction::Max);
    let bins = RoiPoolConfig::new([7, 7]);
    group.bench_function("roi_align fixed", |bencher| {
        bencher.iter(|| problem.align(black_box(&fixed())))
    });
    group.bench_function("roi_align max", |bencher| {
        bencher.iter(|| problem.align(black_box(&max)))
    });
    group.bench_function("roi_pool", |bencher| bencher.iter(|| problem.pool(black_box(&bins))));
    group.finish();
}

criterion_group! {
    name = kernels;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = flex, ndarray
}
criterion_main!(kernels);
