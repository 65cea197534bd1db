//! `[application]`: what ranks send, receive and compute, and where their time went.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use cpu_time::ThreadTime;

use super::{
    Bound, BoundWorkload, Checked, Ended, Facts, Given, Hangs, Room, Share, WorkloadKind,
    WorkloadSpec,
};
use crate::Scenario;
use crate::checks::{Checks, PACKET};
use crate::schema::application;
use crate::simulation::{Outcome, SetupError, TOO_LONG, Work};
use flitlab_application::loggops::{self, LogGops, simulate};
use flitlab_application::{ANY, Action, Operation, Schedule, Stuck};
use flitlab_base::document::Reader;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_base::units::{Bytes, Picoseconds, bytes_text};
use flitlab_engine::{EmptyNetwork, Followed, Grant, Parameters};
use flitlab_fabric::CableClass;
use flitlab_measure::{CompletionBound, Explanation, Logged, Spent, application_bound, explain};
use flitlab_report::{Explained, OperationFacts, PathChannelRow, PointResult, PointRow, Status};
use flitlab_routing::Routes;
use flitlab_traffic::{
    Access, Application, ApplicationSpec, Carrier, Leg, LegKind, Pattern, Placement,
    PlacementError, Transfer, Workload,
};

/// The number of looks at the channels that hold up a critical path.
const LOOKS: u64 = 2000;

pub(super) const APPLICATION: Row<WorkloadKind> = Row::new(
    "application",
    "An application: what each of its ranks sends, receives and computes, as docs/model.md says under \
     \"Applications\".",
    WorkloadKind { purpose: "for what ranks do", beside_load: false, read },
);

fn read(reader: &mut Reader<'_>, given: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let spec = application::read(reader, given)?;
    Some(Arc::new(spec))
}

impl WorkloadSpec for ApplicationSpec {
    /// Whether all ranks have nodes, and the packets of their messages can be counted.
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        if checked.parameters.errors.is_some() && !self.crosses_network() {
            let message = "the LogGOPS model has no links that could err";
            let help = "leave out `network` in [application], or [link.errors]";
            checks.refuse(&["link.errors", "application.network"], message, help);
        }
        let keys = ["application.placement", "application.ranks_per_node", "application.file"];
        if let Some(fabric) = checked.fabric.filter(|_| checks.sound(&keys)) {
            let live = self.nodes_of(fabric);
            let (ranks, each) = (self.schedule.ranks(), self.ranks_per_node);
            if let Err(error) = self.placement.nodes(ranks, each, &live, checked.seed) {
                let more = u64::from(ranks).div_ceil(live.len().max(1) as u64);
                let help = matches!(error, PlacementError::TooManyRanks { .. })
                    .then(|| format!("with `ranks_per_node = {more}` there is room for all"));
                checks.report(&keys, error.to_string(), "", help);
            }
        }
        let control = self.host.control_message.0;
        let sizes = self.schedule.operations().filter_map(|it| match it.action {
            Action::Send => Some(it.amount),
            Action::Remote(remote) => {
                let (request, response) = remote.payloads(it.amount, control);
                Some(request.max(response))
            }
            Action::Receive | Action::Compute => None,
        });
        let largest = Bytes(sizes.max().unwrap_or(0));
        // LogGOPS has no packets.
        if self.carrier == Carrier::Flits {
            checks.packets_of_file(checked.parameters, largest, "application.message");
            packets_without_flits(self, checks, checked);
        }
    }

    fn bind(&self, scenario: &Scenario, room: &Room<'_>) -> Result<Bound, SetupError> {
        room(Application::memory_needed(self, scenario.network.fabric.terminals()))?;
        placed(self, scenario)
    }

    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access)) {
        let mut most = 0;
        for &Operation { action, amount, .. } in self.schedule.operations() {
            match action {
                Action::Send => {
                    each(amount, Access::Write);
                    most = most.max(amount);
                }
                Action::Remote(remote) => {
                    let (bytes, access) = Access::of(remote, amount, self.host.control_message.0);
                    each(bytes, access);
                }
                Action::Receive | Action::Compute => {}
            }
        }
        // Larger messages are asked for.
        if most > self.host.eager_limit.0 {
            each(self.host.control_message.0, Access::Write);
        }
    }

    fn draws(&self) -> bool {
        self.placement == Placement::Random
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The ranks' streams are busy for these times, which the engine does not know.
    fn has_host_overheads(&self) -> bool {
        true
    }

    /// Of channels LogGOPS knows nothing.
    fn crosses_network(&self) -> bool {
        self.carrier == Carrier::Flits
    }
}

