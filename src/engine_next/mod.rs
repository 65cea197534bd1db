//! The engine.
#![allow(missing_docs, dead_code)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the hottest loops; fabrics and the ranges of parameters keep their numbers within their types"
)]

mod active;
mod adaptive;
mod credits;
mod cut;
mod deadlock;
mod frame;
mod interruption;
mod lanes;
mod mail;
mod model;
mod packet;
mod ports;
mod rendezvous;
mod simulator;
mod sink;
mod source;
mod statistics;
mod tick;
mod visit;
mod walk;
mod way;
mod whole;

use std::time::Duration;

use crate::engine::{
    Backlog, Carried, ChannelReport, Counters, Deadlock, Digest, Interruption, InterruptionReport,
    Log, Observer, Parameters,
};
use crate::routing::Routes;
use crate::topology::Fabric;
use crate::traffic::{Script, Workload};
use crate::units::Picoseconds;
use simulator::Simulator;

/// One simulation.
pub struct Engine<'f, O>(Simulator<'f, O>);

impl<'f, O: Observer> Engine<'f, O> {
    pub fn new(
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
    ) -> Self {
        Self::on_threads(1, fabric, routes, parameters, workload, observer)
    }

    pub fn on_threads(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
    ) -> Self {
        Self(Simulator::new(threads, fabric, routes, parameters, workload, observer))
    }

    pub fn interrupt(&mut self, interruption: &'f Interruption) {
        self.0.interrupt(interruption);
    }

    pub fn interruption(&self) -> Option<InterruptionReport> {
        self.0.interruption()
    }

    pub fn run_until(&mut self, limit: Picoseconds) -> bool {
        self.0.run_until(limit)
    }

    pub fn now(&self) -> Picoseconds {
        self.0.clock
    }

    pub fn digest(&self) -> Digest {
        self.0.digest()
    }

    pub fn counters(&self) -> Counters {
        self.0.counters()
    }

    pub fn time_of_other_threads(&self) -> Duration {
        self.0.time_of_other_threads()
    }

    pub fn packets_under_way(&self) -> usize {
        self.0.packets_under_way()
    }

    pub fn messages_under_way(&self) -> u64 {
        self.0.messages_under_way()
    }

    pub fn backlogs(&self, each: impl FnMut(Backlog)) {
        self.0.backlogs(each);
    }

    pub fn observer(&mut self) -> &mut O {
        self.0.observer()
    }

    pub fn reset_channels(&mut self) {
        self.0.reset_channels();
    }

    pub fn carried(&self) -> Carried {
        self.0.carried()
    }

    pub fn channels(&mut self) -> Vec<ChannelReport> {
        self.0.channels()
    }

    pub fn busiest_channels(&mut self, most: usize) -> (Vec<ChannelReport>, usize) {
        self.0.busiest_channels(most)
    }

    pub fn find_deadlock(&self) -> Option<Deadlock> {
        self.0.find_deadlock()
    }

    pub fn credits_are_conserved(&self) -> bool {
        self.0.credits_are_conserved()
    }

    pub fn memory(&self) -> (usize, usize) {
        self.0.memory()
    }
}

/// Runs a list of messages until everything is delivered, or nothing moves any more.
///
/// # Errors
/// If packets wait for each other in a cycle.
pub fn run_script(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    script: Script,
) -> Result<(Log, Digest), Deadlock> {
    let workload = Workload::Script(script);
    let mut engine = Engine::new(fabric, routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::MAX);
    match engine.find_deadlock() {
        Some(deadlock) => Err(deadlock),
        None => Ok((std::mem::take(engine.observer()), engine.digest())),
    }
}
