//! Latencies of packets by the nodes that send and receive them.

use serde::{Deserialize, Serialize};

use flitlab_base::narrow::{narrow, rounded};
use flitlab_base::units::Picoseconds;
use flitlab_engine::DeliveredPacket;

/// By what latencies are told, beside all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LatencyBy {
    /// By nothing.
    #[default]
    Whole,
    /// By source, and by destination.
    Node,
    /// By each, and by pairs of both.
    Pair,
}

/// Terminals of a fabric whose pairs are told: the sums of each pair are kept all the time.
pub const MOST_OF_PAIRS: u32 = 512;

/// The latencies of the packets from one terminal, to one, or from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairLatency {
    /// `None` for all.
    pub source: Option<u32>,
    /// `None` for all.
    pub destination: Option<u32>,
    /// Packets that were delivered; at least one.
    pub packets: u64,
    /// Their mean latency.
    pub mean: Picoseconds,
    /// The longest.
    pub maximum: Picoseconds,
}

/// The latencies of some packets.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sum {
    packets: u64,
    latency: u128,
    maximum: Picoseconds,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.latency += other.latency;
        self.maximum = self.maximum.max(other.maximum);
    }
}

/// Sums latencies by source, by destination, and by pair if that is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pairs {
    by_source: Vec<Sum>,
    by_destination: Vec<Sum>,
    /// Source times terminals plus destination; empty if pairs are not asked for.
    by_pair: Vec<Sum>,
}

impl Pairs {
    /// For so many terminals; `None` if nothing is told by them.
    pub(super) fn new(by: LatencyBy, terminals: usize) -> Option<Box<Self>> {
        let pairs = match by {
            LatencyBy::Whole => return None,
            LatencyBy::Node => 0,
            LatencyBy::Pair => terminals * terminals,
        };
        let sums = |count| vec![Sum::default(); count];
        let (by_source, by_destination) = (sums(terminals), sums(terminals));
        Some(Box::new(Self { by_source, by_destination, by_pair: sums(pairs) }))
    }

    /// Forgets all packets.
    pub(super) fn start(&mut self) {
        self.lists().into_iter().for_each(|sums| sums.fill(Sum::default()));
    }

    pub(super) fn add(&mut self, packet: &DeliveredPacket) {
        let latency = packet.delivered - packet.created;
        let sum = Sum { packets: 1, latency: latency.into(), maximum: latency };
        let (source, destination) = (packet.source as usize, packet.destination as usize);
        self.by_source[source].add(sum);
        self.by_destination[destination].add(sum);
        if !self.by_pair.is_empty() {
            self.by_pair[source * self.by_source.len() + destination].add(sum);
        }
    }

    /// Takes what a part has.
    pub(super) fn gather(&mut self, part: &mut Self) {
        for (own, more) in self.lists().into_iter().zip(part.lists()) {
            own.iter_mut().zip(more).for_each(|(own, more)| own.add(std::mem::take(more)));
        }
    }

    fn lists(&mut self) -> [&mut Vec<Sum>; 3] {
        [&mut self.by_source, &mut self.by_destination, &mut self.by_pair]
    }

    /// Those with packets: by source, by destination, by pair.
    pub(super) fn found(&self) -> Vec<PairLatency> {
        let terminals = self.by_source.len();
        let told = |source, destination, sum: &Sum| PairLatency {
            source,
            destination,
            packets: sum.packets,
            mean: rounded(sum.latency as f64 / sum.packets.max(1) as f64),
            maximum: sum.maximum,
        };
        let numbered = |sums| (0usize..).zip::<&Vec<Sum>>(sums);
        let sources = numbered(&self.by_source).map(|(at, sum)| told(Some(narrow(at)), None, sum));
        let destinations =
            numbered(&self.by_destination).map(|(at, sum)| told(None, Some(narrow(at)), sum));
        let pairs = numbered(&self.by_pair)
            .map(|(at, sum)| told(Some(narrow(at / terminals)), Some(narrow(at % terminals)), sum));
        sources.chain(destinations).chain(pairs).filter(|told| told.packets > 0).collect()
    }
}
