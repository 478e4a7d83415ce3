//! The backends that tests run on: every one that is compiled in and has a device, or those named in
//! the environment variable `ROI_BACKENDS`, separated by commas.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, Tensor, TensorData};

/// A backend's name and its device.
pub struct Backend {
    pub name: &'static str,
    pub device: Device,
}

impl Backend {
    /// Whether tensors of a dtype can be made on this device.
    #[allow(dead_code)]
    pub fn supports(&self, dtype: DType) -> bool {
        match (self.name, dtype) {
            ("ndarray", dtype) => !matches!(dtype, DType::F16 | DType::BF16),
            // The server of these tests has Flex.
            ("flex" | "remote", _) => true,
            (_, DType::F64) => false,
            _ => self.device.supports_dtype(dtype),
        }
    }

    /// How many rounds the loops of a unit can take together: Mesa's llvmpipe ends every loop after 65,535, in silence.
    #[allow(dead_code)]
    pub fn most_rounds(&self) -> f64 {
        match self.name {
            "vulkan" | "wgpu" => 65_535.0,
            _ => f64::INFINITY,
        }
    }

    /// Whether a call reads the boxes and checks them.
    #[allow(dead_code)]
    pub fn is_host(&self) -> bool {
        matches!(self.name, "flex" | "ndarray")
    }
}

/// The backends to test.
///
/// # Panics
///
/// Where `ROI_BACKENDS` names one that is not compiled in or has no device, and where there is none.
pub fn backends() -> Vec<Backend> {
    let compiled = compiled();
    let chosen: Vec<Backend> = match std::env::var("ROI_BACKENDS") {
        Ok(names) => names
            .split(',')
            .map(|name| {
                let (name, device) = compiled
                    .iter()
                    .find(|(compiled, _)| *compiled == name.trim())
                    .unwrap_or_else(|| panic!("ROI_BACKENDS: {name:?} is not compiled in"));
                let device = open(*device).unwrap_or_else(|| panic!("ROI_BACKENDS: {name} has no device"));
                Backend { name, device }
            })
            .collect(),
        Err(_) => compiled
            .into_iter()
            .filter_map(|(name, device)| match open(device) {
                Some(device) => Some(Backend { name, device }),
                None => {
                    eprintln!("{name}: no device, not tested");
                    None
                }
            })
            .collect(),
    };
    assert!(!chosen.is_empty(), "no backend is compiled in");
    chosen
}

type Open = fn() -> Device;

fn compiled() -> Vec<(&'static str, Open)> {
    vec![
        #[cfg(feature = "flex")]
        ("flex", Device::flex),
        #[cfg(feature = "ndarray")]
        ("ndarray", {
            #[allow(deprecated)]
            Device::ndarray
        }),
        #[cfg(feature = "wgpu")]
        ("wgpu", || Device::wgpu(Default::default())),
        #[cfg(feature = "vulkan")]
        ("vulkan", || Device::vulkan(Default::default())),
        #[cfg(feature = "metal")]
        ("metal", || Device::metal(Default::default())),
        #[cfg(feature = "webgpu")]
        ("webgpu", || Device::webgpu(Default::default())),
        #[cfg(feature = "cuda")]
        ("cuda", || Device::cuda(0)),
        #[cfg(feature = "rocm")]
        ("rocm", || Device::rocm(0)),
        #[cfg(feature = "cpu")]
        ("cpu", Device::cpu),
        #[cfg(all(feature = "remote", feature = "flex", not(feature = "fusion")))]
        ("remote", remote),
    ]
}

/// A device of a server in this process, which has Flex. All tests share its one session.
#[cfg(all(feature = "remote", feature = "flex", not(feature = "fusion")))]
fn remote() -> Device {
    use burn::remote::RemoteHost;
    use burn::server::{CustomOpRegistry, RemoteServer, WebSocketTransport};

    static ADDRESS: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let address = ADDRESS.get_or_init(|| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let mut operations = CustomOpRegistry::<burn::backend::Flex>::new();
        burn_roi::remote::register(&mut operations);
        let server = RemoteServer::new([Device::flex()]).with_custom_ops(operations);
        std::thread::spawn(move || server.serve(WebSocketTransport::from_listener(listener)));
        format!("ws://{address}")
    });
    let host = RemoteHost::websocket(address);
    Device::remote_options(&host)
        .init()
        .expect("the server of this process")
}

/// A device that gives results back, or none where there is no such device. What it computes is for the tests to judge.
fn open(device: Open) -> Option<Device> {
    catch_unwind(AssertUnwindSafe(|| {
        let device = device();
        let one = Tensor::<1>::from_data(TensorData::new(vec![1.0f32], [1]), &device);
        assert_eq!(one.add_scalar(1.0).to_data().num_elements(), 1);
        device
    }))
    .ok()
}
