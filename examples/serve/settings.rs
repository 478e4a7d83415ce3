//! The limits of a service.

use std::time::Duration;

/// The limits of a service, and how it forms batches.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The most pictures in a call of the model.
    pub batch: usize,
    /// How long a picture waits for others.
    pub wait: Duration,
    /// The most requests that are being read, wait or are worked on.
    pub queue: usize,
    /// The time of a request, from its headers to its answer.
    pub timeout: Duration,
    /// The most bytes of a request's body.
    pub body: usize,
    /// The most pictures of a request.
    pub pictures: usize,
    /// The most bytes of the decoded pixels of a request's pictures.
    pub decoded: u64,
    /// The most connections that are open.
    pub connections: usize,
    /// How long a client may take to send the headers of a request.
    pub headers: Duration,
    /// What clients must send, if anything.
    pub token: Option<String>,
}

impl Settings {
    /// How many bytes of decoded pixels all requests together may hold. One request always fits.
    pub fn all_decoded(&self) -> u64 {
        4 * self.decoded
    }
}
