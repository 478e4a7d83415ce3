//! What a server says that it can do, as numbers.

use super::*;

#[test]
fn an_answer_is_read_or_refused_in_words() {
    let answer = |numbers: &[f32]| read(&TensorData::new(numbers.to_vec(), [numbers.len()]));
    let version = VERSION as f32;
    assert_eq!(answer(&[version, 0.0, 1.0, 1.0, 0.0]), Ok([false, true, true, false]));
    let other = answer(&[1.0, 0.0, 1.0, 1.0, 0.0]).unwrap_err();
    assert_eq!(other, "its region operators have version 1");
    assert!(answer(&[version]).is_err());
    assert!(answer(&[]).is_err());
}
