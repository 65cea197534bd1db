//! Virtual channels in turn by their weights, those of a high priority before those of a low one.

use std::collections::BTreeSet;

use flitlab_engine::FlitSharing;

/// A table of virtual channels: flits of each one's turn, and how far the turns have come.
struct Table {
    weights: Vec<u8>,
    /// The virtual channel whose turn it is, and how many flits are left of the turn.
    turn: (usize, u8),
}

/// Both tables of an output.
pub struct Turns {
    high: Table,
    low: Table,
    limit: Option<u32>,
    /// Flits of high priority since a packet of low priority ended.
    sent: u32,
    low_goes_first: bool,
}

impl Table {
    fn new(weights: Vec<u8>) -> Self {
        Self { turn: (0, weights[0]), weights }
    }

    fn has(&self, virtual_channel: usize) -> bool {
        self.weights[virtual_channel] > 0
    }

    fn first(&self, asking: &BTreeSet<usize>) -> Option<usize> {
        let own = asking.iter().copied().filter(|&virtual_channel| self.has(virtual_channel));
        first_from(self.turn.0, own)
    }

    /// Counts a flit in the turn of its virtual channel, which ends the turns of those that were
    /// passed over.
    fn count(&mut self, virtual_channel: usize) {
        let whole = |virtual_channel: usize| (virtual_channel, self.weights[virtual_channel]);
        if self.turn.0 != virtual_channel {
            self.turn = whole(virtual_channel);
        }
        self.turn.1 -= 1;
        if self.turn.1 == 0 {
            self.turn = whole((virtual_channel + 1) % self.weights.len());
        }
    }
}

impl Turns {
    pub fn new(sharing: &FlitSharing, virtual_channels: usize) -> Self {
        let high = |number: usize| sharing.high_priority.get(number).copied().unwrap_or(0);
        let low = |number: usize| match sharing.weights.get(number) {
            Some(&weight) => weight,
            None if high(number) > 0 => 0,
            None => 1,
        };
        let all = 0..virtual_channels;
        Self {
            high: Table::new(all.clone().map(high).collect()),
            low: Table::new(all.map(low).collect()),
            limit: sharing.high_priority_limit,
            sent: 0,
            low_goes_first: false,
        }
    }

    /// Of virtual channels with flits that ask the one that gets the offer.
    pub fn first(&self, asking: &BTreeSet<usize>) -> Option<usize> {
        let (high, low) = (self.high.first(asking), self.low.first(asking));
        if self.low_goes_first { low.or(high) } else { high.or(low) }
    }

    /// A flit of a virtual channel has won, which may be its packet's last.
    pub fn count(&mut self, virtual_channel: usize, is_last: bool) {
        let (high, low) = (self.high.has(virtual_channel), self.low.has(virtual_channel));
        if if self.low_goes_first { low } else { !high } {
            self.low.count(virtual_channel);
            if is_last {
                (self.low_goes_first, self.sent) = (false, 0);
            }
        } else {
            self.high.count(virtual_channel);
            self.sent += 1;
            if is_last && self.limit.is_some_and(|limit| self.sent >= limit) {
                self.low_goes_first = true;
            }
        }
    }
}

/// Of ascending numbers the first in cyclic order from a pointer: the first that is not below it,
/// else the lowest.
pub fn first_from(pointer: usize, numbers: impl IntoIterator<Item = usize>) -> Option<usize> {
    numbers.into_iter().min_by_key(|&number| (number < pointer, number))
}
