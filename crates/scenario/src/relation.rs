//! Routings by a relation, as scenarios describe them.

use std::sync::Arc;

use super::RoutingError;
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_routing::adaptive::Misroute;
use flitlab_routing::phased::{PhasedParameters, PhasedRule, PhasedSpec};
use flitlab_routing::relation::{Hop, NoRelation, PathChoice, PathSet, Relation};
use flitlab_routing::{PathRoutes, Preference, RelationRoutes, Routes};
use flitlab_tables::path_selection::{NoSelection, PathSelection, SelectionParameters};
use flitlab_tables::prove_relation;
use flitlab_tables::relation_rules::{RelationParameters, RelationRule};

/// Packets that choose among the hops of a relation, made for the fabric whatever its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationSpec {
    pub rule: RuleSpec,
    /// Virtual channels that the rule may use.
    pub vcs: u8,
    /// Whether of equally good hops each packet prefers one by chance.
    pub random_ties: bool,
    /// Which of several hops a packet prefers.
    pub preference: Preference,
    /// Virtual channels in which packets are injected.
    pub injection_vcs: u8,
    /// Of how many of the largest packets a packet that is injected leaves room.
    pub injection_bubble: u8,
    /// The time at whose multiples packets that wait decide again, if they do.
    pub again: Option<Picoseconds>,
    /// Whether they do so only until one of their hops has room.
    pub settles: bool,
    /// The paths that sources choose, if they do.
    pub selection: Option<PathsSpec>,
    /// Whether the relation is used even if its proof refuses it.
    pub unproved: bool,
}

/// The rule that makes a relation.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleSpec {
    /// Hops depend on the place of a packet's head.
    ByPlace(Row<RelationRule>, RelationParameters),
    /// Packets pass through phases. With the flits of a packet with the maximum payload.
    Phased(PhasedSpec, u32),
}

impl RuleSpec {
    /// The rule's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ByPlace(rule, _) => rule.name,
            Self::Phased(rule, _) => rule.name,
        }
    }

    /// Its meaning in a sentence.
    pub fn doc(&self) -> &'static str {
        match self {
            Self::ByPlace(rule, _) => rule.doc,
            Self::Phased(rule, _) => rule.doc,
        }
    }

    /// Whether it has rings that packets enter only if they leave room for another packet.
    pub fn keeps_bubble(&self) -> bool {
        matches!(self, Self::ByPlace(rule, _) if rule.keeps_bubble)
    }

    /// Makes the relation of a fabric, and the rule if packets pass through phases.
    fn relation(
        &self,
        fabric: &Fabric,
        (vcs, unproved): (u8, bool),
    ) -> Result<(Option<Arc<dyn PhasedRule>>, Relation), NoRelation> {
        match self {
            Self::ByPlace(rule, parameters) => Ok((None, rule.relation(fabric, parameters)?)),
            &Self::Phased(ref rule, largest_packet) => {
                let parameters = PhasedParameters { vcs, largest_packet, clamps: unproved };
                let (rule, relation) = rule.relation(fabric, &parameters)?;
                Ok((Some(rule), relation))
            }
        }
    }
}

/// Whole paths, selected from all that a relation allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathsSpec {
    pub selection: Row<PathSelection>,
    /// The most paths of a pair: more than one only if they are drawn.
    pub most: u8,
    pub choice: PathChoice,
}

impl PathsSpec {
    /// One path a pair.
    pub fn one(selection: Row<PathSelection>) -> Self {
        Self { selection, most: 1, choice: PathChoice::default() }
    }

    /// # Errors
    /// If the relation has an escape, or there is too little memory.
    pub fn paths(
        &self,
        fabric: &Fabric,
        relation: &Relation,
        seed: u64,
    ) -> Result<PathSet, NoSelection> {
        let selected = |number: u8| {
            let seed = seed.wrapping_add(number.into());
            let parameters = SelectionParameters { seed, ..SelectionParameters::default() };
            self.selection.paths(fabric, relation, parameters)
        };
        if self.most == 1 {
            return Ok(selected(0)?.chosen(self.choice));
        }
        let sets = (0..self.most).map(selected).collect::<Result<Vec<_>, _>>()?;
        let paths = |source, destination| {
            let mut paths: Vec<Vec<Hop>> = Vec::new();
            for path in sets.iter().flat_map(|set| set.paths(source, destination)) {
                if !paths.iter().any(|other| other == path) {
                    paths.push(path.to_vec());
                }
            }
            paths
        };
        Ok(PathSet::new(fabric, relation.vcs(), self.choice, paths)?)
    }

    fn is_random(&self) -> bool {
        use PathSelection as Select;
        let draws = [Select::RANDOM, Select::LOW_PORT, Select::BALANCED].contains(&self.selection);
        draws || self.most > 1 && self.choice == PathChoice::Random
    }
}

impl RelationSpec {
    pub(super) fn routes(&self, fabric: &Fabric, seed: u64) -> Result<Routes, RoutingError> {
        let made = self.rule.relation(fabric, (self.vcs, self.unproved));
        let (rule, relation) = made.map_err(|error| match error {
            NoRelation::Memory(shortage) => RoutingError::Memory(shortage),
            error => RoutingError::NoRelation(error),
        })?;
        let proof = prove_relation(fabric, &relation);
        // Packets that find no way on can't be simulated.
        let flaw = proof.flaws.iter().find(|flaw| !self.unproved || !flaw.is_cycle());
        if let Some(flaw) = flaw {
            return Err(RoutingError::Unproved {
                rule: self.rule.name(),
                flaw: flaw.describe(fabric),
                is_cycle: flaw.is_cycle(),
            });
        }
        if let Some(spec) = &self.selection {
            let paths = spec.paths(fabric, &relation, seed).map_err(|error| match error {
                NoSelection::Memory(shortage) => RoutingError::Memory(shortage),
                error => RoutingError::NoSelection(error),
            })?;
            return Ok(Routes::Paths(PathRoutes { paths: Arc::new(paths), seed }));
        }
        let relation = Arc::new(relation);
        let &Self { random_ties, preference, injection_vcs, injection_bubble, .. } = self;
        let &Self { again, settles, .. } = self;
        let routes = RelationRoutes {
            relation,
            rule,
            random_ties,
            preference,
            injection_vcs,
            injection_bubble,
            again,
            settles,
            seed,
        };
        let sees_others = routes.rule.as_ref().is_some_and(|rule| rule.age().is_some());
        match again {
            Some(_) if !routes.decides() => {
                Err(RoutingError::DecidesOnce("by this rule they decide nothing"))
            }
            Some(_) if sees_others => {
                Err(RoutingError::DecidesOnce("where routers see others' queues, they decide once"))
            }
            _ => Ok(Routes::Relation(routes)),
        }
    }

    /// The detours that its packets may take.
    pub fn misroutes(&self) -> &'static [Misroute] {
        match &self.rule {
            RuleSpec::ByPlace(..) => &[],
            RuleSpec::Phased(rule, _) => rule.misroutes,
        }
    }

    pub(super) fn is_random(&self) -> bool {
        match &self.selection {
            Some(spec) => spec.is_random(),
            None => self.random_ties || matches!(self.rule, RuleSpec::Phased(..)),
        }
    }
}
