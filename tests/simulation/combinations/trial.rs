//! One scenario: read, refused or run in several ways, and held against a reference engine.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;
use flitlab::engine::Parameters;
use flitlab::measure::{LogFilter, Progress, Snapshot};
use flitlab::report::{ChannelRow, Status};
use flitlab::scenario::{Deadlock, Document, Scenario, WorkloadSpec};
use flitlab::simulation::{Checkpoint, Outcome, Simulation};
use flitlab::topology::Fabric;
use flitlab::traffic::{
    Access, CollectiveSpec, ExchangeSpec, Flow, FlowsSpec, LoadSpec, Message, MessageKind,
    OpenLoad, Pattern, PatternSpec, RemoteMemorySpec, RemoteOperation, Workload,
};
use flitlab::units::{Bytes, Picoseconds};

use crate::common::workplace::Workplace;
use flitlab_random::random_scenario;
use flitlab_random::wait_cycle::assert_each_waits_for_the_next;

/// After so much simulated time a workload of this size would never end. Windows that find their
/// length come to 100 ms where few nodes send.
const ENDLESS: Picoseconds = Picoseconds(1_000_000_000_000);

/// After so much time of the processor: on the clock a machine that does other things takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// All runs of a scenario, and what is made before them, take no longer.
const LIMIT: Duration = Duration::from_secs(600);

/// The stack of a thread of Rust's, if nobody says otherwise.
const STACK: usize = 2 << 20;

/// A workload may end a little earlier beside others than alone, as packets meet at other times: an
/// all-to-all of 16 nodes at one switch, all of which send at once, takes 0.788 of the 3.016 us that it takes
/// in a scenario of its own. Where links err it is luck.
const LEAST_SLOWDOWN: f64 = 0.7;

/// Flits times hops, about, that a reference engine moves.
const WORK: u64 = 2_500;

/// What came of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// What the check has refused it for, by its first mistake.
    pub refused: Option<String>,
    pub status: Option<Status>,
    /// Packets that a reference engine delivered too.
    pub compared: usize,
    /// Whether the check says that packets can wait for each other for ever.
    pub foretold: bool,
}

/// Tries a scenario, in a thread with the usual stack and a limit of time; what is wrong with it,
/// if something is. The thread has the seed's name, and the scenario is a file in the place as long
/// as it is tried: so a run that ends all leaves it there.
pub fn attempt(seed: u64, text: &str, place: &Workplace) -> Result<Trial, String> {
    let (folder, own) = (place.0.clone(), text.to_owned());
    let tried = folder.join(format!("{seed}.toml"));
    fs::write(&tried, text).expect("the place is there");
    let (sender, receiver) = mpsc::channel();
    let try_it = move || {
        let found = catch_unwind(AssertUnwindSafe(|| run(seed, &own, &folder)));
        let found = found.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
                .unwrap_or_else(|| "a panic without a text".into())
        });
        // Nobody listens any more if it took too long.
        let _ = sender.send(found);
    };
    let thread = thread::Builder::new().name(format!("seed {seed}")).stack_size(STACK);
    thread.spawn(try_it).expect("there is room for a thread");
    let found = receiver
        .recv_timeout(LIMIT)
        .unwrap_or_else(|_| Err(format!("it takes more than {} s", LIMIT.as_secs())));
    fs::remove_file(tried).expect("it was written");
    found
}

