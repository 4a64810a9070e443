//! Which rules are not enforced.

use super::Report;
use crate::rules::{Mode, Modes, Origin, Rule};

/// What is to be said of modes, and whether it is a warning.
type Remark = (bool, String);

pub(super) fn check(modes: &Modes, report: &mut Report) {
    for (is_warning, remark) in remarks(modes) {
        if is_warning {
            report.warn(remark);
        } else {
            report.note(remark);
        }
    }
}

fn remarks(modes: &Modes) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let unenforced: Vec<String> = Rule::ALL
        .iter()
        .filter(|rule| rule.origin() == Origin::Upstream && modes.of(**rule) != Mode::Enforce)
        .map(|rule| format!("{rule} ({})", modes.of(*rule)))
        .collect();
    if modes.is_dry() {
        let text = "rules: nothing is refused that a rule can let pass, as with rules.dryRun; only upstream guards the cluster";
        remarks.push((true, text.to_owned()));
    } else if !unenforced.is_empty() {
        let list = unenforced.join(", ");
        remarks.push((true, format!("rules of kube-apiserver's that are not enforced: {list}")));
    } else {
        remarks.push((false, "rules of kube-apiserver's: all are enforced".to_owned()));
    }
    let count = |wanted: &[Mode]| {
        let extended = Rule::ALL.iter().filter(|rule| rule.origin() == Origin::Extended);
        extended.filter(|rule| wanted.contains(&modes.of(**rule))).count()
    };
    let (enforced, recorded, off) = (
        count(&[Mode::Enforce]),
        count(&[Mode::Warn, Mode::Audit]),
        count(&[Mode::Off]),
    );
    let text = format!("rules that only the gate has: {enforced} enforced, {recorded} recorded, {off} off");
    remarks.push((false, format!("{text}; `scopegate rules --config` lists them")));
    if modes.of(Rule::NodeServices) == Mode::Enforce {
        let text = "rule node/services is enforced: kubelets list the services of all namespaces, are refused, and run no new pods";
        remarks.push((true, text.to_owned()));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(modes: &Modes, warnings: bool) -> Vec<String> {
        let remarks = remarks(modes).into_iter();
        remarks
            .filter(|remark| remark.0 == warnings)
            .map(|remark| remark.1)
            .collect()
    }

    #[test]
    fn by_default_there_is_nothing_to_warn_of() {
        let notes = texts(&Modes::DEFAULT, false);
        assert_eq!(notes[0], "rules of kube-apiserver's: all are enforced");
        assert!(
            notes[1].starts_with("rules that only the gate has: 0 enforced, 12 recorded, 1 off;"),
            "{notes:?}"
        );
        assert_eq!(texts(&Modes::DEFAULT, true), [""; 0]);
    }

    #[test]
    fn rules_that_are_not_enforced_are_named() {
        let mut modes = Modes::DEFAULT;
        modes.set(Rule::NodeSecrets, Mode::Warn);
        modes.set(Rule::RestrictionPods, Mode::Off);
        modes.set(Rule::EventsSource, Mode::Enforce);
        let expected = "rules of kube-apiserver's that are not enforced: node/secrets (Warn), restriction/pods (Off)";
        assert_eq!(texts(&modes, true), [expected]);
        assert!(texts(&modes, false)[0].contains("1 enforced, 11 recorded, 1 off"));
    }

    #[test]
    fn a_dry_run_is_told_once() {
        let mut modes = Modes::DEFAULT;
        modes.dry_run();
        let warnings = texts(&modes, true);
        assert!(
            warnings.len() == 1 && warnings[0].contains("rules.dryRun"),
            "{warnings:?}"
        );
    }

    #[test]
    fn services_are_for_kubelets() {
        let mut modes = Modes::DEFAULT;
        modes.set(Rule::NodeServices, Mode::Enforce);
        let warnings = texts(&modes, true);
        assert!(
            warnings.len() == 1 && warnings[0].starts_with("rule node/services"),
            "{warnings:?}"
        );
        modes.set(Rule::NodeServices, Mode::Audit);
        assert_eq!(texts(&modes, true), [""; 0]);
    }
}
