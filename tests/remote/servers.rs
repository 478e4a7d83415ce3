//! Servers of this process, and calls whose numbers are known.

use std::net::TcpListener;

use burn::backend::Flex;
use burn::remote::RemoteHost;
use burn::server::{CustomOpRegistry, RemoteServer, WebSocketTransport};
use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::{RoiAlignConfig, Rois, roi_align};

/// Serves Flex as so many devices, each of which has sessions of its own, and gives the address.
pub fn serve(devices: usize, operations: CustomOpRegistry<Flex>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound port").to_string();
    let server = RemoteServer::new(vec![Device::flex(); devices]).with_custom_ops(operations);
    std::thread::spawn(move || server.serve(WebSocketTransport::from_listener(listener)));
    address
}

/// The operations of a server of this crate.
pub fn operators() -> CustomOpRegistry<Flex> {
    let mut operations = CustomOpRegistry::new();
    burn_roi::remote::register(&mut operations);
    operations
}

/// A device of a server.
pub fn device(address: &str, index: usize) -> Device {
    let host = RemoteHost::websocket(&format!("ws://{address}"));
    Device::remote_options(&host)
        .device_index(index)
        .init()
        .expect("a server of this process")
}

/// A call of `roi_align`, one of many.
pub fn call(number: usize, device: &Device) -> Tensor<4> {
    let pixels: Vec<f32> = (0..2 * 8 * 20 * 30)
        .map(|pixel| ((pixel + number) % 97) as f32 / 9.0)
        .collect();
    let features = Tensor::<4>::from_data(TensorData::new(pixels, [2, 8, 20, 30]), device);
    let corner = (number % 11) as f32;
    let boxes = [[corner, 1.0, corner + 9.5, 14.0], [2.0, corner, 28.0, corner + 3.25]];
    let boxes = boxes.map(|corners| Tensor::<2>::from_floats([corners], device));
    roi_align(features, &Rois::from_images(boxes.into()), RoiAlignConfig::new([3, 4]))
}

/// Makes a call, and compares its bits with those of Flex.
pub fn check_call(number: usize, device: &Device) {
    let found = call(number, device).into_data();
    assert_eq!(found, call(number, &Device::flex()).into_data(), "call {number}");
}
