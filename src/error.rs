//! [`RoiError`]: each message names the argument, its value, and what it must be.

use burn::tensor::DType;
use thiserror::Error;

/// Why an operator refused its arguments.
///
/// A `try_…` function returns it; the function without `try_` panics with the same text.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RoiAlignConfig, RoiError, Rois, try_roi_align};
///
/// # let device = Device::flex();
/// let features = Tensor::<4>::ones([1, 8, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[0.0, 0.0, f32::NAN, 8.0]], &device);
/// match try_roi_align(features, &Rois::from_images(vec![boxes]), RoiAlignConfig::new([7, 7])) {
///     Err(RoiError::BoxNotFinite { row, .. }) => println!("row {row} is not finite"),
///     Err(error) => println!("{error}"),
///     Ok(pooled) => println!("{:?}", pooled.dims()),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RoiError {
    /// A tensor has the wrong rank or the wrong number of columns.
    #[error("`{argument}` has shape {shape:?}, but must have shape {expected}")]
    Shape {
        /// The tensor.
        argument: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// What it must be.
        expected: &'static str,
    },
    /// There are not as many batch indices as boxes.
    #[error("`boxes` has {boxes} rows and `batch_indices` has {batch_indices}, but both must have one for each region")]
    Count {
        /// The number of boxes.
        boxes: usize,
        /// The number of batch indices.
        batch_indices: usize,
    },
    /// A list of tensors, or of image sizes, is empty.
    #[error("`{argument}` is an empty list, but must have one entry for each image")]
    NoImages {
        /// The list.
        argument: &'static str,
    },
    /// A pyramid has no level, or not as many scales as maps.
    #[error(
        "`features` has {features} maps and `scales` has {scales} numbers, but both must have one for each level, and \
        there must be a level"
    )]
    Levels {
        /// The number of feature maps.
        features: usize,
        /// The number of scales.
        scales: usize,
    },
    /// A tensor has another dtype than it must have.
    #[error("`{argument}` is of dtype {dtype:?}, but must be of {expected}")]
    DType {
        /// The tensor.
        argument: &'static str,
        /// Its dtype.
        dtype: DType,
        /// What it must be.
        expected: String,
    },
    /// A tensor is on another device than it must be.
    #[error("`{argument}` is on device {device}, but must be on {expected}, as `{like}` is")]
    Device {
        /// The tensor.
        argument: &'static str,
        /// Its device.
        device: String,
        /// The tensor that decides.
        like: &'static str,
        /// That tensor's device.
        expected: String,
    },
    /// A result has more elements than fit into memory.
    #[error("the {result} would have shape {shape:?} of {dtype:?}, but must fit into the memory of its device")]
    Memory {
        /// The result.
        result: &'static str,
        /// The shape that it would have.
        shape: Vec<usize>,
        /// Its dtype.
        dtype: DType,
    },
    /// The operators do not run on the backend of a tensor.
    #[error(
        "`{argument}` is on device {device}, which region operators do not run on: it must be on a device of {expected}"
    )]
    Backend {
        /// The tensor.
        argument: &'static str,
        /// Its device.
        device: String,
        /// The backends that this build has.
        expected: &'static str,
    },
    /// The features' channels are not a multiple of a position-sensitive operator's output elements.
    #[error(
        "`features` has {channels} channels, but must have a multiple of {divisor}: one for each output element of \
        {} x {}", .output_size[0], .output_size[1]
    )]
    Channels {
        /// The channels of the features.
        channels: usize,
        /// What must divide them.
        divisor: usize,
        /// Height and width of the output.
        output_size: [usize; 2],
    },
    /// The features' channels are not a multiple of the groups that an operator reads.
    #[error("`features` has {channels} channels, but must have a multiple of {divisor}: one for each {of}")]
    ChannelGroups {
        /// The channels of the features.
        channels: usize,
        /// What must divide them.
        divisor: usize,
        /// What each group is for.
        of: &'static str,
    },
    /// An option is out of its range.
    #[error("`{argument}` is {value}, but must be {expected}")]
    Option {
        /// The option.
        argument: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A map without pixels can't be pooled.
    #[error("`features` has shape {shape:?}, but height and width must be above 0 where there are regions")]
    EmptyMap {
        /// The shape `[N, C, H, W]` of the features.
        shape: [usize; 4],
    },
    /// A box has a coordinate that is NaN or infinite.
    #[error("`boxes` row {row} is {coordinates:?}, but must be finite")]
    BoxNotFinite {
        /// The row, counted from 0.
        row: usize,
        /// Its four coordinates.
        coordinates: [f64; 4],
    },
    /// A box of three axes begins or ends along z at a coordinate that is NaN or infinite.
    #[error("`boxes` row {row} has z1 {} and z2 {}, but both must be finite", .ends[0], .ends[1])]
    DepthNotFinite {
        /// The row, counted from 0.
        row: usize,
        /// z1 and z2.
        ends: [f64; 2],
    },
    /// A box that [`Rois::validate_normalized`](crate::Rois::validate_normalized) checked is far outside of its image.
    #[error(
        "`boxes` row {row} is {coordinates:?}, but a normalized box must be from -1 to 2: `Rois::to_normalized` \
        converts pixels"
    )]
    BoxNotNormalized {
        /// The row, counted from 0.
        row: usize,
        /// Its four coordinates.
        coordinates: [f64; 4],
    },
    /// The angle of a rotated box is NaN or infinite.
    #[error("`boxes` row {row} has the angle {angle}, but it must be finite")]
    AngleNotFinite {
        /// The row, counted from 0.
        row: usize,
        /// Its angle.
        angle: f64,
    },
    /// An offset of a region is NaN or infinite.
    #[error("`offsets` of region {row} has {offset} at place {place} of its `[2, rows, columns]`, but must be finite")]
    OffsetNotFinite {
        /// The region, counted from 0.
        row: usize,
        /// The place among the region's offsets, counted from 0.
        place: usize,
        /// The offset.
        offset: f64,
    },
    /// A batch index is negative, or not below the batch size.
    #[error("`batch_indices` row {row} is {index}, but must be at least 0 and below the batch size {batch}")]
    BatchIndex {
        /// The row, counted from 0.
        row: usize,
        /// The index.
        index: i128,
        /// The number of images.
        batch: usize,
    },
    /// A batch index of `from_index_first`, which is a float, is not a whole number.
    #[error("`boxes` row {row} begins with batch index {index}, but it must be a whole number")]
    BatchIndexNotWhole {
        /// The row, counted from 0.
        row: usize,
        /// The index.
        index: f64,
    },
    /// A tensor is on an autodiff device, and the feature `autodiff` is off.
    #[error(
        "`{argument}` is on an autodiff device, but must be on the inner device: this crate was built without its \
        feature `autodiff`"
    )]
    Autodiff {
        /// The tensor.
        argument: &'static str,
    },
    /// A blocking function can't read this device, such as WebGPU in a browser, which answers only asynchronously.
    #[error("`{function}` would block, which a browser does not allow on this device: await `{asynchronous}` instead")]
    SynchronousRead {
        /// The function that was called.
        function: &'static str,
        /// Its asynchronous form.
        asynchronous: &'static str,
    },
    /// The device failed before a tensor could be read back.
    #[error("the device failed, so that a tensor could not be read back: {reason}")]
    DeviceRead {
        /// What the backend says.
        reason: String,
    },
    /// The server of a remote device does not run the region operators of this version.
    #[error("the server of device {device} can't run this version's region operators: {reason}")]
    RemoteServer {
        /// The device.
        device: String,
        /// What is wrong with its server.
        reason: String,
    },
    /// A gradient was computed by [`primitive::backward`](crate::primitive::backward()) for tensors on an autodiff
    /// device.
    #[error(
        "`{argument}` is on an autodiff device, but must be on the inner device: there are no second-order gradients"
    )]
    SecondDerivative {
        /// The tensor.
        argument: &'static str,
    },
}

