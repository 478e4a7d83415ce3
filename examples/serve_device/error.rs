//! What can go wrong, in words for the person who typed the command.

use std::io;
use std::net::SocketAddr;

use burn::server::ServeError;

use crate::backend_name::BackendName;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("backend {0} is not compiled in: add --features remote,{0}")]
    NotCompiledIn(BackendName),
    #[error("backend {0} cannot be served: use flex, wgpu or cuda")]
    NotServed(BackendName),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the environment variable SERVE_DEVICE_TOKEN is empty: remove it, or set a token")]
    EmptyToken,
    #[error("{0}")]
    Serve(#[from] ServeError),
}
