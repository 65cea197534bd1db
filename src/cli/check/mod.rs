//! `flitlab check`: what would be run, without running it.

mod bounds;
mod cables;
mod survey;

use clap::Args;
use serde::Serialize;

use super::Failure;
use super::input::Input;
use super::interrupt::Interrupt;
use super::progress::Bar;
use super::run_cost::ExpectedCost;
use super::say::say;
use super::summary::{Expectation, print_json, print_text};
use super::{components, terminal, text};
use flitlab::document::Reference;
use flitlab::engine::{
    InjectionChoice, OutputQueues, PacketKind, Parameters, Passage, RouterKind,
    VIRTUAL_CHANNEL_NAMES, virtual_channels_taken,
};
use flitlab::measure::SENDINGS_OF_A_LIVELOCK;
use flitlab::narrow::narrow;
use flitlab::routing::{RelationRoutes, Routes};
use flitlab::scenario::workload::{Facts, Share};
use flitlab::scenario::{Deadlock, Diagnostics, Network, RoutingSpec, Scenario, Sweep};
use flitlab::simulation::Simulation;
use flitlab::tables::Freedom;
use flitlab::topology::{CableClass, Fabric};
use flitlab::traffic::LoadRates;
use flitlab::units::{Picoseconds, bytes_text, counted, rate_text, time_text};

/// Show what a scenario would run: resolved values, capacity, bounds, rounding
///
/// Reports every mistake of the file at once, those of all points of its [sweep] included, and
/// whether packets can deadlock (exit code 4 if they can). Simulates no more than a moment, to know
/// what one run takes. Tables of a sweep are made for ten seconds at most; how many that left out is
/// said.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab check scenarios/desmos/desmos-uniform.toml\n  \
                        flitlab check --reference > scenario-reference.toml\n  \
                        flitlab check --reference buffer")]
#[group(skip)]
pub(super) struct Check {
    #[command(flatten)]
    input: Option<Input>,
    /// Print every key of a scenario with its meaning, unit, default and range; with a word, those
    /// that have it in their names
    #[arg(long, value_name = "WORD", num_args = 0..=1, conflicts_with_all = ["path", "set"])]
    reference: Option<Option<String>>,
    /// Print the fully resolved scenario only
    #[arg(long, conflicts_with = "json")]
    resolved: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

impl Check {
    /// As a program calls it: no text.
    pub(super) fn for_a_program(&mut self, text: Option<&str>) {
        if let Some(input) = &mut self.input {
            input.text = text.map(str::to_owned);
        }
        self.json = !self.resolved;
    }

