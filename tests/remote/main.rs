//! A live server: what its clients see where one of them is malicious, where the server has no region operators or
//! other ones, and how many messages a call is.

mod frames;
mod malformed;
mod queue;
mod servers;
mod versions;
