//! The entries of a zip archive as torch writes it: stored, and not compressed.

/// What the last record begins with. It has the number of entries and the start of the directory.
const END: &[u8] = b"PK\x05\x06";
/// What an entry of the directory begins with.
const ENTRY: &[u8] = b"PK\x01\x02";
/// What stands before the bytes of an entry.
const LOCAL: &[u8] = b"PK\x03\x04";

/// The bytes of the last record, and those with the longest comment that it may have.
const SHORTEST_END: usize = 22;
const LONGEST_END: usize = SHORTEST_END + 0xffff;

/// The names and bytes of all entries, which together are at most as long as the file.
pub(super) fn entries(file: &[u8]) -> Result<Vec<(&str, &[u8])>, String> {
    let tail = &file[file.len().saturating_sub(LONGEST_END)..];
    let end = tail.windows(END.len()).rposition(|window| window == END);
    let end = end.filter(|end| tail.len() - end >= SHORTEST_END);
    let end = end.ok_or("it is truncated: the end of the archive is missing")?;
    let (count, start) = (short(&tail[end..], 10), long(&tail[end..], 16));
    let (Some(count @ 0..0xffff), Some(start @ 0..0xffff_ffff)) = (count, start) else {
        return Err("it is damaged, or longer than the 4 GiB that are read".to_string());
    };
    let (mut place, mut left) = (start, file.len());
    let mut entries = Vec::new();
    for index in 0..count {
        let directory = file.get(place..).unwrap_or_default();
        let entry = Entry::of(directory).ok_or_else(|| format!("it is damaged: entry {index} of the archive"))?;
        place += entry.length;
        if entry.is_compressed {
            return Err(format!(
                "its entry {:?} is compressed, but torch stores all entries",
                entry.name
            ));
        }
        let bytes = entry.bytes(file).filter(|bytes| bytes.len() <= left);
        let bytes = bytes.ok_or_else(|| format!("it is damaged: entry {:?} is not within the file", entry.name))?;
        left -= bytes.len();
        // torch writes 0 if it is told to compute none.
        if entry.checksum != 0 && entry.checksum != crc32fast::hash(bytes) as usize {
            return Err(format!(
                "it is damaged: the checksum of entry {:?} is another",
                entry.name
            ));
        }
        entries.push((entry.name, bytes));
    }
    Ok(entries)
}

/// An entry of the directory.
struct Entry<'a> {
    name: &'a str,
    is_compressed: bool,
    checksum: usize,
    size: usize,
    /// Where its bytes and what stands before them begin.
    start: usize,
    /// The bytes that it takes in the directory.
    length: usize,
}

impl<'a> Entry<'a> {
    fn of(directory: &'a [u8]) -> Option<Self> {
        let [name, extra, comment] = [28, 30, 32].map(|place| short(directory, place));
        let (name, size) = (name?, long(directory, 24)?);
        let is_stored = short(directory, 10)? == 0 && long(directory, 20)? == size;
        directory.starts_with(ENTRY).then_some(Self {
            name: str::from_utf8(directory.get(46..46 + name)?).ok()?,
            is_compressed: !is_stored,
            checksum: long(directory, 16)?,
            size,
            start: long(directory, 42)?,
            length: 46 + name + extra? + comment?,
        })
    }

    fn bytes(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        let local = file.get(self.start..).filter(|local| local.starts_with(LOCAL))?;
        let start = 30 + short(local, 26)? + short(local, 28)?;
        local.get(start..start.checked_add(self.size)?)
    }
}

fn short(bytes: &[u8], place: usize) -> Option<usize> {
    let bytes = bytes.get(place..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes).into())
}

fn long(bytes: &[u8], place: usize) -> Option<usize> {
    let bytes = bytes.get(place..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}