    pub(super) fn execute(self) -> Result<(), Failure> {
        if let Some(word) = &self.reference {
            return reference(word.as_deref());
        }
        let Some(input) = self.input else {
            return Err(Failure::input("name a scenario, or ask for --reference"));
        };
        let bar = Bar::of_work("reading the scenario");
        let _interrupt = Interrupt::clear(&bar)?;
        let document = input.document()?;
        let overruled = document.has_sweep() && Sweep::is_overruled(&document);
        if overruled {
            bar.above(|| say("note: [sweep] is left out, since --set gives a key that it sweeps"));
        }
        let points = if document.has_sweep() && !overruled {
            Some(Sweep::read_without_tables(&document)?)
        } else {
            None
        };
        if self.resolved {
            return print_text(&super::folder::resolved(&document)?);
        }
        let scenario = match (Scenario::read(&document), &points) {
            (Ok(scenario), _) => scenario,
            // The first point of the sweep has the values that only the sweep gives.
            (Err(_), Some(sweep)) => {
                if let Some(found) = Sweep::mistakes_of_run(&document) {
                    bar.above(|| say(&refused_by_run(&found)));
                }
                Scenario::read(&sweep.points[0].document)?
            }
            (Err(found), None) => return Err(found.into()),
        };
        bar.doing("looking at all pairs of nodes");
        let simulation = Simulation::new(&scenario)?;
        let expectation = Expectation::new(&simulation);
        bar.doing("looking for what all ways carry");
        let bounds = bounds::of(&simulation);
        bar.doing("simulating the first moments of a run");
        let cost = ExpectedCost::new(&simulation);
        bar.doing("making the tables of [sweep]");
        let sweep = points.as_ref().map(survey::look).transpose()?;
        bar.finish();
        let deadlock = expectation.forwarding_cycle.is_some()
            || sweep.as_ref().is_some_and(|sweep| !sweep.can_deadlock.is_empty());
        if self.json {
            print_json(&Checked {
                expectation: &expectation,
                load_bounds: &bounds,
                one_run: &cost,
                sweep: sweep.as_ref(),
            })?;
        } else {
            print_text(&format!(
                "{}\n{}{}{}{}",
                text::headline(&simulation),
                facts(&simulation, &expectation, &bounds),
                terminal::fact("one run", &cost.text(), 21),
                rounding(&scenario.parameters, simulation.fabric().cable_classes()),
                sweep.as_ref().map_or_else(String::new, survey::text)
            ))?;
        }
        for note in scenario.network.notes() {
            say(&format!("note: {note}"));
        }
        for note in text::notes([&scenario]) {
            say(&format!("note: {note}"));
        }
        for why in simulation.shares().filter_map(|share| share.member().workload.hangs()) {
            say(&format!("warning: {why}"));
        }
        let passage = simulation.passage();
        if let Some(warning) =
            passage.and_then(|passage| passage_warning(&passage, &scenario.parameters))
        {
            say(&format!("warning: {warning}"));
        }
        if let Some(note) = text::adaptive_note(&simulation) {
            say(&format!("note: {note}"));
        }
        if let Some(warning) = order_warning(&simulation) {
            say(&format!("warning: {warning}"));
        }
        for caution in simulation.cautions() {
            say(&format!("warning: {caution}"));
        }
        if !deadlock {
            return Ok(());
        }
        let advice = if expectation.forwarding_cycle.is_some() {
            scenario.deadlock_advice()
        } else {
            sweep.and_then(|sweep| sweep.advice)
        };
        let help = advice.map_or_else(String::new, |advice| format!("\nhelp: {advice}"));
        Err(Failure::Check(format!("error: packets can wait for each other for ever{help}")))
    }
}

/// Returns the message that the sweep is right, and the scenario on its own is not.
fn refused_by_run(found: &Diagnostics) -> String {
    let first = found.iter().next().expect("never empty");
    let place = first
        .place
        .as_ref()
        .map_or_else(String::new, |place| format!(" ({}:{})", place.source.name, place.line()));
    format!(
        "note: flitlab run, which leaves [sweep] out, would refuse this scenario: {}{place}",
        first.message
    )
}

/// Prints the reference, or the part of it that is about a word.
fn reference(word: Option<&str>) -> Result<(), Failure> {
    components::with_offers(|offers| reference_about(offers.reference(), word))
}

fn reference_about(reference: &Reference, word: Option<&str>) -> Result<(), Failure> {
    let Some(word) = word else { return print_text(&reference.to_string()) };
    let part = reference.about(word);
    if !part.is_empty() {
        return print_text(&part.to_string());
    }
    let near = part.nearest().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let message = format!("error: no key and no choice has `{word}` in its name{near}");
    Err(Failure::Input(message))
}

/// The JSON object that `--json` prints.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    expectation: &'a Expectation,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    load_bounds: &'a [bounds::Bound],
    one_run: &'a ExpectedCost,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<&'a survey::Survey>,
}

