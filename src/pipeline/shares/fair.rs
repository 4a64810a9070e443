//! What a caller may use while the gate is strained.

/// What all callers have had of late.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Survey {
    /// Callers who had anything.
    pub(super) callers: usize,
    /// Requests a second that were worked on.
    pub(super) used: f32,
    /// Requests a second that were turned away.
    pub(super) shed: f32,
    /// Who wanted most, and how much.
    pub(super) most: Option<(String, f32)>,
}

/// The share of everybody, while one spell of strain lasts.
#[derive(Debug)]
pub(super) struct Fair {
    floor: f32,
}

/// Requests a second that nobody is turned away below, at first: a kubelet that starts sends no more (`kubeAPIBurst` and
/// `eventBurst`, and what it may send in the second after).
pub(super) const ORDINARY: f32 = 300.0;
/// The same for as long as it may last; leases and status of nodes are not counted here.
const LEAST: f32 = 10.0;
/// What is left of the floor from one look to the next.
const FALL: f32 = 0.9;
/// Where so many times as much is turned away as is worked on, it is not the work that strains the gate.
const IDLE_TALK: f32 = 4.0;

impl Default for Fair {
    fn default() -> Self {
        Self { floor: ORDINARY }
    }
}

impl Fair {
    /// Requests a second that nobody may pass now: what each would have if all had the same. While everybody stays below what is
    /// ordinary and the gate is strained all the same, there are too many of them, and ordinary is too much.
    pub(super) fn level(&mut self, survey: &Survey) -> f32 {
        let level = (survey.used / survey.callers.max(1) as f32).max(self.floor);
        if survey.shed < survey.used * IDLE_TALK {
            self.floor = (self.floor * FALL).max(LEAST);
        }
        level
    }
}

impl Survey {
    /// Counts one caller in.
    pub(super) fn count(&mut self, name: &str, used: f32, shed: f32) {
        let wanted = used + shed;
        // Less than one request in the last second or two.
        if wanted < 0.25 {
            return;
        }
        self.callers += 1;
        self.used += used;
        self.shed += shed;
        if self.most.as_ref().is_none_or(|(_, most)| wanted > *most) {
            self.most = Some((name.to_owned(), wanted));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn survey(callers: &[(f32, f32)]) -> Survey {
        let mut survey = Survey::default();
        for (number, (used, shed)) in callers.iter().enumerate() {
            survey.count(&number.to_string(), *used, *shed);
        }
        survey
    }

    #[test]
    fn the_share_is_what_each_would_have() {
        let counted = survey(&[(0.1, 0.0), (100.0, 0.0), (1900.0, 3.0)]);
        assert_eq!(counted.callers, 2, "who was silent does not count");
        assert_eq!(counted.most, Some(("2".to_owned(), 1903.0)));
        assert_eq!(Fair::default().level(&counted), 1000.0);
        assert_eq!(Fair::default().level(&survey(&[(5.0, 0.0)])), ORDINARY);
        assert_eq!(Fair::default().level(&Survey::default()), ORDINARY);
    }

    #[test]
    fn where_all_are_modest_and_too_many_each_gets_less_and_never_nothing() {
        let mut fair = Fair::default();
        let crowd = survey(&[(40.0, 1.0); 1000]);
        let levels: Vec<f32> = (0..100).map(|_| fair.level(&crowd)).collect();
        assert!(levels.is_sorted_by(|before, after| before >= after));
        assert_eq!(levels.last(), Some(&40.0), "not below what each has");
        let less = survey(&[(4.0, 1.0); 1000]);
        assert_eq!(fair.level(&less), LEAST);
    }

    #[test]
    fn who_only_asks_takes_nothing_from_the_others() {
        let mut fair = Fair::default();
        let talk = survey(&[(300.0, 20_000.0), (5.0, 0.0), (7.0, 0.0)]);
        for _ in 0..100 {
            assert_eq!(fair.level(&talk), ORDINARY);
        }
    }

    proptest! {
        /// Whatever others do, and however long it lasts.
        #[test]
        fn whoever_has_less_than_all_have_on_average_is_below_the_level(
            callers in proptest::collection::vec((0.0_f32..10_000.0, 0.0_f32..100_000.0), 1..200),
            looks in 1_usize..50,
        ) {
            let mut fair = Fair::default();
            let counted = survey(&callers);
            let average = counted.used / counted.callers.max(1) as f32;
            for _ in 0..looks {
                let level = fair.level(&counted);
                prop_assert!(level >= average && level >= LEAST);
            }
        }
    }
}
