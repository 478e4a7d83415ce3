//! The operator sets that a model imports, and their versions.

use onnx_ir::ModelProto;

use crate::error::Error;

/// The operator set of this crate. `RoiAlign` and other standard operators are moved to it, since burn-onnx takes no
/// custom code for the default operator set.
pub(crate) const DOMAIN: &str = "burn_roi";

/// The newest version of the default operator set that burn-onnx reads.
pub(crate) const NEWEST_VERSION: usize = 24;

/// Whether this is the default operator set.
pub(crate) fn is_default(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// The version of an operator set that a model imports.
pub(crate) fn version(model: &ModelProto, domain: &str) -> Option<i64> {
    let same = |imported: &str| imported == domain || (is_default(imported) && is_default(domain));
    let import = model.opset_import.iter().find(|import| same(&import.domain))?;
    Some(import.version)
}

/// An error if a version is unknown, or if an operator set is imported in two versions.
pub(super) fn check_versions(model: &ModelProto) -> Result<(), Error> {
    let newest = NEWEST_VERSION as i64;
    let default = version(model, "").unwrap_or(0);
    if !(1..=newest).contains(&default) {
        return Err(Error::Opset {
            domain: String::new(),
            version: default,
            expected: format!("1 to {newest}"),
        });
    }
    for import in &model.opset_import {
        let (domain, number) = (&import.domain, import.version);
        if number < 1 {
            return Err(Error::Opset {
                domain: domain.clone(),
                version: number,
                expected: "at least 1".to_string(),
            });
        }
        // It is not specified which of two versions counts.
        match version(model, domain) {
            Some(first) if first != number => {
                return Err(Error::Opset {
                    domain: domain.clone(),
                    version: number,
                    expected: format!("{first}, which the model imports as well"),
                });
            }
            _ => {}
        }
    }
    Ok(())
}
