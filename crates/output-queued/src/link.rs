//! Links: packets that wait to be sent, packets that wait for an answer, and answers.

use super::order::{MAX_SLOTS, Order};
use super::packet::Packet;
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::prefetch;

/// The virtual channels of a link, highest priority first.
pub(super) const ESCAPE_TO_DESTINATION: u32 = 0;
pub(super) const ESCAPE_TO_INTERMEDIATE: u32 = 1;
pub(super) const ADAPTIVE: u32 = 2;
pub(super) const CHANNELS: u32 = 3;

/// A slot of a link: its channel and its number within the channel's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot(u8);

impl Slot {
    fn new(channel: u32, number: u8) -> Self {
        Self(narrow(channel * MAX_SLOTS + u32::from(number)))
    }

    pub(super) fn channel(self) -> u32 {
        u32::from(self.0) / MAX_SLOTS
    }

    fn number(self) -> u8 {
        narrow(u32::from(self.0) % MAX_SLOTS)
    }
}

/// Whether the packet of a slot was taken by the next router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) slot: Slot,
    pub(super) accepted: bool,
}

/// The next transmission of a link.
pub(super) enum Next {
    Answer(Answer),
    Packet(Slot),
}

/// A link's state, in half a line of the cache: links are looked up in no order, but several of one
/// node one after the other.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Link {
    /// Of the adaptive queue.
    order: Order,
    /// Answers that wait, a byte each, oldest lowest. As they go ahead of packets, and come no
    /// faster than packets, there are never more than two.
    answers: u32,
    waiting_answers: u8,
    /// Bit i of a queue: what is in its i-th oldest slot is not under way.
    ready: [u16; CHANNELS as usize],
}

/// How many links a line of the cache has.
const LINKS_OF_A_LINE: usize = 64 / size_of::<Link>();

impl Link {
    fn waits(&self) -> bool {
        self.waiting_answers > 0 || self.ready.iter().any(|&ready| ready != 0)
    }
}

/// The links of all nodes, and three output queues for each.
///
/// A packet keeps its slot, and its place among the others, until the next router has taken it.
#[derive(Debug)]
pub(super) struct Links {
    capacity: u32,
    links: Vec<Link>,
    /// Orders of the escape queues, by link.
    escape_orders: Vec<[Order; ADAPTIVE as usize]>,
    /// Used slots of each queue, by channel and link: a node's adaptive queues lie side by side.
    used: Vec<u8>,
    /// The packet in each slot, by channel, link and slot.
    packets: Vec<Packet>,
}

impl Links {
    pub(super) fn new(links: u32, capacity: u32) -> Self {
        let queues = (links * CHANNELS) as usize;
        let link = Link {
            order: Order::ASCENDING,
            answers: 0,
            waiting_answers: 0,
            ready: [0; CHANNELS as usize],
        };
        Self {
            capacity,
            links: vec![link; links as usize],
            escape_orders: vec![[Order::ASCENDING; ADAPTIVE as usize]; links as usize],
            used: vec![0; queues],
            packets: vec![Packet::default(); queues * capacity as usize],
        }
    }

    /// Bytes that a link takes.
    pub(super) fn bytes_of_one(capacity: u32) -> usize {
        let queue = size_of::<u8>() + capacity as usize * size_of::<Packet>();
        size_of::<Link>() + size_of::<[Order; ADAPTIVE as usize]>() + CHANNELS as usize * queue
    }

    fn queue(&self, link: u32, channel: u32) -> usize {
        channel as usize * self.links.len() + link as usize
    }

    fn position(&self, link: u32, slot: Slot) -> usize {
        self.queue(link, slot.channel()) * self.capacity as usize + usize::from(slot.number())
    }

    #[inline]
    fn order(&mut self, link: u32, channel: u32) -> &mut Order {
        if channel == ADAPTIVE {
            &mut self.links[link as usize].order
        } else {
            &mut self.escape_orders[link as usize][channel as usize]
        }
    }

    /// Free slots of a queue.
    #[inline]
    pub(super) fn free(&self, link: u32, channel: u32) -> u32 {
        self.capacity - u32::from(self.used[self.queue(link, channel)])
    }

