//! `bindgen MODULE.wasm FOLDER NAME` writes `NAME.js` and `NAME_bg.wasm` into a folder, for a page without a bundler.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: bindgen MODULE.wasm FOLDER NAME");
        return ExitCode::FAILURE;
    };
    match write(module, folder, name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(module: &str, folder: &str, name: &str) -> Result<(), String> {
    let mut bindgen = Bindgen::new();
    let web = bindgen.input_path(module).out_name(name).typescript(false);
    let web = web.remove_name_section(true).remove_producers_section(true).web(true);
    let web = web.map_err(|error| format!("{error:#}"))?;
    web.generate(folder).map_err(|error| format!("{error:#}"))
}
