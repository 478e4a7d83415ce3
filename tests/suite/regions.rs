//! Regions in every form that frameworks give them in.

use burn::tensor::{DType, Device, Distribution, Int, IntDType, Tensor, TensorData, s};
use burn_roi::*;

use crate::backends::backends;

const BOXES: [[f32; 4]; 3] = [[0.0, 0.0, 4.0, 4.0], [1.0, 2.0, 7.0, 5.0], [2.0, 1.0, 3.0, 3.0]];
const IMAGES: [i32; 3] = [0, 0, 2];

fn pooled(rois: &Rois, device: &Device) -> TensorData {
    let numbers = (0..3 * 2 * 6 * 8).map(|number| (number as f32).sin()).collect();
    let features = Tensor::<4>::from_data(TensorData::new(numbers, [3, 2, 6, 8]), device);
    roi_align(features, rois, RoiAlignConfig::new([2, 3])).into_data()
}

#[test]
fn all_forms_are_the_same_regions() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats(BOXES, device);
        let images = Tensor::<1, Int>::from_ints(IMAGES, device);
        let expected = pooled(&Rois::new(boxes.clone(), images.clone()), device);

        let first = images.clone().float().reshape([3, 1]);
        let table = Tensor::cat(vec![first, boxes.clone()], 1);
        let forms = [
            Rois::new(boxes.clone().reshape([1, 3, 4]), images.clone().reshape([1, 3])),
            Rois::new(
                boxes.clone().reshape([1, 1, 3, 4]),
                images.clone().reshape([1, 1, 1, 3]),
            ),
            Rois::new(boxes.clone(), images.reshape([1, 1, 3])),
            Rois::from_index_first(table.clone()),
            Rois::from_index_first(table.reshape([1, 1, 3, 5])),
            Rois::from_images(vec![
                boxes.clone().narrow(0, 0, 2),
                Tensor::zeros([0, 4], device),
                boxes.clone().narrow(0, 2, 1),
            ]),
            // Strides that are not those of a fresh tensor.
            Rois::new(
                boxes.clone().transpose().add_scalar(0.0).transpose(),
                Tensor::<1, Int>::from_ints([0, 9, 0, 9, 2], device).slice(s![..;2]),
            ),
        ];
        for rois in forms {
            assert_eq!(rois.len(), 3);
            assert!(!rois.is_empty());
            assert!(rois.validate(3).is_ok());
            assert_eq!(pooled(&rois, device), expected, "{} {rois:?}", backend.name);
        }
    }
}

#[test]
fn every_integer_dtype() {
    let dtypes = [
        IntDType::I8,
        IntDType::I16,
        IntDType::I32,
        IntDType::I64,
        IntDType::U8,
        IntDType::U16,
        IntDType::U32,
        IntDType::U64,
    ];
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats(BOXES, device);
        let images = Tensor::<1, Int>::from_ints(IMAGES, device);
        let expected = pooled(&Rois::new(boxes.clone(), images.clone()), device);
        for dtype in dtypes.into_iter().filter(|dtype| backend.supports(DType::from(*dtype))) {
            let images = TensorData::new(IMAGES.to_vec(), [3]).convert_dtype(dtype.into());
            // Made of this type, since burn-router 0.22.1 ends the session of a remote device at a cast.
            let images = Tensor::<1, Int>::from_data(images, (device, DType::from(dtype)));
            let rois = Rois::new(boxes.clone(), images);
            assert_eq!(pooled(&rois, device), expected, "{} {dtype:?}", backend.name);
        }
    }
}

/// An index that is in range in its lower bits only is out of range.
#[test]
fn wide_indices_are_not_cut_off() {
    for backend in backends() {
        let device = &backend.device;
        for dtype in [IntDType::I64, IntDType::U64] {
            if !backend.supports(DType::from(dtype)) {
                continue;
            }
            let wide = TensorData::new(vec![1i64 << 32], [1]).convert_dtype(dtype.into());
            let wide = Tensor::<1, Int>::from_data(wide, (device, DType::from(dtype)));
            let rois = Rois::new(Tensor::<2>::from_floats([BOXES[0]], device), wide);
            let error = rois.validate(3).expect_err("an image out of range");
            assert_eq!(
                error,
                RoiError::BatchIndex {
                    row: 0,
                    index: 1 << 32,
                    batch: 3
                }
            );
            if !backend.is_host() {
                assert!(pooled(&rois, device).iter::<f32>().all(|number| number == 0.0));
            }
        }
    }
}

