//! Rules between keys: what no single key can know, above all physical impossibilities.
//!
//! Each rule names the keys that it depends on, the likeliest culprit first. It is skipped if one
//! of them is wrong by itself, and reported at the first one that is written.

mod bubbles;
mod errors;
mod fabrics;
mod features;
mod lifetime;
mod output_buffer;
mod output_queued;
mod responder_resources;
mod sharing;
mod workload;

pub(super) use fabrics::Fabrics;

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Document, InterruptionSpec, Network, NewTables, RelationSpec, RoutingError, RoutingSpec,
    RuleSpec, TableChange, TopologySpec, schema::Draft, workload::Checked,
};
use crate::purpose::Purpose;
use fabrics::{FAILURES, Refusal, whole_fabric};
use flitlab_base::document::Diagnostic;
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Picoseconds, Rate, bytes_text, rate_text, time_text};
use flitlab_engine::{
    MAX_BUFFERS, MAX_FLITS, MAX_HOP_TIME, Parameters, VIRTUAL_CHANNELS, max_buffers,
};
use flitlab_fabric::{CableClass, Fabric};
use flitlab_measure::{LatencyBy, MOST_OF_PAIRS};

/// The keys that the sizes of packets follow from.
pub const PACKET: [&str; 4] =
    ["router.maximum_payload", "router.flit", "router.header_flits", "router.checksum_flits"];

pub(super) fn run(
    document: &Document,
    broken: &BTreeSet<String>,
    draft: &Draft,
    fabrics: &mut Fabrics,
    purpose: Purpose,
) -> (Option<Arc<Network>>, Vec<Diagnostic>) {
    let mut checks = Checks { document, broken, problems: Vec::new(), below: None };
    let parameters = &draft.parameters;
    let packets = checks.packets(parameters);
    if packets {
        checks.buffers(parameters);
        checks.stay(draft);
    }
    checks.latencies(draft);
    checks.windows(draft);
    checks.fastest_rate(draft);
    checks.virtual_channels(draft);
    checks.bubbles(draft);
    checks.forwarding(draft);
    checks.sharing(draft);
    checks.output_queued(draft, purpose);
    checks.output_buffer(draft, packets);
    checks.features(draft);
    let mut without_tables = Fabrics::without_tables();
    let fabrics = if checks.problems.is_empty() { fabrics } else { &mut without_tables };
    let makes_tables = fabrics.makes_tables();
    let network = checks.network(draft, fabrics, purpose);
    let fabric = network.as_ref().map(|network| &network.fabric);
    if let Some(fabric) = fabric.filter(|_| purpose != Purpose::Routes) {
        let workload = draft.workload.as_ref();
        checks.ports(parameters, fabric, workload.is_some_and(|it| it.is_collective()));
    }
    if purpose != Purpose::Routes {
        checks.interruption(draft, network.as_deref(), makes_tables);
        checks.latency_by(draft, fabric);
        checks.errors(draft, packets, fabric);
        checks.responder_resources(draft);
        checks.lifetime(draft);
    }
    if let Some(workload) = draft.workload.as_ref().filter(|_| purpose != Purpose::Routes) {
        let (seed, routing) = (draft.seed, draft.routing.as_ref());
        workload.check(&mut checks, &Checked { parameters, seed, routing, fabric, packets });
    }
    (network, checks.problems)
}

/// The rules between keys, and those that are broken.
pub struct Checks<'d> {
    document: &'d Document,
    broken: &'d BTreeSet<String>,
    problems: Vec<Diagnostic>,
    /// The path of the table in which a workload is that is checked, and the name of its own.
    below: Option<(String, &'static str)>,
}

