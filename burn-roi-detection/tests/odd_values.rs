//! Values that are NaN or infinite, and sizes of 0: no function panics, and no result is NaN or out of its range.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi_detection::onnx::{NonMaxSuppression, try_non_max_suppression, try_top_k};
use burn_roi_detection::*;

use crate::backends::{Backend, backends};
use crate::bad_input::floats;

const ODD: [f32; 7] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    1e-40,
    -0.0,
];

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

fn ints<const D: usize>(tensor: &Tensor<D, Int>) -> Vec<i64> {
    tensor.to_data().iter::<i64>().collect()
}

/// Rows of 0.5 and 1, with `odd` at one place of the first row.
fn with_odd<const D: usize>(odd: f32, place: usize, shape: [usize; D], device: &Device) -> Tensor<D> {
    let count = shape.iter().product();
    let mut elements: Vec<f32> = (0..count).map(|place| if place % 4 < 2 { 0.5 } else { 1.0 }).collect();
    elements[place] = odd;
    Tensor::from_data(TensorData::new(elements, shape), device)
}

/// Calls a test with each odd value, at each of some places, on each backend.
fn on_each(places: usize, test: impl Fn(f32, usize, &Device)) {
    for backend in backends() {
        for odd in ODD {
            for place in 0..places {
                println!("{}: {odd} at {place}", backend.name);
                test(odd, place, &backend.device);
            }
        }
    }
}

#[track_caller]
fn assert_within(boxes: &Tensor<2>, [height, width]: [usize; 2]) {
    for row in values(boxes).as_chunks::<4>().0 {
        let &[x1, y1, x2, y2] = row;
        assert!(0.0 <= x1 && x1 <= x2 && x2 <= width as f64, "{row:?}");
        assert!(0.0 <= y1 && y1 <= y2 && y2 <= height as f64, "{row:?}");
    }
}

#[test]
fn boxes_may_have_any_coordinate() {
    on_each(4, |odd, place, device| {
        let boxes = || with_odd(odd, place, [2, 4], device);
        let other = || with_odd(0.5, 0, [2, 4], device);
        assert_eq!(try_box_area(boxes()).unwrap().dims(), [2]);
        assert_eq!(try_box_iou(boxes(), other()).unwrap().dims(), [2, 2]);
        let clipped = values(&try_clip_boxes_to_image(boxes(), [3, 3]).unwrap());
        let fits = |value: &f64| value.is_nan() || (0.0..=3.0).contains(value);
        assert!(clipped.iter().all(fits), "{clipped:?}");
        assert_eq!(clipped.iter().any(|value| value.is_nan()), odd.is_nan());
        assert_eq!(
            *ints(&try_remove_small_boxes(boxes(), 0.25).unwrap()).last().unwrap(),
            1
        );

        let scores = || Tensor::<1>::from_floats([0.9, 0.8], device);
        let classes = Tensor::<1, Int>::zeros([2], device);
        assert_eq!(ints(&try_nms(boxes(), scores(), 0.5).unwrap())[0], 0);
        assert_eq!(ints(&try_batched_nms(boxes(), scores(), classes, 0.5).unwrap())[0], 0);
        // Along x and y, or along z.
        let deep = || with_odd(odd, if place < 2 { place } else { place + 2 }, [2, 6], device);
        assert_eq!(try_box_volume(deep()).unwrap().dims(), [2]);
        assert_eq!(try_box_iou_3d(deep(), deep()).unwrap().dims(), [2, 2]);
        let classes = Tensor::<1, Int>::zeros([2], device);
        assert_eq!(ints(&try_nms_3d(deep(), scores(), 0.5).unwrap())[0], 0);
        assert_eq!(ints(&try_batched_nms_3d(deep(), scores(), classes, 0.5).unwrap())[0], 0);
        let kept = try_nms(other(), with_odd(odd, 0, [2], device), 0.5).unwrap();
        assert_eq!(ints(&kept).len(), 1);

        let options = NonMaxSuppression::new().with_max_output_boxes_per_class(9);
        for options in [options.clone(), options.with_center_point_box(true)] {
            let kept = try_non_max_suppression(boxes().unsqueeze(), scores().reshape([1, 1, 2]), &options);
            assert_eq!(ints(&kept.unwrap())[..3], [0, 0, 0]);
        }

        let coder = BoxCoder::new([1.0; 4]);
        assert_eq!(coder.try_encode(boxes(), other()).unwrap().dims(), [2, 4]);
        assert_eq!(coder.try_encode(other(), boxes()).unwrap().dims(), [2, 4]);
        let decoded = coder.try_decode(boxes(), other()).unwrap();
        // The other row is as it is: dx and dy of half a side, and a growth by e.
        let expected = 0.5 + 0.25 + 0.25 - 0.25 * 1f64.exp();
        assert!((values(&decoded)[4] - expected).abs() < 1e-6, "{decoded}");
        assert_eq!(coder.try_decode(other(), boxes()).unwrap().dims(), [2, 1, 4]);
    });
}

