//! How long a sweep still takes: what was expected of its simulations, corrected by how long those
//! took that are done.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::text::duration;

/// What is expected counts, beside what was measured, as if so much of the sweep had taken as long
/// as was expected: the first simulations are the quickest, and say little.
const TRUST: f64 = 0.05;

/// The simulations of a sweep: how long each is expected to take, and took.
#[derive(Default)]
pub(super) struct SweepTime {
    /// By point of the sweep: seconds of one thread for each of the simulations that are made for
    /// it, in their order; empty if nothing is known.
    expected: Vec<Vec<f64>>,
    threads: usize,
    /// Whether what to expect is still being found out: until then the first points, which are the
    /// quickest, say nothing.
    awaited: bool,
    /// Simulations that are there: their points, and for how many seconds they were computed; `None`
    /// if an earlier call had kept them.
    done: Vec<(usize, Option<f64>)>,
    /// Points for which nothing is left to simulate.
    finished: BTreeSet<usize>,
    /// When the last simulation was done.
    last: Option<Instant>,
}

/// The time that is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeLeft {
    pub seconds: f64,
    /// Whether loads are still being found: fewer may be needed than the plan has.
    pub at_most: bool,
}

impl SweepTime {
    /// Sets what to expect of the simulations of each point, and the number of threads.
    pub(super) fn expect(&mut self, times: &[Vec<Duration>], threads: usize) {
        let seconds = |times: &Vec<Duration>| times.iter().map(Duration::as_secs_f64).collect();
        (self.expected, self.threads) = (times.iter().map(seconds).collect(), threads);
    }

    pub(super) fn set_awaited(&mut self, awaited: bool) {
        self.awaited = awaited;
    }

    /// A simulation for this point is there.
    pub(super) fn simulated(&mut self, point: usize, computed: Option<Duration>) {
        self.done.push((point, computed.map(|time| time.as_secs_f64())));
        self.last = Some(Instant::now());
    }

    /// Nothing is left to simulate for this point.
    pub(super) fn finish(&mut self, point: usize) {
        self.finished.insert(point);
    }

    /// The time that is left after so much, of so many things of which some are done; `None` if
    /// nothing is known of it, or the simulations under way take longer than was expected.
    pub(super) fn left(&self, elapsed: Duration, done: u64, all: u64) -> Option<TimeLeft> {
        if self.expected.is_empty() {
            let by_one = elapsed.as_secs_f64() / done as f64;
            let seconds = by_one * all.saturating_sub(done) as f64;
            return (done > 0 && !self.awaited).then_some(TimeLeft { seconds, at_most: false });
        }
        let under_way = self.last.map_or(elapsed, |last| last.elapsed());
        self.left_by_plan(under_way.as_secs_f64())
    }

    /// The time that is left so many seconds after the last simulation was done.
    fn left_by_plan(&self, under_way: f64) -> Option<TimeLeft> {
        let mut rest: Vec<&[f64]> = self.expected.iter().map(Vec::as_slice).collect();
        let (mut measured, mut expected) = (0.0, 0.0);
        for &(point, seconds) in &self.done {
            let Some((next, later)) = rest.get(point).and_then(|it| it.split_first()) else {
                continue;
            };
            rest[point] = later;
            if let Some(seconds) = seconds {
                measured += seconds;
                expected += next;
            }
        }
        let whole: f64 = self.expected.iter().flatten().sum();
        let slower = (measured + TRUST * whole) / (expected + TRUST * whole);
        let is_open = |&point: &usize| !rest[point].is_empty() && !self.finished.contains(&point);
        let open: Vec<usize> = (0..rest.len()).filter(is_open).collect();
        let work: f64 = open.iter().flat_map(|&point| rest[point]).sum();
        // The last ones leave threads without work.
        let threads = self.threads.min(open.len()).max(1);
        let seconds = work * slower / threads as f64 - under_way;
        let at_most = open.iter().any(|&point| self.expected[point].len() > 1);
        (seconds > 0.0).then_some(TimeLeft { seconds, at_most })
    }
}

