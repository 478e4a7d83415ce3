//! Prints burn-onnx 0.22's errors for the models in `upstream`, without burn-roi-onnx.
//!
//! ```text
//! cargo run -p burn-roi-onnx --example upstream
//! ```

use std::any::Any;
use std::error::Error;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use burn::tensor::{Device, Tensor};
use burn_onnx::ModelGen;
use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, CustomOp, ProcessError};

/// A custom operator that refuses every node.
struct Own;

impl CustomOp for Own {
    fn op_type(&self) -> &str {
        "Own"
    }

    fn domain(&self) -> &str {
        "example"
    }

    fn infer_output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        Ok(vec![node.inputs[0].ty.clone()])
    }

    fn forward(&self, _: &CustomNode, _: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        Err(ProcessError::Custom("refused".to_string()))
    }
}

/// Calls that wait for a device. WebGPU in a browser refuses them.
const BLOCKING: [&str; 4] = [".argwhere()", ".into_scalar", ".into_data()", ".to_data()"];

fn main() -> Result<(), Box<dyn Error>> {
    // burn-onnx logs its steps, so the answers are printed last.
    let mut answers = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("upstream");
    let output = std::env::temp_dir().join(format!("upstream-{}", std::process::id()));
    let mut models: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    models.retain(|path| path.extension().is_some_and(|extension| extension == "onnx"));
    models.sort();
    for path in models {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = |path: &Path| path.to_str().map(str::to_string).ok_or("a path is not UTF-8");
        let (input, output) = (text(&path)?, text(&output)?);
        let generate = || {
            let mut model = ModelGen::new();
            model
                .register_custom_op(Own)
                .input(&input)
                .out_dir(&output)
                .run_from_cli();
        };
        let answer = match catch_unwind(AssertUnwindSafe(generate)) {
            Ok(()) => {
                let code = fs::read_to_string(Path::new(&output).join(format!("{name}.rs")))?;
                let blocking = BLOCKING.into_iter().find(|call| code.contains(call));
                blocking.map_or("generates code".to_string(), |call| {
                    format!("generates code with `{call}`")
                })
            }
            Err(panic) => format!("panics: {}", text_of(&panic).replace(&input, "the model")),
        };
        answers.push(format!("{name}: {answer}"));
    }
    let sizes = || Tensor::<2>::ones([1, 1], &Device::flex()).expand([0, 1]).dims();
    let expanded = match catch_unwind(AssertUnwindSafe(sizes)) {
        Ok(sizes) => format!("gives {sizes:?}"),
        Err(panic) => format!("panics: {}", text_of(&panic)),
    };
    answers.push(format!("the call in the code of expand_to_nothing: {expanded}"));
    println!("\n{}", answers.join("\n"));
    fs::remove_dir_all(output)?;
    Ok(())
}

fn text_of(panic: &Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a text").to_string()
}
