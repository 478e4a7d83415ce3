//! How much the host can allocate.

/// Smaller tensors are not checked. An allocation on trial counts as memory that is taken, for as long as it lasts.
const SMALL: usize = 32 << 20;

/// Whether the host can allocate so many bytes.
pub fn holds(bytes: usize) -> bool {
    bytes < SMALL || left().is_none_or(|left| bytes <= left) && Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// The bytes that Linux says are left, swap space included; none on other systems, and where it does not say.
///
/// Linux grants more memory than there is, and ends a process once it writes to what there is not.
fn left() -> Option<usize> {
    // On Windows the path is one of the current drive, where any program may have written such a file.
    if cfg!(windows) {
        return None;
    }
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = |name: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':')
            .split_whitespace()
            .next()?
            .parse::<usize>()
            .ok()
    };
    let swap = kilobytes("SwapFree").unwrap_or(0);
    kilobytes("MemAvailable")?.checked_add(swap)?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holds_some_megabytes_and_not_every_address() {
        assert!(holds(0) && holds(SMALL));
        assert!(!holds(1 << 46));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_says_what_is_left() {
        assert!(left().is_some_and(|left| left > SMALL));
    }

    /// Wine has Linux's file at this path.
    #[cfg(windows)]
    #[test]
    fn windows_is_not_asked() {
        assert!(left().is_none());
    }
}
