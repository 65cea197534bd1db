//! Whether packets of a scenario can wait for each other for ever, and what to type where they can.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Network, RoutingSpec, Scenario, TableChange};
use flitlab_base::units::{Picoseconds, time_text};
use flitlab_engine::{Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL, Switching, VIRTUAL_CHANNELS};
use flitlab_routing::{AdaptiveRules, DirectionOrder, DirectionRules, EscapeRule, Routes};
use flitlab_tables::{FlowControl, Freedom};

/// The risk of deadlock of a scenario's packets, as far as it is known before the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deadlock {
    /// They can't wait for each other for ever, for this reason.
    Never(Freedom),
    /// They can't as long as they have one size, and the workload sends several: small ones can
    /// split the room that rings keep (docs/model.md, "What the bubble promises"). What rules it
    /// out, if something does.
    Rarely { advice: Option<String> },
    /// They can in this way, until routers drop those that have waited for this long.
    Dropped { how: String, lifetime: Picoseconds },
    /// They can in this way. What to type, if something is known to help.
    Possible { how: String, advice: Option<String> },
}

/// The key that says whether buffers take one packet at a time.
const ALLOCATION: &str = "link.sharing.flit.virtual_channel_allocation";

/// The setting that divides the packets of rings into two classes.
const DATELINE: &str = "routing.direction_order.dateline=true";

/// Two pieces of advice as one, which ends with the settings of both.
fn both(one: &str, other: &str) -> String {
    let [(one, first), (other, then)] =
        [one, other].map(|advice| advice.split_at(advice.find(" --set").unwrap_or(advice.len())));
    format!("{}; besides, {other}{first}{then}", one.trim_end_matches(':'))
}

impl Scenario {
    /// Whether packets can wait for each other for ever; every pair has a route.
    pub fn deadlock(&self) -> Deadlock {
        if !self.workload.crosses_network() {
            return Deadlock::Never(Freedom::NoCircle);
        }
        if let Some((how, _)) = self.protocol_deadlock() {
            return Deadlock::Possible { how, advice: self.deadlock_advice() };
        }
        // Packets of old and new routes never meet, so each routing is judged by itself. Until the
        // new one is there, packets wait for less: what has failed takes all that is sent to it.
        let after = self.table_changes().iter().try_for_each(|change| {
            let freedom = change.network.freedom(self.flow_control());
            freedom.map(drop).map_err(|how| self.after_failures(change, &how))
        });
        match self.network.freedom(self.flow_control()).and_then(|freedom| after.map(|()| freedom))
        {
            Ok(Freedom::Bubble) if self.mixes_sizes() => {
                Deadlock::Rarely { advice: self.dateline().map(|set| format!("--set {set}")) }
            }
            Ok(freedom) => Deadlock::Never(freedom),
            Err(how) => match self.parameters.head_of_queue_lifetime {
                Some(lifetime) => Deadlock::Dropped { how, lifetime },
                None => Deadlock::Possible { how, advice: self.deadlock_advice() },
            },
        }
    }

    /// The tables that are made after failures during operation; none if nothing fails.
    fn table_changes(&self) -> Vec<TableChange> {
        let changes = self.interruption.as_ref().map(|it| self.network.table_changes(it));
        changes.and_then(Result::ok).unwrap_or_default()
    }

    /// Says of what the routes do by which they do it, of those made after failures.
    fn after_failures(&self, change: &TableChange, how: &str) -> String {
        let failures = self.interruption.iter().flat_map(|it| &it.failures);
        match &failures.collect::<Vec<_>>()[..] {
            [_] => format!("by the routes made after the interruption: {how}"),
            failures => {
                let time = time_text(failures[change.failures.end - 1].time);
                format!("by the routes made after the failure at {time}: {how}")
            }
        }
    }

    /// Returns the flow control of the routers: switching, and whether rings keep a bubble.
    pub fn flow_control(&self) -> FlowControl {
        FlowControl::from(&self.parameters)
    }

