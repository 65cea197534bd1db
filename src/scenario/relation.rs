//! Routings by a relation, as scenarios describe them.

use std::sync::Arc;

use super::RoutingError;
use crate::routing::relation::{NoRelation, RelationParameters, RelationRule};
use crate::routing::{RelationRoutes, Routes, prove_relation};
use crate::topology::Fabric;

/// Packets that choose among the hops of a relation, made for the fabric whatever its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationSpec {
    pub rule: RelationRule,
    pub parameters: RelationParameters,
    /// Whether of equally good hops each packet prefers one by chance.
    pub random_ties: bool,
    /// Whether the relation is used even if its proof refuses it.
    pub unproved: bool,
}

impl RelationSpec {
    pub(super) fn routes(&self, fabric: &Fabric, seed: u64) -> Result<Routes, RoutingError> {
        let relation = self.rule.relation(fabric, &self.parameters).map_err(|error| match error {
            NoRelation::Memory(shortage) => RoutingError::Memory(shortage),
            error => RoutingError::NoRelation(error),
        })?;
        let proof = prove_relation(fabric, &relation);
        // Nobody can simulate packets that find no way on.
        let flaw = proof.flaws.iter().find(|flaw| !self.unproved || !flaw.is_cycle());
        if let Some(flaw) = flaw {
            return Err(RoutingError::Unproved(flaw.describe(fabric)));
        }
        let relation = Arc::new(relation);
        Ok(Routes::Relation(RelationRoutes { relation, random_ties: self.random_ties, seed }))
    }

    pub(super) fn is_random(&self) -> bool {
        self.random_ties
    }
}
