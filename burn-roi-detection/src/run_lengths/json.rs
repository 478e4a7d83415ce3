//! Run lengths as COCO's JSON: `{"size": [H, W], "counts": ...}`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RunLengths;

#[derive(Serialize)]
struct Written {
    size: [usize; 2],
    counts: String,
}

#[derive(Deserialize)]
struct Read {
    size: [usize; 2],
    counts: Counts,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`counts` must be a string or a list of integers from 0 to 2^32 - 1"
)]
enum Counts {
    Compressed(String),
    Plain(Vec<u32>),
}

impl Serialize for RunLengths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let size = self.size;
        let counts = self.to_coco_string();
        Written { size, counts }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RunLengths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { size, counts } = Read::deserialize(deserializer)?;
        let read = match counts {
            Counts::Compressed(text) => Self::try_from_coco_string(&text, size),
            Counts::Plain(counts) => Self::try_from_counts(&counts, size),
        };
        read.map_err(D::Error::custom)
    }
}
