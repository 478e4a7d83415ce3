//! The classes and functions of Python that a checkpoint may name.

use super::element_type::ElementType;
use super::error::PickleReason;
use crate::weights::shortened::shortened;

/// Which names a file may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::weights) enum Names {
    /// Those of dictionaries and NumPy's arrays. Any other is an error.
    NumPy,
    /// Any, since the checkpoints of torch have objects beside the weights. What is not known is data without a
    /// meaning.
    Torch,
}

/// A class or a function. The machine knows what each returns for data, and runs nothing of Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::weights) enum Global {
    /// `collections.OrderedDict`
    OrderedDict,
    /// `bytes`, which protocol 2 calls for no bytes.
    Bytes,
    /// `_codecs.encode`, which protocol 2 calls for bytes.
    Encode,
    /// `numpy.dtype`
    DType,
    /// `ml_dtypes.bfloat16`
    Bfloat16,
    /// `numpy.ndarray`
    NdArray,
    /// `numpy.core.multiarray._reconstruct`, an empty array whose state follows.
    Reconstruct,
    /// `numpy.core.multiarray.scalar`
    Scalar,
    /// `numpy.core.numeric._frombuffer`, an array in protocol 5.
    FromBuffer,
    /// `torch._utils._rebuild_tensor_v2`
    RebuildTensor,
    /// `torch._utils._rebuild_parameter`, which returns its tensor.
    RebuildParameter,
    /// `torch.FloatStorage` and its like.
    Storage(ElementType),
    /// Any other name in a file of torch.
    Other,
}

impl Global {
    pub(super) fn named(module: &str, name: &str, names: Names) -> Result<Self, PickleReason> {
        match (names, module, name) {
            (Names::NumPy, ..) => Self::of_numpy(module, name),
            (_, "collections", "OrderedDict") => Ok(Self::OrderedDict),
            (_, "torch._utils", "_rebuild_tensor_v2") => Ok(Self::RebuildTensor),
            (_, "torch._utils", "_rebuild_parameter") => Ok(Self::RebuildParameter),
            (_, "torch", name) => Ok(ElementType::of_storage(name).map_or(Self::Other, Self::Storage)),
            _ => Ok(Self::Other),
        }
    }

    /// Since NumPy 2 its modules are in `numpy._core`. Protocol 2 has the names of Python 2.
    fn of_numpy(module: &str, name: &str) -> Result<Self, PickleReason> {
        match (module, name) {
            ("collections", "OrderedDict") => Ok(Self::OrderedDict),
            ("builtins" | "__builtin__", "bytes") => Ok(Self::Bytes),
            ("_codecs", "encode") => Ok(Self::Encode),
            ("numpy", "dtype") => Ok(Self::DType),
            ("ml_dtypes", "bfloat16") => Ok(Self::Bfloat16),
            ("numpy", "ndarray") => Ok(Self::NdArray),
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Ok(Self::Reconstruct),
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Ok(Self::Scalar),
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Ok(Self::FromBuffer),
            _ => Err(PickleReason::Global {
                name: format!("{}.{}", shortened(module), shortened(name)),
            }),
        }
    }
}
