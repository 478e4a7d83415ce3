//! Models that panic or hang, a full queue, clients that go away, and a server that is asked to stop.

use std::net::TcpStream;
use std::time::Duration;

use image::ImageFormat;
use serve::Settings;

use crate::client::{answer, detect, form, get, metric, send, send_picture, wait_for};
use crate::files::picture;
use crate::models::{GOOD, PANICS, Running, WAITS, settings};

/// The worker is made anew, and the others of the batch are answered.
#[test]
fn a_panic_is_of_one_request_alone() {
    let patient = Settings {
        wait: Duration::from_secs(10),
        ..settings()
    };
    let running = Running::new(patient);
    let [good, bad] = [GOOD, PANICS].map(|colour| picture(colour, ImageFormat::Png));
    for round in 1..4 {
        let streams: Vec<_> = [&good, &bad, &good, &good]
            .iter()
            .map(|file| send_picture(running.address, file))
            .collect();
        let answers: Vec<_> = streams.into_iter().map(answer).collect();
        let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [200, 500, 200, 200]);
        answers[1].assert_refused(500, "the model panicked");
        // In the batch, and alone.
        assert_eq!(
            metric(running.address, "serve_model_restarts_total"),
            f64::from(2 * round)
        );
        assert_eq!(get(running.address, "/health").status, 200);
    }
    assert_eq!(*running.made.lock().expect("the number"), 7);
    // In a form, one picture fails the request.
    let (header, body) = form(&[("good", &good), ("bad", &bad), ("good", &good)]);
    let form = send(running.address, "POST /detect", &[&header], &body);
    let alone = send_picture(running.address, &good);
    assert_eq!([form, alone].map(|stream| answer(stream).status), [500, 200]);
    running.join();
}

#[test]
fn a_full_queue_asks_to_come_again() {
    let narrow = Settings { queue: 2, ..settings() };
    let running = Running::new(narrow);
    let file = picture(WAITS, ImageFormat::Png);
    let held: Vec<_> = (0..2).map(|_| send_picture(running.address, &file)).collect();
    wait_for(running.address, "serve_requests_open", 2.0);
    for _ in 0..20 {
        let refused = detect(running.address, &file);
        refused.assert_refused(503, "all 2 places of requests are taken");
        assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    }
    // What asks for no place is answered.
    assert_eq!(get(running.address, "/health").status, 200);
    running.gate.open();
    assert!(held.into_iter().all(|stream| answer(stream).status == 200));
    assert_eq!(detect(running.address, &file).status, 200);
    running.join();
}

#[test]
fn a_client_that_goes_away_frees_its_place() {
    let narrow = Settings {
        queue: 3,
        batch: 1,
        ..settings()
    };
    let running = Running::new(narrow);
    let [waits, good] = [WAITS, GOOD].map(|colour| picture(colour, ImageFormat::Png));
    let held = send_picture(running.address, &waits);
    running.gate.reached();
    // These wait for the model. Then both clients go away.
    let gone: Vec<TcpStream> = (0..2).map(|_| send_picture(running.address, &good)).collect();
    wait_for(running.address, "serve_pictures_waiting", 2.0);
    drop(gone);
    wait_for(running.address, "serve_requests_open", 1.0);
    let later = [
        send_picture(running.address, &good),
        send_picture(running.address, &good),
    ];
    wait_for(running.address, "serve_requests_open", 3.0);
    running.gate.open();
    assert_eq!(answer(held).status, 200);
    assert!(later.into_iter().all(|stream| answer(stream).status == 200));
    // The model never saw the pictures of those that went away.
    assert_eq!(metric(running.address, "serve_batch_pictures_sum"), 3.0);
    assert_eq!(metric(running.address, "serve_requests_total{status=\"gone\"}"), 2.0);
    running.join();
}

#[test]
fn a_model_that_hangs_ends_no_other_request() {
    let hasty = Settings {
        timeout: Duration::from_secs(1),
        ..settings()
    };
    let running = Running::with_models(hasty, 2);
    detect(running.address, &picture(WAITS, ImageFormat::Png)).assert_refused(503, "no answer within 1 seconds");
    assert_eq!(detect(running.address, &picture(GOOD, ImageFormat::Png)).status, 200);
    // It hangs until after this.
    running.join();
}

#[test]
fn what_was_accepted_is_answered_before_it_stops() {
    let mut running = Running::new(Settings { batch: 1, ..settings() });
    let [waits, good] = [WAITS, GOOD].map(|colour| picture(colour, ImageFormat::Png));
    let held = send_picture(running.address, &waits);
    // The model has this one, so that the next can't be answered before it.
    running.gate.reached();
    let accepted = [held, send_picture(running.address, &good)];
    wait_for(running.address, "serve_requests_open", 2.0);
    running.stop();
    // New clients are refused, while those that were accepted wait.
    let mut refused = false;
    for _ in 0..500 {
        refused = TcpStream::connect(running.address).is_err();
        if refused {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(refused);
    running.gate.open();
    assert!(accepted.into_iter().all(|stream| answer(stream).status == 200));
    running.join();
}
