//! DFSSSP as OpenSM has it (osm_ucast_dfsssp.c, 3.3.23): the paths of SSSP; where their dependencies
//! close a cycle in a virtual channel, those that need its weakest dependency, which the fewest pairs
//! of terminals do, move to the next virtual channel. Virtual channels that are left over then go
//! one by one to the layer that has the most pairs for each of its own, and each path takes one of
//! its layer's by chance.
//!
//! OpenSM draws when a path is asked for, for two terminals and by the time; here a draw is for a
//! switch and a terminal, and the same each time.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::dependency::Numbering;
use super::dfsssp::{Path, paths};
use super::graph::Graph;
use super::sssp::sssp;
use super::{Algorithm, NoTable};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::{ForwardingTable, VcAssignment};

const NAME: &str = "dfsssp-opensm";

impl Algorithm {
    /// `dfsssp-opensm`.
    pub const DFSSSP_OPENSM: Row<Self> = Row::new(
        NAME,
        "the paths of sssp, parted among virtual channels as OpenSM does: at the weakest dependency of each cycle.",
        Self {
            // A path's dependencies, and the paths of each.
            memory: |at| at.pairs(64),
            make: |task| {
                sssp(&task.graph, &mut task.table);
                part(&task.graph, &mut task.table, task.parameters.vcs)
            },
            ..Self::DFSSSP.component
        },
    );
}

/// Gives each path a virtual channel.
///
/// # Errors
/// If more are needed than there are.
fn part(graph: &Graph, table: &mut ForwardingTable, vcs: u8) -> Result<(), NoTable> {
    let mut layers = Layers::new(graph, table);
    let mut needed = 1;
    while layers.break_cycles(needed - 1) {
        if needed == usize::from(vcs) {
            return Err(NoTable::VirtualChannels { algorithm: NAME, vcs });
        }
        needed += 1;
    }
    if vcs == 1 {
        table.set_vc_assignment(VcAssignment::One);
        return Ok(());
    }
    let shares = shares(&layers.pairs(needed), vcs);
    let first: Vec<u8> = (0..needed).map(|layer| shares[..layer].iter().sum()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut vc_of = vec![0; graph.routers() * table.terminals() as usize];
    for (path, &layer) in layers.paths.iter().zip(&layers.layer_of) {
        let place = path.terminal as usize * graph.routers() + path.source as usize;
        vc_of[place] = first[layer] + random.random_range(0..shares[layer]);
    }
    table.set_vc_assignment(VcAssignment::ByPair(vc_of));
    Ok(())
}

/// How many virtual channels each layer has.
fn shares(pairs: &[u64], vcs: u8) -> Vec<u8> {
    let mut shares = vec![1; pairs.len()];
    for _ in pairs.len()..usize::from(vcs) {
        let mut fullest = 0;
        // More pairs a virtual channel, as fractions.
        for layer in 1..pairs.len() {
            let [own, most] = [(layer, fullest), (fullest, layer)]
                .map(|(of, other)| pairs[of] * u64::from(shares[other]));
            if own > most {
                fullest = layer;
            }
        }
        shares[fullest] += 1;
    }
    shares
}

/// All paths, each in a layer.
struct Layers<'g> {
    graph: &'g Graph,
    paths: Vec<Path>,
    layer_of: Vec<usize>,
    /// The dependencies of the paths, by number, path after path, and where each path's begin.
    dependencies: Vec<u32>,
    begins: Vec<usize>,
    /// The paths of the dependencies, one dependency after the other, and where each one's begin.
    needed_by: Vec<u32>,
    needed_begins: Vec<usize>,
    numbering: Numbering,
}

impl<'g> Layers<'g> {
    /// All paths in the first layer.
    fn new(graph: &'g Graph, table: &mut ForwardingTable) -> Self {
        let numbering = Numbering::new(graph);
        let paths = paths(graph);
        let (mut dependencies, mut begins) = (Vec::new(), vec![0]);
        let mut channels = Vec::new();
        for path in &paths {
            path.channels(graph, table, &mut channels);
            let number = |pair: &[Channel]| -> u32 {
                narrow(numbering.number(pair[0], graph.port(pair[1])))
            };
            dependencies.extend(channels.windows(2).map(number));
            begins.push(dependencies.len());
        }
        let mut needed_begins = vec![0; numbering.count() + 1];
        dependencies.iter().for_each(|&it| needed_begins[it as usize + 1] += 1);
        for at in 1..needed_begins.len() {
            needed_begins[at] += needed_begins[at - 1];
        }
        let mut next = needed_begins.clone();
        let mut needed_by = vec![0; dependencies.len()];
        for path in 0..paths.len() {
            for &dependency in &dependencies[begins[path]..begins[path + 1]] {
                let place = &mut next[dependency as usize];
                needed_by[*place] = narrow(path);
                *place += 1;
            }
        }
        let layer_of = vec![0; paths.len()];
        Self { graph, paths, layer_of, dependencies, begins, needed_by, needed_begins, numbering }
    }