fn facts(simulation: &Simulation, expectation: &Expectation, bounds: &[bounds::Bound]) -> String {
    let scenario: &Scenario = simulation.scenario();
    let parameters = &scenario.parameters;
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &terminal::fact(name, &value, 21);
    line("channels", cables::counts(simulation));
    if let Some(cables) = cables::text(simulation.fabric(), parameters) {
        line("cables", cables);
    }
    line("routing", routing(&scenario.network));
    line("router", preset(scenario));
    if let Some(queues) = parameters.kind.output_queues() {
        output_queued(queues, &mut line);
    } else {
        line("virtual channels", virtual_channels(simulation));
        let fit = match parameters.buffer / parameters.maximum_packet() {
            0 => format!("a buffer holds {} flits of one", parameters.buffer),
            packets => format!("{packets} such packets fit a buffer"),
        };
        let packet = format!(
            "{} flits of {}, {} of payload; {fit}",
            parameters.maximum_packet(),
            bytes_text(parameters.flit),
            bytes_text(parameters.maximum_payload),
        );
        line("largest packet", packet);
    }
    line("hops", hops(expectation));
    let latency = format!(
        "packets: mean {:.1} ns, at most {:.1} ns; messages: {} more for the hosts",
        expectation.zero_load_latency_mean_ns,
        expectation.zero_load_latency_maximum_ns,
        time_text(parameters.send_overhead + parameters.receive_overhead)
    );
    line("zero-load latency", latency);
    if let Some((most, sent)) = parameters.packets_on_a_link(simulation.fabric().cable_classes()) {
        let units = if parameters.kind.grants_flits() { "flits" } else { "of the largest packets" };
        let bound = f64::from(most) / sent;
        let bound = if bound < 1.0 {
            format!("which bounds each channel to {:.1}% of its rate", 100.0 * bound)
        } else {
            "so they bound nothing".into()
        };
        let text = format!(
            "replay buffer and numbers for {most} {units}, of which {sent:.1} are sent until one is acknowledged: \
             {bound}"
        );
        line("links that err", text);
    }
    if let Some(passage) = simulation.passage() {
        line("getting across", passage_text(&passage, unit_of_retry(parameters)));
    }
    for (number, failure) in interruption(scenario).into_iter().flatten().enumerate() {
        line(if number == 0 { "interruption" } else { "" }, failure);
    }
    line("deadlock", deadlock_text(scenario));
    if let Some(capacity) = expectation.capacity_payload {
        let flits = simulation.fabric().capacity();
        let text =
            format!("load 1 is {flits:.3} flits a flit time, {capacity:.3} GB/s of payload a node");
        line("capacity", text);
    }
    if let Some(load) = simulation.load() {
        let (fraction, payload) = (load.fraction, load.payload / 1e9);
        line("offered", format!("load {fraction:.4}, {payload:.3} GB/s of payload a sending node"));
    }
    let several = scenario.workload.are_several();
    let shares = simulation.shares().map(|share| (share, share.member().workload.facts(share)));
    let shares: Vec<(Share<'_>, Facts)> = shares.collect();
    for (share, facts) in &shares {
        if several {
            line(&share.member().name, workload(*share, scenario));
        }
        facts.lines.iter().for_each(|(name, value)| line(name, value.clone()));
    }
    let (_, facts) = &shares[0];
    match (&expectation.completion_bound_ns, &expectation.bottleneck, facts.without_bound) {
        _ if !scenario.workload.is_finite() => {
            line("throughput bound", throughput_bound(simulation, expectation));
            for (number, text) in bounds::lines(bounds).enumerate() {
                line(if number == 0 { "bounds by ways" } else { "" }, text);
            }
        }
        _ if several => {}
        (Some(bound), Some(bottleneck), _) => {
            line("completion time", format!("at least {:.3} us, by {bottleneck}", bound / 1e3));
        }
        (_, _, Some(reason)) => line("completion time", format!("no bound computed: {reason}")),
        _ => {}
    }
    let further = simulation.further();
    if !further.is_empty() {
        let alone = further.iter().filter(|members| members.len() == 1).count();
        let pairs = further.len() - alone;
        let text = format!("{} more, {alone} of one workload and {pairs} of two", further.len());
        line("simulations", text);
    }
    let silent = expectation.nodes - simulation.senders().len();
    let reason = match scenario.parameters.kind.output_queues() {
        Some(_) => Some("they send to themselves, and their packets count"),
        None if several => Some("no workload has them send"),
        None => facts.silent,
    };
    if let (1.., Some(reason)) = (silent, reason) {
        line("silent nodes", format!("{silent}: {reason}"));
    }
    text
}

/// The routing as the scenario names it, and what it does.
fn routing(network: &Network) -> String {
    let does = match (&network.routing, network.torus()) {
        (RoutingSpec::DirectionOrder(rules), Some((torus, _))) => {
            let moves = |port: &u16| torus.sizes()[torus.dimension(u32::from(*port))] > 1;
            let ports = rules.ports(torus.dimensions()).into_iter().filter(moves);
            let names = ports.map(|port| torus.direction_name(port.into()));
            names.collect::<Vec<_>>().join(" ")
        }
        (RoutingSpec::Angara { algorithm, .. }, _) => algorithm.doc.into(),
        (RoutingSpec::Agnostic { algorithm, .. }, _) => algorithm.doc.into(),
        (RoutingSpec::Relation(spec), _) => spec.rule.doc().into(),
        _ => return network.routing.written(),
    };
    format!("{}: {}", network.routing.written(), does.trim_end_matches('.'))
}

/// The hops of packets: without load, if they take detours by what waits.
fn hops(expectation: &Expectation) -> String {
    let text = format!("mean {:.3}, at most {}", expectation.hops_mean, expectation.hops_maximum);
    match (expectation.detours_under_load, expectation.hops_maximum_with_detours) {
        (false, _) => text,
        (true, Some(most)) => {
            format!("{text}, without load; detours are longer: at most {most} hops")
        }
        (true, None) => format!("{text}, without load; detours are longer"),
    }
}

/// The queues, links and messages of output-queued routers.
fn output_queued(routers: &OutputQueues, line: &mut impl FnMut(&str, String)) {
    line(
        "queues",
        format!(
            "of {} packets: of each link two escapes and an adaptive one, and one of the sink",
            routers.capacity
        ),
    );
    let (packet, answer) = (bytes_text(routers.packet), bytes_text(routers.answer));
    line("packets", format!("of {packet}, each answered by {answer}"));
    let link = |rate, latency| format!("{} and {}", rate_text(rate), time_text(latency));
    line(
        "links",
        format!(
            "{} between routers, {} to and from a node",
            link(routers.external_rate, routers.external_latency),
            link(routers.internal_rate, routers.internal_latency)
        ),
    );
    line(
        "measured",
        format!(
            "{} of each node, all of their packets",
            counted(narrow(routers.messages), "message")
        ),
    );
}

/// One of several workloads: its kind, its nodes, when it begins, and how its packets travel.
fn workload(share: Share<'_>, scenario: &Scenario) -> String {
    let member = share.member();
    let class = scenario.parameters.class(share.class());
    let mut text = format!("{}, {} send", member.kind, counted(member.senders.len(), "node"));
    if let Some(LoadRates { fraction, payload, .. }) = share.offers() {
        text += &format!(" load {fraction:.4}, {:.3} GB/s of payload each", payload / 1e9);
    }
    if member.start > Picoseconds::ZERO {
        text += &format!("; from {} on", time_text(member.start));
    }
    if let Some(end) = member.end {
        text += &format!("; until {}", time_text(end));
    }
    text += match class.packets {
        PacketKind::Usual => "",
        PacketKind::Adaptive => "; all packets adaptive",
        PacketKind::AdaptiveResponses => "; responses adaptive",
        PacketKind::Deterministic => "; all packets deterministic",
    };
    if class.on_response_channel {
        text += "; on the response channel";
    }
    if class.service > 0 {
        text += &format!("; virtual channels of service {}", class.service);
    }
    text
}

/// Sendings of a packet from which on links that err are of little use.
const MANY_SENDINGS: f64 = 10.0;

/// Returns a warning about links that damage nearly every packet.
fn passage_warning(passage: &Passage, parameters: &Parameters) -> Option<String> {
    let sendings = passage.sendings();
    let (units, way_out) = match parameters.kind.grants_flits() {
        true => ("flits", "make errors rarer ([link.errors])"),
        false => (
            "the largest packets",
            "make packets smaller (router.maximum_payload), or errors rarer ([link.errors])",
        ),
    };
    if sendings > SENDINGS_OF_A_LIVELOCK as f64 {
        let most = SENDINGS_OF_A_LIVELOCK;
        return Some(format!(
            "{units} never get across a cable that errs: a run ends as a livelock once \
             packets were sent again {most} times in vain; {way_out}"
        ));
    }
    (sendings > MANY_SENDINGS)
        .then(|| format!("{units} are sent {sendings:.0} times each on cables that err; {way_out}"))
}

/// Returns a warning about an order of packets that is asked for and not kept.
fn order_warning(simulation: &Simulation) -> Option<&'static str> {
    let asked = simulation.scenario().parameters.injection_choice == InjectionChoice::ByDestination;
    (asked && simulation.routes().draws()).then_some(
        "the order of a pair's packets is not kept, whatever adapter.injection_choice is, since pairs have several \
         routes; a routing with one route a pair, such as `balanced`, keeps it",
    )
}

