//! How long a load point will be, from its own beginning.
//!
//! The measurement itself is run for a limited time. What it has seen by then tells which of its rules
//! will end it: the bound, growth that lasts, or an interval that is short enough. Next to saturation
//! even that is open, since what only fills slowly grows for long. So the latest end is told as well.

use super::growth::QueueVerdict;
use super::load_point::{FILLS_FAST, LOOKS_A_LENGTH, LoadPoint, SAMPLES_A_WINDOW};
use super::warm_up::samples_to_level;
use super::watch::{Sample, Watch};
use super::{Collector, Halt, Offered, Settings, WarmUp};
use flitlab_base::narrow::{narrow, rounded, rounded_down};
use flitlab_base::units::Picoseconds;
use flitlab_engine::Engine;
use flitlab_model::interval::{Batch, interval_95_of_windows};

/// How far a load point has come in the time that there was for it, and how much is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rehearsal {
    /// Whether it has ended.
    pub has_ended: bool,
    /// Simulated time.
    pub now: Picoseconds,
    /// When it will end, if it goes on as it does now.
    pub end: Picoseconds,
    /// When it ends at the latest, as far as that is open still.
    pub latest: Picoseconds,
}

/// Why a rehearsal ends before its load point does.
enum Stop {
    Halt,
    TimeIsUp,
}

impl From<Halt> for Stop {
    fn from(_: Halt) -> Self {
        Self::Halt
    }
}

/// Steps between two samples of what is under way, after each of which it is asked whether there is
/// time left.
const STEPS: u64 = 8;

/// Runs a load point as [`measure_load`](super::measure_load) does, for as long as `goes_on` says.
pub fn rehearse_load(
    engine: &mut Engine<'_, Collector>,
    offered: &Offered,
    senders: &[u32],
    settings: &Settings,
    goes_on: &mut dyn FnMut(&Engine<'_, Collector>) -> bool,
) -> Rehearsal {
    let window = settings.window.unwrap_or_else(|| offered.window());
    let watch = &mut Watch { progress: &mut |_| {}, keep: &mut |_| {}, from: None };
    let mut point = LoadPoint::new(engine, offered, window, watch);
    let simulate = &mut |engine: &mut Engine<'_, Collector>, time: Picoseconds| {
        let begin = engine.now();
        for step in 1..=STEPS {
            engine.run_until(begin + (time - begin) * step / STEPS);
            if !goes_on(engine) {
                return Err(Stop::TimeIsUp);
            }
        }
        Ok(())
    };
    let ended = point.run(senders, settings, watch, simulate);
    let now = point.engine.now();
    let has_ended = !matches!(ended, Err(Stop::TimeIsUp));
    let end = if has_ended { now } else { point.expected_end(settings) };
    let latest = if has_ended { now } else { point.latest_end(settings).max(end) };
    Rehearsal { has_ended, now, end, latest }
}

/// What is under way grows for ever, as far as its samples show, if it does so in their last quarter by
/// more than this part of what is offered, and at more than this part of its growth before.
const GROWTH: f64 = 0.02;
const LASTING: f64 = 0.6;

/// Fewest samples that show how much latencies scatter.
const FEWEST: usize = 10;

impl LoadPoint<'_, '_> {
    /// When the measurement will end if it goes on as it does now.
    fn expected_end(&self, settings: &Settings) -> Picoseconds {
        let fewest = settings.minimum_windows;
        let beyond = self.offered.beyond_bound().is_some();
        let most = if beyond { fewest } else { settings.maximum_windows.max(fewest) };
        let (now, window) = (self.engine.now(), self.window());
        let grows = self.grows(settings);
        let warm_up = self.expected_warm_up(settings, beyond || grows);
        let is_slow = warm_up > self.expected_warm_up_at_once();
        let measured = if beyond {
            window * u64::from(fewest)
        } else if grows {
            // Growth is told after twice the fewest.
            window * u64::from(next_look(fewest, most, |windows| windows >= 2 * fewest))
        } else {
            self.expected_measurement(settings, most, is_slow.then_some(warm_up))
        };
        (warm_up + measured).max(now)
    }

    /// When the measurement ends at the latest: with the most windows, of the length that they may reach
    /// where it is not known yet whether the network has filled.
    fn latest_end(&self, settings: &Settings) -> Picoseconds {
        let fewest = settings.minimum_windows;
        let most = u64::from(settings.maximum_windows.max(fewest));
        let now = self.engine.now();
        if self.offered.beyond_bound().is_some() {
            return now;
        }
        let most_warm_up = match settings.warm_up {
            WarmUp::UntilLevel { most } => u64::from(most),
            WarmUp::For(time) => return time + self.window() * most,
        };
        let measured = self.state.measured().len();
        let has_filled = self.state.measuring && measured > 0 && self.too_short(settings).is_none();
        if has_filled {
            return self.state.warm_up_end() + self.window() * most;
        }
        self.window * ((most_warm_up + most) << self.longest(settings))
    }

    /// A warm-up that takes longer is slow.
    fn expected_warm_up_at_once(&self) -> Picoseconds {
        if self.state.filled > Picoseconds::ZERO {
            Picoseconds::ZERO
        } else {
            self.window * FILLS_FAST
        }
    }

