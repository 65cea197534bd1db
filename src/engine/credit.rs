//! Credits on their way back to the channel whose packets took them.
//!
//! They are known from the grant on, but count only from the time at which they arrive. They stay here
//! until the channel's sender runs short and looks for them. A sender that found too few is looked at
//! whenever credits arrive: so what it sees, and the reason for which its packets stall, do not depend on
//! when it was told of them.

use super::parameters::VIRTUAL_CHANNELS;
use super::port::Output;
use crate::topology::NONE;
use crate::units::Picoseconds;

/// Credits on their way back to a channel's sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    pub time: Picoseconds,
    pub flits: u16,
    pub virtual_channel: u8,
    /// The credits that arrive next there.
    pub next: u32,
}

/// What comes back to a channel's sender.
#[derive(Clone, Copy, Debug)]
struct Returning {
    /// First and last of the credits on their way, in the order in which they arrive.
    first: u32,
    last: u32,
    /// Flits whose credits have arrived and that the sender has not looked for yet.
    returned: [u16; VIRTUAL_CHANNELS],
    /// Whether packets wait for credits.
    awaited: bool,
}

/// The credits of all channels.
#[derive(Debug)]
pub(super) struct Credits {
    channels: Vec<Returning>,
    /// All credits on their way, in chains by channel.
    credits: Vec<Credit>,
    free: u32,
}

impl Credits {
    /// No credits on their way to any of so many channels.
    pub(super) fn new(channels: usize) -> Self {
        let none =
            Returning { first: NONE, last: NONE, returned: [0; VIRTUAL_CHANNELS], awaited: false };
        Self { channels: vec![none; channels], credits: Vec::new(), free: NONE }
    }

    /// Bytes before traffic.
    pub(super) fn memory(&self) -> usize {
        self.channels.len() * size_of::<Returning>()
    }

    #[inline]
    fn insert(&mut self, credit: Credit) -> u32 {
        if self.free == NONE {
            self.credits.push(credit);
            return self.credits.len() as u32 - 1;
        }
        let slot = self.free;
        self.free = self.credits[slot as usize].next;
        self.credits[slot as usize] = credit;
        slot
    }

    /// Notes which of a channel's credits have arrived by `now`.
    #[inline]
    fn settle(&mut self, channel: u32, now: Picoseconds) {
        let returning = &mut self.channels[channel as usize];
        while returning.first != NONE {
            let slot = returning.first;
            let credit = self.credits[slot as usize];
            if credit.time > now {
                break;
            }
            returning.returned[usize::from(credit.virtual_channel)] += credit.flits;
            returning.first = credit.next;
            self.credits[slot as usize].next = self.free;
            self.free = slot;
        }
    }

    /// Sends credits, which are not there yet, to a channel's sender, behind those that arrive before or
    /// with them. Whether the sender waits for some.
    #[inline]
    pub(super) fn send(&mut self, channel: u32, credit: Credit, now: Picoseconds) -> bool {
        self.settle(channel, now);
        let Returning { first, last, awaited, .. } = self.channels[channel as usize];
        if first != NONE && self.credits[last as usize].time <= credit.time {
            let slot = self.insert(credit);
            self.credits[last as usize].next = slot;
            self.channels[channel as usize].last = slot;
            return awaited;
        }
        let mut before = NONE;
        let mut at = first;
        while at != NONE && self.credits[at as usize].time <= credit.time {
            before = at;
            at = self.credits[at as usize].next;
        }
        let slot = self.insert(Credit { next: at, ..credit });
        let returning = &mut self.channels[channel as usize];
        if at == NONE {
            returning.last = slot;
        }
        if before == NONE {
            returning.first = slot;
        } else {
            self.credits[before as usize].next = slot;
        }
        awaited
    }

    /// Notes that nobody waits for credits any more.
    #[inline]
    pub(super) fn no_longer_awaited(&mut self, channel: u32) {
        self.channels[channel as usize].awaited = false;
    }

    /// Gives a channel's sender what has arrived on a virtual channel by `now`.
    #[inline]
    pub(super) fn collect(
        &mut self,
        channel: u32,
        output: &mut Output,
        virtual_channel: u8,
        now: Picoseconds,
    ) {
        self.settle(channel, now);
        let place = usize::from(virtual_channel);
        let returned = &mut self.channels[channel as usize].returned[place];
        output.credits[place] += std::mem::take(returned);
    }

    /// When the next credits arrive, for packets that wait for them; `None` if none are on their way. Those
    /// that follow wake the sender.
    #[inline]
    pub(super) fn wait(&mut self, channel: u32) -> Option<Picoseconds> {
        let returning = &mut self.channels[channel as usize];
        returning.awaited = true;
        self.credits.get(returning.first as usize).map(|credit| credit.time)
    }

    /// Flits on a virtual channel whose credits have arrived and have not been looked for, or are on their
    /// way.
    pub(super) fn due(&self, channel: u32, virtual_channel: usize) -> u32 {
        let returning = &self.channels[channel as usize];
        let mut flits = u32::from(returning.returned[virtual_channel]);
        let mut at = returning.first;
        while let Some(credit) = self.credits.get(at as usize) {
            if usize::from(credit.virtual_channel) == virtual_channel {
                flits += u32::from(credit.flits);
            }
            at = credit.next;
        }
        flits
    }
}