/// What links number, and send again.
fn unit_of_retry(parameters: &Parameters) -> &'static str {
    if parameters.kind.grants_flits() { "a flit" } else { "one of the largest packets" }
}

/// How the largest packets, or flits, get across channels that err.
fn passage_text(passage: &Passage, unit: &str) -> String {
    let probability = passage.probability;
    if probability >= 1.0 {
        return "nothing is damaged".into();
    }
    if passage.sendings() > SENDINGS_OF_A_LIVELOCK as f64 {
        return format!("{unit} gets across with probability {probability:.1e}: practically never");
    }
    format!(
        "{unit} gets across with probability {probability:.4}, and is sent {:.2} \
         times in the mean; about {:.1}% of a channel's rate are left",
        passage.sendings(),
        100.0 * passage.rate
    )
}

/// What fails during operation, a text a failure, and how long it took here to make new routes; none
/// if nothing fails.
fn interruption(scenario: &Scenario) -> Option<Vec<String>> {
    let spec = scenario.interruption.as_ref()?;
    let changes = scenario.network.table_changes(spec).ok()?;
    let terminals = |fabric: &Fabric| fabric.live_terminals().count();
    let mut left = scenario.network.fabric.clone();
    let mut before = &scenario.network;
    let mut texts = Vec::new();
    for (number, failure) in (1..).zip(&spec.failures) {
        let less = failure.failed.apply(&left).ok()?;
        let lost = terminals(&left) - terminals(&less);
        let cables = (left.channels() - less.channels()) / 2;
        left = less;
        let fails = format!(
            "at {} {} and {} fail",
            time_text(failure.time),
            counted(cables, "cable"),
            counted(lost, "node")
        );
        let Some(change) = changes.iter().find(|change| change.failures.end == number) else {
            texts.push(format!("{fails}; until new tables are ready the next failure comes"));
            continue;
        };
        let changed = before.changes_to(&change.network).map(|changes| {
            let destinations = left.live_terminals().count();
            format!(
                ", with other entries for {} of {destinations} destinations, in {}",
                changes.destinations,
                counted(narrow(changes.blocks), "block")
            )
        });
        let making = change.network.making()?.as_secs_f64() * 1e3;
        texts.push(format!(
            "{fails}; new tables {} later (making them took {making:.1} ms here){}",
            time_text(change.ready - failure.time),
            changed.unwrap_or_default()
        ));
        before = &change.network;
    }
    if let Some(last) = texts.last_mut() {
        *last += "; sources wait until the network is empty, so packets of old and new routes never meet";
    }
    Some(texts)
}

