//! Requests that are wrong, or made to harm. Each is refused with a reason, and the next one is answered.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use image::ImageFormat;
use serve::Settings;

use crate::client::{answer, detect, form, send, wait_for};
use crate::files::{encoded, huge, picture};
use crate::models::{GOOD, Running, settings};

#[test]
fn files_that_are_wrong() {
    let running = Running::new(settings());
    let jpeg = picture(GOOD, ImageFormat::Jpeg);
    for length in [3, jpeg.len() / 2, jpeg.len() - 1] {
        detect(running.address, &jpeg[..length]).assert_refused(422, "the JPEG file is truncated");
    }
    for format in [ImageFormat::Png, ImageFormat::WebP] {
        let file = picture(GOOD, format);
        detect(running.address, &file[..file.len() / 2]).assert_refused(422, "cannot be decoded");
    }
    detect(running.address, b"not a picture").assert_refused(415, "cannot be decoded");
    detect(running.address, b"").assert_refused(415, "cannot be decoded");
    assert_eq!(detect(running.address, &jpeg).status, 200);
    running.join();
}

/// Each byte of a file is changed in turn: no decoder ends the process, and most of the files are refused.
#[test]
fn files_with_a_wrong_byte() {
    let running = Running::new(settings());
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let file = picture(GOOD, format);
        for index in (0..file.len()).step_by(file.len().div_ceil(60)) {
            let mut file = file.clone();
            file[index] ^= 0xff;
            let status = detect(running.address, &file).status;
            assert!(
                [200, 413, 415, 422].contains(&status),
                "{format:?} at {index}: {status}"
            );
        }
    }
    assert_eq!(detect(running.address, &picture(GOOD, ImageFormat::Png)).status, 200);
    running.join();
}

#[test]
fn pictures_that_are_too_large() {
    let running = Running::new(settings());
    let file = huge();
    assert!(file.len() < 1000);
    let reason = "the picture has 2700000000 bytes of pixels, but must have 1048576 at most";
    detect(running.address, &file).assert_refused(413, reason);
    // Each of these is small enough.
    let file = encoded(&image::RgbImage::new(400, 400), ImageFormat::Png);
    assert_eq!(detect(running.address, &file).status, 200);
    let (header, body) = form(&[("a", &file), ("b", &file), ("c", &file)]);
    let reason = "the pictures have 1440000 bytes of pixels, but must have 1048576 at most";
    answer(send(running.address, "POST /detect", &[&header], &body)).assert_refused(413, reason);
    running.join();
}

#[test]
fn bodies_that_are_too_long() {
    let running = Running::new(settings());
    let reason = "the body is longer than 1048576 bytes";
    detect(running.address, &vec![0; (1 << 20) + 1]).assert_refused(413, reason);
    // In chunks, of which nobody knows how many follow.
    let headers = ["Content-Type: image/png", "Transfer-Encoding: chunked"];
    let mut stream = send(running.address, "POST /detect", &headers, b"");
    let chunk = [b"10000\r\n".as_slice(), &[0; 1 << 16], b"\r\n"].concat();
    for _ in 0..17 {
        stream.write_all(&chunk).expect("a chunk");
    }
    answer(stream).assert_refused(413, reason);
    let (header, body) = form(&[("a", &[0; 1 << 20])]);
    answer(send(running.address, "POST /detect", &[&header], &body)).assert_refused(413, reason);
    running.join();
}

#[test]
fn requests_that_are_wrong() {
    let running = Running::new(settings());
    let file = picture(GOOD, ImageFormat::Png);
    let refused = |request: &str, headers: &[&str], body: &[u8], status, reason: &str| {
        answer(send(running.address, request, headers, body)).assert_refused(status, reason);
    };
    refused(
        "POST /detect",
        &["Content-Type: text/plain"],
        &file,
        415,
        "`Content-Type` is text/plain",
    );
    let accept = ["Content-Type: image/png", "Accept: text/html"];
    refused("POST /detect", &accept, &file, 406, "`Accept` is text/html");
    refused("POST /detect?threshold=high", &[], &file, 400, "`threshold` is high");

    let (header, body) = form(&[("a", &file), ("b", &file)]);
    refused(
        "POST /detect",
        &[&header, "Accept: image/png"],
        &body,
        406,
        "2 pictures were sent",
    );
    refused(
        "POST /detect",
        &[&header],
        &body[..body.len() - 20],
        400,
        "cannot read the form",
    );
    refused(
        "POST /detect",
        &["Content-Type: multipart/form-data"],
        &body,
        400,
        "cannot read the form",
    );
    let (header, body) = form(&[]);
    refused("POST /detect", &[&header], &body, 400, "the form has no file");
    let (header, body) = form(&[("a", file.as_slice()); 4]);
    refused("POST /detect", &[&header], &body, 413, "more than 3 pictures");
    let (header, body) = form(&[("a", &file), ("broken.jpg", b"\xff\xd8\xff")]);
    refused(
        "POST /detect",
        &[&header],
        &body,
        422,
        "the picture `broken.jpg` cannot be decoded",
    );
    assert_eq!(detect(running.address, &file).status, 200);
    running.join();
}

/// A body that never ends, and headers that never end.
#[test]
fn clients_that_are_slow() {
    let hasty = Settings {
        timeout: Duration::from_secs(1),
        headers: Duration::from_secs(1),
        queue: 1,
        ..settings()
    };
    let running = Running::new(hasty);
    let began = Instant::now();
    let mut no_headers = TcpStream::connect(running.address).expect("a connection");
    no_headers
        .write_all(b"POST /detect HTTP/1.1\r\nHost")
        .expect("half of a header");
    let headers = ["Content-Type: image/png", "Content-Length: 1000"];
    let slow = send(running.address, "POST /detect", &headers, b"");
    wait_for(running.address, "serve_requests_open", 1.0);
    // It holds the only place, until its time is over.
    answer(slow).assert_refused(408, "did not arrive within 1 seconds");
    assert_eq!(detect(running.address, &picture(GOOD, ImageFormat::Png)).status, 200);
    let mut rest = Vec::new();
    no_headers
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    no_headers.read_to_end(&mut rest).expect("the connection is closed");
    assert!(began.elapsed() < Duration::from_secs(15));
    running.join();
}
