//! What generators draw from.

/// Random enough, and the same everywhere: xorshift.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }

    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Up to `most` of them, one behind the other.
    pub(crate) fn some(&mut self, most: usize, from: &[&str]) -> String {
        (0..self.below(most + 1)).map(|_| self.pick(from)).collect()
    }
}

/// The seed of a run. Another one finds other things: `SCOPEGATE_SEED=2 make e2e`.
pub(crate) fn seed() -> u64 {
    std::env::var("SCOPEGATE_SEED").map_or(1, |seed| seed.parse().unwrap())
}
