//! detectron2's Faster, Mask, Keypoint and Cascade Mask R-CNN with a feature pyramid and ViTDet, narrow and with random
//! weights, compared part by part: with mayaku, which runs detectron2's models in torch, and the cascade's heads and
//! ViTDet's layers with torch code of our own. The environment variable
//! `DETECTRON2_RECORDINGS` names a folder of other recordings, such as those of full width, with their `.pkl` and
//! `.yaml` files.

use burn::tensor::Device;
use burn_roi_detection::weights::detectron2::{Checkpoint, names, read_config};

use super::recording::{of_folder, read};
use super::recordings::compare;
use crate::backends::backends;

/// On Flex: on NdArray each takes a minute.
fn narrow(name: &str) {
    let recordings = read(include_bytes!("detectron2.safetensors"));
    let recording = recordings.iter().find(|recording| recording.name == name).unwrap();
    compare(recording, recording.weights().unwrap(), names, &Device::flex(), "flex");
}

#[test]
fn faster_rcnn() {
    narrow("faster_rcnn");
}

#[test]
fn mask_rcnn() {
    narrow("mask_rcnn");
}

#[test]
fn keypoint_rcnn() {
    narrow("keypoint_rcnn");
}

/// The reference is written after detectron2's source: mayaku has no cascade.
#[test]
fn cascade_mask_rcnn() {
    narrow("cascade_mask_rcnn");
}

/// The reference is written after detectron2's source: mayaku has no ViTDet.
#[test]
fn mask_rcnn_vitdet() {
    let [recording] = &read(include_bytes!("vitdet.safetensors"))[..] else {
        panic!("there should be one recording");
    };
    compare(recording, recording.weights().unwrap(), names, &Device::flex(), "flex");
}

/// Those that `record_vitdet.py` wrote into the folder `VITDET_RECORDINGS`, on all backends.
#[test]
fn vitdets_of_the_folder() {
    for (_, recording) in of_folder("VITDET_RECORDINGS") {
        for backend in backends() {
            let weights = recording.weights().unwrap();
            compare(&recording, weights, names, &backend.device, backend.name);
        }
    }
}

/// Those that `record_mayaku.py` wrote into the folder, on all backends. mayaku read the same two files.
#[test]
fn recordings_of_the_folder() {
    for (folder, recording) in of_folder("DETECTRON2_RECORDINGS") {
        let file = |ending: &str| folder.join(format!("{}.{ending}", recording.name));
        assert_eq!(read_config(file("yaml")).unwrap(), recording.config());
        let weights = Checkpoint::read(file("pkl")).unwrap().into_state_dict();
        for backend in backends() {
            compare(&recording, weights.clone(), names, &backend.device, backend.name);
        }
    }
}
