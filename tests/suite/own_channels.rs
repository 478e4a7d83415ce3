//! Position-sensitive operators beyond what is computed at once: large outputs, and many regions.

#[cfg(feature = "flex")]
use burn::tensor::{Device, Distribution, TensorData};
use burn::tensor::{Int, Tensor};
use burn_roi::*;

use crate::backends::backends;

/// Every pixel is the number of its channel, so an element tells which channel it read.
#[test]
fn each_element_of_a_large_output_reads_its_own_channel() {
    for backend in backends() {
        let device = &backend.device;
        // A software GPU takes a minute for the larger one.
        let [rows, columns] = if backend.is_host() { [130, 150] } else { [65, 75] };
        for channels in [2, 9] {
            let count = channels * rows * columns;
            let numbers = Tensor::<1, Int>::arange(0..count as i64, device).float();
            let features = numbers.clone().reshape([1, count, 1, 1]).expand([1, count, 2, 2]);
            let rois = Rois::from_images(vec![Tensor::<2>::from_data([[0.0, 0.0, 1.0, 1.0]], device)]);
            let output = ps_roi_pool(features, &rois, torchvision::PsRoiPool::new([rows, columns]));
            assert_eq!(output.dims(), [1, channels, rows, columns]);
            assert_eq!(
                output.reshape([count]).into_data(),
                numbers.into_data(),
                "{}: {channels} channels",
                backend.name
            );
        }
    }
}

#[cfg(feature = "flex")]
#[test]
fn many_regions_are_regions_one_by_one() {
    let (device, count) = (Device::flex(), 3000);
    let config = torchvision::PsRoiAlign::new([7, 7]);
    for channels in [3, 10] {
        let features = Tensor::<4>::random([2, channels * 49, 12, 10], Distribution::Default, &device);
        let boxes = Tensor::<2>::random([count, 4], Distribution::Uniform(-2.0, 14.0), &device);
        let images = (0..count as i32).map(|row| row % 2).collect();
        let images = Tensor::<1, Int>::from_data(TensorData::new(images, [count]), &device);
        let run = |boxes, images| ps_roi_align(features.clone(), &Rois::new(boxes, images), config.clone());
        let all = run(boxes.clone(), images.clone());
        for row in [0, 1, 1336, 1337, 2674, count - 1] {
            let alone = run(boxes.clone().narrow(0, row, 1), images.clone().narrow(0, row, 1));
            let (found, alone) = (all.clone().narrow(0, row, 1).into_data(), alone.into_data());
            // As bytes, since some of the boxes give NaN.
            assert_eq!(found.as_bytes(), alone.as_bytes(), "row {row}");
        }
    }
}
