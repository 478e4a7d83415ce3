//! Serves a device of this machine, with the region operators, to clients of `burn-remote`.
//!
//! ```text
//! cargo run --release -p serve_device --features remote
//! cargo run --release -p serve_device --features remote,cuda -- --backend cuda --listen 127.0.0.1:3001
//! ```
//!
//! Ctrl-C or SIGTERM stops it: it ends the sessions of its clients, and then returns.

mod arguments;
#[path = "../support/backend_name.rs"]
mod backend_name;
mod error;
mod server;

use std::net::TcpListener;
use std::process::ExitCode;

use burn::server::{TokenAuthorizer, WebSocketTransport};
use clap::Parser;

use arguments::{Arguments, TOKEN};
use error::Error;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut server = server::with_operators(arguments.backend)?;
    let token = std::env::var(TOKEN).ok();
    if let Some(token) = &token {
        server = server.with_authorizer(TokenAuthorizer::new(token.as_str()).map_err(|_| Error::EmptyToken)?);
    }
    let listener = TcpListener::bind(arguments.listen).map_err(|source| Error::Listen {
        address: arguments.listen,
        source,
    })?;
    let address = listener.local_addr().unwrap_or(arguments.listen);
    if let Some(warning) = arguments::warning(address, token.is_some()) {
        eprintln!("warning: {warning}");
    }
    println!("serving {} at ws://{address}", arguments.backend);
    server.serve(WebSocketTransport::from_listener(listener))?;
    println!("stopped");
    Ok(())
}
