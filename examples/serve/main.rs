//! The command; `lib.rs` says what it does.

use std::process::ExitCode;

use clap::Parser;

use serve::Arguments;

fn main() -> ExitCode {
    match serve::run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
