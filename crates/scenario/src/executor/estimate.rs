//! How long points will take, from how long the first moments of two of their series take here and
//! now.
//!
//! The time of a point is that of the packets which it will deliver. What one costs, and what the
//! network accepts at most, is measured by simulating the first windows of the series' lowest and
//! highest load. How many windows a load will need follows from how near to saturation it is, and that
//! from how long its first packets wait. Where a series saturates is known to some ten percent by that,
//! and so it is an estimate.
//!
//! One load by itself is begun as it is measured, for up to a second: what its own rules say of its end
//! by then holds next to saturation as well, where windows are doubled and a warm-up begins anew.
//!
//! All is counted in processor time of this thread, the limits of what is simulated for it as well: an
//! estimate does not depend on what else the machine does.

use std::time::Duration;

use cpu_time::ThreadTime;

use super::curve::Tried;
use super::curves;
use super::saturation::highest_load;
use super::simulation::{SetupError, Simulation};
use crate::workload::Share;
use crate::{CurvePrecision, InterruptionSpec, Scenario};
use flitlab_base::memory::{fits, most_resident, resident};
use flitlab_base::narrow::rounded;
use flitlab_base::units::Picoseconds;
use flitlab_engine::memory_needed;
use flitlab_measure::{Forecast, Rehearsal, Saturation, WarmUp, bisect, has_ended, rehearse_load};

/// Windows of warm-up of a load that is sustained, in the mean.
const WARM_UP: u32 = 4;

/// Windows simulated to see what packets cost and how many get through; the last one counts for
/// that.
const REHEARSED: u32 = 3;

/// Steps of a window between looks at the clock, at the most.
const STEPS: u64 = 64;

/// The shortest of these steps: shorter ones cost more than what is simulated in them.
const STEP: Picoseconds = Picoseconds(500_000);

/// The first windows cost more than later ones, since memory is new: they go on until they have taken
/// this part of the time for them, or for so many windows.
const ENOUGH: u32 = 8;
const MOST_REHEARSED: u32 = 12;

/// A rehearsed load is sustained if this share of its last window's packets gets through.
const SUSTAINED: f64 = 0.95;

/// The highest load that is sustained for long, as a multiple of what is accepted past it:
/// congestion lowers that.
const COLLAPSE: f64 = 1.1;

/// The assumed saturation as a fraction of the throughput bound, where nothing could be measured in
/// time.
const UNMEASURED_SATURATION: f64 = 0.7;

/// The standard deviation of packet latencies as a fraction of their mean, and how many packets say as
/// much as one that is independent of all others, far from saturation: by experiment with UGAL, trees,
/// HyperX and tori.
const SPREAD: f64 = 0.35;
const CORRELATED: f64 = 30.0;

/// What a packet costs where none arrived in the time there was: a rough figure of a present
/// machine.
const UNMEASURED_PACKET: Duration = Duration::from_micros(2);

/// What the points of a series cost on this machine, and where the series saturates.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Making the engine, and all else that does not depend on the load.
    fixed: Duration,
    /// CPU time of a packet that is delivered, at the lowest and at the highest load.
    packet: [Duration; 2],
    /// The highest load that was rehearsed, the highest that is sustained, and what is accepted
    /// past that.
    highest: f64,
    sustained: f64,
    accepted: f64,
    forecast: Forecast,
}

/// What the first windows of a point showed.
struct Beginning {
    fixed: Duration,
    packet: Duration,
    /// What gets through; `None` if it wasn't seen.
    seen: Option<Seen>,
}

/// What the first windows of a load showed of saturation.
#[derive(Clone, Copy)]
struct Seen {
    /// The share of the offered packets that gets through.
    accepted: f64,
    /// Their mean latency over that without load.
    slowed: f64,
}