/// Whether packets can wait for each other for ever, and why not.
fn deadlock_text(scenario: &Scenario) -> String {
    let none = match scenario.responder_resources() {
        Some(_) => {
            "no packets can wait for each other for ever (requests wait for responses, and these, apart from them, for no \
             requests)"
        }
        None => "no packets can wait for each other for ever",
    };
    match &scenario.deadlock() {
        Deadlock::Never(Freedom::NoCircle) => {
            format!("{none}: what waits for what leads in no circle")
        }
        Deadlock::Never(Freedom::Escape) => {
            format!("{none}: all have an escape, and these lead in no circle")
        }
        Deadlock::Never(Freedom::Bubble) => {
            format!("{none}: rings keep a bubble, and packets have one size")
        }
        Deadlock::Rarely { advice } => {
            let advice =
                advice.as_ref().map_or(String::new(), |set| format!("; {set} rules it out"));
            format!(
                "hardly ever: rings keep a bubble, which small packets can split among buffers, so packets of several sizes \
                 have deadlocked (docs/model.md){advice}"
            )
        }
        Deadlock::Possible { how, .. } => how.clone(),
        Deadlock::Dropped { how, lifetime } => text::dropped_text(how, *lifetime),
    }
}

fn throughput_bound(simulation: &Simulation, expectation: &Expectation) -> String {
    match (expectation.throughput_bound_load, &expectation.bottleneck) {
        (Some(bound), Some(bottleneck)) => {
            let past = simulation.load().is_some_and(|load| load.fraction > bound);
            let verdict = if past { "; less than offered: it can't be steady" } else { "" };
            format!("load {bound:.4} of all sending nodes at once, by {bottleneck}{verdict}")
        }
        _ => "not computed: too many pairs to look at".into(),
    }
}

