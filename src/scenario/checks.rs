//! Rules between keys: what no single key can know, above all physical impossibilities.
//!
//! Each rule names the keys that it depends on, the likeliest culprit first. It is skipped if one of
//! them is wrong by itself, and reported at the first one that is written.

mod bubbles;
mod collective;
mod errors;
mod remote_memory;
mod sharing;

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Document, Network, Purpose, RoutingError, RoutingSpec, TopologySpec, WorkloadSpec,
    schema::Draft,
};
use crate::{
    application::Action,
    document::Diagnostic,
    engine::{
        LONGEST, MOST_BUFFERS, MOST_FLITS, MOST_PACKETS, Parameters, VIRTUAL_CHANNELS, most_buffers,
    },
    narrow::{narrow, rounded},
    routing::relation::NoRelation,
    topology::Fabric,
    traffic::{
        Access, ApplicationSpec, ExchangeSpec, LoadSpec, OfferedLoad, Pattern, PatternSpec,
        PlacementError, Process,
    },
    units::{Bytes, Picoseconds, Rate, bytes_text, rate_text, time_text},
};

/// Networks already built, so that the points of a sweep share them.
#[derive(Default)]
pub(super) struct Fabrics {
    /// Tables that tell only when they are made whether they can be are left until somebody asks for them.
    without_tables: bool,
    known: Vec<(Key, Result<Arc<Network>, Refusal>)>,
}

/// What a network is made of; the seed is the scenario's.
type Key = (TopologySpec, RoutingSpec, u64);

/// Why there is no such network.
#[derive(Clone)]
struct Refusal {
    message: String,
    help: Option<String>,
    /// The key that is to blame, if it isn't the topology.
    key: Option<&'static str>,
}

impl Fabrics {
    /// Networks whose tables for any fabric are made when somebody asks for them.
    pub(super) fn without_tables() -> Self {
        Self { without_tables: true, ..Self::default() }
    }

    fn get(&mut self, key: Key, purpose: Purpose) -> Result<Arc<Network>, Refusal> {
        if let Some((_, outcome)) = self.known.iter().find(|(other, outcome)| match outcome {
            Ok(network) => network.is(&key.0, &key.1, key.2),
            Err(_) => *other == key,
        }) {
            return outcome.clone();
        }
        let mut outcome = network(key.clone());
        if purpose != Purpose::Routes {
            let later = self.without_tables
                && matches!(key.1, RoutingSpec::Agnostic { .. } | RoutingSpec::Relation(_));
            outcome =
                outcome.and_then(|network| if later { Ok(network) } else { routable(network) });
        }
        let outcome = outcome.map(Arc::new);
        self.known.push((key, outcome.clone()));
        outcome
    }
}

fn network((topology, routing, seed): Key) -> Result<Network, Refusal> {
    let fabric = topology.fabric().map_err(|error| Refusal {
        message: error.to_string(),
        help: error.help(),
        key: None,
    })?;
    routing.applies(&fabric).map_err(|error| Refusal {
        message: error.to_string(),
        help: Some(if let RoutingError::NoRing(_) = error { NO_RING } else { ANY_FABRIC }.into()),
        key: Some("routing"),
    })?;
    Ok(Network::new(topology, fabric, routing, seed))
}

/// What can make a topology fall apart, and what can be wrong with its shape; likeliest first.
const FAILURES: [&str; 7] = [
    "failed_cables",
    "failed_nodes",
    "failed_switches",
    "random_failures",
    "node_set",
    "dimensions",
    "open",
];

