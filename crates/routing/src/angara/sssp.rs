//! SSSP, as \[angara-routing\] has it (Algorithms 3 and 4): unique routes first, then the other
//! pairs by turns, length and source, from each source a batch of routes that do not cross at a
//! time.
//!
//! Algorithm 4 searches the routing graph by breadth first with relaxation; since each channel's
//! weight starts at |N|^2, it finds the shortest routes with the least load. Here these are looked
//! up among the pair's shortest routes. Of equally loaded ones the first is taken, which has no
//! first or last step if it can be had without.

use super::selection::Selection;
use super::{Algorithm, Generated};
use super::{Choices, Pair};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

impl Algorithm {
    /// `sssp`.
    pub const SSSP: Row<Self> = Row::new(
        "sssp",
        "the published SSSP, by single-source shortest paths.",
        Self {
            is_random: false,
            follows_rule: false,
            table: |choices, _, _| {
                let sssp = sssp(choices);
                let made = Generated::new(choices.table(&sssp.selection));
                Ok(Generated { sssp_calls: Some(sssp.calls), ..made })
            },
        },
    );
}

/// A selection, and how often Algorithm 4 was called (\[angara-routing\], Figure 4).
#[derive(Clone, Debug)]
pub struct Sssp {
    /// The route of each pair.
    pub selection: Selection,
    /// Number of calls.
    pub calls: u64,
}

/// Chooses a route for every pair.
pub fn sssp(choices: &Choices<'_>) -> Sssp {
    build(choices, Selection::unique_routes(choices), 2)
}

/// Chooses routes like [`sssp`], but without its first stage: unique routes are found in groups
/// like the others. \[angara-routing\], Figure 4, gives the effect of the first stage.
pub fn sssp_in_one_stage(choices: &Choices<'_>) -> Sssp {
    build(choices, Selection::none(choices), 1)
}

/// Adds a route for every pair that has `least` routes or more.
fn build(choices: &Choices<'_>, mut selection: Selection, least: usize) -> Sssp {
    let open = choices.pairs_by_place().filter(|(_, pair)| pair.routes() >= least);
    let mut open: Vec<(u8, u16, u32)> =
        open.map(|(place, pair)| (pair.turns, pair.hops, place)).collect();
    open.sort_unstable();
    // Places are by source.
    let nodes: u32 = narrow(choices.region().nodes().len());
    let key = |&(turns, hops, place): &(u8, u16, u32)| (turns, hops, place / nodes);
    let (mut calls, mut channels) = (0, Vec::new());
    // Channels that the present batch uses carry its number.
    let mut used_by = vec![0u64; selection.loads.len()];
    for group in open.chunk_by(|one, other| key(one) == key(other)) {
        let pair = |&(_, _, place): &(u8, u16, u32)| (place, choices.at(place));
        let mut waiting: Vec<(u32, Pair)> = group.iter().map(pair).collect();
        while !waiting.is_empty() {
            calls += 1;
            let path = |(place, pair)| (place, pair, selection.least_loaded(choices, &pair));
            let paths: Vec<(u32, Pair, usize)> = waiting.drain(..).map(path).collect();
            for (place, pair, number) in paths {
                channels.clear();
                channels.extend(choices.channels(&pair, number));
                if channels.iter().any(|&channel| used_by[channel as usize] == calls) {
                    waiting.push((place, pair));
                    continue;
                }
                for &channel in &channels {
                    used_by[channel as usize] = calls;
                }
                selection.add_over(place, number, pair.weight, &channels);
            }
        }
    }
    Sssp { selection, calls }
}
