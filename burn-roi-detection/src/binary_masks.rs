//! [`paste_binary_masks_in_image`]: masks above a threshold, pasted at the size and position of their boxes.

use std::ops::Range;

use burn::tensor::{Bool, BoolStore, DType, ElementConversion, Tensor, TensorData, bf16, f16};
use rayon::prelude::*;

use super::arguments;
use super::host::rounded;
use super::mask_window::{MaskPixel, Window};
use super::paste_masks::windows;
use super::run_lengths::{RunLengths, of_mask};
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use burn_roi::internal::{check_memory, is_host, read};

blocking_forms!(
    /// Pastes masks as [`paste_masks_in_image`](super::paste_masks_in_image) does, and compares each pixel with a
    /// threshold: what users of torchvision compute as `paste_masks_in_image(...) > 0.5`.
    ///
    /// - `masks`, `boxes`, `image_size`, `padding`: as in [`paste_masks_in_image`](super::paste_masks_in_image). The
    ///   image has at most 2^32 - 1 pixels.
    /// - `threshold`: rounded to the dtype of `masks`. Not NaN. A pixel is set if its value is above it. detectron2
    ///   sets a pixel whose value is equal too.
    /// - Returns `[K, 1, H, W]`. On a host device it equals `paste_masks_in_image(...).greater_elem(threshold)`, bit
    ///   for bit.
    ///
    /// Masks and boxes are read back, and the result is computed on the host, a byte a pixel, without the image of
    /// floats.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::paste_binary_masks_in_image;
    ///
    /// let device = Device::default();
    /// let masks = Tensor::<4>::ones([1, 1, 28, 28], &device);
    /// let boxes = Tensor::<2>::from_floats([[10.0, 10.0, 50.0, 30.0]], &device);
    /// let pasted = paste_binary_masks_in_image(masks, boxes, [48, 64], 1, 0.5);
    /// assert_eq!(pasted.dims(), [1, 1, 48, 64]);
    /// ```
    pub async fn paste_binary_masks_in_image(
        masks: Tensor<4>,
        boxes: Tensor<2>,
        image_size: [usize; 2],
        padding: usize,
        threshold: f64,
    ) -> Result<Tensor<4, Bool>, DetectionError> {
        //! Async form of [`paste_binary_masks_in_image`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - All errors of [`paste_masks_in_image_async`](super::paste_masks_in_image_async()).
        //! - `RoiError::Option`: `threshold` is NaN, or the image has more than 2^32 - 1 pixels.
        //! - `RoiError::Memory`: the result does not fit into memory.

        let masks = HostMasks::new(masks, boxes, image_size, padding, threshold).await?;
        let [height, width] = image_size;
        let (count, device) = (masks.places.len(), masks.masks.device());
        let dtype = DType::Bool(BoolStore::Native);
        check_memory("pasted masks", &[count, 1, height, width], dtype, &device)?;
        let images = match masks.masks.dtype() {
            DType::F64 => masks.images::<f64>(image_size).await?,
            DType::F16 => masks.images::<f16>(image_size).await?,
            DType::BF16 => masks.images::<bf16>(image_size).await?,
            _ => masks.images::<f32>(image_size).await?,
        };
        Ok(Tensor::from_data(
            TensorData::new(images, [count, 1, height, width]),
            &device,
        ))
    }

    /// Pastes masks as [`paste_binary_masks_in_image`] does, and encodes each as run lengths: the RLE of COCO.
    ///
    /// - `masks`, `boxes`, `image_size`, `padding`, `threshold`: as in [`paste_binary_masks_in_image`].
    /// - Returns each mask of [`paste_binary_masks_in_image`] as run lengths.
    ///
    /// Masks and boxes are read back. No image is computed: beside the run lengths, a call takes less than 1 MiB for
    /// each thread and 16 MiB for a copy of masks.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::paste_masks_as_run_lengths;
    ///
    /// let device = Device::default();
    /// let masks = Tensor::<4>::ones([1, 1, 4, 4], &device);
    /// let boxes = Tensor::<2>::from_floats([[1.0, 0.0, 3.0, 2.0]], &device);
    /// let encoded = paste_masks_as_run_lengths(masks, boxes, [4, 5], 0, 0.5);
    /// // Column by column: 4 pixels of the first column are not set. Of the next three columns the first three are.
    /// assert_eq!(encoded[0].counts(), [4, 3, 1, 3, 1, 3, 5]);
    /// assert_eq!(encoded[0].to_coco_string(), "4310004");
    /// ```
    pub async fn paste_masks_as_run_lengths(
        masks: Tensor<4>,
        boxes: Tensor<2>,
        image_size: [usize; 2],
        padding: usize,
        threshold: f64,
    ) -> Result<Vec<RunLengths>, DetectionError> {
        //! Async form of [`paste_masks_as_run_lengths`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - All errors of [`paste_masks_in_image_async`](super::paste_masks_in_image_async()).
        //! - `RoiError::Option`: `threshold` is NaN, or the image has more than 2^32 - 1 pixels.

        HostMasks::new(masks, boxes, image_size, padding, threshold)
            .await?
            .encode()
            .await
    }
);

