//! Files that torch wrote, as data: nothing that a file names is run.

use std::collections::{BTreeMap, HashMap};

use burn::tensor::TensorData;

use super::archive::entries;
use super::pickle::{self, Heap, Names, Storage, Value};

/// What torch's files before version 1.6 begin with: pickles of a magic number and of the version 1001.
const LEGACY: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.";

/// A file of torch: its pickle, and the bytes of its storages by key.
pub(super) struct TorchFile<'a> {
    root: Value<'a>,
    heap: Heap<'a>,
    storages: HashMap<&'a str, &'a [u8]>,
    /// The bytes that all tensors may have together. Tensors may share bytes, or repeat them by strides of 0.
    limit: usize,
}

impl<'a> TorchFile<'a> {
    /// Reads what is in a file. It takes memory for the values of its pickle, and none for its tensors.
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, String> {
        let limit = file.len().saturating_mul(2);
        let (root, heap, storages) = match file.strip_prefix(LEGACY) {
            Some(rest) => legacy(rest)?,
            None if file.starts_with(b"PK") => archive(file)?,
            None => return Err("it is damaged, or no file that torch wrote since version 0.4".to_string()),
        };
        Ok(Self {
            root,
            heap,
            storages,
            limit,
        })
    }

    /// The tensors of the dictionary that is the file or its entry `key`, by name. `None` if there is no tensor.
    pub(super) fn tensors(&self, key: Option<&str>) -> Result<Option<BTreeMap<String, TensorData>>, String> {
        let named = |(name, value): &(Value<'a>, Value<'a>)| match *name {
            Value::Text(name) => Some((name, *value)),
            _ => None,
        };
        let entries = |value| self.heap.entries(value).unwrap_or_default().iter().filter_map(named);
        let dictionary = match key {
            Some(key) => self.heap.entry(self.root, key),
            None => Some(self.root),
        };
        let mut tensors = BTreeMap::new();
        let mut spent: usize = 0;
        for (name, value) in dictionary.into_iter().flat_map(entries) {
            let array = self.heap.tensor(value, |key| self.storages.get(key).copied());
            let Some(array) = array.map_err(|reason| format!("{name}: {reason}"))? else {
                continue;
            };
            spent = spent.saturating_add(name.len() + size_of::<usize>() * array.shape.len());
            spent = spent.saturating_add(array.length);
            if spent > self.limit {
                let limit = self.limit;
                return Err(format!(
                    "its tensors together have more than {limit} bytes, twice as many as the file"
                ));
            }
            tensors.insert(name.to_string(), array.to_data());
        }
        Ok((!tensors.is_empty()).then_some(tensors))
    }
}

type Parts<'a> = (Value<'a>, Heap<'a>, HashMap<&'a str, &'a [u8]>);

/// A zip archive, which torch writes since version 1.6.
fn archive(file: &[u8]) -> Result<Parts<'_>, String> {
    let entries = entries(file)?;
    // The folder is named as the file was, or `archive`.
    let folders = entries.iter().filter_map(|(name, _)| name.strip_suffix("data.pkl"));
    let folder = folders.min_by_key(|folder| folder.len());
    let folder = folder.ok_or("the archive has no `data.pkl`: torch did not write it")?;
    let storages: HashMap<&str, &[u8]> = entries
        .iter()
        .filter_map(|(name, bytes)| Some((name.strip_prefix(folder)?, *bytes)))
        .collect();
    if !matches!(storages.get("byteorder").copied(), None | Some(b"little")) {
        return Err("its bytes are not little-endian".to_string());
    }
    let (root, heap, _) = pickle::read(storages["data.pkl"], Names::Torch).map_err(|error| error.to_string())?;
    let storages = storages.into_iter();
    let storages = storages.filter_map(|(name, bytes)| Some((name.strip_prefix("data/")?, bytes)));
    Ok((root, heap, storages.collect()))
}

/// Pickles of the system, the values and the keys of the storages, and then the storages, each after its number of
/// elements.
fn legacy(mut rest: &[u8]) -> Result<Parts<'_>, String> {
    let mut pickle = || {
        let (value, heap, end) = pickle::read(rest, Names::Torch).map_err(|error| error.to_string())?;
        rest = &rest[end..];
        Ok::<_, String>((value, heap))
    };
    let [(system, of_system), (root, heap), (keys, of_keys)] = [pickle()?, pickle()?, pickle()?];
    if let Some(Value::Bool(false)) = of_system.entry(system, "little_endian") {
        return Err("its bytes are not little-endian".to_string());
    }
    let lengths: HashMap<&str, (usize, usize)> = heap
        .storages()
        .map(|storage: &Storage| (storage.key, (storage.elements, storage.element_type.bytes())))
        .collect();
    let mut storages = HashMap::new();
    for key in of_keys
        .texts(keys)
        .ok_or("the keys of its storages are no list of text")?
    {
        let storage = lengths.get(key).and_then(|&(elements, bytes)| {
            let (count, after) = rest.split_first_chunk()?;
            let length = elements.checked_mul(bytes)?;
            let (storage, after) = after.split_at_checked(length)?;
            rest = after;
            (u64::from_le_bytes(*count) == elements as u64).then_some(storage)
        });
        let storage = storage.ok_or_else(|| format!("it is damaged, or truncated in its storage {key:?}"))?;
        storages.insert(key, storage);
    }
    Ok((root, heap, storages))
}
