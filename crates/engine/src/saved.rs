//! The state of a simulation, to be written to a file and resumed.
//!
//! What follows from the scenario is made anew; the rest is here. A resumed simulation has the same
//! future as one that was never stopped, to the last bit.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use crate::counters::Counters;
use crate::frame::{ObservedPart, Schedule};
use crate::host::sink::Sink;
use crate::host::source::Sources;
use crate::interruption::FailureProgress;
use crate::observer::Observer;
use crate::packet::Packets;
use crate::part::Part;
use crate::router::Routers;
use crate::router::flit::FlitRouters;
use crate::router::packet::PacketRouters;
use crate::router::statistics::Statistics;
use crate::simulator::Engine;
use crate::simulator::{Parts, with_parts};
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
    parts: SavedParts,
}

/// The state of all parts, by the model of their routers.
#[derive(Deserialize)]
enum SavedParts {
    Packet(Vec<PartState<<PacketRouters as Routers>::Saved>>),
    Flit(Vec<PartState<<FlitRouters as Routers>::Saved>>),
}

/// The fields of a part that change. Between two runs nothing is under way to another part.
#[derive(Deserialize)]
struct PartState<S> {
    schedule: Schedule,
    packets: Packets,
    sources: Sources,
    sink: Sink,
    statistics: Statistics,
    traffic: TrafficState<'static>,
    digest: Digest,
    counters: Counters,
    latest: Picoseconds,
    routers: S,
}

/// The fields of a part by reference, serialised in the layout that [`PartState`] reads.
#[derive(Serialize)]
struct PartFields<'a, S> {
    schedule: &'a Schedule,
    packets: &'a Packets,
    sources: &'a Sources,
    sink: &'a Sink,
    statistics: &'a Statistics,
    traffic: TrafficState<'a>,
    digest: &'a Digest,
    counters: &'a Counters,
    latest: Picoseconds,
    routers: S,
}

impl<O> EngineState<O> {
    /// Number of threads of the simulation; it can be resumed with as many only.
    pub fn threads(&self) -> usize {
        match &self.parts {
            SavedParts::Packet(parts) => parts.len(),
            SavedParts::Flit(parts) => parts.len(),
        }
    }

    /// The time that it has reached.
    pub fn now(&self) -> Picoseconds {
        self.clock
    }
}

/// Serialises the state of the simulation and of its observer, as [`EngineState`] reads it.
impl<O: Observer + Serialize> Serialize for Engine<'_, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let progress = self.interruption.map(|(_, progress)| progress);
        let (since, under_way) = (self.statistics_since, self.under_way_when_it_came);
        let observer = with_parts!(&self.parts, parts => &parts[0].observer);
        (self.clock, since, progress, under_way, observer, &self.parts).serialize(serializer)
    }
}

/// Serialises the state of all parts, as `SavedParts` reads it.
impl<O: Observer> Serialize for Parts<'_, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = "SavedParts";
        match self {
            Self::Packet(parts) => {
                serializer.serialize_newtype_variant(name, 0, "Packet", &fields_of(parts))
            }
            Self::Flit(parts) => {
                serializer.serialize_newtype_variant(name, 1, "Flit", &fields_of(parts))
            }
        }
    }
}

fn fields_of<'a, R: Routers, O>(
    parts: &'a [ObservedPart<Part<'_, R>, O>],
) -> Vec<PartFields<'a, impl Serialize + 'a>> {
    let fields = |it: &'a ObservedPart<Part<'_, R>, O>| {
        let Part { common, hosts, routers } = &it.part;
        PartFields {
            schedule: &common.schedule,
            packets: &common.packets,
            sources: &hosts.sources,
            sink: &hosts.sink,
            statistics: &common.statistics,
            traffic: hosts.workload.state(),
            digest: &common.digest,
            counters: &common.counters,
            latest: common.latest,
            routers: routers.saved(),
        }
    };
    parts.iter().map(fields).collect()
}

impl<O: Observer + DeserializeOwned> Engine<'_, O> {
    /// Resumes a simulation of the same network, traffic, observer, number of
    /// [threads](EngineState::threads) and [interruption](Self::interrupted). From then on this
    /// simulation continues the other one. Returns false if it was a different one; then this
    /// simulation can no longer be used.
    pub fn resume(&mut self, state: EngineState<O>) -> bool {
        if state.threads() != self.parts.len()
            || state.progress.is_some() != self.interruption.is_some()
        {
            return false;
        }
        self.clock = state.clock;
        self.statistics_since = state.statistics_since;
        self.under_way_when_it_came = state.under_way_when_it_came;
        *self.observer() = state.observer;
        let fits = match (&mut self.parts, state.parts) {
            (Parts::Packet(parts), SavedParts::Packet(saved)) => restore_all(parts, saved),
            (Parts::Flit(parts), SavedParts::Flit(saved)) => restore_all(parts, saved),
            _ => false,
        };
        if let (Some((interruption, progress)), Some(saved)) =
            (&mut self.interruption, state.progress)
        {
            *progress = saved;
            with_parts!(&mut self.parts, parts => {
                parts.iter_mut().for_each(|it| it.part.follow(interruption, saved));
            });
        }
        fits
    }
}

fn restore_all<R: Routers, O>(
    parts: &mut [ObservedPart<Part<'_, R>, O>],
    saved: Vec<PartState<R::Saved>>,
) -> bool {
    parts.iter_mut().zip(saved).all(|(it, saved)| restore(&mut it.part, saved))
}

/// Takes over a saved state. Returns false if it belongs to another network.
fn restore<R: Routers>(part: &mut Part<'_, R>, saved: PartState<R::Saved>) -> bool {
    let Part { common, hosts, routers } = part;
    if !routers.restore(saved.routers) {
        return false;
    }
    (common.schedule, common.packets, common.statistics) =
        (saved.schedule, saved.packets, saved.statistics);
    (common.digest, common.counters, common.latest) = (saved.digest, saved.counters, saved.latest);
    (hosts.sources, hosts.sink) = (saved.sources, saved.sink);
    hosts.workload.resume(saved.traffic)
}
