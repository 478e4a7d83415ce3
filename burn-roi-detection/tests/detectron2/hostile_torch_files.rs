//! Files of torch that are damaged, or were made to harm: each is an error that says why.

use burn_roi_detection::weights::detectron2::Checkpoint;

use crate::any_checkpoint::archive;

/// BINUNICODE
fn text(text: &str) -> Vec<u8> {
    [b"X", (text.len() as u32).to_le_bytes().as_slice(), text.as_bytes()].concat()
}

/// LONG1
fn int(int: i64) -> Vec<u8> {
    [b"\x8a\x08".as_slice(), &int.to_le_bytes()].concat()
}

fn tuple(ints: &[i64]) -> Vec<u8> {
    [
        b"(".to_vec(),
        ints.iter().flat_map(|&size| int(size)).collect(),
        b"t".to_vec(),
    ]
    .concat()
}

/// A tensor that reads a storage of floats, the one with key 0.
pub fn floats(elements: i64, shape: &[i64], strides: &[i64]) -> Vec<u8> {
    tensor("FloatStorage", elements, 0, shape, strides)
}

fn tensor(storage: &str, elements: i64, offset: i64, shape: &[i64], strides: &[i64]) -> Vec<u8> {
    let storage = format!("ctorch\n{storage}\n").into_bytes();
    let identifier = [
        b"(".to_vec(),
        text("storage"),
        storage,
        text("0"),
        text("cpu"),
        int(elements),
        b"tQ".to_vec(),
    ];
    [
        b"ctorch._utils\n_rebuild_tensor_v2\n(".to_vec(),
        identifier.concat(),
        int(offset),
        tuple(shape),
        tuple(strides),
        b"\x89ccollections\nOrderedDict\n)RtR".to_vec(),
    ]
    .concat()
}

/// The pickle of a dictionary with tensors in its entry `model`.
pub fn checkpoint(tensors: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let entries = tensors
        .iter()
        .flat_map(|(name, tensor)| [text(name), tensor.clone()].concat());
    [
        b"\x80\x02}".to_vec(),
        text("model"),
        b"}(".to_vec(),
        entries.collect(),
        b"us.".to_vec(),
    ]
    .concat()
}

/// An archive with a storage of 12 floats.
fn of_12_floats(tensors: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let storage: Vec<u8> = (0..12).flat_map(|index| (index as f32).to_le_bytes()).collect();
    archive(&[("model/data.pkl", &checkpoint(tensors)), ("model/data/0", &storage)])
}

/// A file as torch wrote it before version 1.6, with a storage of 2 floats.
fn legacy(keys: &[u8], storage: &[u8]) -> Vec<u8> {
    let magic = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.";
    let system = [b"\x80\x02}", text("little_endian").as_slice(), b"\x88s."].concat();
    let pickle = checkpoint(&[("w", floats(2, &[2], &[1]))]);
    [magic.as_slice(), &system, &pickle, b"\x80\x02](", keys, b"e.", storage].concat()
}

#[track_caller]
fn assert_refused(file: &[u8], reason: &str) {
    let error = Checkpoint::from_pth(file).expect_err(reason).to_string();
    assert!(error.contains(reason), "{error:?} does not say {reason:?}");
}

fn values(file: &[u8], name: &str) -> Vec<f32> {
    Checkpoint::from_pth(file).unwrap().tensors[name]
        .iter::<f32>()
        .collect()
}

