//! Rules whose packets pass through phases: minimal routing with a virtual channel for each step,
//! Valiant's detours, and decisions between them.
//!
//! A [`PhasedRule`] says for each router, target and phase which hops packets may take. From that
//! a [`Relation`] with [`Phases`](super::relation::Phases) is made once, and routers only look hops up. The rule itself is
//! asked at two places: for the phase in which a packet starts, and for its decision in phases that
//! decide. Each rule is a file here, with its source, and a row of [`PHASED_RULES`].
//!
//! A rule of another crate is a row in a [`Registry`](flitlab_base::registry::Registry). It is made
//! of the same pieces: a [`DetourRule`] decides on [`Valiant`]'s detours, and [`Ways`], [`Leg`]s and
//! [`Steps`] are for ways of its own. It is proved as these rules are, and tried out on some packets
//! before any is simulated ([`Mistake`]).
//!
//! | module | what it is for |
//! |---|---|
//! | `rule` | what a rule is, and a packet that decides |
//! | `steps` | virtual channels that ascend from step to step |
//! | `ways` | shortest ways, and ways with one cable between two groups |
//! | `leg` | the phases and steps of a packet that goes such a way to a target |
//! | `rows` | a HyperX's dimensions |
//! | `up_down` | ways up and then down, for packets that have no other way |
//! | `failures` | what failures do to a rule, in words |
//! | `at_head` | the choice of a port by what each costs |
//! | `mistake` | what contradicts a rule's phases, and the search for it |
//! | `minimal`, `valiant`, `ugal`, `polarized` | rules of many fabrics |
//! | `ancestor` | the rule of trees |
//! | `order`, `dimwar`, `omniwar`, `dal` | rules of a HyperX |

mod ancestor;
mod at_head;
mod dal;
mod dimwar;
mod failures;
mod leg;
mod minimal;
mod mistake;
mod omniwar;
mod order;
mod polarized;
mod rows;
mod rule;
mod steps;
mod ugal;
mod up_down;
mod valiant;
mod ways;

use std::fmt;
use std::sync::Arc;

use super::adaptive::Misroute;
use super::relation::{NoRelation, Phase, Relation, RelationBuilder};
use flitlab_base::document::Reader;
use flitlab_base::registry::{Component, Row};
use flitlab_fabric::Fabric;

pub use ancestor::Ancestor;
pub use at_head::{Among, AtHead, Cost};
pub use dal::Dal;
pub use dimwar::{Channels, DimWar};
pub use leg::{Leg, LegStart};
pub use minimal::Minimal;
pub use mistake::Mistake;
use mistake::Place;
pub(crate) use mistake::{Call, check_course};
pub use omniwar::OmniWar;
pub use order::{Choice, Order};
pub use polarized::Polarized;
pub use rule::{
    At, Bind, Course, Deciding, DetourRule, Drawn, PhasedKind, PhasedParameters, PhasedRule,
    Queues, Sees, Sight,
};
pub use steps::Steps;
pub use ugal::{CountedVcs, Equal, SeenQueues, Ugal, Weights};
pub use valiant::{MinimalVcs, Valiant, ViaKind};
pub use ways::{Onward, Ways};

/// The rules that scenarios can name, in the order in which they are offered.
pub static PHASED_RULES: [Row<PhasedKind>; 11] = [
    minimal::BY_HOP,
    minimal::DRAGONFLY,
    valiant::VALIANT,
    ugal::UGAL,
    ugal::PAR,
    polarized::POLARIZED,
    ancestor::ANCESTOR,
    order::ORDER,
    dal::DAL,
    dimwar::DIMWAR,
    omniwar::OMNIWAR,
];

impl Component for PhasedKind {
    const NOUN: &'static str = "rule";

    /// The rule that suits the virtual channels, and the rules that make relations without phases, as
    /// scenarios name both by one key.
    const RESERVED: &'static [&'static str] = &[
        "auto",
        "up-down",
        "udwm",
        "left-right",
        "minimal",
        "minimal-up-down",
        "minimal-nue",
        "two-orders",
        "parted",
        "bubble-colouring",
        "negative-first",
    ];

    fn built_in() -> &'static [Row<Self>] {
        &PHASED_RULES
    }
}

/// A rule with its keys, as a scenario asks for it, not yet bound to a fabric.
#[derive(Clone)]
pub struct PhasedSpec {
    /// The rule's name.
    pub name: &'static str,
    /// Its meaning in a sentence.
    pub doc: &'static str,
    /// The keys with their values as TOML, parted by ", "; with the name they say which rule it is.
    keys: Arc<str>,
    /// The detours that its packets may take.
    pub misroutes: &'static [Misroute],
    bind: Bind,
}

