//! The parts of a file that an error repeats.

/// The most characters of a part.
pub const LONGEST: usize = 80;

/// A text, or its start if it is long.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