/// The error of a tensor, or of the argument `device`, on a device that the operators do not run on.
pub(crate) fn unsupported(argument: &'static str, device: &impl std::fmt::Debug) -> RoiError {
    RoiError::Backend {
        argument,
        device: format!("{device:?}"),
        expected: "Flex, NdArray, a CubeCL runtime or a server, with its feature of this crate turned on; \
            for a server, the feature `fusion` must be off",
    }
}

/// The value, or a panic with the error's own text, as Burn's operators do.
#[track_caller]
pub fn or_panic<T>(result: Result<T, impl std::fmt::Display>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// Declares a function that panics, and its `try_` form, which lists the errors and has the body of both.
macro_rules! panicking {
    (
        $(#[$documentation:meta])*
        pub fn $function:ident $(<$generic:ident: $bound:path>)? ($($argument:ident: $type:ty),+ $(,)?) -> $output:ty;
        $(#[$errors:meta])*
        pub fn $try_function:ident $body:block
    ) => {
        $crate::internal::paste! {
            $(#[$documentation])*
            ///
            /// # Panics
            ///
            #[doc = "If [`" $try_function "`] returns an error, with its text."]
            pub fn $function $(<$generic: $bound>)? ($($argument: $type),+) -> $output {
                $crate::error::or_panic($try_function $(::<$generic>)? ($($argument),+))
            }

            #[doc = "Fallible form of [`" $function "`](" $function "()): returns an error instead of panicking."]
            ///
            /// # Errors
            ///
            $(#[$errors])*
            pub fn $try_function $(<$generic: $bound>)? ($($argument: $type),+) -> Result<$output, RoiError> $body
        }
    };
}

pub(crate) use panicking;
