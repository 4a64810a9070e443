//! How often something happened over time, in few steps of a round length.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// Counts by step. The length of a step grows until all of the time fits, so that it need not be known before.
#[derive(Debug)]
pub(super) struct Timeline {
    seconds: i64,
    steps: BTreeMap<i64, Counts>,
}

/// What happened in a step.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Counts {
    pub(super) events: u64,
    pub(super) findings: u64,
    pub(super) refusals: u64,
}

const MAX_STEPS: i64 = 24;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Each is a multiple of the one before, so that steps become one without being split.
const LENGTHS: [i64; 11] = [
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    7 * DAY,
    28 * DAY,
];

impl Timeline {
    pub(super) fn note(&mut self, time: Timestamp, counts: Counts) {
        let step = time.as_second().div_euclid(self.seconds);
        self.steps.entry(step).or_default().add(counts);
        while self.span() > MAX_STEPS {
            self.widen();
        }
    }

    /// Every step from the first to the last, with the time it begins.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Timestamp, Counts)> {
        let first = self.steps.keys().next().copied().unwrap_or_default();
        (first..first + self.span()).map(|step| {
            let begin = Timestamp::from_second(step.saturating_mul(self.seconds)).unwrap_or(Timestamp::MIN);
            (begin, self.steps.get(&step).copied().unwrap_or_default())
        })
    }

    pub(super) fn seconds(&self) -> i64 {
        self.seconds
    }

    fn span(&self) -> i64 {
        let (first, last) = (self.steps.keys().next(), self.steps.keys().next_back());
        first.zip(last).map_or(0, |(first, last)| last - first + 1)
    }

    fn widen(&mut self) {
        let longer = LENGTHS.into_iter().find(|length| *length > self.seconds);
        let longer = longer.unwrap_or(self.seconds * 2);
        let times = longer / self.seconds;
        for (step, counts) in std::mem::take(&mut self.steps) {
            self.steps.entry(step.div_euclid(times)).or_default().add(counts);
        }
        self.seconds = longer;
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            seconds: MINUTE,
            steps: BTreeMap::new(),
        }
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.findings += other.findings;
        self.refusals += other.refusals;
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use test_case::test_case;

    use super::{Counts, LENGTHS, Timeline};

    #[test_case(&[0, 30] => (60, 1); "a moment")]
    #[test_case(&[0, 3600] => (300, 13); "an hour")]
    #[test_case(&[86_400, 0] => (10_800, 9); "a day, the later event first")]
    #[test_case(&[0, 86_400 * 365] => (2_419_200, 14); "a year")]
    #[test_case(&[-377_705_023_201, 253_402_207_200] => (39_636_172_800, 17); "all of time")]
    fn fits(seconds: &[i64]) -> (i64, usize) {
        let mut timeline = Timeline::default();
        let one = Counts {
            events: 1,
            ..Counts::default()
        };
        for second in seconds {
            timeline.note(Timestamp::from_second(*second).unwrap(), one);
        }
        let steps: Vec<_> = timeline.steps().collect();
        let events: u64 = steps.iter().map(|(_, counts)| counts.events).sum();
        assert_eq!(events, seconds.len() as u64);
        assert!(steps.len() <= 24);
        (timeline.seconds(), steps.len())
    }

    #[test]
    fn lengths_are_multiples() {
        for pair in LENGTHS.windows(2) {
            assert_eq!(pair[1] % pair[0], 0, "{pair:?}");
        }
    }
}
