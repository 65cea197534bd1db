//! Path selection: one path for each pair of routers, of all those that a routing relation offers.
//!
//! The selections are those of \[path-selection\], D-mod-K and one of ours, a file each, and a row
//! of [`PATH_SELECTIONS`]. Whatever they select can't deadlock if the relation can't: they take
//! nothing but its ways.
//!
//! The counters of the paper's selections count candidate paths by physical routes and virtual
//! channels ([`Candidates`]), so that routes have to be listed, and choices of virtual channels
//! along them do not. What has an escape (the minimal routing of \[silla-duato\]) is no candidate,
//! as the paper's footnote says: its new channels are safe only for packets that can leave them at
//! any time.
//!
//! What the paper leaves open, and [`SelectionParameters`] can read in more than one way: how paths
//! that differ in virtual channels alone count ([`VcChoices`]), whether they are taken away
//! together or singly, and which of equals comes first ([`Ties`]).

mod balanced;
mod bound;
mod by_destination;
mod candidates;
mod counters;
mod high_physical;
mod listing;
mod low_physical;
mod low_port;
mod low_virtual;
mod port_order;
mod random;
#[cfg(test)]
mod tests;
mod traffic_balancing;
mod ways;

pub use bound::RelationBound;
pub use candidates::{Candidates, NoCandidates, VcChoices};
pub use counters::Ties;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use counters::Counters;
use flitlab_base::memory::Shortage;
use flitlab_base::registry::{Component, Row};
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::relation::{Hop, PathChoice, PathSet, Relation};

/// The selections that scenarios can name, in the order in which they are offered.
pub static PATH_SELECTIONS: [Row<PathSelection>; 9] = [
    PathSelection::RANDOM,
    PathSelection::PORT_ORDER,
    PathSelection::LOW_PORT,
    PathSelection::BY_DESTINATION,
    PathSelection::TRAFFIC_BALANCING,
    PathSelection::HIGH_PHYSICAL,
    PathSelection::LOW_VIRTUAL,
    PathSelection::LOW_PHYSICAL,
    PathSelection::BALANCED,
];

/// A selection.
#[derive(Clone, Copy)]
pub struct PathSelection {
    /// Selects a path for each pair.
    pub select: fn(&SelectionTask<'_>) -> Result<Chosen, NoSelection>,
}

/// Resources of selections, and their reading of \[path-selection\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionParameters {
    /// Seed of random choices.
    pub seed: u64,
    /// The counting of paths that differ in their virtual channels only.
    pub choices: VcChoices,
    /// Whether each of these paths is removed singly, from a list of all paths.
    pub singly: bool,
    /// The order of equally good channels and paths.
    pub ties: Ties,
}

/// Paths to be selected.
pub struct SelectionTask<'a> {
    /// The fabric that has the routers and channels.
    pub fabric: &'a Fabric,
    /// The hops that a path may have.
    pub relation: &'a Relation,
    /// Numbers and choices that all selections share.
    pub parameters: SelectionParameters,
}

/// A path for each ordered pair of different routers with terminals, by source, then destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The hops of each path.
    pub paths: Vec<Vec<Hop>>,
}