/// An application whose ranks have their nodes.
#[derive(Debug)]
struct BoundApplication {
    /// The terminals of the ranks.
    places: Vec<u32>,
    /// The messages between nodes.
    messages: Vec<Transfer>,
    /// Bytes of data in them.
    payload: u128,
    spec: ApplicationSpec,
}

/// The nodes of an application's ranks, and what they send each other.
fn placed(spec: &ApplicationSpec, scenario: &Scenario) -> Result<Bound, SetupError> {
    let (fabric, seed) = (&scenario.network.fabric, scenario.seed);
    let live = spec.nodes_of(fabric);
    let ranks = spec.schedule.ranks();
    let places = spec.placement.nodes(ranks, spec.ranks_per_node, &live, seed);
    let places = places.map_err(|error| SetupError::Workload(error.to_string()))?;
    let messages = spec.messages(&places);
    let mut sorted = messages.clone();
    sorted.sort_unstable();
    let ends = |it: &Transfer| (it.source, it.destination);
    let weights = sorted.chunk_by(|a, b| ends(a) == ends(b)).map(|same| {
        let bytes: f64 = same.iter().map(|it| it.bytes.max(1) as f64).sum();
        (same[0].source, same[0].destination, bytes)
    });
    let weights: Vec<_> = weights.collect();
    let pattern = Pattern::of_weights(&weights, fabric)?;
    let payload = spec.payload(&places);
    let bound = BoundApplication { places, messages, payload, spec: spec.clone() };
    let mean = payload / bound.messages.len().max(1) as u128;
    let message = (u64::try_from(mean).unwrap_or(u64::MAX).into(), Access::Write);
    Ok(Bound { pattern, message, workload: Box::new(bound) })
}

impl BoundWorkload for BoundApplication {
    fn workload(&self, share: Share<'_>) -> Box<dyn Workload> {
        let records = Application::keeps_records(&self.spec);
        let terminals = share.fabric().terminals();
        Box::new(Application::new(&self.spec, &self.places, terminals, records))
    }

    fn memory_afterwards(&self) -> u64 {
        Application::memory_of_records(&self.spec)
    }

    fn completion_bound(&self, share: Share<'_>) -> Option<CompletionBound> {
        if !self.spec.crosses_network() || self.messages.is_empty() {
            return None;
        }
        let (fabric, routes) = (share.fabric(), share.routes());
        let parameters = share.parameters();
        let host = &self.spec.host;
        // A message that is fetched is worked on before it comes.
        let fetched = matches!(host.answer, flitlab_traffic::Answer::Get(_));
        let receive = if fetched { Picoseconds::ZERO } else { host.receive_overhead };
        let hosts = (host.send_overhead, receive);
        let mut bound = application_bound(fabric, routes, parameters, &self.messages, hosts)?;
        if host.adapter.cut_through {
            // Nobody waits for the flits behind the first one of the last packet.
            let behind = u64::from(parameters.maximum_packet().saturating_sub(1));
            let trailing = parameters.ejection_flit_time() * behind;
            for time in [&mut bound.time, &mut bound.by_rates, &mut bound.by_credits] {
                *time = time.saturating_sub(trailing);
            }
        }
        Some(bound)
    }

    fn why_over_bound(&self, _: Share<'_>, _: &CompletionBound, _: Picoseconds) -> Option<String> {
        Some("the bound counts messages alone; the critical path says what ranks waited for".into())
    }

    fn hangs(&self) -> Option<String> {
        let schedule = &self.spec.schedule;
        let stuck = loggops::hangs(schedule, self.spec.eager_limit())?;
        Some(format!("the application will hang:\n{}", told(&stuck, &self.spec)))
    }