impl PhasedSpec {
    /// Reads the keys of a rule.
    pub fn read(row: &Row<PhasedKind>, reader: &mut Reader<'_>) -> Option<Self> {
        let start = reader.resolved.len();
        let bind = (row.read)(reader)?;
        let keys = reader.keys_since(start).into();
        Some(Self { name: row.name, doc: row.doc, keys, misroutes: row.misroutes, bind })
    }

    /// The built-in rule of this name with these keys, as TOML.
    ///
    /// # Panics
    /// If there is no such rule, or the keys are wrong; scenarios are read without panicking.
    pub fn new(name: &str, keys: &str) -> Self {
        let row = PhasedKind::named(name);
        let row = row.unwrap_or_else(|| panic!("there is no rule {name}"));
        Reader::read_alone(name, keys, |reader| Self::read(row, reader))
    }

    /// Whether routers hold credits back by this rule.
    pub fn holds_credits(&self) -> bool {
        self.keys.split(", ").any(|key| key == "credits = \"delayed\"")
    }

    /// Makes the rule and its relation for a fabric.
    ///
    /// # Errors
    /// If the rule needs more virtual channels or a fabric of another shape, some pair is not
    /// connected, or memory is short; and if the rule contradicts its own phases.
    pub fn relation(
        &self,
        fabric: &Fabric,
        parameters: &PhasedParameters,
    ) -> Result<(Arc<dyn PhasedRule>, Relation), NoRelation> {
        let rule = (self.bind)(fabric, parameters)?;
        let relation = relation(fabric, (self.name, &*rule), parameters.vcs)?;
        Ok((rule, relation))
    }
}

impl PartialEq for PhasedSpec {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.keys) == (other.name, &other.keys)
    }
}

impl fmt::Debug for PhasedSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {{ {} }}", self.name, self.keys)
    }
}

/// The rules beside which a rule is seen: minimal routing, by cables between groups if the rule goes
/// so, and Valiant's, by way of the same as the rule's detours.
pub fn beside(rule: &dyn PhasedRule) -> [PhasedSpec; 2] {
    let via = match rule.detours() {
        None => "auto",
        Some(detours) if detours.goes_via_groups() => "group",
        Some(detours) if detours.avoids_groups() => "router-elsewhere",
        Some(detours) if detours.draws_ends() => "router-or-end",
        Some(_) => "router",
    };
    let minimal = if rule.goes_by_groups() { &minimal::DRAGONFLY } else { &minimal::BY_HOP };
    [
        PhasedSpec::new(minimal.name, ""),
        PhasedSpec::new(valiant::VALIANT.name, &format!("via = {via:?}")),
    ]
}

/// Makes the relation of a rule with this name, and looks for what contradicts its phases.
///
/// # Errors
/// If the rule contradicts itself, or memory is short.
pub fn relation(
    fabric: &Fabric,
    (name, rule): (&'static str, &dyn PhasedRule),
    vcs: u8,
) -> Result<Relation, NoRelation> {
    let refused = |mistake: Mistake| NoRelation::Mistake { rule: name, mistake: Box::new(mistake) };
    let phases = rule.phases();
    mistake::check_phases(&phases).map_err(refused)?;
    let (destinations, vias) = (phases.destinations(fabric), phases.vias(fabric));
    let mut builder = RelationBuilder::with_phases(fabric, vcs, phases.clone())?;
    let mut hops = Vec::new();
    for (phase, kind) in (0..).zip(&phases.phases) {
        let targets = match kind {
            Phase::Destination => &destinations,
            Phase::Via { .. } => &vias,
            Phase::Decides { .. } => continue,
        };
        for &target in targets {
            for router in (0..fabric.routers()).filter(|&at| !phases.is_reached(target, at)) {
                hops.clear();
                rule.hops(fabric, At { router, target, phase }, &mut hops);
                let place = Place { fabric, phases: &phases, vcs, router, target, phase };
                hops.iter().try_for_each(|&hop| place.check(hop)).map_err(refused)?;
                let state = builder.relation().in_phase(router, phase);
                builder.set(state, target, &mut hops);
            }
        }
    }
    let relation = builder.finish_phases(rule.longest(), rule.at_head().is_some());
    mistake::try_out(fabric, rule, &relation).map_err(refused)?;
    Ok(relation)
}
