//! A share of all messages goes to a few hot nodes.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::PatternError;
use super::live::Live;
use crate::narrow::{narrow, rounded_down};

/// Shares are compared as multiples of 2^-53, so that every machine decides alike.
const ONE: u64 = 1 << 53;

#[derive(Clone, Debug)]
pub(super) struct Hotspot {
    /// The live hot nodes, ascending.
    nodes: Vec<u32>,
    /// The share of messages to hot nodes, in units of 1 / [`ONE`].
    share: u64,
}

impl Hotspot {
    pub(super) fn new(nodes: &[u32], share: f64, live: &Live) -> Result<Self, PatternError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(PatternError::Share(share));
        }
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        let Some(&last) = nodes.last() else { return Err(PatternError::NoHotNodes) };
        if last >= live.terminals() {
            let nodes = live.terminals();
            return Err(PatternError::UnknownNode { pattern: "hotspot", node: last, nodes });
        }
        if let Some(same) = nodes.windows(2).find(|two| two[0] == two[1]) {
            return Err(PatternError::RepeatedNode(same[0]));
        }
        nodes.retain(|&node| live.contains(node));
        if nodes.is_empty() {
            return Err(PatternError::HotNodesFailed);
        }
        Ok(Self { nodes, share: rounded_down(share * ONE as f64) })
    }

    /// The source's place among the hot nodes (their end if it is none of them), and how many others
    /// there are.
    fn others(&self, source: u32) -> (u32, u32) {
        let (place, others) = match self.nodes.binary_search(&source) {
            Ok(place) => (place, self.nodes.len() - 1),
            Err(_) => (self.nodes.len(), self.nodes.len()),
        };
        (narrow(place), narrow(others))
    }

    /// A hot destination, or `None` if this message is one of the rest, which go anywhere.
    pub(super) fn draw(&self, source: u32, random: &mut ChaCha8Rng) -> Option<u32> {
        let (place, others) = self.others(source);
        if others == 0 || random.random_range(0..ONE) >= self.share {
            return None;
        }
        let drawn = random.random_range(0..others);
        Some(self.nodes[(drawn + u32::from(drawn >= place)) as usize])
    }

    /// The share of the source's messages that is drawn as hot, and of each hot node but itself.
    pub(super) fn shares(&self, source: u32) -> (f64, f64) {
        match self.others(source).1 {
            0 => (0.0, 0.0),
            others => {
                let share = self.share as f64 / ONE as f64;
                (share, share / f64::from(others))
            }
        }
    }

    pub(super) fn hot(&self, node: u32) -> bool {
        self.nodes.binary_search(&node).is_ok()
    }

    pub(super) fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<u32>()
    }
}
