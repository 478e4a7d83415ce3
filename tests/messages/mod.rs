//! Messages by hand: right ones give the numbers of the server's backend, and wrong ones are refused in words. Here the
//! server is Flex, without a network.

use burn::backend::Flex;
use burn::backend::ops::{FloatTensorOps, IntTensorOps};
use burn::tensor::{DType, Shape, TensorData, read_sync};
use burn_ir::{CustomOpIr, HandleContainer, TensorId, TensorIr, TensorStatus};

use super::run::{about, run};
use crate::RoiAlignConfig;
use crate::backend::RegionKernels;
use crate::backend::remote::message::{Operation, VERSION, encode};
use crate::geometry::operator::RegionOperator;
use crate::ops::operator_config::ToRegionOperator;

mod changed;
mod wrong_messages;
mod wrong_rows;

type Handles = HandleContainer<<Flex as burn_ir::BackendIr>::Handle>;

const FEATURES: [usize; 4] = [2, 4, 9, 11];
const ROWS: usize = 3;
const BOXES: [f32; 4 * ROWS] = [1.0, 2.0, 7.5, 6.0, -3.0, 0.0, 4.0, 20.0, 2.0, 2.0, 3.0, 3.0];

fn numbers(count: usize) -> Vec<f32> {
    (0..count)
        .map(|index| ((index * 37) % 101) as f32 / 7.0 - 5.0)
        .collect()
}

fn tensor(id: u64, shape: &[usize], dtype: DType) -> TensorIr {
    TensorIr {
        id: TensorId::new(id),
        shape: Shape::from(shape.to_vec()),
        status: TensorStatus::ReadOnly,
        dtype,
    }
}

/// A session with features (1), boxes (2), batch indices (3) and numbers in the shape of the output (4).
fn session(boxes: &[f32], indices: [i64; ROWS], output: [usize; 4]) -> Handles {
    let device = Default::default();
    let mut handles = Handles::new();
    let floats = |numbers: Vec<f32>, shape: &[usize]| {
        Flex::float_from_data(TensorData::new(numbers, Shape::from(shape.to_vec())), &device)
    };
    let features = floats(numbers(FEATURES.iter().product()), &FEATURES);
    handles.register_float_tensor::<Flex>(&TensorId::new(1), features);
    handles.register_float_tensor::<Flex>(&TensorId::new(2), floats(boxes.to_vec(), &[ROWS, 4]));
    let indices = Flex::int_from_data(TensorData::new(indices.to_vec(), [ROWS]), &device);
    handles.register_int_tensor::<Flex>(&TensorId::new(3), indices);
    let like_output = floats(numbers(output.iter().product()), &output);
    handles.register_float_tensor::<Flex>(&TensorId::new(4), like_output);
    handles
}

/// A message for an operator, whose output (9) has the right shape.
fn message(operation: Operation, operator: &RegionOperator, output: [usize; 4]) -> CustomOpIr {
    let features = tensor(1, &FEATURES, DType::F32);
    let boxes = tensor(2, &[ROWS, 4], DType::F32);
    let indices = tensor(3, &[ROWS], DType::I64);
    let last = tensor(4, &output, DType::F32);
    let (inputs, output): (Vec<_>, &[usize]) = match operation {
        Operation::Pool => (vec![features, boxes, indices], &output),
        Operation::PoolLevel => (vec![features, boxes, indices, last], &output),
        Operation::AverageGradient => (vec![last, boxes, indices], &FEATURES),
        Operation::MaximumGradient => (vec![features, boxes, indices, last], &FEATURES),
        Operation::BoxesGradient => (vec![features, boxes, indices, last], &[ROWS, 4]),
    };
    let output = TensorIr::uninit(TensorId::new(9), Shape::from(output.to_vec()), DType::F32);
    CustomOpIr::with_scalars(operation.id(), &inputs, &[output], encode(operator))
}

/// What a message gives: numbers, or why it is refused.
fn outcome(operation: Operation, handles: &mut Handles, message: &CustomOpIr) -> Result<Vec<f32>, String> {
    run::<Flex>(operation, handles, message);
    let output = &message.outputs[0];
    if let Some(error) = handles.error(&output.id) {
        return Err(error.root().to_string());
    }
    let output = TensorIr {
        status: TensorStatus::ReadOnly,
        ..output.clone()
    };
    let tensor = handles.get_float_tensor::<Flex>(&output);
    let data = read_sync(Flex::float_into_data(tensor)).expect("Flex holds its tensors");
    assert_eq!(data.shape(), &output.shape);
    Ok(data.iter::<f32>().collect())
}

fn roi_align() -> RegionOperator {
    RoiAlignConfig::new([3, 2])
        .with_spatial_scale(0.5)
        .operator(false)
        .expect("right options")
}

const OUTPUT: [usize; 4] = [ROWS, 4, 3, 2];

#[test]
fn a_server_says_what_it_can_do() {
    let mut handles = Handles::new();
    let output = TensorIr::uninit(TensorId::new(1), Shape::new([5]), DType::F32);
    about::<Flex>(
        &mut handles,
        &CustomOpIr::new("burn_roi.about", &[], &[output]),
        &Default::default(),
    );
    let answer = handles.get_float_tensor::<Flex>(&tensor(1, &[5], DType::F32));
    let answer = read_sync(Flex::float_into_data(answer)).expect("Flex holds its tensors");
    assert_eq!(
        answer.iter::<f32>().collect::<Vec<_>>(),
        [VERSION as f32, 1.0, 1.0, 1.0, 1.0]
    );
}

/// The kernels of Flex by themselves: a message changes no bit of them.
#[test]
fn a_right_message_gives_the_bits_of_the_backend() {
    let message = message(Operation::Pool, &roi_align(), OUTPUT);
    let mut handles = session(&BOXES, [0, 1, 1], OUTPUT);
    let found = outcome(Operation::Pool, &mut handles, &message).expect("a right message");
    let features = handles.get_float_tensor::<Flex>(&message.inputs[0]);
    let boxes = handles.get_float_tensor::<Flex>(&message.inputs[1]);
    let indices = handles.get_int_tensor::<Flex>(&message.inputs[2]);
    let regions = crate::regions::Regions::<Flex> {
        boxes,
        batch_indices: indices,
        kind: roi_align().region_kind(),
    };
    let on_host = regions.on_host(FEATURES[0]).expect("right regions");
    let call = regions.call(on_host, roi_align(), &Shape::new(FEATURES));
    let expected = Flex::pool(features, call);
    let expected = read_sync(Flex::float_into_data(expected)).expect("Flex holds its tensors");
    assert!(found.iter().copied().eq(expected.iter::<f32>()));
}
