//! A scenario's network: its fabric, and routes that are made when first asked for.
//!
//! This is all that a routing table depends on. The points of a sweep that have the same network
//! share it, and so its routes.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::{FailureSpec, InterruptionSpec, NewTables, RoutingError, RoutingSpec, TopologySpec};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::{Component, Row};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Fabric, Failures, Faults, TopologyError, Torus};
use flitlab_routing::Routes;
use flitlab_tables::{
    Changes, Danger, FlowControl, ForwardingFlaw, ForwardingProof, Freedom,
    agnostic::{Algorithm, Parameters},
    prove_deadlock_free, prove_forwarding,
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
    making: OnceLock<Making>,
    proof: OnceLock<Option<ForwardingProof>>,
    /// The routes before something failed, if those that nothing has happened to stay, and the
    /// network with all routes anew.
    kept: Option<(Routes, Arc<Self>)>,
    /// The remaining networks after failures during operation, as far as they were asked for.
    left: Mutex<Vec<Left>>,
}

/// A network after failures, by these failures and by how its new tables are made.
type Left = (Vec<Failures>, NewTables, Arc<Network>);

/// New tables that are made after failures during operation.
#[derive(Clone, Debug)]
pub struct TableChange {
    /// The numbers of the failures, from 0, that these tables know of and those before don't.
    pub failures: Range<usize>,
    /// Time at which they are ready.
    pub ready: Picoseconds,
    /// The network with these tables.
    pub network: Arc<Network>,
}

/// A time on the clock. It is not printed, since what is printed alike counts as equal.
struct Making(Duration);

impl fmt::Debug for Making {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("on the clock")
    }
}

impl PartialEq for Network {
    /// Fabric and routes follow from the rest.
    fn eq(&self, other: &Self) -> bool {
        self.is(&other.topology, &other.routing, other.seed)
    }
}