#[test]
fn what_these_tests_write_is_read() {
    let file = of_12_floats(&[
        ("whole", floats(12, &[3, 4], &[4, 1])),
        ("turned", floats(12, &[4, 2], &[1, 4])),
        ("part", tensor("FloatStorage", 12, 9, &[1, 3], &[7, 1])),
        ("none", floats(12, &[0, 3], &[3, 1])),
        ("bytes", tensor("ByteStorage", 12, 0, &[3], &[1])),
    ]);
    assert_eq!(values(&file, "whole")[..5], [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values(&file, "turned"), [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
    assert_eq!(values(&file, "part"), [9.0, 10.0, 11.0]);
    assert_eq!(values(&file, "none"), [0.0; 0]);
    // No weight is of bytes.
    assert_eq!(Checkpoint::from_pth(&file).unwrap().tensors.len(), 4);
    let storage = [&2_u64.to_le_bytes()[..], &1_f32.to_le_bytes(), &2_f32.to_le_bytes()].concat();
    assert_eq!(values(&legacy(&text("0"), &storage), "w"), [1.0, 2.0]);
}

/// A kilobyte each. Read as they say, they would take gigabytes.
#[test]
fn tensors_of_more_bytes_than_the_file() {
    let repeated = floats(12, &[1_610_612_736], &[0]);
    assert_refused(&of_12_floats(&[("w", repeated)]), "twice as many as the file");
    let names: Vec<String> = (0..200).map(|index| index.to_string()).collect();
    let memoized = [floats(12, &[12, 9], &[0, 1]), b"q\0".to_vec()].concat();
    let shared = |index| if index == 0 { memoized.clone() } else { b"h\0".to_vec() };
    let tensors: Vec<(&str, Vec<u8>)> = names
        .iter()
        .enumerate()
        .map(|(index, name)| (name.as_str(), shared(index)))
        .collect();
    assert_refused(&of_12_floats(&tensors), "twice as many as the file");
}

#[test]
fn archives_that_are_larger_than_they_look() {
    let pickle = checkpoint(&[("w", floats(12, &[12], &[1]))]);
    let mut file = archive(&[("model/data.pkl", &pickle), ("model/data/0", &[0; 48])]);
    let directory = file.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    // The method of compression.
    file[directory + 10] = 8;
    assert_refused(
        &file,
        "entry \"model/data.pkl\" is compressed, but torch stores all entries",
    );
    file[directory + 10] = 0;
    Checkpoint::from_pth(&file).unwrap();
    // The size of the first entry, which is then as long as the rest of the file.
    let rest = file.len() - 30 - "model/data.pkl".len();
    for place in [20, 24] {
        file[directory + place..][..4].copy_from_slice(&(rest as u32).to_le_bytes());
    }
    assert_refused(&file, "entry \"model/data/0\" is not within the file");
}

/// The virtual machine of pickles runs so many opcodes only: each makes a value of 90 times its size.
#[test]
fn pickles_of_too_many_opcodes() {
    let pickle = [b"\x80\x02", vec![b'}'; 600_000].as_slice()].concat();
    assert_refused(&archive(&[("model/data.pkl", &pickle)]), "more than 524288 opcodes");
}

#[test]
fn tensors_beyond_their_storage() {
    for (elements, shape, strides) in [
        (12, &[13][..], &[1][..]),
        (13, &[13], &[1]),
        (12, &[2, 2], &[11, 1]),
        (12, &[2], &[i64::MAX]),
        (12, &[3, 3], &[i64::MAX / 2, i64::MAX / 2]),
        (12, &[i64::MAX, i64::MAX], &[0, 0]),
        (12, &[2, 2], &[1]),
    ] {
        assert_refused(
            &of_12_floats(&[("w", floats(elements, shape, strides))]),
            "w: an array of shape",
        );
    }
    let beyond = tensor("FloatStorage", 12, i64::MAX, &[1], &[1]);
    assert_refused(&of_12_floats(&[("w", beyond)]), "w: an array of shape [1]");
    assert_refused(
        &of_12_floats(&[("w", floats(12, &[-1], &[1]))]),
        "`shape` is -1, but must be at least 0",
    );
}

#[test]
fn damaged_files() {
    let file = of_12_floats(&[("w", floats(12, &[12], &[1]))]);
    for length in 0..file.len() {
        assert!(
            Checkpoint::from_pth(&file[..length]).is_err(),
            "the first {length} bytes"
        );
    }
    let pickle = checkpoint(&[("w", floats(12, &[12], &[1]))]);
    let big = [("model/data.pkl", pickle.as_slice()), ("model/byteorder", b"big")];
    assert_refused(&archive(&big), "not little-endian");
    assert_refused(&archive(&[("model/data/0", &[])]), "no `data.pkl`");
    assert_refused(b"no file of torch", "no file that torch wrote");
    assert_refused(&of_12_floats(&[]), "no entry `model` of tensors");
    let storage = [3_u64.to_le_bytes(), [0; 8]].concat();
    assert_refused(&legacy(&text("0"), &storage), "truncated in its storage \"0\"");
    assert_refused(
        &legacy(&text("0"), &2_u64.to_le_bytes()),
        "truncated in its storage \"0\"",
    );
    assert_refused(&legacy(&text("1"), &storage), "truncated in its storage \"1\"");
    assert_refused(&legacy(b"K\0", &storage), "the keys of its storages");
}

/// Objects of Python are data without a meaning: nothing of them is run.
#[test]
fn objects_beside_the_weights() {
    // A call of `os.system`, and a set.
    let object = b"cos\nsystem\n(X\x02\0\0\0lstR";
    let pickle = checkpoint(&[
        ("w", floats(12, &[12], &[1])),
        ("args", object.to_vec()),
        ("seen", b"\x8f(K\x01\x90".to_vec()),
    ]);
    let file = archive(&[("model/data.pkl", &pickle), ("model/data/0", &[0; 48])]);
    assert_eq!(values(&file, "w"), [0.0; 12]);
}