fn run(seed: u64, text: &str, place: &Path) -> Trial {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/simulation/combinations");
    let document = Document::parse(&format!("{folder}/{seed}.toml"), text);
    let (scenario, resolved) = match Scenario::read_resolved(&document) {
        Ok(read) => read,
        Err(mistakes) => {
            for mistake in mistakes.iter() {
                assert!(mistake.place.is_some(), "a mistake without a place: {}", mistake.message);
                assert!(!mistake.message.is_empty(), "a mistake that says nothing");
            }
            let first = mistakes.iter().next().expect("there is one").message.clone();
            return Trial { refused: Some(first), status: None, compared: 0, foretold: false };
        }
    };
    let again = Document::parse(&format!("{folder}/resolved.toml"), &resolved);
    let again = Scenario::read(&again).unwrap_or_else(|it| panic!("resolved: {it}\n{resolved}"));
    let kind = &scenario.parameters.kind;
    for feature in scenario.features() {
        assert_eq!(
            feature.refusal(kind),
            None,
            "the check accepts what the table refuses: {feature:?}"
        );
    }
    let named = Scenario { name: scenario.name.clone(), ..again };
    assert!(named == scenario, "what is resolved reads back to something else:\n{resolved}");

    let simulation = Simulation::new(&scenario)
        .unwrap_or_else(|error| panic!("the check accepts it, and it can't be set up: {error}"));
    let (foretold, advice) = match scenario.deadlock() {
        Deadlock::Never(_) | Deadlock::Dropped { .. } => (false, None),
        Deadlock::Rarely { advice } | Deadlock::Possible { advice, .. } => (true, advice),
    };
    let advised = advice.map(|advice| followed(&document, &advice));
    let bound = simulation.completion_bound();
    simulation.forecast();
    let outcome = simulation.run(&mut patient());
    told(&outcome, &scenario);
    if outcome.found.measured.status == Status::Deadlock {
        assert!(foretold, "the check says that packets can't wait for each other for ever");
        if let Some(advised) = advised {
            let simulation = Simulation::new(&advised).expect("the check accepts it");
            let status = simulation.run(&mut patient()).found.measured.status;
            assert_ne!(status, Status::Deadlock, "with the advice of the check as well");
        }
    }
    if let (Some(bound), Some(time)) = (bound, outcome.found.measured.completion_time) {
        assert!(bound.time <= time, "bound {}, and it takes {time}", bound.time);
    }
    let threads = 2 + (seed % 2) as usize;
    let more = Simulation::new(&named).expect("it was set up before").on_threads(threads);
    same(&more.run(&mut patient()), &outcome, "resolved, on more threads");
    if seed.is_multiple_of(3) {
        go_on(&document, &simulation, &outcome, &place.join(format!("{seed}.checkpoint")));
    }
    if seed % 3 == 1 {
        logged(simulation, &outcome);
    }
    let compared = if seed.is_multiple_of(2) { compare(seed, &scenario) } else { 0 };
    parts_add_up(&outcome, &scenario);
    slowed(&outcome, &scenario);
    Trial { refused: None, status: Some(outcome.found.measured.status), compared, foretold }
}

/// The scenario with what the check advises to type, of which it says nothing worse than that
/// packets of mixed sizes rarely wait for each other.
fn followed(document: &Document, advice: &str) -> Scenario {
    let typed = advice.find("--set").unwrap_or_else(|| panic!("nothing to type: {advice}"));
    let typed = shlex::split(&advice[typed..]).unwrap_or_else(|| panic!("no shell: {advice}"));
    let mut document = document.clone();
    typed.iter().filter(|word| *word != "--set").for_each(|setting| document.set(setting));
    let scenario = Scenario::read(&document)
        .unwrap_or_else(|mistakes| panic!("the advice is refused: {advice}\n{mistakes}"));
    let verdict = scenario.deadlock();
    assert!(!matches!(verdict, Deadlock::Possible { .. }), "the advice: {advice}\n{verdict:?}");
    scenario
}

/// Ends what would never end.
fn patient() -> impl FnMut(Progress) {
    let began = ThreadTime::now();
    move |progress| {
        assert!(progress.time < ENDLESS, "it goes on for ever: {}", progress.time);
        assert!(began.elapsed() < PATIENCE, "it takes too long, at {}", progress.time);
    }
}

fn same(one: &Outcome, other: &Outcome, how: &str) {
    let results = |outcome: &Outcome| format!("{:?} {:?}", outcome.found, outcome.deadlock);
    let (one, other) = (results(one), results(other));
    if one != other {
        let at = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
        let about = |text: &str| {
            let text: String = text.chars().skip(at.saturating_sub(100)).take(300).collect();
            text
        };
        panic!("{how} it gives other results:\n{}\n{}", about(&one), about(&other));
    }
}

