//! Kinds of workload, one a file. The row of a kind says which table of a scenario it has, and what
//! reads that table's keys; other crates can add theirs to a registry.
//!
//! A workload goes through three forms. What was read is a [`WorkloadSpec`]. [`Bound`] to a fabric
//! it says bounds and summaries, for which nothing is simulated. That makes the [`Workload`] of an
//! engine.

mod application;
mod collective;
mod exchange;
mod flows;
mod load;
mod nodes;
mod remote_memory;
mod several;
mod slowdowns;

pub(crate) use nodes::{Allocator, SEVERAL, allocation};
pub use several::{BoundMember, Member, Share, Workloads};
pub(crate) use several::{read, whole};
pub use slowdowns::Slowdowns;

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use crate::checks::Checks;
use crate::purpose::Purpose;
use crate::simulation::{Outcome, SetupError};
use crate::{RoutingSpec, Scenario};
use flitlab_base::document::{Diagnostic, Reader};
use flitlab_base::memory::Shortage;
use flitlab_base::registry::{Component, Registered, Registry, Row};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Engine, Parameters};
use flitlab_fabric::{Fabric, Places};
use flitlab_measure::{Collector, CompletionBound};
use flitlab_report::{PointResult, PointRow};
use flitlab_traffic::{Access, LoadRates, LoadSpec, MessageSizes, Pattern, Workload, WorstCase};

/// The table of the load that may go on beside others.
pub(crate) const LOAD_TABLE: &str = "traffic";

/// The largest message: far beyond use, and small enough for sums of 64 bits.
pub const LARGEST_MESSAGE: u64 = 1 << 40;

/// Requests are counted in 32 bits.
pub const LARGEST_REQUEST: u64 = 1 << 30;

/// A kind of workload. Its name is that of its table, `[exchange]`, and its description the
/// table's.
#[derive(Clone, Copy)]
pub struct WorkloadKind {
    /// What a scenario has it for, to be read behind the name of its table.
    pub purpose: &'static str,
    /// Whether a load of `[traffic]` may go on beside it.
    pub beside_load: bool,
    /// Reads the table's keys.
    pub read: fn(&mut Reader<'_>, &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>>,
}

impl Component for WorkloadKind {
    const NOUN: &'static str = "workload";

    /// The other keys of a scenario's top level.
    const RESERVED: &'static [&'static str] = &[
        "name",
        "title",
        "seed",
        "node_allocation",
        "topology",
        "routing",
        "router",
        "workloads",
        "link",
        "adapter",
        "measure",
        "interruption",
        "sweep",
    ];

    fn built_in() -> &'static [Row<Self>] {
        &WORKLOADS
    }
}

/// A load comes first: the others may have it beside them.
static WORKLOADS: [Row<WorkloadKind>; 6] = [
    load::TRAFFIC,
    exchange::EXCHANGE,
    application::APPLICATION,
    collective::COLLECTIVE,
    remote_memory::REMOTE_MEMORY,
    flows::FLOWS,
];

/// What is known of a scenario when the keys of its workload are read.
pub struct Given<'a> {
    /// The names of nodes, if the topology could be read.
    pub places: Option<Places<'a>>,
    /// The components that the scenario may name.
    pub registry: &'a Registry,
    /// Parameters of routers and adapters. Some keys of a workload are about these.
    pub parameters: &'a mut Parameters,
    /// The nodes among which the workload's pattern is, if not all take part. Who reads a pattern
    /// takes them.
    pub nodes: Option<Vec<u32>>,
    /// What gives nodes to workloads that say how many they take.
    pub(crate) allocator: Allocator<'a>,
    /// What finds the permutation that loads a channel most, if the routing could be read.
    pub worst_case: Option<WorstCase>,
}

/// A scenario as far as it has been read, for the rules between its keys.
pub struct Checked<'a> {
    /// Parameters of routers and adapters.
    pub parameters: &'a Parameters,
    /// The seed of everything random.
    pub seed: u64,
    /// The routing, if it could be read.
    pub routing: Option<&'a RoutingSpec>,
    /// The fabric, if it could be made.
    pub fabric: Option<&'a Fabric>,
    /// Whether the sizes of packets are right.
    pub packets: bool,
}

/// What says whether so many bytes are free.
pub type Room<'a> = dyn Fn(u64) -> Result<(), Shortage> + 'a;

