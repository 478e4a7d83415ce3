//! Messages that are changed at random.

use burn::backend::Flex;
use burn::tensor::DType;
use burn_ir::{CustomOpIr, ScalarIr, TensorId, TensorIr, TensorStatus};
use proptest::prelude::*;

use super::{BOXES, OUTPUT, message, roi_align, session};
use crate::RoiPoolConfig;
use crate::backend::remote::message::Operation;
use crate::ops::operator_config::ToRegionOperator;
use crate::remote::run::run;

/// A change of a right message.
#[derive(Debug, Clone)]
enum Change {
    Scalar(usize, u64),
    NoScalar(usize),
    Input(usize, usize),
    NoInput(usize),
    Id(usize, u64),
    Size(usize, usize, usize),
    Type(usize, DType),
    Status(usize, TensorStatus),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let word = prop_oneof![Just(0), 0..300u64, any::<u64>(), (0..64u32).prop_map(|bit| 1 << bit)];
    let size = prop_oneof![0..12usize, Just(1 << 20), Just(1 << 40), Just(usize::MAX)];
    let dtype = prop_oneof![
        Just(DType::F64),
        Just(DType::F16),
        Just(DType::I32),
        Just(DType::F32),
        Just(DType::I64)
    ];
    let status = prop_oneof![
        Just(TensorStatus::ReadOnly),
        Just(TensorStatus::ReadWrite),
        Just(TensorStatus::NotInit)
    ];
    let change = prop_oneof![
        4 => (0..24usize, word).prop_map(|(place, word)| Change::Scalar(place, word)),
        1 => (0..24usize).prop_map(Change::NoScalar),
        1 => (0..4usize, 0..4usize).prop_map(|(to, from)| Change::Input(to, from)),
        1 => (0..4usize).prop_map(Change::NoInput),
        1 => (0..5usize, 0..12u64).prop_map(|(place, id)| Change::Id(place, id)),
        2 => (0..5usize, 0..4usize, size).prop_map(|(place, dim, size)| Change::Size(place, dim, size)),
        1 => (0..5usize, dtype).prop_map(|(place, dtype)| Change::Type(place, dtype)),
        1 => (0..4usize, status).prop_map(|(place, status)| Change::Status(place, status)),
    ];
    proptest::collection::vec(change, 1..4)
}

fn apply(message: &mut CustomOpIr, change: &Change) {
    let inputs = message.inputs.len();
    let scalars = message.scalars.len().max(1);
    match *change {
        Change::Scalar(place, word) => {
            if let Some(scalar) = message.scalars.get_mut(place % scalars) {
                *scalar = ScalarIr::UInt(word);
            }
        }
        Change::NoScalar(place) => message.scalars.truncate(place % scalars),
        Change::Input(to, from) if inputs > 0 => message.inputs[to % inputs] = message.inputs[from % inputs].clone(),
        Change::NoInput(place) if inputs > 0 => drop(message.inputs.remove(place % inputs)),
        Change::Id(place, id) => of_message(message, place).id = TensorId::new(id),
        Change::Size(place, dim, size) => {
            let shape = &mut of_message(message, place).shape;
            let dims = shape.num_dims().max(1);
            shape[dim % dims] = size;
        }
        Change::Type(place, dtype) => of_message(message, place).dtype = dtype,
        Change::Status(place, status) if inputs > 0 => message.inputs[place % inputs].status = status,
        _ => {}
    }
}

fn of_message(message: &mut CustomOpIr, place: usize) -> &mut TensorIr {
    let tensors = message.inputs.len() + 1;
    let CustomOpIr { inputs, outputs, .. } = message;
    inputs.iter_mut().chain(outputs).nth(place % tensors).expect("a tensor")
}

/// Changed messages give numbers or are refused, and never panic. One panic is Flex's own: for floats named as
/// integers, whose session ends by it.
#[test]
fn changed_messages_never_panic() {
    let operations = proptest::sample::select(Operation::ALL.to_vec());
    let max = RoiPoolConfig::new([3, 2]).operator(false).expect("right options");
    let mut config = ProptestConfig::default();
    config.cases = config.cases.max(4000);
    config.failure_persistence = None;
    proptest!(config, |(operation in operations, changes in changes())| {
        let operator = if operation == Operation::MaximumGradient { max } else { roi_align() };
        let mut handles = session(&BOXES, [0, 1, 1], OUTPUT);
        let mut message = message(operation, &operator, OUTPUT);
        for change in &changes {
            apply(&mut message, change);
        }
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run::<Flex>(operation, &mut handles, &message);
        }));
        if let Err(panic) = ran {
            let text = panic.downcast_ref::<String>().map_or("", String::as_str);
            prop_assert!(text.starts_with("Expected ") && text.contains(" handle, got "), "{text}");
        } else {
            let output = &message.outputs[0].id;
            prop_assert!(handles.has_handle(output) || handles.error(output).is_some());
        }
    });
}
