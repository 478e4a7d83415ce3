//! The types of the elements of arrays.

/// The type of an element, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::weights) enum ElementType {
    Float16,
    Bfloat16,
    Float32,
    Float64,
    Int32,
    Int64,
    /// That of torch's storages of bytes and of booleans. No weight has it.
    UInt8,
    /// No weight has it.
    Int16,
}

impl ElementType {
    /// By NumPy's name, without the byte order.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "f2" => Some(Self::Float16),
            "f4" => Some(Self::Float32),
            "f8" => Some(Self::Float64),
            "i4" => Some(Self::Int32),
            "i8" => Some(Self::Int64),
            _ => None,
        }
    }

    /// That of a storage, by the name of torch's class.
    pub(super) fn of_storage(class: &str) -> Option<Self> {
        match class {
            "HalfStorage" => Some(Self::Float16),
            "BFloat16Storage" => Some(Self::Bfloat16),
            "FloatStorage" => Some(Self::Float32),
            "DoubleStorage" => Some(Self::Float64),
            "IntStorage" => Some(Self::Int32),
            "LongStorage" => Some(Self::Int64),
            "ByteStorage" | "CharStorage" | "BoolStorage" => Some(Self::UInt8),
            "ShortStorage" => Some(Self::Int16),
            _ => None,
        }
    }

    /// NumPy's name of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Float16 => "<f2",
            Self::Bfloat16 => "bfloat16",
            Self::Float32 => "<f4",
            Self::Float64 => "<f8",
            Self::Int32 => "<i4",
            Self::Int64 => "<i8",
            Self::UInt8 => "|u1",
            Self::Int16 => "<i2",
        }
    }

    pub(in crate::weights) fn bytes(self) -> usize {
        match self {
            Self::UInt8 => 1,
            Self::Float16 | Self::Bfloat16 | Self::Int16 => 2,
            Self::Float32 | Self::Int32 => 4,
            Self::Float64 | Self::Int64 => 8,
        }
    }
}
