//! From the router to the sink.

use super::event::{Events, Femtoseconds};
use super::packet::Delivered;

/// The ejection queues of all nodes.
#[derive(Debug)]
pub(super) struct Ejection {
    capacity: u32,
    /// Waiting packets, a ring for each node.
    slots: Vec<Delivered>,
    nodes: Vec<Queue>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    first: u32,
    waiting: u32,
    busy: bool,
}

impl Ejection {
    pub(super) fn new(nodes: u32, capacity: u32) -> Self {
        Self {
            capacity,
            slots: vec![Delivered::default(); (nodes * capacity) as usize],
            nodes: vec![Queue::default(); nodes as usize],
        }
    }

    /// Takes a packet for the sink, if there is room.
    pub(super) fn push(
        &mut self,
        now: Femtoseconds,
        node: u32,
        packet: Delivered,
        events: &mut Events,
    ) -> bool {
        let queue = &mut self.nodes[node as usize];
        if queue.waiting == self.capacity {
            return false;
        }
        if queue.busy {
            let slot = queue.first + queue.waiting;
            let slot = if slot < self.capacity { slot } else { slot - self.capacity };
            self.slots[(node * self.capacity + slot) as usize] = packet;
            queue.waiting += 1;
        } else {
            // The packet in transmission needs no slot.
            queue.busy = true;
            Self::send(now, node, packet, events);
        }
        true
    }

    /// The link to the sink has sent a packet.
    pub(super) fn sent(&mut self, now: Femtoseconds, node: u32, events: &mut Events) {
        let queue = &mut self.nodes[node as usize];
        queue.busy = queue.waiting > 0;
        if queue.busy {
            let packet = self.slots[(node * self.capacity + queue.first) as usize];
            queue.first = if queue.first + 1 < self.capacity { queue.first + 1 } else { 0 };
            queue.waiting -= 1;
            Self::send(now, node, packet, events);
        }
    }

    fn send(now: Femtoseconds, node: u32, packet: Delivered, events: &mut Events) {
        events.deliveries.add(now, packet);
        events.ejections_sent.add(now, node);
    }
}
