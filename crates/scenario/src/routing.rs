//! How a scenario's routes are found.

use std::sync::Arc;

use super::RelationSpec;
use flitlab_base::InvalidLine;
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_routing::relation::NoRelation;
use flitlab_routing::{
    Adaptive, AdaptiveRules, DirectionOrder, DirectionRules, EscapeRule, ForwardingTable, HalfRing,
    OrderError, Routes, Unroutable,
};
use flitlab_tables::agnostic::NoTable;
use flitlab_tables::angara::{
    Algorithm, Choices, Freedoms, Parameters, Stop, memory_needed, unroutable,
};
use flitlab_tables::path_selection::NoSelection;
use flitlab_tables::{
    ForwardingFlaw, Region, TableFile, adaptive, agnostic, prove_adaptive, prove_forwarding,
};

/// How routes are found; every pair of live nodes has one.
#[derive(Clone, Debug, PartialEq)]
pub enum RoutingSpec {
    DirectionOrder(DirectionRules),
    /// A table for Angara, made for the fabric.
    Angara {
        algorithm: Row<Algorithm>,
        parameters: Parameters,
    },
    /// A table that was read from a file.
    File(Arc<TableFile>),
    /// Packets choose their way hop by hop; if their escape is by a table, this algorithm makes it.
    Adaptive(AdaptiveRules, Row<agnostic::Algorithm>),
    /// A forwarding table, made for the fabric whatever its shape.
    Agnostic {
        algorithm: Row<agnostic::Algorithm>,
        parameters: agnostic::Parameters,
    },
    /// A forwarding table that was read from OpenSM's dumps.
    OpenSm(Arc<OpenSmTable>),
    /// All hops that a rule allows, on any fabric.
    Relation(RelationSpec),
}

/// A forwarding table that was read for a fabric, with the facts about it there.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSmTable {
    pub table: Arc<ForwardingTable>,
    /// One more than the highest virtual channel that packets take.
    pub vcs: u8,
    /// The first reason why not every pair has a way.
    gap: Option<String>,
}

impl OpenSmTable {
    pub(super) fn new(fabric: &Fabric, table: ForwardingTable) -> Self {
        let proof = prove_forwarding(fabric, &table);
        let gap = proof.flaws.iter().find(|flaw| !matches!(flaw, ForwardingFlaw::Cycle(_)));
        let highest = proof.vcs.iter().rposition(|&used| used);
        Self {
            vcs: highest.map_or(1, |vc| narrow(vc + 1)),
            gap: gap.map(|flaw| flaw.describe(fabric)),
            table: Arc::new(table),
        }
    }
}

/// Why a fabric can't be routed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RoutingError {
    #[error("{0}")]
    Unroutable(Unroutable),
    /// The table of a file does not fit, for this reason.
    #[error("the routing table does not fit: {0}")]
    Table(InvalidLine),
    /// Making the routes takes more memory than there is.
    #[error("{0}")]
    Memory(Shortage),
    /// The escape of adaptive packets has no table for the fabric, or the proof refuses what they
    /// may do, for this reason.
    #[error("adaptive routing is refused: {0}")]
    Adaptive(String),
    /// With a dateline packets would go too far round rings.
    #[error("{0}")]
    PastHalf(String),
    /// This routing is for tori with a direction at each port.
    #[error("{0} is for [topology.torus], where each port is a direction; this fabric's are not")]
    NeedsTorus(&'static str),
    /// This routing leads packets the other way round rings, and no dimension of the fabric is one.
    #[error("{0} leads packets the other way round rings, and this fabric has none")]
    NoRing(&'static str),
    /// The algorithm has no table for the fabric, for this reason.
    #[error("{0}")]
    NoTable(String),
    /// Packets of the table can't be spread over more virtual channels, for this reason.
    #[error("{0}")]
    NotSpread(String),
    /// The rule has no relation for the fabric.
    #[error("{0}")]
    NoRelation(NoRelation),
    /// Packets can't decide again while they wait, for this reason.
    #[error("packets can't decide again: {0}")]
    DecidesOnce(&'static str),
    /// No paths can be selected from the relation.
    #[error("{0}")]
    NoSelection(NoSelection),
    /// A relation is refused by its proof.
    #[error("the relation of rule `{rule}` is refused: {flaw}")]
    Unproved {
        /// The rule's name.
        rule: &'static str,
        /// What the proof found first.
        flaw: String,
        /// Whether that is a possible deadlock of packets that all have a way.
        is_cycle: bool,
    },
    /// A forwarding table lacks ways, this one first.
    #[error("the forwarding table does not lead everywhere: {0}")]
    Incomplete(String),
}

impl From<OrderError> for RoutingError {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::Unroutable(pairs) => Self::Unroutable(pairs),
            error @ OrderError::PastHalf { .. } => Self::PastHalf(error.to_string()),
        }
    }
}

