//! Ranks that communicate together, as seen by one of them.

use std::borrow::Cow;

use super::program::{Program, Request};

/// Bits of a tag that number the messages of a communicator; those above tell communicators apart.
const NUMBER_BITS: u32 = 24;

/// Ranks that take part in collective operations, in an order of their own, and the place of one of
/// them in it.
///
/// Every round of every collective operation has a tag of its own, so that a message that overtakes
/// another is not taken for it. All members have to call the same operations in the same order.
#[derive(Clone, Debug)]
pub struct Communicator<'r> {
    /// Without a list, all ranks in their order.
    members: Option<Cow<'r, [u32]>>,
    /// How many members there are.
    pub size: u32,
    place: u32,
    /// The member that is called place 0 for the moment.
    first: u32,
    context: u32,
    used: u32,
}

impl<'r> Communicator<'r> {
    /// All ranks, seen by one of them.
    pub const fn world(size: u32, rank: u32) -> Self {
        Self { members: None, size, place: rank, first: 0, context: 1, used: 0 }
    }

    /// All ranks, at the end of their programs.
    pub const fn finale(size: u32, rank: u32) -> Self {
        Self { members: None, size, place: rank, first: 0, context: 255, used: 0 }
    }

    /// Some ranks, seen by the one at a place of the list. Communicators that have members in
    /// common need different contexts from 2 to 254; 0 is that of messages which are no collective
    /// operation's, 1 that of all ranks.
    ///
    /// # Panics
    /// If the list is too long for a communicator.
    pub fn of(members: impl Into<Cow<'r, [u32]>>, place: u32, context: u32) -> Self {
        let members = members.into();
        let size = u32::try_from(members.len()).expect("ranks are fewer");
        Self { members: Some(members), size, place, first: 0, context, used: 0 }
    }

    /// Its own place, counted from the root.
    pub const fn place(&self) -> u32 {
        (self.place + self.size - self.first) % self.size
    }

    /// Counts places from this one on.
    pub fn set_root(&mut self, root: u32) {
        self.first = root % self.size;
    }

    /// The place so many further on, beyond the last place from the first one on.
    pub const fn up(&self, by: u32) -> u32 {
        (self.place() + by % self.size) % self.size
    }

    /// The place so many before.
    pub const fn down(&self, by: u32) -> u32 {
        (self.place() + self.size - by % self.size) % self.size
    }

    /// The rank at a place.
    pub fn rank(&self, place: u32) -> u32 {
        let place = (place + self.first) % self.size;
        match &self.members {
            Some(members) => members[place as usize],
            None => place,
        }
    }

    /// Takes tags from this number on, for an operation that has its place among others by other
    /// means than the order of calls.
    pub fn number_tags_from(&mut self, number: u32) {
        self.used = number;
    }

    /// Takes so many tags; the first of them.
    pub fn tags(&mut self, count: u32) -> Tags {
        let first = self.used;
        self.used = self.used.wrapping_add(count);
        Tags { first, context: self.context }
    }

    /// Begins to send to a place.
    pub fn begin_send(&self, program: &mut Program, bytes: u64, to: u32, tag: u32) -> Request {
        program.begin_send(bytes, self.rank(to), tag)
    }

    /// Posts a receive from a place.
    pub fn begin_receive(&self, program: &mut Program, bytes: u64, from: u32, tag: u32) -> Request {
        program.begin_receive(bytes, self.rank(from), tag)
    }

    /// Sends to a place.
    pub fn send(&self, program: &mut Program, bytes: u64, to: u32, tag: u32) {
        program.send(bytes, self.rank(to), tag);
    }

    /// Receives from a place.
    pub fn receive(&self, program: &mut Program, bytes: u64, from: u32, tag: u32) {
        program.receive(bytes, self.rank(from), tag);
    }

    /// Sends to a place and receives from another one at once.
    pub fn exchange(
        &self,
        program: &mut Program,
        (sent, to): (u64, u32),
        (received, from): (u64, u32),
        tag: u32,
    ) {
        program.exchange((sent, self.rank(to)), (received, self.rank(from)), tag);
    }
}

/// Tags of one collective operation.
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    first: u32,
    context: u32,
}

impl Tags {
    /// The tag of a round.
    pub const fn at(self, round: u32) -> u32 {
        let number = self.first.wrapping_add(round) & ((1 << NUMBER_BITS) - 1);
        (self.context << NUMBER_BITS) | number
    }
}