/// Whether the end is one that is told, and nothing was lost on the way.
fn told(outcome: &Outcome, scenario: &Scenario) {
    let status = outcome.found.measured.status;
    let counters = outcome.work.counters;
    let finite = scenario.workload.is_finite();
    let beside = finite && has_load(scenario);
    match status {
        Status::Completed => {
            assert!(finite || scenario.interruption.is_some(), "a load that is completed");
            // What is counted is that of runs of each workload alone, too, and one of these may not end.
            let told = |warning: &String| !warning.starts_with("slowdowns are not told");
            if finite && !beside && outcome.found.warnings.iter().all(told) {
                assert_eq!(counters.flits_under_way(), 0, "flits that were not delivered");
            }
        }
        Status::Deadlock => {
            let deadlock = outcome.deadlock.as_ref().expect("with its packets");
            assert_each_waits_for_the_next(deadlock);
            assert!(outcome.found.deadlock.is_some(), "a deadlock without a text");
        }
        Status::Livelock => panic!("a livelock: {:?}", outcome.found.warnings),
        Status::Stuck | Status::TooLong => {
            assert!(!outcome.found.warnings.is_empty(), "{status:?} without a reason");
        }
        Status::Steady | Status::NotSteady | Status::Undecided => {
            let outgrown = beside && status == Status::NotSteady;
            assert!(!finite || outgrown, "a finite workload that is {status:?}");
        }
    }
    // Of loads packets are under way at the end; all others were delivered or lost.
    assert!(counters.flits_created >= counters.flits_delivered + counters.flits_lost);
}

/// Each packet, and each flit on a channel, is one of a workload.
fn parts_add_up(outcome: &Outcome, scenario: &Scenario) {
    let workloads = &outcome.found.workloads;
    if workloads.is_empty() {
        return;
    }
    assert_eq!(workloads.len(), scenario.workload.members().len());
    let packets = workloads.iter().map(|row| row.measured.packets.unwrap_or(0));
    // Where a run can't go on, what came to its end before is told alone.
    if let Some(all) = outcome.found.measured.packets {
        assert_eq!(packets.sum::<u64>(), all);
    }
    for row in &outcome.found.channels {
        let parts: Vec<u64> = of_workloads(row).into_iter().flatten().collect();
        // One workload has all flits.
        let told = if workloads.len() > 1 { workloads.len() } else { 0 };
        assert_eq!(parts.len(), told, "{}", row.channel);
        if told == 0 {
            continue;
        }
        let flits: u64 = parts.iter().sum();
        // Flits that are sent again, and acknowledgements, are no workload's.
        let all = flits == row.flits || scenario.parameters.errors.is_some() && flits < row.flits;
        assert!(all, "flits of {}: {}, by workload {parts:?}", row.channel, row.flits);
    }
}

/// The flits of each workload, of those that a scenario can have.
fn of_workloads(row: &ChannelRow) -> [Option<u64>; 8] {
    [
        row.flits_workload0,
        row.flits_workload1,
        row.flits_workload2,
        row.flits_workload3,
        row.flits_workload4,
        row.flits_workload5,
        row.flits_workload6,
        row.flits_workload7,
    ]
}

/// A workload that shares neither nodes nor channels with others is as quick as alone.
fn slowed(outcome: &Outcome, scenario: &Scenario) {
    let members = scenario.workload.members();
    for (place, row) in outcome.found.workloads.iter().enumerate() {
        let Some(slowdown) = row.slowdown else { continue };
        let name = &row.name;
        let lucky = scenario.parameters.errors.is_some();
        assert!(lucky || slowdown >= LEAST_SLOWDOWN, "`{name}` takes {slowdown} of its time alone");
        let others = || (0..members.len()).filter(|&other| other != place);
        let nodes = |place: usize| members[place].nodes.as_ref();
        let shares_nodes = others().any(|other| match (nodes(place), nodes(other)) {
            (Some(own), Some(others)) => own.iter().any(|node| others.contains(node)),
            _ => true,
        });
        let shares_channels = outcome.found.channels.iter().any(|row| {
            let flits = of_workloads(row);
            flits[place] > Some(0) && others().any(|other| flits[other] > Some(0))
        });
        if !shares_nodes && !shares_channels {
            assert_eq!(slowdown, 1.0, "`{name}` meets none of the others");
        }
    }
}

