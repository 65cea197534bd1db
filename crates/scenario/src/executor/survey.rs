//! What of a sweep is finished, seen from the points that are kept; nothing is computed.

use std::path::Path;

use super::ends::Ends;
use super::grid::places;
use super::points::PointError;
use super::saturation::search_saturation;
use super::store::Store;
use crate::Point;
use flitlab_engine::measure::Saturation;
use flitlab_report::PointResult;
use flitlab_report::Status;

/// How far a point of a sweep, or a search for saturation, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Missing,
    Finished,
    /// Its series has ended before it.
    LeftOut,
}

/// How far each point of a grid is, from the points in a folder of results. Those that are there are handed,
/// each with its place in `points`, to `each`, also if they turn out to be left out.
///
/// # Errors
/// If a point can't be read, and those of `each`.
pub fn survey_grid<E: From<PointError>>(
    points: &[Point],
    ends_after: Option<usize>,
    results: &Path,
    mut each: impl FnMut(usize, PointResult) -> Result<(), E>,
) -> Result<Vec<Progress>, E> {
    let places = places(points);
    let mut ends = Ends::new(ends_after, places.iter().copied());
    let mut progress = vec![Progress::Missing; points.len()];
    for (number, point) in points.iter().enumerate() {
        let stored = Store::look_up(results, &point.identity);
        if let Some(stored) = stored.map_err(PointError::from)? {
            ends.done(places[number], stored.measured.status);
            progress[number] = Progress::Finished;
            each(number, stored)?;
        }
    }
    for (progress, &place) in progress.iter_mut().zip(&places) {
        if !ends.holds(place) {
            *progress = Progress::LeftOut;
        }
    }
    Ok(progress)
}

/// The end of a search for saturation, if all loads on its way are among the points in a folder of results.
/// Those that are there are handed to `each` in their order.
///
/// # Errors
/// If a point can't be read, the scenario can't be simulated, and those of `each`.
pub fn survey_search<E: From<PointError>>(
    point: &Point,
    tolerance: f64,
    results: &Path,
    mut each: impl FnMut(PointResult) -> Result<(), E>,
) -> Result<Option<Saturation>, E> {
    let found = search_saturation(&point.scenario, tolerance, |load| {
        let stored = Store::look_up(results, &point.identity.at_load(load));
        let stored = stored.map_err(|error| Stop::Failed(PointError::from(error).into()))?;
        let stored = stored.ok_or(Stop::Missing)?;
        let sustained = stored.measured.status == Status::Steady;
        each(stored).map_err(Stop::Failed)?;
        Ok(sustained)
    });
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Stop::Missing) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Why a search does not come to its end.
enum Stop<E> {
    Missing,
    Failed(E),
}

impl<E: From<PointError>> From<super::SetupError> for Stop<E> {
    fn from(error: super::SetupError) -> Self {
        Self::Failed(PointError::from(error).into())
    }
}
