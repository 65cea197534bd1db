//! Networks, made once for all that needs them, and why there may be none.

use std::sync::Arc;

use crate::purpose::Purpose;
use crate::{Network, RoutingError, RoutingSpec, TopologySpec};
use flitlab_base::registry::Component;
use flitlab_fabric::Fabric;
use flitlab_routing::MAX_VCS;
use flitlab_routing::phased::PhasedKind;
use flitlab_routing::relation::NoRelation;
use flitlab_tables::relation_rules::RelationRule;

/// Networks already built, so that the points of a sweep share them.
#[derive(Default)]
pub(crate) struct Fabrics {
    /// Whether tables that tell only when they are made whether they exist are left until they are
    /// asked for.
    without_tables: bool,
    known: Vec<(Key, Result<Arc<Network>, Refusal>)>,
}

/// The key of a network: topology, routing, and the scenario's seed.
pub(super) type Key = (TopologySpec, RoutingSpec, u64);

/// Why there is no such network.
#[derive(Clone)]
pub(super) struct Refusal {
    pub message: String,
    pub help: Option<String>,
    /// The key that is to blame, if it isn't the topology.
    pub key: Option<&'static str>,
}

impl Fabrics {
    /// Returns networks whose tables for any fabric are made at their first use.
    pub(crate) fn without_tables() -> Self {
        Self { without_tables: true, ..Self::default() }
    }

    /// Whether tables are made at once, and refused where they can't be.
    pub(super) fn makes_tables(&self) -> bool {
        !self.without_tables
    }