/// Goes on from a moment of the run.
fn go_on(document: &Document, simulation: &Simulation, whole: &Outcome, path: &PathBuf) {
    let identity = Scenario::identity(document).expect("it was read before");
    let mut times = 0;
    simulation.run_from(None, &mut |_| {}, &mut |_| times += 1);
    let mut number = 0;
    let mut keep = |snapshot: Snapshot<'_>| {
        if number == times / 2 {
            Checkpoint::write(path, &identity, snapshot).expect("a checkpoint is written");
        }
        number += 1;
    };
    let kept = simulation.run_from(None, &mut patient(), &mut keep);
    same(&kept, whole, "with a checkpoint");
    if times == 0 {
        return;
    }
    let checkpoint = Checkpoint::read(path, &identity).expect("it was written").expect("so");
    fs::remove_file(path).expect("it was written");
    let resumed = simulation.run_from(Some(checkpoint), &mut patient(), &mut |_| {});
    same(&resumed, whole, "from a checkpoint");
}

/// Whether a load goes on for ever.
fn has_load(scenario: &Scenario) -> bool {
    scenario.workload.members().iter().any(|member| !member.spec.is_finite())
}

/// Keeps all packets and messages, and traces an application's path.
fn logged(simulation: Simulation, whole: &Outcome) {
    let all = LogFilter { packets: true, messages: true, terminals: Vec::new(), most: usize::MAX };
    let simulation = simulation.logging_deliveries(all);
    let outcome = simulation.run(&mut patient());
    same(&outcome, whole, "logging");
    // What goes on beside collective operations goes on until the next look at them.
    let scenario = simulation.scenario();
    if scenario.workload.is_finite() && has_load(scenario) || scenario.workload.are_several() {
        return;
    }
    let latest = outcome.logged.packets.iter().map(|packet| packet.delivered).max();
    if let (Some(latest), Some(time)) = (latest, outcome.found.measured.completion_time) {
        // An adapter that cuts through has a message with the first flit of its last packet.
        let parameters = &scenario.parameters;
        let behind = u64::from(parameters.maximum_packet() - 1);
        let end = time + parameters.ejection_flit_time() * behind;
        assert!(latest <= end, "a packet comes at {latest}, behind the end at {time}");
    }
}

/// The same fabric, routes and parameters in a reference engine, with some of the messages.
fn compare(seed: u64, scenario: &Scenario) -> usize {
    let Scenario { network, parameters, .. } = scenario;
    // No reference engine has queues at outputs.
    if parameters.kind.output_queues().is_some() {
        return 0;
    }
    let fabric = &network.fabric;
    let routes = network.routes().expect("it was simulated");
    let Some((messages, collective)) = some_messages(scenario) else { return 0 };
    let scenario = random_scenario::Scenario {
        fabric: fabric.clone(),
        routes: routes.clone(),
        parameters: parameters.clone(),
        messages,
        collective,
    };
    flitlab_random::differential::agree(seed, &scenario)
}

