//! The time axis of a simulation that comes to its end: windows of equal length, whose number stays
//! bounded however long it takes.
//!
//! Windows begin short. When there are [`MAX_INTERVALS`] of them, each two become one. Of two
//! windows put together neither the 99th percentile nor the fullest channel would be known. So each
//! length that windows may still get is counted as well: level `j` has the windows that are `2^j`
//! times as long as those at present, each as the difference of what was counted at its end and at
//! its start. Where windows become longer, the next level has them already.

use serde::{Deserialize, Serialize};

use super::collector::Collector;
use super::totals::Totals;
use super::{Phase, Window};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{END, Engine};

/// The most windows of a simulation that comes to its end.
pub const MAX_INTERVALS: u32 = 128;

/// The length of windows at first: some ten of the engine's own windows, which end where these do,
/// too.
const SHORTEST: Picoseconds = Picoseconds(1_000_000);

/// Fewest windows that there are before they become longer since they cost too much.
const FEWEST: u32 = 32;

/// So many looks at channels cost nothing that anyone would notice: a millisecond.
const FREE_LOOKS: u64 = 1 << 17;

/// Beyond them a look is worth this many grants: then looks take less than two hundredths of the time.
const GRANTS_A_LOOK: u64 = 8;

/// Windows of one length.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Level {
    /// What had been counted at the start of the window at hand.
    start: Totals,
    windows: Vec<Window>,
}

/// The windows so far, of each length that they may get.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TimeAxis {
    /// The length of windows at present, and how many are done.
    length: Picoseconds,
    done: u32,
    /// Looks at channels so far.
    looks: u64,
    /// When all before was warm-up.
    measured_from: Picoseconds,
    /// What was counted before counts began anew.
    before: Totals,
    levels: Vec<Level>,
}

impl Default for TimeAxis {
    fn default() -> Self {
        Self {
            length: SHORTEST,
            done: 0,
            looks: 0,
            measured_from: Picoseconds::ZERO,
            before: Totals::default(),
            levels: vec![Level::default(); MAX_INTERVALS.ilog2() as usize + 1],
        }
    }
}

impl TimeAxis {
    /// Windows that belong to the warm-up if they end by a time.
    pub(super) fn measured_from(time: Picoseconds) -> Self {
        Self { measured_from: time, ..Self::default() }
    }

    /// Simulates up to and including a time, as [`Engine::run_until`] does, and ends the windows
    /// that end by then.
    pub(super) fn run_until(
        &mut self,
        engine: &mut Engine<'_, Collector>,
        limit: Picoseconds,
    ) -> bool {
        // The engine goes no further.
        let limit = limit.min(END);
        loop {
            let end = self.length * u64::from(self.done + 1);
            let left = engine.run_until(end.min(limit));
            if engine.now() == end {
                self.end_window(engine);
            }
            if !left || engine.now() >= limit {
                return left;
            }
        }
    }

    /// Notes that the counts of the engine and of its observer begin anew.
    pub(super) fn begin_anew(&mut self, engine: &mut Engine<'_, Collector>) {
        self.before = self.now(engine);
    }

    fn now(&self, engine: &mut Engine<'_, Collector>) -> Totals {
        engine.observer().end_window();
        Totals::now(engine, &self.before)
    }

    fn phase(&self, end: Picoseconds) -> Phase {
        if end <= self.measured_from { Phase::WarmUp } else { Phase::Measuring }
    }

    fn end_window(&mut self, engine: &mut Engine<'_, Collector>) {
        let now = self.now(engine);
        let phase = self.phase(now.time);
        self.done += 1;
        let ends = (0..)
            .zip(&mut self.levels)
            .take_while(|(level, _)| self.done.is_multiple_of(1 << level));
        for (_, level) in ends {
            level.windows.push(now.since(&level.start, phase, engine));
            level.start.clone_from(&now);
        }
        self.looks += now.channels();
        let is_costly =
            self.looks.saturating_sub(FREE_LOOKS) * GRANTS_A_LOOK > engine.counters().grants;
        let are_enough = self.done.is_multiple_of(2) && self.done >= FEWEST;
        if self.done == MAX_INTERVALS || is_costly && are_enough {
            self.levels.remove(0);
            self.levels.push(Level::default());
            (self.length, self.done) = (self.length * 2, self.done / 2);
        }
    }

