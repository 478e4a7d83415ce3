//! The pace of a training.

use std::thread::sleep;
use std::time::Duration;

use burn_roi_detection::train::TrainingPace;

#[test]
fn pauses_do_not_count() {
    let mut pace = TrainingPace::new(2, 10, 4);
    assert_eq!((pace.steps(), pace.pictures_per_second()), (2, 0.0));
    assert_eq!(pace.to_string(), "0.00 pictures/s, 00:00:00 left");
    sleep(Duration::from_millis(40));
    pace.step();
    assert!(pace.pictures_per_second() <= 100.0);
    assert!(pace.time_left() >= Duration::from_millis(7 * 40));
    sleep(Duration::from_secs(1));
    pace.resume();
    pace.step();
    // With the pause a step would take 0.136 s in the mean.
    assert!(pace.pictures_per_second() > 4.0 / 0.136);
    assert_eq!(pace.steps(), 4);
    let text = pace.to_string();
    assert!(
        text.starts_with(&format!("{:.2} pictures/s, 00:00:0", pace.pictures_per_second())),
        "{text}"
    );
}