/// The first messages of the workloads, as far as their nodes don't wait for each other, and small
/// collective operations if there are some.
fn some_messages(scenario: &Scenario) -> Option<(Vec<Message>, Option<CollectiveSpec>)> {
    let Scenario { workload, parameters, .. } = scenario;
    let is_collective = |spec: &dyn WorkloadSpec| spec.downcast_ref::<CollectiveSpec>().is_some();
    let (of_trees, others): (Vec<_>, Vec<_>) =
        workload.members().iter().partition(|member| is_collective(&*member.spec));
    let of_trees = of_trees.first().and_then(|member| member.spec.downcast_ref::<CollectiveSpec>());
    let collective = of_trees.map(|spec| CollectiveSpec {
        message: Bytes(spec.message.0.min(700)),
        rounds: spec.rounds.min(3),
        start: spec.start.min(Picoseconds(1_000_000)),
        ..spec.clone()
    });
    // The reference engines know them beside messages of one class.
    if collective.is_some()
        && (others.len() > 1
            || !parameters.classes.is_empty()
            || parameters.head_of_queue_lifetime.is_some())
    {
        return None;
    }
    let mut messages = Vec::new();
    for (class, member) in (0..).zip(others) {
        let of_member = messages_of(&*member.spec, scenario)?.into_iter();
        messages.extend(of_member.map(|message| Message { class, ..message }));
    }
    messages.sort_by_key(|message| (message.time, message.source));
    let mut work = 0;
    let within = |message: &Message| {
        let before = work;
        work += 6 * (scenario.parameters.message_flits(message.bytes) + 2);
        before < WORK
    };
    Some((messages.into_iter().take_while(within).collect(), collective))
}

fn messages_of(workload: &dyn WorkloadSpec, scenario: &Scenario) -> Option<Vec<Message>> {
    let Scenario { network, parameters, seed, .. } = scenario;
    let fabric = &network.fabric;
    Some(if let Some(load) = workload.load() {
        of_load(load, fabric, parameters, *seed)
    } else if let Some(trace) = workload.downcast_ref::<FlowsSpec>() {
        let message = |flow: &Flow| Message {
            time: flow.time,
            source: flow.source,
            destination: flow.destination,
            bytes: flow.bytes,
            kind: MessageKind::Data,
            tag: 0,
            class: 0,
        };
        trace.flows.iter().map(message).collect()
    } else if let Some(exchange) = workload.downcast_ref::<ExchangeSpec>() {
        let kind = match exchange.access {
            Access::Write => MessageKind::Data,
            Access::Read { request } => MessageKind::Read { request: request.0 as u32 },
        };
        let step = Picoseconds(if seed.is_multiple_of(4) { 0 } else { 400_000 });
        of_steps(&exchange.pattern, fabric, *seed, (exchange.message.0, kind, step))
    } else {
        let spec = workload.downcast_ref::<RemoteMemorySpec>()?;
        let request = spec.request.0 as u32;
        let kind = match spec.operation {
            RemoteOperation::Put => MessageKind::Put,
            RemoteOperation::Get => MessageKind::Read { request },
            _ => MessageKind::Atomic { request },
        };
        of_steps(&spec.pattern, fabric, *seed, (spec.message.0, kind, Picoseconds(200_000)))
    })
}

fn of_load(spec: &LoadSpec, fabric: &Fabric, parameters: &Parameters, seed: u64) -> Vec<Message> {
    let slot = parameters.link_flit_time();
    let flits = |bytes| parameters.message_flits(bytes);
    let mut load = OpenLoad::new(spec, fabric, slot, flits, seed).expect("it was simulated");
    let mut messages = Vec::new();
    for terminal in fabric.live_terminals() {
        let mut next = load.first(terminal);
        for _ in 0..20 {
            let Some(time) = next else { break };
            let message;
            (message, next) = load.create(terminal, time);
            messages.extend(message);
        }
    }
    messages
}

fn of_steps(
    pattern: &PatternSpec,
    fabric: &Fabric,
    seed: u64,
    (bytes, kind, step): (u64, MessageKind, Picoseconds),
) -> Vec<Message> {
    let pattern = Pattern::new(pattern, fabric, seed).expect("it was simulated");
    let steps = pattern.steps().expect("of a finite workload");
    let mut messages = Vec::new();
    for number in 0..steps.min(20) {
        for source in fabric.live_terminals() {
            let Some(destination) = pattern.partner(source, number) else { continue };
            let time = u64::from(number) * step;
            messages.push(Message { time, source, destination, bytes, kind, tag: 0, class: 0 });
        }
    }
    messages
}
