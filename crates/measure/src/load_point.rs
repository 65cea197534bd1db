//! One point of a load curve: warm up until level, measure until precise enough, say how it went.
//!
//! Flits under way (created and not yet delivered, source queues included) are sampled ten times a
//! window; `warm_up` decides from these samples when the warm-up is over. At the end of each window
//! `growth` looks at every source queue, and `interval` says how well the mean latency is known.
//! The measurement looks at both at intervals of half its length. It ends when they have an answer,
//! or when its budget is used up.
//!
//! **A warm-up that was too short shows in what follows it**: by a drift, or since the level that is
//! measured was reached only in the second half of the warm-up. Then all so far was warm-up, and it
//! is measured anew, in windows twice as long if that would be too many: so the answer does not
//! depend on the length with which they began.
//!
//! A load above what a channel can carry is not steady, whatever the queues look like.

use super::bound::Bottleneck;
use super::collector::Collector;
use super::growth::{Growth, QueueVerdict};
use super::interruption::Recovery;
use super::settings::{Settings, WarmUp};
use super::summary::Summary;
use super::totals::Totals;
use super::warm_up::{drifts, has_settled, samples_to_level};
use super::watch::{MeasurementState, Sample, Snapshot, Watch};
use super::{Halt, Livelock, Phase, Progress, Window, livelock};
use flitlab_base::narrow::{narrow, rounded_down};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Backlog, Deadlock, Engine};
use flitlab_model::interval::{
    Batch, WindowInterval, half_width_95_of_windows, interval_95_of_windows, jain_fairness,
};

pub(super) const SAMPLES_A_WINDOW: u64 = 10;

/// A window is as long as this many latencies of a packet, and of a message, in the empty network,
/// and as this many packets, and messages, take to be created, network-wide.
const LATENCIES_A_WINDOW: u64 = 10;
const MESSAGE_LATENCIES_A_WINDOW: u64 = 3;
const PACKETS_A_WINDOW: f64 = 3_000.0;
/// Sources that are on and off go round this often in a window in the mean, so that the windows of
/// one are nearly independent.
const CYCLES_A_WINDOW: u64 = 3;
const MESSAGES_A_WINDOW: f64 = 100.0;
/// Some hours: at loads so low that this cuts a window short, thousands of windows still fit the
/// clock.
const MAX_WINDOW: f64 = (1u64 << 53) as f64;

/// Fewest messages that have to be received while it is measured for a load to be called steady.
pub const ENOUGH_MESSAGES: u64 = 100;

/// The measurement looks for an answer at its fewest windows, and then each time it is longer by
/// one over this: looking often, and stopping at the first interval that happens to be short, makes
/// intervals too short.
pub(super) const LOOKS_A_LENGTH: u32 = 2;

/// A network that takes longer than so many windows to fill, of their first length, fills slowly.
pub(super) const FILLS_FAST: u64 = 10;

/// How often windows may be doubled whose length was not given.
const MAX_DOUBLINGS: u32 = 3;

/// How far a sum of channel loads may be off, by rounding.
const ROUNDING: f64 = 1e-9;

/// How a measurement ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// Steady, and the mean latency is as precise as asked for.
    Steady,
    /// Steady, but the budget of windows ended before the mean latency was precise enough.
    SteadyImprecise,
    /// The flits under way grow for ever.
    NotSteady(Cause),
    /// Too little was simulated to tell.
    Undecided(Doubt),
    /// Packets wait for each other in a cycle.
    Deadlock(Deadlock),
    /// Packets move for ever, and none arrives.
    Livelock(Livelock),
    /// Something failed meanwhile.
    Interrupted(Recovery),
}

impl From<Halt> for Ending {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Deadlock(deadlock) => Self::Deadlock(deadlock),
            Halt::Livelock(livelock) => Self::Livelock(livelock),
        }
    }
}

