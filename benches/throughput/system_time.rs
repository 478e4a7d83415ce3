//! The time that the system spent on this process.

use std::fs;
use std::time::Duration;

/// A tick of the times in `/proc`, which are in hundredths of a second on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// The time that the system has spent on all threads of this process, where Linux tells.
pub fn system_time() -> Option<Duration> {
    let line = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold spaces. After it, the system's time is the thirteenth word.
    let (_, words) = line.rsplit_once(')')?;
    let ticks: u32 = words.split_whitespace().nth(12)?.parse().ok()?;
    Some(TICK * ticks)
}
