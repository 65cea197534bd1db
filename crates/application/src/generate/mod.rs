//! Schedules made in: collective operations, the communication of the NAS Parallel Benchmarks, and
//! motifs.
//!
//! A generator is a row of [`GENERATORS`]; [`make`] finds it by its name. All take [`Parameters`],
//! and refuse those that mean nothing to them. Each writes one rank's [`program`] after the other,
//! as an MPI program would call it.

pub mod collective;
pub mod communicator;
mod motif;
pub mod npb;
pub mod program;
mod transformer;

#[cfg(test)]
mod executor;
#[cfg(test)]
mod tests;

use collective::{COLLECTIVES, Call, Collective, HIERARCHICAL, one_level};
use communicator::Communicator;
use program::Program;

use super::Schedule;
use flitlab_base::document::{Reader, nearest};
use flitlab_base::registry::{Component, Row};

/// The most bytes of a message that can be asked for: a tebibyte.
const MAX_BYTES: u64 = 1 << 40;

/// The most ranks.
const MAX_RANKS: u32 = 1 << 27;

/// The most channels of a collective operation.
pub const MAX_CHANNELS: u32 = 64;

/// The parameters of a schedule. A missing one has a default, or is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// The number of ranks, from 1 to 2^27; it has to be given.
    pub ranks: Option<u32>,
    /// Of a collective operation: an algorithm of it, or a library that chooses one (`mpich-3`). In
    /// an application, the library that chooses for the collective operations in it; there
    /// `mpich-3` is the default.
    pub algorithm: Option<String>,
    /// Of a collective operation, as [`collective`] says.
    pub bytes: Option<u64>,
    /// The rank that a broadcast comes from, or to which is reduced; 0 unless given.
    pub root: Option<u32>,
    /// The most bytes that algorithms in segments send at once.
    pub segment: Option<u64>,
    /// Parts that the bytes are divided into, each of which is dealt with beside the others, as
    /// NCCL's channels; 1 unless given.
    pub channels: Option<u32>,
    /// How many ranks that follow each other share a node, for algorithms that tell nodes apart; 1
    /// unless given.
    pub ranks_per_node: Option<u32>,
    /// How long it takes to combine two bytes into one, in nanoseconds; nothing unless given.
    pub combine_ns_per_byte: Option<f64>,
    /// One of the NAS Parallel Benchmarks.
    pub benchmark: Option<String>,
    /// Its class: S, W, A, B, C or D.
    pub class: Option<String>,
    /// How often the operation or the benchmark's time step is done, in place of once or as often
    /// as the class says.
    pub iterations: Option<u32>,
    /// Operations that a rank computes a second. Without it, computing takes no time.
    pub flops_per_second: Option<f64>,
    /// Of a motif: grid points of a rank (of all ranks for fft3d), by dimension.
    pub points: Option<Vec<u32>>,
    /// Of a motif: ranks by dimension; as near to equal as possible unless given.
    pub grid: Option<Vec<u32>>,
    /// Of a motif: numbers of 8 B that a grid point has.
    pub fields: Option<u32>,
    /// Of sweep3d: planes that are computed and sent together.
    pub block: Option<u32>,
    /// How long each computation of a motif takes, in nanoseconds, whatever there is to compute.
    pub compute_ns: Option<f64>,
    /// How long it takes to enter a call of the library that communicates, and to leave it, in
    /// nanoseconds; nothing unless given.
    pub call_ns: Option<f64>,
    /// Whether three calls precede the program, and a barrier along a binary tree follows it: what
    /// Ember's motifs `Init` and `Fini` do. Not so unless given.
    pub fini: Option<bool>,
}

