//! Generates `model/shapes.rs` in `OUT_DIR` from `shapes.onnx`.

fn main() -> Result<(), burn_roi_onnx::Error> {
    let mut model = burn_onnx::ModelGen::new();
    burn_roi_onnx::input(&mut model, "shapes.onnx")?;
    burn_roi_onnx::register(&mut model);
    burn_roi_onnx::generate(model.out_dir("model/"))
}
