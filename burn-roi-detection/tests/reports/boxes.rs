//! Boxes of f64, of half precision, and of class-agnostic regression.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::AngleConvention;
use burn_roi_detection::onnx;
use burn_roi_detection::*;

use crate::backends::{Backend, backends};

/// Two equal boxes in metres of UTM. In f32 their height is 0, since neighbours are 0.5 apart there.
const UTM: [[f64; 4]; 2] = [[500_000.0, 4_649_776.30, 500_001.0, 4_649_776.70]; 2];

fn with_dtype(dtype: DType) -> Vec<Backend> {
    let backends = backends().into_iter();
    backends.filter(|backend| backend.supports(dtype)).collect()
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

fn ints<const D: usize>(tensor: Tensor<D, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}

#[test]
fn nms_of_f64_boxes_is_in_f64() {
    for Backend { device, name } in with_dtype(DType::F64) {
        let boxes = || Tensor::<2>::from_data(UTM, (&device, DType::F64));
        let scores = || Tensor::<1>::from_floats([0.9, 0.8], &device);
        let one_class = Tensor::<1, Int>::from_ints([7, 7], &device);
        assert_eq!(ints(nms(boxes(), scores(), 0.5)), [0], "{name}");
        assert_eq!(ints(batched_nms(boxes(), scores(), one_class, 0.5)), [0], "{name}");
        // In f32 the boxes have no area, and an IoU of 0 / 0 suppresses nothing.
        assert_eq!(ints(nms(boxes().cast(DType::F32), scores(), 0.5)), [0, 1], "{name}");
    }
}

#[test]
fn onnx_suppression_of_f64_boxes_is_in_f64() {
    for Backend { device, name } in with_dtype(DType::F64) {
        let scores = || Tensor::<3>::from_floats([[[0.9, 0.8]]], &device);
        let options = onnx::NonMaxSuppression::new()
            .with_max_output_boxes_per_class(9)
            .with_iou_threshold(0.5);
        let boxes = Tensor::<3>::from_data([UTM], (&device, DType::F64));
        let kept = onnx::non_max_suppression(boxes, scores(), &options);
        assert_eq!(ints(kept), [0, 0, 0], "{name}");

        // The same boxes by their centres.
        let centred = [[500_000.5, 4_649_776.5, 1.0, 0.4]; 2];
        let boxes = Tensor::<3>::from_data([centred], (&device, DType::F64));
        let kept = onnx::non_max_suppression(boxes, scores(), &options.with_center_point_box(true));
        assert_eq!(ints(kept), [0, 0, 0], "{name}");
    }
}

#[test]
fn rotated_boxes_of_f64_are_compared_in_f64() {
    for Backend { device, name } in with_dtype(DType::F64) {
        // The boxes touch. In f32 both centres are at 4649776.5, and the boxes are equal.
        let rows = [
            [500_000.0, 4_649_776.3, 1.0, 0.4, 0.0],
            [500_000.0, 4_649_776.7, 1.0, 0.4, 0.0],
        ];
        let boxes = || Tensor::<2>::from_data(rows, (&device, DType::F64));
        let scores = || Tensor::<1>::from_floats([0.9, 0.8], &device);
        let convention = AngleConvention::DEGREES_COUNTER_CLOCKWISE;
        assert_eq!(ints(nms_rotated(boxes(), scores(), 0.5, convention)), [0, 1], "{name}");
        let iou = values(&box_iou_rotated(boxes(), boxes(), convention, OverlapMode::Iou));
        assert!(iou[0] == 1.0 && iou[1] < 1e-8, "{name}: {iou:?}");
    }
}

#[test]
fn detections_and_proposals_of_f64_are_in_f64() {
    for Backend { device, name } in with_dtype(DType::F64) {
        let double = (&device, DType::F64);
        let (logits, deltas) = (
            Tensor::<2>::from_floats([[0.0, 4.0], [0.0, 3.0]], &device),
            Tensor::<2>::zeros([2, 8], &device),
        );
        let boxes = Tensor::<2>::from_data(UTM, double);
        let config = DetectionConfig::new();
        let image_sizes = [[5_000_000, 600_000]];
        let images = postprocess_detections(logits, deltas, vec![boxes.clone()], &image_sizes, &config);
        assert_eq!(images[0].boxes.dtype(), DType::F64, "{name}");
        // In f64 a coordinate of 4.6 million is exact to 1e-9.
        near(&values(&images[0].boxes), &UTM[0], 2e-9);

        let objectness = Tensor::<2>::from_floats([[4.0, 3.0]], &device);
        let config = ProposalConfig::new();
        let (boxes, _) = filter_proposals(boxes.unsqueeze_dim(0), objectness, &image_sizes, &[2], &config);
        assert_eq!(values(&boxes[0]), UTM[0], "{name}");
    }
}

/// Not representable in bf16, which rounds it to `[1008, 508, 1104, 612]`.
const ODD: [[f64; 4]; 1] = [[1003.0, 507.0, 1101.0, 613.0]];

#[test]
fn deltas_of_half_precision_leave_boxes_of_f32_as_they_are() {
    for dtype in [DType::BF16, DType::F16] {
        for Backend { device, name } in with_dtype(dtype) {
            let boxes = || Tensor::<2>::from_data(ODD, &device);
            let deltas = Tensor::<2>::zeros([1, 4], (&device, dtype));
            let decoded = BoxCoder::new([1.0; 4]).decode(deltas, boxes());
            assert_eq!(decoded.dtype(), DType::F32, "{name}");
            assert_eq!(values(&decoded), ODD[0], "{name} {dtype:?}");

            let logits = Tensor::<2>::from_data([[0.0, 4.0]], (&device, dtype));
            let deltas = Tensor::<2>::zeros([1, 8], (&device, dtype));
            let config = DetectionConfig::new();
            let images = postprocess_detections(logits, deltas, vec![boxes()], &[[900, 1200]], &config);
            assert_eq!(values(&images[0].boxes), ODD[0], "{name} {dtype:?}");
            assert_eq!((images[0].boxes.dtype(), images[0].scores.dtype()), (DType::F32, dtype));

            let objectness = Tensor::<2>::from_data([[4.0]], (&device, dtype));
            let config = ProposalConfig::new();
            let (proposals, scores) =
                filter_proposals(boxes().unsqueeze_dim(0), objectness, &[[900, 1200]], &[1], &config);
            assert_eq!(values(&proposals[0]), ODD[0], "{name} {dtype:?}");
            assert_eq!((proposals[0].dtype(), scores[0].dtype()), (DType::F32, dtype));
        }
    }
}

#[test]
fn deltas_of_half_precision_have_a_gradient_of_their_dtype() {
    for Backend { device, name } in with_dtype(DType::BF16) {
        let device = device.autodiff();
        let deltas = Tensor::<2>::zeros([1, 4], (&device, DType::BF16)).require_grad();
        let boxes = Tensor::<2>::from_data(ODD, &device);
        let decoded = BoxCoder::new([1.0; 4]).decode(deltas.clone(), boxes);
        let gradients = decoded.slice_dim(2, 2..4).sum().backward();
        let gradient = deltas.grad(&gradients).expect("the deltas are differentiated");
        assert_eq!(gradient.dtype(), DType::BF16, "{name}");
        // x2 = cx + dx * 98 + exp(dw) * 49, and y2 = cy + dy * 106 + exp(dh) * 53.
        assert_eq!(values(&gradient), [98.0, 106.0, 49.0, 53.0], "{name}");
    }
}

#[test]
fn boxes_of_half_precision_are_rounded_once() {
    for Backend { device, name } in with_dtype(DType::BF16) {
        let half = (&device, DType::BF16);
        let coder = BoxCoder::new([1.0; 4]);
        let boxes = || Tensor::<2>::from_data([[1000.0, 504.0, 1104.0, 616.0]], half);
        // 13 / 128 is representable: the centre moves by 10.5625 to 1062.5625. Half of 104 is 52, so that x1 is
        // 1010.5625, between 1008 and 1012, and x2 is 1114.5625, between 1112 and 1120. Neighbours are 4 and 8 apart.
        // A centre that is rounded to 1064 first leads to 1116, which is rounded to 1120.
        let deltas = || Tensor::<2>::from_data([[13.0 / 128.0, 0.0, 0.0, 0.0]], half);
        let decoded = coder.decode(deltas(), boxes());
        assert_eq!(decoded.dtype(), DType::BF16, "{name}");
        assert_eq!(values(&decoded), [1012.0, 504.0, 1112.0, 616.0], "{name}");
        // The same from deltas in f32.
        let decoded = coder.decode(deltas().cast(DType::F32), boxes());
        assert_eq!(values(&decoded), [1012.0, 504.0, 1112.0, 616.0], "{name}");

        // The centres are 1052 and 1058. In bf16 both would be 1056, and dx would be 0.
        let reference = Tensor::<2>::from_data([[1004.0, 504.0, 1112.0, 616.0]], half);
        let encoded = coder.encode(reference, boxes());
        assert_eq!(encoded.dtype(), DType::BF16, "{name}");
        near(
            &values(&encoded),
            &[6.0 / 104.0, 0.0, (108.0f64 / 104.0).ln(), 0.0],
            2e-4,
        );
    }
}

#[test]
fn f64_on_either_side_is_decoded_in_f64() {
    for Backend { device, name } in with_dtype(DType::F64) {
        let coder = BoxCoder::new([1.0; 4]);
        let utm = Tensor::<2>::from_data(UTM, (&device, DType::F64));
        let decoded = coder.decode(Tensor::zeros([2, 4], (&device, DType::F32)), utm);
        assert_eq!(decoded.dtype(), DType::F64, "{name}");
        near(&values(&decoded)[..4], &UTM[0], 2e-9);

        // dx of 1e-9 moves a box of f32 by 1e-9 * 16777216, which f32 does not resolve before it is rounded.
        let boxes = Tensor::<2>::from_data([[0.0, 0.0, 16_777_216.0, 1.0]], (&device, DType::F32));
        let deltas = Tensor::<2>::from_data([[1e-9, 0.0, 0.0, 0.0]], (&device, DType::F64));
        let decoded = coder.decode(deltas, boxes);
        assert_eq!(decoded.dtype(), DType::F32, "{name}");
        assert_eq!(values(&decoded)[0], f64::from(0.016_777_216f32), "{name}");
    }
}

/// K = 4 proposals of three images, of which the second has none, and 3 classes.
fn head(device: &Device) -> (Tensor<2>, Tensor<2>, Vec<Tensor<2>>) {
    let logits = [[0.1, 2.0, 1.5], [0.0, 0.3, 0.2], [1.0, -0.5, 2.5], [0.2, 1.0, 1.1]];
    let deltas = [
        [0.5, -0.3, 0.2, 0.1],
        [0.0, 0.0, 0.0, 0.0],
        [-1.0, 0.7, 0.3, -0.4],
        [0.1, 0.2, 0.3, 0.4],
    ];
    let first = [[2.0, 3.0, 30.0, 41.0], [4.0, 5.0, 28.0, 39.0]];
    let third = [[10.0, 0.0, 60.0, 20.0], [0.0, 0.0, 12.0, 55.0]];
    let proposals = vec![
        Tensor::<2>::from_floats(first, device),
        Tensor::<2>::zeros([0, 4], device),
        Tensor::<2>::from_floats(third, device),
    ];
    (
        Tensor::from_floats(logits, device),
        Tensor::from_floats(deltas, device),
        proposals,
    )
}

#[test]
fn class_agnostic_detections_are_those_of_repeated_deltas() {
    for Backend { device, name } in backends() {
        let (logits, deltas, proposals) = head(&device);
        let config = DetectionConfig::new();
        let call = |deltas: Tensor<2>| {
            let images = [[64, 64], [8, 8], [50, 70]];
            postprocess_detections(logits.clone(), deltas, proposals.clone(), &images, &config)
        };
        let (found, expected) = (call(deltas.clone()), call(deltas.repeat_dim(1, 3)));
        let bits = |images: &[Detections]| -> Vec<_> {
            let image = |image: &Detections| (values(&image.boxes), values(&image.scores), ints(image.labels.clone()));
            images.iter().map(image).collect()
        };
        assert_eq!(bits(&found), bits(&expected), "{name}");
        let counts: Vec<usize> = found.iter().map(Detections::len).collect();
        assert!(counts[0] > 1 && counts[1] == 0 && counts[2] > 1, "{name}: {counts:?}");
    }
}

#[test]
fn a_class_agnostic_predictor_has_four_deltas() {
    for Backend { device, name } in backends() {
        let config = FastRcnnPredictorConfig::new(6, 3).with_class_agnostic_regression(true);
        let predictor = config.init(&device);
        for count in [2, 0] {
            let (logits, deltas) = predictor.forward(Tensor::ones([count, 6], &device));
            assert_eq!((logits.dims(), deltas.dims()), ([count, 3], [count, 4]), "{name}");
        }
        let (_, deltas) = FastRcnnPredictorConfig::new(6, 3)
            .init(&device)
            .forward(Tensor::ones([2, 6], &device));
        assert_eq!(deltas.dims(), [2, 12], "{name}");
    }
}

#[test]
fn background_alone_gives_no_detections() {
    for Backend { device, name } in backends() {
        let boxes = Tensor::<2>::from_data(TensorData::from([[0.0f32, 0.0, 4.0, 4.0]]), &device);
        let (logits, deltas) = (Tensor::zeros([1, 1], &device), Tensor::zeros([1, 4], &device));
        let images = postprocess_detections(logits, deltas, vec![boxes], &[[8, 8]], &DetectionConfig::new());
        assert!(images[0].is_empty(), "{name}");
    }
}

#[track_caller]
fn near(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    let fits = actual
        .iter()
        .zip(expected)
        .all(|(actual, expected)| (actual - expected).abs() <= tolerance);
    assert!(fits, "{actual:?} should be {expected:?}");
}
