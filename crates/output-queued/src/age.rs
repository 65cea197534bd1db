//! How long packets live at least.

use super::event::Femtoseconds;

/// A lower bound of the sum of all packets' lifetimes, which grows with time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ages {
    /// Packets created and not delivered.
    alive: u64,
    /// When they were created, in all.
    births: u128,
    /// Lifetimes of the packets delivered.
    ended: u128,
    /// The least sum of lifetimes of the packets that are not yet created.
    to_come: u128,
    /// The least sum of lifetimes of one message's packets.
    message: u128,
}

impl Ages {
    /// No packet is created. A node's packets leave the generator `interval` apart or more, and
    /// then take `least` or more.
    pub(super) fn new(
        messages: u64,
        message_packets: u32,
        interval: Femtoseconds,
        least: Femtoseconds,
    ) -> Self {
        let count = u128::from(message_packets);
        let message = count * u128::from(least) + count * (count - 1) / 2 * u128::from(interval);
        Self { alive: 0, births: 0, ended: 0, to_come: u128::from(messages) * message, message }
    }

    /// Counts messages of `packets` in all.
    pub(super) fn create(&mut self, now: Femtoseconds, messages: u32, packets: u64) {
        self.alive += packets;
        self.births += u128::from(packets) * u128::from(now);
        self.to_come -= u128::from(messages) * self.message;
    }

    /// Packets created and not delivered.
    pub(super) fn alive(&self) -> u64 {
        self.alive
    }

    /// Counts a packet that has reached its sink.
    #[inline]
    pub(super) fn deliver(&mut self, now: Femtoseconds, created: Femtoseconds) {
        self.alive -= 1;
        self.births -= u128::from(created);
        self.ended += u128::from(now - created);
    }

    /// Returns the least sum of all packets' lifetimes.
    pub(super) fn least(&self, now: Femtoseconds) -> u128 {
        self.ended + u128::from(self.alive) * u128::from(now) - self.births + self.to_come
    }
}
