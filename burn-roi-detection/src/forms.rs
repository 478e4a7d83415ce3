//! The forms of a function that reads a device back: one body, which awaits the device, and two that call it.

/// Declares the forms `name` and `try_name` of a function that is written as `name_async`. The errors are listed there.
///
/// `async: ...;` after a declaration is a call that does all the work: it makes `name_async` too.
macro_rules! blocking_forms {
    (
        $(#[$documentation:meta])*
        pub fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty;
        $(#[$documentation_of_async:meta])*
        async: $call:expr;
    ) => {
        $crate::forms::blocking_forms! {
            $(#[$documentation])*
            pub fn $name($($argument: $type),*) -> $output;
        }
        burn_roi::internal::paste! {
            $(#[$documentation_of_async])*
            pub async fn [<$name _async>]($($argument: $type),*) -> Result<$output, $crate::error::DetectionError> {
                $call.await
            }
        }
    };
    (
        $(#[$documentation:meta])*
        pub fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty;
    ) => {
        burn_roi::internal::paste! {
            $(#[$documentation])*
            ///
            /// # Panics
            ///
            #[doc = "If [`try_" $name "`] returns an error, with its text."]
            pub fn $name($($argument: $type),*) -> $output {
                burn_roi::internal::or_panic([<try_ $name>]($($argument),*))
            }

            #[doc = "Fallible form of [`" $name "`]."]
            ///
            /// # Errors
            ///
            #[doc = "All errors of [`" $name "_async`], and `RoiError::SynchronousRead` if the device can't block."]
            pub fn [<try_ $name>]($($argument: $type),*) -> Result<$output, $crate::error::DetectionError> {
                burn_roi::internal::wait(
                    stringify!([<try_ $name>]),
                    stringify!([<$name _async>]),
                    [<$name _async>]($($argument),*),
                )
            }
        }
    };
    (
        $(#[$documentation:meta])*
        pub fn $name:ident(&$self:ident $(, $argument:ident: $type:ty)* $(,)?) -> $output:ty;
    ) => {
        burn_roi::internal::paste! {
            $(#[$documentation])*
            ///
            /// # Panics
            ///
            #[doc = "If [`try_" $name "`](Self::try_" $name ") returns an error, with its text."]
            pub fn $name(&$self $(, $argument: $type)*) -> $output {
                burn_roi::internal::or_panic($self.[<try_ $name>]($($argument),*))
            }

            #[doc = "Fallible form of [`" $name "`](Self::" $name ")."]
            ///
            /// # Errors
            ///
            #[doc = "All errors of [`" $name "_async`](Self::" $name "_async), and `RoiError::SynchronousRead` if the"]
            /// device can't block.
            pub fn [<try_ $name>](&$self $(, $argument: $type)*) -> Result<$output, $crate::error::DetectionError> {
                burn_roi::internal::wait(
                    stringify!([<try_ $name>]),
                    stringify!([<$name _async>]),
                    $self.[<$name _async>]($($argument),*),
                )
            }
        }
    };
}

pub(crate) use blocking_forms;
