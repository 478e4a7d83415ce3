//! The command line, and what is said about an address.

use std::net::SocketAddr;

use clap::Parser;

use crate::backend_name::BackendName;

/// The environment variable that holds the token. A command line would show it to all users of the machine.
pub const TOKEN: &str = "SERVE_DEVICE_TOKEN";

/// Serves a device of this machine, with the region operators, to clients of burn-remote.
///
/// If the environment variable SERVE_DEVICE_TOKEN is set, clients must send its value.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend whose device is served
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// The address and the port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:3000")]
    pub listen: SocketAddr,
}

/// What to say about an address that other machines reach.
pub fn warning(address: SocketAddr, has_token: bool) -> Option<String> {
    if address.ip().is_loopback() {
        return None;
    }
    let who = match has_token {
        true => "Clients must send the token, but it travels in plain text, as all data does",
        false => "Whoever reaches it can use this machine's memory and processors: there is no password",
    };
    Some(format!(
        "{address} can be reached from other machines. {who}. Use an address that only trusted machines reach, such as \
        127.0.0.1 behind an SSH tunnel."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_others_reach_is_warned_of() {
        let warning = |address: &str, token| warning(address.parse().expect("an address"), token);
        assert_eq!(warning("127.0.0.1:3000", false), None);
        assert_eq!(warning("[::1]:3000", false), None);
        for address in ["0.0.0.0:3000", "192.168.0.7:80", "[::]:3000"] {
            let text = warning(address, false).expect("a warning");
            assert!(text.starts_with(address) && text.contains("no password"), "{text}");
            assert!(warning(address, true).expect("a warning").contains("plain text"));
        }
    }

    #[test]
    fn the_address_is_this_machine_unless_said_otherwise() {
        let arguments = Arguments::parse_from(["serve_device"]);
        assert_eq!(arguments.listen.to_string(), "127.0.0.1:3000");
        assert_eq!(arguments.backend, BackendName::Flex);
    }
}
