//! Run lengths as COCO's JSON: `{"size": [H, W], "counts": ...}`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::RunLengths;
use crate::json_values::integer;

#[derive(Serialize)]
struct Written {
    size: [usize; 2],
    counts: String,
}

#[derive(Deserialize)]
struct Read {
    size: [Value; 2],
    counts: Value,
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
        let (Some(height), Some(width)) = (integer(&size[0]), integer(&size[1])) else {
            let [height, width] = size;
            let wrong = format!("`size` is [{height}, {width}], but must be integers of at least 0");
            return Err(D::Error::custom(wrong));
        };
        let size = [height, width];
        let read = match &counts {
            Value::String(text) => Self::try_from_coco_string(text, size),
            _ => Self::try_from_counts(&plain(&counts).map_err(D::Error::custom)?, size),
        };
        read.map_err(D::Error::custom)
    }
}

fn plain(counts: &Value) -> Result<Vec<u32>, &'static str> {
    let counts = counts
        .as_array()
        .and_then(|counts| counts.iter().map(integer).collect());
    counts.ok_or("`counts` must be a string or a list of integers from 0 to 2^32 - 1")
}