impl Parameters {
    /// The names of those that are given, but for ranks, of a node too, and iterations, which all
    /// generators take.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            ("algorithm", self.algorithm.is_some()),
            ("bytes", self.bytes.is_some()),
            ("root", self.root.is_some()),
            ("segment", self.segment.is_some()),
            ("channels", self.channels.is_some()),
            ("combine_ns_per_byte", self.combine_ns_per_byte.is_some()),
            ("benchmark", self.benchmark.is_some()),
            ("class", self.class.is_some()),
            ("flops_per_second", self.flops_per_second.is_some()),
            ("points", self.points.is_some()),
            ("grid", self.grid.is_some()),
            ("fields", self.fields.is_some()),
            ("block", self.block.is_some()),
            ("compute_ns", self.compute_ns.is_some()),
            ("call_ns", self.call_ns.is_some()),
            ("fini", self.fini.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
    }

    /// How many ranks there are.
    fn ranks(&self) -> Result<u32, String> {
        match self.ranks {
            None => Err("the number of ranks is not given".into()),
            Some(0) => Err("a schedule has at least one rank".into()),
            Some(ranks) if ranks > MAX_RANKS => {
                Err(format!("{ranks} ranks are too many: {MAX_RANKS} at the most"))
            }
            Some(ranks) => Ok(ranks),
        }
    }

    /// How often something is done that is done `default` times unless given.
    fn iterations(&self, default: u32) -> Result<u32, String> {
        match self.iterations {
            Some(0) => Err("iterations have to be 1 or more".into()),
            given => Ok(given.unwrap_or(default)),
        }
    }

    /// Nanoseconds that computing so many operations takes.
    fn nanoseconds(&self, operations: f64) -> f64 {
        self.flops_per_second.map_or(0.0, |rate| operations / rate * 1e9)
    }

    /// Nanoseconds of a computation: as given, or what so many operations take.
    fn computation(&self, operations: f64) -> f64 {
        self.compute_ns.unwrap_or_else(|| self.nanoseconds(operations))
    }

    /// The schedule of all ranks, each of which does what `rank` adds to its program.
    fn of_ranks(&self, mut rank: impl FnMut(&mut Program, u32)) -> Result<Schedule, String> {
        let ranks = self.ranks()?;
        let whole = self.fini.unwrap_or(false);
        let barrier = collective::named("barrier").expect("it is one of them");
        let barrier = barrier.algorithm("binary", ranks, 1).expect("it is one of them");
        program::of_calls(ranks, self.call_ns.unwrap_or(0.0), |program, number| {
            if whole {
                // Init, Rank and Size.
                (0..3).for_each(|_| program.call(|_| ()));
            }
            rank(program, number);
            if whole {
                barrier.run(program, &mut Communicator::finale(ranks, number), &Call::of(1));
            }
        })
    }

    fn check(&self, generator: &Row<Generator>) -> Result<(), String> {
        if let Some(other) = self.given().find(|name| !generator.takes().contains(name)) {
            let takes = generator.takes().join(", ");
            let name = generator.name;
            return Err(format!("{name} has no {other}: it takes ranks, iterations, {takes}"));
        }
        let positive = |what: &str, value: Option<f64>| match value {
            Some(value) if !(value > 0.0 && value.is_finite()) => {
                Err(format!("{what} has to be above zero"))
            }
            _ => Ok(()),
        };
        positive("flops_per_second", self.flops_per_second)?;
        let not_negative = |what: &str, value: Option<f64>| match value {
            Some(value) if !(value >= 0.0 && value.is_finite()) => {
                Err(format!("{what} can't be below zero"))
            }
            _ => Ok(()),
        };
        not_negative("compute_ns", self.compute_ns)?;
        not_negative("call_ns", self.call_ns)?;
        positive("combine_ns_per_byte", self.combine_ns_per_byte)
    }
}

