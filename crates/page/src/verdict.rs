//! Verdicts that a reader has to know before looking at the curves.

use serde::Serialize;

use super::Reported;
use flitlab_base::units::Picoseconds;
use flitlab_report::{Point, Status};

/// The severity of a verdict; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum VerdictKind {
    Deadlock,
    Livelock,
    Stuck,
    Unfinished,
    NotSteady,
    Imprecise,
    Good,
}

/// A sentence about a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Verdict {
    pub kind: VerdictKind,
    pub text: String,
}

/// Returns the verdicts on a result, the worst first; there is always at least one.
pub(super) fn verdicts(result: &Reported) -> Vec<Verdict> {
    let all = result.points.len();
    let count = |status| result.points.iter().filter(|row| row.measured.status == status).count();
    let told = |status, kind, (one, several): (&str, &str), meaning: &str| {
        let some = count(status);
        (some > 0).then(|| Verdict { kind, text: of_points(some, all, one, several) + meaning })
    };
    let mut verdicts = Vec::new();
    let meaning =
        " in a deadlock: packets wait for one another in a cycle, and nothing moves any more";
    verdicts.extend(told(Status::Deadlock, VerdictKind::Deadlock, ("ends", "end"), meaning));
    let meaning = " in a livelock: packets are sent for ever, and none arrives";
    verdicts.extend(told(Status::Livelock, VerdictKind::Livelock, ("ends", "end"), meaning));
    let meaning = ": ranks wait for what never comes";
    verdicts.extend(told(Status::Stuck, VerdictKind::Stuck, ("is stuck", "are stuck"), meaning));
    let meaning = ": what is left happens later than can be told (213 days)";
    verdicts.extend(told(
        Status::TooLong,
        VerdictKind::Stuck,
        ("is too long", "are too long"),
        meaning,
    ));
    let noted = |note: &String| Verdict { kind: VerdictKind::Unfinished, text: note.clone() };
    verdicts.extend(result.unfinished.iter().map(noted));
    let meaning =
        " past saturation: what is under way grows, and latencies depend on how long was simulated";
    verdicts.extend(told(Status::NotSteady, VerdictKind::NotSteady, ("is", "are"), meaning));
    let meaning = " undecided: too little was simulated to tell whether the load is steady (the warnings say why)";
    verdicts.extend(told(Status::Undecided, VerdictKind::NotSteady, ("is", "are"), meaning));
    let mut say = |kind, text: String| verdicts.push(Verdict { kind, text });
    if let Some(text) = imprecise(result) {
        say(VerdictKind::Imprecise, text);
    }
    let (steady, completed) = (count(Status::Steady), count(Status::Completed));
    if completed > 0 && completed == all {
        say(VerdictKind::Good, of_points(all, all, "ran to its end", "ran to their end"));
    } else if steady == all {
        say(
            VerdictKind::Good,
            of_points(all, all, "reached a steady state", "reached a steady state"),
        );
    }
    verdicts
}

/// Steady points whose mean latency is known less well than was asked for.
fn imprecise(result: &Reported) -> Option<String> {
    let wanted = result.precision?;
    let relative = |row: &Point| {
        let (half, mean) =
            (row.measured.packet_latency_mean_ci95?, row.measured.packet_latency_mean?);
        (row.measured.status == Status::Steady && mean > Picoseconds::ZERO)
            .then(|| half.0 as f64 / mean.0 as f64)
    };
    let wide: Vec<f64> =
        result.points.iter().filter_map(relative).filter(|share| *share > wanted).collect();
    let worst = wide.iter().copied().reduce(f64::max)?;
    let points = of_points(wide.len(), result.points.len(), "has a", "have a");
    Some(format!(
        "{points} mean latency that is known less well than to \u{b1}{}% (measure.precision): the worst to \
         \u{b1}{:.1}%",
        (wanted * 1e6).round() / 1e4,
        worst * 100.0
    ))
}

/// `3 of 44 points end`, `the point ends`, `all 44 points end`.
fn of_points(some: usize, all: usize, one: &str, many: &str) -> String {
    match (some, all) {
        (1, 1) => format!("the point {one}"),
        (1, _) => format!("1 of {all} points {one}"),
        (some, all) if some == all => format!("all {all} points {many}"),
        _ => format!("{some} of {all} points {many}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_report::PointRow;

    fn said(statuses: &[Status], half: u64, unfinished: &[&str]) -> Vec<(VerdictKind, String)> {
        let points = statuses.iter().map(|&status| Point {
            measured: PointRow {
                status,
                packet_latency_mean: Some(Picoseconds(100_000)),
                packet_latency_mean_ci95: Some(Picoseconds(half)),
                ..PointRow::default()
            },
            ..Point::default()
        });
        let result = Reported {
            points: points.collect(),
            precision: Some(0.02),
            unfinished: unfinished.iter().map(|&note| note.to_owned()).collect(),
            ..Reported::default()
        };
        verdicts(&result).into_iter().map(|verdict| (verdict.kind, verdict.text)).collect()
    }

    #[test]
    fn what_is_worse_comes_first() {
        use Status::{Deadlock, NotSteady, Steady};
        let said = said(&[Steady, NotSteady, Deadlock, Steady], 5_000, &["no summary.json"]);
        let kinds: Vec<VerdictKind> = said.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            kinds,
            [
                VerdictKind::Deadlock,
                VerdictKind::Unfinished,
                VerdictKind::NotSteady,
                VerdictKind::Imprecise
            ]
        );
        assert!(said[0].1.starts_with("1 of 4 points ends in a deadlock"), "{said:?}");
        assert!(said[3].1.starts_with("2 of 4 points have a mean latency"), "{said:?}");
        assert!(said[3].1.ends_with("the worst to \u{b1}5.0%"), "{said:?}");
    }

    #[test]
    fn good_news_is_said_too() {
        let steady = said(&[Status::Steady; 3], 1_000, &[]);
        assert_eq!(steady, [(VerdictKind::Good, "all 3 points reached a steady state".into())]);
        let stuck = said(&[Status::Completed, Status::Stuck], 1_000, &[]);
        assert_eq!(
            stuck,
            [(
                VerdictKind::Stuck,
                "1 of 2 points is stuck: ranks wait for what never comes".into()
            )]
        );
        let completed = said(&[Status::Completed], 1_000, &[]);
        assert_eq!(completed, [(VerdictKind::Good, "the point ran to its end".into())]);
    }
}
