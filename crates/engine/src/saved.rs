//! The state of a simulation, to be written to a file and resumed.
//!
//! What follows from the scenario is made anew; the rest is here. A resumed simulation has the same
//! future as one that was never stopped, to the last bit.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use super::credits::Credits;
use super::frame::Schedule;
use super::interruption::FailureProgress;
use super::packet::Packets;
use super::part::Part;
use super::ports::Ports;
use super::sink::Sink;
use super::source::Sources;
use super::statistics::Statistics;
use super::{Counters, Engine, Observer};
use flitlab_base::units::Picoseconds;
use flitlab_model::Digest;
use flitlab_workload::traffic::TrafficState;

/// The state of a simulation and of its observer, read from a file.
#[derive(Deserialize)]
pub struct EngineState<O> {
    clock: Picoseconds,
    statistics_since: Picoseconds,
    progress: Option<FailureProgress>,
    under_way_when_it_came: u64,
    observer: O,
    parts: Vec<PartState>,
}

/// The state of a part: the fields of [`Part`] that change, in the order of [`Part::state`].
type PartState = (
    Schedule,
    Ports,
    Credits,
    Packets,
    Sources,
    Sink,
    Statistics,
    Option<super::adaptive::SavedAdaptiveState>,
    TrafficState<'static>,
    Digest,
    Counters,
    Picoseconds,
    Option<super::flit::FlitState>,
    Option<super::collective::ReductionUnits>,
    Option<super::link::LinkState>,
);

impl<O> EngineState<O> {
    /// Number of threads of the simulation; it can be resumed with as many only.
    pub fn threads(&self) -> usize {
        self.parts.len()
    }

    /// The time that it has reached.
    pub fn now(&self) -> Picoseconds {
        self.clock
    }
}

/// Serialises the state of the simulation and of its observer, as [`EngineState`] reads it.
impl<O: Observer + Serialize> Serialize for Engine<'_, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts: Vec<_> = self.parts.iter().map(|it| it.part.state()).collect();
        let progress = self.interruption.map(|(_, progress)| progress);
        let observer = &self.parts[0].observer;
        (self.clock, self.statistics_since, progress, self.under_way_when_it_came, observer, parts)
            .serialize(serializer)
    }
}

impl<O: Observer + DeserializeOwned> Engine<'_, O> {
    /// Resumes a simulation of the same network, traffic, observer, number of
    /// [threads](EngineState::threads) and [interruption](Self::interrupted). From then on this
    /// simulation continues the other one. Returns false if it was a different one; then this
    /// simulation can no longer be used.
    pub fn resume(&mut self, state: EngineState<O>) -> bool {
        if state.parts.len() != self.parts.len()
            || state.progress.is_some() != self.interruption.is_some()
        {
            return false;
        }
        self.clock = state.clock;
        self.statistics_since = state.statistics_since;
        self.under_way_when_it_came = state.under_way_when_it_came;
        self.parts[0].observer = state.observer;
        let fits = self.parts.iter_mut().zip(state.parts).all(|(it, state)| it.part.restore(state));
        if let Some((interruption, progress)) = &mut self.interruption {
            *progress = state.progress.expect("both or none");
            for part in &mut self.parts {
                part.part.follow(interruption, *progress);
            }
        }
        fits
    }
}

impl Part<'_> {
    /// The fields that change during a simulation. Between two runs the outbox and the outgoing
    /// data are empty.
    fn state(&self) -> impl Serialize + '_ {
        (
            &self.schedule,
            &self.ports,
            &self.credits,
            &self.packets,
            &self.sources,
            &self.sink,
            &self.statistics,
            self.adaptive_state.as_ref().map(|adaptive_state| &adaptive_state.state),
            self.workload.state(),
            &self.digest,
            &self.counters,
            self.latest,
            self.flits.as_ref().map(|flits| &flits.state),
            &self.reduction_units,
            self.links.as_ref().map(|links| &links.state),
        )
    }

    /// Takes over a saved state. Returns false if it belongs to another network.
    fn restore(&mut self, state: PartState) -> bool {
        let (
            schedule,
            ports,
            credits,
            packets,
            sources,
            sink,
            statistics,
            adaptive_state,
            traffic,
            ..,
        ) = state;
        let fits = match (&mut self.flits, state.12) {
            (Some(own), Some(state)) => own.restore(state),
            (own, state) => own.is_none() && state.is_none(),
        };
        let reduction_units_fit = match (&self.reduction_units, &state.13) {
            (Some(own), Some(other)) => own.is_like(other),
            (own, other) => own.is_none() && other.is_none(),
        };
        let links_fit = match (&mut self.links, state.14) {
            (Some(own), Some(state)) => own.restore(state),
            (own, state) => own.is_none() && state.is_none(),
        };
        if !fits
            || !links_fit
            || !reduction_units_fit
            || ports.blocks.len() != self.ports.blocks.len()
            || credits.room.len() != self.credits.room.len()
            || adaptive_state.is_some() != self.adaptive_state.is_some()
        {
            return false;
        }
        self.reduction_units = state.13;
        (self.digest, self.counters, self.latest) = (state.9, state.10, state.11);
        (self.schedule, self.ports, self.credits, self.packets) =
            (schedule, ports, credits, packets);
        (self.sources, self.sink, self.statistics) = (sources, sink, statistics);
        if let (Some(own), Some(state)) = (&mut self.adaptive_state, adaptive_state) {
            own.state = state;
        }
        self.workload.resume(traffic)
    }
}
