//! The command: files, formats, and what it prints and writes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, process};

use find_faces::PHOTOGRAPH;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::{crop_imm, rotate90};
use image::{DynamicImage, RgbImage};
use serde_json::Value;

use crate::pictures::plain;

/// A folder that is removed with its files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("burn-roi-faces-{}-{name}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs the command; it writes `found.png` in this folder.
    fn run(&self, images: &[&Path], arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_find_faces"));
        for image in images {
            command.arg("--image").arg(image);
        }
        command.arg("--output").arg(self.file("found.png")).args(arguments);
        command.output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The lines of JSON that a run printed.
fn lines(output: &Output) -> Vec<Value> {
    let stdout = text(&output.stdout);
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn faces(line: &Value) -> &[Value] {
    line["faces"].as_array().unwrap()
}

/// The part of the picture with the face: small, so that the runs are short.
fn portrait() -> RgbImage {
    crop_imm(&plain(), 60, 0, 110, 120).to_image()
}

#[test]
fn the_shipped_photograph_is_found_and_drawn() {
    let folder = Folder::new("shipped");
    let output = folder.run(&[], &[]);
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        stdout.contains("photograph.jpg, 512 x 512: 1 face\n  0.9959 "),
        "{stdout}"
    );
    let [drawn, picture] = [folder.file("found.png"), PHOTOGRAPH.into()].map(|file| image::open(file).unwrap());
    assert_eq!(drawn.to_rgb8().dimensions(), (512, 512));
    assert_ne!(drawn.to_rgb8(), picture.to_rgb8());
}

#[test]
fn several_pictures_are_a_batch_with_json() {
    let folder = Folder::new("batch");
    let [first, second] = [folder.file("a.png"), folder.file("b.png")];
    portrait().save(&first).unwrap();
    RgbImage::new(1, 1).save(&second).unwrap();
    let output = folder.run(&[&folder.0], &["--json", "--batch", "2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = lines(&output);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["image"], first.display().to_string());
    assert_eq!([&lines[0]["width"], &lines[0]["height"]], [110, 120]);
    let [face] = faces(&lines[0]) else {
        panic!("{}", lines[0])
    };
    assert!(face["score"].as_f64().unwrap() > 0.99);
    let [left, right] = ["left_eye", "right_eye"].map(|eye| face["landmarks"][eye][0].as_f64().unwrap());
    assert!(left + 10.0 < right);
    assert!(faces(&lines[1]).is_empty());
    assert!(folder.file("found-1.png").exists() && folder.file("found-2.png").exists());
    // Everything else is on stderr.
    assert!(text(&output.stderr).contains("a.png, 110 x 120: 1 face"));
}

#[test]
fn every_kind_of_picture_is_read() {
    let folder = Folder::new("kinds");
    let picture = DynamicImage::from(portrait());
    let kinds = [
        ("alpha.png", DynamicImage::from(picture.to_rgba8())),
        ("grey.png", picture.to_luma8().into()),
        ("grey_alpha_16.png", picture.to_luma_alpha16().into()),
        ("rgb_16.png", picture.to_rgb16().into()),
    ];
    for (name, picture) in kinds {
        picture.save(folder.file(name)).unwrap();
    }
    // The file is turned, and its EXIF data say so.
    fs::write(folder.file("turned.jpg"), with_orientation(&rotate90(&portrait()), 8)).unwrap();
    let output = folder.run(&[&folder.0], &["--json", "--batch", "5"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = lines(&output);
    assert_eq!(lines.len(), 5);
    for line in &lines {
        assert_eq!([&line["width"], &line["height"]], [110, 120], "{line}");
        assert_eq!(faces(line).len(), 1, "{line}");
    }
    // 16 bits and alpha change nothing.
    assert_eq!(lines[0]["faces"], lines[3]["faces"]);
    assert_eq!(lines[1]["faces"], lines[2]["faces"]);
}

/// A JPEG file with an EXIF segment that has nothing but that orientation.
fn with_orientation(picture: &RgbImage, orientation: u8) -> Vec<u8> {
    let mut file = Vec::new();
    picture
        .write_with_encoder(JpegEncoder::new_with_quality(&mut file, 95))
        .unwrap();
    let mut segment = b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    segment.extend([orientation, 0, 0, 0, 0, 0, 0]);
    // After the marker that starts the file.
    file.splice(2..2, segment);
    file
}

#[test]
fn files_that_are_no_pictures_are_named_and_the_others_are_looked_at() {
    let folder = Folder::new("broken");
    fs::write(folder.file("a.png"), b"no picture").unwrap();
    fs::write(folder.file("b.jpg"), b"").unwrap();
    portrait().save(folder.file("c.png")).unwrap();
    let whole = fs::read(folder.file("c.png")).unwrap();
    fs::write(folder.file("d.png"), &whole[..whole.len() / 2]).unwrap();
    let output = folder.run(&[&folder.0], &["--json", "--batch", "4"]);
    assert!(!output.status.success());
    let lines = lines(&output);
    assert_eq!([lines.len(), faces(&lines[0]).len()], [1, 1]);
    let errors = text(&output.stderr);
    for file in ["a.png", "b.jpg", "d.png"] {
        let file = folder.file(file).display().to_string();
        assert!(
            errors
                .lines()
                .any(|line| line.starts_with("error: ") && line.contains(&file)),
            "{errors}"
        );
    }
    assert!(errors.contains("3 of 4 pictures could not be read"), "{errors}");
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new("missing");
    let file = folder.file("none.png");
    let output = folder.run(&[&file], &[]);
    assert!(!output.status.success());
    let errors = text(&output.stderr);
    assert!(
        errors.starts_with("error: ") && errors.contains(&file.display().to_string()),
        "{errors}"
    );
    assert!(!folder.file("found.png").exists());
}