    /// Whether what is under way looks as if it grew for ever.
    fn grows(&self, settings: &Settings) -> bool {
        let measured = self.state.measured().len();
        if let Some(growth) = self.state.growth.as_ref().filter(|_| measured >= 6) {
            let verdict = growth.verdict(settings.growth * self.offered.flits);
            return matches!(verdict, QueueVerdict::Grows { .. });
        }
        let (early, late) = self.growth_of_quarters();
        late > GROWTH && late > LASTING * early
    }

    /// By how much what is under way grew to the third and the last quarter of the samples, as a part
    /// of what was offered meanwhile.
    fn growth_of_quarters(&self) -> (f64, f64) {
        let samples = &self.state.samples;
        let quarter = (samples.len() / 4).max(1);
        let offered = self.offered.flits * self.part() * quarter as f64;
        let mean =
            |part: &[Sample]| part.iter().map(|it| it.under_way).sum::<f64>() / quarter as f64;
        let means: Vec<f64> = samples.chunks_exact(quarter).map(mean).collect();
        match means[..] {
            [_, one, two, three, ..] => ((two - one) / offered, (three - two) / offered),
            _ => (0.0, 0.0),
        }
    }

    /// The time between two samples.
    fn part(&self) -> f64 {
        self.window().0 as f64 / SAMPLES_A_WINDOW as f64
    }

    /// When the warm-up ends, which goes on as long as it may if what is under way `grows`.
    fn expected_warm_up(&self, settings: &Settings, grows: bool) -> Picoseconds {
        let most = match settings.warm_up {
            WarmUp::UntilLevel { most } => most,
            WarmUp::For(time) => return time,
        };
        let now = self.engine.now();
        let longest = self.longest(settings) - self.state.doublings.min(self.longest(settings));
        let latest = self.window() * (u64::from(most) << longest);
        if self.state.measuring {
            let short =
                if self.state.measured().is_empty() { None } else { self.too_short(settings) };
            return match short {
                Some(filled) if !grows => filled.max(now).min(latest.max(now)),
                _ => self.state.warm_up_end(),
            };
        }
        let most = self.window() * u64::from(most);
        if grows && self.state.filled == Picoseconds::ZERO {
            return most;
        }
        let samples: Vec<f64> = self.state.samples.iter().map(|it| it.under_way).collect();
        let passed =
            if samples.len() < FEWEST { 0 } else { samples_to_level(&samples, samples.len() / 2) };
        let level: Picoseconds = rounded_down(2.0 * passed as f64 * self.part());
        level
            .max(self.window() * FEWEST_OF_WARM_UP)
            .max(now)
            .max(self.state.filled)
            .min(most.max(now))
    }

    /// How long will be measured behind a warm-up that ends at this time, if it is slow.
    fn expected_measurement(
        &self,
        settings: &Settings,
        most: u32,
        slow: Option<Picoseconds>,
    ) -> Picoseconds {
        let fewest = u64::from(settings.minimum_windows);
        let mut window = self.window();
        let mut time = window * fewest;
        if let Some(filled) = slow {
            for _ in self.state.doublings..self.longest(settings) {
                if window * u64::from(most) < filled * 3 {
                    window = window * 2;
                }
            }
            time = time.max(filled * 2);
        }
        let longest = window * u64::from(most);
        if self.state.measuring && slow.is_none_or(|filled| filled == self.state.warm_up_end()) {
            time = window * u64::from(self.state.look);
        }
        while time < longest && !self.is_precise_after(time, slow, settings) {
            time = time + time / 2;
        }
        time.min(longest)
    }

    /// Whether the mean latency is as precise as asked for after this time, if latencies go on to
    /// scatter as they do now.
    fn is_precise_after(
        &self,
        time: Picoseconds,
        slow: Option<Picoseconds>,
        settings: &Settings,
    ) -> bool {
        let samples = &self.state.samples;
        let measured = &samples[self.state.warm_up_samples.min(samples.len())..];
        let seen = if self.state.measuring && measured.len() >= FEWEST {
            measured
        } else {
            &samples[samples.len() / 2..]
        };
        let parts = seen.iter().map(|it| Batch { count: it.packets, sum: it.latency });
        if seen.len() < FEWEST / 2 {
            return true;
        }
        let count: u32 = rounded(time.0 as f64 / self.part());
        let parts: Vec<Batch> = parts.cycle().take(count as usize).collect();
        let a_window = (seen.len() / FEWEST_WINDOWS).clamp(1, narrow(SAMPLES_A_WINDOW));
        let pieces = slow.map_or(f64::INFINITY, |filled| 1.5 * time.0 as f64 / filled.0 as f64);
        let (packets, latency) =
            parts.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.count, sum.1 + it.sum));
        let interval = interval_95_of_windows(&parts, a_window, pieces);
        let half = interval.and_then(|it| it.half_width);
        half.is_some_and(|half| half * packets <= settings.precision * latency)
    }
}

/// Shortest warm-up in windows.
const FEWEST_OF_WARM_UP: u64 = 3;

/// Windows, or shorter times, of which samples are a multiple.
const FEWEST_WINDOWS: usize = 6;

/// After how many windows the first look is of which this holds.
fn next_look(fewest: u32, most: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let mut windows = fewest;
    while windows < most && !holds(windows) {
        windows = (windows + windows.div_ceil(LOOKS_A_LENGTH)).min(most);
    }
    windows
}
