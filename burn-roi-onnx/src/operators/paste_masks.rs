//! Pastes masks into the image: what torchvision's export has a loop for.

use burn_onnx::ext::quote::quote;

use super::{Call, Channels, DOMAIN, Input, NEWEST_VERSION, Operator, PASTE_MASKS};
use crate::attributes::Attributes;
use crate::error::Error;

pub(super) const OPERATORS: &[Operator] = &[Operator {
    domain: DOMAIN,
    name: PASTE_MASKS,
    versions: 1..=NEWEST_VERSION,
    inputs: 3..=3,
    outputs: 1..=1,
    read: paste_masks,
}];

fn paste_masks(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&[])?;
    Ok(Call {
        inputs: vec![
            Input::float("masks", 4),
            Input::float("boxes", 2),
            Input::int("sizes", 1),
        ],
        output: vec![None; 3],
        channels: Channels::NONE,
        code: Box::new(move |inputs| {
            let [masks, boxes, sizes] = inputs else {
                unreachable!("the number of inputs was checked")
            };
            quote! {{
                let (burn_roi_masks, burn_roi_boxes, burn_roi_sizes) = (#masks, #boxes, #sizes);
                let burn_roi_sizes: alloc::vec::Vec<i64> = burn_roi_sizes.into_data().iter::<i64>().collect();
                let burn_roi_size = [burn_roi_sizes[1] as usize, burn_roi_sizes[2] as usize];
                burn_roi_detection::paste_masks_in_image(burn_roi_masks, burn_roi_boxes, burn_roi_size, 1)
                    .squeeze_dim::<3>(1)
            }}
        }),
        repeated: Vec::new(),
    })
}
