//! Bytes that are no messages, over a WebSocket connection by hand.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Opens so many connections to a server, and sends a frame of garbage on each.
pub fn send_garbage(address: &str, connections: usize) {
    for number in 0..connections {
        let mut stream = TcpStream::connect(address).expect("the server accepts connections");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a timeout");
        let upgrade = format!(
            "GET /session HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(upgrade.as_bytes()).expect("an open connection");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 101", "the server does not speak WebSocket");
        let bytes: Vec<u8> = (0..number % 120).map(|place| (number * 31 + place * 7) as u8).collect();
        // A binary frame, whose mask is 0.
        let frame = [&[0x82, 0x80 | bytes.len() as u8, 0, 0, 0, 0], &bytes[..]].concat();
        // The server may have closed the connection already.
        let _ = stream.write_all(&frame);
    }
}
