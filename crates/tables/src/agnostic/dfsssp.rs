//! DFSSSP (\[dfsssp\]): the paths of SSSP, parted among virtual channels so that none has a cycle.
//!
//! The paper starts with all paths in one virtual channel and breaks cycle by cycle, by moving the
//! paths that need its weakest dependency to the next virtual channel. That also moves paths that
//! would fit once others have gone: on the 6x5x5 torus of \[nue\] 16 virtual channels did not
//! suffice for it, where this does with 8 (OpenSM, which meets the cycles in another order, needs
//! 9). Here destinations that are near each other prefer the same virtual channel, since their
//! paths go together well; each path goes into its destination's virtual channel, or into the next
//! one in which it closes no cycle. If a few find none, all are dealt anew, those first that found
//! none.
//!
//! So all virtual channels are used, unless one is enough. `dfsssp-fewest` deals the same paths to two
//! virtual channels, then to three, and so on, until they suffice. `dfsssp-opensm` parts them as the
//! paper and OpenSM do (dfsssp_opensm.rs).
//!
//! `dfsssp-balanced` takes the paths of P²-SSSP, relieves their fullest channels (balance.rs),
//! which shortest paths of few alternatives need on Dragonflies, and parts them likewise.

use std::ops::RangeInclusive;

use super::balance::{Keeps, balance};
use super::dependency::{Dependencies, Numbering};
use super::graph::{Destination, Graph};
use super::nue::Partition;
use super::sssp::{p2_sssp, sssp};
use super::{Algorithm, Applies, NoTable};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::Channel;
use flitlab_routing::NO_PORT;
use flitlab_routing::{ForwardingTable, VcAssignment};

impl Algorithm {
    /// `dfsssp`.
    pub const DFSSSP: Row<Self> = Row::new(
        "dfsssp",
        "the paths of sssp, parted among virtual channels so that none has a cycle.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            applies: Applies::WithVcs,
            memory: |at| at.pairs(3).saturating_add(at.vcs * (at.dependencies + at.turns * 5)),
            ..Self::plain(|task| {
                sssp(&task.graph, &mut task.table);
                let all = task.parameters.vcs;
                part("dfsssp", &task.graph, &mut task.table, all..=all)
            })
        },
    );

    /// `dfsssp-fewest`.
    pub const DFSSSP_FEWEST: Row<Self> = Row::new(
        "dfsssp-fewest",
        "as dfsssp, in as few virtual channels as suffice for it.",
        Self {
            make: |task| {
                sssp(&task.graph, &mut task.table);
                part("dfsssp-fewest", &task.graph, &mut task.table, 2..=task.parameters.vcs)
            },
            ..Self::DFSSSP.component
        },
    );

    /// `dfsssp-balanced`.
    pub const DFSSSP_BALANCED: Row<Self> = Row::new(
        "dfsssp-balanced",
        "shortest paths, the fullest channels relieved, parted among virtual channels so that none has a cycle.",
        Self {
            memory: |at| at.pairs(15).saturating_add(at.vcs * (at.dependencies + at.turns * 9)),
            make: |task| {
                p2_sssp(&task.graph, &mut task.table);
                balance(&task.graph, &mut task.table, Keeps::Lengths);
                let all = task.parameters.vcs;
                part("dfsssp-balanced", &task.graph, &mut task.table, all..=all)
            },
            ..Self::DFSSSP.component
        },
    );
}

/// How often paths are dealt to virtual channels before that is given up.
const ROUNDS: usize = 8;

/// Parts the paths of a table among one virtual channel, or the first of these numbers that suffices.
///
/// # Errors
/// If none suffices.
fn part(
    algorithm: &'static str,
    graph: &Graph,
    table: &mut ForwardingTable,
    mut numbers: RangeInclusive<u8>,
) -> Result<(), NoTable> {
    let one = deal(graph, table, 1, 1).map(|_| VcAssignment::One);
    let vcs = *numbers.end();
    let dealt = one.or_else(|| {
        numbers.find_map(|vcs| deal(graph, table, vcs, ROUNDS).map(VcAssignment::ByPair))
    });
    table.set_vc_assignment(dealt.ok_or(NoTable::VirtualChannels { algorithm, vcs })?);
    Ok(())
}

