//! Execution traces of Chakra \[chakra\]: a graph of computations, messages and collective
//! operations for each rank, in files `NAME.R.et`.
//!
//! Files are those of the schema 1.0.0, and of the converters before, which wrote the same messages.
//! Nodes mean what ASTRA-sim's `workload/Workload.cc` makes of them; docs/schedules.md says where
//! this differs. A rank's graph is read whole, and its nodes are brought into an order in which each
//! comes behind those that it depends on.

mod groups;
mod message;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;

use super::calls::{self, MAX_BYTES};
use super::files::Input;
use super::mpi::no_file;
use super::{Beginning, Content, Format, Options};
use crate::complaints::{of_file, shown};
use flitlab_application::generate::Library;
use flitlab_application::generate::collective::{self, Call, LIBRARIES};
use flitlab_application::generate::communicator::Communicator;
use flitlab_application::generate::program::{Blocks, End, Program};
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;
use groups::Groups;
use message::{GlobalMetadata, Messages, Node};

pub(crate) const CHAKRA: Format = Format {
    name: "chakra",
    what: "an execution trace of Chakra",
    doc: "a graph of computations, messages and collective operations, a file a rank.",
    is: is_chakra,
    takes: &["flops_per_second", "algorithm", "groups"],
    read,
};

/// Kinds of nodes.
const METADATA: i32 = 1;
const MEMORY_LOAD: i32 = 2;
const MEMORY_STORE: i32 = 3;
const COMPUTATION: i32 = 4;
const SEND: i32 = 5;
const RECEIVE: i32 = 6;
const COLLECTIVE: i32 = 7;

/// Streams: what a rank does at the same time. Nodes of the host, of its accelerator, of memory, and
/// messages.
const ACCELERATOR: u8 = 0;
const MESSAGES: u8 = 1;
const HOST: u8 = 2;
const MEMORY: u8 = 3;

/// Kinds of collective operations by their numbers, with the algorithm of each that is meant by
/// `ring` and by `halving-doubling`.
const COLLECTIVES: [(&str, &str, &str); 10] = [
    ("all-reduce", "ring", "rabenseifner"),
    ("reduce", "chain", "binomial"),
    ("all-gather", "ring", "recursive-doubling"),
    ("gather", "linear", "binomial"),
    ("scatter", "linear", "binomial"),
    ("broadcast", "chain", "binomial"),
    ("all-to-all", "linear", "pairwise-xor"),
    ("reduce-scatter", "ring", "recursive-halving"),
    ("reduce-scatter", "ring", "recursive-halving"),
    ("barrier", "dissemination", "dissemination"),
];

/// Attributes that are read, and those that say nothing of what is sent or how long it takes: they
/// are of the program that was traced and of its converters, or of ASTRA-sim's own scheduling.
const ATTRIBUTES: [&str; 38] = [
    "is_cpu_op",
    "num_ops",
    "comm_type",
    "comm_size",
    "comm_src",
    "comm_dst",
    "comm_tag",
    "pg_name",
    "comm_group",
    "involved_dim",
    "root",
    "root_rank",
    "tensor_size",
    "tensor_loc",
    "comm_priority",
    "stream",
    "rf_id",
    "fw_parent",
    "seq_id",
    "scope",
    "tid",
    "fw_tid",
    "op_schema",
    "cid",
    "kernel_backend",
    "kernel_file",
    "rf_name",
    "collective_name",
    "dtype",
    "in_msg_nelems",
    "out_msg_nelems",
    "pg_desc",
    "pg_size",
    "group_size",
    "global_rank_start",
    "global_rank_stride",
    "schema",
    "data_type",
];

/// More tags than a member of so many takes in one operation.
fn tags_of(members: u32) -> u32 {
    4 * members + 64
}

/// Whether bytes are a length and the metadata that begin Chakra's files: a version, or an attribute
/// with a name.
fn is_chakra(file: &Beginning) -> bool {
    let start = &file.bytes;
    // Up to four bytes of a length, all but the last of which have their highest bit set.
    let behind = 1 + start.iter().take(4).take_while(|it| **it >= 128).count();
    let named = |bytes: &[u8]| match bytes {
        [length, text @ ..] => text.get(..usize::from(*length)).map(<[u8]>::to_vec),
        [] => None,
    };
    let has_header = match start.get(behind..) {
        Some([0x0a, version @ ..]) => named(version).is_some_and(|version| {
            version.contains(&b'.') && version.iter().all(|it| it.is_ascii_digit() || *it == b'.')
        }),
        Some([0x12, length, 0x0a, name @ ..]) if *length < 128 => named(name).is_some_and(|name| {
            !name.is_empty() && name.iter().all(|it| it.is_ascii_alphanumeric() || *it == b'_')
        }),
        _ => false,
    };
    // It may be damaged, or of a schema that had none.
    has_header || (file.name.ends_with(".et") && !start.is_empty())
}

