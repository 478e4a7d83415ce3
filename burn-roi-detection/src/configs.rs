//! Configs that are changed by their fields.

/// Declares configs as `burn_roi::config!` does, without a `with_` function of each field.
macro_rules! configs {
    ($($(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* })+) => {$(
        burn_roi::config! { fields;
            $(#[$attribute])*
            #[derive(Debug, PartialEq)]
            pub struct $name { $($fields)* }
        }
    )+};
}

pub(crate) use configs;
