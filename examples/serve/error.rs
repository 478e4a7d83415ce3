//! Why the server does not start, in words for the person who typed the command.

use std::io;
use std::net::SocketAddr;

use burn_roi_detection::DetectionError;
use burn_roi_detection::weights::WeightsError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Model(#[from] find_objects::Error),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error(transparent)]
    Detector(#[from] DetectionError),
    #[error("cannot make the model: {0}")]
    NoModel(String),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the environment variable SERVE_TOKEN is empty or no text: remove it, or set a token")]
    Token,
    #[error("cannot start: {0}")]
    Start(io::Error),
}
