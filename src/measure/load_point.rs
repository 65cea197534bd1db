//! One point of a load curve: warm up until steady, measure until precise enough, say how it went.
//!
//! **Steady state.** What is under way (flits created and not yet delivered, source queues included) is
//! sampled eight times a window. Warm-up ends when the regression slope over the latest three
//! windows is, up to sign, at most `growth` of the offered flits. If that never happens within
//! `warm_up_windows`, or if what is under way grows by more than that during the measurement, the
//! point is not steady: the network is past saturation.
//!
//! **Precision.** Windows are measured until the 95% confidence interval of the mean packet latency,
//! from the means of the windows, is at most `precision` of the mean on either side, or
//! `maximum_windows` have passed. Packets count in the window in which they are delivered.

use super::collector::{Collector, Distribution};
use super::interruption::Recovery;
use super::interval::{half_width_95, jain_fairness};
use super::settings::Settings;
use super::trend::slope;
use super::{MOST_CHANNELS, Phase, Progress, Quantile, Window};
use crate::adaptive::Derouting;
use crate::engine::{ChannelReport, Counters, Deadlock, Digest, Engine};
use crate::units::Picoseconds;

const SAMPLES_A_WINDOW: u64 = 8;
const TREND_WINDOWS: usize = 3;

/// A window is as long as this many zero-load latencies, and as this many packets take to be
/// created, network-wide.
const LATENCIES_A_WINDOW: u64 = 10;
const PACKETS_A_WINDOW: f64 = 3_000.0;

/// How a measurement ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Steady, and the mean latency is as precise as asked for.
    Steady,
    /// Steady, but the budget of windows ended before the mean latency was precise enough.
    SteadyImprecise,
    /// What is under way grew by this fraction of what was offered.
    NotSteady { growth: f64 },
    /// Packets wait for each other in a cycle.
    Deadlock(Deadlock),
    /// Something failed meanwhile.
    Interrupted(Recovery),
}

impl Status {
    /// Whether the load is one that the network sustains.
    #[must_use]
    pub fn sustained(&self) -> bool {
        matches!(self, Self::Steady | Self::SteadyImprecise)
    }
}

/// What a load point gave. Rates are per sending terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadMeasurement {
    pub status: Status,
    /// Accepted flits in flits a flit time of a network channel.
    pub accepted_flits: f64,
    /// Accepted payload in bytes a second: mean, and of the least served source.
    pub accepted_payload: f64,
    pub accepted_payload_minimum: f64,
    pub fairness: Option<f64>,
    pub packet_latency: Option<Distribution>,
    pub packet_latency_quantiles: Vec<Quantile>,
    /// Half width of the 95% confidence interval of the mean packet latency, in picoseconds.
    pub packet_latency_interval: Option<f64>,
    /// Mean latency from injection, in picoseconds.
    pub network_latency: Option<f64>,
    pub message_latency: Option<Distribution>,
    pub hops: Option<f64>,
    /// Shares of packets that were derouted, by kind.
    pub derouted: Option<[f64; Derouting::KINDS.len()]>,
    pub warm_up: Picoseconds,
    pub measured: Picoseconds,
    pub windows: u32,
    /// Those of the warm-up, then those that were measured.
    pub history: Vec<Window>,
    pub counters: Counters,
    pub digest: Digest,
    /// At most [`MOST_CHANNELS`], and how many there are in all.
    pub channels: Vec<ChannelReport>,
    pub all_channels: usize,
}

/// What the measurement has to know of the traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// Flits a picosecond that all terminals together offer.
    pub flits: f64,
    /// Packets a picosecond, likewise.
    pub packets: f64,
    /// Time a flit takes on a network channel.
    pub flit_time: Picoseconds,
    /// Mean latency of a packet in the empty network, from which the length of a window follows; not needed if
    /// the settings give that.
    pub zero_load: Option<Picoseconds>,
}