/// Refuses a network in which a pair of nodes has no route.
fn routable(network: Network) -> Result<Network, Refusal> {
    let checked = match &network.routing {
        // Some algorithms find only while they work that they can't; the table is kept.
        RoutingSpec::Agnostic { .. } | RoutingSpec::Relation(_) => {
            network.routes().map(drop).map_err(Clone::clone)
        }
        routing => routing.check(&network.fabric),
    };
    let Err(error) = checked else { return Ok(network) };
    let key = match error {
        RoutingError::Unroutable(_) | RoutingError::Adaptive(_) => None,
        RoutingError::PastHalf(_) => Some("routing.direction_order.dateline"),
        RoutingError::Table(_) => Some("routing.file.path"),
        RoutingError::Memory(_) | RoutingError::NeedsTorus(_) | RoutingError::NoRing(_) => {
            Some("routing")
        }
        RoutingError::NoTable(_) => Some("routing.agnostic"),
        RoutingError::NoRelation(NoRelation::Root { .. }) => Some("routing.relation.root"),
        RoutingError::NoSelection(_) => Some("routing.relation.selection"),
        RoutingError::NoRelation(_) | RoutingError::Unproved(_) => Some("routing.relation.rule"),
        RoutingError::Incomplete(_) => Some("routing.opensm.tables"),
    };
    let help = match &error {
        RoutingError::Memory(shortage) => shortage.help(),
        RoutingError::NoSelection(_) => {
            "leave out `selection`, and packets choose at each router; or take a rule without escapes".into()
        }
        RoutingError::NoRelation(NoRelation::Lanes { needed, .. }) => format!(
            "write `virtual_channels = {needed}` in [router], and leave `lanes` out; or choose another rule"
        ),
        RoutingError::NoRelation(NoRelation::Root { routers, .. }) => {
            format!("give a number from 0 to {}, or leave `root` out", routers - 1)
        }
        RoutingError::PastHalf(_) => {
            "leave out `dateline`: with the bubble rule packets may go any way round a ring".into()
        }
        _ => network.routing.help().into(),
    };
    Err(Refusal { message: error.to_string(), help: Some(help), key })
}

const ANY_FABRIC: &str = "for any fabric there are [routing.agnostic], which makes a table, [routing.opensm], \
                          which reads one, and [routing.relation], by which packets choose";

const NO_RING: &str = "without a ring nothing but [routing.adaptive] is left of it: write that, or [routing.outflank], \
                       whose detours need none, or use a torus (a dimension is a ring if it has three or more nodes \
                       and is not `open`)";

const PACKET: [&str; 4] =
    ["router.maximum_payload", "router.flit", "router.header_flits", "router.checksum_flits"];

pub(super) fn run(
    document: &Document,
    broken: &BTreeSet<String>,
    draft: &Draft,
    fabrics: &mut Fabrics,
    purpose: Purpose,
) -> (Option<Arc<Network>>, Vec<Diagnostic>) {
    let mut checks = Checks { document, broken, problems: Vec::new() };
    let parameters = &draft.parameters;
    let packets = checks.packets(parameters);
    if packets {
        checks.buffers(parameters);
        checks.stay(parameters);
    }
    checks.latencies(parameters);
    checks.windows(draft);
    checks.virtual_channels(draft);
    checks.bubbles(draft);
    checks.forwarding(draft);
    checks.sharing(draft);
    let network = checks.network(draft, fabrics, purpose);
    let fabric = network.as_ref().map(|network| &network.fabric);
    if let Some(fabric) = fabric.filter(|_| purpose != Purpose::Routes) {
        checks.ports(parameters, fabric);
    }
    if purpose != Purpose::Routes {
        checks.interruption(draft, fabric);
        checks.errors(draft, packets, fabric);
    }
    match &draft.workload {
        _ if purpose == Purpose::Routes => {}
        Some(WorkloadSpec::Load(load)) => checks.whole_load(draft, load, (packets, fabric)),
        Some(WorkloadSpec::Exchange(exchange)) => {
            checks.empty_packets(parameters, exchange.message, exchange.access, "exchange");
            checks.packets_of_messages(parameters, exchange.message, exchange.access, "exchange");
            checks.pattern(&exchange.pattern, fabric, draft.seed, "exchange.pattern");
            checks.steps(draft, exchange, fabric);
        }
        Some(WorkloadSpec::Application(application)) => {
            checks.application(draft, application, fabric);
        }
        Some(WorkloadSpec::Collective(collective)) => {
            if let Some(load) = &collective.load {
                checks.whole_load(draft, load, (packets, fabric));
            }
            if packets {
                checks.collective(draft, collective, fabric);
            }
        }
        Some(WorkloadSpec::RemoteMemory(operations)) => {
            checks.remote_memory(draft, operations, fabric);
        }
        None => {}
    }
    (network, checks.problems)
}