/// Something that makes schedules. Its description is a sentence without its begin, such as "the
/// bytes of each rank to all ranks."
#[derive(Clone, Copy)]
pub enum Generator {
    /// It is made of [`Parameters`], and so known to the command line too.
    Of {
        /// The parameters that it takes besides ranks and iterations.
        takes: &'static [&'static str],
        /// Makes the schedule. The text is the generator's name.
        make: fn(&str, &Parameters) -> Result<Schedule, String>,
    },
    /// It reads keys of its own.
    Reads(fn(&mut Reader<'_>) -> Option<Make>),
}

/// Makes a schedule of keys that were read for so many ranks of a node, or says why there is none.
pub type Make = Box<dyn FnOnce(u32) -> Result<Schedule, String>>;

impl Component for Generator {
    const NOUN: &'static str = "schedule";

    fn built_in() -> &'static [Row<Self>] {
        &GENERATORS
    }
}

impl Generator {
    /// The parameters that it takes besides ranks and iterations.
    pub const fn takes(&self) -> &'static [&'static str] {
        match self {
            Self::Of { takes, .. } => takes,
            Self::Reads(_) => &[],
        }
    }
}

const REDUCED: &[&str] = &[
    "algorithm",
    "bytes",
    "root",
    "segment",
    "combine_ns_per_byte",
    "compute_ns",
    "call_ns",
    "fini",
];
const ALL_REDUCED: &[&str] = &[
    "algorithm",
    "bytes",
    "segment",
    "channels",
    "combine_ns_per_byte",
    "compute_ns",
    "call_ns",
    "fini",
];
const REDUCE_SCATTERED: &[&str] =
    &["algorithm", "bytes", "segment", "channels", "combine_ns_per_byte"];
const ALL_GATHERED: &[&str] = &["algorithm", "bytes", "segment", "channels"];
const MESSAGES: &[&str] = &["bytes", "compute_ns", "call_ns", "fini"];
const HALO: &[&str] =
    &["points", "grid", "fields", "algorithm", "flops_per_second", "compute_ns", "call_ns", "fini"];
const MOVING: &[&str] = &["algorithm", "bytes"];

const fn collective(
    name: &'static str,
    doc: &'static str,
    takes: &'static [&'static str],
) -> Row<Generator> {
    Row::new(name, doc, Generator::Of { takes, make: make_collective })
}

/// Everything that makes schedules.
pub static GENERATORS: [Row<Generator>; 19] = [
    collective(
        "broadcast",
        "the root's bytes to all ranks.",
        &["algorithm", "bytes", "root", "segment"],
    ),
    collective("reduce", "the bytes of all ranks, combined, to the root.", REDUCED),
    collective("all-reduce", "the bytes of all ranks, combined, to all ranks.", ALL_REDUCED),
    collective("all-gather", "the bytes of each rank to all ranks.", ALL_GATHERED),
    collective(
        "reduce-scatter",
        "the bytes of all ranks, combined, a part of them to each.",
        REDUCE_SCATTERED,
    ),
    collective("all-to-all", "other bytes of each rank to each other rank.", MOVING),
    collective("gather", "the bytes of each rank to the root.", &["algorithm", "bytes", "root"]),
    collective("scatter", "other bytes of the root to each rank.", &["algorithm", "bytes", "root"]),
    collective(
        "barrier",
        "no rank goes on before all have come.",
        &["algorithm", "bytes", "compute_ns", "call_ns", "fini"],
    ),
    Row::new(
        "npb",
        "a NAS Parallel Benchmark (LU, MG, CG, FT, IS) of a class.",
        Generator::Of {
            takes: &["benchmark", "class", "algorithm", "flops_per_second"],
            make: |_, parameters| npb::make(parameters),
        },
    ),
    Row::new(
        "halo3d",
        "neighbours in three dimensions exchange faces, then all-reduce 8 B (Ember).",
        Generator::Of { takes: HALO, make: |_, parameters| motif::halo3d(parameters) },
    ),
    Row::new(
        "halo3d-26",
        "neighbours exchange faces, edges and corners at once, then all-reduce 8 B (Ember).",
        Generator::Of { takes: HALO, make: |_, parameters| motif::halo3d26(parameters) },
    ),
    Row::new(
        "sweep3d",
        "wavefronts through a grid in two dimensions, from all corners (Ember).",
        Generator::Of {
            takes: &[
                "points",
                "grid",
                "fields",
                "block",
                "flops_per_second",
                "compute_ns",
                "call_ns",
                "fini",
            ],
            make: |_, parameters| motif::sweep3d(parameters),
        },
    ),
    Row::new(
        "fft3d",
        "transforms of a cube that is cut into pencils, there and back (Ember).",
        Generator::Of {
            takes: &["points", "grid", "algorithm", "flops_per_second", "call_ns", "fini"],
            make: |_, parameters| motif::fft3d(parameters),
        },
    ),
    Row::new(
        "ping-pong",
        "a message from rank 0 to rank 1 and back (Ember).",
        Generator::Of { takes: MESSAGES, make: |_, parameters| motif::ping_pong(parameters) },
    ),
    Row::new(
        "all-ping-pong",
        "compute, then a message to the rank half of all away and back (Ember).",
        Generator::Of { takes: MESSAGES, make: |_, parameters| motif::all_ping_pong(parameters) },
    ),
    Row::new(
        "ring",
        "a message from rank to rank and back to the first (Ember).",
        Generator::Of { takes: MESSAGES, make: |_, parameters| motif::ring(parameters) },
    ),
    transformer::TRAINING,
    transformer::INFERENCE,
];

