//! The operators of other frameworks: their attributes, under their names and with their defaults, and
//! what they are in this crate's options.

/// Declares a framework's attributes as a config, and how they become the config of an operator. That stands behind the
/// attributes, in one of two forms:
///
/// - `RoiPoolConfig::new(output_size) with spatial_scale, rounding(Never)`: the arguments of `new`, then options. An
///   option without a value takes the attribute of the same name, converted by `into`.
/// - `RoiPoolConfig: expression`: any expression of the attributes.
macro_rules! framework {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $type:ty $(= $default:expr)?),+ $(,)?
        }
        $config:ident $($made:tt)+
    ) => {
        $crate::config! {
            $(#[$attribute])*
            #[derive(Debug, PartialEq)]
            pub struct $name { $($(#[$field_attribute])* pub $field: $type $(= $default)?),+ }
        }

        impl From<$name> for $config {
            // Some attributes, such as the strides of maps, are no options of the config.
            #[allow(unused_variables)]
            fn from($name { $($field),+ }: $name) -> Self {
                framework!(@made $config $($made)+)
            }
        }
    };
    (@made $config:ident::new($($argument:expr),+) with $($setter:ident $(($value:expr))?),+) => {
        $crate::internal::paste! {
            $config::new($($argument),+)$(.[<with_ $setter>](framework!(@value $setter $($value)?)))+
        }
    };
    (@made $config:ident: $made:expr) => {
        $made
    };
    (@value $attribute:ident) => {
        $attribute.into()
    };
    (@value $setter:ident $value:expr) => {
        $value
    };
}

pub mod detectron2;
pub mod directml;
pub mod mindspore;
pub mod mmcv;
pub mod mxnet;
pub mod onnx;
pub mod openvino;
mod openvino_points;
pub mod paddle;
pub mod tensorflow;
pub mod torchvision;