/// Why no paths can be selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSelection {
    /// The relation has an escape, and is free of deadlock only if packets can choose at every
    /// router.
    #[error(
        "a routing with an escape is safe only as long as packets can choose at every router: no paths can be fixed"
    )]
    Escape,
    /// The relation's hops depend on a packet's phase, in place of its virtual channel.
    #[error("packets of a rule with phases choose their hops at routers: no paths can be fixed")]
    Phases,
    /// The relation has no candidate paths.
    #[error(transparent)]
    Candidates(#[from] NoCandidates),
    /// The paths need more memory than is free.
    #[error(transparent)]
    Memory(#[from] Shortage),
}

impl PathSelection {
    /// Selects one path for each pair from a relation without flaws. Detours are left out, since
    /// sources can't see where room is missing.
    ///
    /// # Errors
    /// If the relation has phases, an escape or flaws, or memory is short.
    pub fn paths(
        &self,
        fabric: &Fabric,
        relation: &Relation,
        parameters: SelectionParameters,
    ) -> Result<PathSet, NoSelection> {
        if relation.phases().is_some() {
            return Err(NoSelection::Phases);
        }
        if relation.has_escape() {
            return Err(NoSelection::Escape);
        }
        let straight = relation.has_detours().then(|| relation.without_detours(fabric));
        let relation = straight.as_ref().unwrap_or(relation);
        let task = SelectionTask { fabric, relation, parameters };
        let mut chosen = (self.select)(&task)?.paths.into_iter();
        let next = |_, _| chosen.next().into_iter().collect();
        Ok(PathSet::new(fabric, relation.vcs(), PathChoice::default(), next)?)
    }
}

/// Traffic balancing (\[traffic-balancing\]) over routes that are listed already: the channels of
/// each of a pair's routes, pair by pair. The number of the route that is left of each.
///
/// # Errors
/// If a pair has none.
pub(crate) fn balance_traffic(
    slots: u32,
    lists: impl Iterator<Item = (u32, u32, Vec<Vec<Channel>>)>,
) -> Result<Vec<u32>, NoCandidates> {
    let candidates = Candidates::of_lists(slots, lists);
    let first: Vec<u32> = candidates.pairs.iter().map(|pair| pair.first).collect();
    let mut counters = Counters::new(candidates, VcChoices::Distinct, Ties::Lowest)?;
    counters.thin(false);
    Ok(counters.chosen().zip(first).map(|(bundle, first)| bundle - first).collect())
}

impl SelectionTask<'_> {
    /// The counters of all candidates.
    fn counters(&self) -> Result<Counters, NoSelection> {
        let SelectionParameters { choices, singly, ties, .. } = self.parameters;
        let mut candidates = Candidates::new(self.fabric, self.relation)?;
        if singly {
            candidates = candidates.listed()?;
        }
        Ok(Counters::new(candidates, choices, ties)?)
    }

    /// The paths that are left of all candidates once their counters have chosen.
    fn counted(&self, choose: impl FnOnce(&mut Counters)) -> Result<Chosen, NoSelection> {
        let mut counters = self.counters()?;
        choose(&mut counters);
        debug_assert_eq!(counters.open_pairs(), 0, "every pair has one path");
        let path = |bundle| counters.candidates.path(self.fabric, bundle, 0);
        Ok(Chosen { paths: counters.chosen().map(path).collect() })
    }

    /// The path of each pair on which `pick(router, hops, random)` chooses at each router one of the
    /// hops offered there, by its place.
    pub fn walk(
        &self,
        mut pick: impl FnMut(u32, &[Hop], &mut ChaCha8Rng) -> usize,
    ) -> Result<Chosen, NoSelection> {
        let Self { fabric, relation, .. } = *self;
        let mut random = ChaCha8Rng::seed_from_u64(self.parameters.seed);
        let ends = fabric.ends();
        let mut paths = Vec::with_capacity(ends.len() * ends.len());
        for &source in &ends {
            for &destination in ends.iter().filter(|&&destination| destination != source) {
                let (mut at, mut state) = (source, relation.injected(source));
                let mut path = Vec::new();
                while at != destination {
                    let hops = relation.hops(state, destination);
                    if hops.is_empty() || path.len() as u64 > u64::from(relation.states()) {
                        let names = (fabric.router_name(source), fabric.router_name(destination));
                        return Err(NoCandidates::NoPath(names.0, names.1).into());
                    }
                    let hop = hops[pick(at, hops, &mut random)];
                    let channel = fabric.outputs(at).start + u32::from(hop.port);
                    path.push(hop);
                    state = relation.arrived(channel, hop.vc);
                    at = fabric.target(channel).expect("a relation without flaw");
                }
                paths.push(path);
            }
        }
        Ok(Chosen { paths })
    }
}

impl Component for PathSelection {
    const NOUN: &'static str = "path selection";

    /// No selection at all.
    const RESERVED: &'static [&'static str] = &["none"];

    fn built_in() -> &'static [Row<Self>] {
        &PATH_SELECTIONS
    }
}
