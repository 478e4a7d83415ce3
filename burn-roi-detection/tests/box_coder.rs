//! Box deltas.

use burn_roi_detection::BoxCoder;

use crate::cases::{Case, check_all};

#[test]
fn encoded_box_deltas_are_those_of_torchvision() {
    check_all("encode", |case, backend| {
        let reference = case.floats("reference", &backend.device);
        let proposals = case.floats("proposals", &backend.device);
        let deltas = coder(case).encode(reference, proposals);
        case.assert_floats(0, deltas, 1e-4, backend);
    });
}

#[test]
fn decoded_boxes_are_those_of_torchvision() {
    check_all("decode", |case, backend| {
        let deltas = case.floats("deltas", &backend.device);
        let boxes = case.floats("boxes", &backend.device);
        let decoded = coder(case).decode(deltas, boxes);
        case.assert_floats(0, decoded, 1e-4, backend);
    });
}

fn coder(case: &Case) -> BoxCoder {
    let coder = BoxCoder::new(case.option("weights"));
    match case.optional("bbox_xform_clip") {
        Some(clip) => coder.with_bbox_xform_clip(clip),
        None => coder,
    }
}