    fn facts(&self, _: Share<'_>) -> Facts {
        let schedule = &self.spec.schedule;
        let of = |action| schedule.operations().filter(move |it| it.action == action);
        let bytes: u128 = of(Action::Send).map(|it| u128::from(it.amount)).sum();
        let text = format!(
            "{} ranks, {} operations: {} messages of {:.3} MB in all, {} receipts, {} computations",
            schedule.ranks(),
            schedule.operations().len(),
            of(Action::Send).count(),
            bytes as f64 / 1e6,
            of(Action::Receive).count(),
            of(Action::Compute).count()
        );
        let remote =
            schedule.operations().filter(|it| matches!(it.action, Action::Remote(_))).count();
        let text = match remote {
            0 => text,
            _ => format!("{text}, {remote} one-sided"),
        };
        let usual = Facts::default();
        let loggops = Some("LogGOPS knows no channels");
        Facts {
            lines: vec![("application", text)],
            without_bound: match (self.spec.crosses_network(), self.messages.is_empty()) {
                (false, _) => loggops,
                (true, true) => Some("no message goes from node to node"),
                (true, false) => usual.without_bound,
            },
            silent: Some("their ranks send nothing to other nodes"),
        }
    }

    fn without_network(&self, row: &PointRow) -> Option<Outcome> {
        match &self.spec.carrier {
            Carrier::Flits => None,
            Carrier::LogGops(parameters) => Some(run_loggops(&self.spec, parameters, row.clone())),
        }
    }

    fn finish(&self, ended: &Ended<'_, '_>, result: &mut PointResult) -> Result<(), Hangs> {
        let schedule = &self.spec.schedule;
        let outcome = match Application::outcome(
            ended.engine.workload_of::<Application>(ended.share.class()),
        ) {
            Ok(outcome) => outcome,
            Err(ranks) => {
                let warning = stuck_warning(&ranks, &self.spec);
                return Err(Hangs { time: ranks.time, warning });
            }
        };
        let each = self.payload as f64 / ended.share.senders().len().max(1) as f64;
        let row = &mut result.measured;
        let completion = outcome.time();
        (row.completion_time, row.simulated_time) = (Some(completion), Some(completion));
        // Bytes a picosecond are TB/s.
        row.bandwidth = Some(each / completion.max(Picoseconds(1)).0 as f64 * 1e3);
        if !Application::keeps_records(&self.spec) {
            result.warnings.push(format!(
                "where the time went is not told of so many operations ({}), which would fill the memory; fewer \
                 `iterations` have the same shares",
                schedule.operations().len()
            ));
            return Ok(());
        }
        let explanation = self.explain(ended.share, &outcome);
        if let Some(timeline) = &ended.share.simulation().timeline {
            let member = ended.share.member();
            let records = &outcome.records;
            timeline.add((&member.name, member.start), schedule, records, &explanation);
        }
        with_times(row, &explanation);
        let finished = &outcome.finished;
        let describe = |it| schedule.describe(it);
        result.explained =
            Explained::new(&explanation, finished, describe, |it| facts(schedule, it));
        if ended.share.simulation().traces_path {
            self.trace_path(ended.share, &outcome, &explanation, &mut result.explained);
        }
        Ok(())
    }
}

/// Fills in how the time was spent.
fn with_times(row: &mut PointRow, explanation: &Explanation) {
    [
        row.path_compute,
        row.path_host,
        row.path_partner,
        row.path_injection,
        row.path_queueing,
        row.path_flight,
    ] = explanation.path_times().map(Some);
    [
        row.ranks_compute,
        row.ranks_host,
        row.ranks_partner,
        row.ranks_injection,
        row.ranks_queueing,
        row.ranks_flight,
    ] = explanation.rank_times().map(Some);
}