impl Pace {
    /// Simulates the beginning of the series' points of lowest and highest load, each for about
    /// `limit`. A search has no highest load: it begins at the throughput bound.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub(super) fn measure(
        lowest: &Scenario,
        highest: Option<&Scenario>,
        limit: Duration,
    ) -> Result<Self, SetupError> {
        let begun = ThreadTime::now();
        let simulation = Simulation::new(lowest)?;
        let forecast = simulation.forecast().clone();
        if let Some((run, _)) = simulation.output_queued() {
            let packet = run.rehearse(limit).unwrap_or(UNMEASURED_PACKET);
            // All its points have as many packets, whatever the load.
            let load = UNMEASURED_SATURATION * highest_load(&simulation);
            return Ok(Self {
                fixed: Duration::ZERO,
                packet: [packet; 2],
                highest: load,
                sustained: load,
                accepted: load,
                forecast,
            });
        }
        let looking =
            if lowest.measure.window.is_none() { begun.elapsed() } else { Duration::ZERO };
        let bound = highest_load(&simulation);
        let low = rehearse(&simulation, limit);
        let highest = highest.map_or_else(|| lowest.at_load(bound), Scenario::clone);
        let simulation = Simulation::new(&highest)?.with_forecast(forecast.clone());
        let high = rehearse(&simulation, limit);
        let highest = simulation.load().map_or(1.0, |load| load.fraction);
        let (sustained, accepted) = saturation(high.seen, highest, bound);
        let packet = [low.packet, high.packet];
        Ok(Self { fixed: looking + low.fixed, packet, highest, sustained, accepted, forecast })
    }

    /// The time of a point of the series on one thread.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub(super) fn of_point(&self, scenario: &Scenario) -> Result<Duration, SetupError> {
        let simulation = Simulation::new(scenario)?.with_forecast(self.forecast.clone());
        let (packets, cost) = if let Some((run, _)) = simulation.output_queued() {
            (run.packets() as f64, self.packet[1])
        } else if simulation.offered_load().is_some() {
            self.of_load(&simulation)
        } else {
            (simulation.shares().map(packets_to_end).sum(), self.packet[1])
        };
        Ok(self.fixed + cost.mul_f64(packets))
    }

    /// Packets that a load will deliver, and what one will cost.
    fn of_load(&self, simulation: &Simulation) -> (f64, Duration) {
        let settings = &simulation.scenario().measure;
        let load = simulation.load().map_or(1.0, |load| load.fraction);
        let packets = simulation.offered_load().map_or(0.0, |(_, offered)| offered.packets);
        let window = packets * simulation.window().unwrap_or(Picoseconds::ZERO).0 as f64;
        let share = load / self.sustained;
        let [low, high] = self.packet.map(|cost| cost.as_secs_f64());
        // Packets cost more where they wait for each other.
        let crowd = load.min(self.sustained) / self.highest.min(self.sustained);
        let cost = Duration::from_secs_f64(low + (high - low).max(0.0) * crowd * crowd);
        if share > 1.0 {
            let warm_up = warm_up_of(simulation, |most| most);
            // Growth is told after twice the fewest.
            let windows = warm_up + 2.0 * f64::from(settings.minimum_windows);
            return (window * windows * self.accepted / load, cost);
        }
        // Means of windows scatter less with more packets in each, and more near saturation.
        let independent = (2.0 * SPREAD / settings.precision).powi(2);
        let needed = CORRELATED * independent / window / (1.0 - share).max(0.01);
        let (fewest, most) = (settings.minimum_windows, settings.maximum_windows);
        let measured = needed.clamp(f64::from(fewest), f64::from(most.max(fewest)));
        (window * (warm_up_of(simulation, |most| WARM_UP.min(most)) + measured), cost)
    }

    /// Whether a point's load looks past saturation.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub(super) fn is_past_saturation(&self, scenario: &Scenario) -> Result<bool, SetupError> {
        let simulation = Simulation::new(scenario)?;
        Ok(simulation.load().is_some_and(|load| load.fraction > self.sustained))
    }

    /// The times of the loads that a curve finds, in their order, on one thread.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub(super) fn of_curve(
        &self,
        scenario: &Scenario,
        precision: CurvePrecision,
    ) -> Result<Vec<Duration>, SetupError> {
        let mut curve = curves::begin(scenario, precision)?;
        let mut times = Vec::new();
        while let Some(&load) = curve.wanted().front() {
            times.push(self.of_point(&scenario.at_load(load))?);
            let share = load / self.sustained;
            // As in one queue, by packets of one size.
            let latency = 1.0 + share / (2.0 * (1.0 - share).max(1e-3));
            curve.tell(Tried { sustained: share <= 1.0, latency });
        }
        Ok(times)
    }

    /// The times of the loads that a search for saturation tries, in their order, on one thread.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub(super) fn of_search(
        &self,
        scenario: &Scenario,
        tolerance: f64,
    ) -> Result<Vec<Duration>, SetupError> {
        let simulation = Simulation::new(scenario)?.with_forecast(self.forecast.clone());
        let mut times = Vec::new();
        let _: Saturation = bisect(highest_load(&simulation), tolerance, |load| {
            times.push(self.of_point(&scenario.at_load(load))?);
            Ok::<bool, SetupError>(load <= self.sustained)
        })?;
        Ok(times)
    }
}

