//! A device of a server, for the command lines of the examples.

use burn::remote::RemoteHost;
use burn::tensor::Device;

/// The environment variable with the token that a server asks for, if it does.
const TOKEN: &str = "SERVE_DEVICE_TOKEN";

/// The first device of a server that has the region operators, or why there is none.
pub fn connect(server: &str) -> Result<Device, String> {
    let mut host = RemoteHost::websocket(server);
    if let Ok(token) = std::env::var(TOKEN) {
        host = host.with_credential(token.as_str());
    }
    let device = Device::remote_options(&host)
        .init()
        .map_err(|error| error.to_string())?;
    burn_roi::remote::check(&device).map_err(|error| error.to_string())?;
    Ok(device)
}
