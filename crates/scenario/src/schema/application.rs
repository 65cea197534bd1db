//! `[application]`: what ranks send, receive and compute.

use std::sync::Arc;

use crate::schema::foreign;
use crate::workload::Given;
use crate::workload::LARGEST_MESSAGE;
use flitlab_application::{
    Action, Schedule, Unmatched, check,
    generate::{Generator, MAX_CHANNELS, Make, Parameters, collective, make},
    loggops,
};
use flitlab_base::document::{
    Choice, Diagnostic, Flag, InputFile, Kind, List, Listed, Number, Reader, Text, Whole, beside,
    plain, quoted, rate, read_other, row_with_keys, size, time, with_keys,
};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Registry;
use flitlab_base::units::{Bytes, Picoseconds};
use flitlab_engine::Feature;
use flitlab_fabric::{NodeName, Places};
use flitlab_traces::formats::FileKind;
use flitlab_traces::read::{Format, OPTIONS, Options, read as read_application};
use flitlab_traffic::{
    AdapterTimes, Answer, ApplicationSpec, Carrier, HostParameters, Placement, RemoteRead,
};

pub(crate) fn read(reader: &mut Reader<'_>, given: &mut Given<'_>) -> Option<ApplicationSpec> {
    let mut ranks_per_node = 1;
    let doc = "The most ranks of a node; ranks of one node talk through its memory.";
    reader.set("ranks_per_node", &Whole { range: 1..=65536 }, &mut ranks_per_node, doc);
    let placement = placement(reader, given.places);
    // Ranks that follow each other are on one node, but for those that are placed in turn.
    let together = match placement {
        Some(Placement::RoundRobin) => 1,
        _ => ranks_per_node,
    };
    let found = schedule(reader, given.registry, together);
    let Found { schedule, notes, sends_wait } = found.unwrap_or_default();
    let schedule = repeated(reader, schedule);
    let host = host(reader, given.parameters, sends_wait);
    let carrier = carrier(reader, sends_wait);
    let nodes = given.nodes.take().map(sorted);
    Some(ApplicationSpec {
        schedule: schedule?,
        notes: notes.into(),
        placement: placement?,
        ranks_per_node,
        host: host?,
        carrier: carrier?,
        nodes,
    })
}

fn sorted(mut nodes: Vec<u32>) -> Arc<[u32]> {
    nodes.sort_unstable();
    nodes.into()
}

/// What ranks do.
struct Found {
    schedule: Option<Arc<Schedule>>,
    /// What is to be said of it.
    notes: Vec<String>,
    /// Whether large messages wait for their receipt.
    sends_wait: bool,
}

impl Default for Found {
    /// Nothing was found.
    fn default() -> Self {
        Self { schedule: None, notes: Vec::new(), sends_wait: true }
    }
}

impl Found {
    fn of(schedule: Schedule) -> Self {
        Self { schedule: Some(Arc::new(schedule)), ..Self::default() }
    }
}

