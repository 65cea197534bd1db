//! Traffic: which terminal sends which message to which other one, and when.

#![warn(missing_docs)]

mod allocation;
mod application;
mod csv_file;
mod exchange;
mod flows;
mod interval;
mod load;
mod logarithm;
mod pattern;
mod process;
mod remote_memory;
mod several;
mod share;
mod silent;
mod sizes;
mod spec;
mod until;

pub use allocation::{Allocation, AllocationError, Free};
pub use application::{
    AdapterTimes, Answer, Application, ApplicationSpec, Carrier, HostParameters, Job, JobKind, Leg,
    LegKind, Outcome, Placement, PlacementError, Records, RemoteRead, RoomWait, Transfer,
};
pub use exchange::Exchange;
pub use flitlab_application::RemoteOperation;
pub use flitlab_model::workload::{
    CloneWorkload, CollectiveKind, CollectiveSpec, Collectives, Created, HostOverheads,
    MAX_WORKLOADS, Message, MessageKind, Needs, Receipt, Script, Wake, Workload, restored, saved,
};
pub use flows::{Flow, Flows, FlowsSpec};
pub use interval::Interval;
pub use load::{LoadError, LoadRates, OpenLoad};
pub use pattern::{
    Bind, Live, Nodes, PATTERNS, Partners, Pattern, PatternError, PatternKind, PatternRule,
    PatternSpec, WorstCase,
};
pub use process::Arrivals;
pub use remote_memory::{RemoteMemory, RemoteMemorySpec, message_kind};
pub use several::Several;
pub use silent::Silent;
pub use sizes::MessageSizes;
pub use spec::{Access, Between, ExchangeSpec, LoadSpec, OfferedLoad, Process};
pub use until::Until;
