//! From the router to the sink.

use super::event::{Events, Femtoseconds, Kind};

/// The ejection queues of all nodes.
#[derive(Debug)]
pub(super) struct Ejection {
    capacity: u32,
    /// Waiting packets, a ring for each node.
    slots: Vec<u32>,
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
            slots: vec![u32::MAX; (nodes * capacity) as usize],
            nodes: vec![Queue::default(); nodes as usize],
        }
    }

    /// Takes a packet for the sink, if there is room.
    pub(super) fn push(
        &mut self,
        now: Femtoseconds,
        node: u32,
        packet: u32,
        events: &mut Events,
    ) -> bool {
        let queue = &mut self.nodes[node as usize];
        if queue.waiting == self.capacity {
            return false;
        }
        let slot = (queue.first + queue.waiting) % self.capacity;
        self.slots[(node * self.capacity + slot) as usize] = packet;
        queue.waiting += 1;
        if !queue.busy {
            self.serve(now, node, events);
        }
        true
    }

    /// The link to the sink has sent a packet.
    pub(super) fn sent(&mut self, now: Femtoseconds, node: u32, events: &mut Events) {
        self.nodes[node as usize].busy = false;
        self.serve(now, node, events);
    }

    fn serve(&mut self, now: Femtoseconds, node: u32, events: &mut Events) {
        let queue = &mut self.nodes[node as usize];
        if queue.waiting > 0 {
            let packet = self.slots[(node * self.capacity + queue.first) as usize];
            queue.first = (queue.first + 1) % self.capacity;
            queue.waiting -= 1;
            queue.busy = true;
            events.add(now, Kind::Delivery, node, packet);
            events.add(now, Kind::EjectionSent, node, 0);
        }
    }
}
