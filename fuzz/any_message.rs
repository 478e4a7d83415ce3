//! Any message to a server of Flex, from a client that is not trusted: it is refused or computed. It never panics,
//! hangs or takes memory without bound. `scripts/fuzz` runs it.

#![no_main]

use arbitrary::{Result, Unstructured};
use burn::backend::Flex;
use burn::server::CustomOpRegistry;
use burn::tensor::{DType, Shape, TensorData};
use burn_ir::{CustomOpIr, OperationIr, ScalarIr, TensorId, TensorIr, TensorStatus};
use burn_router::TensorInterpreter;
use libfuzzer_sys::fuzz_target;

/// The operations, and the tensors that each takes.
const OPERATIONS: [(&str, &[u64]); 6] = [
    ("burn_roi.about", &[]),
    ("burn_roi.pool", &[FEATURES, BOXES, INDICES]),
    ("burn_roi.pool_level", &[FEATURES, BOXES, INDICES, OUTPUT]),
    ("burn_roi.average_gradient", &[OUTPUT, BOXES, INDICES]),
    ("burn_roi.maximum_gradient", &[FEATURES, BOXES, INDICES, OUTPUT]),
    ("burn_roi.boxes_gradient", &[FEATURES, BOXES, INDICES, OUTPUT]),
];

// The tensors of a session. Another id names none.
const FEATURES: u64 = 1;
const BOXES: u64 = 2;
const INDICES: u64 = 3;
const OUTPUT: u64 = 4;
const ROTATED_BOXES: u64 = 5;
const BOXES_AND_OFFSETS: u64 = 6;
const FLOATS: [u64; 6] = [FEATURES, BOXES, OUTPUT, ROTATED_BOXES, BOXES_AND_OFFSETS, 7];
const INTEGERS: [u64; 2] = [INDICES, 8];
const RESULT: u64 = 9;

fuzz_target!(|bytes: &[u8]| {
    // Bytes that end too early are no message.
    let _ = send(&mut Unstructured::new(bytes));
});

fn send(bytes: &mut Unstructured) -> Result<()> {
    let mut operations = CustomOpRegistry::<Flex>::new();
    burn_roi::remote::register(&mut operations);
    let mut session = TensorInterpreter::with_custom_ops(Default::default(), operations);
    for id in [FEATURES, OUTPUT] {
        let numbers = (0..shape(id).num_elements()).map(|number| (number % 13) as f32 - 6.0);
        session.register_tensor_data_id(TensorId::new(id), TensorData::new(numbers.collect(), shape(id)));
    }
    for id in [BOXES, ROTATED_BOXES, BOXES_AND_OFFSETS] {
        let numbers = (0..shape(id).num_elements()).map(|_| number(bytes));
        let numbers: Vec<f32> = numbers.collect::<Result<_>>()?;
        session.register_tensor_data_id(TensorId::new(id), TensorData::new(numbers, shape(id)));
    }
    let indices: Vec<i64> = (0..3).map(|_| bytes.int_in_range(-1..=2)).collect::<Result<_>>()?;
    session.register_tensor_data_id(TensorId::new(INDICES), TensorData::new(indices, shape(INDICES)));
    session.register_op(OperationIr::Custom(message(bytes)?));
    Ok(())
}

fn shape(id: u64) -> Shape {
    match id {
        FEATURES => Shape::new([2, 4, 9, 11]),
        BOXES => Shape::new([3, 4]),
        INDICES => Shape::new([3]),
        ROTATED_BOXES => Shape::new([3, 5]),
        BOXES_AND_OFFSETS => Shape::new([3, 16]),
        _ => Shape::new([3, 4, 3, 2]),
    }
}

/// A number about a map of 9 x 11, or of any bits.
fn number(bytes: &mut Unstructured) -> Result<f32> {
    match bytes.ratio(1, 8)? {
        true => bytes.arbitrary(),
        false => Ok(f32::from(bytes.arbitrary::<i8>()?) / 8.0),
    }
}

/// A right message for the operator that the last bytes encode, but for what other bytes change.
fn message(bytes: &mut Unstructured) -> Result<CustomOpIr> {
    let (name, inputs) = bytes.choose(&OPERATIONS)?;
    let mut inputs: Vec<TensorIr> = inputs.iter().map(|&id| tensor(bytes, id)).collect::<Result<_>>()?;
    if bytes.ratio(1, 16)? {
        inputs.pop();
    }
    let mut result = tensor(bytes, RESULT)?;
    result.id = TensorId::new(RESULT);
    result.status = TensorStatus::NotInit;
    if matches!(*name, "burn_roi.average_gradient" | "burn_roi.maximum_gradient") && !bytes.ratio(1, 8)? {
        result.shape = shape(FEATURES);
    }
    let version = if bytes.ratio(1, 16)? { bytes.arbitrary()? } else { 2 };
    let longer = if bytes.ratio(1, 16)? { bytes.arbitrary()? } else { 0 };
    let encoding = bytes.bytes(bytes.len())?;
    let length = (encoding.len() as u64).wrapping_add(longer);
    let words = encoding.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let scalars = [version, length].into_iter().chain(words).map(ScalarIr::UInt);
    Ok(CustomOpIr::with_scalars(*name, &inputs, &[result], scalars.collect()))
}

/// What a message says of a tensor. Floats are never named as integers, and integers never as floats: burn-flex itself
/// panics then, which ends the session.
fn tensor(bytes: &mut Unstructured, right: u64) -> Result<TensorIr> {
    let is_index = right == INDICES;
    let id = match bytes.ratio(1, 4)? {
        true if is_index => *bytes.choose(&INTEGERS)?,
        true => *bytes.choose(&FLOATS)?,
        false => right,
    };
    let mut shape = shape(id);
    if bytes.ratio(1, 16)? {
        let dim = bytes.int_in_range(0..=shape.num_dims() - 1)?;
        shape[dim] = bytes.int_in_range(0..=12)?;
    }
    let dtypes = [DType::F64, DType::F32, DType::F16, DType::I64, DType::I32];
    let dtype = match (bytes.ratio(1, 16)?, is_index) {
        (true, _) => *bytes.choose(&dtypes)?,
        (false, true) => DType::I64,
        (false, false) => DType::F32,
    };
    let status = *bytes.choose(&[TensorStatus::ReadOnly, TensorStatus::ReadWrite])?;
    Ok(TensorIr {
        id: TensorId::new(id),
        shape,
        status,
        dtype,
    })
}
