//! The state of a simulation, to be written to a file and resumed.
//!
//! What follows from the scenario is made anew; the rest is here. A resumed simulation has the same
//! future as one that was never stopped, to the last bit.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use crate::common::{Common, Published};
use crate::counters::Counters;
use crate::frame::{ObservedPart, Schedule};
use crate::host::Hosts;
use crate::host::sink::Sink;
use crate::host::source::Sources;
use crate::interruption::FailureProgress;
use crate::observer::Observer;
use crate::packet::Packets;
use crate::part::Part;
use crate::router::Routers;
use crate::router::cioq::CioqRouters;
use crate::router::flit::FlitRouters;
use crate::router::packet::PacketRouters;
use crate::simulator::{ByRouters, Engine, FailureEffects, with_parts};
use crate::statistics::Statistics;
use flitlab_base::units::Picoseconds;
use flitlab_model::Digest;

/// The state of a simulation and of its observer, read from a file.
#[derive(Deserialize)]
pub struct EngineState<O> {
    clock: Picoseconds,
    statistics_since: Picoseconds,
    progress: Option<FailureProgress>,
    effects: Vec<FailureEffects>,
    observer: O,
    parts: ByRouters<States<PacketRouters>, States<CioqRouters>, States<FlitRouters>>,
}

/// The states of all parts with routers of one kind.
type States<R> = Vec<PartState<R>>;

/// The fields of a part that change. Between two runs nothing is under way to another part.
#[derive(Deserialize)]
#[serde(bound = "")]
struct PartState<R: Routers> {
    schedule: Schedule,
    packets: Packets,
    sources: Sources,
    sink: Sink,
    statistics: Statistics,
    traffic: Vec<u8>,
    digest: Digest,
    counters: Counters,
    latest: Picoseconds,
    published: Published,
    routers: R::Saved,
}

impl<O> EngineState<O> {
    /// Number of threads of the simulation; it can be resumed with as many only.
    pub fn threads(&self) -> usize {
        with_parts!(&self.parts, parts => parts.len())
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
        let (since, effects) = (self.statistics_since, &self.effects);
        let observer = with_parts!(&self.parts, parts => &parts[0].observer);
        let parts = match &self.parts {
            ByRouters::Packet(parts) => ByRouters::Packet(fields_of(parts)),
            ByRouters::Cioq(parts) => ByRouters::Cioq(fields_of(parts)),
            ByRouters::Flit(parts) => ByRouters::Flit(fields_of(parts)),
        };
        (self.clock, since, progress, effects, observer, parts).serialize(serializer)
    }
}

/// The fields of each part by reference, in the order in which [`PartState`] reads them.
fn fields_of<R: Routers, O>(parts: &[ObservedPart<Part<'_, R>, O>]) -> Vec<impl Serialize> {
    let fields = parts.iter().map(|it| {
        let Part { common, hosts, routers, .. } = &it.part;
        let Common { schedule, packets, statistics, digest, counters, latest, published, .. } =
            common;
        let Hosts { sources, sink, workload, .. } = hosts;
        let (traffic, routers) = (workload.state(), routers.saved());
        (
            schedule, packets, sources, sink, statistics, traffic, digest, counters, latest,
            published, routers,
        )
    });
    fields.collect()
}

impl<O: Observer + DeserializeOwned> Engine<'_, O> {
    /// Resumes a simulation of the same network, traffic, observer, number of
    /// [threads](EngineState::threads) and [interruption](Self::interrupted). From then on this
    /// simulation continues the other one. Returns false if it was a different one; then this
    /// simulation can no longer be used.
    pub fn resume(&mut self, state: EngineState<O>) -> bool {
        if state.threads() != with_parts!(&self.parts, parts => parts.len())
            || state.progress.is_some() != self.interruption.is_some()
        {
            return false;
        }
        self.clock = state.clock;
        self.statistics_since = state.statistics_since;
        self.effects = state.effects;
        *self.observer() = state.observer;
        let fits = match (&mut self.parts, state.parts) {
            (ByRouters::Packet(parts), ByRouters::Packet(saved)) => restore(parts, saved),
            (ByRouters::Cioq(parts), ByRouters::Cioq(saved)) => restore(parts, saved),
            (ByRouters::Flit(parts), ByRouters::Flit(saved)) => restore(parts, saved),
            // Of other routers. A kind that is forgotten above is told by the compiler here.
            (ByRouters::Packet(_) | ByRouters::Cioq(_) | ByRouters::Flit(_), _) => false,
        };
        if let (Some((interruption, _)), Some(saved)) = (self.interruption, state.progress) {
            self.catch_up_with(interruption, saved);
        }
        fits
    }
}

/// Takes over the saved states of all parts. Returns false if they belong to another network.
fn restore<R: Routers, O>(parts: &mut [ObservedPart<Part<'_, R>, O>], saved: States<R>) -> bool {
    parts.iter_mut().zip(saved).all(|(it, saved)| {
        let Part { common, hosts, routers, .. } = &mut it.part;
        (common.schedule, common.packets, common.statistics) =
            (saved.schedule, saved.packets, saved.statistics);
        (common.digest, common.counters, common.latest, common.published) =
            (saved.digest, saved.counters, saved.latest, saved.published);
        (hosts.sources, hosts.sink) = (saved.sources, saved.sink);
        routers.restore(saved.routers) && hosts.workload.resume(&saved.traffic)
    })
}
