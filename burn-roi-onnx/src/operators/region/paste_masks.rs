//! Pastes masks into the image. torchvision's export does it in a `Loop`.

use burn_onnx::ext::quote::quote;

use super::operator::{Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::read::opset::{DOMAIN, NEWEST_VERSION};

/// The operator's name.
pub(crate) const NAME: &str = "PasteMasks";

pub(super) const OPERATORS: &[Operator] = &[Operator::new(DOMAIN, NAME, 1..=NEWEST_VERSION, 3..=3, paste_masks)];

fn paste_masks(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&[])?;
    let inputs = [
        Input::float("masks", 4),
        Input::float("boxes", 2),
        Input::int("sizes", 1),
    ];
    Ok(Call::new(inputs, 3, None, |[masks, boxes, sizes]| {
        quote! {{
            let (burn_roi_masks, burn_roi_boxes, burn_roi_sizes) = (#masks, #boxes, #sizes);
            let burn_roi_sizes: alloc::vec::Vec<i64> = burn_roi_sizes.into_data().iter::<i64>().collect();
            let burn_roi_size = [burn_roi_sizes[1] as usize, burn_roi_sizes[2] as usize];
            burn_roi_detection::paste_masks_in_image(burn_roi_masks, burn_roi_boxes, burn_roi_size, 1)
                .squeeze_dim::<3>(1)
        }}
    }))
}