impl RoutingSpec {
    /// The routes of a fabric. `seed` matters to algorithms that draw at random.
    ///
    /// # Errors
    /// If a pair of live nodes has no legal route, or a file's table does not fit.
    pub fn routes(&self, fabric: &Fabric, seed: u64) -> Result<Routes, RoutingError> {
        self.applies(fabric)?;
        self.claim_memory(fabric)?;
        match *self {
            Self::DirectionOrder(ref rules) => DirectionOrder::new(fabric, rules.clone())
                .map(|order| Routes::DirectionOrder(order.with_seed(seed)))
                .map_err(RoutingError::from),
            Self::File(ref file) => {
                file.fits(fabric).map_err(RoutingError::Table)?;
                Ok(Routes::Table(file.table.clone()))
            }
            Self::Adaptive(ref rules, ref algorithm) => {
                let adaptive = adaptive(fabric, rules.clone(), algorithm, seed)
                    .map_err(RoutingError::Adaptive)?;
                let proof = adaptive.has_table().then(|| prove_adaptive(fabric, &adaptive));
                match proof.iter().flat_map(|proof| &proof.flaws).next() {
                    Some(flaw) => Err(RoutingError::Adaptive(flaw.describe(fabric))),
                    None => Ok(Routes::Adaptive(adaptive)),
                }
            }
            Self::Angara { algorithm, ref parameters, .. } => {
                self.check(fabric)?;
                let choices = Choices::new(Region::new(fabric), parameters.freedoms);
                (algorithm.table)(&choices, parameters, seed)
                    .map(|made| Routes::Table(made.table))
                    .map_err(|error| RoutingError::NoTable(error.to_string()))
            }
            Self::Agnostic { algorithm, ref parameters } => algorithm
                .generate(fabric, parameters)
                .map(|made| Routes::Forwarding(Arc::new(made.table)))
                .map_err(|error| match error {
                    NoTable::Memory(shortage) => RoutingError::Memory(shortage),
                    error @ NoTable::Spread(_) => RoutingError::NotSpread(error.to_string()),
                    error => RoutingError::NoTable(error.to_string()),
                }),
            Self::OpenSm(ref read) => match &read.gap {
                Some(gap) => Err(RoutingError::Incomplete(gap.clone())),
                None => Ok(Routes::Forwarding(read.table.clone())),
            },
            Self::Relation(ref spec) => spec.routes(fabric, seed),
        }
    }

    /// The routes `made` for what failures leave of a fabric, but for those of `kept` to which
    /// nothing has happened: they stay.
    ///
    /// # Errors
    /// If they don't go together.
    pub(super) fn keeping(
        &self,
        left: &Fabric,
        kept: &Routes,
        made: &Routes,
    ) -> Result<Routes, RoutingError> {
        match (self, kept, made) {
            (
                Self::Agnostic { parameters, .. },
                Routes::Forwarding(old),
                Routes::Forwarding(new),
            ) => {
                let vcs = parameters.vcs.max(old.vc_count()).max(new.vc_count());
                agnostic::keep_unconcerned(left, old, new, vcs)
                    .map(|table| Routes::Forwarding(Arc::new(table)))
                    .map_err(|error| RoutingError::NoTable(error.to_string()))
            }
            (_, Routes::Table(old), Routes::Table(new)) => {
                Ok(Routes::Table(new.keeping(left, old)))
            }
            // Refused before.
            (_, _, made) => Ok(made.clone()),
        }
    }