/// Makes the schedule of a generator. Equal parameters make equal schedules.
///
/// # Errors
/// If there is no such generator, in words that offer the nearest; if parameters are missing,
/// wrong, or mean nothing to it; if there is no room for so many operations.
pub fn make(name: &str, parameters: &Parameters) -> Result<Schedule, String> {
    match Generator::named(name) {
        Some(row) => make_by(row, parameters),
        None => Err(unknown("schedule", name, GENERATORS.iter().map(|generator| generator.name))),
    }
}

/// Makes the schedule of a generator, built in or not.
///
/// # Errors
/// As [`make`], and if the generator [reads](Generator::Reads) keys of its own, which scenarios have.
pub fn make_by(row: &Row<Generator>, parameters: &Parameters) -> Result<Schedule, String> {
    match row.component {
        Generator::Of { make, .. } => {
            parameters.check(row)?;
            make(row.name, parameters)
        }
        Generator::Reads(_) => Err(format!(
            "{name} has keys of its own: write `schedule = {{ {name} = {{ ... }} }}` in [application] of a scenario",
            name = row.name
        )),
    }
}

/// Says that there is nothing of a name, and what is most like it, or all there is.
fn unknown<'n>(what: &str, name: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    match nearest(name, names.clone()) {
        Some(near) => format!("there is no {what} `{name}`: did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = names.collect();
            format!("there is no {what} `{name}`: it is one of {}", names.join(", "))
        }
    }
}

fn make_collective(name: &str, parameters: &Parameters) -> Result<Schedule, String> {
    let collective = collective::named(name).expect("each row is one");
    let ranks = parameters.ranks()?;
    let bytes = match (parameters.bytes, collective.name) {
        (Some(0), _) => return Err("bytes have to be 1 or more".into()),
        (Some(bytes), _) if bytes > MAX_BYTES => return Err("bytes are 1 TiB at the most".into()),
        (Some(bytes), _) => bytes,
        (None, "barrier") => 1,
        (None, name) => return Err(format!("{name} needs bytes")),
    };
    let root = parameters.root.unwrap_or(0);
    if root >= ranks {
        return Err(format!("there is no rank {root} that could be the root: 0 to {}", ranks - 1));
    }
    if parameters.segment == Some(0) {
        return Err("a segment has at least one byte".into());
    }
    let channels = parameters.channels.unwrap_or(1);
    if !(1..=MAX_CHANNELS).contains(&channels) {
        return Err(format!("there are 1 to {MAX_CHANNELS} channels, and not {channels}"));
    }
    let per_node = parameters.ranks_per_node.unwrap_or(1);
    if per_node == 0 {
        return Err("a node has at least one rank".into());
    }
    let algorithm = algorithm_of(collective, parameters.algorithm.as_deref(), ranks, bytes)?;
    let nodes = Communicator::world(ranks, 0).in_nodes_of(per_node).levels();
    if algorithm.name == HIERARCHICAL && nodes.is_none() {
        return Err(one_level(per_node, &format!("{ranks} ranks have")));
    }
    let call = Call {
        bytes,
        root,
        segment: parameters.segment,
        channels,
        combine_ns_per_byte: parameters.combine_ns_per_byte.unwrap_or(0.0),
    };
    let iterations = parameters.iterations(1)?;
    let time = parameters.compute_ns.unwrap_or(0.0);
    parameters.of_ranks(|program, rank| {
        let mut world = Communicator::world(ranks, rank).in_nodes_of(per_node);
        for _ in 0..iterations {
            if !program.goes_on() {
                break;
            }
            program.compute(time);
            program.in_phase(collective.name, |program| algorithm.run(program, &mut world, &call));
        }
    })
}