impl BoundApplication {
    /// Where an application's time went.
    fn explain(&self, share: Share<'_>, outcome: &flitlab_traffic::Outcome) -> Explanation {
        let (spec, places) = (&self.spec, &self.places);
        let (parameters, fabric) = (share.parameters(), share.fabric());
        let empty = EmptyNetwork::new(parameters, fabric.cable_classes());
        let flight = |leg: &Leg| {
            if leg.in_memory {
                return leg.delivered - leg.injected;
            }
            let adapter = &spec.host.adapter;
            let (bytes, performing) = sent(leg, spec, parameters);
            let last = parameters.packets(bytes).1.unwrap_or(parameters.maximum_payload.0);
            let flits = parameters.packet_flits(last);
            let ends = ends_of(leg, spec).map(|rank| places[rank as usize]);
            let ends_classes = ends.map(|terminal| fabric.terminal_class(terminal));
            let alone = empty.latency(ends_classes, classes_of_way(share, ends, leg.hops), flits);
            let trailing = parameters.ejection_flit_time() * u64::from(flits.saturating_sub(1));
            let early = if adapter.cut_through { trailing } else { Picoseconds::ZERO };
            let before = parameters.message_flits(bytes).saturating_sub(flits.into());
            let leading = parameters.ejection_flit_time() * before;
            let early = if leg.kind == LegKind::Request { Picoseconds::ZERO } else { early };
            alone - early + spec.host.arrival(leg.kind, leading) + performing
        };
        let bars = share.simulation().bars_of_each();
        let noticing = spec.host.receive_overhead;
        explain(&spec.schedule, &outcome.records, places, bars, noticing, flight)
    }

    /// Adds the channels that the critical path waited for, and which of them held each message up
    /// longest. Simulates everything again, and looks at which channel holds up the path's message
    /// at [`LOOKS`] times at the most, equally far apart in the time that these take.
    fn trace_path(
        &self,
        share: Share<'_>,
        outcome: &flitlab_traffic::Outcome,
        explanation: &Explanation,
        explained: &mut Explained,
    ) {
        let (places, spec) = (&self.places, &self.spec);
        let followed = |leg: &Leg| Followed {
            source: places[ends_of(leg, spec)[0] as usize],
            channel: leg.channel,
            sequence: leg.sequence,
        };
        // The application's own time counts from here.
        let begin = share.member().start;
        // Each message on the path, one after the other, with its stretches.
        let mut messages: Vec<(Range<usize>, Followed)> = Vec::new();
        let mut first = 0;
        for message in explanation.path.chunk_by(|one, next| one.leg == next.leg) {
            let stretches = first..first + message.len();
            first = stretches.end;
            let leg = message[0].leg.map(|number| &outcome.records.legs[number as usize]);
            if let Some(leg) = leg.filter(|leg| !leg.in_memory) {
                messages.push((stretches, followed(leg)));
            }
        }
        let mut engine =
            share.simulation().engine_without_logs(share.simulation().workload(), None);
        engine.trace(messages.iter().map(|(_, packet)| (packet.source, packet.sequence)));
        let time = |stretches: &Range<usize>| {
            let path = &explanation.path[stretches.clone()];
            (begin + path[0].start, begin + path[path.len() - 1].end)
        };
        let times = messages.iter().map(|(stretches, _)| time(stretches));
        let all: Picoseconds = times.map(|(start, end)| end - start).sum();
        let apart = all.div_ceil(LOOKS).max(Picoseconds(1));
        // By message.
        let mut held_up: Vec<Vec<String>> = Vec::new();
        // From one message on to the next, the first look half as far from the start.
        let mut next = apart / 2;
        for (stretches, packet) in &messages {
            let (start, end) = time(stretches);
            let mut channels = Vec::new();
            while start + next < end {
                engine.run_until(start + next);
                channels.extend(engine.held_up_by(*packet));
                next += apart;
            }
            next -= end - start;
            held_up.push(channels);
        }
        // Loads beside it go on for ever.
        engine.run_until(begin + outcome.time());
        let grants = engine.traced();
        // The one of each packet that waited longest.
        let mut longest: BTreeMap<(u32, u32), &Grant> = BTreeMap::new();
        for grant in &grants {
            let of_packet = longest.entry((grant.source, grant.sequence)).or_insert(grant);
            if grant.waited > of_packet.waited {
                *of_packet = grant;
            }
        }
        for ((stretches, packet), channels) in messages.into_iter().zip(&held_up) {
            let grant = longest.get(&(packet.source, packet.sequence));
            for row in &mut explained.path[stretches] {
                if row.spent_on == Spent::Queueing {
                    let time = row.end - row.start;
                    // No look may have fallen into a short time.
                    let longest = longest_of(channels, time).or_else(|| {
                        grant.map(|grant| (grant.channel.clone(), grant.waited.min(time)))
                    });
                    (row.held_up_by, row.held_up) =
                        longest.filter(|it| it.1 > Picoseconds::ZERO).unzip();
                }
            }
        }
        let waited = explanation.path_times()[Spent::Queueing as usize];
        explained.channels = PathChannelRow::of(&grants, &held_up.concat(), waited);
    }
}

