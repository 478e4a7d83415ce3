//! Configs, as Burn's `derive(Config)` makes them, but for one thing: reading one from JSON refuses an unknown field,
//! and gives a missing field its default. Burn's derive ignores an unknown field, and a missing `Option` is `None`
//! there whatever its default is.

use serde::{Deserialize, Deserializer};

/// Declares a config, here and in burn-roi-detection. `new` takes the fields without a default, and each of the others
/// has a `with_` function. `fields;` leaves these functions out: such a config is changed by its fields.
#[doc(hidden)]
#[macro_export]
macro_rules! config {
    // An optional part of a pattern needs a variable: the semicolon behind `fields`.
    (
        $(fields $semicolon:tt)?
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $type:ty $(= $default:expr)?),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, serde::Serialize)]
        pub struct $name {
            $($(#[$field_attribute])* pub $field: $type),+
        }

        $crate::config!(
            @fields [$(fields $semicolon)?] $name [] [] [] {}
            { $($(#[$field_attribute])* $field: $type $(= $default)?,)+ }
        );

        impl burn::config::Config for $name {}
    };

    // Takes fields one by one: the arguments of `new` and the value of each field there, the type of each field and its
    // value if JSON lacks it, and the `with_` functions, which have the attributes of their fields.
    (
        @fields $form:tt $name:ident [$($argument:tt)*] [$($value:tt)*] [$($read:tt)*] {$($setter:tt)*}
        { $(#[$attribute:meta])* $field:ident: $type:ty = $default:expr, $($rest:tt)* }
    ) => {
        $crate::config!(
            @fields $form $name
            [$($argument)*]
            [$($value)* $field: $default,]
            [$($read)* ($field: $type, $default)]
            {
                $($setter)*
                $crate::internal::paste! {
                    #[doc = "Sets [`" $field "`](field@Self::" $field ")."]
                    #[doc = ""]
                    $(#[$attribute])*
                    pub fn [<with_ $field>](mut self, $field: $type) -> Self {
                        self.$field = $field;
                        self
                    }
                }
            }
            { $($rest)* }
        );
    };
    (
        @fields $form:tt $name:ident [$($argument:tt)*] [$($value:tt)*] [$($read:tt)*] {$($setter:tt)*}
        { $(#[$attribute:meta])* $field:ident: $type:ty, $($rest:tt)* }
    ) => {
        $crate::config!(
            @fields $form $name
            [$($argument)* $field: $type,]
            [$($value)* $field,]
            [$($read)* ($field: $type, return Err(serde::de::Error::missing_field(stringify!($field))))]
            {$($setter)*}
            { $($rest)* }
        );
    };
    (
        @fields $form:tt $name:ident [$($argument:tt)*] [$($value:tt)*] [$(($field:ident: $type:ty, $missing:expr))*]
        $setters:tt {}
    ) => {
        impl $name {
            /// Creates a config with these fields, and the defaults of the others.
            #[allow(clippy::new_without_default, clippy::too_many_arguments)]
            pub fn new($($argument)*) -> Self {
                Self { $($value)* }
            }

            $crate::config!(@setters $form $setters);
        }

        // As derives are, so that tools leave it out where they leave these out.
        #[automatically_derived]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::internal::given;

                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Given {
                    $(#[serde(default, deserialize_with = "given")] $field: Option<$type>),*
                }

                let given = Given::deserialize(deserializer)?;
                Ok(Self {
                    $($field: match given.$field {
                        Some(value) => value,
                        None => $missing,
                    }),*
                })
            }
        }
    };
    (@setters [] {$($setter:tt)*}) => { $($setter)* };
    (@setters [fields;] $setters:tt) => {};
}

pub(crate) use config;

/// Reads a field that is there, whose value may be null.
pub fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
