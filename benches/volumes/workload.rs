//! The workloads, which `peers.py` has too.

use burn_roi::RoiAlign3dConfig;

pub struct Workload {
    pub name: &'static str,
    /// `[N, C, D, H, W]`.
    pub shape: [usize; 5],
    pub regions: usize,
    /// Of the output, along each axis.
    pub size: [usize; 3],
    /// The shortest and the longest side of a box, along z, y and x.
    pub sides: [[f32; 2]; 3],
}

const fn workload(
    name: &'static str,
    shape: [usize; 5],
    regions: usize,
    size: [usize; 3],
    sides: [[f32; 2]; 3],
) -> Workload {
    Workload {
        name,
        shape,
        regions,
        size,
        sides,
    }
}

pub const WORKLOADS: [Workload; 4] = [
    workload(
        "nodules",
        [1, 128, 32, 64, 64],
        100,
        [7; 3],
        [[4.0, 12.0], [8.0, 24.0], [8.0, 24.0]],
    ),
    workload(
        "video",
        [1, 256, 8, 48, 64],
        50,
        [8, 7, 7],
        [[8.0, 8.0], [8.0, 32.0], [8.0, 32.0]],
    ),
    workload("many-small", [1, 32, 32, 64, 64], 1000, [4; 3], [[2.0, 8.0]; 3]),
    workload(
        "few-large",
        [1, 64, 32, 128, 128],
        8,
        [14; 3],
        [[16.0, 32.0], [64.0, 128.0], [64.0, 128.0]],
    ),
];

impl Workload {
    pub fn config(&self) -> RoiAlign3dConfig {
        RoiAlign3dConfig::new(self.size)
            .with_sampling_ratio(2)
            .with_aligned(true)
    }

    pub fn features(&self) -> Vec<f32> {
        let place = |place: usize| ((place * 7919 % 1009) as f32 - 504.0) / 504.0;
        (0..self.shape.iter().product()).map(place).collect()
    }

    /// Rows `[x1, y1, x2, y2, z1, z2]`, within the map.
    pub fn boxes(&self) -> Vec<f32> {
        let mut state = 1u64;
        // The numbers of `peers.py`: a linear congruential generator.
        let mut fraction = || {
            state = state * 1_103_515_245 % 2_147_483_647;
            (state as f64 / 2_147_483_647.0) as f32
        };
        let mut boxes = Vec::new();
        for _ in 0..self.regions {
            let mut ends = [[0.0; 2]; 3];
            for (axis, end) in ends.iter_mut().enumerate() {
                let [shortest, longest] = self.sides[axis];
                let length = shortest + fraction() * (longest - shortest);
                let start = fraction() * (self.shape[2 + axis] as f32 - length);
                *end = [start, start + length];
            }
            let [z, y, x] = ends;
            boxes.extend([x[0], y[0], x[1], y[1], z[0], z[1]]);
        }
        boxes
    }
}
