//! Picture files that are damaged, or were made to harm: each is an error that names the file and says why.

use std::io::Cursor;
use std::path::PathBuf;
use std::{env, fs, process};

use burn_roi_detection::pictures::DecodeConfig;
use image::codecs::jpeg::JpegEncoder;
use image::{Rgb, RgbImage};

use crate::pictures;

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = env::temp_dir().join(format!("burn-roi-{}-{name}", process::id()));
    fs::write(&path, bytes).unwrap();
    path
}

#[track_caller]
fn assert_refused(path: PathBuf, reason: &str) {
    let error = pictures::read(&path).expect_err(reason).to_string();
    fs::remove_file(&path).unwrap();
    assert!(
        error.contains(&format!("{}: ", path.display())) && error.contains(reason),
        "{error}"
    );
}

fn jpeg() -> Vec<u8> {
    let picture = RgbImage::from_fn(64, 64, |x, y| Rgb([4 * x as u8, 4 * y as u8, (x * y) as u8]));
    let mut file = Vec::new();
    picture
        .write_with_encoder(JpegEncoder::new_with_quality(&mut file, 90))
        .unwrap();
    file
}

/// A part of a PNG file, with its checksum.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let bytes = [kind.as_slice(), data].concat();
    let checksum = bytes.iter().fold(!0_u32, |checksum, &byte| {
        (0..8).fold(checksum ^ u32::from(byte), |checksum, _| {
            checksum >> 1 ^ if checksum & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    [
        &(data.len() as u32).to_be_bytes(),
        bytes.as_slice(),
        &(!checksum).to_be_bytes(),
    ]
    .concat()
}

/// Headers alone: the pixels would take 1.2 and 12.9 GB.
#[test]
fn pictures_that_are_too_large() {
    let sides = [20_000_u32.to_be_bytes(), 20_000_u32.to_be_bytes()].concat();
    let header = chunk(b"IHDR", &[&sides, [8, 2, 0, 0, 0].as_slice()].concat());
    let png = [
        b"\x89PNG\r\n\x1a\n",
        header.as_slice(),
        &chunk(b"IDAT", &[]),
        &chunk(b"IEND", &[]),
    ]
    .concat();
    let reason = "its 20000 x 20000 pixels have 1200000000 bytes, but must have 536870912 at most";
    assert_refused(file("large.png", &png), reason);
    let mut jpeg = jpeg();
    let header = jpeg
        .windows(4)
        .position(|window| window == [0xff, 0xc0, 0, 17])
        .unwrap();
    jpeg[header + 5..header + 9].fill(0xff);
    assert_refused(file("large.jpg", &jpeg), "its 65535 x 65535 pixels have");

    let mut bmp = Cursor::new(Vec::new());
    striped().write_to(&mut bmp, image::ImageFormat::Bmp).unwrap();
    let mut bmp = bmp.into_inner();
    bmp[18..26].copy_from_slice(&[20_000_u32.to_le_bytes(), 20_000_u32.to_le_bytes()].concat());
    assert_refused(
        file("large.bmp", &bmp),
        "its 20000 x 20000 pixels have 1200000000 bytes",
    );
    let mut gif = Cursor::new(Vec::new());
    striped().write_to(&mut gif, image::ImageFormat::Gif).unwrap();
    let mut gif = gif.into_inner();
    gif[6..10].fill(0xff);
    assert_refused(file("large.gif", &gif), "its 65535 x 65535 pixels have");
}

#[test]
fn truncated_pictures() {
    let whole = jpeg();
    for length in (3..whole.len()).step_by(7) {
        let path = file("truncated.jpg", &whole[..length]);
        assert_refused(path, "the JPEG file is truncated: it ends before its picture");
    }
    let path = file("half.jpg", &whole[..whole.len() / 2]);
    let config = DecodeConfig {
        allow_truncated: true,
        ..DecodeConfig::new()
    };
    let picture = burn_roi_detection::pictures::read(&path, &config).unwrap();
    assert_eq!(picture.dimensions(), (64, 64));
    fs::remove_file(&path).unwrap();
    let path = file("whole.jpg", &whole);
    let picture = pictures::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    // What a decoder does not see as the end is not one: a thumbnail has its own.
    let thumbnail = [
        &[0xff, 0xe1],
        ((whole.len() + 2) as u16).to_be_bytes().as_slice(),
        &whole,
    ]
    .concat();
    let with_thumbnail = [&whole[..2], &thumbnail, &whole[2..]].concat();
    let path = file("thumbnail.jpg", &with_thumbnail);
    assert_eq!(pictures::read(&path).unwrap(), picture);
    fs::remove_file(&path).unwrap();
    let half = with_thumbnail.len() - whole.len() / 2;
    assert_refused(file("half_thumbnail.jpg", &with_thumbnail[..half]), "truncated");
}

/// A picture of few colors, since a GIF file has 256 at most.
fn striped() -> RgbImage {
    RgbImage::from_fn(24, 10, |x, y| Rgb([80 * (x % 3) as u8, 120 * (y % 2) as u8, 40]))
}

/// Each format that keeps all pixels, from a file whose name says nothing.
#[test]
fn pictures_of_every_format() {
    use image::ImageFormat::{Bmp, Gif, Png, Tiff, WebP};
    for format in [Bmp, Gif, Png, Tiff, WebP] {
        let mut bytes = Cursor::new(Vec::new());
        striped().write_to(&mut bytes, format).unwrap();
        let bytes = bytes.into_inner();
        let path = file(&format!("striped-{format:?}"), &bytes);
        assert!(pictures::read(&path).unwrap() == striped(), "{format:?}");
        fs::remove_file(&path).unwrap();
        let path = file(&format!("half-{format:?}"), &bytes[..bytes.len() / 2]);
        assert_refused(path, "cannot read the image");
    }
}

#[test]
fn every_format_of_a_folder_is_found() {
    let folder = env::temp_dir().join(format!("burn-roi-{}-formats", process::id()));
    fs::create_dir_all(&folder).unwrap();
    for name in ["a.webp", "b.BMP", "c.gif", "d.tif", "e.tiff", "f.jpg", "g.txt", "h.svg"] {
        fs::write(folder.join(name), "").unwrap();
    }
    let found = pictures::find(std::slice::from_ref(&folder)).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let names = ["a.webp", "b.BMP", "c.gif", "d.tif", "e.tiff", "f.jpg"];
    assert_eq!(found, names.map(|name| folder.join(name)));
}

/// Opening a pipe would wait for who writes into it.
#[cfg(unix)]
#[test]
fn a_pipe() {
    let path = env::temp_dir().join(format!("burn-roi-{}-pipe.png", process::id()));
    assert!(process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_refused(path, "it is no file");
}