    /// Returns advice on what to type where packets deadlock; `None` where nothing is known to
    /// help.
    pub fn deadlock_advice(&self) -> Option<String> {
        let Some((_, advice)) = self.protocol_deadlock() else { return self.advice_on_routes() };
        let routes = self.network.freedom(self.flow_control()).err();
        match routes.and_then(|_| self.advice_on_routes()) {
            Some(of_routes) => Some(both(&advice, &of_routes)),
            None => Some(advice),
        }
    }

    /// What to type where the routes can deadlock by themselves.
    fn advice_on_routes(&self) -> Option<String> {
        let FlowControl { wormhole, atomic, .. } = self.flow_control();
        match &self.network.routing {
            RoutingSpec::Agnostic { algorithm, .. } if !algorithm.avoids_deadlock => Some(format!(
                "{} makes tables that can deadlock; of those that can't, any fabric has one: try --set \
                 routing.agnostic.algorithm=nue",
                algorithm.name
            )),
            RoutingSpec::Agnostic { .. } => None,
            RoutingSpec::OpenSm(_) => Some(
                "the forwarding table that was read can deadlock; try one that can't: --set \
                 'routing={ agnostic = { algorithm = \"nue\" } }'"
                    .into(),
            ),
            RoutingSpec::Relation(spec) if spec.unproved => Some(format!(
                "{} can deadlock on this fabric, and `unproved = true` allows it; try --set {}",
                spec.rule.name(),
                // Packets of this rule decide nothing, let alone again.
                match spec.again {
                    None => "routing.rule=up-down",
                    Some(_) => "'routing={ rule = \"up-down\" }'",
                }
            )),
            RoutingSpec::Relation(spec) if wormhole => Some(format!(
                "worms can stand behind others that wait, and hold escapes meanwhile, so those of {} don't keep them from \
                 deadlock; have buffers take one packet at a time: --set {ALLOCATION}=atomic",
                spec.rule.name()
            )),
            RoutingSpec::Relation(_) => None,
            _ if !self.can_keep_bubbles() && self.dateline().is_some() => Some(format!(
                "nothing keeps rings from deadlock; try --set {}",
                self.dateline().unwrap_or_default()
            )),
            RoutingSpec::Adaptive(..) if atomic && self.workload.is_collective() => Some(format!(
                "with atomic allocation no bubble keeps rings from deadlock, and the collective subnetwork takes virtual channels \
                 that datelines would; try{}",
                self.bubbles()
            )),
            RoutingSpec::Adaptive(rules, ..) if wormhole || atomic => {
                let by_table =
                    matches!(self.network.routes(), Ok(Routes::Adaptive(made)) if made.has_table());
                if !by_table && self.interruption.is_some() {
                    return Some(format!(
                        "no bubble keeps rings from deadlock, and after the interruption they are not whole, as datelines need; \
                         try{}",
                        self.bubbles()
                    ));
                }
                let mut sets = vec![format!("{ALLOCATION}=atomic")];
                if !by_table {
                    let table = rules.non_minimal.table();
                    sets.push(format!("routing.{table}.escape=dateline"));
                    let dated = AdaptiveRules { escape: EscapeRule::Dateline, ..rules.clone() };
                    // Virtual channels that suit other escapes may not suit these.
                    if dated.flaw().is_some() {
                        sets.push(format!("routing.{table}.virtual_channels={{}}"));
                    }
                    if usize::from(self.parameters.virtual_channels) < VIRTUAL_CHANNELS {
                        sets.push(format!("router.virtual_channels={VIRTUAL_CHANNELS}"));
                    }
                }
                let sets = sets.iter().map(|set| format!(" --set {set}")).collect::<String>();
                let escapes = if by_table { "" } else { ", and escapes pass datelines" };
                Some(format!(
                    "no bubble keeps rings from deadlock, and a worm that stands behind another one can't escape; have buffers \
                     take one packet at a time{escapes}:{sets}"
                ))
            }
            RoutingSpec::File(_) if self.parameters.bubble => Some(
                "the table that was read turns in circles that no bubble breaks; those that flitlab makes don't: try --set \
                 'routing={ angara = { algorithm = \"bfs\" } }'"
                    .into(),
            ),
            _ if self.parameters.bubble || self.parameters.kind.sends_packets_from_outputs() => None,
            _ => Some(format!(
                "the bubble rule is switched off, and rings deadlock without it; try{}",
                self.bubbles()
            )),
        }
    }