/// The warm-up of a load in windows, of which a found one has so many of the most.
fn warm_up_of(simulation: &Simulation, found: impl Fn(u32) -> u32) -> f64 {
    match simulation.scenario().measure.warm_up {
        WarmUp::UntilLevel { most } => f64::from(found(most)),
        WarmUp::For(time) => {
            let window = simulation.window().unwrap_or(time).max(Picoseconds(1));
            time.0 as f64 / window.0 as f64
        }
    }
}

/// What one run takes, as far as its first moments tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunCost {
    /// Processor time of one thread; `None` if too little of what comes to an end was seen.
    pub time: Option<Duration>,
    /// The most that it can be, if that is more than twice as much: the load looks next to saturation,
    /// where it is known late whether the network fills or source queues grow.
    pub most_time: Option<Duration>,
    /// The most bytes of memory; `None` where the system does not report what is in use.
    pub memory: Option<u64>,
}

/// For the moments that are simulated to see what one run takes.
const REHEARSAL_OF_RUN: Duration = Duration::from_millis(400);

/// For the beginning of a load's own measurement, which shows late how long it will be if it is next to
/// saturation.
const REHEARSAL_OF_LOAD: Duration = Duration::from_millis(1000);

/// From this part of its packets on, what comes to an end has shown what they cost.
const SHOWN: f64 = 1e-5;

/// Bytes of arrays from which on a simulation is not begun to see what it takes.
const LARGE: u64 = 1 << 29;

/// Bytes for what is written of a run behind its end: fonts, figures, a page.
const WRITING: u64 = 16 << 20;

impl Simulation {
    /// What a run of this takes, from its first moments here and now. A simulation that is large, or
    /// for which there is too little memory here, is not begun: its memory is what its arrays need, and
    /// its time that of its packets on some present machine.
    pub fn run_cost(&self) -> RunCost {
        let routes = self.routes();
        let Scenario { network, parameters, workload, .. } = self.scenario();
        let arrays = match self.output_queued() {
            Some((run, _)) => run.memory(),
            None => memory_needed(&network.fabric, parameters, routes, workload.is_collective()),
        };
        let end =
            WRITING + self.bound.iter().map(|it| it.workload.memory_afterwards()).sum::<u64>();
        if arrays > LARGE || !fits(arrays) {
            let memory = resident().map(|now| now + arrays + end);
            return RunCost { time: self.unmeasured_time(), most_time: None, memory };
        }
        let (time, most_time) = self.run_time().unzip();
        let most_time = most_time.flatten();
        RunCost { time, most_time, memory: most_resident().map(|most| most + end) }
    }

    /// The time of its packets where none is simulated.
    fn unmeasured_time(&self) -> Option<Duration> {
        if !self.scenario().workload.crosses_network() {
            return None;
        }
        let packets = match self.output_queued() {
            Some((run, _)) => run.packets() as f64,
            None if self.offered_load().is_none() => self.shares().map(packets_to_end).sum(),
            None => {
                let (sustained, accepted) = saturation(None, 1.0, highest_load(self));
                let (fixed, packet) = (Duration::ZERO, [UNMEASURED_PACKET; 2]);
                let (highest, forecast) = (sustained, self.forecast().clone());
                let pace = Pace { fixed, packet, highest, sustained, accepted, forecast };
                pace.of_load(self).0
            }
        };
        Some(UNMEASURED_PACKET.mul_f64(packets))
    }

    /// The time of a run, and its most where that is open.
    fn run_time(&self) -> Option<(Duration, Option<Duration>)> {
        if !self.scenario().workload.crosses_network() {
            return None;
        }
        if let Some((run, _)) = self.output_queued() {
            let packet = run.rehearse(REHEARSAL_OF_RUN).unwrap_or(UNMEASURED_PACKET);
            return Some((packet.mul_f64(run.packets() as f64), None));
        }
        if self.offered_load().is_none() {
            return self.time_to_end().map(|time| (time, None));
        }
        if self.interruption_of().is_some() {
            return Some((self.time_of_interruption(), None));
        }
        self.time_of_load(REHEARSAL_OF_LOAD)
    }

