//! Servers without the operators, or with others: an error in words before the first call.

use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::server::CustomOpRegistry;
use burn::tensor::{Device, TensorData};
use burn_roi::remote::check;

use crate::servers::{call, check_call, device, operators, serve};

#[test]
fn a_server_with_the_operators_passes() {
    let address = serve(1, operators());
    let device = device(&address, 0);
    assert_eq!(check(&device), Ok(()));
    check_call(0, &device);
    assert_eq!(check(&device), Ok(()));
    assert_eq!(check(&Device::flex()), Ok(()));
}

#[test]
fn a_server_without_the_operators_is_an_error_in_words() {
    let address = serve(2, CustomOpRegistry::new());
    let error = check(&device(&address, 0)).expect_err("no operators").to_string();
    assert!(error.contains("burn_roi::remote::register"), "{error}");
    let port = address.rsplit(':').next().expect("a port");
    assert!(error.contains(port), "{error}");
    // Unchecked, a call is an error when it is read, and no hang.
    assert!(call(0, &device(&address, 1)).try_into_data().is_err());
}

/// A server of a later version answers with its number, and its other answers are not read.
#[test]
fn a_server_of_another_version_is_an_error_that_names_it() {
    let mut operations = CustomOpRegistry::<Flex>::new();
    operations.register("burn_roi.about", |handles, message, device| {
        use burn::backend::ops::FloatTensorOps;
        let answer: FloatTensor<Flex> = Flex::float_from_data(TensorData::new(vec![9.0f32; 5], [5]), device);
        handles.register_float_tensor::<Flex>(&message.outputs[0].id, answer);
    });
    let address = serve(1, operations);
    let error = check(&device(&address, 0)).expect_err("another version").to_string();
    assert!(error.contains("version 9"), "{error}");
}

/// Operators beside operations of the user's own.
#[test]
fn the_operators_merge_with_other_operations() {
    let mut operations = CustomOpRegistry::<Flex>::new();
    operations.register("mine", |_, _, _| ());
    burn_roi::remote::register(&mut operations);
    let address = serve(1, operations);
    check_call(3, &device(&address, 0));
}
