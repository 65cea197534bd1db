//! The result files of a sweep: rows as they come, and all rows in order at the end.

use std::collections::HashMap;
use std::path::Path;

use super::super::finished::Finished;
use super::super::interrupt::Interrupt;
use super::super::progress::Bar;
use super::super::summary::{
    Expectation, Made, Printed, SaturationNote, Summary, mention, print_text,
};
use super::super::{Failure, components, program, text, workloads};
use super::bounds;
use crate::cli::say::say;
use flitlab::narrow::narrow;
use flitlab::report::figure::{FigureRequest, Medium};
use flitlab::report::folder::keys_of;
use flitlab::report::{
    self, BoundLine, DeadlockNote, DeadlockText, Label, PointResult, PointRow, ResultFolder,
    ResultRows, Status, SustainedLoad,
};
use flitlab::scenario::{Figures, Loads, Point, Sweep};
use flitlab::simulation::Simulation;
use flitlab::sweep::{Obtained, Place, label_at_load, label_of};
use flitlab::units::short_time_text;

/// The messages about a point beside its rows.
struct Told {
    warnings: Vec<String>,
    deadlock: Option<DeadlockText>,
    /// The commit that computed it.
    commit: String,
}

/// The results found so far.
pub(super) struct Results<'f> {
    folder: &'f Path,
    /// The scenario, with every value written out.
    resolved: String,
    rows: ResultFolder,
    found: Vec<(Place, report::Point, Told)>,
    /// For each point of the sweep the place of its series: that of the series' first point.
    order: Vec<usize>,
    json: bool,
    /// Whether points are told apart by their seeds, too.
    repeated: bool,
    figures: Figures,
    bounds: Vec<BoundLine>,
    loads: Loads,
    /// Points that were there already.
    pub(crate) known: usize,
    /// Whether all points of the sweep are found.
    whole: bool,
    bar: Bar,
    interrupt: Interrupt,
}

impl<'f> Results<'f> {
    /// Begins the files of rows. What a folder has of an earlier call is replaced, since all of its
    /// points that still belong to the sweep are found again.
    pub fn begin(
        folder: &'f Path,
        resolved: String,
        json: bool,
        sweep: &Sweep,
        bar: Bar,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        let label = |point| match sweep.loads {
            Loads::Curve(_) => label_at_load(point, 0, 0.0),
            Loads::Written { .. } | Loads::Saturation { .. } => label_of(point, 0),
        };
        let packing = sweep.points[0].scenario.kept.packing;
        let labels: Vec<Label> = sweep.points.iter().map(label).collect();
        Ok(Self {
            folder,
            resolved,
            rows: ResultFolder::begin(folder, keys_of(&labels), packing)?,
            found: Vec::new(),
            order: order(&sweep.points),
            json,
            repeated: sweep.repetitions > 1,
            figures: sweep.figures.clone(),
            bounds: bounds::lines(sweep),
            loads: sweep.loads,
            known: 0,
            whole: true,
            bar,
            interrupt,
        })
    }

    /// Writes a point's rows at once, all of them even if a signal comes.
    pub fn take(&mut self, place: Place, point: &Point, obtained: Obtained) -> Result<(), Failure> {
        let PointResult { warnings, deadlock, commit, .. } = &obtained.point;
        let told =
            Told { warnings: warnings.clone(), deadlock: deadlock.clone(), commit: commit.clone() };
        let number = match self.loads {
            Loads::Written { .. } => narrow(place.point),
            // Until all are there.
            Loads::Curve(_) => narrow(self.found.len()),
            Loads::Saturation { .. } => place.tried,
        };
        let label = match place.load {
            Some(load) => label_at_load(point, number, load),
            None => label_of(point, number),
        };
        let found = report::Point::new(label, obtained.point);
        let rows = self.interrupt.hold();
        self.rows.add(&found)?;
        self.bar.simulated_for(place.point, obtained.computed);
        if let Loads::Written { .. } = self.loads {
            self.bar.point_done(place.point);
        }
        drop(rows);
        if obtained.computed.is_none() {
            self.known += 1;
        } else if !self.json {
            let line = point_text(&found.label, &found.measured, self.repeated);
            let workloads = workloads::lines(&found.workloads, 0);
            self.bar.above(|| mention(&format!("{line}\n{workloads}")));
        }
        self.found.push((place, found, told));
        Ok(())
    }

