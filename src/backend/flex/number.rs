//! The numbers of features, and the type that their sums have.

use std::ops::{Add, AddAssign, Mul, Sub};

use burn::tensor::{Element, bf16, f16};

use crate::geometry::plan::Coordinate;

/// A number of a feature map.
pub trait Number: Element + bytemuck::Pod + Default {
    /// The type of coordinates, weights and sums.
    type Sum: Sum;

    /// Widens a number.
    fn load(self) -> Self::Sum;

    /// Rounds a sum.
    fn store(sum: Self::Sum) -> Self;
}

/// The type of coordinates, weights and sums.
pub trait Sum:
    Coordinate
    + Element
    + Default
    + Into<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
{
    /// The number that every other one is above.
    const LEAST: Self;

    /// One.
    const ONE: Self;

    /// A value of an option in this type.
    fn from_f64(value: f64) -> Self;

    /// The larger of two; `self` where `other` is not a number.
    #[inline]
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

macro_rules! sum {
    ($type:ty) => {
        impl Sum for $type {
            const LEAST: Self = <$type>::NEG_INFINITY;
            const ONE: Self = 1.0;

            fn from_f64(value: f64) -> Self {
                value as $type
            }
        }

        impl Number for $type {
            type Sum = $type;

            #[inline]
            fn load(self) -> $type {
                self
            }

            #[inline]
            fn store(sum: $type) -> Self {
                sum
            }
        }
    };
}

sum!(f32);
sum!(f64);

macro_rules! half {
    ($type:ty) => {
        impl Number for $type {
            type Sum = f32;

            #[inline]
            fn load(self) -> f32 {
                self.to_f32()
            }

            #[inline]
            fn store(sum: f32) -> Self {
                Self::from_f32(sum)
            }
        }
    };
}

half!(f16);
half!(bf16);
