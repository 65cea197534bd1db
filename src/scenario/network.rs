//! A scenario's network: its fabric, and routes that are made when first asked for.
//!
//! This is all that a routing table depends on. The points of a sweep that have the same network share
//! it, and so its routes.

use std::sync::{Arc, OnceLock};

use super::{
    Diagnostics, Document, Reading, RoutingError, RoutingSpec, TopologySpec, checks::Fabrics,
};
use crate::scenario::Purpose;
use crate::{
    routing::{ForwardingFlaw, ForwardingProof, Routes, prove_forwarding},
    topology::{Fabric, Faults, Torus},
};

/// A fabric and how it is routed.
#[derive(Debug)]
pub struct Network {
    pub topology: TopologySpec,
    pub routing: RoutingSpec,
    pub fabric: Fabric,
    /// Matters to algorithms that draw at random.
    pub seed: u64,
    routes: OnceLock<Result<Routes, RoutingError>>,
    proof: OnceLock<Option<ForwardingProof>>,
}

impl PartialEq for Network {
    /// Fabric and routes follow from the rest.
    fn eq(&self, other: &Self) -> bool {
        self.is(&other.topology, &other.routing, other.seed)
    }
}

impl Network {
    /// Reads the network of a document, which may have no workload; whether every pair can be routed
    /// is left open.
    ///
    /// # Errors
    /// All mistakes that can be found.
    pub fn read(document: &Document) -> Result<Arc<Self>, Diagnostics> {
        let mut fabrics = Fabrics::default();
        let reading = Reading::of(document, &mut fabrics, Purpose::Routes);
        Diagnostics::check(reading.problems)?;
        Ok(reading.network.expect("or it was reported"))
    }

    pub(super) fn new(
        topology: TopologySpec,
        fabric: Fabric,
        routing: RoutingSpec,
        seed: u64,
    ) -> Self {
        Self { topology, routing, fabric, seed, routes: OnceLock::new(), proof: OnceLock::new() }
    }

    /// The torus and what it lacks, if each port is a direction.
    pub fn torus(&self) -> Option<(&Torus, &Faults)> {
        self.topology.torus()
    }

    pub(super) fn is(&self, topology: &TopologySpec, routing: &RoutingSpec, seed: u64) -> bool {
        (&self.topology, &self.routing) == (topology, routing)
            && (self.seed == seed || !routing.is_random())
    }

    /// The routes, made at the first call.
    ///
    /// # Errors
    /// If a pair of live nodes has no route.
    pub fn routes(&self) -> Result<&Routes, &RoutingError> {
        self.routes.get_or_init(|| self.routing.routes(&self.fabric, self.seed)).as_ref()
    }

    /// What is proved of the forwarding table, looked at when first asked for; `None` if routers have none.
    pub fn forwarding_proof(&self) -> Option<&ForwardingProof> {
        let prove = || match self.routes() {
            Ok(Routes::Forwarding(table)) => Some(prove_forwarding(&self.fabric, table)),
            _ => None,
        };
        self.proof.get_or_init(prove).as_ref()
    }

    /// How packets can wait for each other for ever under the forwarding table, if they can.
    pub fn cycle(&self) -> Option<String> {
        let flaws = &self.forwarding_proof()?.flaws;
        let cycle = flaws.iter().find(|flaw| matches!(flaw, ForwardingFlaw::Cycle(_)))?;
        Some(cycle.describe(&self.fabric))
    }
}
