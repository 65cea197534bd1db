//! Credits on their way back to the channel whose packets took them.
//!
//! They are known from the grant on, but count only from the time at which they arrive. They stay here
//! until the channel's sender runs short and looks for them. A sender that found too few is looked at
//! whenever credits arrive: so what it sees, and the reason for which its packets stall, do not depend on
//! when it was told of them.

use super::port::Output;
use crate::topology::NONE;
use crate::units::Picoseconds;

/// Credits on their way back to a channel's sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    pub time: Picoseconds,
    pub flits: u16,
    pub virtual_channel: u8,
}

/// Credits in a chain, and those that arrive next there.
#[derive(Clone, Copy, Debug)]
struct Link {
    credit: Credit,
    next: u32,
}

/// How many packets' credits a channel keeps in its own line: more are rarely on their way at a time unless
/// packets are much shorter than the cable.
const NEAR: usize = 4;

/// What comes back to a channel's sender: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Returning<const LANES: usize> {
    /// The credits on their way that arrive first, in the order in which they do.
    times: [Picoseconds; NEAR],
    flits: [u16; NEAR],
    virtual_channels: [u8; NEAR],
    near: u8,
    /// Whether packets wait for credits.
    awaited: bool,
    /// Flits whose credits have arrived and that the sender has not looked for yet.
    returned: [u16; LANES],
    /// First and last of those that arrive later.
    first: u32,
    last: u32,
}

impl<const LANES: usize> Returning<LANES> {
    const NONE: Self = Self {
        times: [0; NEAR],
        flits: [0; NEAR],
        virtual_channels: [0; NEAR],
        near: 0,
        awaited: false,
        returned: [0; LANES],
        first: NONE,
        last: NONE,
    };

    #[inline]
    fn at(&self, place: usize) -> Credit {
        Credit {
            time: self.times[place],
            flits: self.flits[place],
            virtual_channel: self.virtual_channels[place],
        }
    }

    #[inline]
    fn put(&mut self, place: usize, credit: Credit) {
        self.times[place] = credit.time;
        self.flits[place] = credit.flits;
        self.virtual_channels[place] = credit.virtual_channel;
    }

    #[inline]
    fn take(&mut self, credit: Credit) {
        self.returned[usize::from(credit.virtual_channel)] += credit.flits;
    }

    /// Puts credits among the near ones, for which there is room, behind those that arrive before or with
    /// them.
    #[inline]
    fn insert(&mut self, credit: Credit) {
        let mut place = usize::from(self.near);
        while place > 0 && self.times[place - 1] > credit.time {
            self.put(place, self.at(place - 1));
            place -= 1;
        }
        self.put(place, credit);
        self.near += 1;
    }
}

/// The credits of all channels.
#[derive(Debug)]
pub(super) struct Credits<const LANES: usize> {
    channels: Vec<Returning<LANES>>,
    /// Credits that are not near, in chains by channel.
    links: Vec<Link>,
    free: u32,
}

impl<const LANES: usize> Credits<LANES> {
    /// Bytes for each channel.
    pub(super) const A_CHANNEL: u64 = size_of::<Returning<LANES>>() as u64;

    /// No credits on their way to any of so many channels.
    pub(super) fn new(channels: usize) -> Self {
        Self { channels: vec![Returning::NONE; channels], links: Vec::new(), free: NONE }
    }

    /// Bytes before traffic.
    pub(super) fn memory(&self) -> usize {
        self.channels.len() * size_of::<Returning<LANES>>()
    }

    #[inline]
    fn link(&mut self, link: Link) -> u32 {
        if self.free == NONE {
            self.links.push(link);
            return self.links.len() as u32 - 1;
        }
        let slot = self.free;
        self.free = std::mem::replace(&mut self.links[slot as usize], link).next;
        slot
    }

    /// Notes which of a channel's credits have arrived by `now`.
    #[inline]
    fn settle(&mut self, channel: u32, now: Picoseconds) -> &mut Returning<LANES> {
        let returning = &mut self.channels[channel as usize];
        while returning.near > 0 && returning.times[0] <= now {
            returning.take(returning.at(0));
            for place in 1..NEAR {
                returning.put(place - 1, returning.at(place));
            }
            returning.near -= 1;
        }
        while returning.near == 0 && returning.first != NONE {
            let slot = returning.first;
            let Link { credit, next } = self.links[slot as usize];
            if credit.time > now {
                break;
            }
            returning.take(credit);
            returning.first = next;
            self.links[slot as usize].next = self.free;
            self.free = slot;
        }
        returning
    }