    pub(super) fn get(&mut self, key: Key, purpose: Purpose) -> Result<Arc<Network>, Refusal> {
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
    let fabric = whole_fabric(&topology)?;
    routing.applies(&fabric).map_err(|error| Refusal {
        message: error.to_string(),
        help: Some(if let RoutingError::NoRing(_) = error { NO_RING } else { ANY_FABRIC }.into()),
        key: Some("routing"),
    })?;
    Ok(Network::new(topology, fabric, routing, seed))
}

/// Makes a topology's fabric, or says why there is none.
pub(super) fn whole_fabric(topology: &TopologySpec) -> Result<Fabric, Refusal> {
    topology.fabric().map_err(|error| Refusal {
        message: error.to_string(),
        help: error.help(),
        key: None,
    })
}

/// Keys that can make a topology fall apart, and keys whose shape can be wrong; the likeliest
/// first.
pub(super) const FAILURES: [&str; 7] = [
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
        RoutingError::Unroutable(_) => None,
        RoutingError::PastHalf(_) => Some("routing.direction_order.dateline"),
        RoutingError::Table(_) => Some("routing.file.path"),
        RoutingError::Adaptive(_)
        | RoutingError::Memory(_)
        | RoutingError::NeedsTorus(_)
        | RoutingError::NoRing(_) => Some("routing"),
        RoutingError::NoTable(_) => Some("routing.agnostic"),
        RoutingError::NotSpread(_) => Some("routing.agnostic.spread"),
        RoutingError::NoRelation(NoRelation::Root { .. }) => Some("routing.relation.root"),
        RoutingError::NoSelection(_) => Some("routing.relation.selection"),
        RoutingError::DecidesOnce(_) => Some("routing.relation.decides_again"),
        RoutingError::NoRelation(_) | RoutingError::Unproved { .. } => {
            Some("routing.relation.rule")
        }
        RoutingError::Incomplete(_) => Some("routing.opensm.tables"),
    };
    let help = match &error {
        RoutingError::Memory(shortage) => shortage.help(),
        RoutingError::NotSpread(_) => {
            "leave `spread` out; packets that change virtual channels on their way can be spread \"by-destination\""
                .into()
        }
        RoutingError::NoSelection(_) => {
            "leave out `selection`, and packets choose at each router; or take a rule without escapes".into()
        }
        RoutingError::DecidesOnce(_) => {
            "leave out `decides_again`; rules that go by the queues of their own router have it, such as ugal without `sees`"
                .into()
        }
        RoutingError::NoRelation(
            NoRelation::VirtualChannels { needed, .. } | NoRelation::LongWays { needed, .. },
        ) => match *needed > MAX_VCS {
            true => format!(
                "there are {MAX_VCS} virtual channels at most: choose a rule that needs fewer, such as up-down or two-orders"
            ),
            false => format!(
                "write `virtual_channels = {needed}` in [router], and leave `lanes` out; or choose another rule"
            ),
        },
        RoutingError::NoRelation(NoRelation::Deroutes { needed, .. }) => {
            format!("write `deroutes = {needed}`, or leave it out")
        }
        RoutingError::NoRelation(NoRelation::OutOfService { .. }) => {
            "dimwar, omniwar and dal lead round what has failed".into()
        }
        RoutingError::NoRelation(NoRelation::Root { routers, .. }) => {
            format!("give a number from 0 to {}, or leave `root` out", routers - 1)
        }
        RoutingError::NoRelation(NoRelation::NoMesh { .. }) => {
            "`open` in [topology.torus] makes dimensions open, as those of a mesh; up-down and most other rules are for \
             any fabric"
                .into()
        }
        RoutingError::NoRelation(NoRelation::TooFar { .. }) => {
            "choose a rule that needs no virtual channel for each hop, such as minimal-up-down".into()
        }
        RoutingError::NoRelation(NoRelation::HeldCredits) => {
            "leave out `credits`, or take a Dragonfly and leave out `via`".into()
        }
        RoutingError::NoRelation(NoRelation::NoGroups | NoRelation::NoRows) => {
            "take ugal or valiant (without `via` and `sees`) or minimal-by-hop, which need a virtual channel for each hop of a way, or \
             up-down, which needs one"
                .into()
        }
        RoutingError::NoRelation(NoRelation::Table(_)) => {
            "choose another rule, such as minimal-up-down, whose escape needs no table".into()
        }
        RoutingError::NoRelation(NoRelation::NoPath(..)) => {
            "what has failed leaves the rule no path: choose another one, such as up-down, which connects all pairs of any \
             connected fabric"
                .into()
        }
        RoutingError::NoRelation(NoRelation::Refused(_)) => {
            "change the keys of the rule or the fabric, or choose another rule".into()
        }
        RoutingError::NoRelation(NoRelation::Mistake { .. }) => {
            "correct the code of the rule, or choose another one; docs/extending.md, \"A rule with phases\", says what each \
             method promises"
                .into()
        }
        RoutingError::Unproved { is_cycle: false, .. } => {
            "correct the code of the rule, or choose another one: it has to return a hop wherever its own hops lead a \
             packet, and each hop has to lead nearer (docs/extending.md)"
                .into()
        }
        &RoutingError::Unproved { rule, is_cycle: true, .. } => {
            let decides_again =
                matches!(&network.routing, RoutingSpec::Relation(spec) if spec.again.is_some());
            // Packets of that rule decide nothing, let alone again.
            let without = if decides_again { " without `decides_again`" } else { "" };
            let is_built_in =
                RelationRule::named(rule).is_some() || PhasedKind::named(rule).is_some();
            let code = match is_built_in {
                true => "",
                false => "correct the code of the rule (docs/extending.md); or ",
            };
            format!(
                "{code}choose one that can't deadlock on any fabric, such as `rule = \"up-down\"`{without}; or write \
                 `unproved = true`, and packets go by this one until they wait for each other for ever"
            )
        }
        RoutingError::PastHalf(_) => {
            "leave out `dateline`: with the bubble rule packets may go any way round a ring".into()
        }
        RoutingError::Adaptive(_) if network.routing.has_dateline() => {
            "leave `escape` out, or write `escape = \"up-down\"`: a table leads round what has failed".into()
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
