//! COCO's compressed run lengths.
//!
//! From the fourth run on, the difference to the run before the last one is written. A number is written in groups of
//! 5 bits, the lowest first, as characters from `0` on. A group that another one follows has 32 added, and the highest
//! bit of the last group is the sign.

use super::RunLengths;
use crate::error::DetectionError;
use burn_roi::internal::or_panic;

/// Groups of a number, at most. The difference of two u32 and its sign have 33 bits.
const MOST_GROUPS: u32 = 7;

impl RunLengths {
    /// The compressed form of the counts, as pycocotools writes and reads it in `{"size": [H, W], "counts": ...}`.
    pub fn to_coco_string(&self) -> String {
        let mut text = String::new();
        for (run, &count) in self.counts.iter().enumerate() {
            let before = if run > 2 { self.counts[run - 2] } else { 0 };
            let mut left = i64::from(count) - i64::from(before);
            loop {
                let group = (left & 31) as u8;
                left >>= 5;
                let sign = if group & 16 == 0 { 0 } else { -1 };
                let is_last = left == sign;
                text.push(char::from(b'0' + group + if is_last { 0 } else { 32 }));
                if is_last {
                    break;
                }
            }
        }
        text
    }

    /// The mask with these compressed run lengths, the reverse of [`to_coco_string`](Self::to_coco_string).
    ///
    /// - `text`: the compressed counts.
    /// - `size`: `[H, W]` of the image in pixels. H * W fits into a u32.
    ///
    /// # Panics
    ///
    /// If [`try_from_coco_string`](Self::try_from_coco_string) returns an error, with its text.
    pub fn from_coco_string(text: &str, size: [usize; 2]) -> Self {
        or_panic(Self::try_from_coco_string(text, size))
    }

    /// Fallible form of [`from_coco_string`](Self::from_coco_string).
    ///
    /// # Errors
    ///
    /// `DetectionError::RunLengths`: `text` has a character outside of `0` to `o`, ends within a number, has a run
    /// below 0 or above a u32, or does not add up to H * W. `RoiError::Option`: H * W is too large.
    pub fn try_from_coco_string(text: &str, size: [usize; 2]) -> Result<Self, DetectionError> {
        let mut counts: Vec<u32> = Vec::new();
        let mut left = text.as_bytes();
        while !left.is_empty() {
            let run = counts.len();
            let before = if run > 2 { counts[run - 2] } else { 0 };
            let count = take_number(&mut left).map(|number| number + i64::from(before));
            let count = count.ok_or_else(|| {
                let value = format!("no number at byte {}", text.len() - left.len());
                wrong(value, "numbers in groups of characters from `0` to `o`")
            })?;
            let count = u32::try_from(count).map_err(|_| {
                let value = format!("{count} as the length of run {run}");
                wrong(value, "lengths from 0 to 2^32 - 1")
            })?;
            counts.push(count);
        }
        Self::try_from_counts(&counts, size)
    }
}

/// Reads a number and moves `text` behind it.
fn take_number(text: &mut &[u8]) -> Option<i64> {
    let mut number = 0;
    for group in 0..MOST_GROUPS {
        let bits = text.get(group as usize)?.checked_sub(b'0').filter(|&bits| bits < 64)?;
        number |= i64::from(bits & 31) << (5 * group);
        if bits & 32 == 0 {
            let sign = if bits & 16 == 0 { 0 } else { -1 << (5 * (group + 1)) };
            *text = &text[group as usize + 1..];
            return Some(number | sign);
        }
    }
    None
}

fn wrong(value: String, expected: &str) -> DetectionError {
    let expected = expected.to_string();
    DetectionError::RunLengths { value, expected }
}
