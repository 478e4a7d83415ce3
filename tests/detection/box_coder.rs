//! Codes of boxes.

use burn_roi::detection::BoxCoder;

use crate::cases::{Case, check_all};

#[test]
fn codes_are_those_of_torchvision() {
    check_all("encode", |case, backend| {
        let reference = case.floats("reference", &backend.device);
        let proposals = case.floats("proposals", &backend.device);
        let codes = coder(case).encode(reference, proposals);
        case.assert_floats(0, codes, 1e-4, backend);
    });
}

#[test]
fn decoded_boxes_are_those_of_torchvision() {
    check_all("decode", |case, backend| {
        let codes = case.floats("codes", &backend.device);
        let boxes = case.floats("boxes", &backend.device);
        let decoded = coder(case).decode(codes, boxes);
        case.assert_floats(0, decoded, 1e-4, backend);
    });
}

fn coder(case: &Case) -> BoxCoder {
    let coder = BoxCoder::new(case.option("weights"));
    match case.optional("clip") {
        Some(clip) => coder.with_bbox_xform_clip(clip),
        None => coder,
    }
}