/// What a scenario says of its workload.
pub trait WorkloadSpec: Any + Debug + Send + Sync {
    /// Checks the rules between its keys and those of the rest, and reports those that are broken.
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>);

    /// Binds it to the scenario's fabric, once `room` has said that so many bytes are free.
    ///
    /// # Errors
    /// If it can't be bound: [`check`](Self::check) has found that beforehand.
    fn bind(&self, scenario: &Scenario, room: &Room<'_>) -> Result<Bound, SetupError>;

    /// Calls `each` with the payload and access of every message whose packets share virtual
    /// channels with those of others. Of equal ones one call is enough.
    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access));

    /// Whether it draws random numbers, so that its results depend on the seed.
    fn draws(&self) -> bool;

    /// Whether it comes to an end. Otherwise it is measured in a steady state, and its bound form
    /// says the rates of its [load](BoundWorkload::load).
    fn is_finite(&self) -> bool {
        true
    }

    /// The load that it is, or that goes on beside it.
    fn load(&self) -> Option<&LoadSpec> {
        None
    }

    /// Returns the specification at another load, a fraction of the fabric's capacity; `None` if it
    /// has no load.
    fn at_load(&self, _fraction: f64) -> Option<Arc<dyn WorkloadSpec>> {
        None
    }

    /// Whether its messages cross the network.
    fn crosses_network(&self) -> bool {
        true
    }

    /// Whether it takes the collective subnetwork.
    fn is_collective(&self) -> bool {
        false
    }

    /// Whether it goes on where messages are lost, as nothing waits for one.
    fn bears_losses(&self) -> bool {
        false
    }

    /// Whether its terminals wait for each other at barriers.
    fn has_barriers(&self) -> bool {
        false
    }

    /// What is to be said of it before it runs, each a clause.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Whether its hosts have overheads of their own, so that adapters are to have none.
    fn has_host_overheads(&self) -> bool {
        false
    }
}

impl dyn WorkloadSpec {
    /// Whether nodes read, or send what is answered in other ways.
    pub fn reads(&self) -> bool {
        let mut reads = false;
        self.for_each_size(&mut |_, access| reads |= access != Access::Write);
        reads
    }

    /// The specification itself, if it is of this kind.
    pub fn downcast_ref<S: WorkloadSpec>(&self) -> Option<&S> {
        let spec: &dyn Any = self;
        spec.downcast_ref()
    }
}

/// A workload bound to its fabric, before anything has been sent.
#[derive(Debug)]
pub struct Bound {
    /// The pattern of sources and destinations.
    pub pattern: Pattern,
    /// The bytes of messages, and how they are sent.
    pub message: (MessageSizes, Access),
    /// All that differs from kind to kind.
    pub workload: Box<dyn BoundWorkload>,
}

/// What a simulation asks its workload that differs from kind to kind.
pub trait BoundWorkload: Debug + Send + Sync {
    /// Returns the whole workload, from its beginning.
    fn workload(&self, share: Share<'_>) -> Box<dyn Workload>;

    /// Returns the rates of the load that never ends; `None` if there is none.
    fn load(&self) -> Option<LoadRates> {
        None
    }

    /// Returns the earliest completion time that the capacity of channels allows; `None` for a
    /// load, and where too many messages would have to be looked at.
    fn completion_bound(&self, _share: Share<'_>) -> Option<CompletionBound> {
        None
    }

    /// Why it took much longer than its bound, as far as that follows from its rules.
    fn why_over_bound(
        &self,
        _share: Share<'_>,
        _bound: &CompletionBound,
        _completion: Picoseconds,
    ) -> Option<String> {
        None
    }

    /// Why it will not come to its end, in sentences, as far as that can be told without
    /// simulating times.
    fn hangs(&self) -> Option<String> {
        None
    }

    /// What `flitlab check` prints.
    fn facts(&self, _share: Share<'_>) -> Facts {
        Facts::default()
    }

    /// Returns the outcome of what needs no network; `None` if it does need one.
    fn without_network(&self, _row: &PointRow) -> Option<Outcome> {
        None
    }

    /// Bytes that telling what it did takes when it has ended, about.
    fn memory_afterwards(&self) -> u64 {
        0
    }

    /// When it begins by its own keys.
    fn begins(&self) -> Picoseconds {
        Picoseconds::ZERO
    }

    /// Adds to the result of a simulation in which nothing is left to happen.
    ///
    /// # Errors
    /// Why it hangs, if it did not come to its end.
    fn finish(&self, _ended: &Ended<'_, '_>, _result: &mut PointResult) -> Result<(), Hangs> {
        Ok(())
    }
}

/// A workload of which nothing is left to happen.
#[derive(Clone, Copy)]
pub struct Ended<'a, 'f> {
    /// The workload and the network.
    pub share: Share<'a>,
    /// The engine that has simulated it.
    pub engine: &'a Engine<'f, Collector>,
    /// Time from its start until its last message had been received.
    pub completion: Picoseconds,
    /// Messages that were received.
    pub messages: u64,
}

/// Why a workload hangs.
#[derive(Clone, Debug)]
pub struct Hangs {
    /// When the last thing happened.
    pub time: Picoseconds,
    /// The reason, in sentences.
    pub warning: String,
}

/// What `flitlab check` prints of a workload.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Names and values.
    pub lines: Vec<(&'static str, String)>,
    /// Why no completion bound is computed where there is none; `None` if it never has one.
    pub without_bound: Option<&'static str>,
    /// Why nodes are silent that send nothing; `None` if the lines say it.
    pub silent: Option<&'static str>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            without_bound: Some("too many messages to look at"),
            silent: Some("their partner is themselves or has failed"),
        }
    }
}

