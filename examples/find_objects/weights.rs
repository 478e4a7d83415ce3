//! Weights of torchvision and of detectron2.

use std::path::Path;

use burn_roi_detection::models::Detector;
use burn_roi_detection::weights::StateDict;
use burn_roi_detection::weights::detectron2::Checkpoint;

use crate::error::Error;

/// Loads a file under torchvision's or detectron2's names, whichever it has.
pub fn load(path: &Path, detector: &mut Detector) -> Result<(), Error> {
    let state = read(path)?;
    let names = state.naming(detector);
    Ok(state.load_into(detector, names)?)
}

/// Loads the backbone of a file, such as that of an ImageNet classifier.
pub fn load_backbone(path: &Path, detector: &mut Detector) -> Result<(), Error> {
    Ok(read(path)?.load_backbone_into(detector)?)
}

fn read(path: &Path) -> Result<StateDict, Error> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("pkl") => Ok(Checkpoint::read(path)?.into_state_dict()),
        _ => Ok(StateDict::read(path)?),
    }
}