    /// Drops points that turned out to be no part of the sweep: their places ascend.
    pub fn leave_out(&mut self, left_out: &[usize]) {
        self.found.retain(|(place, ..)| left_out.binary_search(&place.point).is_err());
    }

    /// Some points are missing: there will be no summary.json, which tells a finished sweep.
    pub fn leave_unfinished(&mut self) {
        self.whole = false;
    }

    /// Puts the files in the sweep's order, draws, sums up.
    pub fn conclude(
        mut self,
        saturation: Vec<SaturationNote>,
        simulation: &Simulation,
    ) -> Result<(), Failure> {
        let order = &self.order;
        let place_of = |(place, ..): &(Place, report::Point, Told)| {
            // Positive numbers are ordered as their bits are.
            let load = place.load.unwrap_or(0.0).to_bits();
            (order[place.point], load, place.point, place.tried)
        };
        self.found.sort_by_key(place_of);
        if let Loads::Curve(_) = self.loads {
            for (number, (_, point, _)) in self.found.iter_mut().enumerate() {
                point.label.point = narrow(number);
            }
        }
        let found = self.found.into_iter().map(|(_, point, told)| (point, told));
        let (points, told): (Vec<report::Point>, Vec<Told>) = found.unzip();
        let loads = saturation.iter().map(|note| note.found.clone()).collect();
        let bounds = std::mem::take(&mut self.bounds);
        let rows = ResultRows { points, saturation: loads, bounds, ..ResultRows::default() };
        let scenario = simulation.scenario();
        let Figures { look, sheet, formats, title, .. } = self.figures;
        let untitled = title.as_deref() == Some("");
        let title = title.or(scenario.title.clone()).unwrap_or_else(|| scenario.name.clone());
        let formats = formats.unwrap_or_else(|| Medium::default().formats);
        let medium = Medium { sheet, formats };
        let own = components::own_figures();
        let wish = FigureRequest { look, medium, untitled, own, ..FigureRequest::titled(&title) };
        let mut made = Made::here();
        for (point, told) in rows.points.iter().zip(&told) {
            made.add(point.label.point, &told.commit);
        }
        let (repeated, told) = (self.repeated, || rows.points.iter().zip(&told));
        let warnings = told().flat_map(|(point, told)| {
            let place = point_name(&point.label, &point.measured, repeated);
            told.warnings.iter().map(move |warning| format!("{place}: {warning}"))
        });
        let warnings: Vec<String> = warnings.collect();
        let deadlocks: Vec<_> = told()
            .filter_map(|(point, told)| Some((point.label.point, told.deadlock.as_ref()?)))
            .collect();
        let summary = Summary {
            made,
            title: scenario.title.clone(),
            scenario: Expectation::new(simulation),
            points: &rows.points,
            saturation,
            load_bounds: &rows.bounds,
            busiest_channels: Vec::new(),
            warnings,
            deadlocks: deadlocks
                .iter()
                .map(|&(point, found)| DeadlockNote::new(point, found))
                .collect(),
            over_bound: None,
            path_channels: &[],
        };
        let finished = Finished {
            rows: rows.clone(),
            figures: wish,
            summary: self.whole.then(|| summary.text()),
            scenario: self.resolved,
            packing: scenario.kept.packing,
            folder: Some(self.folder.into()),
        };
        finished.write(self.rows, self.folder)?;
        program::give(|answer| answer.result = Some(finished));
        let place = self.folder.display().to_string();
        let printed = Printed { summary: &summary, results: Some(place.clone()), cost: None };
        printed.give();
        if self.json {
            printed.print()?;
        } else {
            let notes: String = match self.loads {
                Loads::Curve(_) => knees_text(summary.points),
                Loads::Written { .. } | Loads::Saturation { .. } => {
                    let text = |note| saturation_text(note, summary.points, repeated);
                    summary.saturation.iter().map(text).collect()
                }
            };
            print_text(&format!("{notes}results in {place}\n"))?;
            let past = |point: &&report::Point| point.measured.status == Status::NotSteady;
            let unsteady = summary.points.iter().filter(past).count();
            if unsteady > 0 {
                let points = text::counted_are(unsteady, "point");
                say(&format!("note: {points} past saturation (summary.json says more)"));
            }
        }
        if let Some((_, first)) = deadlocks.first() {
            return Err(Failure::Deadlocks(deadlocks.len(), first.text.clone()));
        }
        let mut stuck = told().filter(|(point, _)| point.measured.status == Status::Stuck);
        let named = |(point, told): (&report::Point, &Told)| {
            let place = point_name(&point.label, &point.measured, repeated);
            format!("{place}: {}", told.warnings.join("\n"))
        };
        if let Some(stuck) = stuck.next() {
            return Err(Failure::Stuck(named(stuck)));
        }
        let is_endless = |status| matches!(status, Status::Livelock | Status::TooLong);
        let mut endless = told().filter(|(point, _)| is_endless(point.measured.status));
        endless.next().map_or(Ok(()), |endless| Err(Failure::Run(named(endless))))
    }
}