/// The kinds whose tables the present table has.
fn present_kinds(reader: &Reader<'_>, kinds: &[Registered<WorkloadKind>]) -> Vec<&'static str> {
    kinds.iter().map(|kind| kind.name).filter(|name| reader.has(name)).collect()
}

/// Reads the table of a kind.
fn read_kind(
    reader: &mut Reader<'_>,
    given: &mut Given<'_>,
    kind: &Registered<WorkloadKind>,
) -> Option<Arc<dyn WorkloadSpec>> {
    if let Some(package) = kind.package.filter(|_| !reader.is_documenting()) {
        let path = reader.path(kind.name);
        reader.packages.push((path, package));
    }
    reader.table(kind.name, kind.doc, |reader| (kind.read)(reader, given))
}

/// Reads the table of the workload that a scenario has, with its kind; behind one that a load may go
/// on beside, the load. None is missed where there are several.
fn read_one(
    reader: &mut Reader<'_>,
    given: &mut Given<'_>,
    kinds: &[Registered<WorkloadKind>],
    purpose: Purpose,
    has_several: bool,
) -> Vec<(&'static str, Arc<dyn WorkloadSpec>)> {
    let present = present_kinds(reader, kinds);
    let beside = |name: &str| kinds.iter().any(|kind| kind.name == name && kind.beside_load);
    let goes_together = match present[..] {
        [_] => true,
        [load, other] => load == LOAD_TABLE && beside(other),
        _ => false,
    };
    let tables = |names: &[&str], with: &str| {
        let names: Vec<String> = names.iter().map(|name| format!("[{name}]")).collect();
        names.join(with)
    };
    match present.last().map(|last| reader.place(last)) {
        Some(Some(place)) if !goes_together && !has_several => {
            let message = format!("a scenario has one workload, not {}", tables(&present, " and "));
            reader.problems.push(Diagnostic::new(&place, message).help(
                "keep one; or give each a table of [workloads], such as [workloads.first.traffic], and they run at once",
            ));
        }
        None if !reader.is_documenting() && purpose != Purpose::Routes && !has_several => {
            let misspelt = kinds.iter().any(|kind| reader.has_misspelt(kind.name));
            if let (false, Some(place)) = (misspelt, reader.scope.place.clone()) {
                let all: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
                let purposes = kinds.iter().map(|kind| format!("[{}] {}", kind.name, kind.purpose));
                let mut purposes: Vec<String> = purposes.collect();
                if let Some(last) = purposes.last_mut() {
                    *last = format!("or {last}");
                }
                let message = format!("the scenario has neither {}", tables(&all, " nor "));
                let help = format!("add {}", purposes.join("; "));
                reader.problems.push(Diagnostic::new(&place, message).help(help));
            }
        }
        _ => {}
    }
    let mut found = Vec::new();
    for kind in kinds {
        if !reader.is_documenting() && !reader.has(kind.name) {
            reader.ignore(kind.name);
        } else if let Some(spec) = read_kind(reader, given, kind) {
            found.push((kind.name, spec));
        }
    }
    if !goes_together {
        found.truncate(1);
    }
    // Messages of one instant are created in this order.
    found.reverse();
    found
}