    /// Sends credits, which are not there yet, to a channel's sender, behind those that arrive before or
    /// with them. Whether the sender waits for some. What has arrived is noted only when room is needed.
    #[inline]
    pub(super) fn send(&mut self, channel: u32, credit: Credit, now: Picoseconds) -> bool {
        let mut returning = &mut self.channels[channel as usize];
        if usize::from(returning.near) == NEAR || returning.first != NONE {
            returning = self.settle(channel, now);
        }
        let near = usize::from(returning.near);
        if returning.first == NONE && near < NEAR {
            returning.insert(credit);
        } else if near > 0 && returning.times[near - 1] > credit.time {
            // It overtakes: the last of the near ones makes room.
            let last = returning.at(near - 1);
            returning.near -= 1;
            returning.insert(credit);
            self.send_later(channel, last);
        } else {
            self.send_later(channel, credit);
        }
        self.channels[channel as usize].awaited
    }

    /// Puts credits among those of a channel that are not near.
    #[inline]
    fn send_later(&mut self, channel: u32, credit: Credit) {
        let Returning { first, last, .. } = self.channels[channel as usize];
        let mut before = NONE;
        let mut at = first;
        if first != NONE && self.links[last as usize].credit.time <= credit.time {
            (before, at) = (last, NONE);
        }
        while let Some(link) =
            self.links.get(at as usize).filter(|it| it.credit.time <= credit.time)
        {
            (before, at) = (at, link.next);
        }
        let slot = self.link(Link { credit, next: at });
        let returning = &mut self.channels[channel as usize];
        if at == NONE {
            returning.last = slot;
        }
        if before == NONE {
            returning.first = slot;
        } else {
            self.links[before as usize].next = slot;
        }
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
        output: &mut Output<LANES>,
        virtual_channel: u8,
        now: Picoseconds,
    ) {
        let place = usize::from(virtual_channel);
        let returned = &mut self.settle(channel, now).returned[place];
        output.credits[place] += std::mem::take(returned);
    }

    /// When the next credits arrive, for packets that wait for them; `None` if none are on their way. Those
    /// that follow wake the sender.
    #[inline]
    pub(super) fn wait(&mut self, channel: u32) -> Option<Picoseconds> {
        let returning = &mut self.channels[channel as usize];
        returning.awaited = true;
        if returning.near > 0 {
            return Some(returning.times[0]);
        }
        self.links.get(returning.first as usize).map(|link| link.credit.time)
    }

    /// Flits on a virtual channel whose credits have arrived and have not been looked for, or are on their
    /// way.
    pub(super) fn due(&self, channel: u32, virtual_channel: usize) -> u32 {
        let returning = &self.channels[channel as usize];
        let mut flits = u32::from(returning.returned[virtual_channel]);
        let mut count = |credit: Credit| {
            if usize::from(credit.virtual_channel) == virtual_channel {
                flits += u32::from(credit.flits);
            }
        };
        (0..usize::from(returning.near)).for_each(|place| count(returning.at(place)));
        let mut at = returning.first;
        while let Some(link) = self.links.get(at as usize) {
            count(link.credit);
            at = link.next;
        }
        flits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const LANES: usize = 5;

    /// A plain list is the reference, for few and for many credits on their way.
    #[test]
    fn credits_arrive_in_the_order_of_their_times() {
        for ahead in [30, 300, 3_000] {
            let mut random = ChaCha8Rng::seed_from_u64(ahead);
            let mut credits = Credits::<LANES>::new(2);
            let mut list: Vec<(Picoseconds, u8, u16)> = Vec::new();
            let mut returned = [0; LANES];
            for now in (0..20_000).step_by(7) {
                let place = random.random_range(0..LANES);
                let credit = Credit {
                    time: now + random.random_range(1..ahead),
                    flits: random.random_range(1..4),
                    virtual_channel: place as u8,
                };
                credits.send(1, credit, now);
                list.push((credit.time, credit.virtual_channel, credit.flits));
                list.retain(|&(time, virtual_channel, flits)| {
                    if time <= now {
                        returned[usize::from(virtual_channel)] += flits;
                    }
                    time > now
                });
                let due = list.iter().filter(|it| usize::from(it.1) == place);
                let due: u32 = due.map(|it| u32::from(it.2)).sum();
                assert_eq!(credits.due(1, place), due + u32::from(returned[place]));
                if random.random_bool(0.3) {
                    assert_eq!(credits.settle(1, now).returned, returned);
                    assert_eq!(credits.wait(1), list.iter().map(|it| it.0).min());
                }
                assert_eq!(credits.wait(0), None);
            }
        }
    }
}