/// The schedule, from a file or made in.
fn schedule(reader: &mut Reader<'_>, registry: &Registry, ranks_per_node: u32) -> Option<Found> {
    let (file, made) = (reader.has("file"), reader.has("schedule"));
    if let (true, true, Some(place)) = (file, made, reader.key_place("schedule")) {
        let problem = Diagnostic::new(&place, "an application has `file` or `schedule`, not both");
        reader.problems.push(problem.help("keep one of the two"));
    }
    let found = if reader.is_documenting() {
        from_file(reader);
        made_in(reader, registry, ranks_per_node)
    } else if let (false, Some(problem)) = (file, file_as_generator(reader)) {
        reader.problems.push(problem);
        reader.ignore("file");
        reader.ignore("schedule");
        OPTIONS.into_iter().for_each(|key| reader.ignore(key));
        None
    } else if made {
        reader.ignore("file");
        refuse_options(reader);
        made_in(reader, registry, ranks_per_node)
    } else if file {
        reader.ignore("schedule");
        from_file(reader)
    } else {
        reader.ignore("file");
        reader.ignore("schedule");
        OPTIONS.into_iter().for_each(|key| reader.ignore(key));
        let misspelt = reader.has_misspelt("file") || reader.has_misspelt("schedule");
        if let (false, Some(place)) = (misspelt, reader.scope.place.clone()) {
            let problem = Diagnostic::new(&place, "[application] needs `file` or `schedule`");
            reader.problems.push(problem.help(
                "write for example `file = \"allreduce.goal\"`, or `schedule = { all-reduce = { ranks = 16, bytes = \"1 MiB\" } }`",
            ));
        }
        None
    }?;
    let key = if made { "schedule" } else { "file" };
    let schedule = found.schedule.as_ref()?;
    let unmatched = check(schedule);
    let place = reader.place(key)?;
    for Unmatched { action, count, example } in &unmatched {
        let which = schedule.describe(*example);
        let message = match action {
            Action::Receive => format!("{which} waits for a message that nobody sends"),
            _ => format!("nobody receives what {which} sends"),
        };
        let problem = Diagnostic::new(&place, message);
        reader.problems.push(match count {
            1 => problem,
            _ => {
                problem.help(format!("{count} of this kind are too many; this is the last of them"))
            }
        });
    }
    unmatched.is_empty().then_some(found)
}

/// The schedule as often as it is to be done.
fn repeated(reader: &mut Reader<'_>, schedule: Option<Arc<Schedule>>) -> Option<Arc<Schedule>> {
    let doc = "How often the schedule is done: a rank begins it anew when all of its operations have ended.";
    let times = reader.value("repetitions", &Whole { range: 1..=1_000_000 }, 1, doc);
    let schedule = schedule?;
    if times == 1 {
        return Some(schedule);
    }
    match schedule.repeated(narrow(times)) {
        Ok(schedule) => Some(Arc::new(schedule)),
        Err(error) => {
            let place = reader.place("repetitions")?;
            reader.problems.push(Diagnostic::new(&place, error.to_string()));
            reader.mark_broken("repetitions");
            None
        }
    }
}

fn from_file(reader: &mut Reader<'_>) -> Option<Found> {
    let kind = Text { what: "a file's path", example: "allreduce.goal" };
    let doc = "A file beside the scenario with what each rank sends, receives and computes: a GOAL schedule, or a trace of \
               another program (one of the files of all ranks, or their folder); or `schedule` in its place. \
               docs/schedules.md.";
    if reader.is_documenting() {
        reader.required("file", &kind, doc);
        options(reader, None);
        return None;
    }
    let format = reader.text("file").and_then(|file| Format::of_file(&beside(reader, file)));
    let options = options(reader, format);
    if OPTIONS.iter().any(|key| reader.broken.contains(&reader.path(key))) {
        reader.ignore("file");
        return None;
    }
    read_other(reader, "file", &kind, doc, |path, files| {
        let reading = read_application(path, &options)?;
        *files = reading.files;
        let notes = reading.notes.into_iter().map(|note| format!("{}: {note}", path.display()));
        let (notes, sends_wait) = (notes.collect(), reading.sends_wait);
        Ok(Found { notes, sends_wait, ..Found::of(reading.schedule) })
    })
}

