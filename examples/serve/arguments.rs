//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use find_objects::{BackendName, COINS_CONFIG, weights_for};

use crate::error::Error;
use crate::settings::Settings;

/// The environment variable that holds the token. A command line would show it to all users of the machine.
const TOKEN: &str = "SERVE_TOKEN";

/// Serves a two-stage detector over HTTP: POST /detect, GET /, GET /health and GET /metrics.
///
/// If the environment variable SERVE_TOKEN is set, clients must send the header `Authorization: Bearer TOKEN`.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that runs the model
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// How many devices of the backend to use, with a model on each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub devices: u16,

    /// The weights of torchvision or detectron2: a .pth, .pt, .pkl or .safetensors file [default: those of the shipped
    /// detector of coins]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// The model: a JSON file, detectron2's config.yaml, or a name of torchvision's or detectron2's model zoo, such as
    /// maskrcnn_resnet50_fpn or COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x [default: the shipped coins.json]
    #[arg(long, value_name = "FILE|NAME", default_value = COINS_CONFIG, hide_default_value = true)]
    pub config: PathBuf,

    /// The address and the port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,

    /// The most pictures in a call of the model
    #[arg(long, value_name = "PICTURES", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,

    /// How long a picture waits for others to form a batch, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5)]
    wait: u64,

    /// The most requests that are being read, wait or are worked on; further ones get the status 503
    #[arg(long, value_name = "REQUESTS", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    queue: u16,

    /// The time of a request in seconds, from its headers to its answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// The most MiB of a request's body
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    max_body: u16,

    /// The most pictures of a request
    #[arg(long, value_name = "PICTURES", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    max_pictures: u16,

    /// The most MiB of the decoded pixels of a request's pictures; 128 are 44 million pixels
    #[arg(long, value_name = "MIB", default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..))]
    max_decoded: u16,

    /// The most connections that are open; further ones wait
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    max_connections: u32,
}

impl Arguments {
    /// The weights to load.
    pub fn weights(&self) -> Result<PathBuf, Error> {
        Ok(weights_for(&self.config, self.weights.as_deref())?)
    }

    pub fn settings(&self) -> Result<Settings, Error> {
        let token = std::env::var_os(TOKEN).map(|token| token.into_string());
        let token = token.transpose().map_err(|_| Error::Token)?;
        if token.as_ref().is_some_and(String::is_empty) {
            return Err(Error::Token);
        }
        Ok(Settings {
            batch: self.batch.into(),
            wait: Duration::from_millis(self.wait),
            queue: self.queue.into(),
            timeout: Duration::from_secs(self.timeout),
            body: usize::from(self.max_body) << 20,
            pictures: self.max_pictures.into(),
            decoded: u64::from(self.max_decoded) << 20,
            connections: self.max_connections as usize,
            headers: Duration::from_secs(10),
            token,
        })
    }
}

/// What to say about an address that other machines reach.
pub fn warning(address: SocketAddr, has_token: bool) -> Option<String> {
    if address.ip().is_loopback() {
        return None;
    }
    let who = match has_token {
        true => "Pictures and the token travel in plain text",
        false => "Whoever reaches it can use this machine's processors: there is no token",
    };
    Some(format!(
        "{address} can be reached from other machines. {who}. Put a proxy with TLS in front of 127.0.0.1."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_others_reach_is_warned_of() {
        let warning = |address: &str, token| warning(address.parse().expect("an address"), token);
        assert_eq!(warning("127.0.0.1:8000", false), None);
        assert!(warning("0.0.0.0:8000", false).expect("a warning").contains("no token"));
        assert!(warning("[::]:8000", true).expect("a warning").contains("plain text"));
    }

    #[test]
    fn the_defaults_are_for_this_machine_alone() {
        let arguments = Arguments::parse_from(["serve"]);
        assert_eq!(arguments.listen.to_string(), "127.0.0.1:8000");
        assert_eq!(
            arguments.weights().expect("the shipped weights"),
            PathBuf::from(COINS_CONFIG).with_extension("safetensors")
        );
        let other = Arguments::parse_from(["serve", "--config", "maskrcnn_resnet50_fpn"]);
        let error = other.weights().expect_err("no weights").to_string();
        assert!(error.contains("add --weights FILE"), "{error}");
    }
}