/// Of the channels that held a message up when it was looked at, the most frequent one, with its
/// share of a time; of several the first by name.
fn longest_of(channels: &[String], time: Picoseconds) -> Option<(String, Picoseconds)> {
    let mut sorted: Vec<&String> = channels.iter().collect();
    sorted.sort_unstable();
    let same = sorted.chunk_by(|one, next| one == next).rev();
    let most = same.max_by_key(|same| same.len())?;
    let share = u128::from(time) * most.len() as u128 / channels.len() as u128;
    Some((most[0].clone(), Picoseconds::from_wide(share)))
}

/// What rows tell of an operation.
fn facts(schedule: &Schedule, number: u32) -> OperationFacts {
    let operation = schedule.operation(number);
    let action = match operation.action {
        Action::Compute => "compute",
        Action::Send => "send",
        Action::Receive => "receive",
        Action::Remote(remote) => remote.name(),
    };
    let is_message = operation.action != Action::Compute;
    OperationFacts {
        phase: schedule.phase(number).map(str::to_owned),
        action,
        bytes: is_message.then_some(operation.amount),
        peer: (is_message && operation.peer != ANY).then_some(operation.peer),
    }
}

/// The classes of the cables of a way with so many hops; where packets choose ways, which are
/// not known, the fastest of the fabric, so that what they take at least is known.
pub(super) fn classes_of_way(
    share: Share<'_>,
    [source, destination]: [u32; 2],
    hops: u8,
) -> Vec<u8> {
    let fabric = share.fabric();
    let mut classes = Vec::new();
    if fabric.cable_classes().len() > 1 {
        share.routes().for_each_channel(fabric, source, destination, |channel| {
            classes.push(fabric.cable_class(channel));
        });
    }
    let chosen = matches!(share.routes(), Routes::Adaptive(_) | Routes::Relation(_));
    if chosen || classes.len() != usize::from(hops) {
        let slowness = |class: &CableClass| class.rate.slowness();
        let fastest = (0..)
            .zip(fabric.cable_classes())
            .min_by(|one, other| slowness(one.1).total_cmp(&slowness(other.1)));
        classes = vec![fastest.expect("a class of cables").0; hops.into()];
    }
    classes
}

/// The rank that a leg of a message comes from, and the one that it goes to.
fn ends_of(leg: &Leg, spec: &ApplicationSpec) -> [u32; 2] {
    let sender = spec.schedule.rank_of(leg.operation);
    let receiver = spec.schedule.operation(leg.operation).peer;
    match leg.kind {
        // It goes the other way.
        LegKind::Answer | LegKind::Finish | LegKind::Response => [receiver, sender],
        LegKind::Eager | LegKind::Data | LegKind::Ask | LegKind::Request => [sender, receiver],
    }
}