/// What a trace does not say; keys that mean nothing to its format are refused.
fn options(reader: &mut Reader<'_>, format: Option<&Format>) -> Options {
    let documenting = reader.is_documenting();
    // Of a file that can't be read no key is wrong.
    let takes = |key| documenting || format.is_none_or(|format| format.takes().contains(&key));
    let mut options = Options::default();
    let rate = Number { above: 0.0, to: 1e18, inclusive: true };
    let doc = "Of a trace that counts operations: how many of them a rank computes a second.";
    if takes("flops_per_second") {
        options.flops_per_second = reader.optional("flops_per_second", &rate, doc);
    }
    let doc = "Of a trace with collective operations: their algorithms, those of a library (`mpich-3`, `open-mpi-4.1`) or, \
               of Chakra, `ring` or `halving-doubling`. If absent `mpich-3`, of Chakra `ring`.";
    if takes("algorithm") {
        let name = Text { what: "a name", example: "open-mpi-4.1" };
        options.algorithm = reader.optional("algorithm", &name, doc);
    }
    let doc = "Of a trace of Chakra: a JSON file beside the scenario with the members of process groups, \
               `{\"1\": [0, 1], \"2\": [2, 3]}`.";
    if takes("groups") {
        let file = Text { what: "a file's path", example: "groups.json" };
        let file = InputFile::optional(reader, "groups", &file, doc);
        options.groups = file.map(|file| (file.name(), file.text));
    }
    for key in OPTIONS.into_iter().filter(|key| !takes(key)) {
        if let Some((message, help)) = format.map(|format| format.refusal(key)) {
            reader.forbid(key, &message, &help);
        }
    }
    options
}

/// Refuses keys that belong to a file, where there is none.
fn refuse_options(reader: &mut Reader<'_>) {
    for key in OPTIONS {
        let message = format!("`{key}` stands beside `file`, and here is none");
        reader.forbid(key, &message, "a schedule that is made in has its own keys within it");
    }
}

/// Returns the mistake of a file's name where a generator's should be.
fn file_as_generator(reader: &Reader<'_>) -> Option<Diagnostic> {
    let name = reader.text("schedule").filter(|name| name.contains(['.', '/']))?;
    let message = "`schedule` names a generator, and this looks like a file";
    let problem = Diagnostic::new(&reader.place("schedule")?, message);
    Some(problem.help(format!("write `file = {}` in place of `schedule`", quoted(name))))
}

/// The schedule of a generator.
fn made_in(reader: &mut Reader<'_>, registry: &Registry, ranks_per_node: u32) -> Option<Found> {
    let doc =
        "A schedule that is made in, in place of `file`. docs/schedules.md says what each is.";
    let choice = Choice::required("schedule", "schedule", doc);
    let place = reader.place("schedule");
    let variants = registry.rows().map(|row| {
        row_with_keys(row, move |reader: &mut Reader<'_>| match row.component {
            Generator::Of { .. } => {
                let parameters = parameters(reader, row.name, &row);
                let note = same_way(&parameters, ranks_per_node);
                let make = move |ranks_per_node| {
                    let own = parameters.ranks_per_node.unwrap_or(ranks_per_node);
                    make(row.name, &Parameters { ranks_per_node: Some(own), ..parameters })
                };
                Some((Box::new(make) as Make, note))
            }
            Generator::Reads(read) => Some((read(reader)?, None)),
        })
    });
    let (make, note) = reader.choice(&choice, variants.collect())?;
    match make(ranks_per_node) {
        Ok(schedule) => Some(Found { notes: note.into_iter().collect(), ..Found::of(schedule) }),
        Err(message) => {
            // A key that is wrong by itself has been reported.
            if let Some(place) = place.filter(|_| !reader.broken.contains("application.schedule")) {
                reader.problems.push(Diagnostic::new(&place, message));
            }
            reader.mark_broken("schedule");
            None
        }
    }
}

/// Says that channels don't differ, which begin with different ranks of a node.
fn same_way(parameters: &Parameters, ranks_per_node: u32) -> Option<String> {
    let channels = parameters.channels.filter(|channels| *channels > 1)?;
    let alone = parameters.ranks_per_node.unwrap_or(ranks_per_node) == 1;
    alone.then(|| {
        format!(
            "all {channels} `channels` go from rank to rank in the same order, since no ranks share a node: \
             `ranks_per_node` beside it says how many do, such as 8"
        )
    })
}

