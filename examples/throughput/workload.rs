//! The workloads.

use burn_roi::{RoiAlignConfig, RoiPoolConfig};

use crate::random::Random;

/// Features, regions and an operator.
#[derive(Debug, Clone)]
pub struct Workload {
    pub name: &'static str,
    /// `[C, H, W]` of the features of one image.
    pub features: [usize; 3],
    pub regions: usize,
    pub operator: Operator,
    /// How many pixels of the image one pixel of the feature map covers: 1 / spatial scale.
    pub stride: usize,
    /// The smallest and the largest side of a region, in pixels of the image.
    pub sides: [f32; 2],
}

/// An operator with its options.
#[derive(Debug, Clone)]
pub enum Operator {
    RoiAlign(RoiAlignConfig),
    RoiPool(RoiPoolConfig),
}

impl Operator {
    pub fn output_size(&self) -> [usize; 2] {
        match self {
            Self::RoiAlign(config) => config.output_size,
            Self::RoiPool(config) => config.output_size,
        }
    }
}

/// The workloads of these names, or the standard five if `names` is empty.
pub fn named(names: &str) -> Result<Vec<Workload>, String> {
    let names = match names {
        "" => "box-p2,box-p2-adaptive,c4-adaptive,mask-p2,vgg-roi-pool",
        names => names,
    };
    names
        .split(',')
        .map(|name| {
            let known = |workload: &Workload| workload.name == name;
            all()
                .into_iter()
                .find(known)
                .ok_or(format!("there is no workload {name:?}"))
        })
        .collect()
}

/// All workloads: the standard five, a lone region, and ten times the regions.
fn all() -> Vec<Workload> {
    let align = |size: usize, stride: usize, samples: usize| {
        let config = RoiAlignConfig::new([size, size]).with_sampling_ratio(samples);
        Operator::RoiAlign(config.with_spatial_scale(1.0 / stride as f64).with_aligned(true))
    };
    let box_p2 = Workload {
        name: "box-p2",
        features: [256, 200, 304],
        regions: 1000,
        operator: align(7, 4, 2),
        stride: 4,
        sides: [20.0, 120.0],
    };
    let c4 = Workload {
        name: "c4-adaptive",
        features: [1024, 50, 76],
        regions: 300,
        operator: align(14, 16, 0),
        stride: 16,
        sides: [32.0, 512.0],
    };
    let pool = RoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
    vec![
        Workload {
            name: "box-p2-adaptive",
            operator: align(7, 4, 0),
            ..box_p2.clone()
        },
        Workload {
            name: "mask-p2",
            regions: 100,
            operator: align(14, 4, 2),
            ..box_p2.clone()
        },
        Workload {
            name: "one-region",
            regions: 1,
            ..box_p2.clone()
        },
        Workload {
            name: "ten-thousand",
            regions: 10_000,
            ..box_p2.clone()
        },
        box_p2,
        Workload {
            name: "vgg-roi-pool",
            features: [512, 38, 50],
            operator: Operator::RoiPool(pool),
            ..c4.clone()
        },
        c4,
    ]
}

impl Workload {
    /// The features `[1, C, H, W]`, from -1 to 1.
    pub fn features(&self) -> Vec<f32> {
        let mut random = Random::new(1);
        let count = self.features.iter().product();
        (0..count).map(|_| random.next() * 2.0 - 1.0).collect()
    }

    /// The boxes `[K, 4]`: width, height and centre are uniform random numbers, and the boxes are clipped to the image.
    pub fn boxes(&self) -> Vec<[f32; 4]> {
        let mut random = Random::new(2);
        let [_, height, width] = self.features;
        let image = [width, height].map(|side| (side * self.stride) as f32);
        let [least, largest] = self.sides;
        (0..self.regions)
            .map(|_| {
                let [w, h] = [0; 2].map(|_| least + random.next() * (largest - least));
                let [x, y] = image.map(|side| random.next() * side);
                [
                    (x - w / 2.0).clamp(0.0, image[0]),
                    (y - h / 2.0).clamp(0.0, image[1]),
                    (x + w / 2.0).clamp(0.0, image[0]),
                    (y + h / 2.0).clamp(0.0, image[1]),
                ]
            })
            .collect()
    }

    /// The fewest bytes that a call can move: it reads each pixel that a region touches once, and writes each output
    /// element once.
    pub fn bytes(&self, bytes_of_a_number: usize) -> usize {
        let [channels, height, width] = self.features;
        let mut touched = vec![false; height * width];
        for [x1, y1, x2, y2] in self.boxes() {
            let span = |low: f32, high: f32, size: usize| {
                let scale = 1.0 / self.stride as f32;
                let first = (low * scale - 0.5).floor().max(0.0) as usize;
                let last = (high * scale + 0.5).ceil().min(size as f32 - 1.0) as usize;
                first.min(last)..last + 1
            };
            for y in span(y1, y2, height) {
                touched[y * width..][span(x1, x2, width)].fill(true);
            }
        }
        let pixels = touched.iter().filter(|touched| **touched).count();
        let [rows, columns] = self.operator.output_size();
        (pixels + self.regions * rows * columns) * channels * bytes_of_a_number
    }

    /// The fewest bytes that the gradient of features can move: it reads that of each output element once, and writes
    /// that of each pixel once.
    pub fn bytes_of_backward(&self, bytes_of_a_number: usize) -> usize {
        let [channels, height, width] = self.features;
        let [rows, columns] = self.operator.output_size();
        (height * width + self.regions * rows * columns) * channels * bytes_of_a_number
    }

    /// The gradient of the output, from -1 to 1.
    pub fn output_gradient(&self, count: usize) -> Vec<f32> {
        let mut random = Random::new(3);
        (0..count).map(|_| random.next() * 2.0 - 1.0).collect()
    }
}
