//! The operators of other frameworks: their attributes, under their names and with their defaults, and
//! what they are in this crate's options.

/// Declares a framework's attributes as a config, and the config of an operator that they turn into.
macro_rules! framework {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident { $($fields:tt)* }
        $config:ident: |$own:ident| $body:block
    ) => {
        $crate::config! {
            $(#[$attribute])*
            #[derive(Debug, PartialEq)]
            pub struct $name { $($fields)* }
        }

        impl From<$name> for $config {
            fn from($own: $name) -> Self {
                $body
            }
        }
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
