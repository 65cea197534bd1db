//! From the router to the sink.

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
}

impl Ejection {
    pub(super) fn new(nodes: u32, capacity: u32) -> Self {
        Self {
            capacity,
            slots: vec![Delivered::default(); (nodes * capacity) as usize],
            nodes: vec![Queue::default(); nodes as usize],
        }
    }

    /// Bytes that a node's queue takes.
    pub(super) fn bytes_of_one(capacity: u32) -> usize {
        size_of::<Queue>() + capacity as usize * size_of::<Delivered>()
    }

    /// Takes a packet for the sink, if there is room.
    pub(super) fn push(&mut self, node: u32, packet: Delivered) -> bool {
        let queue = &mut self.nodes[node as usize];
        if queue.waiting == self.capacity {
            return false;
        }
        let slot = queue.first + queue.waiting;
        let slot = if slot < self.capacity { slot } else { slot - self.capacity };
        self.slots[(node * self.capacity + slot) as usize] = packet;
        queue.waiting += 1;
        true
    }

    /// Takes the packet to send next to the sink, for which one waits, and tells whether more do.
    /// In transmission it needs no slot.
    pub(super) fn send(&mut self, node: u32) -> (Delivered, bool) {
        let queue = &mut self.nodes[node as usize];
        let packet = self.slots[(node * self.capacity + queue.first) as usize];
        queue.first = if queue.first + 1 < self.capacity { queue.first + 1 } else { 0 };
        queue.waiting -= 1;
        (packet, queue.waiting > 0)
    }
}