fn algorithm_of(
    collective: &'static Collective,
    name: Option<&str>,
    ranks: u32,
    bytes: u64,
) -> Result<&'static collective::Algorithm, String> {
    let name = name.unwrap_or(collective.algorithms[0].name);
    collective.algorithm(name, ranks, bytes).ok_or_else(|| {
        let names: Vec<&str> = collective.names().collect();
        unknown(&format!("algorithm of {}", collective.name), name, names.iter().copied())
    })
}

/// The library whose algorithms an application uses.
fn library(parameters: &Parameters) -> Result<Library, String> {
    Library::named(parameters.algorithm.as_deref())
}

/// Calls collective operations as a library does.
#[derive(Clone, Copy, Debug)]
pub struct Library(&'static str);

impl Library {
    /// The library of this name; `mpich-3` without one.
    pub fn named(name: Option<&str>) -> Result<Self, String> {
        let name = name.unwrap_or("mpich-3");
        match collective::LIBRARIES.iter().find(|library| library.0 == name) {
            Some(&(name, _)) => Ok(Self(name)),
            None => Err(unknown(
                "library of algorithms",
                name,
                collective::LIBRARIES.iter().map(|it| it.0),
            )),
        }
    }

    fn call(
        self,
        collective: &str,
        program: &mut Program,
        members: &mut Communicator<'_>,
        bytes: u64,
    ) {
        self.run(collective, program, members, &Call::of(bytes));
    }

    /// Adds what one member does in a collective operation to its program.
    pub fn run(
        self,
        collective: &str,
        program: &mut Program,
        members: &mut Communicator<'_>,
        call: &Call,
    ) {
        let collective = collective::named(collective).expect("it is one of them");
        let algorithm = collective.algorithm(self.0, members.size, call.bytes);
        let algorithm = algorithm.expect("rules name algorithms");
        program.in_phase(collective.name, |program| algorithm.run(program, members, call));
    }

    /// Adds what one member does in an all-to-all-v; `bytes` says how many go from place to place.
    /// Open MPI takes the pairwise algorithm for some numbers of ranks; MPICH always posts
    /// everything at once.
    pub fn all_to_all_v(
        self,
        program: &mut Program,
        members: &mut Communicator<'_>,
        bytes: &dyn Fn(u32, u32) -> u64,
    ) {
        let pairwise = matches!(members.size, 0..4 | 64..128 | 256..1024);
        let pairwise = self.0 == "open-mpi-4.1" && pairwise;
        let run = match pairwise {
            true => collective::all_to_all_v_pairwise,
            false => collective::all_to_all_v_linear,
        };
        program.in_phase("all-to-all-v", |program| {
            program.call(|program| run(program, members, bytes));
        });
    }
}

/// All collective operations have a row.
const _: () = assert!(COLLECTIVES.len() + 10 == GENERATORS.len());
