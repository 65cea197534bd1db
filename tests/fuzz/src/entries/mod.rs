//! A function for each target: what the program does with the input, and what must hold of the
//! outcome.
//!
//! Input that is wrong must be refused with a message. A panic is a finding, and so is an input
//! that takes long or much memory. What is accepted is written and read again where flitlab has a
//! writer, and must be the same.

mod draw;
mod engines;
mod files;
mod forwarding;
mod gate;
mod goal;
mod netlist;
mod results;
mod routes;
mod scenario;
mod traces;

pub use engines::engines;
pub use forwarding::{lfts, paths, sl2vl};
pub use goal::goal;
pub use netlist::netlist;
pub use results::{points, stored};
pub use routes::routes;
pub use scenario::{matrix, scenario, set};
pub use traces::traces;

/// A target's body.
pub type Entry = fn(&[u8]);

/// Every target by its name, which is that of its corpus.
pub const ENTRIES: [(&str, Entry); 13] = [
    ("scenario", scenario),
    ("set", set),
    ("netlist", netlist),
    ("lfts", lfts),
    ("sl2vl", sl2vl),
    ("paths", paths),
    ("routes", routes),
    ("matrix", matrix),
    ("points", points),
    ("stored", stored),
    ("goal", goal),
    ("traces", traces),
    ("engines", engines),
];

/// The input as text; flitlab refuses files that are none before it looks into them.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
