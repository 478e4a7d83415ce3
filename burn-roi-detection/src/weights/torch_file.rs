//! Files that torch wrote: the zip archives among them that the reader of zip archives misreads.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, process};

/// The last record of an archive without a comment, which is how torch ends its files.
const END_LENGTH: u64 = 22;
const END_SIGNATURE: &[u8; 4] = b"PK\x05\x06";
const ENTRY_SIGNATURE: &[u8; 4] = b"PK\x01\x02";
/// Where the last record has the directory's length, and after it the directory's start, 4 bytes each.
const LENGTH_FIELD: u64 = 12;

/// Reads a file of torch: `read` gets its path, or the path of a corrected copy that is deleted afterwards.
///
/// torch writes 76 bytes between an archive's directory and its last record. The crate `zip` 9.4.1 expects the
/// directory to end at the last record, so it first tries the entry 76 bytes after the directory's start. The first
/// entry has 55 bytes and the file's name without its ending. So an entry begins there if that name has 21 characters,
/// as `maskrcnn_resnet50_fpn.pth` has, and then `zip` skips the first entry. The copy's last record says that the
/// directory is 76 bytes longer.
pub(super) fn read_torch_file<T>(path: &Path, read: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
    // Opened here for a plain message; the reader wraps it in more words.
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let Some(Misread { field, length }) = misread(&mut file).map_err(|error| error.to_string())? else {
        return read(path);
    };
    let copy = Copy::new(path, field, &length.to_le_bytes()).map_err(|error| {
        format!(
            "it must be copied to {}, since its name has 21 characters, and then the reader of zip archives skips its \
             first entry: {error}. Saving it by torch under a name of another length helps too",
            env::temp_dir().display()
        )
    })?;
    read(&copy.path)
}

/// An archive that `zip` would misread.
struct Misread {
    /// Where the directory's length is in the file.
    field: u64,
    /// The length that makes `zip` read it well.
    length: u32,
}

fn misread(file: &mut File) -> io::Result<Option<Misread>> {
    let Some(end) = file.metadata()?.len().checked_sub(END_LENGTH) else {
        return Ok(None);
    };
    let mut record = [0; END_LENGTH as usize];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut record)?;
    let [signature, .., length, start] = [0, 4, 8, 12, 16].map(|at| [0, 1, 2, 3].map(|byte| record[at + byte]));
    if &signature != END_SIGNATURE {
        return Ok(None);
    }
    let [length, start] = [length, start].map(|bytes| u64::from(u32::from_le_bytes(bytes)));
    let Some(tried) = end.checked_sub(length).filter(|&tried| tried > start) else {
        return Ok(None);
    };
    let mut signature = [0; 4];
    file.seek(SeekFrom::Start(tried))?;
    file.read_exact(&mut signature)?;
    Ok(match u32::try_from(end - start) {
        Ok(length) if &signature == ENTRY_SIGNATURE => Some(Misread {
            field: end + LENGTH_FIELD,
            length,
        }),
        _ => None,
    })
}

/// A copy of a file that is deleted when it is dropped.
struct Copy {
    path: PathBuf,
}

impl Copy {
    /// Copies a file, with other bytes at a place.
    fn new(original: &Path, place: u64, bytes: &[u8]) -> io::Result<Self> {
        static COPIES: AtomicU64 = AtomicU64::new(0);
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        let copy = Self {
            path: env::temp_dir().join(format!("burn-roi-detection-{}-{number}.pth", process::id())),
        };
        let mut file = OpenOptions::new().write(true).create_new(true).open(&copy.path)?;
        io::copy(&mut File::open(original)?, &mut file)?;
        file.seek(SeekFrom::Start(place))?;
        file.write_all(bytes)?;
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A file that stays behind in the folder of temporary files harms nobody.
        let _ = fs::remove_file(&self.path);
    }
}
