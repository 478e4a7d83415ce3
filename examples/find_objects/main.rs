//! The command; `lib.rs` says what it does.

use std::process::ExitCode;

use clap::Parser;

use find_objects::Arguments;

fn main() -> ExitCode {
    match find_objects::run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
