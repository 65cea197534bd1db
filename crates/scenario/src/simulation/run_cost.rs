//! How long one run will take, from its first moments here and now.
//!
//! A load is begun as it is measured, for up to a second: what its own rules say of its end by then
//! holds next to saturation as well, where windows are doubled and a warm-up begins anew. What comes to
//! an end is taken by the packets that it will deliver.
//!
//! All is counted in processor time of this thread, as in `pace`.

use std::time::Duration;

use cpu_time::ThreadTime;

use super::pace::{Pace, STEP, STEPS, UNMEASURED_PACKET, packets_to_end};
use super::setup::Simulation;
use crate::workload::Share;
use crate::{InterruptionSpec, Scenario};
use flitlab_base::memory::{fits, most_resident, resident};
use flitlab_base::units::Picoseconds;
use flitlab_engine::memory_needed;
use flitlab_measure::{Rehearsal, has_ended, rehearse_load};

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
            None => Pace::unmeasured_packets(self),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use flitlab_engine::Engine;
    use flitlab_measure::Collector;

    /// Uniform traffic on a torus of these dimensions, and whatever follows them.
    fn scenario(dimensions: &str, load: f64) -> Scenario {
        let text = format!(
            "[topology.torus]\ndimensions = {dimensions}\n[traffic]\npattern = \"uniform\"\nload = {load}\n"
        );
        Scenario::read(&Document::parse("a.toml", &text)).unwrap()
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
            let scenario = scenario(&format!("[8, 8]\n[routing.{routing}]"), load);
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
        let (took, found) = rehearsed(&scenario("[8]", 0.3), 2.0);
        assert_eq!(found, Rehearsal { has_ended: true, now: took, end: took, latest: took });
    }
}
