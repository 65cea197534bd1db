//! The calls of an MPI program's ranks, as traces have them, made into operations.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Content, Options};
use crate::complaints::of_file;
use flitlab_application::ANY;
use flitlab_application::generate::Library;
use flitlab_application::generate::collective::{self, Call, LIBRARIES};
use flitlab_application::generate::communicator::Communicator;
use flitlab_application::generate::program::{Program, Request};
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;

/// The most bytes of a message or a part: a tebibyte.
pub(super) const MAX_BYTES: u64 = 1 << 40;

/// Tags from here on are numbered anew, since those of collective operations lie above.
const LARGE_TAG: u32 = 1 << 23;

/// The programs of all ranks, one after the other.
pub(super) struct Calls {
    pub program: Program,
    /// All ranks, seen by the one whose program is made.
    pub world: Communicator<'static>,
    library: Library,
    counted: BTreeMap<&'static str, u64>,
    /// Collective operations of a trace of one rank.
    alone: u64,
    /// What is to be said of the trace.
    pub notes: Vec<String>,
    /// Large tags, by the numbers that stand for them.
    tags: BTreeMap<u32, u32>,
    flops_per_second: Option<f64>,
}

/// What is to be said of collective operations of a trace that has one rank.
pub(super) fn alone(operations: u64) -> Option<String> {
    (operations > 0).then(|| {
        format!(
            "collective operations of all ranks where there is but one: {operations}; they send nothing. If the program had \
             more ranks, put the files of all into one folder, with names that differ in their last number, from 0 on"
        )
    })
}

/// What is to be said of so many requests that are never waited for.
pub(super) fn left(requests: usize) -> String {
    format!(
        "requests that were begun and never waited for: {requests}; nothing waits for their messages"
    )
}

/// Operations are to be computed, and how fast is not known.
pub(super) struct NoSpeed;

impl Calls {
    /// At the begin of rank 0. Collective operations are those of the library that `algorithm`
    /// names.
    pub(super) fn new(ranks: u32, options: &Options) -> Result<Self, Diagnostics> {
        let library = Library::named(options.algorithm.as_deref());
        let library = library.map_err(|message| {
            let names = LIBRARIES.map(|library| format!("`{}`", library.0)).join(" or ");
            let help = format!("`algorithm` names the library that the program used: {names}");
            of_file(Diagnostic::unplaced(message).help(help))
        })?;
        Ok(Self {
            program: Program::new(),
            world: Communicator::world(ranks, 0),
            library,
            counted: BTreeMap::new(),
            alone: 0,
            notes: Vec::new(),
            tags: BTreeMap::new(),
            flops_per_second: options.flops_per_second,
        })
    }

    /// How many ranks there are, or how many members the communicator has that took their place.
    pub(super) fn ranks(&self) -> u32 {
        self.world.size
    }

    /// The rank whose program is made, or its place in that communicator.
    pub(super) fn rank(&self) -> u32 {
        self.world.place()
    }

    /// Lets a communicator take the place of that of all ranks, or give it back.
    pub(super) const fn swap(&mut self, communicator: &mut Communicator<'static>) {
        std::mem::swap(&mut self.world, communicator);
    }

    /// Ends a rank's program and begins the next one's. False if there is no room for more.
    pub(super) fn next_rank(&mut self) -> bool {
        self.world = Communicator::world(self.ranks(), self.rank() + 1);
        self.program.next_rank()
    }

    /// Notes a collective operation of the one rank of which there is a file.
    const fn count_alone(&mut self) {
        if self.world.size == 1 {
            self.alone += 1;
        }
    }

    /// Notes a call for the count.
    pub(super) fn count(&mut self, name: &'static str) {
        *self.counted.entry(name).or_default() += 1;
    }

    /// The schedule of all ranks; `path` is where it was read from.
    pub(super) fn finish(self, path: &Path) -> Result<Content, Diagnostics> {
        let alone = alone(self.alone);
        let schedule = self.program.finish().map_err(|message| {
            let problem = Diagnostic::unplaced(format!("{}: {message}", path.display()));
            of_file(problem.help("docs/schedules.md says what a schedule can have"))
        })?;
        let calls = self.counted.into_iter().collect();
        let notes = alone.into_iter().chain(self.notes).collect();
        Ok(Content { calls, notes, ..Content::of(schedule) })
    }