/// For each point the place of its series: that of the series' first point.
fn order(points: &[Point]) -> Vec<usize> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let numbered = points.iter().enumerate();
    numbered.map(|(number, point)| *first.entry(&point.series).or_insert(number)).collect()
}

/// Between which loads each curve that has found its loads ends. Points of a series are neighbours,
/// and their loads ascend.
fn knees_text(points: &[report::Point]) -> String {
    let mut text = String::new();
    for curve in points.chunk_by(|a, b| a.label.series == b.label.series) {
        let loads = curve.chunk_by(|a, b| a.measured.offered_load == b.measured.offered_load);
        // A load is as the first of its seeds that is not steady, with which the curve ends.
        let loads: Vec<(f64, Status)> = loads
            .filter_map(|load| {
                let mut statuses = load.iter().map(|it| it.measured.status);
                let status = statuses.find(|&it| it != Status::Steady).unwrap_or(Status::Steady);
                Some((load[0].measured.offered_load?, status))
            })
            .collect();
        let highest = loads.iter().rposition(|(_, status)| *status == Status::Steady);
        let sustained = highest.map(|place| loads[place].0);
        let next = loads.get(highest.map_or(0, |place| place + 1));
        let series = match curve[0].label.series.as_str() {
            "" => "the curve",
            series => series,
        };
        let loads_tried = loads.len();
        text += &match (sustained, next) {
            (Some(load), Some((next, Status::Undecided))) => format!(
                "  {series}: sustains load {load:.4}, and {next:.4} is undecided; {loads_tried} loads\n"
            ),
            (Some(load), Some((next, _))) => {
                format!("  {series}: sustains load {load:.4}, not {next:.4}; {loads_tried} loads\n")
            }
            (Some(load), None) => format!(
                "  {series}: sustains load {load:.4}, the most that its sources create; {loads_tried} loads\n"
            ),
            (None, Some((next, Status::Undecided))) => {
                format!(
                    "  {series}: no load is shown to be sustained, and {next:.4} is undecided\n"
                )
            }
            (None, Some((next, _))) => format!("  {series}: sustains no load, {next:.4} neither\n"),
            (None, None) => String::new(),
        };
    }
    text
}

