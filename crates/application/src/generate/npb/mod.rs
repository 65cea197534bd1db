//! The communication of NAS Parallel Benchmarks, as NPB 3.3-MPI's Fortran and C do it.
//!
//! A schedule is the part that the benchmark times, without its verification. Computing takes as
//! long as the operations that the benchmark counts for its own report (Mop/s), divided evenly
//! among ranks and over the phases that its file names.

mod cg;
mod ft;
mod is;
mod lu;
mod mg;

use super::communicator::Communicator;
use super::program::{Program, of_ranks};
use super::{Library, Parameters, library, unknown};
use crate::Schedule;

/// Bytes of a double precision number.
const DOUBLE: u64 = 8;

/// A benchmark of a class for a number of ranks.
trait Benchmark {
    /// The time steps that the class has.
    fn iterations(&self) -> u32;
    /// Adds a rank's operations of the first `iterations` iterations.
    fn rank(&self, at: &mut Rank<'_>, iterations: u32);
}

/// A rank, and what it calls.
struct Rank<'p> {
    program: &'p mut Program,
    world: Communicator<'p>,
    rank: u32,
    library: Library,
    /// Nanoseconds of an operation.
    ns: f64,
}

impl Rank<'_> {
    fn compute(&mut self, operations: f64) {
        self.program.compute(operations * self.ns);
    }

    /// A collective operation of all ranks.
    fn call(&mut self, collective: &str, bytes: u64) {
        self.library.call(collective, self.program, &mut self.world, bytes);
    }
}

/// The benchmark of a class for so many ranks, or why there is none.
type Read = fn(Class, u32) -> Result<Box<dyn Benchmark>, String>;

/// A benchmark.
#[derive(Debug)]
pub struct Row {
    /// The name by which users choose it, in lower case.
    pub name: &'static str,
    /// Its communication, as a phrase with a full stop.
    pub doc: &'static str,
    read: Read,
}

/// Every benchmark.
pub static BENCHMARKS: [Row; 5] = [
    Row {
        name: "lu",
        doc: "wavefronts of small messages through planes of a cube.",
        read: lu::read,
    },
    Row { name: "mg", doc: "faces of a cube on all levels of a multigrid.", read: mg::read },
    Row { name: "cg", doc: "halves of rows of a sparse matrix, and dot products.", read: cg::read },
    Row { name: "ft", doc: "transposes of a cube, all-to-all.", read: ft::read },
    Row { name: "is", doc: "keys that are sorted, all-to-all-v.", read: is::read },
];

/// How large a benchmark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The sample size, the smallest.
    S,
    /// The size of a workstation.
    W,
    /// The smallest size of a parallel machine.
    A,
    /// The size above A.
    B,
    /// The size above B.
    C,
    /// The largest size here.
    D,
}

impl Class {
    const ALL: [(&'static str, Self); 6] = [
        ("S", Self::S),
        ("W", Self::W),
        ("A", Self::A),
        ("B", Self::B),
        ("C", Self::C),
        ("D", Self::D),
    ];

    /// Returns the value of this class, out of six values from S to D.
    const fn of<T: Copy>(self, values: [T; 6]) -> T {
        values[self as usize]
    }
}

pub(super) fn make(parameters: &Parameters) -> Result<Schedule, String> {
    let names = BENCHMARKS.iter().map(|row| row.name);
    let list = names.clone().collect::<Vec<_>>().join(", ");
    let Some(name) = &parameters.benchmark else {
        return Err(format!("npb needs a benchmark: {list}"));
    };
    let row = BENCHMARKS.iter().find(|row| row.name == name.to_lowercase());
    let row = row.ok_or_else(|| unknown("benchmark", name, names))?;
    let Some(class) = &parameters.class else {
        return Err("npb needs a class: S, W, A, B, C or D".into());
    };
    let class = Class::ALL.iter().find(|it| it.0 == class.to_uppercase()).map(|it| it.1);
    let class = class.ok_or("a class is S, W, A, B, C or D")?;
    let ranks = parameters.ranks()?;
    let benchmark = (row.read)(class, ranks)?;
    let iterations = parameters.iterations(benchmark.iterations())?;
    if iterations > benchmark.iterations() {
        let all = benchmark.iterations();
        return Err(format!("this class has {all} iterations, and {iterations} are asked for"));
    }
    let library = library(parameters)?;
    let ns = parameters.nanoseconds(1.0);
    of_ranks(ranks, |program, rank| {
        let world = Communicator::world(ranks, rank);
        benchmark.rank(&mut Rank { program, world, rank, library, ns }, iterations);
    })
}

/// How many of some things belong to a place of so many; the first ones have one more.
fn share(things: u32, places: u32, at: u32) -> u32 {
    things / places + u32::from(at < things % places)
}

/// Sees to it that a benchmark can run on so many ranks, which are no more than `most`; if not,
/// offers the nearest numbers that it can.
fn check_ranks(
    name: &str,
    ranks: u32,
    most: u32,
    allowed: impl Fn(u32) -> bool,
    what: &str,
) -> Result<(), String> {
    if ranks <= most && allowed(ranks) {
        return Ok(());
    }
    let below = (1..ranks.min(most + 1)).rev().find(|&ranks| allowed(ranks));
    let above = (ranks..=most.min(ranks.saturating_mul(4))).find(|&ranks| allowed(ranks));
    let near: Vec<String> = below.into_iter().chain(above).map(|ranks| ranks.to_string()).collect();
    Err(format!("{name} {what}, not on {ranks}; it does on {}", near.join(" and ")))
}
