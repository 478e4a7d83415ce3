//! The program with a small detector: its answers, 10,000 connections, and SIGTERM.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process};

use serde_json::{Value, json};

use crate::client::{answer, detect, form, get, send, send_picture};

/// Connections that send nothing: a denial of service by a client with little effort. With 10,000, Wine takes more than
/// 20 s for a request.
const IDLE: usize = if cfg!(windows) { 1_000 } else { 10_000 };

fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../find_objects")
        .join(name)
}

/// The server's process.
pub struct Program {
    process: Child,
    pub address: SocketAddr,
    /// Removed with this value.
    config: PathBuf,
}

impl Program {
    /// Starts the server, with the shipped detector on pictures of 64 pixels: unoptimized, it takes a second for its
    /// own size.
    fn new(name: &str, arguments: &[&str]) -> Self {
        let config = env::temp_dir().join(format!("burn-roi-serve-{}-{name}.json", process::id()));
        let shapes = fs::read(shipped("shapes.json")).expect("the shipped configuration");
        let mut small: Value = serde_json::from_slice(&shapes).expect("JSON");
        small["preprocessing"]["min_size"] = json!(64);
        small["region_proposals"]["post_nms_top_n"] = json!(50);
        fs::write(&config, small.to_string()).expect("a configuration");
        Self::of(config, &shipped("shapes.safetensors"), arguments)
    }

    /// Starts the server with the detector of two files.
    pub fn of(config: PathBuf, weights: &Path, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_serve"))
            .args(["--listen", "127.0.0.1:0", "--config"])
            .arg(&config)
            .arg("--weights")
            .arg(weights)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("its output"));
        output.read_line(&mut line).expect("a line");
        process.stdout = Some(output.into_inner());
        let address = line.trim().strip_prefix("serving on http://").expect("its address");
        let address = address.parse().expect("an address");
        Self {
            process,
            address,
            config,
        }
    }

    /// Asks the program to end, on Unix.
    fn terminate(&self) {
        let id = self.process.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .expect("kill")
                .success()
        );
    }

    /// Ends the program: in order on Unix, and at once on Windows, which has no such signal.
    fn stop(self) {
        if cfg!(unix) {
            self.terminate();
            assert_eq!(self.end(), "stopped\n");
        }
    }

    /// Waits until the program has ended in order. Returns what it printed last.
    fn end(mut self) -> String {
        let mut rest = String::new();
        let mut output = self.process.stdout.take().expect("its output");
        output.read_to_string(&mut rest).expect("text");
        assert!(self.process.wait().expect("its end").success());
        rest
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // On Unix it has ended, unless a test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_file(&self.config);
    }
}

#[test]
fn the_shipped_detector_finds_shapes_alone_and_in_a_batch() {
    let program = Program::new("shapes", &["--batch", "2", "--wait", "100"]);
    let file = fs::read(shipped("shapes.png")).expect("the shipped picture");
    let alone = detect(program.address, &file).json();
    let objects = alone["pictures"][0]["objects"].as_array().expect("objects");
    assert_eq!(alone["model"], "shapes");
    let sure = objects
        .iter()
        .filter(|object| object["score"].as_f64().expect("a score") > 0.5);
    let labels: Vec<_> = sure.map(|object| &object["label"]).collect();
    assert_eq!(labels, ["ring", "ring"]);
    for object in objects {
        assert_eq!(object["mask"]["size"], json!([240, 320]));
        assert!(object["mask"]["counts"].is_string() && object["label"].is_string());
    }
    let (header, body) = form(&[("a", &file), ("b", &file)]);
    let both = answer(send(program.address, "POST /detect", &[&header], &body)).json();
    for picture in both["pictures"].as_array().expect("pictures") {
        assert!(of_each(picture, "label").eq(of_each(&alone["pictures"][0], "label")));
        for (score, other) in of_each(picture, "score").zip(of_each(&alone["pictures"][0], "score")) {
            assert!((score.as_f64().expect("a score") - other.as_f64().expect("a score")).abs() < 1e-4);
        }
    }
    let headers = ["Content-Type: image/png"];
    let outlines = answer(send(program.address, "POST /detect?masks=polygons", &headers, &file)).json();
    let polygons = outlines["pictures"][0]["objects"][0]["mask"]
        .as_array()
        .expect("polygons");
    assert!(polygons[0].as_array().expect("a polygon").len() >= 8);
    program.stop();
}

/// A field of each object of a picture.
fn of_each<'a>(picture: &'a Value, field: &'a str) -> impl Iterator<Item = &'a Value> {
    let objects = picture["objects"].as_array().expect("objects");
    objects.iter().map(move |object| &object[field])
}

/// As many as the limit of open files lets this process open, 10,000 at most. Both processes have the same limit.
#[test]
fn idle_connections_hinder_nobody() {
    let program = Program::new("idle", &[]);
    let mut idle = Vec::new();
    while idle.len() < IDLE {
        match TcpStream::connect_timeout(&program.address, Duration::from_secs(5)) {
            Ok(stream) => idle.push(stream),
            // This process has no file left.
            Err(_) => break,
        }
    }
    // Some files for what follows.
    idle.truncate(idle.len().saturating_sub(20));
    println!("{} idle connections", idle.len());
    assert!(idle.len() >= 200, "{} connections", idle.len());
    let began = Instant::now();
    let file = fs::read(shipped("parity.png")).expect("the shipped picture");
    assert_eq!(get(program.address, "/health").status, 200);
    assert_eq!(detect(program.address, &file).status, 200);
    assert!(began.elapsed() < Duration::from_secs(20));
    // They end before their time, too.
    let began = Instant::now();
    program.stop();
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[cfg(unix)]
#[test]
fn sigterm_finishes_what_was_accepted() {
    let program = Program::new("stop", &["--wait", "1000"]);
    let file = fs::read(shipped("parity.png")).expect("the shipped picture");
    let accepted = send_picture(program.address, &file);
    crate::client::wait_for(program.address, "serve_requests_open", 1.0);
    program.terminate();
    let answered = answer(accepted);
    assert_eq!(answered.status, 200);
    assert_eq!(answered.json()["pictures"].as_array().expect("pictures").len(), 1);
    assert_eq!(program.end(), "stopped\n");
}

#[test]
fn what_cannot_start_says_why() {
    let command = |arguments: &[&str], token: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_serve"));
        command
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("SERVE_TOKEN", token);
        let output = command.output().expect("the program");
        assert!(!output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(command(&[], "").contains("SERVE_TOKEN is empty"));
    assert!(command(&["--config", "maskrcnn_resnet50_fpn"], "a").contains("add --weights FILE"));
    assert!(command(&["--devices", "2"], "a").contains("backend flex has 1 of 2 devices here"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_serve"));
    let output = command.args(["--listen", &address]).output().expect("the program");
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(error.contains(&format!("cannot listen on {address}")), "{error}");
}
