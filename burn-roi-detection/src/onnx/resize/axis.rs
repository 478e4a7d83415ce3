//! What the elements of the output read along one axis.

use super::extent::Extent;
use super::{NearestMode, Resize, ResizeMode, ResizeTransformation};

/// What the elements of the output read along an axis.
pub(super) struct Taps {
    /// For each element of the output, the index and the weight of the elements that it reads: 1, 2 or 4.
    pub of_elements: Vec<Vec<(f32, f32)>>,
    /// Whether the position of an element is outside of the region's input.
    pub outside: Vec<bool>,
}

impl Taps {
    pub fn new(extent: &Extent, options: &Resize) -> Self {
        let last = extent.input as f32 - 1.0;
        let crops = options.transformation == ResizeTransformation::TfCropAndResize;
        let elements = (0..extent.output).map(|element| {
            let position = position(options.transformation, element as f32, extent);
            let taps = match options.mode {
                ResizeMode::Nearest => {
                    let nearest = nearest(options.nearest_mode, position, extent.scale);
                    vec![(nearest.clamp(0.0, last), 1.0)]
                }
                ResizeMode::Linear => {
                    let position = position.clamp(0.0, last);
                    let (low, share) = (position.floor(), position.fract());
                    vec![(low, 1.0 - share), ((low + 1.0).min(last), share)]
                }
                ResizeMode::Cubic => cubic(position.clamp(-2.0, last + 2.0), last, options).to_vec(),
            };
            (taps, crops && !(0.0..=last).contains(&position))
        });
        let (of_elements, outside) = elements.unzip();
        Self { of_elements, outside }
    }

    /// Whether every element of the output is the input's element at its index.
    pub fn is_identity(&self, size: usize) -> bool {
        // Of two taps the first is at the position, of four the second.
        let is_in_place = |(at, taps): (usize, &Vec<(f32, f32)>)| taps[taps.len() / 4] == (at as f32, 1.0);
        self.of_elements.len() == size && self.of_elements.iter().enumerate().all(is_in_place)
    }
}

/// The position in the input that an element of the output reads, in the specification's order of operations.
fn position(transformation: ResizeTransformation, element: f32, extent: &Extent) -> f32 {
    let (input, output) = (extent.input as f32, extent.output as f32);
    let half_pixel = (element + 0.5) / extent.scale - 0.5;
    match transformation {
        ResizeTransformation::HalfPixel => half_pixel,
        ResizeTransformation::HalfPixelSymmetric => {
            let adjustment = output / (extent.scale * input);
            let offset = input / 2.0 * (1.0 - adjustment);
            offset + (element + 0.5) / extent.scale - 0.5
        }
        ResizeTransformation::PytorchHalfPixel if extent.output > 1 => half_pixel,
        ResizeTransformation::AlignCorners if extent.output > 1 => element * (input - 1.0) / (output - 1.0),
        ResizeTransformation::PytorchHalfPixel | ResizeTransformation::AlignCorners => 0.0,
        ResizeTransformation::Asymmetric => element / extent.scale,
        ResizeTransformation::TfHalfPixelForNn => (element + 0.5) / extent.scale,
        ResizeTransformation::TfCropAndResize => {
            let [start, end] = extent.region;
            if extent.output > 1 {
                start * (input - 1.0) + element * (end - start) * (input - 1.0) / (output - 1.0)
            } else {
                (0.5 * f64::from(start + end) * f64::from(input - 1.0)) as f32
            }
        }
    }
}

/// The index that a position reads. It can be beyond the ends.
fn nearest(mode: NearestMode, position: f32, scale: f32) -> f32 {
    match mode {
        NearestMode::RoundPreferFloor if position == position.floor() + 0.5 => position.floor(),
        NearestMode::RoundPreferFloor => position.round(),
        NearestMode::RoundPreferCeil => (position + 0.5).floor(),
        NearestMode::Floor => position.floor(),
        NearestMode::Ceil => position.ceil(),
        NearestMode::Simple if scale < 1.0 => position.ceil(),
        NearestMode::Simple => position.trunc(),
    }
}

/// The four elements of a cubic, and their weights.
fn cubic(position: f32, last: f32, options: &Resize) -> [(f32, f32); 4] {
    let a = options.cubic_coefficient;
    let (low, share) = (position.floor(), position - position.floor());
    let near = |distance: f32| ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1.0;
    let far = |distance: f32| ((a * distance - 5.0 * a) * distance + 8.0 * a) * distance - 4.0 * a;
    let mut weights = [far(share + 1.0), near(share), near(1.0 - share), far(2.0 - share)];
    let index = |tap: usize| low - 1.0 + tap as f32;
    if options.exclude_outside {
        for (tap, weight) in weights.iter_mut().enumerate() {
            if !(0.0..=last).contains(&index(tap)) {
                *weight = 0.0;
            }
        }
        let sum: f32 = weights.iter().sum();
        weights = weights.map(|weight| weight / sum);
    }
    std::array::from_fn(|tap| (index(tap).clamp(0.0, last), weights[tap]))
}