/// Which algorithms collective operations take.
#[derive(Clone, Copy)]
enum Algorithms {
    Ring,
    HalvingDoubling,
    Of(Library),
}

impl Algorithms {
    fn named(name: Option<&str>) -> Result<Self, String> {
        match name {
            None | Some("ring") => Ok(Self::Ring),
            Some("halving-doubling") => Ok(Self::HalvingDoubling),
            Some(name) => Library::named(Some(name)).map(Self::Of).map_err(|_| {
                let libraries = LIBRARIES.map(|it| it.0).join(", ");
                format!(
                    "there is no way `{name}` of collective operations: it is ring, halving-doubling, or a library \
                     ({libraries})"
                )
            }),
        }
    }
}

fn read(input: &Input<'_>, options: &Options) -> Result<Content, Diagnostics> {
    let wrong = |message: String, help: &str| of_file(Diagnostic::unplaced(message).help(help));
    let files = input.ranks()?;
    let ranks = narrow(files.len());
    let algorithms = Algorithms::named(options.algorithm.as_deref());
    let algorithms = algorithms.map_err(|message| {
        wrong(message, "`algorithm` says how collective operations are computed")
    })?;
    let mut trace = Trace {
        groups: Groups::new(ranks, options.groups.as_ref())?,
        program: Program::new(),
        counted: BTreeMap::new(),
        flops_per_second: options.flops_per_second,
        algorithms,
        ranks,
        alone: 0,
        unknown: BTreeMap::new(),
    };
    for (rank, file) in (0..).zip(&files) {
        trace.rank(rank, file, input)?;
        if !trace.program.next_rank() {
            break;
        }
    }
    let path = input.path().display();
    let notes = trace.notes();
    let schedule = trace.program.finish().map_err(|message| {
        wrong(format!("{path}: {message}"), "docs/schedules.md says what a schedule can have")
    })?;
    let calls = trace.counted.into_iter().collect();
    Ok(Content { calls, notes, sends_wait: false, ..Content::of(schedule) })
}

/// What a node does.
#[derive(Clone, Copy)]
enum Deed {
    Nothing,
    Compute { stream: u8, nanoseconds: f64 },
    Send { bytes: u64, to: u32, tag: u32 },
    Receive { bytes: u64, from: u32, tag: u32 },
    Collective { kind: usize, bytes: u64, root: u32, group: usize, number: u32 },
}

/// A node of the present rank.
struct Step {
    id: u64,
    deed: Deed,
    /// Its dependencies in the rank's list: the end of those of control, which begin where those of
    /// the step before end.
    control: u32,
    /// The end of all of them; behind those of control are those of data.
    dependencies: u32,
}

/// The graphs of all ranks, one after the other.
struct Trace {
    groups: Groups,
    program: Program,
    counted: BTreeMap<&'static str, u64>,
    flops_per_second: Option<f64>,
    algorithms: Algorithms,
    ranks: u32,
    /// Collective operations of a trace of one rank.
    alone: u64,
    /// Attributes that are not known, with how many nodes have them.
    unknown: BTreeMap<String, u64>,
}

/// A mistake of a node.
struct Mistake {
    message: String,
    help: String,
}

fn mistake(message: impl Into<String>, help: impl Into<String>) -> Mistake {
    Mistake { message: message.into(), help: help.into() }
}

/// A mistake of an attribute.
fn unlike(message: String) -> Mistake {
    mistake(message, "docs/schedules.md says which attributes of a node are read")
}

/// The most names of unknown attributes that are told.
const MOST_NAMES: usize = 8;

/// Whether nodes of a schema have the messages of [`message`]; of a converter that named none, they
/// have.
fn is_read(schema: &str) -> bool {
    matches!(schema, "" | "0.0.4") || schema.starts_with("1.")
}

