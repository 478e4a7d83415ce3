//! The command; `lib.rs` says what it does.

use std::process::ExitCode;

use clap::Parser;

use detection_head::Arguments;

fn main() -> ExitCode {
    match detection_head::run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
