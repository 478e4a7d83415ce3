//! What a service answers for pictures.

use std::thread;
use std::time::Duration;

use image::ImageFormat;
use serve::Settings;

use crate::client::{answer, detect, form, get, metric, send, send_picture, wait_for};
use crate::files::picture;
use crate::models::{GOOD, Running, WAITS, settings};

const NONE: &[&str] = &[];

#[test]
fn each_format_is_answered_in_json() {
    let running = Running::new(settings());
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let answer = detect(running.address, &picture(GOOD, format));
        assert_eq!(answer.status, 200, "{format:?}");
        assert!(
            answer.head.contains("content-type: application/json"),
            "{}",
            answer.head
        );
        let json = answer.json();
        let picture = &json["pictures"][0];
        assert_eq!([&picture["width"], &picture["height"]], [16, 12]);
        let object = &picture["objects"][0];
        assert_eq!((&object["label"], &object["class"]), (&"person".into(), &1.into()));
        assert_eq!(object["box"].to_string(), "[1.0,2.0,8.0,6.0]");
    }
    running.join();
}

#[test]
fn a_form_of_several_pictures_is_answered_in_its_order() {
    let running = Running::new(settings());
    let files = [[0, 51, 0], [0, 204, 0], [0, 102, 0]].map(|colour| picture(colour, ImageFormat::Png));
    let names = ["a.png", "b b.png", "c.png"];
    let parts: Vec<(&str, &[u8])> = names.into_iter().zip(files.iter().map(Vec::as_slice)).collect();
    let (header, body) = form(&parts);
    let json = answer(send(running.address, "POST /detect?masks=none", &[&header], &body)).json();
    let pictures = json["pictures"].as_array().expect("pictures");
    let scores = pictures
        .iter()
        .map(|picture| picture["objects"][0]["score"].as_f64().expect("a score"));
    let scores: Vec<_> = scores.map(|score| (score * 255.0).round()).collect();
    assert_eq!(scores, [51.0, 204.0, 102.0]);
    assert!(pictures.iter().map(|picture| &picture["name"]).eq(names));
    // They were one batch.
    assert_eq!(metric(running.address, "serve_batch_pictures_count"), 1.0);

    let above = answer(send(running.address, "POST /detect?threshold=0.5", &[&header], &body)).json();
    let counts = above["pictures"].as_array().expect("pictures").iter();
    let counts: Vec<_> = counts
        .map(|picture| picture["objects"].as_array().expect("objects").len())
        .collect();
    assert_eq!(counts, [0, 1, 0]);
    running.join();
}

#[test]
fn accept_draws_the_picture() {
    let running = Running::new(settings());
    let file = picture(GOOD, ImageFormat::Jpeg);
    let headers = ["Content-Type: image/jpeg", "Accept: image/png"];
    let drawn = answer(send(running.address, "POST /detect", &headers, &file));
    assert!(drawn.head.contains("content-type: image/png"), "{}", drawn.head);
    let drawn = image::load_from_memory(&drawn.body).expect("a picture");
    assert_eq!((drawn.width(), drawn.height()), (640, 480));
    running.join();
}

#[test]
fn pictures_that_arrive_together_are_one_batch() {
    let patient = Settings {
        wait: Duration::from_secs(10),
        ..settings()
    };
    let running = Running::new(patient);
    let file = picture(GOOD, ImageFormat::Png);
    // The fourth fills the batch: nobody waits 10 seconds.
    let waiting: Vec<_> = (0..4).map(|_| send_picture(running.address, &file)).collect();
    for stream in waiting {
        assert_eq!(answer(stream).status, 200);
    }
    assert_eq!(metric(running.address, "serve_batch_pictures_count"), 1.0);
    assert_eq!(metric(running.address, "serve_batch_pictures_sum"), 4.0);
    running.join();
}

#[test]
fn requests_are_spread_over_devices() {
    let running = Running::with_models(settings(), 2);
    // One model is held, and the other one answers.
    let held = send_picture(running.address, &picture(WAITS, ImageFormat::Png));
    running.gate.reached();
    assert_eq!(detect(running.address, &picture(GOOD, ImageFormat::Png)).status, 200);
    running.gate.open();
    assert_eq!(answer(held).status, 200);
    running.join();
}

#[test]
fn page_health_and_metrics() {
    let running = Running::new(settings());
    wait_for(running.address, "serve_models_ready", 1.0);
    let page = get(running.address, "/");
    assert!(page.head.contains("content-type: text/html"), "{}", page.head);
    assert!(String::from_utf8_lossy(&page.body).contains("Drop a picture here"));
    assert_eq!(get(running.address, "/health").json()["status"], "ok");
    detect(running.address, &picture(GOOD, ImageFormat::Png));
    for name in [
        "serve_requests_total{status=\"200\"}",
        "serve_request_seconds_bucket{le=\"+Inf\"}",
        "serve_stage_seconds_count{stage=\"decode\"}",
        "serve_stage_seconds_count{stage=\"model\"}",
    ] {
        assert_eq!(metric(running.address, name), 1.0, "{name}");
    }
    assert_eq!(get(running.address, "/nothing").status, 404);
    assert_eq!(get(running.address, "/detect").status, 405);
    running.join();
}

#[test]
fn a_token_is_asked_for() {
    let with_token = Settings {
        token: Some("secret".to_string()),
        ..settings()
    };
    let running = Running::new(with_token);
    let file = picture(GOOD, ImageFormat::Png);
    for headers in [
        NONE,
        &["Authorization: Bearer secre"],
        &["Authorization: Bearer secrets"],
        &["Authorization: secret"],
    ] {
        let headers = [headers, &["Content-Type: image/png"]].concat();
        answer(send(running.address, "POST /detect", &headers, &file)).assert_refused(401, "Bearer TOKEN");
    }
    assert_eq!(get(running.address, "/metrics").status, 401);
    assert_eq!(get(running.address, "/health").status, 200);
    let headers = ["Authorization: Bearer secret", "Content-Type: image/png"];
    assert_eq!(
        answer(send(running.address, "POST /detect", &headers, &file)).status,
        200
    );
    running.join();
}

#[test]
fn many_clients_at_once_are_all_answered() {
    let running = Running::with_models(settings(), 2);
    let address = running.address;
    let clients: Vec<_> = (0..12)
        .map(|client| {
            thread::spawn(move || {
                let file = picture([0, 10 * client, 0], ImageFormat::Png);
                for _ in 0..20 {
                    let score = &detect(address, &file).json()["pictures"][0]["objects"][0]["score"];
                    // Nobody gets the answer of another.
                    assert_eq!(
                        (score.as_f64().expect("a score") * 255.0).round(),
                        f64::from(10 * client)
                    );
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("its answers");
    }
    assert_eq!(metric(address, "serve_requests_total{status=\"200\"}"), 240.0);
    running.join();
}
