//! Traffic: which terminal sends which message to which other one, and when.

mod allocation;
mod application;
mod collective;
mod csv_file;
mod exchange;
mod flows;
mod interval;
mod load;
mod logarithm;
mod message;
mod pattern;
mod process;
mod remote_memory;
mod script;
mod several;
mod share;
mod silent;
mod sizes;
mod spec;
mod until;
mod workload;

pub use crate::application::RemoteOperation;
pub use allocation::{Allocation, AllocationError, Free};
pub use application::{
    AdapterTimes, Answer, Application, ApplicationSpec, Carrier, HostParameters, Job, JobKind, Leg,
    LegKind, Outcome, Placement, PlacementError, Records, RemoteRead, RoomWait, Transfer,
};
pub use collective::{CollectiveKind, CollectiveSpec, Collectives};
pub use exchange::Exchange;
pub use flows::{Flow, Flows, FlowsSpec};
pub use interval::Interval;
pub use load::{LoadError, LoadRates, OpenLoad};
pub use message::{Message, MessageKind, Receipt};
pub use pattern::{
    Bind, Live, Nodes, PATTERNS, Partners, Pattern, PatternError, PatternKind, PatternRule,
    PatternSpec, WorstCase,
};
pub use process::Arrivals;
pub use remote_memory::{RemoteMemory, RemoteMemorySpec};
pub use script::Script;
pub use several::{LARGEST_TAG, MAX_WORKLOADS, Several};
pub use silent::Silent;
pub use sizes::MessageSizes;
pub use spec::{Access, Between, ExchangeSpec, LoadSpec, OfferedLoad, Process};
pub use until::Until;
pub use workload::{CloneWorkload, Created, HostOverheads, Needs, Wake, Workload, restored, saved};
