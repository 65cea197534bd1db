//! Output queues: packets that wait for their link, and packets that wait for an answer.

/// The virtual channels of a link, highest priority first.
pub(super) const ESCAPE_TO_DESTINATION: u32 = 0;
pub(super) const ESCAPE_TO_INTERMEDIATE: u32 = 1;
pub(super) const ADAPTIVE: u32 = 2;
pub(super) const CHANNELS: u32 = 3;

/// All output queues: three for each link, in order of arrival.
///
/// A packet keeps its slot, and its place among the others, until the next router has taken it.
#[derive(Debug)]
pub(super) struct Queues {
    links: u32,
    capacity: u32,
    /// Packets of each queue, oldest first.
    slots: Vec<u32>,
    /// Bit i of a queue: its packet i is not under way.
    ready: Vec<u32>,
    /// Used slots of each queue.
    used: Vec<u8>,
}

impl Queues {
    pub(super) fn new(links: u32, capacity: u32) -> Self {
        let queues = (links * CHANNELS) as usize;
        Self {
            links,
            capacity,
            slots: vec![u32::MAX; queues * capacity as usize],
            ready: vec![0; queues],
            used: vec![0; queues],
        }
    }

    fn queue(&self, link: u32, channel: u32) -> usize {
        (channel * self.links + link) as usize
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
    pub(super) fn push(&mut self, link: u32, channel: u32, packet: u32) {
        let queue = self.queue(link, channel);
        let place = self.used[queue];
        self.slots[queue * self.capacity as usize + usize::from(place)] = packet;
        self.ready[queue] |= 1 << place;
        self.used[queue] = place + 1;
    }

    /// Takes the packet to send next over a link, which keeps its slot.
    #[inline]
    pub(super) fn send(&mut self, link: u32) -> Option<(u32, u32)> {
        for channel in 0..CHANNELS {
            let queue = self.queue(link, channel);
            let ready = self.ready[queue];
            if ready != 0 {
                self.ready[queue] = ready & (ready - 1);
                let slot = queue * self.capacity as usize + ready.trailing_zeros() as usize;
                return Some((channel, self.slots[slot]));
            }
        }
        None
    }

    fn position(&self, queue: usize, packet: u32) -> usize {
        let start = queue * self.capacity as usize;
        let slots = &self.slots[start..start + usize::from(self.used[queue])];
        slots.iter().position(|&slot| slot == packet).expect("the packet holds a slot")
    }

    /// Frees the slot of a packet that was taken by the next router.
    #[inline]
    pub(super) fn release(&mut self, link: u32, channel: u32, packet: u32) {
        let queue = self.queue(link, channel);
        let position = self.position(queue, packet);
        let start = queue * self.capacity as usize;
        let used = usize::from(self.used[queue]);
        self.slots.copy_within(start + position + 1..start + used, start + position);
        let below = (1 << position) - 1;
        let ready = self.ready[queue];
        self.ready[queue] = ready & below | ready >> 1 & !below;
        self.used[queue] -= 1;
    }

    /// Makes a packet wait for its link again.
    #[inline]
    pub(super) fn retry(&mut self, link: u32, channel: u32, packet: u32) {
        let queue = self.queue(link, channel);
        self.ready[queue] |= 1 << self.position(queue, packet);
    }

    /// Whether no slot is used.
    pub(super) fn is_empty(&self) -> bool {
        self.used.iter().all(|&used| used == 0)
    }
}
