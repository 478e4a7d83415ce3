//! A live server: what its clients see where one of them is malicious, where the server has no region operators or
//! other ones, and how many messages a call is. With Burn's fusion, that a remote device is refused.

#[cfg(not(feature = "fusion"))]
mod frames;
#[cfg(feature = "fusion")]
mod fused;
#[cfg(not(feature = "fusion"))]
mod malformed;
#[cfg(not(feature = "fusion"))]
mod queue;
#[cfg_attr(feature = "fusion", allow(dead_code))]
mod servers;
#[cfg(not(feature = "fusion"))]
mod versions;