    /// The windows until now, of which the last may be shorter.
    pub(super) fn windows(mut self, engine: &mut Engine<'_, Collector>) -> Vec<Window> {
        let now = self.now(engine);
        let phase = self.phase(now.time);
        let Level { start, mut windows } = self.levels.swap_remove(0);
        if now.time > start.time {
            windows.push(now.since(&start, phase, engine));
        }
        windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;
    use flitlab_fabric::{Faults, Torus};
    use flitlab_model::Parameters;
    use flitlab_routing::{DirectionOrder, HalfRing, Routes};
    use flitlab_traffic::{Message, MessageKind, Script};

    /// The windows of a run whose axis begins so.
    fn windows(mut axis: TimeAxis, sent: &[(u32, u32, u64)], threads: usize) -> Vec<Window> {
        let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&Faults::default()).unwrap();
        let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
        let (routes, parameters) = (Routes::DirectionOrder(order), Parameters::default());
        let collector = Collector::new(fabric.terminals());
        let message = |&(source, destination, bytes): &(u32, u32, u64)| {
            let (time, kind) = (Picoseconds::ZERO, MessageKind::Data);
            Message { time, source, destination, bytes, kind, tag: 0, class: 0 }
        };
        let workload = Box::new(Script::new(sent.iter().map(message).collect()));
        let mut engine = Engine::new(threads, &fabric, &routes, &parameters, workload, collector);
        engine.observer().start(0);
        // In pieces, as a measurement does it.
        let mut limit = Picoseconds(7_000_000);
        while axis.run_until(&mut engine, limit) {
            limit += Picoseconds(7_000_000);
        }
        axis.windows(&mut engine)
    }

    fn in_windows_of(length: Picoseconds) -> TimeAxis {
        TimeAxis { length, ..TimeAxis::default() }
    }

    /// Messages from all nodes to two of them: some 600 us.
    fn incast() -> Vec<(u32, u32, u64)> {
        (0..16)
            .filter(|source| source % 8 > 0)
            .map(|source| (source, source & 8, 500_000))
            .collect()
    }

    #[test]
    fn windows_that_were_put_together_are_those_of_twice_the_length() {
        let sent = incast();
        let found = windows(in_windows_of(SHORTEST), &sent, 1);
        let length = found[0].length();
        assert!(length >= SHORTEST * 4, "{length:?}");
        assert!((MAX_INTERVALS / 2..=MAX_INTERVALS).contains(&narrow::<u32>(found.len())));
        assert_eq!(windows(in_windows_of(length), &sent, 1), found, "from the beginning so long");
        for threads in 2..=3 {
            assert_eq!(
                windows(in_windows_of(SHORTEST), &sent, threads),
                found,
                "{threads} threads"
            );
        }
        // One after another, all but the last of equal length.
        assert_eq!(found[0].start, Picoseconds::ZERO);
        assert!(found.windows(2).all(|two| two[0].end == two[1].start));
        assert!(found[1..found.len() - 1].iter().all(|window| window.length() == length));
        // The fullest is one of the two channels of ejection almost all the time.
        let full = |window: &&Window| window.fullest.is_some_and(|it| it.utilisation > 0.99);
        assert!(found.iter().filter(full).count() * 10 > found.len() * 9);
    }

    #[test]
    fn windows_become_longer_where_little_happens_for_the_number_of_channels() {
        // 256 packets, one behind the other.
        let sent = [(0, 1, 65_536)];
        let usual = windows(in_windows_of(Picoseconds(50_000)), &sent, 1);
        assert!(narrow::<u32>(usual.len()) > FEWEST * 2, "{}", usual.len());
        let axis = TimeAxis { looks: FREE_LOOKS, ..in_windows_of(Picoseconds(50_000)) };
        let found = windows(axis, &sent, 1);
        assert!((FEWEST / 2..=FEWEST).contains(&narrow::<u32>(found.len())), "{}", found.len());
        for windows in [usual, found] {
            let packets: u64 = windows.iter().map(|window| window.delivered.packets).sum();
            assert_eq!(packets, 256);
        }
    }
}
