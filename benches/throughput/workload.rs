//! The workloads: features, regions and an operator.

use std::f32::consts::PI;

use burn_roi::{
    DeformRoiPoolConfig, PrRoiPoolConfig, PsRoiPoolConfig, RoiAlignConfig, RoiAlignRotatedConfig, RoiPoolConfig,
    openvino,
};

use crate::operator::Operator;
use crate::random::Random;

/// Features, regions and an operator.
#[derive(Debug, Clone)]
pub struct Workload {
    pub name: &'static str,
    /// `[C, H, W]` of the features of one image; of the finest level where there are several.
    pub features: [usize; 3],
    /// How many maps there are; each has half of the rows and columns of the one before.
    pub levels: usize,
    pub regions: usize,
    pub operator: Operator,
    /// How many pixels of the image one pixel of the finest map covers: 1 / spatial scale.
    pub stride: usize,
    /// The smallest and the largest side of a region, in pixels of the image.
    pub sides: [f32; 2],
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

/// `roi_align` of aligned boxes.
fn align(size: usize, stride: usize, samples: usize) -> Operator {
    let config = RoiAlignConfig::new([size, size]).with_sampling_ratio(samples);
    Operator::RoiAlign(config.with_spatial_scale(1.0 / stride as f64).with_aligned(true))
}

/// All workloads: the standard five, a lone region, ten times the regions, and one for each further operator.
fn all() -> Vec<Workload> {
    let box_p2 = Workload {
        name: "box-p2",
        features: [256, 200, 304],
        levels: 1,
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
        ..box_p2.clone()
    };
    let mut workloads = further(&box_p2, &c4);
    workloads.extend([
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
        Workload {
            name: "vgg-roi-pool",
            features: [512, 38, 50],
            operator: Operator::RoiPool(RoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0)),
            ..c4.clone()
        },
        box_p2,
        c4,
    ]);
    workloads
}

/// The workloads of operators other than `roi_align` and `roi_pool`, on maps and regions like those of two others.
fn further(box_p2: &Workload, c4: &Workload) -> Vec<Workload> {
    let rotated = RoiAlignRotatedConfig::new([7, 7])
        .with_spatial_scale(0.25)
        .with_sampling_ratio(2);
    let deformed = DeformRoiPoolConfig::new([7, 7])
        .with_spatial_scale(1.0 / 16.0)
        .with_sampling_ratio(2);
    vec![
        Workload {
            name: "rotated-p2",
            operator: Operator::RoiAlignRotated(rotated),
            ..box_p2.clone()
        },
        Workload {
            name: "prroi-p2",
            operator: Operator::PrRoiPool(PrRoiPoolConfig::new([7, 7]).with_spatial_scale(0.25)),
            ..box_p2.clone()
        },
        Workload {
            name: "extractor",
            levels: 4,
            operator: Operator::FeatureExtractor(openvino::RoiFeatureExtractor6::new(7, 2, vec![4, 8, 16, 32])),
            sides: [16.0, 512.0],
            ..box_p2.clone()
        },
        Workload {
            name: "ps-rfcn",
            features: [490, 38, 50],
            operator: Operator::PsRoiPool(PsRoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0)),
            ..c4.clone()
        },
        Workload {
            name: "deform-c4",
            operator: Operator::DeformRoiPool(deformed),
            ..c4.clone()
        },
    ]
}

impl Workload {
    /// The same features, boxes and output size for `roi_align` with 2 samples.
    pub fn with_roi_align(self) -> Self {
        let [size, _] = self.operator.output_size();
        Self {
            levels: 1,
            operator: align(size, self.stride, 2),
            ..self
        }
    }

    /// `[C, H, W]` of each level.
    pub fn maps(&self) -> Vec<[usize; 3]> {
        let [channels, height, width] = self.features;
        (0..self.levels)
            .map(|level| [channels, height >> level, width >> level])
            .collect()
    }

    /// The features `[1, C, H, W]` of each level, from -1 to 1.
    pub fn features(&self) -> Vec<Vec<f32>> {
        let mut random = Random::new(1);
        let mut map = |shape: [usize; 3]| {
            let count = shape.iter().product();
            (0..count).map(|_| random.next() * 2.0 - 1.0).collect()
        };
        self.maps().into_iter().map(&mut map).collect()
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

    /// The same boxes `[K, 5]`, turned by any angle in radians: centre, width, height and angle.
    pub fn rotated_boxes(&self) -> Vec<[f32; 5]> {
        let mut random = Random::new(4);
        let turned = |[x1, y1, x2, y2]: [f32; 4]| {
            let angle = (random.next() * 2.0 - 1.0) * PI;
            [(x1 + x2) / 2.0, (y1 + y2) / 2.0, x2 - x1, y2 - y1, angle]
        };
        self.boxes().into_iter().map(turned).collect()
    }

    /// The offsets of all regions, so many of each, from -1 to 1.
    pub fn offsets(&self, of_a_region: usize) -> Vec<f32> {
        let mut random = Random::new(5);
        (0..self.regions * of_a_region)
            .map(|_| random.next() * 2.0 - 1.0)
            .collect()
    }

    /// The gradient of the output, from -1 to 1.
    pub fn output_gradient(&self, count: usize) -> Vec<f32> {
        let mut random = Random::new(3);
        (0..count).map(|_| random.next() * 2.0 - 1.0).collect()
    }
}
