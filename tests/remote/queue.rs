//! A call is one message, and a client does not wait for it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use burn::backend::Flex;
use burn::server::CustomOpRegistry;

use crate::servers::{call, device, operators, serve};

/// The server holds the session's first operation until the client has queued a call after it.
#[test]
fn a_client_queues_a_call_and_does_not_wait() {
    let (release, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let mut operations: CustomOpRegistry<Flex> = operators();
    operations.register("hold", move |handles, message, device| {
        use burn::backend::ops::FloatTensorOps;
        held.lock()
            .expect("one session")
            .recv_timeout(Duration::from_secs(60))
            .expect("the client goes on while the server waits");
        let nothing = Flex::float_zeros([1].into(), device, burn::tensor::FloatDType::F32);
        handles.register_float_tensor::<Flex>(&message.outputs[0].id, nothing);
    });
    let address = serve(1, operations);
    let device = device(&address, 0);
    let _held = hold(&device);
    let calls: Vec<_> = (0..5).map(|number| call(number, &device)).collect();
    release.send(()).expect("the server waits");
    for (number, found) in calls.into_iter().enumerate() {
        let expected = call(number, &burn::tensor::Device::flex()).into_data();
        assert_eq!(found.into_data(), expected);
    }
}

fn hold(device: &burn::tensor::Device) -> burn::backend::tensor::FloatTensor<burn::backend::Remote> {
    use burn::backend::DispatchDevice;
    use burn_ir::{CustomOpIr, TensorIr};
    let DispatchDevice::Remote(remote) = device.as_dispatch() else {
        panic!("{device:?} is not remote");
    };
    let client = burn::remote::CustomOpClient::new(remote);
    let shape = burn::tensor::Shape::new([1]);
    let output = TensorIr::uninit(client.create_empty_handle(), shape, burn::tensor::DType::F32);
    client.register(CustomOpIr::new("hold", &[], &[output])).remove(0)
}

/// A call is one custom operation, and each level of a feature pyramid is one.
#[test]
fn a_call_is_one_operation() {
    let count = Arc::new(AtomicUsize::new(0));
    let mut operations = CustomOpRegistry::<Flex>::new();
    for id in ["burn_roi.pool", "burn_roi.pool_level"] {
        let count = count.clone();
        operations.register(id, move |handles, message, device| {
            use burn::backend::ops::FloatTensorOps;
            count.fetch_add(1, Ordering::SeqCst);
            let output = &message.outputs[0];
            let zeros = Flex::float_zeros(output.shape.clone(), device, burn::tensor::FloatDType::F32);
            handles.register_float_tensor::<Flex>(&output.id, zeros);
        });
    }
    let address = serve(1, operations);
    let device = device(&address, 0);
    call(0, &device).into_data();
    assert_eq!(count.swap(0, Ordering::SeqCst), 1);

    let levels = [16, 8, 4].map(|side| burn::tensor::Tensor::<4>::ones([1, 2, side, side], &device));
    let boxes = burn::tensor::Tensor::<2>::from_floats([[1.0, 1.0, 9.0, 9.0]], &device);
    let rois = burn_roi::Rois::from_images(vec![boxes]);
    let config = burn_roi::MultiScaleRoiAlignConfig::new(burn_roi::RoiAlignConfig::new([2, 2]));
    burn_roi::multi_scale_roi_align(levels.into(), &rois, &[1.0, 0.5, 0.25], config).into_data();
    assert_eq!(count.load(Ordering::SeqCst), 3);
}
