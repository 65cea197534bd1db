//! How long points will take, from how long a moment of one of their series takes here and now.
//!
//! The time of a point is that of the packets which it will deliver. What one costs is measured by
//! simulating the first moments of a point of the same series; how many there will be follows from the
//! offered load, the throughput bound and the windows that such a load is likely to need. It is an
//! estimate: how soon a confidence interval is narrow enough, nobody knows beforehand.

use std::time::{Duration, Instant};

use super::simulation::{SetupError, Simulation};
use crate::measure::{Outlook, Saturation, bisect};
use crate::scenario::{Scenario, WorkloadSpec};
use crate::traffic::{Exchange, OfferedLoad};
use crate::units::Picoseconds;

/// Windows until the trend of what is under way can be judged.
const SHORTEST_WARM_UP: u32 = 3;

/// Fractions of the throughput bound at which loads usually saturate, and from which on their latencies
/// vary so much that all windows are needed.
const SATURATION: f64 = 0.85;
const RESTLESS: f64 = 0.7;

/// Windows simulated to see what packets cost.
const REHEARSED_WINDOWS: u64 = 2;

/// What a packet costs that is delivered before anything has been measured: a rough figure of a present
/// machine, for networks so large that no packet arrives in the time there is.
const UNMEASURED: Duration = Duration::from_micros(2);

/// What the points of a series cost on this machine.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Making the engine, and writing the rows.
    fixed: Duration,
    /// Each packet delivered.
    packet: Duration,
    outlook: Outlook,
}

impl Pace {
    /// Simulates the beginning of a point, for about `limit`.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub fn measure(scenario: &Scenario, limit: Duration) -> Result<Self, SetupError> {
        let simulation = Simulation::new(scenario)?;
        let outlook = simulation.outlook().clone();
        let begun = Instant::now();
        let mut engine = simulation.engine(simulation.workload());
        let fixed = begun.elapsed();
        let step = simulation.window().unwrap_or(outlook.zero_load_maximum).max(8) / 8;
        let begun = Instant::now();
        let mut steps = 0;
        while engine.run_until(engine.now() + step) {
            steps += 1;
            let enough = simulation.window().is_some() && steps >= 8 * REHEARSED_WINDOWS;
            if enough || begun.elapsed() > limit {
                break;
            }
        }
        let packet = match u32::try_from(engine.counters().packets_delivered) {
            Ok(packets @ 1..) => begun.elapsed() / packets,
            _ => UNMEASURED,
        };
        Ok(Self { fixed, packet, outlook })
    }

    /// The time of a point of the series on one thread.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub fn of_point(&self, scenario: &Scenario) -> Result<Duration, SetupError> {
        let simulation = Simulation::new(scenario)?.with_outlook(self.outlook.clone());
        let packets = match (simulation.load(), simulation.window(), &scenario.workload) {
            (Some(load), Some(window), _) => {
                let capacity = simulation.fabric().capacity();
                let bound = self.outlook.throughput().map_or(1.0, |flits| flits / capacity);
                let share = load.offered_fraction() / bound;
                let accepted = (SATURATION / share).min(1.0);
                let settings = &scenario.measure;
                let windows = if share > SATURATION {
                    settings.warm_up_windows + settings.minimum_windows
                } else if share > RESTLESS {
                    2 * SHORTEST_WARM_UP + settings.maximum_windows
                } else {
                    SHORTEST_WARM_UP + settings.minimum_windows
                };
                let offered = simulation.offered_packets();
                offered * accepted * window as f64 * f64::from(windows)
            }
            (_, _, WorkloadSpec::Exchange(spec)) => {
                let (full, rest) = scenario.parameters.packets(spec.message.0);
                let pattern = simulation.pattern().clone();
                let messages = Exchange::new(spec, pattern, simulation.fabric()).messages();
                messages as f64 * (full + u64::from(rest.is_some())) as f64
            }
            _ => unreachable!("a load has windows"),
        };
        Ok(self.fixed + self.packet.mul_f64(packets))
    }

    /// Whether a load looks past saturation.
    #[must_use]
    pub fn is_past_saturation(&self, scenario: &Scenario) -> bool {
        let WorkloadSpec::Load(spec) = &scenario.workload else { return false };
        let capacity = scenario.network.fabric.capacity();
        let bound = self.outlook.throughput().map_or(1.0, |flits| flits / capacity);
        matches!(spec.load, OfferedLoad::Fraction(load) if load > bound)
    }

    /// The time of a search for saturation on one thread.
    ///
    /// # Errors
    /// If the scenario can't be simulated.
    pub fn of_search(&self, scenario: &Scenario, tolerance: f64) -> Result<Duration, SetupError> {
        let capacity = scenario.network.fabric.capacity();
        let bound = self.outlook.throughput().map_or(1.0, |flits| flits / capacity);
        let mut time = Duration::ZERO;
        let _: Saturation = bisect(bound, tolerance, |load| {
            time += self.of_point(&scenario.at_load(load))?;
            Ok::<bool, SetupError>(load < bound * SATURATION)
        })?;
        Ok(time)
    }
}

impl Simulation {
    /// The length of a window of a load point.
    fn window(&self) -> Option<Picoseconds> {
        let offered = self.offered_load()?;
        Some(self.scenario().measure.window.unwrap_or_else(|| offered.window()))
    }

    /// Packets a picosecond that all terminals together offer; 0 for an exchange.
    fn offered_packets(&self) -> f64 {
        self.offered_load().map_or(0.0, |offered| offered.packets)
    }
}
