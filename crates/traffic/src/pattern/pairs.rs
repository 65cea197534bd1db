//! Fixed pairs: a source sends to its partners in turn, in the order given.

use flitlab_base::registry::Row;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::rows::{bounds, row};
use super::{Live, Nodes, Partners, PatternError, PatternKind, PatternRule};
use flitlab_base::document::{List, Listed};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{NodeName, NodePair};

pub(super) const PAIRS: Row<PatternKind> = Row::new(
    "pairs",
    "fixed pairs; a source with several partners takes them in turn.",
    PatternKind {
        partners: Partners::Fixed,
        read: |reader, places| {
            let kind = List {
                kind: NodePair(NodeName { places }),
                noun: "pairs",
                length: 1..=usize::MAX,
                example: None,
            };
            let pairs = Listed::values(reader.required("list", &kind, "The pairs.")?);
            Some(Arc::new(move |nodes| Ok(Box::new(Pairs::new(&pairs, nodes)?))))
        },
    },
);

struct Pairs {
    bounds: Vec<u32>,
    /// Step and partner.
    entries: Vec<(u32, u32)>,
    steps: u32,
}

impl Pairs {
    /// A source's pairs in the order given are its steps. Pairs of a node with itself and with
    /// failed nodes are left out; the others keep their steps.
    fn new(pairs: &[(u32, u32)], nodes: &Nodes<'_>) -> Result<Self, PatternError> {
        nodes.check(pairs.iter().flat_map(|pair| [pair.0, pair.1]))?;
        let live = nodes.live;
        let mut sorted = pairs.to_vec();
        sorted.sort_by_key(|pair| pair.0);
        let mut entries: Vec<(u32, (u32, u32))> = vec![];
        let mut steps = 0;
        for row in sorted.chunk_by(|one, other| one.0 == other.0) {
            steps = steps.max(narrow(row.len()));
            entries.extend((0..).zip(row).map(|(step, pair)| (pair.0, (step, pair.1))));
        }
        entries.retain(|&(source, (_, partner))| {
            source != partner && live.contains(source) && live.contains(partner)
        });
        let bounds = bounds(live.terminals, entries.iter().map(|entry| entry.0));
        Ok(Self { bounds, entries: entries.into_iter().map(|entry| entry.1).collect(), steps })
    }

    fn row(&self, source: u32) -> &[(u32, u32)] {
        &self.entries[row(&self.bounds, source)]
    }
}

impl PatternRule for Pairs {
    fn steps(&self, _: &Live) -> Option<u32> {
        Some(self.steps)
    }

    fn partner(&self, source: u32, step: u32, _: &Live) -> u32 {
        let row = self.row(source);
        let place = row.binary_search_by_key(&step, |entry| entry.0);
        place.map_or(source, |place| row[place].1)
    }

    /// Without a walk of all steps, which other sources may have many of.
    fn destination(&self, source: u32, index: u64, _: &Live, _: &mut ChaCha8Rng) -> Option<u32> {
        let row = self.row(source);
        let place = index.checked_rem(row.len() as u64)?;
        Some(row[narrow::<usize>(place)].1)
    }

    fn memory(&self) -> usize {
        self.bounds.capacity() * size_of::<u32>()
            + self.entries.capacity() * size_of::<(u32, u32)>()
    }
}