fn point_name(label: &Label, row: &PointRow, repeated: bool) -> String {
    let parts = [
        Some(label.series.clone()).filter(|series| !series.is_empty()),
        row.offered_load.map(|load| format!("load {load:.4}")),
        repeated.then(|| format!("seed {}", label.seed)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { format!("point {}", label.point) } else { parts.join(", ") }
}

/// One line a point.
pub(super) fn point_text(label: &Label, row: &PointRow, repeated: bool) -> String {
    let name = point_name(label, row, repeated);
    let latency = row.packet_latency_mean.map_or("-".into(), short_time_text);
    match (row.status, row.accepted_load, row.completion_time) {
        (Status::Completed, _, Some(time)) => {
            let rate = row.bandwidth.map(|rate| format!(", {rate:.3} GB/s a node"));
            let rate = match row.operation_rate_total.zip(row.bandwidth_total) {
                Some((operations, all)) => {
                    Some(format!(", {operations:.3} million operations a second, {all:.3} GB/s"))
                }
                None => rate,
            };
            format!("  {name}: {}{}", short_time_text(time), rate.unwrap_or_default())
        }
        // A load that was interrupted has no completion time.
        (Status::Steady | Status::Completed, Some(accepted), _) => {
            format!("  {name}: accepted {accepted:.4}, mean packet latency {latency}")
        }
        (Status::NotSteady, Some(accepted), _) => {
            format!("  {name}: accepted {accepted:.4}, not steady")
        }
        (Status::Undecided, Some(accepted), _) => {
            format!("  {name}: accepted {accepted:.4}, undecided")
        }
        (status, ..) => format!("  {name}: {}", status.name()),
    }
}

/// What a search has found. `points` are those that the searches tried.
fn saturation_text(note: &SaturationNote, points: &[report::Point], repeated: bool) -> String {
    let SustainedLoad { label, found } = &note.found;
    let is_undecided = |load: f64| {
        let is_it = |point: &&report::Point| {
            let at = point.measured.offered_load;
            (&point.label.series, point.label.seed) == (&label.series, label.seed)
                && at.is_some_and(|at| (at - load).abs() < note.tolerance / 2.0)
        };
        points.iter().find(is_it).is_some_and(|it| it.measured.status == Status::Undecided)
    };
    let series = if label.series.is_empty() { "saturation" } else { &label.series };
    let seed = if repeated { format!(", seed {}", label.seed) } else { String::new() };
    let load = found.sustained_load;
    match found.lowest_load_not_sustained {
        Some(failed) if is_undecided(failed) => {
            format!("  {series}{seed}: sustains load {load:.4}, and {failed:.4} is undecided\n")
        }
        Some(failed) => format!("  {series}{seed}: sustains load {load:.4}, not {failed:.4}\n"),
        None => format!(
            "  {series}{seed}: sustains load {load:.4}, the highest that its bound allows\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab::report::Sustained;

    #[test]
    fn an_interrupted_load_is_not_called_a_deadlock() {
        let line = |status, accepted_load| {
            let row = PointRow { status, accepted_load, ..PointRow::default() };
            point_text(&Label::default(), &row, false)
        };
        let interrupted = line(Status::Completed, Some(0.2));
        assert!(interrupted.ends_with(": accepted 0.2000, mean packet latency -"), "{interrupted}");
        assert!(line(Status::Deadlock, Some(0.2)).ends_with(": deadlock"));
        assert!(line(Status::Stuck, None).ends_with(": stuck"));
    }

    #[test]
    fn a_load_that_is_undecided_is_not_called_one_that_is_not_sustained() {
        let told = |loads: &[(f64, Status)]| {
            let point = |&(load, status): &(f64, Status)| report::Point {
                measured: PointRow { status, offered_load: Some(load), ..PointRow::default() },
                ..report::Point::default()
            };
            knees_text(&loads.iter().map(point).collect::<Vec<_>>())
        };
        use Status::{NotSteady, Steady, Undecided};
        let seeds = [(0.5, Steady), (0.5, Steady), (0.6, Steady)];
        let ends = |last: &[(f64, Status)]| told(&[&seeds[..], last].concat());
        let sustains = "  the curve: sustains load";
        assert_eq!(ends(&[(0.6, NotSteady)]), format!("{sustains} 0.5000, not 0.6000; 2 loads\n"));
        let undecided = format!("{sustains} 0.5000, and 0.6000 is undecided; 2 loads\n");
        assert_eq!(ends(&[(0.6, Undecided)]), undecided);
        let all = format!("{sustains} 0.6000, the most that its sources create; 2 loads\n");
        assert_eq!(ends(&[(0.6, Steady)]), all);
        assert_eq!(told(&[(0.1, NotSteady)]), "  the curve: sustains no load, 0.1000 neither\n");
        let none = "  the curve: no load is shown to be sustained, and 0.1000 is undecided\n";
        assert_eq!(told(&[(0.1, Undecided)]), none);

        let point = |status, load, seed| report::Point {
            label: Label { series: "a".into(), seed, ..Label::default() },
            measured: PointRow { status, offered_load: Some(load), ..PointRow::default() },
            ..report::Point::default()
        };
        let points = [point(Steady, 0.5, 2), point(NotSteady, 0.52, 1), point(Undecided, 0.52, 2)];
        let search = |seed| SaturationNote {
            found: SustainedLoad {
                label: Label { series: "a".into(), seed, ..Label::default() },
                found: Sustained { sustained_load: 0.5, lowest_load_not_sustained: Some(0.52) },
            },
            criterion: "",
            tolerance: 0.02,
        };
        let told = [1, 2].map(|seed| saturation_text(&search(seed), &points, true));
        assert_eq!(told[0], "  a, seed 1: sustains load 0.5000, not 0.5200\n");
        assert_eq!(told[1], "  a, seed 2: sustains load 0.5000, and 0.5200 is undecided\n");
    }
}