impl Checks<'_> {
    /// The network, if it is connected and, unless it is read for its routes, every pair has one.
    fn network(
        &mut self,
        draft: &Draft,
        fabrics: &mut Fabrics,
        purpose: Purpose,
    ) -> Option<Arc<Network>> {
        let topology = draft.topology.clone()?;
        if !self.sound(&["topology"]) {
            return None;
        }
        // A routing that is read for a fabric has none where the fabric is wrong.
        let made = match draft.routing.clone() {
            Some(routing) => fabrics.get((topology, routing, draft.seed), purpose).map(Some),
            None => whole_fabric(&topology).map(|_| None),
        };
        match made {
            Ok(network) => network,
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
}

impl Checks<'_> {
    /// Checks a workload whose table is in another one of this path, which may be empty: its keys
    /// are below that.
    pub(super) fn below(&mut self, path: &str, kind: &'static str, check: impl FnOnce(&mut Self)) {
        self.below = (!path.is_empty()).then(|| (path.to_owned(), kind));
        check(self);
        self.below = None;
    }

    /// The paths of keys in the document.
    fn paths(&self, keys: &[&str]) -> Vec<String> {
        let path = |key: &&str| match &self.below {
            Some((path, kind)) if key.split('.').next() == Some(*kind) => format!("{path}.{key}"),
            _ => (*key).to_owned(),
        };
        keys.iter().map(path).collect()
    }

    /// Whether none of the keys is wrong by itself.
    pub fn sound(&self, keys: &[&str]) -> bool {
        let keys = self.paths(keys);
        !self.broken.iter().any(|broken| {
            keys.iter().any(|key| {
                let below = |inner: &str, outer: &str| {
                    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
                };
                *broken == *key || below(broken, key) || below(key, broken)
            })
        })
    }

    /// Whether no rule is broken so far.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Reports a broken rule at the first of the keys that is written.
    pub fn report(
        &mut self,
        keys: &[&str],
        message: impl Into<String>,
        label: &str,
        help: Option<String>,
    ) {
        let paths = self.paths(keys);
        let keys: Vec<&str> = paths.iter().map(String::as_str).collect();
        let (place, written) = self.document.blame(&keys);
        let label = if written.as_deref() == Some(keys[0]) { label } else { "" };
        let mut problem = Diagnostic::new(&place, message).label(label);
        problem.help = help;
        self.problems.push(problem);
    }

    /// Refuses keys with a way out and without a label, unless one of the keys has been reported.
    pub fn refuse(&mut self, keys: &[&str], message: impl Into<String>, help: impl Into<String>) {
        if self.sound(keys) {
            self.report(keys, message, "", Some(help.into()));
        }
    }

    /// Checks the demands of the routing on the routers.
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
                let help = "leave `bubble` out: here its default is false; or leave the dateline out, and the bubble keeps rings \
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
        let reads = draft.uses_response_channel();
        let (needs, why) = match routing.vcs() {
            None if routing.has_dateline() && matches!(routing, RoutingSpec::Adaptive(..)) => {
                let why = "with datelines requests and responses take two each, and adaptive packets one more: write \
                           `virtual_channels = 5`";
                (5, why.into())
            }
            None if routing.has_dateline() && reads => {
                (4, "with a dateline requests and responses take two each: write `virtual_channels = 4`".into())
            }
            None if routing.has_dateline() => {
                (2, "a dateline parts the packets of a ring into two: write `virtual_channels = 2`".into())
            }
            Some(vcs) if matches!(routing, RoutingSpec::Relation(_)) => {
                (vcs, format!("the relation has {vcs} virtual channels"))
            }
            Some(vcs) => (vcs, format!("the table has {vcs} virtual channels")),
            None if draft.parameters.kind.grants_flits() => return,
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
        if let RoutingSpec::Relation(RelationSpec { injection_vcs, .. }) = routing
            && *injection_vcs > has
        {
            let message = format!(
                "the routers have {has} virtual channels, and packets are injected in {injection_vcs}"
            );
            let help = format!("write at most {has}, or leave `injection_lanes` out");
            let keys = ["routing.relation.injection_lanes", "router.virtual_channels"];
            self.refuse(&keys, message, help);
        }
    }

    /// Virtual channels of packets that choose their way.
    fn virtual_channels(&mut self, draft: &Draft) {
        let Some(RoutingSpec::Adaptive(rules, ..)) = &draft.routing else { return };
        let Some((key, reason)) = rules.flaw() else { return };
        let tables = ["adaptive", "pick_orthant", "outflank", "two_phase"];
        let keys = tables.map(|table| format!("routing.{table}.virtual_channels.{key}"));
        let key = self.written(&keys);
        let message = format!("with this virtual channel packets could deadlock: {reason}");
        let help = "leave it out: with the default layout they can't";
        self.report(&[key], message, "", Some(help.into()));
    }

    /// Of keys of several tables, of which a scenario has one, the one that is written, or else the
    /// first.
    fn written<'k>(&self, keys: &'k [String]) -> &'k str {
        let written = |key: &&String| self.document.blame(&[key]).1.as_ref() == Some(key);
        keys.iter().find(written).unwrap_or(&keys[0])
    }

    /// Whether there are as few nodes as are told by pairs.
    fn latency_by(&mut self, draft: &Draft, fabric: Option<&Fabric>) {
        let Some(nodes) = fabric.map(|fabric| fabric.terminals()) else { return };
        if draft.measure.latency_by == LatencyBy::Pair && nodes > MOST_OF_PAIRS {
            let message = format!(
                "latencies are told by pair of at most {MOST_OF_PAIRS} nodes, and this network has {nodes}"
            );
            let help =
                "`latency_by = \"node\"` tells those of each node as a source and as a destination";
            self.report(&["measure.latency_by"], message, "", Some(help.into()));
        }
    }

    /// Whether something can fail during this workload, and new tables lead round it; these are
    /// made where tables are.
    fn interruption(&mut self, draft: &Draft, network: Option<&Network>, makes_tables: bool) {
        let Some(interruption) = &draft.interruption else { return };
        let workload = draft.workload.as_ref();
        let load = workload.is_none_or(|workloads| !workloads.is_finite() && !workloads.reads());
        if !load {
            let message = "nothing can fail during an exchange, an application, collective or remote memory operations, or while nodes read: what is lost is \
                           not sent again, and they would wait for it for ever";
            let help = "leave out [interruption], or simulate a load ([traffic]) without reads";
            self.report(&["interruption"], message, "", Some(help.into()));
        }
        if let Some(RoutingSpec::File(_) | RoutingSpec::OpenSm(_)) = &draft.routing {
            let message =
                "new tables need an algorithm that makes them, and this table is read from files";
            let help = "choose a routing that flitlab makes, such as [routing.angara] or [routing.agnostic]";
            self.report(&["interruption"], message, "", Some(help.into()));
            return;
        }
        if let Some(RoutingSpec::Relation(spec)) = &draft.routing
            && let RuleSpec::Phased(..) = spec.rule
        {
            let message =
                "packets of a rule with phases can't avoid what fails while they are under way";
            let help = "choose another rule, such as minimal-up-down, or leave out [interruption]";
            self.refuse(&["interruption", "routing.relation.rule"], message, help);
            return;
        }
        let Some(network) = network.filter(|_| self.sound(&["interruption"])) else { return };
        let has_tables = matches!(
            &draft.routing,
            Some(RoutingSpec::Angara { .. } | RoutingSpec::Agnostic { .. })
        );
        if !has_tables && interruption.counts_changes() {
            let message = "how much of the tables changes is not known where the routing has none";
            let help = "leave out `new_tables`, `destination_time` and `block_time`, or choose [routing.agnostic] or \
                        [routing.angara]";
            let keys = ["new_tables", "destination_time", "block_time"];
            let keys = keys.map(|key| format!("interruption.{key}"));
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            self.report(&keys, message, "", Some(help.into()));
            return;
        }
        let mut left = network.fabric.clone();
        for number in 0..interruption.failures.len() {
            match interruption.failures[number].failed.apply(&left) {
                Ok(less) => left = less,
                Err(error) => {
                    let help = (number > 0).then_some("let less fail, or something else");
                    return self.failure(interruption, number, &error.to_string(), help);
                }
            }
        }
        if makes_tables && let Ok(changes) = network.table_changes(interruption) {
            self.new_tables(interruption, network, &changes);
        }
    }

    /// Whether tables can be made after each failure.
    fn new_tables(
        &mut self,
        interruption: &InterruptionSpec,
        network: &Network,
        changes: &[TableChange],
    ) {
        let mut before = network;
        for TableChange { failures, network, .. } in changes {
            let failed = &interruption.failures[failures.clone()];
            let anew = before.after(failed, NewTables::All).expect("it could be cut before");
            let message = |error: &RoutingError| format!("no new tables can be made: {error}");
            if let Err(error) = anew.routes() {
                let help = "choose another routing or algorithm, or let something else fail";
                let last = failures.end - 1;
                return self.failure(interruption, last, &message(error), Some(help));
            }
            if let Err(error) = network.routes() {
                let message = after_failure(interruption, failures.end - 1, &message(error));
                let help = "let all be routed anew, by `new_tables = \"all\"`";
                return self.report(&["interruption.new_tables"], message, "", Some(help.into()));
            }
            before = network;
        }
    }

    /// Reports what keeps a failure, of this number from 0, from being simulated.
    fn failure(
        &mut self,
        interruption: &InterruptionSpec,
        number: usize,
        message: &str,
        help: Option<&str>,
    ) {
        let message = after_failure(interruption, number, message);
        let keys = FAILURES.map(|key| format!("interruption.{key}"));
        let of_first = keys.iter().map(String::as_str).filter(|_| number == 0);
        let further = ["interruption.further_failures"].into_iter().filter(|_| number > 0);
        let keys: Vec<&str> = of_first.chain(further).chain(["interruption"]).collect();
        self.report(&keys, message, "", help.map(Into::into));
    }

    /// Sizes of packets; false if nothing can be computed from them.
    fn packets(&mut self, parameters: &Parameters) -> bool {
        if !self.sound(&PACKET) {
            return false;
        }
        let around = u64::from(parameters.header_flits) + u64::from(parameters.checksum_flits);
        let flits = around + parameters.maximum_payload.0.div_ceil(parameters.flit.0);
        if flits <= u64::from(MAX_FLITS) {
            return true;
        }
        let most = (u64::from(MAX_FLITS) - around) * parameters.flit.0;
        let message = format!("the largest packet has {flits} flits, and {MAX_FLITS} is the most");
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
    fn ports(&mut self, parameters: &Parameters, fabric: &Fabric, collective: bool) {
        let keys = ["topology", "adapter.injection_channels", "router.virtual_channels"];
        let (buffers, router) = max_buffers(fabric, parameters, collective);
        if buffers > MAX_BUFFERS {
            let message = format!(
                "router {} would have {buffers} buffers (input ports times virtual channels, and times outputs with virtual output \
                 queues), and {MAX_BUFFERS} is the most",
                fabric.router_name(router)
            );
            let help =
                "give routers fewer terminals or cables, or terminals fewer `injection_channels`";
            self.refuse(&keys, message, help);
        }
    }

    /// Whether the time from router to router is one that routers can reckon with.
    fn stay(&mut self, draft: &Draft) {
        let (parameters, cables) = (&draft.parameters, draft.cable_classes());
        let stay = parameters.longest_stay(&cables);
        let slowest = |time: &dyn Fn(CableClass) -> Picoseconds| {
            cables.iter().map(|&class| time(class)).max().unwrap_or(Picoseconds::ZERO)
        };
        let output_wait = parameters.output_wait(&cables);
        let has_latency = |class: &CableClass| class.latency.is_some();
        let is_slow = |class: &CableClass| class.rate.slowness() > 1.0;
        let own = |name, is_own: &dyn Fn(&CableClass) -> bool| {
            draft.cable_key(name).filter(|_| cables.iter().any(is_own))
        };
        let link_rate = own("rates", &is_slow).unwrap_or_else(|| "link.rate".into());
        let link_latency = own("latencies", &has_latency).unwrap_or_else(|| "link.latency".into());
        let flits = |flit: Picoseconds| flit * parameters.maximum_packet().into();
        let parts = [
            (&*link_rate, flits(slowest(&|it| parameters.flit_time_of(it)))),
            ("adapter.injection_rate", flits(slowest(&|it| parameters.injection_flit_time_of(it)))),
            ("adapter.ejection_rate", flits(slowest(&|it| parameters.ejection_flit_time_of(it)))),
            (&*link_latency, slowest(&|it| parameters.latency_of(it))),
            ("adapter.injection_latency", parameters.injection_latency),
            ("adapter.ejection_latency", parameters.ejection_latency),
            ("router.routing_latency", parameters.routing_latency),
            ("router.crossbar_latency", parameters.crossbar_latency),
            ("link.sharing", parameters.allocation_latency().max(output_wait)),
        ];
        let (key, most) = parts.into_iter().max_by_key(|part| part.1).expect("nine parts");
        if stay <= MAX_HOP_TIME {
            return;
        }
        let size = if key == "link.sharing" { "output_buffer" } else { "maximum_payload" };
        let made_of = if key.ends_with("rate") || key.ends_with("rates") {
            format!("the flits of the largest packet take {} at `{key}`", time_text(most))
        } else if key == "link.sharing" {
            format!("its allocations, or what waits behind the crossbar, take {}", time_text(most))
        } else {
            format!("`{key}` is {}", time_text(most))
        };
        let message = format!(
            "a packet may take {} from router to router, and {} is the most: {made_of}",
            time_text(stay),
            time_text(MAX_HOP_TIME)
        );
        let help = format!("shorten the latency, raise the rate, or make `{size}` less");
        self.refuse(&[key], message, help);
    }

    fn latencies(&mut self, draft: &Draft) {
        let parameters = &draft.parameters;
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
        let own = ["latencies", "rates"]
            .map(|name| draft.cable_key(name).unwrap_or_else(|| "link.rate".into()));
        for class in draft.cable_classes().into_iter().filter(|class| class.latency.is_some()) {
            let keys = [&own[0], &own[1], flit];
            one(keys, p.rate_of(class), p.flit_time_of(class), p.latency_of(class));
        }
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

    /// Whether `link.rate` is that of the fastest cables, where the topology gives them rates.
    fn fastest_rate(&mut self, draft: &Draft) {
        let Some(fastest) = draft.topology.as_ref().and_then(TopologySpec::fastest_rate) else {
            return;
        };
        let rate = draft.parameters.link_rate;
        if rate != fastest {
            let message = format!(
                "`link.rate` is {}, and the fastest of `rates` is {}",
                rate_text(rate),
                rate_text(fastest)
            );
            let rates = draft.cable_key("rates").unwrap_or_default();
            let help = "leave out `link.rate`, or `rates` of the topology";
            self.refuse(&["link.rate", &rates], message, help);
        }
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
}

/// What happens after a failure, of this number from 0; of several failures it says which.
fn after_failure(interruption: &InterruptionSpec, number: usize, message: &str) -> String {
    match &interruption.failures[..] {
        [_] => message.into(),
        failures => format!("after the failure at {}: {message}", time_text(failures[number].time)),
    }
}