struct Checks<'d> {
    document: &'d Document,
    broken: &'d BTreeSet<String>,
    problems: Vec<Diagnostic>,
}

impl Checks<'_> {
    /// Whether none of the keys is wrong by itself.
    fn sound(&self, keys: &[&str]) -> bool {
        !self.broken.iter().any(|broken| {
            keys.iter().any(|key| {
                let below = |inner: &str, outer: &str| {
                    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
                };
                broken == key || below(broken, key) || below(key, broken)
            })
        })
    }

    /// Reports a broken rule at the first of the keys that is written.
    fn report(
        &mut self,
        keys: &[&str],
        message: impl Into<String>,
        label: &str,
        help: Option<String>,
    ) {
        let (place, written) = self.document.blame(keys);
        let label = if written.as_deref() == Some(keys[0]) { label } else { "" };
        let mut problem = Diagnostic::new(&place, message).label(label);
        problem.help = help;
        self.problems.push(problem);
    }

    /// The same with a way out and without a label, unless one of the keys has been reported.
    fn refuse(&mut self, keys: &[&str], message: impl Into<String>, help: impl Into<String>) {
        if self.sound(keys) {
            self.report(keys, message, "", Some(help.into()));
        }
    }

    /// What the routing needs of the routers.
    fn forwarding(&mut self, draft: &Draft) {
        let Some(routing) = &draft.routing else { return };
        let (bubble, has) = (draft.parameters.bubble, draft.parameters.virtual_channels);
        if bubble && self.sound(&["router.bubble"]) {
            let mut one = |message, help: &str| {
                self.report(&["router.bubble"], message, "must be false", Some(help.into()));
            };
            if routing.is_of_any_fabric() {
                let message =
                    "a routing of any fabric has no rings into which packets could keep a bubble";
                one(message, "leave `bubble` out: here its default is false");
            }
            if routing.has_dateline() {
                let help = "leave `bubble` out: here its default is false; or leave out `dateline`, and the bubble keeps rings \
                            from deadlock";
                one("with a dateline no ring needs a bubble", help);
            }
        }
        let keys = [
            "router.virtual_channels",
            "routing.direction_order.dateline",
            "routing.agnostic.lanes",
            "routing.relation.lanes",
            "routing.opensm.map",
            "routing.opensm.paths",
            "router.preset",
        ];
        let reads = draft.reads();
        let (needs, why) = match routing.lanes() {
            None if routing.has_dateline() && reads => {
                (4, "with a dateline requests and responses take two each: write `virtual_channels = 4`".into())
            }
            None if routing.has_dateline() => {
                (2, "a dateline parts the packets of a ring into two: write `virtual_channels = 2`".into())
            }
            Some(lanes) if matches!(routing, RoutingSpec::Relation(_)) => {
                (lanes, format!("the relation has {lanes} lanes"))
            }
            Some(lanes) => (lanes, format!("the table has {lanes} lanes")),
            None if draft.parameters.sharing.is_some() => return,
            None => {
                let why =
                    "this routing takes Angara's five: request, response, adaptive, two collective";
                (narrow(VIRTUAL_CHANNELS), why.into())
            }
        };
        if has < needs {
            let message =
                format!("the routers have {has} virtual channels, and {needs} are needed");
            self.refuse(&keys, message, why);
        }
    }

    /// Virtual channels of packets that choose their way.
    fn virtual_channels(&mut self, draft: &Draft) {
        let Some(RoutingSpec::Adaptive(rules)) = &draft.routing else { return };
        let Some((key, reason)) = rules.channels.flaw(&rules.derouter) else { return };
        let tables = ["adaptive", "pick_orthant", "outflank"];
        let keys = tables.map(|table| format!("routing.{table}.virtual_channels.{key}"));
        let key = self.written(&keys);
        let message = format!("with this virtual channel packets could deadlock: {reason}");
        let help = "leave it out: with the default layout they can't";
        self.report(&[key], message, "", Some(help.into()));
    }

    /// Of keys of several tables, of which a scenario has one, the one that is written, or else the first.
    fn written<'k>(&self, keys: &'k [String]) -> &'k str {
        let written = |key: &&String| self.document.blame(&[key]).1.as_ref() == Some(key);
        keys.iter().find(written).unwrap_or(&keys[0])
    }

    /// Whether something can fail during this workload, and new tables lead round it.
    fn interruption(&mut self, draft: &Draft, fabric: Option<&Fabric>) {
        let Some(interruption) = &draft.interruption else { return };
        let load = match &draft.workload {
            Some(WorkloadSpec::Load(load)) => load.access == Access::Write,
            Some(_) => false,
            None => true,
        };
        if !load {
            let message = "nothing can fail during an exchange, an application, collective or remote memory operations, or while nodes read: what is lost is \
                           not sent again, and they would wait for it for ever";
            let help = "leave out [interruption], or simulate a load ([traffic]) without reads";
            self.report(&["interruption"], message, "", Some(help.into()));
        }
        let agnostic = |it: &RoutingSpec| matches!(it, RoutingSpec::Agnostic { .. });
        if draft.routing.as_ref().is_some_and(|routing| !agnostic(routing)) {
            let message = "new tables need an algorithm that makes them for any fabric";
            let help = "choose the routing in [routing.agnostic]";
            self.report(&["interruption"], message, "", Some(help.into()));
        }
        let Some(fabric) = fabric.filter(|_| self.sound(&["interruption"])) else { return };
        if let Err(error) = interruption.failures.apply(fabric) {
            let keys = FAILURES.map(|key| format!("interruption.{key}"));
            let keys: Vec<&str> = keys.iter().map(String::as_str).chain(["interruption"]).collect();
            self.report(&keys, error.to_string(), "", None);
        }
    }

    /// Sizes of packets; false if nothing can be computed from them.
    fn packets(&mut self, parameters: &Parameters) -> bool {
        if !self.sound(&PACKET) {
            return false;
        }
        let around = u64::from(parameters.header_flits) + u64::from(parameters.checksum_flits);
        let flits = around + parameters.maximum_payload.0.div_ceil(parameters.flit.0);
        if flits <= u64::from(MOST_FLITS) {
            return true;
        }
        let most = (u64::from(MOST_FLITS) - around) * parameters.flit.0;
        let message = format!("the largest packet has {flits} flits, and {MOST_FLITS} is the most");
        let flit = bytes_text(parameters.flit);
        let help = format!("with flits of {flit}, `maximum_payload` can be at most {most} B");
        self.refuse(&PACKET, message, help);
        false
    }

    fn buffers(&mut self, parameters: &Parameters) {
        let packet = parameters.maximum_packet();
        let size = format!(
            "a packet with {} of payload has {packet} flits",
            bytes_text(parameters.maximum_payload)
        );
        let keys = |first| [first, PACKET[0], PACKET[1], PACKET[2], PACKET[3]];
        let of = [parameters.buffer, parameters.injection_buffer];
        let names = ["router.buffer", "adapter.injection_buffer"];
        for ((name, has), (least, what)) in
            names.into_iter().zip(of).zip(Self::least_buffers(parameters))
        {
            let (keys, key) = (keys(name), name.rsplit('.').next().unwrap_or_default());
            if self.sound(&keys) && self.sound(&["link.sharing"]) && has < least {
                let message = format!("a `{key}` of {has} flits does not hold {what}");
                let help = format!("{size}, so `{key}` must be at least \"{least} flits\"");
                self.report(&keys, message, &format!("at least {least} flits"), Some(help));
            }
        }
    }

    /// Whether the buffers of every router can be numbered.
    fn ports(&mut self, parameters: &Parameters, fabric: &Fabric) {
        let keys = ["topology", "adapter.injection_channels", "router.virtual_channels"];
        let (buffers, router) = most_buffers(fabric, parameters);
        if buffers > MOST_BUFFERS {
            let message = format!(
                "router {} would have {buffers} buffers (input ports times virtual channels, and times outputs with virtual output \
                 queues), and {MOST_BUFFERS} is the most",
                fabric.router_name(router)
            );
            let help =
                "give routers fewer terminals or cables, or terminals fewer `injection_channels`";
            self.refuse(&keys, message, help);
        }
    }

    /// Whether the packets of a message can be counted.
    fn packets_of_messages(
        &mut self,
        parameters: &Parameters,
        message: Bytes,
        access: Access,
        table: &str,
    ) {
        let (message_key, request_key) =
            (format!("{table}.message"), format!("{table}.read.request"));
        let mut one = |key: &str, what: &str, size: Bytes| {
            let keys = [key, PACKET[0]];
            let (full, rest) = parameters.packets(size.0);
            let packets = full + u64::from(rest.is_some());
            if packets <= MOST_PACKETS || !self.sound(&keys) {
                return;
            }
            let most = MOST_PACKETS.saturating_mul(parameters.maximum_payload.0);
            let message = format!("a {what} of {} would be {packets} packets", bytes_text(size));
            let help = format!(
                "a message has at most {MOST_PACKETS} packets, each of up to {} (maximum_payload)",
                bytes_text(parameters.maximum_payload)
            );
            self.report(
                &keys,
                message,
                &format!("at most {}", bytes_text(Bytes(most))),
                Some(help),
            );
        };
        one(&message_key, "message", message);
        if let Access::Read { request } = access {
            one(&request_key, "read request", request);
        }
    }

    /// Whether all ranks have nodes, and the packets of their messages can be counted.
    fn application(
        &mut self,
        draft: &Draft,
        application: &ApplicationSpec,
        fabric: Option<&Fabric>,
    ) {
        let keys = ["application.placement", "application.ranks_per_node", "application.file"];
        if let Some(fabric) = fabric.filter(|_| self.sound(&keys)) {
            let live: Vec<u32> = fabric.live_terminals().collect();
            let (ranks, each) = (application.schedule.ranks(), application.ranks_per_node);
            if let Err(error) = application.placement.nodes(ranks, each, &live, draft.seed) {
                let more = u64::from(ranks).div_ceil(live.len().max(1) as u64);
                let help = matches!(error, PlacementError::TooManyRanks { .. })
                    .then(|| format!("with `ranks_per_node = {more}` there is room for all"));
                self.report(&keys, error.to_string(), "", help);
            }
        }
        let sends = application.schedule.operations();
        let largest = sends.filter(|it| it.action == Action::Send).map(|it| it.amount).max();
        let largest = Bytes(largest.unwrap_or(0));
        self.packets_of_messages(&draft.parameters, largest, Access::Write, "application");
    }

    /// Whether the steps and the flits of an exchange can be counted.
    fn steps(&mut self, draft: &Draft, exchange: &ExchangeSpec, fabric: Option<&Fabric>) {
        let keys = ["exchange.rounds", "exchange.pattern"];
        let Some(fabric) = fabric.filter(|_| self.sound(&keys)) else { return };
        let Ok(pattern) = Pattern::new(&exchange.pattern, fabric, draft.seed) else { return };
        let Some(steps) = pattern.steps().map(|steps| u64::from(steps.max(1))) else { return };
        let most = u64::from(u32::MAX) / steps;
        if u64::from(exchange.rounds) > most {
            let message = format!("{} rounds of {steps} steps are too many", exchange.rounds);
            let help = format!("an exchange has at most {} steps, rounds included", u32::MAX);
            self.report(&keys, message, &format!("at most {most}"), Some(help));
        }
        let (keys, parameters) = (["exchange.message", "exchange.rounds"], &draft.parameters);
        if !self.sound(&keys) || !self.sound(&PACKET) || !self.problems.is_empty() {
            return;
        }
        let messages = steps.saturating_mul(u64::from(exchange.rounds));
        let messages = messages.saturating_mul(fabric.live_terminals().count() as u64);
        let a_message = match exchange.access {
            Access::Write => 0,
            Access::Read { request } => parameters.message_flits(request.0),
        } + parameters.message_flits(exchange.message.0);
        if messages.checked_mul(a_message).is_none() {
            let message = format!(
                "up to {messages} messages of {a_message} flits are more flits than can be counted"
            );
            let help = "at most 2^64 flits are; make messages smaller, or do fewer rounds";
            self.refuse(&keys, message, help);
        }
    }

    /// Whether the time from router to router is one that routers can reckon with.
    fn stay(&mut self, parameters: &Parameters) {
        let stay = parameters.longest_stay();
        let flits = |flit: Picoseconds| flit.saturating_mul(parameters.maximum_packet().into());
        let parts = [
            ("link.rate", flits(parameters.link_flit_time())),
            ("adapter.injection_rate", flits(parameters.injection_flit_time())),
            ("adapter.ejection_rate", flits(parameters.ejection_flit_time())),
            ("link.latency", parameters.link_latency),
            ("adapter.injection_latency", parameters.injection_latency),
            ("adapter.ejection_latency", parameters.ejection_latency),
            ("router.routing_latency", parameters.routing_latency),
            ("router.crossbar_latency", parameters.crossbar_latency),
            ("link.sharing", parameters.allocation_latency().max(parameters.output_wait())),
        ];
        let (key, most) = parts.into_iter().max_by_key(|part| part.1).expect("nine parts");
        if stay <= LONGEST {
            return;
        }
        let size = if key == "link.sharing" { "output_buffer" } else { "maximum_payload" };
        let made_of = if key.ends_with("rate") {
            format!("the flits of the largest packet take {} at `{key}`", time_text(most))
        } else if key == "link.sharing" {
            format!("its allocations, or what waits behind the crossbar, take {}", time_text(most))
        } else {
            format!("`{key}` is {}", time_text(most))
        };
        let message = format!(
            "a packet may take {} from router to router, and {} is the most: {made_of}",
            time_text(stay),
            time_text(LONGEST)
        );
        let help = format!("shorten the latency, raise the rate, or make `{size}` less");
        self.refuse(&[key], message, help);
    }

    fn latencies(&mut self, parameters: &Parameters) {
        let mut one = |keys: [&str; 3], rate: Rate, flit: Picoseconds, latency: Picoseconds| {
            if !self.sound(&keys) || latency >= flit {
                return;
            }
            let key = keys[0].rsplit('.').next().unwrap_or_default();
            let least = time_text(flit);
            let message = format!(
                "`{key}` is {}, but a flit of {} at {} takes {least}",
                time_text(latency),
                bytes_text(parameters.flit),
                rate_text(rate)
            );
            let help = format!(
                "a latency ends when all of the flit has arrived, so `{key}` must be at least \"{least}\""
            );
            self.report(&keys, message, &format!("at least {least}"), Some(help));
        };
        let p = parameters;
        let flit = "router.flit";
        one(["link.latency", "link.rate", flit], p.link_rate, p.link_flit_time(), p.link_latency);
        one(
            ["adapter.injection_latency", "adapter.injection_rate", flit],
            p.injection_rate,
            p.injection_flit_time(),
            p.injection_latency,
        );
        one(
            ["adapter.ejection_latency", "adapter.ejection_rate", flit],
            p.ejection_rate,
            p.ejection_flit_time(),
            p.ejection_latency,
        );
    }

    fn windows(&mut self, draft: &Draft) {
        let keys = ["measure.minimum_windows", "measure.maximum_windows"];
        let (least, most) = (draft.measure.minimum_windows, draft.measure.maximum_windows);
        if least > most {
            let message =
                format!("`minimum_windows` is {least}, above `maximum_windows`, which is {most}");
            self.refuse(&keys, message, "raise `maximum_windows` or lower `minimum_windows`");
        }
    }

    /// The network, if it is connected and, unless it is read for its routes, every pair has one.
    fn network(
        &mut self,
        draft: &Draft,
        fabrics: &mut Fabrics,
        purpose: Purpose,
    ) -> Option<Arc<Network>> {
        let (topology, routing) = (draft.topology.clone()?, draft.routing.clone()?);
        if !self.sound(&["topology"]) {
            return None;
        }
        match fabrics.get((topology, routing, draft.seed), purpose) {
            Ok(network) => Some(network),
            Err(Refusal { message, help, key }) => {
                let below = |key| self.document.below("topology", key);
                let of_topology: Vec<String> = FAILURES.into_iter().filter_map(below).collect();
                let of_topology = of_topology.iter().map(String::as_str).chain(["topology"]);
                let keys: Vec<&str> = key.into_iter().chain(of_topology).collect();
                self.report(&keys, message, "", help);
                None
            }
        }
    }

    fn pattern(&mut self, pattern: &PatternSpec, fabric: Option<&Fabric>, seed: u64, key: &str) {
        let Some(fabric) = fabric.filter(|_| self.sound(&[key])) else { return };
        match Pattern::new(pattern, fabric, seed) {
            Err(error) => {
                self.report(&[key, "topology"], error.to_string(), "", None);
            }
            Ok(bound) if key != "traffic.pattern" && bound.steps().is_none() => {
                let who = match key {
                    "exchange.pattern" => "an exchange needs",
                    _ => "remote memory operations need",
                };
                let message =
                    format!("{who} a pattern with steps, and this one draws its destinations");
                let help = "use for example all-to-all, neighbor, tornado, transpose or pairs";
                self.refuse(&[key], message, help);
            }
            Ok(_) => {}
        }
    }

    fn empty_packets(
        &mut self,
        parameters: &Parameters,
        message: Bytes,
        access: Access,
        table: &str,
    ) {
        let message_key = format!("{table}.message");
        let request_key = format!("{table}.read.request");
        let (message_key, request_key) = (message_key.as_str(), request_key.as_str());
        let (what, key) = match access {
            _ if message.0 == 0 => ("message", message_key),
            Access::Read { request: Bytes(0) } => ("read request", request_key),
            _ => return,
        };
        let keys = [key, PACKET[2], PACKET[3]];
        if self.sound(&keys) && parameters.header_flits + parameters.checksum_flits == 0 {
            let message =
                format!("a {what} of 0 B without header and checksum is a packet of no flits");
            let help = "give it a size, or set `header_flits` to 1";
            self.report(&keys, message, "nothing to send", Some(help.into()));
        }
    }

    /// All that a load needs.
    fn whole_load(
        &mut self,
        draft: &Draft,
        load: &LoadSpec,
        (packets, fabric): (bool, Option<&Fabric>),
    ) {
        let parameters = &draft.parameters;
        self.empty_packets(parameters, load.message, load.access, "traffic");
        self.packets_of_messages(parameters, load.message, load.access, "traffic");
        self.pattern(&load.pattern, fabric, draft.seed, "traffic.pattern");
        if let (true, Some(fabric)) = (packets, fabric) {
            self.load(parameters, load, fabric);
        }
    }

    /// Whether the nodes can inject what they are to offer.
    fn load(&mut self, parameters: &Parameters, load: &LoadSpec, fabric: &Fabric) {
        let keys = [
            "traffic.load",
            "adapter.injection_rate",
            "adapter.injection_channels",
            "link.rate",
            "traffic.message",
            "traffic.read",
            "traffic.process",
        ];
        if !self.sound(&keys) {
            return;
        }
        let request = match load.access {
            Access::Write => 0,
            Access::Read { request } => parameters.message_flits(request.0),
        };
        let flits = (parameters.message_flits(load.message.0) + request) as f64;
        // Flits a picosecond.
        let channels = f64::from(parameters.injection_channels);
        let most = channels / parameters.injection_flit_time() as f64;
        let capacity = fabric.capacity() / parameters.link_flit_time() as f64;
        let gigabits = |flits_a_ps: f64| {
            format!("{} Gb/s", significant(flits_a_ps * parameters.flit.0 as f64 * 8.0 * 1e3))
        };
        let can = match parameters.injection_channels {
            1 => format!("a node's injection channel carries {}, headers included", gigabits(most)),
            count => format!(
                "a node's {count} injection channels of {} carry {}, headers included",
                rate_text(parameters.injection_rate),
                gigabits(most)
            ),
        };
        let (offered, largest, why) = match load.load {
            OfferedLoad::Fraction(fraction) => {
                let largest = rounded_down(most / capacity);
                (fraction * capacity, largest, format!("; load 1 is {} here", gigabits(capacity)))
            }
            OfferedLoad::Payload(_) if load.message.0 == 0 => {
                let keys = ["traffic.load", "traffic.message"];
                let message = "messages of 0 B carry no payload, so their load can't be a rate";
                let help = "give the load as a fraction, such as `load = 0.3`";
                return self.report(&keys, message, "a rate of payload", Some(help.into()));
            }
            OfferedLoad::Payload(rate) => {
                let flits_a_byte = flits / load.message.0 as f64;
                let offered = rate.0 as f64 / 8e12 * flits_a_byte;
                let largest = format!("\"{} GB/s\"", rounded_down(most / flits_a_byte * 1e3));
                let why = format!(
                    "; {} of payload are {} flits of {}",
                    bytes_text(load.message),
                    flits,
                    bytes_text(parameters.flit)
                );
                (offered, largest, why)
            }
        };
        if offered > most * (1.0 + 1e-9) {
            let message =
                format!("a node would offer {}, more than it can inject", gigabits(offered));
            let help = format!("{can}{why}; so `load` can be at most {largest}");
            return self.report(&keys, message, &format!("at most {largest}"), Some(help));
        }
        // Messages a flit time of a network channel.
        let messages = offered * parameters.link_flit_time() as f64 / flits;
        if load.process == Process::Bernoulli && messages > 1.0 {
            let label = match load.load {
                OfferedLoad::Fraction(load) => format!("at most {}", rounded_down(load / messages)),
                OfferedLoad::Payload(_) => String::new(),
            };
            let keys = ["traffic.load", "traffic.process", "traffic.message"];
            let count = significant(messages);
            let message = format!("a node would create {count} messages in the time of one flit");
            let help = "the process \"bernoulli\" creates at most one: lower `load`, make `message` \
                        larger, or set `process = \"periodic\"`";
            self.report(&keys, message, &label, Some(help.into()));
        }
    }
}

/// Four significant digits.
fn significant(value: f64) -> String {
    let digits: usize = rounded(3.0 - value.abs().log10().floor().clamp(-12.0, 3.0));
    let text = format!("{value:.*}", digits);
    trimmed(&text)
}

/// At most four decimals, rounded down, so that it can be typed as the largest load.
fn rounded_down(value: f64) -> String {
    trimmed(&format!("{:.4}", (value * 1e4).floor() / 1e4))
}

fn trimmed(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text.into()
    }
}