/// Pastes masks `[K, 1, M, M]` of several images as run lengths: `boxes` and `image_sizes` have one entry a mask.
#[cfg(feature = "models")]
pub(crate) async fn paste_rows_as_run_lengths(
    masks: Tensor<4>,
    boxes: &[[f32; 4]],
    image_sizes: Vec<[usize; 2]>,
    padding: usize,
    threshold: f64,
) -> Result<Vec<RunLengths>, DetectionError> {
    arguments::not_nan("threshold", threshold)?;
    image_sizes.iter().copied().try_for_each(check_size)?;
    let dtype = masks.dtype();
    let rounded_box = |corners: &[f32; 4]| corners.map(|coordinate| rounded(f64::from(coordinate), dtype));
    let boxes: Vec<_> = boxes.iter().map(rounded_box).collect();
    let windows = super::mask_window::windows_of(&boxes, dtype, masks.dims()[3], padding)?;
    let places = windows.into_iter().zip(image_sizes).collect();
    HostMasks::of_places(masks, places, threshold).encode().await
}

/// Masks that are pasted on the host.
struct HostMasks {
    /// `[K, 1, M, M]`.
    masks: Tensor<4>,
    /// For each mask its window, and the size of its image, whose number of pixels is a u32.
    places: Vec<(Window, [usize; 2])>,
    /// A value of the masks' dtype.
    threshold: f64,
}

impl HostMasks {
    async fn new(
        masks: Tensor<4>,
        boxes: Tensor<2>,
        image_size: [usize; 2],
        padding: usize,
        threshold: f64,
    ) -> Result<Self, DetectionError> {
        arguments::not_nan("threshold", threshold)?;
        check_size(image_size)?;
        let windows = windows(&masks, &boxes, padding).await?;
        let places = windows.into_iter().map(|window| (window, image_size)).collect();
        Ok(Self::of_places(masks, places, threshold))
    }

    fn of_places(masks: Tensor<4>, places: Vec<(Window, [usize; 2])>, threshold: f64) -> Self {
        let threshold = rounded(threshold, masks.dtype());
        Self {
            masks,
            places,
            threshold,
        }
    }

    /// The pixels of all images, `[K, H, W]`, which have the same size.
    async fn images<T: MaskPixel>(&self, [height, width]: [usize; 2]) -> Result<Vec<bool>, DetectionError> {
        let pixels = height * width;
        let threshold: T = self.threshold.elem();
        // Outside of its window, a mask is 0.
        let mut images = vec![0.0 > self.threshold; self.places.len() * pixels];
        for rows in self.groups() {
            let masks = self.read::<T>(&rows).await?;
            let images = &mut images[rows.start * pixels..rows.end * pixels];
            let images = images.par_chunks_mut(pixels.max(1));
            let masks = masks.par_chunks(self.mask_pixels()).zip(&self.places[rows]);
            images.zip(masks).for_each(|(image, (mask, (window, size)))| {
                window.resize_on_host(mask, *size, |row, column, values| {
                    let start = row * width + column;
                    let pixels = &mut image[start..start + values.len()];
                    for (pixel, &value) in pixels.iter_mut().zip(values) {
                        *pixel = value > threshold;
                    }
                });
            });
        }
        Ok(images)
    }

    async fn encode(&self) -> Result<Vec<RunLengths>, DetectionError> {
        match self.masks.dtype() {
            DType::F64 => self.run_lengths::<f64>().await,
            DType::F16 => self.run_lengths::<f16>().await,
            DType::BF16 => self.run_lengths::<bf16>().await,
            _ => self.run_lengths::<f32>().await,
        }
    }

    async fn run_lengths<T: MaskPixel>(&self) -> Result<Vec<RunLengths>, DetectionError> {
        let threshold: T = self.threshold.elem();
        let mut all = Vec::with_capacity(self.places.len());
        for rows in self.groups() {
            let masks = self.read::<T>(&rows).await?;
            let masks = masks.par_chunks(self.mask_pixels()).zip(&self.places[rows]);
            all.par_extend(masks.map(|(mask, (window, size))| of_mask(mask, window, *size, threshold)));
        }
        Ok(all)
    }

    /// How many pixels a mask has before it is pasted.
    fn mask_pixels(&self) -> usize {
        let [.., height, width] = self.masks.dims();
        height * width
    }

    /// The rows of masks that are read together: 16 MiB of f32. 100 masks of 28 x 28 are 0.3 MiB, so that a GPU is
    /// usually read once.
    fn groups(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        const PIXELS: usize = 1 << 22;

        let (count, group) = (self.places.len(), (PIXELS / self.mask_pixels()).max(1));
        (0..count)
            .step_by(group)
            .map(move |first| first..count.min(first + group))
    }

    async fn read<T: MaskPixel>(&self, rows: &Range<usize>) -> Result<Vec<T>, DetectionError> {
        let masks = self.masks.clone().slice_dim(0, rows.clone());
        let data = read(is_host(&masks.device()), || masks.to_data_async()).await?;
        Ok(data.iter::<T>().collect())
    }
}

/// Checks that the number of pixels of an image is a u32.
fn check_size(image_size: [usize; 2]) -> Result<(), DetectionError> {
    let pixels = image_size[0].checked_mul(image_size[1]);
    let fits = pixels.is_some_and(|pixels| u32::try_from(pixels).is_ok());
    let expected = "of at most 4294967295 pixels";
    arguments::check("image_size", fits, format_args!("{image_size:?}"), expected)
}
