//! A client of one request a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

pub struct Answer {
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub fn error(&self) -> String {
        self.json()["error"].as_str().expect("an error").to_string()
    }

    #[track_caller]
    pub fn assert_refused(&self, status: u16, reason: &str) {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{body}");
        assert!(self.error().contains(reason), "{body}");
    }
}

/// Sends a request, and does not wait for its answer.
pub fn send(address: SocketAddr, request: &str, headers: &[&str], body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(40)))
        .expect("a timeout");
    let mut head = format!("{request} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n");
    if !body.is_empty() {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    for header in headers {
        head += &format!("{header}\r\n");
    }
    stream
        .write_all(format!("{head}\r\n").as_bytes())
        .expect("the headers are sent");
    // The server may answer before it has read all.
    let _ = stream.write_all(body);
    stream
}

/// Waits for the answer.
pub fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer");
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .expect("headers");
    let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Answer {
        status: status.expect("a status"),
        body: bytes[end + 4..].to_vec(),
        head,
    }
}

pub fn get(address: SocketAddr, path: &str) -> Answer {
    answer(send(address, &format!("GET {path}"), &[], &[]))
}

/// Detects in a picture file.
pub fn detect(address: SocketAddr, file: &[u8]) -> Answer {
    answer(send_picture(address, file))
}

pub fn send_picture(address: SocketAddr, file: &[u8]) -> TcpStream {
    send(
        address,
        "POST /detect",
        &["Content-Type: application/octet-stream"],
        file,
    )
}

/// A form of files, and its header.
pub fn form(files: &[(&str, &[u8])]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, file) in files {
        let head = format!("--Edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        body.extend([head.as_bytes(), file, b"\r\n"].concat());
    }
    body.extend(b"--Edge--\r\n");
    ("Content-Type: multipart/form-data; boundary=Edge".to_string(), body)
}

/// The value of a metric, or 0 if there is none.
pub fn metric(address: SocketAddr, name: &str) -> f64 {
    let text = String::from_utf8(get(address, "/metrics").body).expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().expect("a number"))
}

/// Waits until a metric has a value.
#[track_caller]
pub fn wait_for(address: SocketAddr, name: &str, value: f64) {
    for _ in 0..1000 {
        if metric(address, name) == value {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{name} is {}, and not {value} after 10 seconds", metric(address, name));
}
