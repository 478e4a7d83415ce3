//! The command with servers, which are processes of this test: what it finds on them is what it finds on Flex, and it
//! finds it in every picture once, though one of two servers is killed midway.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs, process, thread};

use burn::backend::Flex;
use burn::server::{CustomOpRegistry, RemoteServer, WebSocketTransport};
use burn::tensor::Device;

fn main() {
    if env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    if cfg!(feature = "fusion") {
        println!("a build with `fusion` has no remote devices: nothing to test");
        return;
    }
    let folder = env::temp_dir().join(format!("find_objects_servers_{}", process::id()));
    pictures(&folder);
    let expected = sorted(run(&folder, &[], None).lines);
    assert_eq!(expected.len(), PICTURES);

    let server = Server::start();
    let heads = run(&folder, &["--server", &server.address], None);
    assert_eq!(sorted(heads.lines), expected, "{}", heads.errors);
    println!("the heads on a server: ok");

    let all = run(&folder, &["--server", &server.address, "--all"], None);
    assert_eq!(sorted(all.lines), expected, "{}", all.errors);
    println!("the whole detector on a server: ok");

    let doomed = Server::start();
    let address = doomed.address.clone();
    let both = ["--server", &server.address, "--server", &address];
    let rest = run(&folder, &both, Some(doomed));
    assert!(
        rest.errors.contains(&format!("{address} is left out")),
        "{}",
        rest.errors
    );
    assert_eq!(sorted(rest.lines), expected, "{}", rest.errors);
    println!("one of two servers killed midway: ok");
    fs::remove_dir_all(folder).expect("the folder of this test");
}

/// The process of a server: prints its address, and serves until it is killed.
fn serve() {
    let mut operations = CustomOpRegistry::<Flex>::new();
    burn_roi::remote::register(&mut operations);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("ws://{}", listener.local_addr().expect("a bound port"));
    RemoteServer::new([Device::flex()])
        .with_custom_ops(operations)
        .serve(WebSocketTransport::from_listener(listener))
        .expect("a server");
}

struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start() -> Self {
        let mut process = Command::new(env::current_exe().expect("this program"))
            .arg("serve")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let mut address = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut address).expect("its address");
        Self {
            process,
            address: address.trim().to_string(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().expect("the server's process");
        self.process.wait().expect("the server's process");
    }
}

const PICTURES: usize = 8;

/// Pictures of one folder, no two alike: parts of the shipped picture, turned and mirrored.
fn pictures(folder: &Path) {
    let coins = concat!(env!("CARGO_MANIFEST_DIR"), "/../finetune/coins/right.png");
    let coins = image::open(coins).expect("the shipped picture");
    fs::create_dir_all(folder).expect("a folder");
    for number in 0..PICTURES {
        let cut = 10 * (number as u32 / 4);
        let part = coins.crop_imm(cut, cut, coins.width() - 2 * cut, coins.height() - cut);
        let picture = match number % 4 {
            0 => part,
            1 => part.fliph(),
            2 => part.flipv(),
            _ => part.rotate180(),
        };
        let file = folder.join(format!("{number:02}.png"));
        picture.save(file).expect("a picture file");
    }
}

struct Outcome {
    /// A line of JSON for each picture.
    lines: Vec<String>,
    errors: String,
}

/// Runs the command on a folder, and kills a server as soon as three pictures are done.
fn run(folder: &Path, arguments: &[&str], mut doomed: Option<Server>) -> Outcome {
    let output: PathBuf = folder.join("found").join("found.png");
    let mut command = Command::new(env!("CARGO_BIN_EXE_find_objects"));
    command
        .arg("--json")
        .arg("--image")
        .arg(folder)
        .arg("--output")
        .arg(output);
    let mut process = command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut stderr = process.stderr.take().expect("its errors");
    let errors = thread::spawn(move || {
        let mut errors = String::new();
        stderr.read_to_string(&mut errors).expect("text");
        errors
    });
    let mut lines = Vec::new();
    for line in BufReader::new(process.stdout.take().expect("its output")).lines() {
        lines.push(line.expect("a line"));
        if lines.len() == 3 {
            drop(doomed.take());
        }
    }
    let status = process.wait().expect("the command");
    let errors = errors.join().expect("its errors");
    assert!(status.success(), "{errors}");
    Outcome { lines, errors }
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_unstable();
    lines
}
