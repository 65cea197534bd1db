//! An application under way: its ranks on terminals, what they do, and what they wait for
//! (docs/model.md, "Applications").
//!
//! Of the engine a host learns two things, that a message or the answer to a one-sided operation has
//! come and that a message of its own has left; all else happens at a terminal by itself. So its events are in a queue of its own,
//! whatever is simulated elsewhere, and what it does depends on nothing but what comes.
//!
//! | module | what it is for |
//! |---|---|
//! | `event` | what happens at a terminal, in the order of time |
//! | `host` | what ranks do; eager and rendezvous messages |
//! | `order` | messages of a pair of ranks in the order in which they were sent |
//! | `placement` | which node each rank is on |
//! | `record` | when everything was done, for explanations |
//! | `spec` | how hosts work, as a user says it |
//! | `stream` | the streams of all ranks and what they have to do |

mod event;
mod host;
mod order;
mod placement;
mod record;
mod spec;
mod stream;

pub use host::{Application, Outcome};
pub use placement::{Placement, PlacementError};
pub use record::{Job, JobKind, Leg, LegKind, Records, RoomWait};
pub use spec::{
    AdapterTimes, Answer, ApplicationSpec, Carrier, HostParameters, RemoteRead, Transfer,
};
