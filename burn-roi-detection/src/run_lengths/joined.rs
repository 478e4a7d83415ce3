//! [`Joined`]: run lengths in the making.

/// Run lengths to which runs are added at their end. A run of the last one's value is joined with it, so that no run is
/// 0 but the first.
#[derive(Default)]
pub struct Joined {
    counts: Vec<u32>,
}

impl Joined {
    /// Adds `length` pixels that are set or are not.
    pub fn push(&mut self, is_set: bool, length: u32) {
        if length == 0 {
            return;
        }
        if self.counts.is_empty() && is_set {
            self.counts.push(0);
        }
        let last_is_set = self.counts.len().is_multiple_of(2);
        match self.counts.last_mut() {
            Some(last) if last_is_set == is_set => *last += length,
            _ => self.counts.push(length),
        }
    }

    /// The run lengths. Those of no pixel are one run of 0.
    pub fn finish(mut self) -> Vec<u32> {
        if self.counts.is_empty() {
            self.counts.push(0);
        }
        self.counts
    }
}