    /// The routing as a scenario names it, without its other keys: `rule = "ugal"`.
    pub fn written(&self) -> String {
        let table = |name: &str| format!("[routing.{name}]");
        let algorithm = |of: &str, name: &str| format!("`algorithm = {name:?}` in {}", table(of));
        match self {
            Self::DirectionOrder(_) => table("direction_order"),
            Self::Angara { algorithm: own, .. } => algorithm("angara", own.name),
            Self::File(_) => table("file"),
            Self::Adaptive(rules, ..) => table(rules.non_minimal.table()),
            Self::Agnostic { algorithm: own, .. } => algorithm("agnostic", own.name),
            Self::OpenSm(_) => table("opensm"),
            Self::Relation(spec) => format!("`rule = {:?}`", spec.rule.name()),
        }
    }

    /// What a user is to know of its keys. A sweep over algorithms sets the keys of all of them, so
    /// those of another one are no mistake.
    pub(super) fn note(&self) -> Option<String> {
        let Self::Angara { algorithm, parameters } = self else { return None };
        let usual = Parameters::default();
        let set = [
            ("bfs", parameters.bfs != usual.bfs),
            ("sssp", parameters.sssp != usual.sssp),
            ("genetic", parameters.genetic != usual.genetic),
        ];
        let ignored = set.iter().filter(|(name, is_set)| *is_set && *name != algorithm.name);
        let keys: Vec<String> = ignored.map(|(name, _)| format!("`{name}_`")).collect();
        let of_others = (!keys.is_empty()).then(|| {
            format!(
                "`algorithm = \"{}\"` ignores the keys of [routing.angara] that begin with {}",
                algorithm.name,
                keys.join(" or ")
            )
        });
        let Stop { improvement_percent, small_gain } = parameters.genetic;
        let is_idle = algorithm.name == "genetic"
            && improvement_percent == 0
            && small_gain != usual.genetic.small_gain;
        let idle = is_idle.then(|| {
            "`genetic_small_gain` has nothing to do, as with `genetic_improvement_percent` 0 no gain is small"
                .to_owned()
        });
        let notes: Vec<String> = of_others.into_iter().chain(idle).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// Whether the routing is one for fabrics of this kind.
    pub(super) fn applies(&self, fabric: &Fabric) -> Result<(), RoutingError> {
        if let (Some(torus), Self::Adaptive(rules, ..)) = (fabric.torus(), self) {
            let ring = (0..torus.dimensions()).any(|dimension| torus.closed(dimension));
            // Without a ring there is no detour to choose, and the name would promise one.
            return match &rules.non_minimal {
                rule if rule.needs_a_ring() && !ring => Err(RoutingError::NoRing(rule.title())),
                _ => Ok(()),
            };
        }
        let routing = match self {
            _ if fabric.torus().is_some() => return Ok(()),
            Self::Agnostic { .. } | Self::OpenSm(_) | Self::Relation(_) => return Ok(()),
            Self::DirectionOrder(_) => "direction order",
            Self::Angara { .. } => "Angara routing",
            Self::File(_) => "a table of Angara routes",
            Self::Adaptive(..) => "adaptive routing",
        };
        Err(RoutingError::NeedsTorus(routing))
    }

    /// Whether it is one of any fabric, without rings and a bubble rule.
    pub fn is_of_any_fabric(&self) -> bool {
        matches!(self, Self::Agnostic { .. } | Self::OpenSm(_) | Self::Relation(_))
    }

    /// Whether rings have two classes of packets instead of the bubble.
    pub fn has_dateline(&self) -> bool {
        match self {
            Self::DirectionOrder(rules) => rules.dateline,
            Self::Adaptive(rules, ..) => matches!(rules.escape, EscapeRule::Dateline),
            _ => false,
        }
    }

    /// Number of virtual channels that a forwarding table or a relation has, or may have.
    pub fn vcs(&self) -> Option<u8> {
        match self {
            Self::Agnostic { parameters, .. } => Some(parameters.vcs),
            Self::OpenSm(read) => Some(read.vcs),
            Self::Relation(spec) => Some(spec.vcs),
            _ => None,
        }
    }

    /// Whether every pair of live nodes has a route; makes no table or relation, and so does not
    /// ask whether an algorithm for any fabric runs out of virtual channels.
    pub(super) fn check(&self, fabric: &Fabric) -> Result<(), RoutingError> {
        self.applies(fabric)?;
        self.claim_memory(fabric)?;
        match *self {
            Self::DirectionOrder(ref rules) => {
                DirectionOrder::new(fabric, rules.clone()).map(drop).map_err(RoutingError::from)
            }
            Self::File(ref file) => file.fits(fabric).map_err(RoutingError::Table),
            Self::Adaptive(ref rules, ..) => rules.fit(fabric).map_err(RoutingError::Adaptive),
            Self::Agnostic { .. } | Self::Relation(_) => Ok(()),
            Self::OpenSm(ref read) => match &read.gap {
                Some(gap) => Err(RoutingError::Incomplete(gap.clone())),
                None => Ok(()),
            },
            Self::Angara { ref algorithm, parameters: Parameters { freedoms, .. }, .. } => {
                let region = Region::new(fabric);
                enough_memory(&region, freedoms, algorithm)?;
                let unroutable = unroutable(&region, freedoms);
                let Some(&(source, destination)) = unroutable.first() else { return Ok(()) };
                Err(RoutingError::Unroutable(Unroutable {
                    routing: "Angara routing",
                    first: (fabric.router_name(source), fabric.router_name(destination)),
                    pairs: unroutable.len() as u64,
                }))
            }
        }
    }

    /// Sees to it that what the routes take in advance can be had; tables for any fabric see to it
    /// themselves, and those of files did when they were read.
    fn claim_memory(&self, fabric: &Fabric) -> Result<(), RoutingError> {
        let needed = match self {
            Self::DirectionOrder(_) => DirectionOrder::memory_needed(fabric),
            Self::Adaptive(rules, ..) => Adaptive::memory_needed(fabric, rules),
            _ => return Ok(()),
        };
        claim("its routes", needed).map_err(RoutingError::Memory)
    }

    /// Whether the routes depend on the seed.
    pub(super) fn is_random(&self) -> bool {
        match self {
            Self::Angara { algorithm, .. } => algorithm.is_random,
            Self::Adaptive(rules, ..) => rules.is_random(),
            Self::DirectionOrder(rules) => rules.half_ring == HalfRing::Random,
            Self::Relation(spec) => spec.is_random(),
            Self::File(_) | Self::Agnostic { .. } | Self::OpenSm(_) => false,
        }
    }

    /// Returns advice where there are no routes.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::DirectionOrder(_) => {
                "direction order takes each dimension in one go, one way or the other; it can't \
                 leave a row to pass a failure and come back to it; first and last steps may: try \
                 [routing.angara]"
            }
            Self::Angara { parameters, .. } if !parameters.freedoms.first_and_last_steps => {
                "first and last steps may lead around: set `first_and_last_steps = true`; `flitlab \
                 route` names the pairs"
            }
            Self::Angara { .. } => {
                "no first and last step leads around these failures without a risk of deadlock; \
                 `flitlab route` names the pairs"
            }
            Self::Adaptive(..) => {
                "leave out `escape` and `virtual_channels`: with the defaults packets can't deadlock"
            }
            Self::File(_) => "`flitlab route SCENARIO --save FILE` makes a table for a scenario",
            Self::Agnostic { .. } => {
                "nue, nue-balanced, mud, up-down and segments route any fabric in any number of \
                 virtual channels; others may need more `lanes`, or a fabric of a certain shape or size"
            }
            Self::Relation(_) => "choose another rule, such as up-down, which is for any fabric",
            Self::OpenSm(_) => "the dump has to be that of this fabric, with what has failed in it",
        }
    }
}

/// The bytes that making a table takes, if that many are free.
///
/// # Errors
/// If they are not.
pub fn enough_memory(
    region: &Region<'_>,
    freedoms: Freedoms,
    algorithm: &Algorithm,
) -> Result<u64, RoutingError> {
    let needed = memory_needed(region, freedoms, algorithm);
    claim("making this table", needed).map_err(RoutingError::Memory)?;
    Ok(needed)
}
