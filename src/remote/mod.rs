//! The operators on another machine: what a server registers, and the check that a client makes of it.
//!
//! With the feature `remote`, the operators run on a device that Burn's `burn-remote` serves. A call is one message, a
//! level of a feature pyramid is one more, and nothing is waited for: an error on the server shows when a tensor is
//! read. The server runs the kernels of its own backend, so that the numbers are those of its device, bit by bit.
//!
//! A server registers the operators for its backend, beside any operations of its own:
//!
//! ```no_run
//! use burn::backend::Flex;
//! use burn::server::{CustomOpRegistry, RemoteServer, WebSocketTransport};
//! use burn::tensor::Device;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut operations = CustomOpRegistry::<Flex>::new();
//! burn_roi::remote::register(&mut operations);
//!
//! // Of this machine only: `WebSocketTransport::new` listens on all interfaces, and asks for no password.
//! let listener = std::net::TcpListener::bind("127.0.0.1:3000")?;
//! RemoteServer::new([Device::flex()])
//!     .with_custom_ops(operations)
//!     .serve(WebSocketTransport::from_listener(listener))?;
//! # Ok(())
//! # }
//! ```
//!
//! A client takes a device of the server, checks it once, and uses it as any other:
//!
//! ```no_run
//! use burn::remote::RemoteHost;
//! use burn::tensor::{Device, Tensor};
//! use burn_roi::{RoiAlignConfig, Rois, remote, roi_align};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::remote_options(&RemoteHost::websocket("ws://127.0.0.1:3000")).init()?;
//! remote::check(&device)?;
//!
//! let features = Tensor::<4>::ones([1, 256, 50, 68], &device);
//! let boxes = Tensor::<2>::from_floats([[40.0, 40.0, 160.0, 200.0]], &device);
//! let pooled = roi_align(features, &Rois::from_images(vec![boxes]), RoiAlignConfig::new([7, 7]));
//! # let _ = pooled;
//! # Ok(())
//! # }
//! ```
//!
//! # Values
//!
//! Boxes are not read by the client. A box that is not finite and a batch index out of range return the out-of-bounds
//! value, as on a GPU, whatever the server's backend is; [`Rois::validate`](crate::Rois::validate) finds them.
//!
//! # A client is not trusted
//!
//! The server checks what arrives as the `try_` functions do: options, shapes and dtypes. A message that is refused
//! gives no tensor: the session of its client ends when that tensor is used, and the server's log says why. Other
//! sessions go on. The engine itself trusts its clients further than that: a client may ask for a tensor of any size,
//! and WebSocket asks for no password and encrypts nothing unless the server is given an authorizer. So serve on an
//! address that only trusted machines reach.
//!
//! # What the engine does on failure
//!
//! - A server without the operators, or one that has refused a message, ends the session. The client's next read then
//!   fails with `RecvError(())`: `try_into_data` gives it as an error, and `into_data` panics. [`check`] says it in
//!   words, before the first call.
//! - Each client process has one session per device. After the session ends the device stays unusable, even if the
//!   server is started again: use another device index, or another name of the same server.
//! - An address where no server listens is an error of `init` after 16 seconds.
//! - With its feature `fusion`, Burn 0.22.1 keeps graphs of calls on a remote device, and replays one for calls that
//!   differ from it. The operators refuse a remote device in such a build.
//! - A cast of integers to another integer dtype ends the session with burn-router 0.22.1. Cast before you send.

mod call;
mod host;
mod message;
mod options;
mod refused;
mod run;
mod tensors;
#[cfg(test)]
mod tests;

use burn::backend::DispatchDevice;
use burn::server::CustomOpRegistry;
use burn::tensor::Device;
use burn_ir::BackendIr;

use crate::backend::remote::message::{ABOUT, Operation};
use crate::backend::remote::server;
use crate::backend::{RoiBackend, is_supported};
use crate::error::{RoiError, unsupported};
use crate::waiting::wait;

/// Registers the operators for a server whose devices belong to backend `B`: `Flex`, `NdArray` or `Cube`.
///
/// It adds to what the registry holds. All names that it adds begin with `burn_roi.`. `B` must be the backend of the
/// server's devices, or the server does not start. All CubeCL runtimes are one backend, `burn::backend::Cube`.
pub fn register<B: RoiBackend + BackendIr>(registry: &mut CustomOpRegistry<B>) {
    for operation in Operation::ALL {
        registry.register(operation.id(), move |handles, message, _device| {
            run::run::<B>(operation, handles, message);
        });
    }
    registry.register(ABOUT, run::about::<B>);
}

/// Checks that the server of a remote device has the operators, in the version of this client. It waits for the
/// server's answer. A device that is not remote passes.
///
/// A session does not survive a server without the operators, so call this first. What dtypes the server pools is
/// remembered for each address and device index; this asks again, as after another server has come to the address.
///
/// # Errors
///
/// [`RoiError::RemoteServer`]; [`RoiError::Backend`] in a build with `fusion`; [`RoiError::SynchronousRead`] in a
/// browser.
pub fn check(device: &Device) -> Result<(), RoiError> {
    wait("check", "check_async", check_async(device))
}

/// [`check`] that awaits the server.
///
/// # Errors
///
/// [`RoiError::RemoteServer`]; [`RoiError::Backend`] in a build with `fusion`.
pub async fn check_async(device: &Device) -> Result<(), RoiError> {
    let device = device.clone().inner();
    match device.as_dispatch() {
        DispatchDevice::Remote(_) if !is_supported(&device) => Err(unsupported("device", &device)),
        DispatchDevice::Remote(device) => server::ask(device).await.map(drop),
        #[allow(unreachable_patterns)]
        _ => Ok(()),
    }
}
