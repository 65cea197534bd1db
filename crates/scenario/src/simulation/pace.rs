//! How long the points of a series will take, from how long the first moments of two of them take
//! here and now.
//!
//! The time of a point is that of the packets which it will deliver. What one costs, and what the
//! network accepts at most, is measured by simulating the first windows of the series' lowest and
//! highest load. How many windows a load will need follows from how near to saturation it is, and that
//! from how long its first packets wait. Where a series saturates is known to some ten percent by that,
//! and so it is an estimate.
//!
//! All is counted in processor time of this thread, the limits of what is simulated for it as well: an
//! estimate does not depend on what else the machine does.

use std::time::Duration;

use cpu_time::ThreadTime;

use super::setup::{SetupError, Simulation};
use crate::Scenario;
use crate::workload::Share;
use flitlab_base::narrow::rounded;
use flitlab_base::units::Picoseconds;
use flitlab_measure::{Forecast, WarmUp};

/// Windows of warm-up of a load that is sustained, in the mean.
const WARM_UP: u32 = 4;

/// Windows simulated to see what packets cost and how many get through; the last one counts for
/// that.
const REHEARSED: u32 = 3;

/// Steps of a window between looks at the clock, at the most.
pub(super) const STEPS: u64 = 64;

/// The shortest of these steps: shorter ones cost more than what is simulated in them.
pub(super) const STEP: Picoseconds = Picoseconds(500_000);

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
pub(super) const UNMEASURED_PACKET: Duration = Duration::from_micros(2);

/// What the points of a series cost on this machine, and where the series saturates.
#[derive(Clone, Debug)]
pub struct Pace {
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
    pub fn measure(
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
            let load = UNMEASURED_SATURATION * simulation.highest_load();
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
        let bound = simulation.highest_load();
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
    pub fn of_point(&self, scenario: &Scenario) -> Result<Duration, SetupError> {
        let simulation = self.simulation(scenario)?;
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
        let share = self.share_of_saturation(load);
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

    /// The simulation of a point of the series, which has the same forecast.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub fn simulation(&self, scenario: &Scenario) -> Result<Simulation, SetupError> {
        Ok(Simulation::new(scenario)?.with_forecast(self.forecast.clone()))
    }

    /// A load over the highest that looks sustained.
    pub fn share_of_saturation(&self, load: f64) -> f64 {
        load / self.sustained
    }

    /// Whether a point's load looks past saturation.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub fn is_past_saturation(&self, scenario: &Scenario) -> Result<bool, SetupError> {
        let load = Simulation::new(scenario)?.load();
        Ok(load.is_some_and(|load| self.share_of_saturation(load.fraction) > 1.0))
    }

    /// The packets of a simulation of which nothing was measured.
    pub(super) fn unmeasured_packets(simulation: &Simulation) -> f64 {
        let (sustained, accepted) = saturation(None, 1.0, simulation.highest_load());
        let (fixed, packet) = (Duration::ZERO, [UNMEASURED_PACKET; 2]);
        let (highest, forecast) = (sustained, simulation.forecast().clone());
        Self { fixed, packet, highest, sustained, accepted, forecast }.of_load(simulation).0
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
pub(super) fn packets_to_end(share: Share<'_>) -> f64 {
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

/// What is more than can be created by rounding alone is refused.
const ROUNDING: f64 = 1.0 - 1e-9;

impl Simulation {
    /// The highest load that is worth a try: the throughput bound (load 1 if that is not known), or as
    /// much as each source can create.
    pub fn highest_load(&self) -> f64 {
        let (bound, most) = self.bound_and_most();
        if most < bound * ROUNDING * ROUNDING { most } else { bound }
    }

    /// The throughput bound, load 1 if that is not known, and as much as each source can create.
    pub fn bound_and_most(&self) -> (f64, f64) {
        let bound = self.forecast().throughput();
        let bound = bound.map_or(1.0, |flits| flits / self.fabric().capacity());
        let created = self.load().map_or(f64::INFINITY, |load| load.highest_fraction);
        (bound, created * ROUNDING)
    }

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
}
