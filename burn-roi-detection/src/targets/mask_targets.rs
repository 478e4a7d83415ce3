//! [`project_masks_on_boxes`]: the masks that a mask head must learn.

use burn::tensor::{Int, Tensor};

use super::ground_truth::{finite_boxes, matched_rows};
use crate::configs::configs;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::{arguments, host};
use burn_roi::{RoiAlignConfig, RoiError, Rois, try_roi_align};

blocking_forms!(
    /// Crops each proposal from its ground-truth mask, at a size of M x M. Same semantics as torchvision's
    /// `project_masks_on_boxes` (`torchvision.models.detection.roi_heads`), for all images in one tensor.
    ///
    /// This is [`roi_align`](burn_roi::roi_align()) with a spatial scale of 1 and an adaptive number of samples.
    ///
    /// - `gt_masks`: for each image `[G, H, W]`: the mask of each ground-truth object in the whole image, 1 inside and
    ///   0 outside, of any float dtype.
    /// - `proposals`: for each image i `[Kᵢ, 4]`, each `[x1, y1, x2, y2]` in pixels of the image, of a float dtype that
    ///   [`roi_align`](burn_roi::roi_align()) takes. It is the same for all images, and the sum of all Kᵢ is K.
    /// - `mask_matched_idxs`: for each image i `[Kᵢ]`, the row of each proposal's ground truth, of any integer dtype.
    /// - `discretization_size`: M, the height and width of the result, 1 to 32767.
    /// - `targets`: torchvision's choices by default; other frameworks' are options.
    /// - Returns `[K, M, M]`, from 0 to 1, in the dtype of `proposals`.
    ///
    /// Proposals and indices are read back to the host. The result is on the inner device if the proposals are on an
    /// autodiff device.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::{MaskTargets, project_masks_on_boxes};
    ///
    /// let device = Device::default();
    /// // An object that fills the left half of an image of 8 x 8.
    /// let object = Tensor::<3>::ones([1, 8, 4], &device);
    /// let gt_masks = vec![Tensor::cat(vec![object.clone(), object.zeros_like()], 2)];
    /// let proposals = vec![Tensor::<2>::from_floats([[0.0, 0.0, 3.0, 8.0], [5.0, 0.0, 8.0, 8.0]], &device)];
    /// let mask_matched_idxs = vec![Tensor::<1, Int>::from_ints([0, 0], &device)];
    ///
    /// let targets = MaskTargets::new();
    /// let projected = project_masks_on_boxes(&gt_masks, &proposals, &mask_matched_idxs, 1, &targets);
    /// assert_eq!(projected.try_into_vec_as::<f32>().unwrap(), [1.0, 0.0]);
    /// ```
    pub async fn project_masks_on_boxes(
        gt_masks: &[Tensor<3>],
        proposals: &[Tensor<2>],
        mask_matched_idxs: &[Tensor<1, Int>],
        discretization_size: usize,
        targets: &MaskTargets,
    ) -> Result<Tensor<3>, DetectionError> {
        //! Async form of [`project_masks_on_boxes`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::NoImages`: `proposals` is an empty list.
        //! - `RoiError::Option`: `discretization_size` is 0 or above 32767.
        //! - [`DetectionError::Length`]: `gt_masks` or `mask_matched_idxs` does not have one tensor for each image, or
        //!   an element of `mask_matched_idxs` not one index for each proposal.
        //! - `RoiError::Shape`: an element of `proposals` is not `[Kᵢ, 4]`, or one of `gt_masks` has no pixels.
        //! - `RoiError::Device`: a tensor is on another device than the proposals of the first image.
        //! - `RoiError::DType`: the elements of `proposals` have different dtypes, or one that the device can't pool.
        //! - [`DetectionError::Target`]: a proposal is not finite, or an index names no mask.
        //! - `RoiError::Backend`: [`roi_align`](burn_roi::roi_align()) does not run on the device.

        if proposals.is_empty() {
            return Err(RoiError::NoImages { argument: "proposals" }.into());
        }
        arguments::output_size("discretization_size", discretization_size)?;
        let images = proposals.len();
        arguments::length("gt_masks", gt_masks.len(), images, "image of `proposals`")?;
        let lists = mask_matched_idxs.len();
        arguments::length("mask_matched_idxs", lists, images, "image of `proposals`")?;
        for image in 0..images {
            check_proposals(image, &proposals[image], &proposals[0]).await?;
            check_masks(&gt_masks[image], &proposals[image])?;
            check_indices(image, &mask_matched_idxs[image], &gt_masks[image], &proposals[image]).await?;
        }
        let projected = (0..images)
            .map(|image| {
                let (gt_masks, proposals) = (&gt_masks[image], &proposals[image]);
                targets.project_image(gt_masks, proposals, &mask_matched_idxs[image], discretization_size)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(host::concatenate(&projected))
    }
);

configs! {
/// How a ground-truth mask becomes the target of a mask head. The defaults are torchvision's.
///
/// detectron2 and mmdetection train on bitmaps with both options on:
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_roi_detection::{MaskTargets, project_masks_on_boxes};
///
/// let device = Device::default();
/// // An object that fills the left half of an image of 8 x 8.
/// let object = Tensor::<3>::ones([1, 8, 4], &device);
/// let gt_masks = [Tensor::cat(vec![object.clone(), object.zeros_like()], 2)];
/// let proposals = [Tensor::<2>::from_floats([[0.0, 0.0, 8.0, 8.0]], &device)];
/// let matched_idxs = [Tensor::<1, Int>::from_ints([0], &device)];
/// let row = |masks: Tensor<3>| masks.slice([0..1, 0..1, 0..8]).try_into_vec_as::<f32>().unwrap();
///
/// let aligned = MaskTargets { aligned: true, binary: true };
/// let aligned = project_masks_on_boxes(&gt_masks, &proposals, &matched_idxs, 8, &aligned);
/// assert_eq!(row(aligned), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
/// let default = project_masks_on_boxes(&gt_masks, &proposals, &matched_idxs, 8, &MaskTargets::new());
/// assert_eq!(row(default), [1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
/// ```
pub struct MaskTargets {
    /// The `aligned` of [`roi_align`](burn_roi::roi_align()): whether the centres of pixels are at halves. Without it a
    /// target is shifted by half a pixel of the image.
    pub aligned: bool = false,
    /// Whether targets are 0 or 1: 1 from 0.5 on. Otherwise they are from 0 to 1.
    pub binary: bool = false,
}
}

impl MaskTargets {
    /// The masks of one image, whose tensors are checked.
    fn project_image(
        &self,
        gt_masks: &Tensor<3>,
        proposals: &Tensor<2>,
        matched_idxs: &Tensor<1, Int>,
        size: usize,
    ) -> Result<Tensor<3>, DetectionError> {
        let (count, dtype) = (proposals.dims()[0], proposals.dtype());
        if count == 0 {
            return Ok(Tensor::zeros([0, size, size], (&proposals.device().inner(), dtype)));
        }
        let masks = gt_masks.clone().inner().cast(dtype).unsqueeze_dim::<4>(1);
        let rois = Rois::try_new(proposals.clone().inner(), matched_idxs.clone().inner())?;
        let config = RoiAlignConfig::new([size, size]).with_aligned(self.aligned);
        let projected = try_roi_align(masks, &rois, config)?.reshape([count, size, size]);
        if self.binary {
            let is_set = projected.greater_equal_elem(0.5);
            return Ok(is_set.float().cast(dtype));
        }
        Ok(projected)
    }
}

async fn check_proposals(image: usize, proposals: &Tensor<2>, first: &Tensor<2>) -> Result<(), DetectionError> {
    arguments::boxes("proposals", proposals)?;
    arguments::device_and_dtype("proposals", proposals, "proposals[0]", first)?;
    finite_boxes(image, "proposals", proposals).await.map(drop)
}

fn check_masks(gt_masks: &Tensor<3>, proposals: &Tensor<2>) -> Result<(), DetectionError> {
    arguments::device("gt_masks", gt_masks, "proposals", proposals)?;
    let [_, height, width] = gt_masks.dims();
    let fits = proposals.dims()[0] == 0 || height * width > 0;
    let expected = "[G, H, W], with H and W above 0 where there are proposals";
    arguments::check_shape("gt_masks", fits, &gt_masks.dims(), expected)
}

async fn check_indices(
    image: usize,
    matched_idxs: &Tensor<1, Int>,
    gt_masks: &Tensor<3>,
    proposals: &Tensor<2>,
) -> Result<(), DetectionError> {
    let (indices, rows) = (matched_idxs.dims()[0], proposals.dims()[0]);
    arguments::length("mask_matched_idxs", indices, rows, "row of `proposals`")?;
    arguments::device("mask_matched_idxs", matched_idxs, "proposals", proposals)?;
    let rows = matched_rows(image, "mask_matched_idxs", matched_idxs, gt_masks, "masks");
    rows.await.map(drop)
}
