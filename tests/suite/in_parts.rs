//! Calls of more channels than NdArray computes at once, against calls of half of them each.

use burn::backend::Dispatch;
use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::primitive::Backward;
use burn_roi::*;

use crate::backends::backends;
use crate::problem::{Operator, random_numbers};

/// 12.9 million numbers. The composition of tensor operations copies at most 12.6 million of a map at once, and half as
/// many for gradients.
const SHAPE: [usize; 4] = [1, 340, 190, 200];

/// The whole map, and a part of it.
const BOXES: [[f32; 4]; 2] = [[0.0, 0.0, 199.0, 189.0], [20.3, 100.7, 90.1, 140.9]];

/// A call and its gradients.
struct Call {
    name: &'static str,
    forward: Box<dyn Fn(Tensor<4>) -> Tensor<4>>,
    backward: Box<dyn Fn(Tensor<4>, Tensor<4>) -> Backward<Dispatch>>,
}

fn calls(device: &Device) -> Vec<Call> {
    let align = RoiAlignConfig::new([3, 2]).with_sampling_ratio(9);
    // A gradient holds the samples of 3 of these elements at once with 170 channels, and of all 6 with 85.
    let largest = align.clone().with_reduction(Reduction::Max).with_sampling_ratio(60);
    vec![
        call("an average", Operator::RoiAlign(align), device),
        call("a maximum", Operator::RoiAlign(largest), device),
        call("bins", Operator::RoiPool(RoiPoolConfig::new([30, 30])), device),
        call("an integral", Operator::PrRoiPool(PrRoiPoolConfig::new([3, 2])), device),
        rotated(device),
    ]
}

fn call(name: &'static str, operator: Operator, device: &Device) -> Call {
    let rois = Rois::from_images(vec![Tensor::<2>::from_floats(BOXES, device)]);
    let of_backward = rois.clone();
    let of_call = operator.clone();
    Call {
        name,
        forward: Box::new(move |features| of_call.call(features, &rois).expect("the call is right")),
        backward: Box::new(move |gradient, features| {
            let backward = operator.backward(
                gradient.into_dispatch(),
                features.into_dispatch(),
                (&of_backward).into(),
            );
            backward.expect("the call is right")
        }),
    }
}

fn rotated(device: &Device) -> Call {
    let config = RoiAlignRotatedConfig::new([3, 2]).with_sampling_ratio(9);
    let boxes = [[100.0, 95.0, 180.0, 170.0, 30.0], [50.0, 120.0, 70.0, 40.0, 80.0]];
    let rois = RotatedRois::from_images(vec![Tensor::<2>::from_floats(boxes, device)]);
    let of_backward = rois.clone();
    let of_call = config.clone();
    Call {
        name: "rotated boxes",
        forward: Box::new(move |features| roi_align_rotated(features, &rois, of_call.clone())),
        backward: Box::new(move |gradient, features| {
            let (gradient, features) = (gradient.into_dispatch(), features.into_dispatch());
            primitive::backward::<Dispatch>(gradient, features, (&of_backward).into(), config.clone())
        }),
    }
}

#[test]
fn many_channels_are_their_halves() {
    let numbers = random_numbers(3, SHAPE.iter().product());
    for backend in backends().iter().filter(|backend| backend.name == "ndarray") {
        let device = &backend.device;
        let features = Tensor::<4>::from_data(TensorData::new(numbers.clone(), SHAPE), device);
        for call in calls(device) {
            let check = |what: &str, off: Tensor<1>, most: f32| {
                let off = off.into_scalar::<f32>();
                assert!(off <= most, "{}: {what} of {} is off by {off}", backend.name, call.name);
            };
            let output = (call.forward)(features.clone());
            let halves = halves(&features).map(|half| (call.forward)(half));
            check("the output", (output - Tensor::cat(halves.into(), 1)).abs().max(), 1e-5);
            check_gradients(&call, features.clone().narrow(1, 0, SHAPE[1] / 2), &check);
        }
    }
}

fn check_gradients(call: &Call, features: Tensor<4>, check: &dyn Fn(&str, Tensor<1>, f32)) {
    let shape = (call.forward)(features.clone()).shape();
    let gradient = TensorData::new(random_numbers(4, shape.num_elements()), shape);
    let gradient = Tensor::<4>::from_data(gradient, &features.device());
    let backward = |gradient, features| {
        let backward = (call.backward)(gradient, features);
        let of_features = Tensor::<4>::from_dispatch(backward.features());
        (of_features, Tensor::<2>::from_dispatch(backward.boxes()))
    };
    let [(first, first_boxes), (second, second_boxes)] = {
        let [[first, second], [first_features, second_features]] = [halves(&gradient), halves(&features)];
        [backward(first, first_features), backward(second, second_features)]
    };
    let (of_features, of_boxes) = backward(gradient, features);
    let off = (of_features - Tensor::cat(vec![first, second], 1)).abs().max();
    check("the gradient of features", off, 1e-5);
    let most = 1e-4 * of_boxes.clone().abs().max().into_scalar::<f32>();
    let off = (of_boxes - first_boxes - second_boxes).abs().max();
    check("the gradient of boxes", off, most);
}

/// The first and the second half of the channels.
fn halves(tensor: &Tensor<4>) -> [Tensor<4>; 2] {
    let count = tensor.dims()[1] / 2;
    [0, count].map(|first| tensor.clone().narrow(1, first, count))
}