/// The paths from all routers with terminals to all terminals of others, by destination.
pub(super) fn paths(graph: &Graph) -> Vec<Path> {
    let sources = || graph.all_routers().filter(|&at| graph.hosts(at) > 0);
    let to = |destination: &Destination| {
        let Destination { terminal, router } = *destination;
        sources().filter(move |&at| at != router).map(move |source| Path { terminal, source })
    };
    graph.destinations.iter().flat_map(to).collect()
}

/// The virtual channel of each path, by destination terminal, then router; `None` if the virtual
/// channels don't suffice.
fn deal(graph: &Graph, table: &mut ForwardingTable, vcs: u8, rounds: usize) -> Option<Vec<u8>> {
    let mut vc_of_terminal = vec![0; table.terminals() as usize];
    for (vc, part) in Partition::Near.parts(graph, vcs).iter().enumerate() {
        for destination in part {
            vc_of_terminal[destination.terminal as usize] = vc;
        }
    }
    let mut paths = paths(graph);
    let all = paths.len();
    let numbering = Numbering::new(graph);
    let mut vc_of = vec![0; graph.routers() * table.terminals() as usize];
    let mut channels = Vec::new();
    for _ in 0..rounds {
        let layer = || Layer {
            graph,
            numbering: &numbering,
            used: Dependencies::new(graph),
            refused: vec![false; numbering.count()],
        };
        let mut layers: Vec<Layer<'_>> = (0..vcs).map(|_| layer()).collect();
        let (mut dealt, mut lost) = (Vec::new(), Vec::new());
        for path in paths {
            path.channels(graph, table, &mut channels);
            let first = vc_of_terminal[path.terminal as usize];
            let mut others = (first..layers.len()).chain(0..first);
            match others.find(|&vc| layers[vc].take(&channels)) {
                Some(vc) => {
                    let place = path.terminal as usize * graph.routers() + path.source as usize;
                    vc_of[place] = narrow(vc);
                    dealt.push(path);
                }
                None if rounds == 1 => return None,
                // Another deal helps a few.
                None if 100 * lost.len() > all => return None,
                None => lost.push(path),
            }
        }
        if lost.is_empty() {
            return Some(vc_of);
        }
        lost.append(&mut dealt);
        paths = lost;
    }
    None
}

/// From a router to a terminal.
pub(super) struct Path {
    pub terminal: u32,
    pub source: u32,
}

impl Path {
    pub fn channels(
        &self,
        graph: &Graph,
        table: &mut ForwardingTable,
        channels: &mut Vec<Channel>,
    ) {
        let row = table.row(self.terminal);
        channels.clear();
        let mut at = self.source;
        while row[at as usize] != NO_PORT {
            let channel = graph.first(at) + u32::from(row[at as usize]);
            channels.push(channel);
            at = graph.target(channel);
        }
    }
}

/// A virtual channel and the dependencies of its paths.
struct Layer<'a> {
    graph: &'a Graph,
    numbering: &'a Numbering,
    used: Dependencies<'a>,
    /// By dependency, whether it has been found to close a cycle by itself. It always will.
    refused: Vec<bool>,
}

impl Layer<'_> {
    /// Takes a path into the virtual channel, unless it closes a cycle.
    fn take(&mut self, channels: &[Channel]) -> bool {
        let Self { graph, numbering, used, refused } = self;
        let number = |pair: &[Channel]| numbering.number(pair[0], graph.port(pair[1]));
        if channels.windows(2).any(|pair| refused[number(pair)]) {
            return false;
        }
        if used.insert_all(channels.windows(2)) {
            return true;
        }
        for pair in channels.windows(2) {
            refused[number(pair)] = used.closes_cycle(pair[0], pair[1]);
        }
        false
    }
}