#[test]
fn detections_and_proposals_are_within_the_image() {
    on_each(4, |odd, place, device| {
        let config = DetectionConfig {
            score_threshold: 0.0,
            ..DetectionConfig::new()
        };
        let call = |logits, deltas, boxes| {
            let images = try_postprocess_detections(logits, deltas, vec![boxes], &[[3, 3]], &config).unwrap();
            assert_within(&images[0].boxes, [3, 3]);
            let scores = values(&images[0].scores);
            assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
            assert!(ints(&images[0].labels).iter().all(|&label| label == 1));
            images[0].len()
        };
        let plain = |columns| with_odd(0.5, 0, [2, columns], device);
        let odd_tensor = |columns| with_odd(odd, place, [2, columns], device);
        assert!(call(odd_tensor(2), plain(8), plain(4)) > 0);
        for columns in [4, 8] {
            assert!(call(plain(2), odd_tensor(columns), plain(4)) > 0);
            assert!(call(plain(2), plain(columns), odd_tensor(4)) > 0);
        }

        let config = ProposalConfig::new();
        let call = |proposals: Tensor<2>, objectness: Tensor<2>| {
            let (boxes, scores) =
                try_filter_proposals(proposals.unsqueeze(), objectness, &[[3, 3]], &[1, 1], &config).unwrap();
            assert_within(&boxes[0], [3, 3]);
            let scores = values(&scores[0]);
            assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
            assert!(!scores.is_empty());
        };
        call(odd_tensor(4), with_odd(0.5, 0, [1, 2], device));
        call(plain(4), with_odd(odd, place % 2, [1, 2], device));
    });
}

#[test]
fn losses_of_odd_values_are_no_error() {
    on_each(4, |odd, place, device| {
        let labels = [Tensor::<1, Int>::from_ints([1, 0], device)];
        let plain = |columns| with_odd(0.5, 0, [2, columns], device);
        let odd_tensor = |columns| with_odd(odd, place, [2, columns], device);
        let loss = |logits, deltas, targets| try_fastrcnn_loss(logits, deltas, &labels, &[targets]).unwrap();
        for columns in [4, 8] {
            loss(plain(2), odd_tensor(columns), plain(4));
            loss(odd_tensor(2), plain(columns), odd_tensor(4));
        }
        let sampler = BalancedPositiveNegativeSampler::new(4, 0.5);
        let (objectness, deltas) = (with_odd(odd, place % 2, [1, 2], device), odd_tensor(4).unsqueeze());
        let permutation = &mut random_permutations(0);
        assert!(try_rpn_loss(objectness, deltas, &labels, &[odd_tensor(4)], &sampler, permutation).is_ok());
    });
}