/// The parameters that a generator takes.
fn parameters(reader: &mut Reader<'_>, made: &str, generator: &Generator) -> Parameters {
    let count = |range| Whole { range };
    let mut parameters = Parameters::default();
    let doc = "How many ranks there are.";
    let ranks = reader.required("ranks", &count(1..=1 << 27), doc);
    parameters.ranks = ranks.map(narrow);
    let doc = "How often it is done: once, or as often as a benchmark's class says, if absent.";
    let iterations = reader.optional("iterations", &count(1..=1_000_000_000), doc);
    parameters.iterations = iterations.map(narrow);
    let name = |example| Text { what: "a name", example };
    let doc = "The algorithm, or the library whose choice it is: `open-mpi-4.1` or `mpich-3` (which it is if absent).";
    parameters.algorithm = taken(reader, generator, "algorithm", &name("ring"), doc);
    let doc = "Bytes of each rank's contribution.";
    let bytes = taken(reader, generator, "bytes", &size(0, LARGEST_MESSAGE), doc);
    parameters.bytes = bytes.map(|bytes| bytes.0);
    let doc = "The rank that all comes from, or goes to: 0 if absent.";
    parameters.root = taken(reader, generator, "root", &count(0..=1 << 27), doc).map(narrow);
    if collective::named(made).is_some() {
        let doc = "How many ranks that follow each other share a node, for algorithms that go by nodes: as \
                   `ranks_per_node` of [application] if absent, which it need not be where links join the ranks of a node.";
        let share = reader.optional("ranks_per_node", &count(1..=65536), doc);
        parameters.ranks_per_node = share.map(narrow);
    }
    let doc = "Parts of the bytes that are dealt with beside each other, as NCCL's channels, each from another rank of a \
               node on: 1 if absent.";
    let channels = taken(reader, generator, "channels", &count(1..=MAX_CHANNELS.into()), doc);
    parameters.channels = channels.map(narrow);
    let doc = "The most bytes that algorithms in segments send at once: 64 KiB of `binary` and `chain` of broadcast and \
               reduce, and of `tree` and `double-binary-tree`, if absent; the others send parts whole then.";
    let segment = taken(reader, generator, "segment", &size(1, LARGEST_MESSAGE), doc);
    parameters.segment = segment.map(|bytes| bytes.0);
    let rate = Number { above: 0.0, to: 1e18, inclusive: true };
    let doc = "Nanoseconds that it takes to combine two bytes into one; none if absent.";
    // No computation of a rank may take longer than 213 days.
    let each = Number { to: 1e16, ..rate };
    parameters.combine_ns_per_byte = taken(reader, generator, "combine_ns_per_byte", &each, doc);
    if generator.takes().contains(&"benchmark") {
        let doc = "The benchmark: lu, mg, cg, ft or is.";
        parameters.benchmark = reader.required("benchmark", &name("ft"), doc);
    }
    if generator.takes().contains(&"class") {
        let doc = "Its class: S, W, A, B, C or D.";
        parameters.class = reader.required("class", &name("C"), doc);
    }
    let doc = "Operations that a rank computes a second; computing takes no time if absent.";
    parameters.flops_per_second = taken(reader, generator, "flops_per_second", &rate, doc);
    let list = |noun, example| List {
        kind: Whole { range: 1..=1 << 27 },
        noun,
        length: 1..=3,
        example: Some(example),
    };
    let numbers = |list: Vec<Listed<u64>>| Listed::values(list).into_iter().map(narrow).collect();
    let doc = "Grid points of a rank by dimension; of fft3d those of all ranks.";
    let points = taken(reader, generator, "points", &list("points", "[100, 100, 100]"), doc);
    parameters.points = points.map(numbers);
    let doc = "Ranks by dimension; as near to equal as possible if absent.";
    let grid = taken(reader, generator, "grid", &list("ranks", "[4, 4, 8]"), doc);
    parameters.grid = grid.map(numbers);
    let doc = "Numbers of 8 B that a grid point has: 1 of halo3d, 8 of sweep3d if absent.";
    let few = count(1..=1_000_000);
    parameters.fields = taken(reader, generator, "fields", &few, doc).map(narrow);
    let doc = "Planes that are computed and sent together: 1 if absent.";
    parameters.block = taken(reader, generator, "block", &few, doc).map(narrow);
    let doc = "Nanoseconds of a computation.";
    let nanoseconds = taken(reader, generator, "compute_ns", &count(0..=1_000_000_000_000), doc);
    parameters.compute_ns = nanoseconds.map(|it| it as f64);
    let doc = "Nanoseconds to enter or leave MPI.";
    let nanoseconds = taken(reader, generator, "call_ns", &count(0..=1_000_000_000), doc);
    parameters.call_ns = nanoseconds.map(|it| it as f64);
    let doc = "Whether it is between Ember's Init and Fini.";
    parameters.fini = taken(reader, generator, "fini", &Flag, doc);
    parameters
}