    /// The pairs of terminals of which a path is the way.
    fn weight(&self, path: usize) -> u64 {
        self.graph.hosts(self.paths[path].source).into()
    }

    /// The pairs of each of the first layers.
    fn pairs(&self, layers: usize) -> Vec<u64> {
        let mut pairs = vec![0; layers];
        (0..self.paths.len()).for_each(|path| pairs[self.layer_of[path]] += self.weight(path));
        pairs
    }

    fn dependencies_of(&self, path: usize) -> &[u32] {
        &self.dependencies[self.begins[path]..self.begins[path + 1]]
    }

    /// Moves paths from a layer to the next one until no cycle is left in it; whether there was one.
    fn break_cycles(&mut self, layer: usize) -> bool {
        let graph = self.graph;
        let mut pairs_of = vec![0; self.numbering.count()];
        for path in (0..self.paths.len()).filter(|&path| self.layer_of[path] == layer) {
            for &dependency in self.dependencies_of(path) {
                pairs_of[dependency as usize] += self.weight(path);
            }
        }
        let mut moved = false;
        let mut search = vec![Search::Open; graph.slots()];
        for root in graph.all_channels().filter(|&channel| graph.target(channel) != NONE) {
            while search[root as usize] == Search::Open {
                let Some(cycle) = self.cycle(root, &pairs_of, &mut search) else { break };
                let weakest = cycle.iter().copied().min_by_key(|&it| pairs_of[it]);
                self.advance(weakest.expect("a cycle has dependencies"), layer, &mut pairs_of);
                moved = true;
            }
        }
        moved
    }

    /// A cycle among the channels that can be reached from one, as the numbers of its dependencies.
    /// Channels that lead to no cycle are closed.
    fn cycle(&self, root: Channel, pairs_of: &[u64], search: &mut [Search]) -> Option<Vec<usize>> {
        let graph = self.graph;
        // Channels, each with the dependency to the next one and the next port that is looked at.
        let mut way: Vec<(Channel, u16)> = vec![(root, 0)];
        search[root as usize] = Search::OnTheWay;
        while let Some(&mut (at, ref mut port)) = way.last_mut() {
            let router = graph.target(at);
            if usize::from(*port) == graph.ports(router) {
                search[at as usize] = Search::Closed;
                way.pop();
                continue;
            }
            let (here, to) = (*port, graph.first(router) + u32::from(*port));
            *port += 1;
            if pairs_of[self.numbering.number(at, here)] == 0 {
                continue;
            }
            match search[to as usize] {
                Search::Closed => {}
                Search::Open => {
                    search[to as usize] = Search::OnTheWay;
                    way.push((to, 0));
                }
                Search::OnTheWay => {
                    let begin = way.iter().position(|it| it.0 == to).expect("it is on the way");
                    let number = |&(channel, port): &(Channel, u16)| {
                        self.numbering.number(channel, port - 1)
                    };
                    let cycle = way[begin..].iter().map(number).collect();
                    way.iter().for_each(|it| search[it.0 as usize] = Search::Open);
                    return Some(cycle);
                }
            }
        }
        None
    }

    /// Moves all paths that need a dependency in a layer to the next one.
    fn advance(&mut self, dependency: usize, layer: usize, pairs_of: &mut [u64]) {
        for place in self.needed_begins[dependency]..self.needed_begins[dependency + 1] {
            let path = self.needed_by[place] as usize;
            if self.layer_of[path] != layer {
                continue;
            }
            self.layer_of[path] = layer + 1;
            for &it in self.dependencies_of(path) {
                pairs_of[it as usize] -= self.weight(path);
            }
        }
    }
}

/// What a search for cycles knows of a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    Open,
    OnTheWay,
    Closed,
}