impl Ending {
    /// Whether the load was shown to be one that the network sustains.
    pub fn sustained(&self) -> bool {
        matches!(self, Self::Steady | Self::SteadyImprecise)
    }
}

/// Why a load is not steady.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The channel that bounds the throughput is offered this multiple of its capacity.
    Bound {
        /// The channel, or the kind of channel.
        name: String,
        /// Offered load over capacity; above 1, but for rounding.
        excess: f64,
    },
    /// A terminal's source queue grew by this fraction of what a source offers in the mean.
    Source {
        /// The terminal of the queue.
        terminal: u32,
        /// Growth as a fraction of a source's mean offered load.
        growth: f64,
    },
    /// The flits under way grew by this fraction of the offered flits.
    Whole {
        /// Growth as a fraction of all offered flits.
        growth: f64,
    },
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// So few messages were received while it was measured.
    TooLittle {
        /// Messages received; fewer than [`ENOUGH_MESSAGES`].
        messages: u64,
    },
    /// The flits under way did not become level within the warm-up.
    WarmUp,
    /// Latencies scatter so widely that the interval of their mean has no upper end.
    Scatter,
    /// Source queues grew in all, but less and less.
    Filling,
    /// A terminal's source queue neither grew nor ran empty often enough, and so did those of
    /// others.
    Source {
        /// The terminal of the queue.
        terminal: u32,
        /// The number of other terminals whose queues are undecided as well.
        others: usize,
    },
}

/// The result of a load point. Rates are means over the terminals that send.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadMeasurement {
    /// How the measurement ended.
    pub ending: Ending,
    /// Accepted flits in flits a flit time of a network channel.
    pub accepted_flits: f64,
    /// Accepted payload in bytes a second; mean over the terminals that send.
    pub accepted_payload: f64,
    /// Accepted payload of the least served source, in bytes a second.
    pub accepted_payload_minimum: f64,
    /// Jain's fairness index of the sources' accepted payload, at most 1; `None` if there is
    /// nothing to compare.
    pub fairness: Option<f64>,
    /// The confidence interval of the mean packet latency, from the windows; in picoseconds.
    pub packet_latency_interval: Option<WindowInterval>,
    /// Half width of the 95% confidence interval of `accepted_flits`, from the windows.
    pub accepted_flits_half_width: Option<f64>,
    /// Simulated time of the warm-up.
    pub warm_up: Picoseconds,
    /// Simulated time of the measured windows.
    pub measured: Picoseconds,
    /// Number of measured windows.
    pub windows: u32,
    /// The windows of the warm-up, then the measured windows.
    pub history: Vec<Window>,
    /// What was delivered in the measured windows.
    pub summary: Summary,
}

/// Facts about the traffic that the measurement needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Flits a picosecond that all terminals together offer.
    pub flits: f64,
    /// Packets a picosecond that all terminals together offer.
    pub packets: f64,
    /// Messages a picosecond that all terminals together offer.
    pub messages: f64,
    /// Time a flit takes on a network channel.
    pub flit_time: Picoseconds,
    /// Whether messages are created at random times, or go random ways.
    pub random: bool,
    /// The mean time of an on and an off period of a source; 0 if its rate is always the same.
    pub cycle: Picoseconds,
    /// Mean latencies in the empty network, from which the length of a window follows; not needed
    /// if the settings give that.
    pub zero_load: Option<ZeroLoad>,
    /// The channel that bounds the throughput, and its load: 1 is all that it can carry. `None` if
    /// it is not known.
    pub bound: Option<Bottleneck>,
}

/// Latencies in the empty network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroLoad {
    /// Of a packet, mean over packets.
    pub packet: Picoseconds,
    /// Of a message: the last packet's, behind all others.
    pub message: Picoseconds,
}

