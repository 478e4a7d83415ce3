//! The distance of two samples is the nearest quotient on every device, whatever its division and its compiler do.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::*;

use crate::backends::backends;

/// How many columns the map has.
const COLUMNS: usize = 3000;

/// Mesa 22.3 made one product of the two that check a quotient, and a power of two divided by 47 was one unit too
/// large.
#[test]
fn a_step_is_the_nearest_quotient() {
    for backend in backends() {
        for divisor in [3, 7, 14, 33, 47, 100, 1000] {
            let regions: Vec<_> = (24..=32)
                .flat_map(|power| regions_of(2.0_f32.powi(power), divisor))
                .collect();
            let found = second_samples(&regions, divisor, &backend.device);
            for (region, found) in regions.iter().zip(found) {
                let error = (found - region.second).abs();
                assert!(
                    error < 1e-3,
                    "{}: {} to {} by {divisor} steps: sample 1 is at {found}, not {}",
                    backend.name,
                    region.low,
                    region.high,
                    region.second
                );
            }
        }
    }
}

/// A region whose sample number 1 lies on the map.
struct Region {
    low: f32,
    high: f32,
    /// Where that sample lies.
    second: f32,
}

/// Regions of about a length: those whose ends and whose length are exact.
fn regions_of(length: f32, divisor: usize) -> Vec<Region> {
    let lengths = [1.0, 1.01, 1.1, 1.25, 1.3, 1.5, 1.7, 1.999].map(|factor| length * factor);
    let regions = lengths.into_iter().map(|length| {
        let step = length / divisor as f32;
        let spacing = length.next_up() - length;
        let low = -(step / spacing).floor() * spacing;
        let high = length + low;
        (
            length,
            Region {
                low,
                high,
                second: low + step,
            },
        )
    });
    let fits = |(length, region): &(f32, Region)| {
        f64::from(region.high) - f64::from(region.low) == f64::from(*length) && region.second < (COLUMNS - 1) as f32
    };
    regions.filter(fits).map(|(_, region)| region).collect()
}

/// Where sample number 1 of each region lies, read from a map that holds the numbers of its columns.
fn second_samples(regions: &[Region], divisor: usize, device: &Device) -> Vec<f32> {
    let map: Vec<f32> = (0..COLUMNS).map(|column| column as f32).collect();
    let map = Tensor::<4>::from_data(TensorData::new(map, [1, 1, 1, COLUMNS]), (device, DType::F32));
    let boxes: Vec<f32> = regions
        .iter()
        .flat_map(|region| [region.low, 0.0, region.high, 0.0])
        .collect();
    let boxes = Tensor::<2>::from_data(TensorData::new(boxes, [regions.len(), 4]), (device, DType::F32));
    let config = RoiAlignConfig {
        sampling: Sampling::Fixed(1),
        align_corners: true,
        input_pixel_offset: 0.0,
        output_pixel_offset: 0.0,
        ..RoiAlignConfig::new([1, divisor + 1])
    };
    let output = roi_align(map, &Rois::from_images(vec![boxes]), config);
    let second = output.slice([0..regions.len(), 0..1, 0..1, 1..2]);
    second.into_data().iter::<f32>().collect()
}