    /// A tag as it is in the schedule.
    pub(super) fn tag(&mut self, tag: u32) -> u32 {
        if tag < LARGE_TAG || tag == ANY {
            return tag;
        }
        let next = LARGE_TAG + narrow::<u32>(self.tags.len());
        *self.tags.entry(tag).or_insert(next)
    }

    /// Makes calls that send or receive messages.
    pub(super) fn point_to_point(&mut self, calls: impl FnOnce(&mut Program)) {
        self.program.in_phase("point-to-point", calls);
    }

    /// Computes so many operations.
    pub(super) fn compute(&mut self, flops: f64) -> Result<(), NoSpeed> {
        if flops > 0.0 {
            let rate = self.flops_per_second.ok_or(NoSpeed)?;
            self.program.compute(flops / rate * 1e9);
        }
        Ok(())
    }

    /// A collective operation of all ranks. Its bytes are those that
    /// [`collective`](flitlab_application::generate::collective) says.
    pub(super) fn collective(&mut self, name: &str, bytes: u64, root: u32) {
        self.count_alone();
        let call = Call { root, ..Call::of(bytes) };
        self.library.run(name, &mut self.program, &mut self.world, &call);
    }

    /// Begins a collective operation of all ranks that does not block.
    pub(super) fn begin_collective(&mut self, name: &str, bytes: u64, root: u32) -> Request {
        self.count_alone();
        let call = Call { root, ..Call::of(bytes) };
        let (library, world) = (self.library, &mut self.world);
        self.program.begin_beside(|program| library.run(name, program, world, &call))
    }

    /// Other bytes of each rank to each other one.
    pub(super) fn all_to_all_v(&mut self, sent: &[u64], received: &[u64]) {
        self.count_alone();
        let own = self.rank();
        let bytes = |from: u32, to: u32| match from == own {
            true => sent[to as usize],
            false => received[from as usize],
        };
        self.library.all_to_all_v(&mut self.program, &mut self.world, &bytes);
    }

    /// A part of each rank, of which only the root need know all, to the root.
    pub(super) fn gather_v(&mut self, root: u32, own: u64, parts: &[u64]) {
        self.count_alone();
        let rank = self.rank();
        let bytes = |place: u32| match place == rank {
            true => own,
            false => parts[place as usize],
        };
        let world = &mut self.world;
        self.program
            .in_phase("gather-v", |program| collective::gather_v(program, world, root, &bytes));
    }

    /// A part of the root's, which alone need know all, to each rank.
    pub(super) fn scatter_v(&mut self, root: u32, own: u64, parts: &[u64]) {
        self.count_alone();
        let rank = self.rank();
        let bytes = |place: u32| match place == rank {
            true => own,
            false => parts[place as usize],
        };
        let world = &mut self.world;
        self.program
            .in_phase("scatter-v", |program| collective::scatter_v(program, world, root, &bytes));
    }

    /// A part of each rank to all ranks.
    pub(super) fn all_gather_v(&mut self, parts: &[u64]) {
        self.count_alone();
        let bytes = |place: u32| parts[place as usize];
        let world = &mut self.world;
        self.program
            .in_phase("all-gather-v", |program| collective::all_gather_v(program, world, &bytes));
    }

    /// The vectors of all ranks, combined, a part to each. Equal parts go by the library's
    /// algorithm.
    pub(super) fn reduce_scatter_v(&mut self, parts: &[u64]) {
        if parts.iter().all(|part| *part == parts[0]) {
            return self.collective("reduce-scatter", parts.iter().sum(), 0);
        }
        let bytes = |place: u32| parts[place as usize];
        let world = &mut self.world;
        self.program.in_phase("reduce-scatter-v", |program| {
            collective::reduce_scatter_v(program, world, &bytes);
        });
    }

    /// The vectors of all ranks up to each.
    pub(super) fn scan(&mut self, bytes: u64) {
        self.count_alone();
        let world = &mut self.world;
        self.program.in_phase("scan", |program| collective::scan(program, world, bytes));
    }
}
