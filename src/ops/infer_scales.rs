//! `infer_scales`: the scales of a pyramid's maps from the sizes of maps and images.

use super::options;
use crate::error::{RoiError, or_panic};

/// The scales of a pyramid's maps: for each map, the power of two that is nearest to the size of the map divided by the
/// size of the images.
///
/// `map_sizes` has `[height, width]` of each level, and `image_sizes` has `[height, width]` of each image before
/// padding. The returned scales are in the order of `map_sizes`. A map's height is divided by the greatest height of an
/// image, as in torchvision. If this ratio is more than a factor of 2^0.25 from a power of two, and the ratio of the
/// widths is closer to a power of two, the widths count: for a map of 24 x 336 and an image of 66 x 1333 the scale is
/// 1/4, and 1/2 in torchvision. If both sides are nearest to the same power of two, the scales equal torchvision's.
///
/// ```
/// use burn_roi::infer_scales;
///
/// // Two images of different sizes, padded to 800 x 1216.
/// let scales = infer_scales(&[[200, 304], [100, 152]], &[[800, 1100], [750, 1216]]);
/// assert_eq!(scales, [0.25, 0.125]);
/// ```
///
/// # Panics
///
/// If [`try_infer_scales`] returns an error, with its text.
pub fn infer_scales(map_sizes: &[[usize; 2]], image_sizes: &[[usize; 2]]) -> Vec<f64> {
    or_panic(try_infer_scales(map_sizes, image_sizes))
}

/// Fallible form of [`infer_scales`].
///
/// # Errors
///
/// - [`RoiError::NoImages`]: there is no image.
/// - [`RoiError::Option`]: a height or a width of 0.
pub fn try_infer_scales(map_sizes: &[[usize; 2]], image_sizes: &[[usize; 2]]) -> Result<Vec<f64>, RoiError> {
    let above_zero = |argument, sizes: &[[usize; 2]]| {
        let fits = sizes.iter().flatten().all(|&side| side > 0);
        options::check(argument, fits, format!("{sizes:?}"), "above 0 in height and in width")
    };
    above_zero("map_sizes", map_sizes)?;
    above_zero("image_sizes", image_sizes)?;
    let longest = |axis: usize| image_sizes.iter().map(|size| size[axis]).max();
    let (Some(height), Some(width)) = (longest(0), longest(1)) else {
        return Err(RoiError::NoImages {
            argument: "image_sizes",
        });
    };
    let scale = |size: &[usize; 2]| {
        let [of_height, of_width] = [size[0] as f64 / height as f64, size[1] as f64 / width as f64].map(|ratio| {
            // The ratio and its logarithm are f32 in torchvision.
            let logarithm = f64::from(ratio as f32).log2() as f32;
            let nearest = logarithm.round_ties_even();
            (nearest, (logarithm - nearest).abs())
        });
        // Maps of images that are padded to a common size are a little larger than their scale says.
        let is_clear = of_height.1 <= 0.25;
        let (nearest, _) = match is_clear || of_height.1 <= of_width.1 {
            true => of_height,
            false => of_width,
        };
        f64::from(nearest).exp2()
    };
    Ok(map_sizes.iter().map(scale).collect())
}