impl Trace {
    /// What is to be said of all nodes.
    fn notes(&self) -> Vec<String> {
        let unused = self.groups.unused_file().map(|file| {
            format!("no node names a group of {file} (attributes `pg_name` and `comm_group`)")
        });
        let unreadable = (self.groups.unreadable > 0).then(|| {
            let count = self.groups.unreadable;
            format!("metadata nodes with process groups that can't be read: {count}")
        });
        let unknown = (!self.unknown.is_empty()).then(|| {
            let named = self.unknown.iter().take(MOST_NAMES);
            let named = named.map(|(name, nodes)| format!("`{name}` ({nodes})"));
            let named: Vec<String> = named.collect();
            let more = match self.unknown.len().saturating_sub(MOST_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("attributes of nodes that are not read: {}{more}", named.join(", "))
        });
        let all = [calls::alone(self.alone), unused, unreadable, unknown];
        all.into_iter().flatten().collect()
    }

    fn rank(&mut self, rank: u32, file: &Path, input: &Input<'_>) -> Result<(), Diagnostics> {
        let name = file.display();
        let mut messages = Messages::of(input.open(file)?);
        let broken = |flaw: message::Broken| {
            let problem = format!("{name}: at byte {}: {}", flaw.byte, flaw.why);
            let help =
                "a file that was cut off or changed while it was copied is to be copied again";
            of_file(Diagnostic::unplaced(problem).help(help))
        };
        let header = messages.next::<GlobalMetadata>().map_err(|flaw| {
            let problem = format!("{name}: at byte {}: {}", flaw.byte, flaw.why);
            let help = "an execution trace of Chakra begins with the version of its schema, which those before 0.0.4 don't: \
                        was the file damaged, or is it older?";
            of_file(Diagnostic::unplaced(problem).help(help))
        })?;
        let header = header.unwrap_or_default();
        let schema = header.version;
        if !is_read(&schema) {
            let problem =
                format!("{name} is of Chakra's schema {}, which is not read", shown(&schema));
            let help = "files of the schemas 0.0.4 and 1.0.0 are read: convert the trace anew by a converter of Chakra \
                        that writes one of these";
            return Err(of_file(Diagnostic::unplaced(problem).help(help)));
        }
        let mut steps = Vec::new();
        let mut dependencies: Vec<u64> = Vec::new();
        let mut numbers = HashMap::new();
        while let Some(node) = messages.next::<Node>().map_err(broken)? {
            let deed = self.deed(rank, &node, &mut numbers).map_err(|it| {
                let node = format!("node {} ({})", node.id, shown(&node.name));
                let problem = format!("{name}: {node}: {}", it.message);
                of_file(Diagnostic::unplaced(problem).help(it.help))
            })?;
            dependencies.extend(&node.control_dependencies);
            let control = narrow(dependencies.len());
            dependencies.extend(&node.data_dependencies);
            let all = narrow(dependencies.len());
            steps.push(Step { id: node.id, deed, control, dependencies: all });
        }
        let order = order(&steps, &dependencies).map_err(|it| {
            let problem = Diagnostic::unplaced(format!("{name}: {}", it.message));
            of_file(problem.help(it.help))
        })?;
        if order.cut > 0 {
            *self.counted.entry("control dependency left out").or_default() += order.cut;
        }
        let mut ends = vec![End::default(); steps.len()];
        let mut after = Vec::new();
        for place in order.places {
            let step = &steps[place as usize];
            let first = if place == 0 { 0 } else { steps[place as usize - 1].dependencies };
            let named = &order.dependencies[first as usize..step.dependencies as usize];
            after.clear();
            after.extend(named.iter().filter_map(|other| ends.get(*other as usize)));
            ends[place as usize] = self.run(rank, step.deed, &after);
            if !self.program.goes_on() {
                break;
            }
        }
        Ok(())
    }

    /// What a node does; `numbers` counts the collective operations of each group.
    fn deed(
        &mut self,
        rank: u32,
        node: &Node,
        numbers: &mut HashMap<usize, u32>,
    ) -> Result<Deed, Mistake> {
        let on_host = node.number("is_cpu_op").map_err(unlike)?.is_some_and(|it| it != 0);
        // A node of the host is time, whatever it is called: its kernel is another node.
        let kind = match node.kind {
            SEND | RECEIVE | COLLECTIVE if on_host => COMPUTATION,
            kind => kind,
        };
        let name = match kind {
            0 => "invalid",
            METADATA => "metadata",
            MEMORY_LOAD | MEMORY_STORE => "memory",
            COMPUTATION if on_host => "host computation",
            COMPUTATION => "computation",
            SEND => "send",
            RECEIVE => "receive",
            COLLECTIVE => "collective",
            other => {
                return Err(mistake(
                    format!("there is no kind {other} of nodes"),
                    "0 to 7 are known",
                ));
            }
        };
        *self.counted.entry(name).or_default() += 1;
        if !matches!(kind, 0 | METADATA) {
            for name in node.names().filter(|name| !ATTRIBUTES.contains(name)) {
                *self.unknown.entry(shown(name).into_owned()).or_default() += 1;
            }
        }
        match kind {
            METADATA => {
                let values = node.inputs.as_ref().map_or("", |inputs| &inputs.values);
                self.groups.add_of_metadata(values);
                Ok(Deed::Nothing)
            }
            MEMORY_LOAD | MEMORY_STORE | COMPUTATION => {
                let stream = match kind {
                    COMPUTATION if on_host => HOST,
                    COMPUTATION => ACCELERATOR,
                    _ => MEMORY,
                };
                self.time(node).map(|nanoseconds| Deed::Compute { stream, nanoseconds })
            }
            SEND => {
                let (bytes, tag) = (bytes(node)?, tag(node)?);
                self.own(rank, node, "comm_src")?;
                Ok(Deed::Send { bytes, to: self.peer(node, "comm_dst")?, tag })
            }
            RECEIVE => {
                let (bytes, tag) = (bytes(node)?, tag(node)?);
                self.own(rank, node, "comm_dst")?;
                Ok(Deed::Receive { bytes, from: self.peer(node, "comm_src")?, tag })
            }
            COLLECTIVE => self.collective(rank, node, numbers),
            _ => Ok(Deed::Nothing),
        }
    }

    /// How long a node computes, in nanoseconds.
    fn time(&self, node: &Node) -> Result<f64, Mistake> {
        let operations = node.number("num_ops").map_err(unlike)?.unwrap_or(0);
        if operations < 0 {
            return Err(unlike("its `num_ops` is below zero".into()));
        }
        if node.duration_micros > 0 || operations == 0 {
            return Ok(node.duration_micros as f64 * 1e3);
        }
        let help =
            "`flops_per_second` says how many operations a rank computes a second, such as 312e12";
        let rate = self.flops_per_second.ok_or_else(|| {
            mistake(format!("it computes {operations} operations, and how fast is not known"), help)
        })?;
        Ok(operations as f64 / rate * 1e9)
    }

    fn peer(&self, node: &Node, attribute: &str) -> Result<u32, Mistake> {
        let Some(rank) = node.number(attribute).map_err(unlike)? else {
            return Err(unlike(format!("its `{attribute}` is missing")));
        };
        let help = "put the files of all ranks into one folder; ranks are counted from 0";
        match u32::try_from(rank) {
            Ok(rank) if rank < self.ranks => Ok(rank),
            Ok(rank) => Err(mistake(no_file(rank, self.ranks), help)),
            Err(_) => Err(mistake(format!("there is no rank {rank}"), help)),
        }
    }

    /// Whether an attribute that names the node's own rank does, if it is there.
    fn own(&self, rank: u32, node: &Node, attribute: &str) -> Result<(), Mistake> {
        match node.number(attribute).map_err(unlike)? {
            Some(named) if named != i128::from(rank) => {
                let message =
                    format!("its `{attribute}` is {named}, and it is in the file of rank {rank}");
                Err(mistake(message, "a message is sent by its own rank, and received by its own"))
            }
            _ => Ok(()),
        }
    }

    fn collective(
        &mut self,
        rank: u32,
        node: &Node,
        numbers: &mut HashMap<usize, u32>,
    ) -> Result<Deed, Mistake> {
        let help = "kinds of collective operations are 0 (all-reduce) to 9 (barrier)";
        let Some(kind) = node.number("comm_type").map_err(unlike)? else {
            return Err(mistake("its `comm_type` is missing", help));
        };
        let known = usize::try_from(kind).ok().filter(|kind| *kind < COLLECTIVES.len());
        let Some(kind) = known else {
            return Err(mistake(format!("there is no `comm_type` {kind}"), help));
        };
        if node.leaves_out("involved_dim").map_err(unlike)? {
            let help = "name the members by `pg_name`, and give them by `groups`";
            return Err(mistake("it is of some dimensions of ASTRA-sim's topology", help));
        }
        let bytes = match COLLECTIVES[kind].0 {
            "barrier" => 1,
            _ => bytes(node)?,
        };
        let named = node.text("pg_name").map_err(unlike)?.filter(|name| !name.is_empty());
        let named = match named {
            Some(name) => name,
            None => node.text("comm_group").map_err(unlike)?.unwrap_or_default(),
        };
        let (group, members) = self.groups.named(&named, rank)?;
        self.alone += u64::from(self.ranks == 1);
        let root = match COLLECTIVES[kind].0 {
            "reduce" | "gather" | "scatter" | "broadcast" => self.root(node, group)?,
            _ => 0,
        };
        let number = numbers.entry(group).or_default();
        let first = number.wrapping_mul(tags_of(members));
        *number += 1;
        Ok(Deed::Collective { kind, bytes, root, group, number: first })
    }

    /// The place of an operation's root in its group: the first one if none is named.
    fn root(&self, node: &Node, group: usize) -> Result<u32, Mistake> {
        for name in ["comm_src", "root", "root_rank"] {
            if let Some(root) = node.number(name).map_err(unlike)? {
                let place =
                    u32::try_from(root).ok().and_then(|root| self.groups.place(group, root));
                return place.ok_or_else(|| {
                    let message = format!("its root, rank {root}, is no member of its group");
                    mistake(message, format!("`{name}` is a rank, counted from 0 among all"))
                });
            }
        }
        Ok(0)
    }

    /// Adds what a node does behind the ends of others; its own end.
    fn run(&mut self, rank: u32, deed: Deed, after: &[End]) -> End {
        let stream = match deed {
            Deed::Compute { stream, .. } => stream,
            _ => MESSAGES,
        };
        let program = &mut self.program;
        program.begin_sequence(stream, after);
        match deed {
            Deed::Nothing => {}
            Deed::Compute { nanoseconds, .. } => program.compute(nanoseconds),
            Deed::Send { bytes, to, tag } => {
                program.in_phase("point-to-point", |program| program.send(bytes, to, tag));
            }
            Deed::Receive { bytes, from, tag } => {
                program.in_phase("point-to-point", |program| program.receive(bytes, from, tag));
            }
            Deed::Collective { kind, bytes, root, group, number } => {
                let mut members = self.groups.members(group, rank);
                members.number_tags_from(number);
                run_collective(
                    self.algorithms,
                    program,
                    &mut members,
                    kind,
                    &Call { root, ..Call::of(bytes) },
                );
            }
        }
        program.end_sequence()
    }
}

/// Adds a member's part of a collective operation.
fn run_collective(
    algorithms: Algorithms,
    program: &mut Program,
    members: &mut Communicator<'_>,
    kind: usize,
    call: &Call,
) {
    let (name, ring, halving) = COLLECTIVES[kind];
    // A pair's part is one of those of the whole buffer, which whole bytes may make unequal.
    let blocks = Blocks::of(call.bytes, members.size);
    if name == "all-to-all" && matches!(algorithms, Algorithms::Ring) {
        let bytes = |_: u32, to: u32| blocks.at(to);
        return program.in_phase(name, |program| {
            collective::all_to_all_v_linear(program, members, &bytes);
        });
    }
    let call = match name {
        "all-to-all" => Call { bytes: call.bytes.div_ceil(u64::from(members.size)), ..*call },
        _ => *call,
    };
    match algorithms {
        Algorithms::Of(library) => library.run(name, program, members, &call),
        _ => {
            let algorithm = if matches!(algorithms, Algorithms::Ring) { ring } else { halving };
            let collective = collective::named(name).expect("it is one of them");
            let algorithm = collective.algorithm(algorithm, members.size, call.bytes);
            let algorithm = algorithm.expect("it is one of them");
            program.in_phase(name, |program| algorithm.run(program, members, &call));
        }
    }
}

fn bytes(node: &Node) -> Result<u64, Mistake> {
    let bytes = node.number("comm_size").map_err(unlike)?;
    let help = format!("it is a number of bytes up to {MAX_BYTES}");
    let Some(bytes) = bytes else { return Err(mistake("its `comm_size` is missing", help)) };
    let bytes = u64::try_from(bytes).ok().filter(|bytes| *bytes <= MAX_BYTES);
    bytes.ok_or_else(|| mistake("its `comm_size` can't be", help))
}

fn tag(node: &Node) -> Result<u32, Mistake> {
    let tag = node.number("comm_tag").map_err(unlike)?.unwrap_or(0);
    let known = u32::try_from(tag).ok().filter(|tag| *tag < 1 << 24);
    known.ok_or_else(|| mistake(format!("there is no tag {tag}"), "tags are 0 to 16777215"))
}

/// The order in which nodes are added, and their dependencies as places.
struct Order {
    places: Vec<u32>,
    /// [`CUT`] stands for one that was left out.
    dependencies: Vec<u32>,
    /// How many dependencies of control were left out: on nodes that are not there, and among nodes
    /// that would wait for each other. Converters leave out nodes of calls that others are part of.
    cut: u64,
}

const CUT: u32 = u32::MAX;

/// Orders nodes so that each comes behind those that it depends on, else as in the file.
fn order(steps: &[Step], dependencies: &[u64]) -> Result<Order, Mistake> {
    let mut by_id: Vec<(u64, u32)> = (0..).zip(steps).map(|(place, it)| (it.id, place)).collect();
    by_id.sort_unstable();
    if let Some(pair) = by_id.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let message = format!("there are two nodes {}", pair[0].0);
        return Err(mistake(message, "each has an id of its own"));
    }
    let mut places = Vec::with_capacity(dependencies.len());
    let (mut first, mut cut) = (0, 0);
    for step in steps {
        for at in first..step.dependencies {
            let id = dependencies[at as usize];
            places.push(match by_id.binary_search_by_key(&id, |it| it.0) {
                Ok(found) => by_id[found].1,
                Err(_) if at < step.control => {
                    cut += 1;
                    CUT
                }
                Err(_) => {
                    let message =
                        format!("node {} needs data of node {id}, which is not there", step.id);
                    return Err(mistake(message, "a trace has all nodes whose data others need"));
                }
            });
        }
        first = step.dependencies;
    }
    let (mut order, waits) = sorted(steps, &places);
    if order.len() < steps.len() {
        // Among nodes that wait for each other those of control give way.
        let mut first = 0;
        for (place, step) in steps.iter().enumerate() {
            for other in &mut places[first..step.control as usize] {
                if waits[place] > 0 && *other != CUT && waits[*other as usize] > 0 {
                    *other = CUT;
                    cut += 1;
                }
            }
            first = step.dependencies as usize;
        }
        let waits;
        (order, waits) = sorted(steps, &places);
        if let Some(stuck) = waits.iter().position(|waits| *waits > 0) {
            let id = steps[stuck].id;
            let message = format!(
                "node {id} needs its own data by way of others, or waits for one that does"
            );
            let help = "data come from nodes before: leave one of the dependencies out";
            return Err(mistake(message, help));
        }
    }
    Ok(Order { places: order, dependencies: places, cut })
}