    /// Used slots of the adaptive queues of `count` links from `first` on.
    #[inline]
    pub(super) fn used_adaptive(&self, first: u32, count: u32) -> &[u8] {
        &self.used[self.queue(first, ADAPTIVE)..][..count as usize]
    }

    /// Adds a packet to a queue that has a free slot.
    #[inline]
    pub(super) fn push(&mut self, link: u32, channel: u32, packet: Packet) {
        let queue = self.queue(link, channel);
        let place = u32::from(self.used[queue]);
        self.used[queue] += 1;
        self.links[link as usize].ready[channel as usize] |= 1 << place;
        let slot = Slot::new(channel, self.order(link, channel).slot(place));
        let position = self.position(link, slot);
        self.packets[position] = packet;
    }

    /// The packet in a slot.
    #[inline]
    pub(super) fn packet(&self, link: u32, slot: Slot) -> Packet {
        self.packets[self.position(link, slot)]
    }

    /// Fetches the packet in a slot ahead.
    #[inline]
    pub(super) fn prefetch_packet(&self, link: u32, slot: Slot) {
        prefetch(&self.packets[self.position(link, slot)]);
    }

    /// Fetches `count` links from `first` on ahead, and how full their adaptive queues are.
    #[inline]
    pub(super) fn prefetch_links(&self, first: u32, count: u32) {
        for link in (first..first + count).step_by(LINKS_OF_A_LINE) {
            prefetch(&self.links[link as usize]);
        }
        prefetch(&self.used[self.queue(first, ADAPTIVE)]);
    }

    /// Adds an answer.
    #[inline]
    pub(super) fn push_answer(&mut self, link: u32, answer: Answer) {
        let state = &mut self.links[link as usize];
        debug_assert!(state.waiting_answers < 4);
        let byte = u32::from(answer.slot.0 << 1 | u8::from(answer.accepted));
        state.answers |= byte << (8 * state.waiting_answers);
        state.waiting_answers += 1;
    }

    /// Takes what comes next over a link, for which something waits, and tells whether more does. A
    /// packet keeps its slot.
    #[inline]
    pub(super) fn send(&mut self, link: u32) -> (Next, bool) {
        let state = &mut self.links[link as usize];
        if state.waiting_answers > 0 {
            state.waiting_answers -= 1;
            let byte = state.answers.to_le_bytes()[0];
            state.answers >>= 8;
            let answer = Answer { slot: Slot(byte >> 1), accepted: byte & 1 == 1 };
            return (Next::Answer(answer), state.waits());
        }
        let waiting = state.ready.iter().position(|&ready| ready != 0);
        let channel = waiting.expect("something waits");
        let ready = state.ready[channel];
        state.ready[channel] = ready & (ready - 1);
        let more = state.waits();
        let place = ready.trailing_zeros();
        let channel = narrow(channel);
        let slot = Slot::new(channel, self.order(link, channel).slot(place));
        (Next::Packet(slot), more)
    }

    /// Frees the slot of a packet that was taken by the next router.
    #[inline]
    pub(super) fn release(&mut self, link: u32, slot: Slot) {
        let channel = slot.channel();
        let queue = self.queue(link, channel);
        self.used[queue] -= 1;
        let used = u32::from(self.used[queue]);
        let order = self.order(link, channel);
        let place = order.place(slot.number());
        order.put_off(place, used);
        let ready = &mut self.links[link as usize].ready[channel as usize];
        let older = (1 << place) - 1;
        *ready = *ready & older | *ready >> 1 & !older;
    }

    /// Makes a packet wait for its link again.
    #[inline]
    pub(super) fn retry(&mut self, link: u32, slot: Slot) {
        let channel = slot.channel();
        let place = self.order(link, channel).place(slot.number());
        self.links[link as usize].ready[channel as usize] |= 1 << place;
    }

    /// Whether no slot is used.
    pub(super) fn is_empty(&self) -> bool {
        self.used.iter().all(|&used| used == 0)
    }
}
