//! Messages with one thing wrong in each, and what the server says.

use burn::backend::Flex;
use burn::backend::ops::FloatTensorOps;
use burn::tensor::{DType, FloatDType, Shape};
use burn_ir::{CustomOpIr, ScalarIr, TensorId, TensorStatus};

use super::{BOXES, OUTPUT, ROWS, message, outcome, roi_align, session, tensor};
use crate::PsRoiPoolConfig;
use crate::backend::remote::message::{Operation, encode};
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator, SampleAxis};
use crate::geometry::options::{Reduction, Sampling};
use crate::ops::operator_config::ToRegionOperator;
use crate::remote::run::run;

/// The message, changed by a function, must be refused with a text that has these words.
fn refused(words: &str, operation: Operation, change: impl FnOnce(&mut CustomOpIr)) {
    let mut handles = session(&BOXES, [0, 1, 1], OUTPUT);
    let mut message = message(operation, &roi_align(), OUTPUT);
    change(&mut message);
    let error = outcome(operation, &mut handles, &message).expect_err(words);
    assert!(error.contains(words), "{words:?} is not in {error:?}");
    assert!(error.contains(operation.id()), "{error}");
    assert!((1..5).all(|id| handles.has_handle(&TensorId::new(id))), "{words}");
}

#[test]
fn wrong_messages_are_refused_in_words() {
    let pool = Operation::Pool;
    refused("version 7", pool, |message| message.scalars[0] = ScalarIr::UInt(7));
    refused("scalars", pool, |message| message.scalars.clear());
    refused("encode no region operator", pool, |message| {
        message.scalars[2] = ScalarIr::UInt(u64::MAX)
    });
    refused("2 input and 1 output", pool, |message| message.inputs.truncate(2));
    refused("5 input", Operation::PoolLevel, |message| {
        message.inputs.push(message.inputs[0].clone())
    });
    refused("`features` is tensor 77", pool, |message| {
        message.inputs[0].id = TensorId::new(77)
    });
    refused("which this session does not have", pool, |message| {
        message.inputs[1].status = TensorStatus::NotInit;
    });
    refused("`boxes` is described as", pool, |message| {
        message.inputs[1].shape = Shape::new([1, 4])
    });
    refused("`features` is described as", pool, |message| {
        message.inputs[0].dtype = DType::F16
    });
    refused("must be of integers", pool, |message| {
        message.inputs[2].dtype = DType::F32
    });
    refused("`output` is described as", pool, |message| {
        message.outputs[0].shape[0] = 1 << 40
    });
    refused("`output` is described as", pool, |message| {
        message.outputs[0].dtype = DType::F64
    });
    refused("`boxes` has shape [2, 4, 9, 11]", pool, |message| {
        message.inputs[1] = message.inputs[0].clone()
    });
    refused("`features` has shape [3, 4]", pool, |message| {
        message.inputs[0] = message.inputs[1].clone()
    });
    refused("`pooled` has shape [2, 4, 9, 11]", Operation::PoolLevel, |message| {
        message.inputs[3] = message.inputs[0].clone();
    });
    refused("[N, C, H, W]", Operation::AverageGradient, |message| {
        message.outputs[0].shape = Shape::new([7])
    });
    refused(
        "must fit into the memory of its device",
        Operation::AverageGradient,
        |message| {
            message.outputs[0].shape = Shape::new([1 << 30, 4, 1 << 20, 1 << 20]);
        },
    );
    refused("takes a maximum", Operation::MaximumGradient, |_| ());
}

