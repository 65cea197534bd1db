//! Each packet and each message, as far as they are asked for: the first ones to arrive.

use std::collections::BinaryHeap;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{CompletedMessage, DeliveredPacket};

/// Which packets and messages are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter {
    /// Whether packets are kept.
    pub packets: bool,
    /// Whether messages are kept.
    pub messages: bool,
    /// Only those to or from these terminals; all if empty.
    pub terminals: Vec<u32>,
    /// Of each at most so many, the first ones to arrive.
    pub most: usize,
}

impl LogFilter {
    fn has(&self, source: u32, destination: u32) -> bool {
        self.terminals.is_empty()
            || [source, destination].iter().any(|it| self.terminals.contains(it))
    }
}

/// The first ones to arrive of those that were seen. Which these are does not depend on the order
/// in which they come in, and so not on threads.
#[derive(Clone, Debug)]
struct Earliest<T> {
    kept: BinaryHeap<(Picoseconds, T)>,
    left_out: u64,
}

impl<T: Ord> Earliest<T> {
    fn new() -> Self {
        Self { kept: BinaryHeap::new(), left_out: 0 }
    }

    fn add(&mut self, time: Picoseconds, item: T, most: usize) {
        self.kept.push((time, item));
        if self.kept.len() > most {
            self.kept.pop();
            self.left_out += 1;
        }
    }

    fn gather(&mut self, part: &mut Self, most: usize) {
        self.left_out += std::mem::take(&mut part.left_out);
        part.kept.drain().for_each(|(time, item)| self.add(time, item, most));
    }

    fn take(&mut self) -> Vec<T> {
        let kept = std::mem::take(&mut self.kept).into_sorted_vec();
        kept.into_iter().map(|it| it.1).collect()
    }
}

/// Packets and messages that were delivered.
#[derive(Clone, Debug)]
pub struct DeliveryLog {
    filter: LogFilter,
    packets: Earliest<DeliveredPacket>,
    messages: Earliest<CompletedMessage>,
}

/// The contents of a log in the order of arrival, and the number of deliveries left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logged {
    /// The kept packets.
    pub packets: Vec<DeliveredPacket>,
    /// The kept messages.
    pub messages: Vec<CompletedMessage>,
    /// Packets that passed the filter and exceeded its limit.
    pub packets_left_out: u64,
    /// Messages that passed the filter and exceeded its limit.
    pub messages_left_out: u64,
}

impl DeliveryLog {
    /// Nothing has arrived.
    pub fn new(filter: LogFilter) -> Self {
        Self { filter, packets: Earliest::new(), messages: Earliest::new() }
    }

    /// Another one with the same filter.
    pub(super) fn fork(&self) -> Self {
        Self::new(self.filter.clone())
    }

    pub(super) fn gather(&mut self, part: &mut Self) {
        self.packets.gather(&mut part.packets, self.filter.most);
        self.messages.gather(&mut part.messages, self.filter.most);
    }

    pub(super) fn packet(&mut self, packet: &DeliveredPacket) {
        if self.filter.packets && self.filter.has(packet.source, packet.destination) {
            self.packets.add(packet.delivered, *packet, self.filter.most);
        }
    }

    pub(super) fn message(&mut self, message: &CompletedMessage) {
        if self.filter.messages && self.filter.has(message.source, message.destination) {
            self.messages.add(message.completed, *message, self.filter.most);
        }
    }

    /// Takes all kept deliveries out of the log.
    pub(super) fn take(&mut self) -> Logged {
        Logged {
            packets: self.packets.take(),
            messages: self.messages.take(),
            packets_left_out: self.packets.left_out,
            messages_left_out: self.messages.left_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_arrive_are_kept_in_whatever_order_they_come_in() {
        let message = |source, completed| CompletedMessage {
            source,
            destination: 9,
            bytes: 1,
            class: 0,
            is_control: false,
            created: Picoseconds(0),
            completed,
        };
        let filter = LogFilter { packets: false, messages: true, terminals: vec![1, 2], most: 3 };
        let mut one = DeliveryLog::new(filter);
        let mut other = one.fork();
        for time in [50, 10, 30] {
            one.message(&message(1, Picoseconds(time)));
            other.message(&message(2, Picoseconds(time + 5)));
            other.message(&message(3, Picoseconds(time)));
        }
        one.gather(&mut other);
        let logged = one.take();
        let kept: Vec<_> = logged.messages.iter().map(|it| (it.source, it.completed)).collect();
        assert_eq!(kept, [(1, Picoseconds(10)), (2, Picoseconds(15)), (1, Picoseconds(30))]);
        assert_eq!((logged.messages_left_out, logged.packets.len()), (3, 0));
    }
}
