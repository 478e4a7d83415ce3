//! Reading options and tensors from bytes.

use std::ops::RangeInclusive;

use arbitrary::Unstructured;
use burn::tensor::{DType, Device, Element, Int, IntDType, Tensor, TensorData};

/// The bytes that are left to read. Where they end, zeros follow.
pub struct Bytes<'a> {
    left: Unstructured<'a>,
    /// Whether the call may be wrong or unusual. The others must succeed, and give finite results.
    pub careless: bool,
    /// Whether the call has something that must be refused, such as a length that does not match.
    pub wrong: bool,
}

/// A float tensor.
#[derive(Debug, Clone)]
pub struct Floats {
    pub shape: Vec<usize>,
    pub dtype: DType,
    pub values: Vec<f64>,
}

/// An integer tensor.
#[derive(Debug, Clone)]
pub struct Ints {
    pub values: Vec<i128>,
    pub dtype: IntDType,
}

/// What the values of a float tensor are like. Most are multiples of a half or less, so that ties are frequent.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Rows `[x1, y1, x2, y2]` of up to 16 pixels, of which some have no area.
    Boxes,
    /// The same with an area.
    GroundTruth,
    /// Rows `[x1, y1, x2, y2, z1, z2]`, as `Boxes`.
    Volumes,
    /// Rows `[cx, cy, w, h, angle]`.
    Rotated,
    /// From 0 to 1.
    Unit,
    /// From -4 to 4.
    Logits,
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut bytes = Self {
            left: Unstructured::new(bytes),
            careless: false,
            wrong: false,
        };
        bytes.careless = bytes.int(0..=3) == 3;
        bytes
    }

    pub fn int(&mut self, range: RangeInclusive<u32>) -> usize {
        self.left.int_in_range(range).expect("zeros should follow") as usize
    }

    pub fn bool(&mut self) -> bool {
        self.int(0..=1) == 1
    }

    pub fn choose<T: Clone>(&mut self, from: &[T]) -> T {
        self.left.choose(from).expect("zeros should follow").clone()
    }

    /// Once in eight times, where a call may be wrong.
    pub fn rarely(&mut self) -> bool {
        self.careless && self.int(0..=7) == 7
    }

    /// A length that must be `right`, and is rarely another.
    pub fn length(&mut self, right: usize) -> usize {
        if !self.rarely() {
            return right;
        }
        self.wrong = true;
        if self.bool() {
            right + 1
        } else {
            right.checked_sub(1).unwrap_or(2)
        }
    }

    /// An option: usual, or rarely one that must be refused.
    pub fn option(&mut self, usual: &[f64], wrong: &[f64]) -> f64 {
        if !self.rarely() {
            return self.choose(usual);
        }
        self.wrong = true;
        self.choose(wrong)
    }

    /// A threshold, which may be anything but NaN.
    pub fn threshold(&mut self) -> f64 {
        if self.rarely() {
            return self.choose(&[-1.0, -0.0, 2.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, 1e-300]);
        }
        self.option(&[0.5, 0.0, 0.3, 0.05, 0.75, 1.0], &[f64::NAN])
    }

    pub fn dtype(&mut self) -> DType {
        self.choose(&[DType::F32, DType::F32, DType::F32, DType::F64, DType::F16, DType::BF16])
    }

    pub fn floats(&mut self, shape: &[usize], dtype: DType, kind: Kind) -> Floats {
        let mut random = Random(self.int(0..=65_535) as u64);
        let count: usize = shape.iter().product();
        let mut values = Vec::with_capacity(count);
        for index in 0..count {
            let column = match kind {
                Kind::Rotated => index % 5,
                Kind::Volumes => index % 6,
                _ => index % 4,
            };
            let value = match (kind, column) {
                (Kind::Boxes | Kind::GroundTruth | Kind::Volumes, 0 | 1) | (Kind::Volumes, 4) => {
                    random.below(33) / 2.0 - 2.0
                }
                (Kind::Volumes, 5) => values[index - 1] + random.below(21) / 2.0,
                (Kind::Boxes | Kind::Volumes, _) => values[index - 2] + random.below(21) / 2.0,
                (Kind::GroundTruth, ..) => values[index - 2] + random.below(20) / 2.0 + 0.5,
                (Kind::Rotated, 4) => random.below(73) * 5.0 - 180.0,
                (Kind::Rotated, ..) => random.below(24) / 2.0,
                (Kind::Unit, ..) => random.below(33) / 32.0,
                (Kind::Logits, ..) => random.below(65) / 8.0 - 4.0,
            };
            values.push(value);
        }
        if self.careless && count > 0 {
            for _ in 0..self.int(0..=3) {
                let index = self.int(0..=65_535) % count;
                values[index] = self.choose(&SPECIAL);
            }
        }
        Floats {
            shape: shape.to_vec(),
            dtype,
            values,
        }
    }

    /// Integers in a range, and rarely others.
    pub fn ints(&mut self, count: usize, range: RangeInclusive<i64>) -> Ints {
        let mut dtype = self.choose(&[IntDType::I64, IntDType::I32, IntDType::I16, IntDType::I8]);
        if (self.careless || *range.start() >= 0) && self.bool() {
            dtype = self.choose(&[IntDType::U8, IntDType::U16, IntDType::U32, IntDType::U64]);
        }
        let mut random = Random(self.int(0..=65_535) as u64);
        let (first, count_of_values) = (*range.start(), range.end() - range.start() + 1);
        let mut values: Vec<i64> = (0..count)
            .map(|_| first + random.below(count_of_values.max(1) as u64) as i64)
            .collect();
        if count > 0 && self.rarely() {
            let index = self.int(0..=65_535) % count;
            values[index] = self.choose(&[-1, -2, 100, i64::MIN, i64::MAX, 1 << 32, 0]);
        }
        // Wraps around, as a cast in Rust does.
        let stored = |value: i64| match dtype {
            IntDType::I64 => value.into(),
            IntDType::I32 => (value as i32).into(),
            IntDType::I16 => (value as i16).into(),
            IntDType::I8 => (value as i8).into(),
            IntDType::U64 => (value as u64).into(),
            IntDType::U32 => (value as u32).into(),
            IntDType::U16 => (value as u16).into(),
            IntDType::U8 => (value as u8).into(),
        };
        Ints {
            values: values.into_iter().map(stored).collect(),
            dtype,
        }
    }
}

