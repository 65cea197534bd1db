//! How many virtual channels a scenario's packets take, of those that its routers have.

use std::collections::BTreeSet;

use super::{RoutingSpec, Scenario};
use flitlab_base::narrow::narrow;
use flitlab_routing::{Routes, VcAssignment};

/// Virtual channels between routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VcUse {
    /// Those that packets take.
    pub used: u8,
    /// Those that routers have.
    pub all: u8,
}

impl Scenario {
    /// How many virtual channels packets take, for which the routes are made and looked at. `None`
    /// if there are no routes or no network, and of routings of tori, whose virtual channels have a
    /// purpose each.
    pub fn vc_use(&self) -> Option<VcUse> {
        let crosses = self.workload.crosses_network();
        if !crosses || self.parameters.kind.output_queues().is_some() {
            return None;
        }
        let services: BTreeSet<u8> =
            self.parameters.classes.iter().map(|class| class.service).collect();
        let sets: u8 = narrow(services.len().max(1));
        let used = match self.network.routes().ok()? {
            Routes::Forwarding(_) => {
                narrow::<u8>(self.network.forwarding_proof()?.vcs_used()) * sets
            }
            Routes::Relation(routes) => routes.relation.vcs_used(),
            Routes::Paths(routes) => routes.paths.vcs_used() * sets,
            Routes::DirectionOrder(_) | Routes::Table(_) | Routes::Adaptive(_) => return None,
        };
        Some(VcUse { used, all: self.parameters.virtual_channels })
    }

    /// The value of `routing.agnostic.spread` by which the packets of its forwarding table would
    /// take more virtual channels, and how many then; `None` if there is none, or no channel between
    /// routers.
    pub fn spread_to_advise(&self) -> Option<(&'static str, u8)> {
        let RoutingSpec::Agnostic { parameters, .. } = &self.network.routing else { return None };
        let Routes::Forwarding(table) = self.network.routes().ok()? else { return None };
        let width = table.vc_count();
        let crosses = self.network.fabric.channels() > 0;
        if !crosses || parameters.spread.is_some() || parameters.vcs < 2 * width {
            return None;
        }
        let value = match table.vc_assignment() {
            VcAssignment::One | VcAssignment::ByDestination(_) | VcAssignment::ByPair(_) => {
                "by-pair"
            }
            VcAssignment::ByHop(_) => "by-destination",
            VcAssignment::ByServiceLevel(_) => return None,
        };
        Some((value, parameters.vcs / width * width))
    }
}
