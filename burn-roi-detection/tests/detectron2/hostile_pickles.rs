//! Pickles that are damaged, or were made to harm: each is an error that says why.

use std::fs;
use std::path::Path;

use burn_roi_detection::weights::detectron2::Checkpoint;

/// A pickle of protocol 4 of opcodes, with the opcode that ends it.
fn pickle(opcodes: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x04", opcodes.concat().as_slice(), b"."].concat()
}

/// SHORT_BINUNICODE
fn text(text: &str) -> Vec<u8> {
    [b"\x8c", [text.len() as u8].as_slice(), text.as_bytes()].concat()
}

/// SHORT_BINBYTES
fn bytes(bytes: &[u8]) -> Vec<u8> {
    [b"C", [bytes.len() as u8].as_slice(), bytes].concat()
}

/// The array that a dtype, a byte order, a shape and bytes make. Shapes are given as opcodes.
fn array(dtype: &str, order: &str, shape: &[u8], data: &[u8]) -> Vec<u8> {
    [
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85".as_slice(),
        &bytes(b"b"),
        b"\x87R(K\x01",
        shape,
        b"cnumpy\ndtype\n",
        &text(dtype),
        b"\x89\x88\x87R(K\x03",
        &text(order),
        b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89",
        &bytes(data),
        b"tb",
    ]
    .concat()
}

/// A checkpoint with entries in `model`.
fn checkpoint(entries: &[&[u8]]) -> Vec<u8> {
    pickle(&[b"}", &text("model"), b"}(", &entries.concat(), b"us"])
}

fn fixture(name: &str) -> Vec<u8> {
    let pickles = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/detectron2/pickles");
    fs::read(pickles.join(name)).unwrap()
}

fn error_of(file: &[u8]) -> String {
    match Checkpoint::from_pkl(file) {
        Ok(checkpoint) => panic!("{file:02x?} was read as {checkpoint:?}"),
        Err(error) => error.to_string(),
    }
}

fn assert_refused(file: &[u8], reason: &str) {
    let error = error_of(file);
    assert!(error.contains(reason), "{error:?} does not say {reason:?}");
}

const SHAPE_OF_2: &[u8] = b"K\x02\x85";

#[test]
fn what_these_tests_write_is_read() {
    let file = checkpoint(&[&text("a"), &array("f4", "<", SHAPE_OF_2, &[0; 8])]);
    let checkpoint = Checkpoint::from_pkl(&file).unwrap();
    assert_eq!(checkpoint.tensors["a"].shape().as_slice(), [2]);
}

#[test]
fn no_other_name_of_python_is_looked_up() {
    for (module, name) in [
        ("os", "system"),
        ("posix", "system"),
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("numpy", "load"),
        ("numpy.core.multiarray", "fromfile"),
        ("torch._utils", "_rebuild_tensor_v2"),
        ("copyreg", "_reconstructor"),
    ] {
        let refused = format!("`{module}.{name}` was refused");
        let arguments = [text("id"), b"\x85R".to_vec()].concat();
        let by_line = format!("c{module}\n{name}\n");
        assert_refused(&pickle(&[by_line.as_bytes(), &arguments]), &refused);
        assert_refused(&pickle(&[&text(module), &text(name), b"\x93", &arguments]), &refused);
    }
    let long = "x".repeat(100_000);
    assert!(error_of(&pickle(&[format!("c{long}\n{long}\n").as_bytes()])).len() < 1000);
}

#[test]
fn opcodes_that_no_checkpoint_has() {
    // INST, OBJ, NEWOBJ, NEWOBJ_EX, PERSID, BINPERSID, EXT1, NEXT_BUFFER
    for opcode in *b"io\x81\x92PQ\x82\x97" {
        assert_refused(&pickle(&[&[opcode]]), &format!("opcode {opcode:#04x}"));
    }
    // Each opcode, of too little.
    for opcode in 0..=u8::MAX {
        error_of(&pickle(&[&[opcode]]));
        error_of(&pickle(&[b"(", &[opcode]]));
        error_of(&pickle(&[b"N(", &[opcode]]));
    }
}

#[test]
fn truncated_files() {
    for name in ["numpy_1_protocol_2.pkl", "numpy_2_protocol_5.pkl"] {
        let file = fixture(name);
        for length in 0..file.len() {
            error_of(&file[..length]);
        }
    }
    assert_refused(b"", "begin as a pickle");
    assert_refused(b"PK\x03\x04", "begin as a pickle");
    // BINBYTES8, BINUNICODE8, BYTEARRAY8, BINBYTES, BINUNICODE and BINSTRING of more bytes than a machine has.
    for opcode in [b"\x8e", b"\x8d", b"\x96"] {
        assert_refused(
            &pickle(&[opcode, &[0xff; 8]]),
            "within a value of 18446744073709551615 bytes",
        );
    }
    for opcode in [b"B", b"X", b"T"] {
        assert_refused(&pickle(&[opcode, &[0xff; 4]]), "within a value of 4294967295 bytes");
    }
    assert_refused(&pickle(&[b"\x95", &[0xff; 8]]), "truncated");
}

#[test]
fn a_memo_of_any_index() {
    let file = pickle(&[b"Nr\xff\xff\xff\xffj\xff\xff\xff\xff"]);
    assert_refused(&file, "an entry `model`, but is None");
    assert_refused(&pickle(&[b"j\xfe\xff\xff\xff"]), "index 4294967294 of the memo");
}