const SPECIAL: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1e-40,
    3e38,
    -3e38,
    1e9,
    -1e9,
    1e300,
    -1e300,
    65_504.0,
    5e-324,
    16_777_216.0,
    -1e4,
];

/// Xorshift, from a seed that may be 0.
struct Random(u64);

impl Random {
    /// A whole number below a limit.
    fn below(&mut self, limit: u64) -> f64 {
        let mut state = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0 = state;
        ((state >> 32) % limit) as f64
    }
}

impl Floats {
    pub fn tensor<const D: usize>(&self, device: &Device) -> Tensor<D> {
        let data = TensorData::new(self.values.clone(), self.shape.clone()).convert_dtype(self.dtype);
        Tensor::from_data(data, (device, self.dtype))
    }

    /// The values of the tensor: those that were drawn, rounded to its dtype.
    pub fn stored(&self) -> Vec<f64> {
        let data = TensorData::new(self.values.clone(), [self.values.len()]);
        data.convert_dtype(self.dtype).iter::<f64>().collect()
    }

    pub fn is_finite(&self) -> bool {
        self.stored().iter().all(|value| value.is_finite())
    }
}

impl Ints {
    pub fn tensor(&self, device: &Device) -> Tensor<1, Int> {
        let values = &self.values;
        let data = match self.dtype {
            IntDType::I64 => of(values, |value| value as i64),
            IntDType::I32 => of(values, |value| value as i32),
            IntDType::I16 => of(values, |value| value as i16),
            IntDType::I8 => of(values, |value| value as i8),
            IntDType::U64 => of(values, |value| value as u64),
            IntDType::U32 => of(values, |value| value as u32),
            IntDType::U16 => of(values, |value| value as u16),
            IntDType::U8 => of(values, |value| value as u8),
        };
        Tensor::from_data(data, (device, DType::from(self.dtype)))
    }
}

fn of<E: Element>(values: &[i128], cast: impl Fn(i128) -> E) -> TensorData {
    let values: Vec<E> = values.iter().map(|&value| cast(value)).collect();
    let count = values.len();
    TensorData::new(values, [count])
}

/// All tensors of a list.
pub fn tensors<const D: usize>(list: &[Floats], device: &Device) -> Vec<Tensor<D>> {
    list.iter().map(|floats| floats.tensor(device)).collect()
}

/// All tensors of a list.
pub fn int_tensors(list: &[Ints], device: &Device) -> Vec<Tensor<1, Int>> {
    list.iter().map(|ints| ints.tensor(device)).collect()
}
