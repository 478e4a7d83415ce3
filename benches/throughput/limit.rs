//! The least that a call can take on a CPU, measured: memory is read and written, and nothing is computed.
//!
//! Each pixel that some region touches is read once. Then the output is written once, to memory that the system maps
//! for it, in huge pages where the system has them. The threads are those of the calls.

use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use memmap2::MmapMut;
use rayon::prelude::*;

use crate::traffic;
use crate::workload::Workload;

/// The output is written by parts of this size: a huge page.
const PART: usize = 1 << 21;

/// The features of one level, as bytes.
struct Map {
    bytes: Vec<u8>,
    /// How many of them a channel has.
    of_a_channel: usize,
    /// What some region touches of a channel, for each group of channels.
    touched: Vec<Vec<Range<usize>>>,
}

/// What a call reads and writes.
pub struct Limit {
    maps: Vec<Map>,
    bytes_of_output: usize,
}

impl Limit {
    /// The limit of a workload, for numbers of so many bytes.
    pub fn new(workload: &Workload, bytes_of_a_number: usize) -> Self {
        let map = |(level, [channels, height, width]): (usize, [usize; 3])| {
            let of_a_channel = height * width * bytes_of_a_number;
            let in_bytes = |run: Range<usize>| run.start * bytes_of_a_number..run.end * bytes_of_a_number;
            let groups = traffic::touched(workload, level).into_iter();
            Map {
                // No zeros: the system may back those by a single page.
                bytes: vec![1; channels * of_a_channel],
                of_a_channel,
                touched: groups.map(|runs| runs.into_iter().map(in_bytes).collect()).collect(),
            }
        };
        Self {
            maps: workload.maps().into_iter().enumerate().map(map).collect(),
            bytes_of_output: traffic::bytes_of_output(workload, bytes_of_a_number),
        }
    }

    /// Reads and writes once.
    pub fn time(&self) -> io::Result<Duration> {
        let start = Instant::now();
        for map in &self.maps {
            let channels = map.bytes.par_chunks_exact(map.of_a_channel).enumerate();
            channels.for_each(|(channel, bytes)| {
                let runs = &map.touched[channel % map.touched.len()];
                black_box(runs.iter().fold(0, |total, run| total ^ read(&bytes[run.clone()])));
            });
        }
        let mut output = MmapMut::map_anon(self.bytes_of_output)?;
        #[cfg(target_os = "linux")]
        output.advise(memmap2::Advice::HugePage)?;
        output.par_chunks_mut(PART).for_each(|part| part.fill(1));
        black_box(&output[..]);
        Ok(start.elapsed())
    }
}

/// Reads all of the bytes.
fn read(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let of_words = words.iter().fold(0, |total, word| total ^ u64::from_le_bytes(*word));
    rest.iter().fold(of_words, |total, byte| total ^ u64::from(*byte))
}
