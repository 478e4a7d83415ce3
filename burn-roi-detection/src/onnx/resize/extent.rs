//! The sizes of the output, and the scale and the region of each axis.

use super::{AspectRatioPolicy, Resize, ResizeTo, ResizeTransformation};
use crate::arguments;
use crate::error::DetectionError;

/// The largest size of the output along an axis.
const MAXIMUM_SIZE: f32 = (1u32 << 31) as f32;

/// What is resized along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    pub input: usize,
    pub output: usize,
    pub scale: f32,
    /// Start and end of the region along the axis.
    pub region: [f32; 2],
}

impl Extent {
    fn kept(size: usize) -> Self {
        Self {
            input: size,
            output: size,
            scale: 1.0,
            region: [0.0, 1.0],
        }
    }

    /// Whether the axis stays as it is. Positions are the indices then, unless a region says otherwise.
    pub fn is_kept(&self) -> bool {
        self.input == self.output && self.scale == 1.0
    }

    /// Whether the scale is the quotient of the sizes.
    pub fn has_scale_of_sizes(&self) -> bool {
        self.scale == self.output as f32 / self.input as f32
    }
}

/// The extent of each axis of a tensor of sizes `dims`.
pub(super) fn extents(
    dims: &[usize],
    to: ResizeTo,
    roi: &[f32],
    options: &Resize,
) -> Result<Vec<Extent>, DetectionError> {
    let axes = match &options.axes {
        Some(axes) => axes.clone(),
        None => (0..dims.len()).collect(),
    };
    let valid = axes
        .iter()
        .enumerate()
        .all(|(at, axis)| *axis < dims.len() && !axes[..at].contains(axis));
    arguments::check("axes", valid, format_args!("{axes:?}"), "different axes of `input`")?;
    let mut extents: Vec<_> = dims.iter().copied().map(Extent::kept).collect();
    match to {
        ResizeTo::Sizes(sizes) => by_sizes(&mut extents, &axes, sizes, options.aspect_ratio)?,
        ResizeTo::Scales(scales) => by_scales(&mut extents, &axes, scales)?,
    }
    for extent in &extents {
        let fits = extent.input > 0 || extent.output == 0;
        arguments::check("sizes", fits, extent.output, "0 along an axis of size 0")?;
    }
    if options.transformation == ResizeTransformation::TfCropAndResize {
        let fits = roi.len() == 2 * axes.len() && roi.iter().all(|end| end.is_finite());
        let expected = "a finite start for each axis, and then a finite end for each axis";
        arguments::check("roi", fits, format_args!("{roi:?}"), expected)?;
        for (at, &axis) in axes.iter().enumerate() {
            extents[axis].region = [roi[at], roi[at + axes.len()]];
        }
    }
    Ok(extents)
}

fn by_sizes(
    extents: &mut [Extent],
    axes: &[usize],
    sizes: &[i64],
    policy: AspectRatioPolicy,
) -> Result<(), DetectionError> {
    let fits = |&size: &i64| size >= 0 && size as f32 <= MAXIMUM_SIZE;
    let fits = sizes.len() == axes.len() && sizes.iter().all(fits);
    let expected = "a size of 0 to 2^31 for each axis";
    arguments::check("sizes", fits, format_args!("{sizes:?}"), expected)?;
    let scales: Vec<f32> = axes
        .iter()
        .zip(sizes)
        .map(|(&axis, &size)| match extents[axis].input {
            0 => 1.0,
            input => size as f32 / input as f32,
        })
        .collect();
    let common = match policy {
        AspectRatioPolicy::Stretch => None,
        AspectRatioPolicy::NotLarger => scales.iter().copied().reduce(f32::min),
        AspectRatioPolicy::NotSmaller => scales.iter().copied().reduce(f32::max),
    };
    for (at, &axis) in axes.iter().enumerate() {
        let extent = &mut extents[axis];
        (extent.output, extent.scale) = match common {
            None => (sizes[at] as usize, scales[at]),
            // Rounded half up.
            Some(scale) => ((scale * extent.input as f32 + 0.5).floor() as usize, scale),
        };
    }
    Ok(())
}

fn by_scales(extents: &mut [Extent], axes: &[usize], scales: &[f32]) -> Result<(), DetectionError> {
    let check = |fits: bool| {
        let expected = "a finite scale above 0 for each axis, with a product of at most 2^31";
        arguments::check("scales", fits, format_args!("{scales:?}"), expected)
    };
    check(scales.len() == axes.len())?;
    for (&axis, &scale) in axes.iter().zip(scales) {
        let extent = &mut extents[axis];
        let size = scale * extent.input as f32;
        check(scale.is_finite() && scale > 0.0 && size <= MAXIMUM_SIZE)?;
        (extent.output, extent.scale) = (size.floor() as usize, scale);
    }
    Ok(())
}
