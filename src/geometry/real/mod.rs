//! The functions that say where elements read, for both types of coordinates.
//!
//! `functions` has them. `angle` has sine and cosine for kernels.
//!
//! [`single`] compiles the files for f32 and, with a CubeCL backend, into its kernels; [`double`] compiles them for
//! f64. They are not generic over the type of coordinates, because no trait serves both: on a host they call the
//! methods of `f32` (`floor`, `clamp`), and in kernels those of CubeCL's trait `Float`.

/// Declares a rule, and how it becomes an argument of a kernel, which has the same fields.
///
/// A rule that begins with a scale can be had at another scale, which is what levels of a pyramid differ by.
macro_rules! rule {
    (
        $(#[$attribute:meta])*
        pub struct $rule:ident {
            $(#[$of_scale:meta])* pub spatial_scale: $scale:ty,
            $($(#[$doc:meta])* pub $field:ident: $kind:ty,)+
        }
    ) => {
        rule! {
            @ $(#[$attribute])*
            pub struct $rule { $(#[$of_scale])* pub spatial_scale: $scale, $($(#[$doc])* pub $field: $kind,)* }
        }

        #[cfg(feature = "cube")]
        paste::paste! {
            /// The rule at another scale.
            #[cube]
            pub fn [<$rule:snake _at>](rule: &$rule, spatial_scale: $scale) -> $rule {
                $rule { spatial_scale, $($field: rule.$field,)* }
            }
        }
    };
    (
        $(#[$attribute:meta])*
        pub struct $rule:ident { $($fields:tt)+ }
    ) => {
        rule! { @ $(#[$attribute])* pub struct $rule { $($fields)+ } }
    };
    (
        @ $(#[$attribute:meta])*
        pub struct $rule:ident { $($(#[$doc:meta])* pub $field:ident: $kind:ty,)+ }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $rule { $($(#[$doc])* pub $field: $kind,)+ }

        #[cfg(feature = "cube")]
        paste::paste! {
            impl $rule {
                pub fn launch(self) -> [<$rule Launch>] {
                    [<$rule Launch>]::new($(self.$field),+)
                }
            }
        }
    };
}

// No kernel takes a rule of f64.
#[cfg_attr(feature = "cube", allow(dead_code))]
#[allow(clippy::duplicate_mod)]
pub mod double;
#[allow(clippy::duplicate_mod)]
pub mod single;

mod quotient;