/// The nodes that can be ordered, and for how many dependencies each of all still waits then.
fn sorted(steps: &[Step], places: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let of = |place: usize| {
        let first = if place == 0 { 0 } else { steps[place - 1].dependencies };
        places[first as usize..steps[place].dependencies as usize].iter().filter(|it| **it != CUT)
    };
    let mut waits: Vec<u32> = (0..steps.len()).map(|place| narrow(of(place).count())).collect();
    // By node: where its dependants begin in the list.
    let mut firsts = vec![0u32; steps.len() + 1];
    for other in places.iter().filter(|it| **it != CUT) {
        firsts[*other as usize + 1] += 1;
    }
    for place in 1..firsts.len() {
        firsts[place] += firsts[place - 1];
    }
    let mut filled = firsts.clone();
    let mut dependants = vec![0u32; firsts[steps.len()] as usize];
    for place in 0..steps.len() {
        for other in of(place) {
            let at = &mut filled[*other as usize];
            dependants[*at as usize] = narrow(place);
            *at += 1;
        }
    }
    let is_free = |place: &u32| waits[*place as usize] == 0;
    let mut free: VecDeque<u32> = (0..narrow(steps.len())).filter(is_free).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(place) = free.pop_front() {
        order.push(place);
        let (from, to) = (firsts[place as usize], firsts[place as usize + 1]);
        for other in &dependants[from as usize..to as usize] {
            waits[*other as usize] -= 1;
            if waits[*other as usize] == 0 {
                free.push_back(*other);
            }
        }
    }
    (order, waits)
}
