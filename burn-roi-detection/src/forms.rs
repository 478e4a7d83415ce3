//! The forms of a function that reads a device back: one body, which awaits the device, and two that call it.

/// Makes three functions of one async function `name`: `name` blocks and panics, `try_name` blocks and returns errors,
/// and `name_async` is the function as it is written. The docs before it are those of `name`. The docs in its body list
/// the errors, and are those of `name_async`.
///
/// In parentheses, so that `cargo fmt` formats the function.
macro_rules! blocking_forms {
    ($(
        $(#[$documentation:meta])*
        pub async fn $name:ident$(<const $rank:ident: usize, $kind:ident: $bound:ident>)?(
            $(&$self:ident $(,)?)? $($argument:ident: $type:ty),* $(,)?
        ) -> Result<$output:ty, $error:ident> $body:tt
    )+) => {$(
        // The links of a method's docs begin with `Self::`, which is `self` in camel case.
        burn_roi::internal::paste! {
            $(#[$documentation])*
            ///
            /// # Panics
            ///
            #[doc = "If [`try_" $name "`](" $($self:camel "::")? "try_" $name ") returns an error, with its text."]
            pub fn $name$(<const $rank: usize, $kind: $bound>)?($(&$self,)? $($argument: $type),*) -> $output {
                burn_roi::internal::or_panic($($self.)?[<try_ $name>]($($argument),*))
            }

            #[doc = "Fallible form of [`" $name "`](" $($self:camel "::")? $name ")."]
            ///
            /// # Errors
            ///
            #[doc = "All errors of [`" $name "_async`](" $($self:camel "::")? $name "_async), and"]
            /// `RoiError::SynchronousRead` if the device can't block.
            pub fn [<try_ $name>]$(<const $rank: usize, $kind: $bound>)?(
                $(&$self,)? $($argument: $type),*
            ) -> Result<$output, $error> {
                burn_roi::internal::wait(
                    stringify!([<try_ $name>]),
                    stringify!([<$name _async>]),
                    $($self.)?[<$name _async>]($($argument),*),
                )
            }

            pub async fn [<$name _async>]$(<const $rank: usize, $kind: $bound>)?(
                $(&$self,)? $($argument: $type),*
            ) -> Result<$output, $error> $body
        }
    )+};
}

pub(crate) use blocking_forms;
