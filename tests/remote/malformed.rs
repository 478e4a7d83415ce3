//! 10,000 malformed messages to a live server, beside two clients with right ones, who must not notice.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use burn::backend::ops::FloatTensorOps;
use burn::backend::{DispatchDevice, Flex, Remote};
use burn::remote::CustomOpClient;
use burn::server::CustomOpRegistry;
use burn::tensor::{DType, Device, FloatDType, Shape, Tensor};
use burn_ir::{CustomOpIr, ScalarIr, TensorId, TensorIr, TensorStatus};

use crate::frames::send_garbage;
use crate::servers::{call, check_call, device, operators, serve};

/// Sessions of the malicious client. It uses what was refused in each, which ends it.
const SESSIONS: usize = 40;
const MESSAGES: usize = 250;

#[test]
fn two_clients_do_not_notice_a_malicious_third() {
    let scalars = right_scalars();
    let address = serve(2 + SESSIONS, operators());
    let over = AtomicBool::new(false);
    let calls = AtomicUsize::new(0);
    thread::scope(|scope| {
        for client in 0..2 {
            let (address, over, calls) = (&address, &over, &calls);
            scope.spawn(move || {
                let device = device(address, client);
                let mut number = 0;
                while !over.load(Ordering::SeqCst) || number < 100 {
                    check_call(number, &device);
                    number += 1;
                }
                calls.fetch_add(number, Ordering::SeqCst);
            });
        }
        // Also where this fails, so that the clients end.
        let _over = Over(&over);
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for session in 0..SESSIONS {
            send_messages(&device(&address, 2 + session), &scalars, &mut random);
        }
        send_garbage(&address, 1000);
    });
    println!("{} calls beside {} messages", calls.into_inner(), SESSIONS * MESSAGES);
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Sends malformed messages of one session, and uses the output of the last.
fn send_messages(device: &Device, scalars: &[ScalarIr], random: &mut Random) {
    let DispatchDevice::Remote(remote) = device.as_dispatch() else {
        panic!("{device:?} is not remote");
    };
    let client = CustomOpClient::new(remote);
    let right = call(0, device).into_data();
    let features = Tensor::<4>::ones([1, 2, 8, 8], device);
    let boxes = Tensor::<2>::ones([3, 4], device);
    let mut last = None;
    for _ in 0..MESSAGES {
        let shared = [
            &features.clone().reshape([1, 2, 8, 8]),
            &boxes.clone().reshape([1, 1, 3, 4]),
        ]
        .map(|tensor| {
            tensor
                .clone()
                .try_into_primitive::<Remote>()
                .expect("a remote tensor")
                .into_ir()
        });
        let output = TensorIr::uninit(client.create_empty_handle(), Shape::new([3, 2, 2, 2]), DType::F32);
        last = Some(client.register(malformed(shared, output, scalars, random)).remove(0));
    }
    // Until now nothing has ended: a refused message harms what it was to give, and no more.
    assert_eq!(call(0, device).into_data(), right);
    let last = Tensor::<4>::from_primitive::<Remote>(last.expect("a message"));
    assert!(last.try_into_data().is_err(), "a malformed message gave a tensor");
}

/// A message with something wrong in it. No tensor in it is of integers, so that each lacks batch indices.
fn malformed(tensors: [TensorIr; 2], output: TensorIr, right: &[ScalarIr], random: &mut Random) -> CustomOpIr {
    const OPERATIONS: [&str; 5] = [
        "burn_roi.pool",
        "burn_roi.pool_level",
        "burn_roi.average_gradient",
        "burn_roi.maximum_gradient",
        "burn_roi.boxes_gradient",
    ];
    let mut inputs: Vec<TensorIr> = (0..random.below(6)).map(|_| tensors[random.below(2)].clone()).collect();
    for input in &mut inputs {
        match random.below(8) {
            0 => input.id = TensorId::new(random.next()),
            1 => input.shape = Shape::from(vec![random.below(1 << 40); random.below(6)]),
            2 => input.status = TensorStatus::NotInit,
            3 => input.dtype = [DType::F64, DType::F16, DType::BF16][random.below(3)],
            _ => {}
        }
    }
    let scalars = match random.below(2) {
        0 => right.to_vec(),
        _ => wrong_scalars(random),
    };
    CustomOpIr::with_scalars(OPERATIONS[random.below(5)], &inputs, &[output], scalars)
}

/// Scalars that are no operator: the version, the length or the operator is wrong.
fn wrong_scalars(random: &mut Random) -> Vec<ScalarIr> {
    let mut scalars = vec![
        ScalarIr::UInt(random.below(3) as u64),
        ScalarIr::UInt(random.below(300) as u64),
    ];
    for _ in 0..random.below(40) {
        let word = random.next();
        scalars.push(match random.below(7) {
            0 => ScalarIr::Float(f64::from_bits(word)),
            1 => ScalarIr::Int(word as i64),
            _ => ScalarIr::UInt(word),
        });
    }
    scalars
}

/// The scalars of a right call, which a server records.
fn right_scalars() -> Vec<ScalarIr> {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let mut operations = CustomOpRegistry::<Flex>::new();
    let record = recorded.clone();
    operations.register("burn_roi.pool", move |handles, message, device| {
        record.lock().expect("one session").clone_from(&message.scalars);
        let output = &message.outputs[0];
        let zeros = Flex::float_zeros(output.shape.clone(), device, FloatDType::F32);
        handles.register_float_tensor::<Flex>(&output.id, zeros);
    });
    call(0, &device(&serve(1, operations), 0)).into_data();
    recorded.lock().expect("one session").clone()
}

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
