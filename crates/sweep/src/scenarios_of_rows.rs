//! Which scenario each row of a sweep's results is of.

use std::collections::HashMap;

use crate::points::{label_at_load, label_of};
use crate::saturation::search_saturation;
use flitlab_report as report;
use flitlab_report::Status;
use flitlab_scenario::simulation::SetupError;
use flitlab_scenario::{LOAD, Loads, Point, Scenario, Sweep};

/// Returns the scenario of each of these points of a sweep's results, by their labels; `None` for one
/// that the sweep does not have. Of a search for saturation the loads follow from how the rows before
/// ended.
///
/// # Errors
/// If the scenario of a search can't be simulated.
pub fn scenarios_of_rows(
    sweep: &Sweep,
    rows: &[report::Point],
) -> Result<Vec<Option<Scenario>>, SetupError> {
    // Where loads are found, a point of the sweep stands for all of its loads.
    let key = |point: &Point| (point.series.clone(), point.repetition, point.scenario.seed);
    let points: HashMap<_, &Point> = sweep.points.iter().map(|it| (key(it), it)).collect();
    let point_of = |row: &report::Point| {
        let label = &row.label;
        points.get(&(label.series.clone(), label.repetition, label.seed)).copied()
    };
    let of_grid = |row: &report::Point| {
        let point = sweep.points.get(row.label.point as usize)?;
        (label_of(point, row.label.point) == row.label).then(|| point.scenario.clone())
    };
    let of_curve = |row: &report::Point| {
        let point = point_of(row)?;
        let load: f64 = row.label.setting(LOAD)?.parse().ok()?;
        let is_it = label_at_load(point, row.label.point, load) == row.label;
        is_it.then(|| point.scenario.at_load(load))
    };
    let tolerance = match sweep.loads {
        Loads::Written { .. } => return Ok(rows.iter().map(of_grid).collect()),
        Loads::Curve(_) => return Ok(rows.iter().map(of_curve).collect()),
        Loads::Saturation { tolerance } => tolerance,
    };
    let mut scenarios: Vec<Option<Scenario>> = vec![None; rows.len()];
    for point in &sweep.points {
        let is_own = |row: &report::Point| {
            point_of(row).is_some_and(|it| std::ptr::eq(it, point))
                && label_of(point, row.label.point) == row.label
        };
        let own = rows.iter().enumerate().filter(|(_, row)| is_own(row));
        let mut own: Vec<(usize, &report::Point)> = own.collect();
        own.sort_by_key(|(_, row)| row.label.point);
        let mut own = own.into_iter();
        let searched = search_saturation(&point.scenario, tolerance, |load| {
            let (at, row) = own.next().ok_or(Stop::NoMoreRows)?;
            scenarios[at] = Some(point.scenario.at_load(load));
            Ok(row.measured.status == Status::Steady)
        });
        if let Err(Stop::Setup(error)) = searched {
            return Err(error);
        }
    }
    Ok(scenarios)
}

/// Why a search does not come to its end.
enum Stop {
    NoMoreRows,
    Setup(SetupError),
}

impl From<SetupError> for Stop {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}