/// The payload of a leg, and how long the target's adapter works on a request.
fn sent(leg: &Leg, spec: &ApplicationSpec, parameters: &Parameters) -> (u64, Picoseconds) {
    let &Operation { action, amount, .. } = spec.schedule.operation(leg.operation);
    let control = spec.host.control_message.0;
    match (leg.kind, action) {
        (LegKind::Request, Action::Remote(remote)) => {
            let atomic =
                if remote.is_atomic() { parameters.atomic_time } else { Picoseconds::ZERO };
            (remote.payloads(amount, control).0, atomic + parameters.service_time)
        }
        (LegKind::Response, Action::Remote(remote)) => {
            (remote.payloads(amount, control).1, Picoseconds::ZERO)
        }
        (LegKind::Ask | LegKind::Answer | LegKind::Finish, _) => (control, Picoseconds::ZERO),
        _ => (amount, Picoseconds::ZERO),
    }
}

/// Without header and checksum a packet without payload has no flits.
fn packets_without_flits(spec: &ApplicationSpec, checks: &mut Checks<'_>, checked: &Checked<'_>) {
    let parameters = checked.parameters;
    if !checks.sound(&PACKET) || parameters.header_flits + parameters.checksum_flits > 0 {
        return;
    }
    let control = spec.host.control_message.0;
    let is_empty = |number: &u32| match spec.schedule.operation(*number).action {
        Action::Remote(remote) => {
            let amount = spec.schedule.operation(*number).amount;
            let (request, response) = remote.payloads(amount, control);
            request == 0 || response == 0
        }
        _ => false,
    };
    let all = narrow(spec.schedule.operations().len());
    if let Some(number) = (0..all).find(is_empty) {
        let message = format!(
            "{} has a request or a response without payload, which without header and checksum is a packet of no \
             flits",
            spec.schedule.describe(number)
        );
        let keys = ["application.file", "application.schedule", PACKET[2], PACKET[3]];
        checks.refuse(&keys, message, "set `header_flits` to 1");
    }
}

/// Simulates an application under LogGOPS: no network, and so no engine.
fn run_loggops(spec: &ApplicationSpec, parameters: &LogGops, row: PointRow) -> Outcome {
    let (started, clock) = (ThreadTime::now(), Instant::now());
    let finished = simulate(&spec.schedule, parameters);
    let work = Work { simulating: started.elapsed(), elapsed: clock.elapsed(), ..Work::default() };
    let found = match finished {
        Ok(finished) if !finished.time().is_told() => {
            let measured = PointRow { status: Status::TooLong, ..row };
            PointResult { measured, warnings: vec![TOO_LONG.into()], ..PointResult::default() }
        }
        Ok(finished) => {
            let time = Some(finished.time());
            let status = Status::Completed;
            let measured = PointRow { status, completion_time: time, simulated_time: time, ..row };
            PointResult { measured, ..PointResult::default() }
        }
        Err(stuck) => {
            let time = Some(stuck.time);
            let measured = PointRow { status: Status::Stuck, simulated_time: time, ..row };
            let warnings = vec![stuck_warning(&stuck, spec)];
            PointResult { measured, warnings, ..PointResult::default() }
        }
    };
    Outcome { found, deadlock: None, logged: Logged::default(), work }
}

/// Why an application does not come to its end.
fn stuck_warning(stuck: &Stuck, spec: &ApplicationSpec) -> String {
    format!("the application hangs:\n{}", told(stuck, spec))
}

/// What waits for what, and the way out if large messages wait for receipts that never come.
fn told(stuck: &Stuck, spec: &ApplicationSpec) -> String {
    let schedule = &spec.schedule;
    let mut text = stuck.describe(schedule);
    let sends = schedule.operations().filter(|it| it.action == Action::Send);
    let largest = sends.map(|it| it.amount).max().unwrap_or(0);
    let limit = spec.eager_limit();
    let waits_for_receipts = largest > limit && loggops::hangs(schedule, largest).is_none();
    if waits_for_receipts {
        let (limit, largest) = (bytes_text(Bytes(limit)), bytes_text(Bytes(largest)));
        let place = match spec.carrier {
            Carrier::Flits => "[application]",
            Carrier::LogGops(_) => "`network = { loggops = { ... } }`",
        };
        text += &format!(
            "\nmessages of more than {limit} wait for their receipt; with `eager_limit = \"{largest}\"` in {place} none \
             does, and it comes to its end"
        );
    }
    text
}