impl Network {
    /// What a user is to know of the files and keys that describe it, a sentence or two each.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.topology.notes().iter().cloned().chain(self.routing.note())
    }

    pub(super) fn new(
        topology: TopologySpec,
        fabric: Fabric,
        routing: RoutingSpec,
        seed: u64,
    ) -> Self {
        let (routes, making) = (OnceLock::new(), OnceLock::new());
        let (proof, left) = (OnceLock::new(), Mutex::default());
        Self { topology, routing, fabric, seed, routes, making, proof, kept: None, left }
    }

    /// The algorithm that makes the forwarding table where the routing is another, and none is
    /// named.
    pub fn usual_algorithm(&self) -> Row<Algorithm> {
        let usual = self.topology.usual_table(Parameters::default().vcs);
        Algorithm::named(usual).copied().unwrap_or(Algorithm::NUE_BALANCED)
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
        let make = || {
            let kept = self.kept.as_ref().map(|(kept, anew)| (kept, anew.routes()));
            let begun = Instant::now();
            let made = match kept {
                Some((kept, anew)) => anew
                    .map_err(Clone::clone)
                    .and_then(|anew| self.routing.keeping(&self.fabric, kept, anew)),
                None => self.routing.routes(&self.fabric, self.seed),
            };
            self.making.get_or_init(|| Making(begun.elapsed()));
            made
        };
        self.routes.get_or_init(make).as_ref()
    }

    /// How long it took on this machine to make the routes, on the clock; `None` if nobody has.
    pub fn making(&self) -> Option<Duration> {
        let anew = self.kept.as_ref().and_then(|(_, anew)| anew.making());
        self.making.get().map(|making| making.0 + anew.unwrap_or_default())
    }

    /// Returns the network after failures during operation: the fabric without what fails, and
    /// routes of the same routing there, or those of all pairs that nothing happens to and new ones
    /// for others. The points of a sweep that have the same failures share it.
    ///
    /// # Errors
    /// If what fails is no part of the fabric, or what is left falls apart.
    pub fn after(
        &self,
        failures: &[FailureSpec],
        new_tables: NewTables,
    ) -> Result<Arc<Self>, TopologyError> {
        let kept = match new_tables {
            NewTables::All => None,
            NewTables::Concerned => {
                let anew = self.after(failures, NewTables::All)?;
                self.routes().ok().map(|kept| (kept.clone(), anew))
            }
        };
        let mut known = self.left.lock().expect("nothing panics while it is held");
        let failed = || failures.iter().map(|failure| &failure.failed);
        let is = |(other, tables, _): &&Left| other.iter().eq(failed()) && *tables == new_tables;
        if let Some((.., left)) = known.iter().find(is) {
            return Ok(left.clone());
        }
        let mut fabric = self.fabric.clone();
        for failed in failed() {
            fabric = failed.apply(&fabric)?;
        }
        let left = Self::new(self.topology.clone(), fabric, self.routing.clone(), self.seed);
        let left = Arc::new(Self { kept, ..left });
        known.push((failed().cloned().collect(), new_tables, left.clone()));
        Ok(left)
    }

    /// How much of the tables changes from these routes to those of a network with failures; `None`
    /// if there are none, or none can be made.
    pub fn changes_to(&self, left: &Self) -> Option<Changes> {
        Changes::between(self.routes().ok()?, left.routes().ok()?, &left.fabric)
    }

    /// The tables that are made after failures during operation, in the order of time. A failure
    /// that comes until tables are ready has them made anew; they are never in use.
    ///
    /// # Errors
    /// If what fails is no part of the fabric, or what is left falls apart.
    pub fn table_changes(
        &self,
        interruption: &InterruptionSpec,
    ) -> Result<Vec<TableChange>, TopologyError> {
        let failures = &interruption.failures;
        let mut changes: Vec<TableChange> = Vec::new();
        for (last, failure) in failures.iter().enumerate() {
            let first = changes.last().map_or(0, |change| change.failures.end);
            let before = changes.last().map_or(self, |change| &change.network);
            let next = failures.get(last + 1).map_or(Picoseconds::NEVER, |next| next.time);
            let earliest = failure.time + failure.new_tables_after;
            if next <= earliest {
                continue;
            }
            let network = before.after(&failures[first..=last], interruption.new_tables)?;
            let counts = interruption.counts_changes();
            let changed = counts.then(|| before.changes_to(&network)).flatten();
            let destinations = narrow(network.fabric.live_terminals().count());
            let ready = earliest + interruption.time_of(changed.unwrap_or_default(), destinations);
            if ready < next {
                changes.push(TableChange { failures: first..last + 1, ready, network });
            }
        }
        Ok(changes)
    }

    /// Returns the proof of the forwarding table, made at the first call; `None` if routers have no
    /// tables.
    pub fn forwarding_proof(&self) -> Option<&ForwardingProof> {
        let prove = || match self.routes() {
            Ok(Routes::Forwarding(table)) => Some(prove_forwarding(&self.fabric, table)),
            _ => None,
        };
        self.proof.get_or_init(prove).as_ref()
    }

    /// Why packets can't wait for each other for ever, if routers do this about it. Nothing is said
    /// where a pair has no route.
    ///
    /// # Errors
    /// How they can.
    pub(super) fn freedom(&self, flow: FlowControl) -> Result<Freedom, String> {
        let Ok(routes) = self.routes() else { return Ok(Freedom::NoCircle) };
        let described = |danger: Danger| danger.describe(&self.fabric);
        if let Some(proof) = self.forwarding_proof() {
            let mut flaws = proof.flaws.iter();
            let cycle = flaws.find(|flaw| matches!(flaw, ForwardingFlaw::Cycle(_)));
            return cycle.map_or(Ok(Freedom::NoCircle), |cycle| Err(cycle.describe(&self.fabric)));
        }
        if let Some(freedom) = self.proved_when_made(routes, flow) {
            return Ok(freedom);
        }
        prove_deadlock_free(&self.fabric, routes, flow).map_err(described)
    }

    /// Why it was found when the routes were made, which are refused otherwise; `None` if it was
    /// not asked then.
    fn proved_when_made(&self, routes: &Routes, flow: FlowControl) -> Option<Freedom> {
        match (&self.routing, routes) {
            (RoutingSpec::Relation(spec), _) if spec.unproved => None,
            (_, Routes::Relation(made)) if made.relation.has_ring() => Some(Freedom::Bubble),
            (_, Routes::Relation(made)) if !made.relation.has_escape() => Some(Freedom::NoCircle),
            (_, Routes::Relation(_)) => flow.escapes_count().then_some(Freedom::Escape),
            (_, Routes::Adaptive(adaptive)) if adaptive.has_table() => {
                flow.escapes_count().then_some(Freedom::Escape)
            }
            // Of a relation that has no escapes.
            (_, Routes::Paths(_)) => Some(Freedom::NoCircle),
            _ => None,
        }
    }
}