/// Options that no config gives, though each value has an encoding.
#[test]
fn wrong_options_are_refused_in_words() {
    let with = |change: &dyn Fn(&mut RegionOperator)| {
        let mut operator = roi_align();
        change(&mut operator);
        encode(&operator)
    };
    let axis = |change: &'static dyn Fn(&mut SampleAxis)| {
        with(&|operator: &mut RegionOperator| match &mut operator.elements {
            Elements::Samples(axes) => change(&mut axes[0]),
            _ => unreachable!("roi_align samples"),
        })
    };
    let cases = [
        ("`output_size` is [0, 2]", with(&|operator| operator.output_size[0] = 0)),
        (
            "`output_size` is",
            with(&|operator| operator.output_size[1] = usize::MAX),
        ),
        (
            "`sampling` is Fixed(0)",
            axis(&|axis| axis.sampling = Sampling::Fixed(0)),
        ),
        (
            "`sampling` is Fixed(1025)",
            axis(&|axis| axis.sampling = Sampling::Fixed(1025)),
        ),
        ("`box_offset` is NaN", axis(&|axis| axis.box_offset = f64::NAN)),
        ("`minimum_length` is -1", axis(&|axis| axis.minimum_length = Some(-1.0))),
        ("no config", axis(&|axis| axis.sample_at_end = Some(usize::MAX))),
        ("no config", axis(&|axis| axis.half_up = true)),
        ("no config", with(&|operator| operator.areas.below = f64::NAN)),
        ("no config", with(&|operator| operator.areas.from = -1.0)),
        (
            "no config",
            with(&|operator| operator.channel_map = ChannelMap::SampleSensitive { samples: 0 }),
        ),
        (
            "no config",
            with(&|operator| {
                operator.channel_map = ChannelMap::PositionSensitive;
                operator.reduction = Reduction::Max;
            }),
        ),
    ];
    for (words, scalars) in cases {
        refused(words, Operation::Pool, |message| message.scalars = scalars);
    }
}

#[test]
fn an_operator_that_averages_whole_pixels_has_no_gradient_of_boxes() {
    let operator = PsRoiPoolConfig::new([2, 2]).operator(false).expect("right options");
    let output = [ROWS, 1, 2, 2];
    let mut handles = session(&BOXES, [0, 1, 1], output);
    let message = message(Operation::BoxesGradient, &operator, output);
    let error = outcome(Operation::BoxesGradient, &mut handles, &message).expect_err("no gradient");
    assert!(error.contains("reads between pixels"), "{error}");
}

/// The reason of a refused message goes on to the messages that use its output.
#[test]
fn what_uses_a_refused_output_is_refused_with_its_reason() {
    let mut handles = session(&BOXES, [0, 1, 1], OUTPUT);
    let mut wrong = message(Operation::Pool, &roi_align(), OUTPUT);
    wrong.scalars[0] = ScalarIr::UInt(7);
    outcome(Operation::Pool, &mut handles, &wrong).expect_err("a wrong version");
    let mut next = message(Operation::PoolLevel, &roi_align(), OUTPUT);
    next.inputs[3] = tensor(9, &OUTPUT, DType::F32);
    next.outputs[0].id = TensorId::new(10);
    let error = outcome(Operation::PoolLevel, &mut handles, &next).expect_err("no input");
    assert!(error.contains("version 7"), "{error}");
}

/// A tensor that the client has given up is freed, whether the message is refused or not.
#[test]
fn given_up_tensors_are_freed() {
    for version in [1, 7] {
        let mut handles = session(&BOXES, [0, 1, 1], OUTPUT);
        let mut message = message(Operation::Pool, &roi_align(), OUTPUT);
        message.scalars[0] = ScalarIr::UInt(version);
        message.inputs[0].status = TensorStatus::ReadWrite;
        run::<Flex>(Operation::Pool, &mut handles, &message);
        assert!(!handles.has_handle(&TensorId::new(1)), "version {version}");
        assert!(handles.has_handle(&TensorId::new(2)), "version {version}");
    }
}

#[test]
fn a_gradient_of_another_dtype_than_the_boxes_is_refused() {
    let mut handles = session(&BOXES, [0, 1, 1], OUTPUT);
    let gradient = Flex::float_zeros(Shape::new(OUTPUT), &Default::default(), FloatDType::F64);
    handles.register_float_tensor::<Flex>(&TensorId::new(5), gradient);
    let mut message = message(Operation::AverageGradient, &roi_align(), OUTPUT);
    message.inputs[0] = tensor(5, &OUTPUT, DType::F64);
    message.outputs[0].dtype = DType::F64;
    let error = outcome(Operation::AverageGradient, &mut handles, &message).expect_err("boxes of f32");
    assert!(error.contains("`boxes` is of dtype F32, but must be of F64"), "{error}");
}