    /// The settings by which a dateline keeps rings from deadlock; `None` if the routing has none,
    /// or failures, those of an interruption included, have packets go more than half round a ring.
    fn dateline(&self) -> Option<String> {
        let RoutingSpec::DirectionOrder(rules) = &self.network.routing else { return None };
        let changes = self.table_changes();
        let fabrics = [&self.network].into_iter().chain(changes.iter().map(|it| &it.network));
        let dated = || DirectionRules { dateline: true, ..rules.clone() };
        let is_past_half =
            |network: &Arc<Network>| DirectionOrder::new(&network.fabric, dated()).is_err();
        if rules.dateline || fabrics.into_iter().any(is_past_half) {
            return None;
        }
        // The collective subnetwork takes virtual channels that datelines take.
        if self.workload.is_collective() {
            return None;
        }
        let least = if self.workload.uses_response_channel(&self.parameters) { 4 } else { 2 };
        let mut set = DATELINE.to_owned();
        if self.parameters.virtual_channels < least {
            set += &format!(" --set router.virtual_channels={least}");
        }
        if self.parameters.bubble {
            set += " --set router.bubble=false";
        }
        Some(set)
    }

    /// The settings by which rings keep a bubble.
    fn bubbles(&self) -> String {
        let Parameters { switching, buffer, injection_buffer, .. } = self.parameters;
        let packet = self.parameters.maximum_packet();
        let two = 2 * u64::from(packet);
        let mut sets = Vec::new();
        if switching == Switching::Wormhole {
            sets.push("router.switching=virtual-cut-through".to_owned());
        }
        if self.flow_control().atomic {
            sets.push(format!("{ALLOCATION}=non-atomic"));
        }
        sets.push("router.bubble=true".into());
        if u64::from(buffer) < two {
            sets.push(format!("'router.buffer=\"{two} flits\"'"));
        }
        if injection_buffer < packet {
            sets.push(format!("'adapter.injection_buffer=\"{packet} flits\"'"));
        }
        sets.iter().fold(String::new(), |text, set| format!("{text} --set {set}"))
    }

    /// Whether the bubble rule can keep rings from deadlock: packets are not strung out as worms,
    /// and buffers hold two, take them, and are at inputs only.
    fn can_keep_bubbles(&self) -> bool {
        let Parameters { switching, buffer, ref kind, .. } = self.parameters;
        let two = 2 * u64::from(self.parameters.maximum_packet());
        let whole = switching != Switching::Wormhole && !self.flow_control().atomic;
        whole && u64::from(buffer) >= two && !kind.sends_packets_from_outputs()
    }

    /// Whether packets that share a ring's virtual channels may have several sizes.
    fn mixes_sizes(&self) -> bool {
        let flits = |bytes: u64| {
            let (full, rest) = self.parameters.packets(bytes);
            let rest = rest.map(|rest| self.parameters.packet_flits(rest));
            (full > 0).then(|| self.parameters.maximum_packet()).into_iter().chain(rest)
        };
        // By the virtual channel of the rings.
        let mut sizes: BTreeMap<u8, BTreeSet<u32>> = BTreeMap::new();
        let apart = self.parameters.message_classes > 1;
        self.workload.for_each_size(&mut |class, bytes, access| {
            let (request, response) = access.payloads(bytes);
            let is_data = response.is_none();
            let channel = |is_response| match &self.network.routing {
                // Requests and responses have virtual channels of their own on Angara, and share
                // them elsewhere.
                routing if routing.is_of_any_fabric() => REQUEST_CHANNEL,
                RoutingSpec::Adaptive(rules, ..) if class.is_adaptive(is_data, is_response) => {
                    rules.channels.escape
                }
                _ if is_response && apart || is_data && class.on_response_channel => {
                    RESPONSE_CHANNEL
                }
                _ => REQUEST_CHANNEL,
            };
            let own = channel(false);
            sizes.entry(own).or_default().extend(flits(request));
            if let Some(response) = response {
                sizes.entry(channel(true)).or_default().extend(flits(response));
            }
        });
        sizes.values().any(|sizes| sizes.len() > 1)
    }
}