    /// The time of a load, whose own measurement is begun and goes on for so long; and its most, where
    /// that is open still.
    fn time_of_load(&self, limit: Duration) -> Option<(Duration, Option<Duration>)> {
        let (_, offered) = self.offered_load()?;
        let settings = &self.scenario().measure;
        let begun = ThreadTime::now();
        let mut engine = self.engine_without_logs(self.workload(), None);
        let mut course = Course::new(begun);
        let Rehearsal { has_ended, now, end, latest } =
            rehearse_load(&mut engine, &offered, &self.senders(), settings, &mut |engine| {
                course.note(engine.now()) < limit
            });
        if has_ended {
            return Some((begun.elapsed(), None));
        }
        let time = course.time_at(now, end);
        let most = course.time_at(now, latest);
        Some((time, (most > 2 * time).then_some(most)))
    }

    /// The time of a load that is interrupted: until as much time has passed since as before.
    fn time_of_interruption(&self) -> Duration {
        let begun = ThreadTime::now();
        let mut engine = self.engine_without_logs(self.workload(), None);
        let mut course = Course::new(begun);
        let end = self.interruption_of().map_or(Picoseconds::ZERO, |it| {
            let changes = self.scenario().network.table_changes(it).unwrap_or_default();
            it.time() + changes.last().map_or(it.time(), |last| last.ready)
        });
        let step = (end / (STEPS * STEPS)).max(STEP);
        while engine.now() < end && course.note(engine.now()) < REHEARSAL_OF_RUN {
            engine.run_until((engine.now() + step).min(end));
        }
        course.note(engine.now());
        course.time_at(engine.now(), end)
    }

    fn interruption_of(&self) -> Option<&InterruptionSpec> {
        self.scenario().interruption.as_ref()
    }

    /// The time of what comes to an end, by how far it gets in a moment: of its packets, since loads
    /// beside it go on as long as it does.
    fn time_to_end(&self) -> Option<Duration> {
        let begun = ThreadTime::now();
        let mut engine = self.engine_without_logs(self.workload(), None);
        let classes = if self.only().is_some() { 0 } else { self.bound.len() };
        engine.observer().start(classes);
        let fixed = begun.elapsed();
        let begun = ThreadTime::now();
        let mut is_over = false;
        // Ranks may compute for seconds before they send anything.
        while !is_over && begun.elapsed() < REHEARSAL_OF_RUN {
            is_over = !engine.run_until(engine.now() + STEP.max(engine.now() / STEPS))
                || self.shares().all(|it| !it.member().is_finite || has_ended(&engine, it.class()));
        }
        let taken = begun.elapsed();
        let counters = engine.counters();
        let of_classes = engine.observer().by_class();
        // By class: packets that were delivered, and all. Loads send as many as they get to.
        let packets_of = |share: Share<'_>| {
            let done = match of_classes.get(usize::from(share.class())) {
                Some(own) => own.packets as f64,
                // With what those under way have gone through.
                None => {
                    let crossed = counters.packet_hops as f64 / self.forecast().hops_mean.max(1.0);
                    (counters.packets_delivered as f64).max(crossed)
                }
            };
            (done, if share.member().is_finite { packets_to_end(share) } else { 0.0 })
        };
        let of_each: Vec<(f64, f64)> = self.shares().map(packets_of).collect();
        let finite = self.shares().zip(&of_each).filter(|(share, _)| share.member().is_finite);
        let (done, all) = finite.fold((0.0, 0.0), |sum, (_, it)| (sum.0 + it.0, sum.1 + it.1));
        let share = if is_over { 1.0 } else { (done / all.max(1.0)).min(1.0) };
        if share < SHOWN {
            return None;
        }
        // With a load all is simulated once to know the end, and once to measure.
        let has_load = self.load().is_some();
        let once = taken.div_f64(share) * if has_load { 2 } else { 1 };
        let simulated: f64 = of_each.iter().map(|it| it.0).sum();
        let further = self.further().into_iter().map(|members| {
            let own: f64 = members.iter().map(|&member| of_each[member].0).sum();
            own / simulated.max(1.0)
        });
        Some(fixed + once.mul_f64(1.0 + further.sum::<f64>()))
    }
}

/// How the simulated time goes on with processor time.
struct Course {
    begun: ThreadTime,
    marks: Vec<(Picoseconds, Duration)>,
}

impl Course {
    fn new(begun: ThreadTime) -> Self {
        Self { begun, marks: Vec::new() }
    }

    /// Notes a simulated time. Returns the processor time so far.
    fn note(&mut self, now: Picoseconds) -> Duration {
        let taken = self.begun.elapsed();
        self.marks.push((now, taken));
        taken
    }