/// A key that may be absent, of a generator that takes it.
fn taken<K: Kind>(
    reader: &mut Reader<'_>,
    generator: &Generator,
    key: &'static str,
    kind: &K,
    doc: &'static str,
) -> Option<K::Value> {
    generator.takes().contains(&key).then(|| reader.optional(key, kind, doc)).flatten()
}

fn placement(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Placement> {
    let doc =
        "Which node each rank is on. Failed nodes, and those outside topology.node_set, get none.";
    let choice = Choice::usual("placement", "placement", "linear", doc);
    let linear =
        "the first `ranks_per_node` ranks on the first node, the next ones on the next node.";
    let in_turn = "one rank on each node in turn, and from the first node on again.";
    let random = "as \"linear\", with the nodes in an order that the seed draws.";
    let file = "as a file says.";
    reader.choice(
        &choice,
        vec![
            plain("linear", Placement::Linear, linear).known_as([
                ("block", ""),
                ("blocks", ""),
                ("sequential", ""),
            ]),
            plain("round-robin", Placement::RoundRobin, in_turn).known_as([("cyclic", "")]),
            plain("random", Placement::Random, random),
            with_keys("file", file, move |reader| given(reader, places)),
        ],
    )
}

/// The nodes of a file: a line for each rank.
fn given(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Placement> {
    let kind = Text { what: "a file's path", example: "nodes.txt" };
    let doc = "A text file beside the scenario with a node a line, the one of rank 0 first: its number, its \
               coordinates such as 0;1;3 (in a torus) or its name (elsewhere). What stands behind a # means nothing.";
    let file = InputFile::required(reader, "path", &kind, doc)?;
    let names = NodeName { places };
    let mut nodes = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let node = line.split('#').next().unwrap_or_default().trim();
        if !node.is_empty() {
            let found = names.of_text(node).map_err(|(message, help)| match help {
                Some(help) => (number, format!("{message}: {help}")),
                None => (number, message),
            });
            nodes.push(foreign::take(&file, reader, FileKind::Placement, found)?);
        }
    }
    Some(Placement::Given(nodes.into()))
}

fn host(
    reader: &mut Reader<'_>,
    parameters: &mut flitlab_engine::Parameters,
    sends_wait: bool,
) -> Option<HostParameters> {
    let mut host = HostParameters {
        send_overhead: parameters.send_overhead,
        receive_overhead: parameters.receive_overhead,
        ..HostParameters::default()
    };
    let doc = "Larger messages wait at their sender until their receipt has begun (LogGOPS' S).";
    let note = "64 KiB, and of a trace of Chakra, whose sends wait for no receipt, 1024 GiB";
    let limit = eager_limit(sends_wait, host.eager_limit);
    host.eager_limit =
        reader.value_from("eager_limit", &size(0, LARGEST_MESSAGE), limit, note, doc);
    let doc = "Who sees to it that a large message comes once its receipt has begun.";
    let adapter = "the adapters, at once, whatever their hosts are busy with.";
    let processor = "the ranks themselves, when the operation's stream is free; it takes them a send overhead each.";
    let get = "the receiver's adapter fetches it (RDMA read) when the receipt's stream is free.";
    let choice = Choice::usual("rendezvous", "rule", "adapter", doc);
    let answer = reader.choice(
        &choice,
        vec![
            plain("adapter", Answer::Adapter, adapter),
            plain("processor", Answer::Processor, processor),
            with_keys("get", get, |reader| Some(Answer::Get(remote_read(reader)))),
        ],
    );
    let doc = "Payload of the messages by which sender and receiver agree on a large one; and of the requests of gets \
               and atomic operations, besides operands.";
    reader.set("control_message", &size(0, 1 << 20), &mut host.control_message, doc);
    let per_byte = Number { above: 0.0, to: 1e6, inclusive: false };
    let overhead_per_byte = reader.optional(
        "overhead_per_byte",
        &per_byte,
        "Nanoseconds that a host is busy with each byte but the first, at either end (LogGOPS' O).",
    );
    host.overhead_per_byte = overhead_per_byte.unwrap_or(0.0) * 1e3;
    let doc = "The least time between the beginnings of two messages of a node (LogGOPS' g).";
    reader.set("gap", &time(Picoseconds::ZERO), &mut host.gap, doc);
    let doc = "How long a stream examines each receipt or message that waits, up to the one that matches.";
    reader.set("match_time", &time(Picoseconds::ZERO), &mut host.match_time, doc);
    let doc = "How long a one-sided atomic operation takes at its target's adapter, which performs one after the other: \
               50 ns if absent. Assumed.";
    if let Some(time) = reader.optional("atomic_time", &time(Picoseconds::ZERO), doc) {
        parameters.atomic_time = time;
    }
    host.adapter = adapter_times(reader, parameters);
    let doc = "How fast a host copies a message that came before its receipt had begun; takes no time if absent.";
    host.copy_rate = reader.optional("copy_rate", &rate(), doc);
    let doc = "How long a message between ranks of one node takes, besides its bytes at `memory_rate`. Assumed.";
    reader.set("memory_latency", &time(Picoseconds::ZERO), &mut host.memory_latency, doc);
    let doc = "How fast ranks of one node send each other bytes. Assumed.";
    reader.set("memory_rate", &rate(), &mut host.memory_rate, doc);
    Some(HostParameters { answer: answer?, ..host })
}

/// The default of a limit that is usually this.
const fn eager_limit(sends_wait: bool, usual: Bytes) -> Bytes {
    if sends_wait { usual } else { Bytes(LARGEST_MESSAGE) }
}

/// The times of a rendezvous by remote reads.
fn remote_read(reader: &mut Reader<'_>) -> RemoteRead {
    let mut read = RemoteRead::default();
    let no_less = &time(Picoseconds::ZERO);
    let doc = "Time to register its memory.";
    reader.set("registration", no_less, &mut read.registration, doc);
    let doc = "And for each page of 4 KiB.";
    reader.set("registration_per_page", no_less, &mut read.registration_per_page, doc);
    let doc = "From the request to the message.";
    reader.set("read", no_less, &mut read.read, doc);
    read
}

/// The way between hosts and the network.
fn adapter_times(reader: &mut Reader<'_>, parameters: &flitlab_engine::Parameters) -> AdapterTimes {
    let doc = "Times between streams and the network, which keep neither busy; none if absent.";
    let example = "{ bus = \"150 ns\", send = \"50 ns\", receive = \"100 ns\" }";
    let adapter = reader.optional_table("host_adapter", example, doc, |reader| {
        let mut adapter = AdapterTimes::default();
        let no_less = &time(Picoseconds::ZERO);
        let doc = "Between a host and its adapter, either way.";
        reader.set("bus", no_less, &mut adapter.bus, doc);
        let doc = "Of an adapter with a message that it sends.";
        reader.set("send", no_less, &mut adapter.send, doc);
        let doc = "Of an adapter with a message that has come.";
        reader.set("receive", no_less, &mut adapter.receive, doc);
        let doc = "Whether packets have come with their first flit.";
        reader.set("cut_through", &Flag, &mut adapter.cut_through, doc);
        let refusal = Feature::CutThroughHosts.refusal(&parameters.kind);
        if let (true, Some(why)) = (adapter.cut_through, refusal)
            && let Some(place) = reader.place("cut_through")
        {
            let problem = Diagnostic::new(&place, why);
            reader.problems.push(problem.help("leave `cut_through` out, or share by packets"));
        }
        adapter
    });
    adapter.unwrap_or_default()
}

fn carrier(reader: &mut Reader<'_>, sends_wait: bool) -> Option<Carrier> {
    let doc = "What carries messages between ranks.";
    let choice = Choice::usual("network", "network", "flits", doc);
    let flits = "the network of this scenario, flit by flit.";
    let loggops = "no network: latencies, overheads and gaps alone, by the rules of LogGOPSim. The keys of hosts \
                   above mean nothing then.";
    reader.choice(
        &choice,
        vec![
            plain("flits", Carrier::Flits, flits),
            with_keys("loggops", loggops, move |reader| {
                Some(Carrier::LogGops(loggops_of(reader, sends_wait)?))
            }),
        ],
    )
}

/// The parameters of LogGOPS; whole nanoseconds.
fn loggops_of(reader: &mut Reader<'_>, sends_wait: bool) -> Option<loggops::LogGops> {
    let mut parameters = loggops::LogGops::CLASSIC;
    let doc = "Whose rules: for one schedule they give times up to eight times apart.";
    let classic = "LogGOPSim's: a message's gap is charged at its receiver.";
    let atlahs = "those of the version in ATLAHS: it is charged at its sender.";
    let dialects = [
        ("classic", loggops::Dialect::Classic, classic),
        ("atlahs", loggops::Dialect::Atlahs, atlahs),
    ];
    let dialect = reader.one_of("dialect", "dialect", doc, dialects);
    let mut whole = |key, nanoseconds: &mut u64, doc| {
        let time: Picoseconds = reader.value(
            key,
            &time(Picoseconds::ZERO),
            Picoseconds::NANOSECOND * *nanoseconds,
            doc,
        );
        *nanoseconds = (time + Picoseconds(500)).0 / 1000;
    };
    whole("latency", &mut parameters.latency, "L: how long a first byte travels.");
    let doc = "o: how long a host is busy with a message, at either end.";
    whole("overhead", &mut parameters.overhead, doc);
    let doc = "O: the same for each byte but the first.";
    whole("overhead_per_byte", &mut parameters.overhead_per_byte, doc);
    whole("gap", &mut parameters.gap, "g: time between messages of an adapter.");
    let per_byte = Number { above: 0.0, to: 1e6, inclusive: true };
    let doc = "G: nanoseconds for each byte but the first of a message; a whole number under \"classic\".";
    reader.set("gap_per_byte", &per_byte, &mut parameters.gap_per_byte, doc);
    let limit = eager_limit(sends_wait, Bytes(parameters.eager_limit));
    let doc = "S: larger messages wait for their receipt.";
    let note = "65535 B, and of a trace of Chakra, whose sends wait for no receipt, 1024 GiB";
    let eager_limit = reader.value_from("eager_limit", &size(0, LARGEST_MESSAGE), limit, note, doc);
    let dialect = dialect?;
    if dialect == loggops::Dialect::Classic && parameters.gap_per_byte.fract() != 0.0 {
        if let Some(place) = reader.place("gap_per_byte") {
            let message = "under \"classic\" `gap_per_byte` is a whole number of nanoseconds";
            let problem = Diagnostic::new(&place, message);
            reader.problems.push(problem.help("LogGOPSim takes no other; \"atlahs\" does"));
        }
        return None;
    }
    Some(loggops::LogGops { dialect, eager_limit: eager_limit.0, ..parameters })
}
