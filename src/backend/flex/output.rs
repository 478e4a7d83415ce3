//! Outputs of calls.

use burn::tensor::{DType, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Arch, Simd, WithSimd};

use super::drive::run_tasks;
use super::dtype::{Sum, TensorSliceMut};
use super::memory::Memory;

/// The output of a call: `pooled`, which other levels of a pyramid have written, or a new one. In a new one, rows of
/// regions that are not pooled are 0, and other rows are unspecified.
pub fn output<S: Sum>(
    pooled: Option<FlexTensor>,
    shape: &Shape,
    dtype: DType,
    is_pooled: &dyn Fn(usize) -> bool,
    parallel: bool,
) -> FlexTensor {
    if let Some(pooled) = pooled {
        return pooled.to_contiguous();
    }
    let memory = Memory::new(dtype, shape.num_elements(), parallel);
    let mut output = FlexTensor::new(memory.bytes, Layout::contiguous(shape.clone()), dtype);
    if !memory.is_zero {
        let mut rest = TensorSliceMut::<S>::of(&mut output);
        for region in 0..shape[0] {
            let mut row = rest.take(shape.num_elements() / shape[0]);
            if !is_pooled(region) {
                row.clear();
            }
        }
    }
    output
}

/// How many elements a task sets or rounds.
const CHUNK: usize = 1 << 18;

/// An output of one value.
pub fn filled_output<S: Sum>(value: f64, shape: Shape, dtype: DType, parallel: bool) -> FlexTensor {
    let memory = Memory::new(dtype, shape.num_elements(), parallel);
    let mut output = FlexTensor::new(memory.bytes, Layout::contiguous(shape), dtype);
    if value != 0.0 || !memory.is_zero {
        let chunks = TensorSliceMut::of(&mut output).chunks(CHUNK);
        run_tasks(chunks, parallel, |mut chunk| chunk.fill(S::from_f64(value)));
    }
    output
}

/// Rounds sums to a dtype. `sums` must be contiguous, and alone in its memory. Burn's own cast runs on one thread,
/// number by number.
pub fn rounded_output<S: Sum>(sums: FlexTensor, dtype: DType, parallel: bool) -> FlexTensor {
    if dtype == sums.dtype() {
        return sums;
    }
    let memory = Memory::new(dtype, sums.layout().num_elements(), parallel);
    let mut output = FlexTensor::new(memory.bytes, sums.layout().clone(), dtype);
    let chunks = TensorSliceMut::of(&mut output).chunks(CHUNK);
    let chunks = chunks.into_iter().zip(sums.storage::<S>().chunks(CHUNK));
    run_tasks(chunks.collect(), parallel, |(output, sums)| {
        Arch::new().dispatch(Round { sums, output });
    });
    output
}

struct Round<'a, S> {
    sums: &'a [S],
    output: TensorSliceMut<'a, S>,
}

impl<S: Sum> WithSimd for Round<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(mut self, simd: V) {
        self.output.write(simd, self.sums);
    }
}