impl Offered {
    /// The length of a window that the settings leave open, a multiple of the sampling interval.
    ///
    /// # Panics
    /// If the latencies without load were not given.
    pub fn window(&self) -> Picoseconds {
        let created = (PACKETS_A_WINDOW / self.packets).max(MESSAGES_A_WINDOW / self.messages);
        let zero_load = self.zero_load.expect("given if the settings leave the window open");
        let latencies = (LATENCIES_A_WINDOW * zero_load.packet)
            .max(MESSAGE_LATENCIES_A_WINDOW * zero_load.message)
            .max(CYCLES_A_WINDOW * self.cycle);
        let created: Picoseconds = rounded_down(created.min(MAX_WINDOW));
        let least = u128::from(latencies.max(created).max(Picoseconds(1)));
        Picoseconds::from_wide(least.next_multiple_of(SAMPLES_A_WINDOW.into()))
    }

    /// Returns the channel that is offered more than it can carry, as a cause. A channel offered
    /// exactly its capacity has no steady state either if messages come at random times.
    pub(super) fn beyond_bound(&self) -> Option<Cause> {
        let Bottleneck { name, load } = self.bound.as_ref()?;
        let most = if self.random { 1.0 - ROUNDING } else { 1.0 + ROUNDING };
        (*load > most).then(|| Cause::Bound { name: name.clone(), excess: *load })
    }
}

/// Runs a load point.
///
/// # Panics
/// If neither the settings give the length of a window nor `offered` the latency without load.
pub fn measure_load(
    engine: &mut Engine<'_, Collector>,
    offered: &Offered,
    senders: &[u32],
    settings: &Settings,
    watch: &mut Watch<'_>,
) -> LoadMeasurement {
    let window = settings.window.unwrap_or_else(|| offered.window());
    LoadPoint::new(engine, offered, window, watch).measure(senders, settings, watch)
}

/// Simulates up to a time, as long as the measurement takes.
pub(super) fn to_the_end(
    engine: &mut Engine<'_, Collector>,
    time: Picoseconds,
) -> Result<(), Halt> {
    engine.run_until(time);
    Ok(())
}

/// What a look at a measurement shows.
enum Look {
    /// Nothing more has to be measured.
    Known(Ending),
    /// This is how it ends if no more windows are left.
    Open(Ending),
    /// What was measured belongs to the warm-up, which is to last so long at least.
    TooShort(Picoseconds),
}