/// Where the router's defaults come from, and whether there is a bubble.
fn preset(scenario: &Scenario) -> String {
    let bubble = if scenario.parameters.bubble { "with" } else { "without" };
    let dateline = if scenario.network.routing.has_dateline() { ", with datelines" } else { "" };
    let behind = match scenario.parameters.kind {
        RouterKind::WholePackets | RouterKind::SharedLinks(_) => String::new(),
        RouterKind::OutputBuffers(flits) => {
            format!(", with buffers of {flits} flits at outputs for each virtual channel")
        }
        RouterKind::OutputQueues(_) => {
            return format!("preset {}, output-queued, store-and-forward", scenario.preset);
        }
    };
    format!("preset {}, {bubble} bubble flow control{dateline}{behind}", scenario.preset)
}

/// Names and purposes; of a forwarding table how many it uses.
fn virtual_channels(simulation: &Simulation) -> String {
    let scenario = simulation.scenario();
    let all = scenario.parameters.virtual_channels;
    if let Some(proof) = scenario.network.forwarding_proof() {
        let used = format!("{all}, of which the forwarding table uses {}", proof.vcs_used());
        return match scenario.spread_to_advise() {
            None => used,
            Some((value, vcs)) => format!(
                "{used}; `spread = {value:?}` in [routing.agnostic] spreads packets over {vcs}"
            ),
        };
    }
    if let Ok(Routes::Relation(RelationRoutes { rule: Some(rule), .. })) = scenario.network.routes()
    {
        return format!("{all}, of which the relation uses {}", rule.steps());
    }
    if let RoutingSpec::Relation(spec) = &scenario.network.routing {
        return format!("{all}, of which the relation uses {}", spec.vcs);
    }
    let names: &[&str] = match &scenario.network.routing {
        RoutingSpec::Adaptive(..) if scenario.network.routing.has_dateline() => {
            &["request", "request past the dateline", "response", "response past it", "adaptive"]
        }
        routing if routing.has_dateline() => {
            let responses = match scenario.parameters.message_classes {
                1 => "responses too",
                _ => "responses 2 and 3",
            };
            return format!(
                "{all}; on rings data and requests take 0 and 1, {responses}, by whether they pass the dateline"
            );
        }
        RoutingSpec::Adaptive(..) => &VIRTUAL_CHANNEL_NAMES,
        _ if scenario.parameters.kind.grants_flits() => {
            return format!(
                "{all}; packets take any of them; where some are answered, requests the lower half and responses the rest"
            );
        }
        _ => &VIRTUAL_CHANNEL_NAMES,
    };
    let workload = simulation.workload();
    let taken = virtual_channels_taken(simulation.routes(), &scenario.parameters, &*workload);
    let named = (0..).zip(names).filter(|(number, _)| taken.contains(number));
    let named = named.map(|(number, name)| match purpose(simulation, number, &taken) {
        Some(purpose) => format!("{number} {name} ({purpose})"),
        None => format!("{number} {name}"),
    });
    let named: Vec<String> = named.collect();
    match named.is_empty() {
        true => format!("{all}, of which this traffic takes none"),
        false => format!("{all}, of which this traffic takes {}", named.join(", ")),
    }
}

/// Returns the purpose of a virtual channel under adaptive routing, besides the one that its name
/// tells, if packets choose among those that are taken.
fn purpose(simulation: &Simulation, virtual_channel: u8, taken: &[u8]) -> Option<&'static str> {
    match &simulation.scenario().network.routing {
        RoutingSpec::Adaptive(rules, ..) if taken.contains(&rules.channels.adaptive) => {
            rules.purpose(virtual_channel)
        }
        _ => None,
    }
}

/// Rates that give no whole number of picoseconds a flit, and by how much they are off.
fn rounding(parameters: &Parameters, cables: &[CableClass]) -> String {
    let rounded = text::rounded_rates(parameters, cables, 0.0);
    rounded.iter().map(|value| terminal::fact("rounding", value, 21)).collect()
}
