//! Collective operations by name and algorithm, as MPI libraries compute them.
//!
//! | operation | its bytes are those of |
//! |---|---|
//! | broadcast, reduce, all-reduce | the whole vector |
//! | reduce-scatter | the whole vector, of which each rank gets a part |
//! | all-gather, gather, scatter | one rank's part |
//! | all-to-all | a pair of ranks |
//! | barrier | a message, 1 unless said otherwise |
//!
//! Receives are posted before sends. The algorithms are those of Thakur, Rabenseifner and Gropp
//! (\[mpich-collectives\]), of \[collective-communication\], and of Open MPI's `coll/base`.

mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod fold;
mod gather;
mod levels;
mod mpich;
mod open_mpi;
mod parts;
mod reduce;
mod reduce_scatter;
mod scatter;
mod tree;

#[cfg(test)]
mod tests;

pub use all_to_all::{all_to_all_v_linear, all_to_all_v_pairwise};
pub use levels::{HIERARCHICAL, one_level};
pub use parts::{all_gather_v, gather_v, reduce_scatter_v, scan, scatter_v};

use super::communicator::Communicator;
use super::program::{Blocks, Program};

/// The request for a collective operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// As the table above says.
    pub bytes: u64,
    /// The place of the root in the communicator; of no meaning without one.
    pub root: u32,
    /// The most bytes that algorithms in segments send at once.
    pub segment: Option<u64>,
    /// Parts of the bytes, each of which is dealt with by itself beside the others; 1 of an
    /// operation with a root.
    pub channels: u32,
    /// How long it takes to combine two bytes into one, in nanoseconds.
    pub combine_ns_per_byte: f64,
}

impl Call {
    /// Returns the request for so many bytes, from or to place 0, combined in no time.
    pub const fn of(bytes: u64) -> Self {
        Self { bytes, root: 0, segment: None, channels: 1, combine_ns_per_byte: 0.0 }
    }

    /// The request for so many times the bytes.
    fn times(&self, count: u32) -> Self {
        Self { bytes: self.bytes * u64::from(count), ..*self }
    }

    /// The request for one of so many parts of the bytes, rounded up.
    fn part(&self, count: u32) -> Self {
        Self { bytes: self.bytes.div_ceil(count.into()), ..*self }
    }

    /// The requests of one round after the other, in each of which so many members have a segment
    /// at the most.
    fn rounds(self, members: u32) -> impl Iterator<Item = Self> {
        let most = self.segment.unwrap_or(u64::MAX).saturating_mul(members.into());
        tree::segments(self.bytes, most).map(move |bytes| Self { bytes, ..self })
    }

    fn combine(&self, program: &mut Program, bytes: u64) {
        program.compute(bytes as f64 * self.combine_ns_per_byte);
    }
}

/// Adds a collective operation to a rank's program.
pub type Run = fn(&mut Program, &mut Communicator<'_>, &Call);

/// An algorithm of a collective operation.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// The name by which users choose it.
    pub name: &'static str,
    /// A sentence without its begin, such as "each round doubles who has it."
    pub doc: &'static str,
    run: Run,
}

impl Algorithm {
    const fn new(name: &'static str, doc: &'static str, run: Run) -> Self {
        Self { name, doc, run }
    }
}

/// A collective operation.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// The name of its generator.
    pub name: &'static str,
    /// The first one is the default.
    pub algorithms: &'static [Algorithm],
    /// Which algorithm a library takes for so many ranks and bytes.
    open_mpi: Rules,
    mpich: fn(u32, u64) -> &'static str,
}

/// For communicators smaller than the first number: for fewer bytes than the first number, an
/// algorithm.
type Rules = &'static [(u32, &'static [(u64, &'static str)])];

/// The libraries whose choice of algorithms can be named in place of an algorithm.
pub const LIBRARIES: [(&str, &str); 2] = [
    ("open-mpi-4.1", "what Open MPI 4.1 takes for so many ranks and bytes."),
    ("mpich-3", "what MPICH 3 takes for so many ranks and bytes."),
];

/// Every collective operation.
pub static COLLECTIVES: [&Collective; 9] = [
    &broadcast::BROADCAST,
    &reduce::REDUCE,
    &all_reduce::ALL_REDUCE,
    &all_gather::ALL_GATHER,
    &reduce_scatter::REDUCE_SCATTER,
    &all_to_all::ALL_TO_ALL,
    &gather::GATHER,
    &scatter::SCATTER,
    &barrier::BARRIER,
];

/// The operation with this name.
pub fn named(name: &str) -> Option<&'static Collective> {
    COLLECTIVES.iter().find(|collective| collective.name == name).copied()
}

impl Collective {
    /// The names of its algorithms and of the libraries that choose one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let algorithms = self.algorithms.iter().map(|algorithm| algorithm.name);
        algorithms.chain(LIBRARIES.map(|library| library.0))
    }

    /// The algorithm with this name, or which a library of this name takes for so many ranks and
    /// bytes.
    pub fn algorithm(&self, name: &str, ranks: u32, bytes: u64) -> Option<&'static Algorithm> {
        let name = match name {
            "open-mpi-4.1" => open_mpi::choose(self.open_mpi, ranks, bytes),
            "mpich-3" => (self.mpich)(ranks, bytes),
            name => name,
        };
        self.algorithms.iter().find(|algorithm| algorithm.name == name)
    }
}

impl Algorithm {
    /// Adds what one member does to its program. Nothing is to be done by one alone.
    pub fn run(&self, program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
        if members.size > 1 {
            members.set_root(call.root);
            program.call(|program| match call.channels {
                1 => (self.run)(program, members, call),
                _ => self.run_channels(program, members, call),
            });
            members.set_root(0);
        }
    }

    /// Each channel begins with another rank of a node, so that other ones send to other nodes.
    fn run_channels(&self, program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
        let parts = Blocks::of(call.bytes, call.channels);
        let mut ways = Vec::new();
        for channel in 0..call.channels {
            let call = Call { bytes: parts.at(channel), ..*call };
            if call.bytes > 0 {
                let mut turned = members.turned(channel);
                ways.push(program.begin_beside(|program| (self.run)(program, &mut turned, &call)));
                members.number_tags_behind(&[turned]);
            }
        }
        program.wait(&ways);
    }
}
