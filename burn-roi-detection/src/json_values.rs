//! Values of JSON that programs write in several forms: 154, 154.0 and "154" are the same integer.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

/// Every integer up to this one is an f64.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// A finite number, which may be text.
pub fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_f64(),
    };
    number.filter(|number| number.is_finite())
}

/// An integer of the type `T`, which may be a float without a fraction, or text.
pub fn integer<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    let whole = || number(value).filter(|number| number.fract() == 0.0 && number.abs() <= LARGEST);
    let exact = match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_i64(),
    };
    let integer: i64 = exact.or_else(|| whole().map(|number| number as i64))?;
    T::try_from(integer).ok()
}

/// Text, which may be a number.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Reads an integer as [`integer`] does, for a field of a struct.
pub fn deserialize_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    integer(&value).ok_or_else(|| D::Error::custom(format_args!("{value}, but must be an integer")))
}
