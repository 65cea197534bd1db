//! Where series end by themselves: past saturation more load tells nothing new.
//!
//! A series ends with the last of so many loads in a row that do not reach a steady state. Where
//! that is follows from the results alone, so it is the same in whatever order, and on however many
//! threads, the points are computed: a load after a row of unsteady ones is never part of the
//! series, all before it are computed.

use flitlab_report::Status;

/// The series of a sweep while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// Loads in a row that end a series; `None` if none do.
    after: Option<usize>,
    series: Vec<Vec<Load>>,
    /// Points that are not done and lie beyond the end of their series.
    left_out: usize,
}

/// A load of a series.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Points not done yet; repetitions have one load.
    open: usize,
    /// Whether it may be steady: an undecided load ends nothing.
    steady: bool,
}

impl Load {
    fn past_saturation(self) -> bool {
        self.open == 0 && !self.steady
    }
}

/// A load's place: the series, and its number among the series' loads in ascending order.
pub(crate) type Place = (usize, usize);

impl Ends {
    pub fn new(after: Option<usize>, places: impl IntoIterator<Item = Place>) -> Self {
        let mut series: Vec<Vec<Load>> = Vec::new();
        for (number, rank) in places {
            if series.len() <= number {
                series.resize_with(number + 1, Vec::new);
            }
            let loads = &mut series[number];
            if loads.len() <= rank {
                loads.resize_with(rank + 1, Load::default);
            }
            loads[rank].open += 1;
        }
        Self { after, series, left_out: 0 }
    }

    /// A point is done.
    pub fn done(&mut self, (series, rank): Place, status: Status) {
        self.left_out -= self.beyond(series);
        let load = &mut self.series[series][rank];
        load.open -= 1;
        load.steady |= matches!(status, Status::Steady | Status::Undecided | Status::Completed);
        self.left_out += self.beyond(series);
    }

    /// How many points are not done and will not be, as far as is known.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The points of a series that are not done and lie beyond its end.
    fn beyond(&self, series: usize) -> usize {
        let Some(after) = self.after else { return 0 };
        let loads = &self.series[series];
        let mut ends = loads.windows(after);
        let end = ends.position(|loads| loads.iter().all(|load| load.past_saturation()));
        end.map_or(0, |end| loads[end + after..].iter().map(|load| load.open).sum())
    }

    /// Whether the load is part of its series, as far as is known.
    pub fn holds(&self, (series, rank): Place) -> bool {
        let Some(after) = self.after else { return true };
        let before = &self.series[series][..rank];
        !before.windows(after).any(|loads| loads.iter().all(|load| load.past_saturation()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(after: Option<usize>, loads: usize) -> Ends {
        Ends::new(after, (0..loads).map(|rank| (0, rank)))
    }

    #[test]
    fn a_series_ends_with_so_many_unsteady_loads_in_a_row() {
        let mut ends = series(Some(2), 6);
        for (rank, status) in [
            (0, Status::Steady),
            (1, Status::NotSteady),
            (2, Status::Steady),
            (3, Status::NotSteady),
            (4, Status::Deadlock),
        ] {
            assert!(ends.holds((0, 5)));
            ends.done((0, rank), status);
        }
        assert!(ends.holds((0, 4)));
        assert!(!ends.holds((0, 5)));
    }

    #[test]
    fn what_lies_beyond_an_end_is_counted_until_it_is_done() {
        let mut ends = Ends::new(Some(1), [(0, 0), (0, 1), (0, 2), (0, 2), (0, 3), (1, 0)]);
        ends.done((0, 2), Status::Steady);
        assert_eq!(ends.left_out(), 0);
        ends.done((0, 1), Status::NotSteady);
        // Of the third load one point is done already.
        assert_eq!(ends.left_out(), 2);
        ends.done((0, 2), Status::Steady);
        assert_eq!(ends.left_out(), 1);
        ends.done((0, 0), Status::NotSteady);
        assert_eq!(ends.left_out(), 1, "the second load is done");
    }

    #[test]
    fn the_order_of_the_points_makes_no_difference() {
        let mut ends = series(Some(1), 4);
        ends.done((0, 2), Status::NotSteady);
        assert!(ends.holds((0, 1)) && !ends.holds((0, 3)));
        ends.done((0, 0), Status::NotSteady);
        assert!(ends.holds((0, 0)) && !ends.holds((0, 1)));
    }

    #[test]
    fn a_load_is_past_saturation_if_no_repetition_is_steady() {
        let mut ends = Ends::new(Some(1), [(0, 0), (0, 0), (0, 1)]);
        ends.done((0, 0), Status::NotSteady);
        assert!(ends.holds((0, 1)), "another repetition may be steady");
        ends.done((0, 0), Status::Steady);
        assert!(ends.holds((0, 1)));
    }

    #[test]
    fn nothing_ends_unless_it_is_asked_for() {
        let mut ends = series(None, 3);
        ends.done((0, 0), Status::NotSteady);
        ends.done((0, 1), Status::NotSteady);
        assert!(ends.holds((0, 2)));
    }
}
