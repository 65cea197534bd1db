//! A share of all messages goes to the other hot nodes, all alike; the rest, and all from an only
//! hot node, to any other node.

use flitlab_base::registry::Row;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Bind, Live, Nodes, Partners, PatternError, PatternKind, PatternRule};
use flitlab_base::document::{List, Listed, Number, Reader, report_repeated};
use flitlab_base::narrow::{narrow, rounded_down};
use flitlab_fabric::{NodeName, Places};

/// Shares are compared as multiples of 2^-53, so that every machine decides alike.
const ONE: u64 = 1 << 53;

pub(super) const HOTSPOT: Row<PatternKind> = Row::new(
    "hotspot",
    "a share of the messages to a few nodes, the rest uniform.",
    PatternKind { partners: Partners::Drawn, read },
);

fn read(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Bind> {
    let kind =
        List { kind: NodeName { places }, noun: "nodes", length: 1..=usize::MAX, example: None };
    let nodes = reader.required("nodes", &kind, "The hot nodes.");
    let doc = "The share of messages that go to them.";
    let share = reader.required("share", &Number { above: 0.0, to: 1.0, inclusive: true }, doc);
    let nodes = nodes?;
    report_repeated(reader, "nodes", &nodes, "node", |&node| {
        places.map_or_else(String::new, |places| places.name(node))
    });
    let (nodes, share) = (Listed::values(nodes), share?);
    Some(Arc::new(move |of| Ok(Box::new(Hotspot::new(&nodes, share, of)?))))
}

struct Hotspot {
    /// The live hot nodes, ascending.
    nodes: Vec<u32>,
    /// The share of messages to hot nodes, in units of 1 / [`ONE`].
    share: u64,
}

impl Hotspot {
    fn new(hot: &[u32], share: f64, nodes: &Nodes<'_>) -> Result<Self, PatternError> {
        nodes.check(hot.iter().copied())?;
        let live = nodes.live;
        let mut hot: Vec<u32> = hot.iter().copied().filter(|&node| live.contains(node)).collect();
        hot.sort_unstable();
        if hot.is_empty() {
            return Err(PatternError::Refused("all of hotspot's hot nodes have failed".into()));
        }
        Ok(Self { nodes: hot, share: rounded_down(share * ONE as f64) })
    }

    /// The source's place among the hot nodes (their end if it is none of them), and how many
    /// others there are.
    fn others(&self, source: u32) -> (u32, u32) {
        let (place, others) = match self.nodes.binary_search(&source) {
            Ok(place) => (place, self.nodes.len() - 1),
            Err(_) => (self.nodes.len(), self.nodes.len()),
        };
        (narrow(place), narrow(others))
    }

    /// A hot destination, or `None` if this message is one of the rest, which go anywhere.
    fn draw(&self, source: u32, random: &mut ChaCha8Rng) -> Option<u32> {
        let (place, others) = self.others(source);
        if others == 0 || random.random_range(0..ONE) >= self.share {
            return None;
        }
        let drawn = random.random_range(0..others);
        Some(self.nodes[(drawn + u32::from(drawn >= place)) as usize])
    }

    /// The share of the source's messages that is drawn as hot, and of each hot node but itself.
    fn shares(&self, source: u32) -> (f64, f64) {
        match self.others(source).1 {
            0 => (0.0, 0.0),
            others => {
                let share = self.share as f64 / ONE as f64;
                (share, share / f64::from(others))
            }
        }
    }
}

impl PatternRule for Hotspot {
    fn steps(&self, _: &Live) -> Option<u32> {
        None
    }

    fn destination(
        &self,
        source: u32,
        _: u64,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        Some(self.draw(source, random).unwrap_or_else(|| live.draw_other(source, random)))
    }

    fn for_each_share(&self, source: u32, live: &Live, each: &mut dyn FnMut(u32, f64)) {
        let (hot, hot_each) = self.shares(source);
        let rest = (1.0 - hot) * live.share_of_others();
        for node in live.others(source) {
            let hot = self.nodes.binary_search(&node).is_ok();
            let share = if hot { rest + hot_each } else { rest };
            if share > 0.0 {
                each(node, share);
            }
        }
    }

    fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<u32>()
    }
}