#[test]
fn endless_and_nested_pickles() {
    assert_refused(&pickle(&[&vec![b'N'; 1 << 20]]), "more than 524288 opcodes");
    // Lists in lists.
    let depth = 200_000;
    let nested = [vec![b']'; depth], vec![b'a'; depth - 1]].concat();
    assert_refused(&pickle(&[&nested]), "but is an object");
    // A list, and a dictionary, in itself.
    assert_refused(&pickle(&[b"]\x94h\0a"]), "but is an object");
    assert_refused(
        &pickle(&[b"}\x94", &text("model"), b"h\0s"]),
        "`model[\"model\"]` is an object",
    );
}

#[test]
fn arrays_that_share_bytes() {
    // The bytes are of one index of the memo, the array of the next.
    let shared = array("f4", "<", b"K\x20\x85", &[0; 128]);
    let many: Vec<u8> = (0..200)
        .flat_map(|index| [text(&format!("{index}")), b"h\x01".to_vec()].concat())
        .collect();
    let file = checkpoint(&[&text("first"), &shared, b"\x94\x94", &many]);
    assert_refused(&file, "twice as many as the file");

    let data = [bytes(&[0; 128]), b"\x94".to_vec()].concat();
    let dtype = [b"cnumpy\ndtype\n", text("f4").as_slice(), b"\x89\x88\x87R\x94"].concat();
    let made = b"cnumpy.core.multiarray\nscalar\nh\x01h\0\x86R";
    assert_refused(
        &pickle(&[&data, &dtype, made]),
        "[] and NumPy's dtype <f4 has 128 bytes",
    );
    let made = [
        b"cnumpy.core.numeric\n_frombuffer\n(h\0h\x01K\x20\x85",
        text("C").as_slice(),
        b"tR",
    ]
    .concat();
    assert_refused(&pickle(&[&data, &dtype, &made.repeat(20)]), "twice as many as the file");
}

#[test]
fn arrays_that_are_none() {
    let check = |dtype: &str, order: &str, shape: &[u8], data: &[u8], reason: &str| {
        assert_refused(&checkpoint(&[&text("a"), &array(dtype, order, shape, data)]), reason);
    };
    check("O8", "|", SHAPE_OF_2, &[0; 16], "`dtype` is \"O8\"");
    check("f4", ">", SHAPE_OF_2, &[0; 8], "`byte order` is \">\"");
    check(
        "f4",
        "<",
        SHAPE_OF_2,
        &[0; 9],
        "shape [2] and NumPy's dtype <f4 has 9 bytes",
    );
    check("f4", "<", b"J\xff\xff\xff\xff\x85", &[0; 8], "`shape` is -1");
    check(
        "f4",
        "<",
        &text("model"),
        &[0; 8],
        "`shape` is \"model\", but must be a tuple",
    );
    check(
        "f4",
        "<",
        &[&[b'('; 1], [b'K', 1].repeat(65).as_slice(), b"t"].concat(),
        &[0; 4],
        "length 65",
    );
    let huge = b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f".repeat(3);
    check("f4", "<", &[&huge, b"\x87".as_slice()].concat(), &[], "has 0 bytes");
    check("f4", "<", &[&huge[..20], b"K\0\x87"].concat(), &[], "has 0 bytes");
    check(
        "f4",
        "<",
        b"\x8a\x09\0\0\0\0\0\0\0\0\x01\x85",
        &[0; 8],
        "`int` is 9 bytes",
    );

    // Its state is missing.
    let empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85C\x01b\x87R";
    assert_refused(&checkpoint(&[&text("a"), empty]), "`model[\"a\"]` is an object");
    // Text with a character that is no byte.
    let encoded = [b"c_codecs\nencode\n", text("€").as_slice(), &text("latin1"), b"\x86R"].concat();
    let dtype = [b"cnumpy\ndtype\n", text("f4").as_slice(), b"\x89\x88\x87R"].concat();
    let scalar = [
        b"cnumpy.core.multiarray\nscalar\n".as_slice(),
        &dtype,
        &encoded,
        b"\x86R",
    ]
    .concat();
    assert_refused(&checkpoint(&[&text("a"), &scalar]), "a character above U+00FF");
    // Axes that are not those of the array.
    let permuted = |axes: &[u8]| {
        let buffer = [
            b"cnumpy.core.numeric\n_frombuffer\n(".as_slice(),
            &bytes(&[0; 8]),
            &dtype,
        ]
        .concat();
        checkpoint(&[&text("a"), &buffer, b"K\x01K\x02\x86", &text("K"), axes, b"tR"])
    };
    assert!(Checkpoint::from_pkl(&permuted(b"K\x01K\0\x86")).is_ok());
    assert_refused(&permuted(b"K\x01K\x01\x86"), "`axes` is [1, 1]");
    assert_refused(&permuted(b"K\x01\x85"), "`axes` is [1]");
}

#[test]
fn files_that_are_no_checkpoints() {
    assert_refused(&pickle(&[b"N"]), "an entry `model`, but is None");
    assert_refused(&pickle(&[b"}", &text("blobs"), b"}s"]), "a dictionary without one");
    assert_refused(&pickle(&[b"}", &text("model"), b"]s"]), "whose `model` is none");
    assert_refused(&checkpoint(&[&text("a"), &text("b")]), "`model[\"a\"]` is text");
    assert_refused(
        &checkpoint(&[b"K\x01", &array("f4", "<", SHAPE_OF_2, &[0; 8])]),
        "is an int, but must be text",
    );
    let entry = [text("a"), array("f4", "<", SHAPE_OF_2, &[0; 8])].concat();
    assert_refused(&checkpoint(&[&entry, &entry]), "has \"a\" twice");
    assert_refused(&checkpoint(&[&text("a")]), "the stack holds less");
}