#[test]
fn modules_are_their_functions() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::random([3, 2, 6, 8], Distribution::Default, device);
        let rois = Rois::new(
            Tensor::<2>::from_floats(BOXES, device),
            Tensor::<1, Int>::from_ints(IMAGES, device),
        );
        let config = RoiAlignConfig::new([2, 3]).with_spatial_scale(0.5);
        assert_eq!(
            config.init().forward(features.clone(), &rois).into_data(),
            roi_align(features.clone(), &rois, config).into_data()
        );
        let config = RoiPoolConfig::new([2, 3]).with_spatial_scale(0.5);
        assert_eq!(
            config.init().forward(features.clone(), &rois).into_data(),
            roi_pool(features.clone(), &rois, config).into_data()
        );
        let config = CropAndResizeConfig::new([2, 3]);
        assert_eq!(
            config.init().forward(features.clone(), &rois).into_data(),
            crop_and_resize(features, &rois, config).into_data()
        );
    }
}

/// A crop of as many points as the box has pixels is those pixels, and a flipped box flips them.
#[test]
fn pixels_become_normalized_boxes() {
    for backend in backends() {
        let device = &backend.device;
        let values = (0..2 * 3 * 5 * 9).map(|value| value as f32).collect();
        let image = Tensor::<4>::from_data(TensorData::new(values, [2, 3, 5, 9]), device);
        let boxes = Tensor::<2>::from_floats([[4.0, 1.0, 8.0, 3.0]], device);
        let rois = Rois::new(boxes, Tensor::<1, Int>::from_ints([1], device)).to_normalized([5, 9]);
        let found = rois.boxes().into_data();
        assert_eq!(
            found.try_to_vec::<f32>().unwrap(),
            [0.25, 0.5, 0.75, 1.0],
            "{}",
            backend.name
        );
        let crop = crop_and_resize(image.clone(), &rois, CropAndResizeConfig::new([3, 5])).into_data();
        assert_eq!(
            crop,
            image.slice(s![1..2, .., 1..4, 4..9]).into_data(),
            "{}",
            backend.name
        );

        let one_pixel = Rois::from_images(vec![Tensor::<2>::from_floats([[0.0, 0.0, 0.0, 0.0]], device)]);
        let found = one_pixel.to_normalized([1, 1]).boxes().into_data();
        assert_eq!(found.try_to_vec::<f32>().unwrap(), [0.0; 4], "{}", backend.name);
        let none = Rois::from_images(vec![Tensor::<2>::zeros([0, 4], device)]).to_normalized([5, 9]);
        assert_eq!(none.boxes().dims(), [0, 4]);
    }
}

#[test]
fn pixels_are_told_from_normalized_boxes() {
    for backend in backends() {
        let device = &backend.device;
        let rois = |row: [f32; 4]| {
            let boxes = Tensor::<2>::from_floats([[-1.0, 0.0, 2.0, 1.0], row], device);
            Rois::new(boxes, Tensor::<1, Int>::from_ints([0, 1], device))
        };
        assert_eq!(rois([0.9, 0.1, 0.1, 0.5]).validate_normalized(2), Ok(()));
        for pixels in [[0.0, 0.0, 64.0, 64.0], [-1.5, 0.0, 1.0, 1.0]] {
            let error = rois(pixels).validate_normalized(2).expect_err("a box in pixels");
            let text = format!(
                "`boxes` row 1 is {:?}, but a normalized box must be from -1 to 2: `Rois::to_normalized` converts \
                 pixels",
                pixels.map(f64::from)
            );
            assert_eq!(error.to_string(), text, "{}", backend.name);
            assert_eq!(rois(pixels).validate(2), Ok(()));
        }
        let error = rois([0.0; 4])
            .validate_normalized(1)
            .expect_err("an image out of range");
        assert!(matches!(error, RoiError::BatchIndex { row: 1, .. }), "{error}");
        let error = rois([f32::NAN; 4]).validate_normalized(2).expect_err("NaN");
        assert!(matches!(error, RoiError::BoxNotFinite { row: 1, .. }), "{error}");
    }
}
