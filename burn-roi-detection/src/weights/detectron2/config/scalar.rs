//! What a plain text of YAML is: a number, a bool, nothing or text.

/// A value without parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Scalar {
    /// As PyYAML reads a text without quotes, which follows YAML 1.1. detectron2 reads `1e-5` as a number too.
    pub(super) fn of_plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Self::Null,
            "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Self::Bool(true),
            "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Self::Bool(false),
            _ => {}
        }
        // Else `inf` and `nan` were numbers. An octal number, `010`, is no setting of detectron2.
        let digits = text.trim_start_matches(['+', '-', '.']);
        if !digits.starts_with(|first: char| first.is_ascii_digit()) {
            return Self::Text(text.to_string());
        }
        match (text.parse(), text.parse()) {
            (Ok(int), _) => Self::Int(int),
            (_, Ok(float)) => Self::Float(float),
            _ => Self::Text(text.to_string()),
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "null".to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(text) => format!("{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts() {
        let text = |text: &str| Scalar::Text(text.to_string());
        for (plain, expected) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("True", Scalar::Bool(true)),
            ("off", Scalar::Bool(false)),
            ("-1", Scalar::Int(-1)),
            ("+7", Scalar::Int(7)),
            ("123.675", Scalar::Float(123.675)),
            (".5", Scalar::Float(0.5)),
            ("1.0e-05", Scalar::Float(1e-5)),
            ("1e-5", Scalar::Float(1e-5)),
            ("99999999999999999999", Scalar::Float(1e20)),
            ("nan", text("nan")),
            ("inf", text("inf")),
            ("-infinity", text("-infinity")),
            ("(8, 16)", text("(8, 16)")),
            ("1.2.3", text("1.2.3")),
            ("res2", text("res2")),
        ] {
            assert_eq!(Scalar::of_plain(plain), expected, "{plain:?}");
        }
    }
}