impl TimeLeft {
    /// Such as `, about 3 min left`, to go behind the time so far.
    pub(super) fn text(self) -> String {
        let at_most = if self.at_most { "at most " } else { "" };
        format!(", {at_most}about {} left", duration(self.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sweep for whose points simulations of so many seconds are expected.
    fn sweep(expected: &[&[f64]], threads: usize) -> SweepTime {
        let times = |it: &&[f64]| it.iter().copied().map(Duration::from_secs_f64).collect();
        let expected: Vec<Vec<Duration>> = expected.iter().map(times).collect();
        let mut sweep = SweepTime::default();
        sweep.expect(&expected, threads);
        sweep
    }

    fn took(sweep: &mut SweepTime, point: usize, seconds: f64) {
        sweep.simulated(point, Some(Duration::from_secs_f64(seconds)));
    }

    fn assert_left(sweep: &SweepTime, under_way: f64, seconds: f64) {
        let left = sweep.left_by_plan(under_way).unwrap().seconds;
        assert!((left / seconds - 1.0).abs() < 1e-9, "{left}, not {seconds}");
    }

    #[test]
    fn the_time_left_of_a_grid_goes_on_with_the_clock_and_ends_with_the_last_point() {
        let mut sweep = sweep(&[&[2.0], &[2.0], &[8.0]], 2);
        assert_left(&sweep, 0.0, 6.0);
        assert_left(&sweep, 1.5, 4.5);
        for point in [0, 1] {
            took(&mut sweep, point, 2.0);
            sweep.finish(point);
        }
        // One thread has nothing to do any more.
        assert_left(&sweep, 3.0, 5.0);
        assert_eq!(sweep.left_by_plan(9.0), None, "it takes longer than was expected");
        assert_eq!(sweep.left_by_plan(0.0).map(|left| left.at_most), Some(false));
        took(&mut sweep, 2, 8.0);
        sweep.finish(2);
        assert_eq!(sweep.left_by_plan(0.0), None);
    }

    /// Two curves that were thought to take 8 times as long as they do.
    #[test]
    fn the_time_left_of_curves_follows_what_their_loads_took() {
        let curve: &[f64] = &[4.0, 8.0, 16.0, 80.0, 80.0, 8.0, 4.0];
        let mut sweep = sweep(&[curve, curve], 2);
        assert_left(&sweep, 0.0, 200.0);
        let mut before = 200.0;
        for load in 0..curve.len() {
            for point in [0, 1] {
                took(&mut sweep, point, curve[load] / 8.0);
                let Some(left) = sweep.left_by_plan(0.0) else { continue };
                assert!(left.at_most && left.seconds < before, "{left:?}, {before} before");
                before = left.seconds;
            }
            let truly = curve[load + 1..].iter().sum::<f64>() / 8.0;
            // From the fourth load on most of the work has been measured.
            assert!(load < 3 || truly == 0.0 || before < 2.0 * truly, "{load}: {before}, {truly}");
        }
        sweep.finish(0);
        sweep.finish(1);
        assert_eq!(sweep.left_by_plan(0.0), None);
    }

    #[test]
    fn loads_that_a_curve_does_not_need_are_not_waited_for() {
        let mut sweep = sweep(&[&[1.0, 1.0, 1.0], &[1.0, 1.0]], 1);
        took(&mut sweep, 0, 1.0);
        sweep.finish(0);
        assert_left(&sweep, 0.0, 2.0);
    }

    #[test]
    fn what_an_earlier_call_kept_says_nothing_of_the_pace() {
        let mut sweep = sweep(&[&[4.0, 4.0]], 1);
        sweep.simulated(0, None);
        assert_left(&sweep, 0.0, 4.0);
    }

    #[test]
    fn without_a_plan_points_that_are_left_take_as_long_as_those_that_are_done() {
        let left = |sweep: SweepTime, done| sweep.left(Duration::from_secs(4), done, 10);
        assert_eq!(left(SweepTime::default(), 0), None);
        let known = Some(TimeLeft { seconds: 16.0, at_most: false });
        assert_eq!(left(SweepTime::default(), 2), known);
        let awaited = SweepTime { awaited: true, ..SweepTime::default() };
        assert_eq!(left(awaited, 2), None, "a plan is about to come");
    }
}