#[test]
fn nothing_gives_nothing() {
    for Backend { device, name } in &backends() {
        let none = || floats([0, 4], device);
        assert_eq!(try_box_area(none()).unwrap().dims(), [0], "{name}");
        assert_eq!(
            try_clip_boxes_to_image(none(), [3, 3]).unwrap().dims(),
            [0, 4],
            "{name}"
        );
        assert_eq!(try_remove_small_boxes(none(), 1.0).unwrap().dims(), [0], "{name}");
        assert_eq!(try_nms(none(), floats([0], device), 0.5).unwrap().dims(), [0], "{name}");
        let deep = || floats([0, 6], device);
        assert_eq!(try_box_volume(deep()).unwrap().dims(), [0], "{name}");
        let ious = try_box_iou_3d(deep(), floats([2, 6], device)).unwrap();
        assert_eq!(ious.dims(), [0, 2], "{name}");
        assert_eq!(
            try_nms_3d(deep(), floats([0], device), 0.5).unwrap().dims(),
            [0],
            "{name}"
        );
        let coder = BoxCoder::new([1.0; 4]);
        assert_eq!(coder.try_encode(none(), none()).unwrap().dims(), [0, 4], "{name}");
        assert_eq!(
            coder.try_decode(floats([0, 8], device), none()).unwrap().dims(),
            [0, 2, 4],
            "{name}"
        );
        assert_eq!(
            coder
                .try_decode(floats([2, 0], device), floats([2, 4], device))
                .unwrap()
                .dims(),
            [2, 0, 4]
        );
        let (elements, indices) = try_top_k(floats([0], device), 0, 0, true).unwrap();
        assert_eq!((elements.dims(), indices.dims()), ([0], [0]), "{name}");

        let config = ProposalConfig::new();
        let (boxes, scores) = try_filter_proposals(
            floats([2, 0, 4], device),
            floats([2, 0], device),
            &[[3, 3]; 2],
            &[],
            &config,
        )
        .unwrap();
        assert!(boxes.iter().all(|boxes| boxes.dims() == [0, 4]), "{name}");
        assert!(scores.iter().all(|scores| scores.dims() == [0]), "{name}");
    }
}

/// Two images without proposals, and one of them with a proposal.
#[test]
fn images_without_proposals_have_no_detections() {
    for Backend { device, name } in &backends() {
        let config = DetectionConfig::new();
        let proposals = |counts: [usize; 2]| counts.map(|count| floats([count, 4], device)).to_vec();
        for (columns, classes) in [(12, 3), (4, 3), (4, 1), (4, 0), (0, 0)] {
            for counts in [[0, 0], [0, 1], [1, 0]] {
                let count = counts.iter().sum();
                let (logits, deltas) = (floats([count, classes], device), floats([count, columns], device));
                let images =
                    try_postprocess_detections(logits, deltas, proposals(counts), &[[3, 3]; 2], &config).unwrap();
                assert_eq!(images.len(), 2, "{name}");
                // Boxes of zeros are too small.
                assert!(images.iter().all(Detections::is_empty), "{name}");
            }
        }
    }
}

/// Without classes no label is in range.
#[test]
fn a_loss_without_classes_has_no_label() {
    for Backend { device, .. } in &backends() {
        let labels = [Tensor::<1, Int>::zeros([1], device)];
        for columns in [0, 4] {
            let (logits, deltas) = (floats([1, 0], device), floats([1, columns], device));
            let error = try_fastrcnn_loss(logits, deltas, &labels, &[floats([1, 4], device)]).unwrap_err();
            let text = "`labels` row 0 is 0, but must be at least 0 and below the 0 classes";
            assert_eq!(error.to_string(), text);
        }
    }
}

#[test]
fn empty_boxes_keep_their_dtype() {
    for backend in backends().into_iter().filter(|backend| backend.supports(DType::F64)) {
        let device = &backend.device;
        let boxes = || Tensor::<2>::zeros([0, 4], (device, DType::F64));
        let decoded = BoxCoder::new([1.0; 4]).decode(floats([0, 4], device), boxes());
        assert_eq!(decoded.dtype(), DType::F64, "{}", backend.name);
        let (logits, deltas) = (floats([0, 2], device), floats([0, 8], device));
        let images = postprocess_detections(logits, deltas, vec![boxes()], &[[3, 3]], &DetectionConfig::new());
        assert_eq!(images[0].boxes.dtype(), DType::F64, "{}", backend.name);
    }
}
