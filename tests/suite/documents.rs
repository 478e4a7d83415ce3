//! Messages that a document quotes are messages of the crate.

/// The sources of errors that the document quotes.
const ERRORS: [&str; 4] = [
    include_str!("../../src/error.rs"),
    include_str!("../../burn-roi-detection/src/weights/error.rs"),
    include_str!("../../burn-roi-detection/src/train/error.rs"),
    include_str!("../../burn-roi-onnx/src/error.rs"),
];

/// Each `#[error("…")]` of the sources, with `…` for its values.
fn messages() -> Vec<String> {
    let attributes = ERRORS.iter().flat_map(|source| source.split("#[error(").skip(1));
    let literals = attributes.filter_map(|rest| rest.trim_start().strip_prefix('"'));
    literals
        .map(|literal| {
            let (text, _) = literal.split_once('"').expect("a closing quote");
            // A backslash at the end of a line continues the literal after the next line's indentation.
            let lines = text.split("\\\n").enumerate();
            let text: String = lines
                .map(|(index, line)| if index == 0 { line } else { line.trim_start() })
                .collect();
            let mut message = String::new();
            for (index, piece) in text.split('{').enumerate() {
                match piece.split_once('}') {
                    Some((_, after)) if index > 0 => message += &format!("…{after}"),
                    _ => message += piece,
                }
            }
            message
        })
        .collect()
}

#[test]
fn troubleshooting_quotes_messages_of_the_crates() {
    let page = include_str!("../../docs/troubleshooting.md");
    let quoted: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `` "))
        .map(|row| row.split_once(" ``").expect("a closing quote").0)
        .collect();
    assert!(quoted.len() >= 10, "{quoted:?}");
    let messages = messages();
    for quote in quoted {
        // `…` at the end stands for the rest of a message.
        let start = quote.strip_suffix('…').unwrap_or(quote);
        let found = messages.iter().any(|message| message.starts_with(start));
        assert!(found, "no message begins with {start:?}: {messages:#?}");
    }
}

/// README and the examples to copy name the version of Burn that this crate needs.
#[test]
fn manifests_to_copy_name_the_version_of_burn() {
    let mut lines = include_str!("../../Cargo.toml").lines();
    let line = lines
        .find(|line| line.starts_with("burn = { version = "))
        .expect("a version");
    let (version, _) = line.split_once(',').expect("a version and features");
    let texts = [
        include_str!("../../README.md"),
        include_str!("../../docs/from_pytorch_to_burn.md"),
        include_str!("../../examples/gradients.rs"),
        include_str!("../../examples/nms.rs"),
        include_str!("../../examples/pyramid.rs"),
        include_str!("../../examples/roi_align.rs"),
    ];
    for text in texts {
        assert!(text.contains(version), "{version} in {text}");
    }
}
