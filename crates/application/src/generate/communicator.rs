//! Ranks that communicate together, as seen by one of them.

use std::borrow::Cow;

use super::program::{Program, Request};
use flitlab_base::narrow::narrow;

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
    /// Ranks of a node, as far as is known: numbers that follow each other share it.
    ranks_per_node: u32,
}

impl<'r> Communicator<'r> {
    /// All ranks, seen by one of them.
    pub const fn world(size: u32, rank: u32) -> Self {
        Self::new(None, size, rank, 1)
    }

    /// All ranks, at the end of their programs.
    pub const fn finale(size: u32, rank: u32) -> Self {
        Self::new(None, size, rank, 255)
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
        Self::new(Some(members), size, place, context)
    }

    const fn new(members: Option<Cow<'r, [u32]>>, size: u32, place: u32, context: u32) -> Self {
        Self { members, size, place, first: 0, context, used: 0, ranks_per_node: 1 }
    }

    /// Lets so many ranks, one after the other, share a node.
    #[must_use]
    pub const fn in_nodes_of(mut self, ranks_per_node: u32) -> Self {
        self.ranks_per_node = ranks_per_node;
        self
    }

    /// How many members each node has, which follow each other; `None` if nodes have unequally
    /// many, or if members of several nodes alternate.
    pub fn members_per_node(&self) -> Option<u32> {
        let each = match &self.members {
            None => self.ranks_per_node.min(self.size),
            Some(members) => {
                let node = |rank: &u32| rank / self.ranks_per_node;
                let runs = members.chunk_by(|one, next| node(one) == node(next));
                let counted = runs.map(|run| (narrow::<u32>(run.len()), node(&run[0])));
                let (mut counts, mut nodes): (Vec<u32>, Vec<u32>) = counted.unzip();
                counts.dedup();
                nodes.sort_unstable();
                match counts[..] {
                    [each] if nodes.is_sorted_by(|one, next| one < next) => each,
                    _ => return None,
                }
            }
        };
        self.size.is_multiple_of(each).then_some(each)
    }

    /// The members of its node, and those with its place in each node; `None` where there is but
    /// one level. Both number their tags on from here, since no two ranks are in both.
    pub fn levels(&self) -> Option<[Self; 2]> {
        let each = self.members_per_node().filter(|&each| each > 1 && each < self.size)?;
        let (node, place) = (self.place / each, self.place % each);
        let inside = (0..each).map(|place| self.member(node * each + place));
        let between = (0..self.size / each).map(|node| self.member(node * each + place));
        let first = [self.first % each, self.first / each];
        let members: [Vec<u32>; 2] = [inside.collect(), between.collect()];
        let [inside, between] = members.map(|members| Self {
            used: self.used,
            ranks_per_node: self.ranks_per_node,
            ..Self::of(members, 0, self.context)
        });
        Some([
            Self { place, first: first[0], ..inside },
            Self { place: node, first: first[1], ..between },
        ])
    }

    /// This communicator without a root, with its members counted in each node from the one that is
    /// so many further on.
    pub fn turned(&self, by: u32) -> Self {
        let each = self.members_per_node().unwrap_or(1);
        let turned = |place: u32, by: u32| place / each * each + (place % each + by) % each;
        let members = (0..self.size).map(|place| self.member(turned(place, by))).collect();
        let place = turned(self.place, each - by % each);
        Self { members: Some(Cow::Owned(members)), place, first: 0, ..self.clone() }
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
        self.member((place + self.first) % self.size)
    }

    /// The rank at a place that is not counted from the root.
    fn member(&self, place: u32) -> u32 {
        self.members.as_ref().map_or(place, |members| members[place as usize])
    }

    /// Goes on with tags that none of these has taken.
    pub fn number_tags_behind(&mut self, others: &[Self]) {
        self.used = others.iter().fold(self.used, |used, other| used.max(other.used));
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