impl Offered {
    /// The length of a window that the settings leave open, a multiple of the sampling interval.
    ///
    /// # Panics
    /// If the latency without load was not given.
    #[must_use]
    pub fn window(&self) -> Picoseconds {
        let packets = (PACKETS_A_WINDOW / self.packets) as Picoseconds;
        let latency = self.zero_load.expect("given if the settings leave the window open");
        (LATENCIES_A_WINDOW * latency).max(packets).next_multiple_of(SAMPLES_A_WINDOW)
    }
}

/// Runs a load point; `progress` is told after every window.
///
/// # Panics
/// If neither the settings give the length of a window nor `offered` the latency without load.
pub fn measure_load(
    engine: &mut Engine<'_, Collector>,
    offered: &Offered,
    senders: &[u32],
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> LoadMeasurement {
    let window = settings.window.unwrap_or_else(|| offered.window());
    let mut point = LoadPoint::new(engine, offered, window);
    let warmed_up = point.warm_up(settings, progress);
    point.measure(senders, settings, warmed_up, progress)
}

pub(super) struct LoadPoint<'e, 'f> {
    pub engine: &'e mut Engine<'f, Collector>,
    offered: Offered,
    window: Picoseconds,
    /// Flits under way at each sampling time.
    backlog: Vec<f64>,
    history: Vec<Window>,
}

impl<'e, 'f> LoadPoint<'e, 'f> {
    pub(super) fn new(
        engine: &'e mut Engine<'f, Collector>,
        offered: &Offered,
        window: Picoseconds,
    ) -> Self {
        Self { engine, offered: *offered, window, backlog: Vec::new(), history: Vec::new() }
    }

    /// The windows so far.
    pub(super) fn history(&self) -> &[Window] {
        &self.history
    }

    /// Simulates windows up to a time, the last of which may be shorter.
    pub(super) fn run_to(
        &mut self,
        end: Picoseconds,
        phase: Phase,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Deadlock> {
        let most = (end / self.window) as u32;
        while self.engine.now() < end {
            let window = self.window;
            self.window = window.min(end - self.engine.now());
            let outcome = self.run_window(phase);
            self.window = window;
            outcome?;
            let (time, done) = (self.engine.now(), self.history.len() as u32);
            progress(Progress { phase, time, done, most: most.max(done) });
        }
        Ok(())
    }

    /// Simulates a window and samples what is under way.
    fn run_window(&mut self, phase: Phase) -> Result<(), Deadlock> {
        let (start, before) = (self.engine.now(), self.engine.counters());
        for sample in 1..=SAMPLES_A_WINDOW {
            self.engine.run_until(start + self.window * sample / SAMPLES_A_WINDOW);
            let counters = self.engine.counters();
            self.backlog.push(counters.flits_under_way() as f64);
        }
        let delivered = self.engine.observer().end_window();
        let busiest_channel = self.busiest_channel();
        let after = self.engine.counters();
        self.history.push(Window {
            phase,
            start,
            end: self.engine.now(),
            delivered,
            flit_hops: after.flit_hops - before.flit_hops,
            under_way: after.flits_under_way(),
            busiest_channel,
        });
        self.engine.find_deadlock().map_or(Ok(()), Err)
    }

    /// Utilisation of the busiest channel; `None` if there are too many to look at after every window.
    fn busiest_channel(&self) -> Option<f64> {
        if self.history.last().is_some_and(|last| last.busiest_channel.is_none()) {
            return None;
        }
        let (busiest, all) = self.engine.busiest_channels(1);
        busiest.first().filter(|_| all <= MOST_CHANNELS).map(|channel| channel.utilisation)
    }

    /// Growth of what is under way over the latest `windows`, as a fraction of what is offered.
    fn growth(&self, windows: usize) -> f64 {
        let samples = windows * SAMPLES_A_WINDOW as usize;
        let latest = &self.backlog[self.backlog.len().saturating_sub(samples)..];
        let interval = (self.window / SAMPLES_A_WINDOW) as f64;
        slope(latest) / interval / self.offered.flits
    }

    /// Whether what is under way became level; `Err` if it never can.
    fn warm_up(
        &mut self,
        settings: &Settings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, Deadlock> {
        for window in 1..=settings.warm_up_windows {
            self.run_window(Phase::WarmUp)?;
            progress(Progress {
                phase: Phase::WarmUp,
                time: self.engine.now(),
                done: window,
                most: settings.warm_up_windows,
            });
            let enough = window as usize >= TREND_WINDOWS;
            if enough && self.growth(TREND_WINDOWS).abs() <= settings.growth {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn measure(
        &mut self,
        senders: &[u32],
        settings: &Settings,
        warmed_up: Result<bool, Deadlock>,
        progress: &mut dyn FnMut(Progress),
    ) -> LoadMeasurement {
        let start = self.engine.now();
        self.engine.reset_channels();
        self.engine.observer().start();
        let mut means = Vec::new();
        let mut interval = None;
        let mut windows = 0;
        let (level, mut deadlock) = match warmed_up {
            Ok(level) => (level, None),
            Err(deadlock) => (false, Some(deadlock)),
        };
        // Past saturation latencies grow for ever: the fewest windows do.
        let most = if level { settings.maximum_windows } else { settings.minimum_windows };
        while windows < most && deadlock.is_none() {
            deadlock = self.run_window(Phase::Measuring).err();
            windows += 1;
            let delivered = self.history.last().expect("there was one").delivered;
            if delivered.packets > 0 {
                means.push(delivered.latency as f64 / delivered.packets as f64);
            }
            interval = half_width_95(&means);
            progress(Progress {
                phase: Phase::Measuring,
                time: self.engine.now(),
                done: windows,
                most,
            });
            if windows >= settings.minimum_windows && self.precise(interval, settings) {
                break;
            }
        }
        let growth = self.growth(windows as usize);
        let status = match deadlock {
            Some(deadlock) => Status::Deadlock(deadlock),
            None if !level || growth > settings.growth => Status::NotSteady { growth },
            None if self.precise(interval, settings) => Status::Steady,
            None => Status::SteadyImprecise,
        };
        self.result(status, start, windows, interval, senders)
    }

    fn precise(&mut self, interval: Option<f64>, settings: &Settings) -> bool {
        let total = self.engine.observer().total();
        interval.is_some_and(|half| {
            half * total.packets as f64 <= settings.precision * total.latency as f64
        })
    }

    /// What was measured from `start` on.
    pub(super) fn result(
        &mut self,
        status: Status,
        start: Picoseconds,
        windows: u32,
        interval: Option<f64>,
        senders: &[u32],
    ) -> LoadMeasurement {
        let history = std::mem::take(&mut self.history);
        let (channels, all_channels) = self.engine.busiest_channels(MOST_CHANNELS);
        let measured = self.engine.now() - start;
        let time = measured.max(1) as f64;
        let terminals = senders.len().max(1) as f64;
        let collector = self.engine.observer();
        let total = collector.total();
        let by_source = collector.payload_by_source();
        let payload = |source: &u32| by_source[*source as usize];
        let least = senders.iter().map(payload).min().unwrap_or(0);
        let a_second = 1e12 / time;
        let mean = |sum: u64| (total.packets > 0).then(|| sum as f64 / total.packets as f64);
        LoadMeasurement {
            status,
            accepted_flits: total.flits as f64 * self.offered.flit_time as f64 / time / terminals,
            accepted_payload: total.payload as f64 * a_second / terminals,
            accepted_payload_minimum: least as f64 * a_second,
            fairness: jain_fairness(senders.iter().map(payload)),
            packet_latency: collector.packet_latency(),
            packet_latency_quantiles: collector.packet_latency_quantiles(),
            packet_latency_interval: interval,
            network_latency: mean(total.network_latency),
            message_latency: collector.message_latency(),
            hops: mean(total.hops),
            derouted: total.derouted_shares(),
            warm_up: start,
            measured,
            windows,
            history,
            counters: self.engine.counters(),
            digest: self.engine.digest(),
            channels,
            all_channels,
        }
    }
}