    /// The processor time of a simulation until `end` that has come to `now`, at the pace of its later
    /// half: a network that fills takes more and more.
    fn time_at(&self, now: Picoseconds, end: Picoseconds) -> Duration {
        let half = self.marks.partition_point(|it| it.0 < now / 2);
        let (Some(&(from, before)), Some(&(_, taken))) = (self.marks.get(half), self.marks.last())
        else {
            return Duration::ZERO;
        };
        // Where one step took all the time, nothing but the whole of it tells the pace.
        let (from, before) =
            if from < now { (from, before) } else { (Picoseconds::ZERO, Duration::ZERO) };
        let left = end.saturating_sub(now).0 as f64 / (now - from).0.max(1) as f64;
        taken + (taken - before).mul_f64(left)
    }
}

/// The highest load that is sustained, and what is accepted past it, by which share of the packets of
/// a load got through in its first moments.
fn saturation(seen: Option<Seen>, load: f64, bound: f64) -> (f64, f64) {
    match seen {
        // As in a queue with one server, latencies are those without load over what is left of it.
        Some(Seen { accepted, slowed }) if accepted >= SUSTAINED => {
            ((load / (1.0 - 1.0 / slowed)).min(bound).max(load), load)
        }
        Some(Seen { accepted, .. }) if accepted > 0.0 => {
            ((COLLAPSE * accepted * load).min(bound), accepted * load)
        }
        // Nothing at all gets through where packets wait for each other for ever.
        Some(_) | None => (UNMEASURED_SATURATION * bound, UNMEASURED_SATURATION * bound),
    }
}

/// The packets that a workload sends until it comes to its end, with those that answer.
fn packets_to_end(share: Share<'_>) -> f64 {
    let parameters = share.parameters();
    let packets = |bytes| {
        let (full, rest) = parameters.packets(bytes);
        (full + u64::from(rest.is_some())) as f64
    };
    let (sizes, access) = &share.member().message;
    let (request, response) = access.payloads(rounded(sizes.mean()));
    let of_message = packets(request) + response.map_or(0.0, packets);
    share.workload().messages() as f64 * of_message
}

fn rehearse(simulation: &Simulation, limit: Duration) -> Beginning {
    let begun = ThreadTime::now();
    let mut engine = simulation.engine(simulation.workload());
    let fixed = begun.elapsed();
    let window = simulation
        .window()
        .unwrap_or(simulation.forecast().zero_load_maximum)
        .max(Picoseconds(STEPS));
    let begun = ThreadTime::now();
    let mut delivered = [0, 0];
    let mut at = [Duration::ZERO; 2];
    let mut windows = 0;
    let is_load = simulation.window().is_some();
    let steps = (window.0 / STEP.0).clamp(1, STEPS);
    'rehearsal: loop {
        let is_enough = begun.elapsed() > limit / ENOUGH || windows >= MOST_REHEARSED;
        if is_load && windows >= REHEARSED && is_enough {
            break;
        }
        for step in 1..=steps {
            let more = engine.run_until(window * windows.into() + window * step / steps);
            if !more || begun.elapsed() > limit {
                break 'rehearsal;
            }
        }
        windows += 1;
        if windows == 1 {
            engine.observer().start(0);
        }
        delivered = [delivered[1], engine.counters().packets_delivered];
        at = [at[1], begun.elapsed()];
    }
    let counters = engine.counters();
    let packets = match windows {
        // Most packets are still under way.
        0 => counters.packet_hops as f64 / simulation.forecast().hops_mean.max(1.0),
        _ => counters.packets_delivered as f64,
    };
    // Those of the last window, which has met what goes on, if there are some hundreds.
    let latest = (delivered[1] - delivered[0]) as f64;
    let packet = match packets {
        _ if windows >= REHEARSED && latest > 200.0 => (at[1] - at[0]).div_f64(latest),
        1.0.. => begun.elapsed().div_f64(packets),
        _ => UNMEASURED_PACKET,
    };
    let mean = engine.observer().packet_latency().map(|it| it.mean);
    let seen =
        simulation.offered_load().filter(|_| windows >= REHEARSED).map(|(_, offered)| Seen {
            accepted: latest / (offered.packets * window.0 as f64),
            slowed: mean.map_or(1.0, |mean| mean / simulation.forecast().zero_load_mean).max(1.0),
        });
    Beginning { fixed, packet, seen }
}

