//! Whether a JPEG file has its end. Decoders fill what is missing with gray, and say nothing.

/// Whether the bytes end before the marker of the end of the picture. Bytes that are no JPEG file have no end either.
pub fn is_missing(file: &[u8]) -> bool {
    let mut rest = file;
    loop {
        // Between segments there is the data of a picture, in which a 0 or the number of a restart follows 0xff.
        let marker = rest
            .windows(2)
            .position(|pair| pair[0] == 0xff && !matches!(pair[1], 0 | 0xd0..=0xd7 | 0xff));
        let Some(marker) = marker else {
            return true;
        };
        let kind = rest[marker + 1];
        rest = &rest[marker + 2..];
        match kind {
            0xd9 => return false,
            // These have no length: the start of the file, and one of old encoders.
            0xd8 | 0x01 => {}
            _ => match rest.first_chunk().map(|length| u16::from_be_bytes(*length).into()) {
                Some(length) if length <= rest.len() => rest = &rest[length..],
                _ => return true,
            },
        }
    }
}