/// Simulates up to a time, or says why the measurement does not go on.
pub(super) type Simulate<'s, E> =
    dyn FnMut(&mut Engine<'_, Collector>, Picoseconds) -> Result<(), E> + 's;

pub(super) struct LoadPoint<'e, 'f> {
    pub engine: &'e mut Engine<'f, Collector>,
    pub(super) offered: &'e Offered,
    pub(super) window: Picoseconds,
    /// The state of the measurement.
    pub(super) state: MeasurementState,
}

impl<'e, 'f> LoadPoint<'e, 'f> {
    pub(super) fn new(
        engine: &'e mut Engine<'f, Collector>,
        offered: &'e Offered,
        window: Picoseconds,
        watch: &mut Watch<'_>,
    ) -> Self {
        let state = watch.from.take().unwrap_or_default();
        Self { engine, offered, window, state }
    }

    /// Simulates windows up to a time, the last of which may be shorter.
    pub(super) fn run_to<E: From<Halt>>(
        &mut self,
        end: Picoseconds,
        phase: Phase,
        watch: &mut Watch<'_>,
        simulate: &mut Simulate<'_, E>,
    ) -> Result<(), E> {
        let most = u32::try_from(end / self.window()).unwrap_or(u32::MAX);
        while self.engine.now() < end {
            self.run_window(phase, self.window().min(end - self.state.end()), watch, simulate)?;
            let (time, done) = (self.engine.now(), narrow(self.state.history.len()));
            (watch.progress)(Progress { phase, time, done, most: most.max(done) });
            (watch.keep)(Snapshot::new(self.engine, &self.state));
        }
        Ok(())
    }

    /// From now on everything counts, if it doesn't already.
    pub(super) fn start_measuring(&mut self) {
        if std::mem::replace(&mut self.state.measuring, true) {
            return;
        }
        self.engine.reset_channels();
        self.state.warm_up_samples = self.state.samples.len();
        let classes = self.engine.classes();
        self.engine.observer().start(classes);
        self.state.counted = Totals::now(self.engine, &Totals::default());
    }

    /// Simulates a window, or the rest of one, and samples the flits under way.
    fn run_window<E: From<Halt>>(
        &mut self,
        phase: Phase,
        length: Picoseconds,
        watch: &mut Watch<'_>,
        simulate: &mut Simulate<'_, E>,
    ) -> Result<(), E> {
        let start = self.state.end();
        let sampled = (self.state.samples.len() - self.state.sampled) as u64;
        for sample in sampled + 1..=SAMPLES_A_WINDOW {
            let (whole, rest) = (length / SAMPLES_A_WINDOW, length % Picoseconds(SAMPLES_A_WINDOW));
            let part = whole * sample + rest * sample / SAMPLES_A_WINDOW;
            simulate(self.engine, start + part)?;
            let delivered = self.engine.observer().end_window();
            self.state.delivered.add(delivered);
            self.state.samples.push(Sample {
                under_way: self.flits_under_way() as f64,
                packets: delivered.packets as f64,
                flits: delivered.flits as f64,
                latency: delivered.latency as f64,
            });
            if sample < SAMPLES_A_WINDOW {
                (watch.keep)(Snapshot::new(self.engine, &self.state));
            }
        }
        self.state.sampled = self.state.samples.len();
        let delivered = std::mem::take(&mut self.state.delivered);
        let now = Totals::now(self.engine, &Totals::default());
        let window = now.since(&self.state.counted, phase, self.engine);
        self.state.counted = now;
        // In the warm-up the observer only counts from window to window.
        self.state.history.push(Window { start, delivered, ..window });
        self.engine.find_deadlock().map_or(Ok(()), |it| Err(Halt::from(it)))?;
        livelock(self.engine, &mut self.state.arrivals)?;
        Ok(())
    }

    /// The length of windows, which grows where a network fills slowly.
    pub(super) fn window(&self) -> Picoseconds {
        self.window * (1 << self.state.doublings)
    }

    /// Runs the warm-up, or what is left of it.
    fn warm_up<E: From<Halt>>(
        &mut self,
        settings: &Settings,
        watch: &mut Watch<'_>,
        simulate: &mut Simulate<'_, E>,
    ) -> Result<(), E> {
        let most = match settings.warm_up {
            WarmUp::UntilLevel { most } => most,
            WarmUp::For(time) => return self.run_to(time, Phase::WarmUp, watch, simulate),
        };
        while !self.has_filled() && self.windows_so_far() < most {
            self.run_window(Phase::WarmUp, self.window(), watch, simulate)?;
            let (time, done) = (self.engine.now(), self.windows_so_far());
            (watch.progress)(Progress { phase: Phase::WarmUp, time, done, most });
            (watch.keep)(Snapshot::new(self.engine, &self.state));
        }
        // Of what has not filled by now it is not known whether it does.
        if self.has_filled() && self.state.end() / self.window > FILLS_FAST {
            self.state.filled = self.state.end();
        }
        Ok(())
    }

    /// How many windows of their present length the time so far would be.
    fn windows_so_far(&self) -> u32 {
        u32::try_from(self.state.end() / self.window()).unwrap_or(u32::MAX)
    }

    /// Whether what is under way looks level at the end of a window of the warm-up.
    fn has_filled(&self) -> bool {
        let samples: Vec<f64> = self.state.samples.iter().map(|it| it.under_way).collect();
        self.state.end() >= self.state.filled && has_settled(&samples)
    }

    /// How long the warm-up has to be at least, if what was measured since shows that it was too
    /// short: by a drift or, where the warm-up is not given, by a level that was reached too late.
    pub(super) fn too_short(&self, settings: &Settings) -> Option<Picoseconds> {
        let samples: Vec<f64> = self.state.samples.iter().map(|it| it.under_way).collect();
        let from = self.state.warm_up_samples;
        // A drift that only a long measurement shows is small beside what chance does.
        let (windows, fewest) = (self.state.measured().len(), settings.minimum_windows);
        let drifts = windows <= 2 * fewest as usize && drifts(&samples[from..]);
        let twice = match settings.warm_up {
            WarmUp::UntilLevel { .. } => {
                let passed = samples_to_level(&samples, from) as u64;
                self.window() / SAMPLES_A_WINDOW * (2 * passed)
            }
            WarmUp::For(_) => Picoseconds::ZERO,
        };
        (drifts || twice > self.state.warm_up_end()).then_some(twice)
    }

    /// After how many windows a measurement that begins now is looked at first. What swings as slowly as
    /// the network filled is not seen in less than twice the warm-up; windows are doubled until the most
    /// of them hold one and a half times as much.
    fn first_look(&mut self, settings: &Settings, most: u32) -> u32 {
        let fewest = settings.minimum_windows;
        if !self.fills_slowly() {
            return fewest;
        }
        let filled = u64::from(self.state.end());
        let windows =
            |times: u64, length: Picoseconds| filled.saturating_mul(times).div_ceil(length.into());
        let (now, longest) = (self.state.doublings, self.longest(settings));
        let holds = |&it: &u32| windows(3, self.window * (1 << it)) <= most.into();
        self.double_windows((now..=longest).find(holds).unwrap_or(longest.max(now)));
        let first = windows(2, self.window());
        u32::try_from(first).unwrap_or(u32::MAX).min(most).max(fewest)
    }

    /// How often windows may be doubled: those that are given are not.
    pub(super) fn longest(&self, settings: &Settings) -> u32 {
        if settings.window.is_none() { MAX_DOUBLINGS } else { 0 }
    }

    /// Goes on in windows that are twice as long, as often as it takes.
    fn double_windows(&mut self, doublings: u32) {
        for _ in self.state.doublings..doublings {
            let joined = |two: &[Sample]| Sample {
                under_way: two[1].under_way,
                packets: two[0].packets + two[1].packets,
                flits: two[0].flits + two[1].flits,
                latency: two[0].latency + two[1].latency,
            };
            self.state.samples = self.state.samples.chunks_exact(2).map(joined).collect();
        }
        self.state.doublings = doublings;
        self.state.sampled = self.state.samples.len();
    }

    /// Makes all so far part of a warm-up that is to last until `filled` at least, in windows twice
    /// as long as often as it takes. Returns whether the settings allow that.
    fn extend_warm_up(&mut self, settings: &Settings, filled: Picoseconds) -> bool {
        let WarmUp::UntilLevel { most } = settings.warm_up else { return false };
        let filled = filled.max(self.state.end());
        let longest = self.longest(settings);
        let fits = |doublings: &u32| {
            let window = self.window * (1 << doublings);
            u64::from(filled).div_ceil(window.into()) <= most.into()
        };
        let Some(doublings) = (self.state.doublings..=longest).find(fits) else { return false };
        self.double_windows(doublings);
        let state = &mut self.state;
        state.filled = filled;
        state.growth = None;
        state.measuring = false;
        state.history.iter_mut().for_each(|window| window.phase = Phase::WarmUp);
        true
    }

    /// Runs warm-up and measurement.
    fn measure(
        &mut self,
        senders: &[u32],
        settings: &Settings,
        watch: &mut Watch<'_>,
    ) -> LoadMeasurement {
        let ending = self.run(senders, settings, watch, &mut to_the_end);
        let ending = ending.unwrap_or_else(Ending::from);
        self.start_measuring();
        let (start, windows) = (self.state.warm_up_end(), self.state.measured().len());
        let interval = self.interval();
        self.result(ending, start, narrow(windows), interval, senders)
    }

    pub(super) fn run<E: From<Halt>>(
        &mut self,
        senders: &[u32],
        settings: &Settings,
        watch: &mut Watch<'_>,
        simulate: &mut Simulate<'_, E>,
    ) -> Result<Ending, E> {
        let fewest = settings.minimum_windows;
        // Past saturation latencies grow for ever: the fewest windows do.
        let beyond = self.offered.beyond_bound();
        let most = if beyond.is_none() { settings.maximum_windows.max(fewest) } else { fewest };
        loop {
            if !self.state.measuring {
                self.warm_up(settings, watch, simulate)?;
                self.state.look = self.first_look(settings, most);
                self.start_measuring();
                let growth = Growth::new(self.engine.now(), self.backlogs());
                self.state.growth = Some(growth);
            }
            let windows: u32 = narrow(self.state.measured().len());
            if windows >= self.state.look {
                let ending = match &beyond {
                    Some(beyond) => Look::Known(Ending::NotSteady(beyond.clone())),
                    None => self.look(windows, most, senders, settings),
                };
                match ending {
                    Look::Known(ending) => return Ok(ending),
                    Look::TooShort(filled) if self.extend_warm_up(settings, filled) => continue,
                    Look::Open(ending) if windows >= most => return Ok(ending),
                    Look::TooShort(_) if windows >= most => {
                        let few = self.too_little();
                        return Ok(Ending::Undecided(few.unwrap_or(Doubt::WarmUp)));
                    }
                    Look::Open(_) | Look::TooShort(_) => {}
                }
                self.state.look = (windows + windows.div_ceil(LOOKS_A_LENGTH)).min(most);
            }
            self.run_window(Phase::Measuring, self.window(), watch, simulate)?;
            // Every source queue is looked at, at the end of a window.
            let (time, backlogs) = (self.engine.now(), self.backlogs());
            let growth = self.state.growth.as_mut().expect("the measurement has begun");
            growth.note(time, backlogs);
            let done = windows + 1;
            (watch.progress)(Progress { phase: Phase::Measuring, time, done, most });
            (watch.keep)(Snapshot::new(self.engine, &self.state));
        }
    }

    /// Looks for an answer after so many windows of at most `most`.
    fn look(&mut self, windows: u32, most: u32, senders: &[u32], settings: &Settings) -> Look {
        let growth = self.state.growth.as_ref().expect("the measurement has begun");
        let open = match growth.verdict(settings.growth * self.offered.flits) {
            QueueVerdict::Grows { terminal, rate } => {
                let ending = Ending::NotSteady(self.cause(terminal, rate, senders));
                // A beginning must not be taken for growth that lasts.
                let long = windows >= settings.minimum_windows.saturating_mul(2).min(most);
                return if long { Look::Known(ending) } else { Look::Open(ending) };
            }
            QueueVerdict::Filling => Some(Doubt::Filling),
            QueueVerdict::Open { terminal, others } => Some(Doubt::Source { terminal, others }),
            QueueVerdict::Level => None,
        };
        if let Some(filled) = self.too_short(settings) {
            return Look::TooShort(filled);
        }
        if let Some(few) = self.too_little() {
            return Look::Open(Ending::Undecided(few));
        }
        if let Some(doubt) = open {
            return Look::Open(Ending::Undecided(doubt));
        }
        let total = self.engine.observer().total;
        let precise = settings.precision * total.latency as f64;
        match self.interval().map(|it| it.half_width) {
            Some(None) => Look::Open(Ending::Undecided(Doubt::Scatter)),
            Some(Some(half)) if half * total.packets as f64 <= precise => {
                Look::Known(Ending::Steady)
            }
            Some(Some(_)) | None => Look::Open(Ending::SteadyImprecise),
        }
    }

    /// Whether too few messages were received to tell anything.
    fn too_little(&mut self) -> Option<Doubt> {
        let messages = self.messages_received();
        (messages < ENOUGH_MESSAGES).then_some(Doubt::TooLittle { messages })
    }

    /// How many independent pieces the measurement has at most. Where the network fills slowly, the
    /// warm-up is twice as long as that took, and what swings as slowly is another piece after two thirds
    /// of it.
    fn pieces(&self) -> f64 {
        if !self.fills_slowly() {
            return f64::INFINITY;
        }
        let warm_up = self.state.warm_up_end();
        1.5 * (self.state.end() - warm_up).0 as f64 / warm_up.0 as f64
    }

    /// Whether a warm-up took many windows, or was found to be too short.
    fn fills_slowly(&self) -> bool {
        self.state.filled > Picoseconds::ZERO
    }

    /// The confidence interval of the mean latency of what was measured.
    fn interval(&self) -> Option<WindowInterval> {
        let parts = self.state.samples[self.state.warm_up_samples..self.state.sampled].iter();
        let parts: Vec<Batch> =
            parts.map(|it| Batch { count: it.packets, sum: it.latency }).collect();
        interval_95_of_windows(&parts, narrow(SAMPLES_A_WINDOW), self.pieces())
    }

    fn flits_under_way(&self) -> u64 {
        self.engine.counters().flits_under_way()
    }

    fn backlogs(&self) -> Vec<Backlog> {
        let mut backlogs = Vec::new();
        self.engine.backlogs(|backlog| backlogs.push(backlog));
        backlogs
    }

    fn messages_received(&mut self) -> u64 {
        self.engine.observer().message_latency().map_or(0, |latency| latency.count)
    }

    fn cause(&self, terminal: Option<u32>, rate: f64, senders: &[u32]) -> Cause {
        let growth = rate / self.offered.flits;
        match terminal {
            None => Cause::Whole { growth },
            Some(terminal) => {
                Cause::Source { terminal, growth: growth * senders.len().max(1) as f64 }
            }
        }
    }

    /// Returns the result of the measurement from `start` on.
    pub(super) fn result(
        &mut self,
        ending: Ending,
        start: Picoseconds,
        windows: u32,
        interval: Option<WindowInterval>,
        senders: &[u32],
    ) -> LoadMeasurement {
        let parts = self.state.samples[self.state.warm_up_samples..self.state.sampled].iter();
        let flits: Vec<f64> = parts.map(|it| it.flits).collect();
        // Of interruptions no mean is told that would need one.
        let accepted =
            interval.and(half_width_95_of_windows(&flits, narrow(SAMPLES_A_WINDOW), self.pieces()));
        let part = self.window().0 as f64 / SAMPLES_A_WINDOW as f64;
        let history = std::mem::take(&mut self.state.history);
        let summary = Summary::of(self.engine);
        let measured = self.engine.now() - start;
        let time = measured.max(Picoseconds(1)).0 as f64;
        let terminals = senders.len().max(1) as f64;
        let collector = self.engine.observer();
        let total = collector.total;
        let by_source = &collector.payload_by_source;
        let payload = |source: &u32| by_source[*source as usize];
        let least = senders.iter().map(payload).min().unwrap_or(0);
        let a_second = 1e12 / time;
        let flit_time = self.offered.flit_time.0 as f64;
        LoadMeasurement {
            ending,
            accepted_flits: total.flits as f64 * flit_time / time / terminals,
            accepted_flits_half_width: accepted.map(|half| half * flit_time / part / terminals),
            accepted_payload: total.payload as f64 * a_second / terminals,
            accepted_payload_minimum: least as f64 * a_second,
            fairness: jain_fairness(senders.iter().map(payload)),
            packet_latency_interval: interval,
            warm_up: start,
            measured,
            windows,
            history,
            summary,
        }
    }
}