impl Simulation {
    /// The length of a window of a load point.
    fn window(&self) -> Option<Picoseconds> {
        let (_, offered) = self.offered_load()?;
        Some(self.scenario().measure.window.unwrap_or_else(|| offered.window()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use crate::executor::search_saturation;
    use flitlab_engine::Engine;
    use flitlab_measure::Collector;
    use flitlab_report::Status;

    fn scenario(pattern: &str, load: f64) -> Scenario {
        let text = format!(
            "[topology.torus]\ndimensions = [8]\n[traffic]\npattern = \"{pattern}\"\nload = {load}\n"
        );
        Scenario::read(&Document::parse("a.toml", &text)).unwrap()
    }

    /// The pace of a machine on which a packet costs a microsecond, and all else nothing.
    fn pace(lowest: &Scenario, highest: Option<&Scenario>) -> Pace {
        let measured = Pace::measure(lowest, highest, Duration::MAX).unwrap();
        Pace { fixed: Duration::ZERO, packet: [Duration::from_micros(1); 2], ..measured }
    }

    /// Microseconds for packets delivered: twice is promised.
    fn assert_near(estimate: Duration, packets: u64) {
        let ratio = estimate.as_micros() as f64 / packets as f64;
        assert!((0.5..2.0).contains(&ratio), "{estimate:?} for {packets} packets");
    }

    #[test]
    fn the_estimate_is_near_the_packets_that_the_points_deliver() {
        for pattern in ["uniform", "tornado"] {
            let points: Vec<Scenario> =
                (1..=12).map(|step| scenario(pattern, f64::from(step) / 10.0)).collect();
            let pace = pace(&points[0], points.last());
            let estimate = points.iter().map(|point| pace.of_point(point).unwrap()).sum();
            let run = |point| Simulation::new(point).unwrap().run(&mut |_| {}).work.counters;
            assert_near(estimate, points.iter().map(|point| run(point).packets_delivered).sum());
        }
    }

    /// The measurement of a load, stopped after a part of the time that it really simulates.
    fn rehearsed(scenario: &Scenario, part: f64) -> (Picoseconds, Rehearsal) {
        let simulation = Simulation::new(scenario).unwrap();
        let took = simulation.run(&mut |_| {}).found.measured.simulated_time.unwrap();
        let (_, offered) = simulation.offered_load().unwrap();
        let mut engine = simulation.engine(simulation.workload());
        let limit = took.0 as f64 * part;
        let goes_on = &mut |engine: &Engine<'_, Collector>| (engine.now().0 as f64) < limit;
        let (senders, settings) = (simulation.senders(), &scenario.measure);
        (took, rehearse_load(&mut engine, &offered, &senders, settings, goes_on))
    }

    #[test]
    fn a_quarter_of_a_measurement_tells_how_long_it_will_be() {
        for (routing, load) in [
            ("direction_order", 0.6),
            ("direction_order", 0.9),
            ("outflank", 0.7),
            ("outflank", 0.8),
        ] {
            let text = format!(
                "[topology.torus]\ndimensions = [8, 8]\n[routing.{routing}]\n[traffic]\n\
                 pattern = \"uniform\"\nload = {load}\n"
            );
            let scenario = Scenario::read(&Document::parse("a.toml", &text)).unwrap();
            let (took, Rehearsal { has_ended, end, latest, .. }) = rehearsed(&scenario, 0.25);
            let ratio = end.0 as f64 / took.0 as f64;
            assert!(
                !has_ended && (0.5..2.0).contains(&ratio),
                "{routing} {load}: {end}, not {took}"
            );
            assert!(
                took.0 as f64 <= 1.05 * latest.0 as f64,
                "{routing} {load}: {latest}, not {took}"
            );
        }
    }

    #[test]
    fn a_measurement_that_ends_in_time_takes_what_it_took() {
        let (took, found) = rehearsed(&scenario("uniform", 0.3), 2.0);
        assert_eq!(found, Rehearsal { has_ended: true, now: took, end: took, latest: took });
    }

    #[test]
    fn a_search_takes_as_long_as_the_loads_that_it_tries() {
        let scenario = scenario("tornado", 0.1);
        let estimate = pace(&scenario, None).of_search(&scenario, 0.02).unwrap().iter().sum();
        let mut packets = 0;
        let is_sustained = |load| -> Result<bool, SetupError> {
            let outcome = Simulation::new(&scenario.at_load(load))?.run(&mut |_| {});
            packets += outcome.work.counters.packets_delivered;
            Ok(outcome.found.measured.status == Status::Steady)
        };
        search_saturation(&scenario, 0.02, is_sustained).unwrap();
        assert_near(estimate, packets);
    }
}
