//! How far packets of a pair of nodes come in another order than they were sent in.
//!
//! A packet is *overtaken* if one of the same source and destination that was sent later has come
//! before it. A sink that gives packets on in the order of sending has to keep the later ones until
//! then: their number at the worst is the room that it needs for the pair (the reordering buffer
//! density of \[rfc-5236\], section 3, at its greatest).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;
use flitlab_engine::DeliveredPacket;

/// How far packets were out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Packets that were delivered.
    pub packets: u64,
    /// Packets of these that were overtaken.
    pub overtaken: u64,
    /// The most packets of a pair that had come at a time before one that was sent earlier.
    pub buffer: u64,
}

impl Reordering {
    /// The share of packets that were overtaken; `None` without packets.
    pub fn share(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.overtaken as f64 / self.packets as f64)
    }
}

/// A delivery: when, source and its packet's number, destination.
type Delivery = (Picoseconds, u32, u32, u32);

/// Which packets of a source have come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Came {
    /// All whose numbers are below this one.
    all_below: u32,
    /// The numbers and destinations of the others, in ascending order.
    others: VecDeque<(u32, u32)>,
}

impl Came {
    /// Adds a packet. Returns how many have come that were sent to the same destination later.
    fn add(&mut self, number: u32, destination: u32) -> u64 {
        // Few are later, however many came before.
        let is_later = |&&(other, _): &&(u32, u32)| other > number;
        let later = self.others.iter().rev().take_while(is_later);
        let (mut all, mut of_pair) = (0, 0);
        for &(_, other) in later {
            all += 1;
            of_pair += u64::from(other == destination);
        }
        self.others.insert(self.others.len() - all, (number, destination));
        while self.others.front().is_some_and(|&(first, _)| first == self.all_below) {
            self.others.pop_front();
            self.all_below += 1;
        }
        of_pair
    }
}

/// Follows the order of all packets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Order {
    /// Deliveries that have not been looked at yet.
    pending: Vec<Delivery>,
    /// By source.
    came: Vec<Came>,
    pub(super) found: Reordering,
}

impl Order {
    /// For so many sources.
    pub(super) fn new(sources: usize) -> Self {
        Self { came: vec![Came::default(); sources], ..Self::default() }
    }

    pub(super) fn add(&mut self, packet: &DeliveredPacket) {
        let &DeliveredPacket { source, destination, sequence, delivered, .. } = packet;
        self.pending.push((delivered, source, sequence, destination));
    }

    pub(super) fn gather(&mut self, part: &mut Self) {
        self.pending.append(&mut part.pending);
    }

    /// Looks at the deliveries since the last call, all of them later than those before.
    pub(super) fn settle(&mut self) {
        // Packets of a pair at one instant count as in order.
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_unstable();
        for (_, source, sequence, destination) in pending.drain(..) {
            let later = self.came[source as usize].add(sequence, destination);
            self.found.packets += 1;
            self.found.overtaken += u64::from(later > 0);
            self.found.buffer = self.found.buffer.max(later);
        }
        self.pending = pending;
    }

    /// Counts from now on.
    pub(super) fn start(&mut self) {
        self.settle();
        self.found = Reordering::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;

    fn settled(deliveries: &[Delivery]) -> Order {
        let mut order = Order { pending: deliveries.to_vec(), ..Order::new(4) };
        order.settle();
        order
    }

    #[test]
    fn packets_of_other_pairs_may_overtake() {
        let order = settled(&[
            (Picoseconds(1), 0, 1, 7),
            (Picoseconds(2), 0, 0, 8),
            (Picoseconds(3), 0, 2, 7),
            (Picoseconds(3), 1, 0, 7),
        ]);
        assert_eq!(order.found, Reordering { packets: 4, overtaken: 0, buffer: 0 });
    }

    #[test]
    fn the_buffer_holds_what_has_come_before_the_one_that_is_late() {
        // Number 0 comes behind 1, 2 and 3, and 2 behind 3; then all is in order.
        let order = settled(&[
            (Picoseconds(5), 0, 2, 7),
            (Picoseconds(4), 0, 3, 7),
            (Picoseconds(6), 0, 1, 7),
            (Picoseconds(9), 0, 0, 7),
            (Picoseconds(10), 0, 4, 7),
        ]);
        assert_eq!(order.found, Reordering { packets: 5, overtaken: 3, buffer: 3 });
        assert_eq!(order.came[0].all_below, 5);
    }

    #[test]
    fn what_nothing_can_follow_is_forgotten() {
        let mut order = settled(
            &(0..100)
                .map(|number| (Picoseconds(number), 3, narrow::<u32>(number), 1))
                .collect::<Vec<_>>(),
        );
        assert!(order.came[3].others.is_empty());
        order.start();
        order.pending.push((Picoseconds(200), 3, 101, 1));
        order.settle();
        order.pending.push((Picoseconds(201), 3, 100, 1));
        order.settle();
        assert_eq!(order.found, Reordering { packets: 2, overtaken: 1, buffer: 1 });
    }
}
