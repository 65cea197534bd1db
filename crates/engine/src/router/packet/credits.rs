//! Room in the buffers at channels' far ends, and the credits under way from there.
//!
//! A credit is known from the grant that causes it, but counts from the time of its arrival. It
//! stays here until the channel's sender runs short and collects it. So a packet that finds room
//! reads one count only. The credits under way for a channel and virtual channel lie in one cache
//! line; later ones that do not fit lie in a chain. [`Credits`] belongs to a part; routers read and
//! send through their views.

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, rebased};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

/// Credits under way to a channel's sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Credit {
    pub time: Tick,
    pub flits: u16,
}

/// Credits in a chain.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ChainNode {
    credit: Credit,
    next: u32,
}

/// Number of entries of the cache line.
const NEAR: usize = 8;

/// The credits under way for a channel and virtual channel: one cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Returning {
    /// The credits that arrive first, in the order of their arrival: `near` of them, cyclic from
    /// `first` on.
    times: [Tick; NEAR],
    flits: [u16; NEAR],
    first: u8,
    near: u8,
    /// Whether the sender waits for credits that were not under way when it looked.
    awaited: bool,
    /// The first and the last of the credits in the chain, if any.
    head: u32,
    tail: u32,
}

impl Returning {
    const NONE: Self = Self {
        times: [NEVER; NEAR],
        flits: [0; NEAR],
        first: 0,
        near: 0,
        awaited: false,
        head: NONE,
        tail: NONE,
    };

    #[inline]
    fn place(&self, number: u8) -> usize {
        usize::from(self.first.wrapping_add(number)) % NEAR
    }

    #[inline]
    fn at(&self, number: u8) -> Credit {
        let place = self.place(number);
        Credit { time: self.times[place], flits: self.flits[place] }
    }

    #[inline]
    fn put(&mut self, number: u8, credit: Credit) {
        let place = self.place(number);
        (self.times[place], self.flits[place]) = (credit.time, credit.flits);
    }

    /// Inserts a credit behind those that arrive before or with it; there is room. Returns whether
    /// it overtakes others.
    #[inline]
    fn insert(&mut self, credit: Credit) -> bool {
        let mut number = self.near;
        while number > 0 && self.at(number - 1).time > credit.time {
            self.put(number, self.at(number - 1));
            number -= 1;
        }
        self.put(number, credit);
        let overtakes = number < self.near;
        self.near += 1;
        overtakes
    }

    /// Returns a credit to the upstream router. Credits that arrive by `settled` can be added at
    /// once, since the sender will not look earlier: their flits are returned. Also returns whether
    /// the sender must be woken at the arrival of this credit: it waits for one, or has planned on
    /// a credit that this one overtakes.
    #[inline]
    pub(crate) fn send(
        &mut self,
        chains: &mut ChainPool,
        credit: Credit,
        settled: Tick,
    ) -> (u16, bool) {
        if usize::from(self.near) < NEAR && self.head == NONE {
            let overtakes = self.insert(credit);
            return (0, std::mem::take(&mut self.awaited) | overtakes);
        }
        self.send_far(chains, credit, settled)
    }

    /// Does the work of [`send`](Self::send) if the line is full, or was.
    fn send_far(&mut self, chains: &mut ChainPool, credit: Credit, settled: Tick) -> (u16, bool) {
        let flits = self.collect(chains, settled);
        let near = self.near;
        let overtakes = if self.head == NONE && usize::from(near) < NEAR {
            self.insert(credit)
        } else if near > 0 && self.at(near - 1).time > credit.time {
            // The credit overtakes: the last one of the line makes room.
            let last = self.at(near - 1);
            self.near -= 1;
            self.insert(credit);
            self.send_later(chains, last);
            true
        } else {
            self.send_later(chains, credit)
        };
        (flits, std::mem::take(&mut self.awaited) | overtakes)
    }

    /// Inserts a credit into the chain. Returns whether it overtakes others there.
    #[cold]
    fn send_later(&mut self, chains: &mut ChainPool, credit: Credit) -> bool {
        let (mut before, mut at) = (NONE, self.head);
        if at != NONE && chains.chains[self.tail as usize].credit.time <= credit.time {
            (before, at) = (self.tail, NONE);
        }
        while let Some(link) = chains.get(at).filter(|it| it.credit.time <= credit.time) {
            (before, at) = (at, link.next);
        }
        let slot = chains.insert(ChainNode { credit, next: at });
        if at == NONE {
            self.tail = slot;
        }
        if before == NONE {
            self.head = slot;
        } else {
            chains.chains[before as usize].next = slot;
        }
        at != NONE
    }

    /// Takes out the credits that have arrived by `now`, and returns their flits.
    #[inline]
    pub(crate) fn collect(&mut self, chains: &mut ChainPool, now: Tick) -> u16 {
        let mut flits = 0;
        while self.near > 0 {
            let credit = self.at(0);
            if credit.time > now {
                break;
            }
            flits += credit.flits;
            self.first = fitted!(self.place(1), u8);
            self.near -= 1;
        }
        if self.near == 0 && self.head != NONE {
            flits += self.bring_near(chains, now);
        }
        flits
    }

    /// Takes out the arrived credits of the chain, and moves the next ones into the line.
    #[cold]
    fn bring_near(&mut self, chains: &mut ChainPool, now: Tick) -> u16 {
        let mut flits = 0;
        while let Some(&ChainNode { credit, next }) = chains.get(self.head)
            && usize::from(self.near) < NEAR
        {
            if credit.time <= now {
                flits += credit.flits;
            } else {
                self.put(self.near, credit);
                self.near += 1;
            }
            chains.remove(self.head);
            self.head = next;
        }
        flits
    }

    /// The time at which the credits for this many flits will have arrived. [`NEVER`] if that is
    /// not known yet: then the next credit that is sent wakes the sender.
    pub(crate) fn foresee(&mut self, chains: &ChainPool, flits: u16) -> Tick {
        let mut sum = 0;
        for credit in self.on_their_way(chains) {
            sum += u32::from(credit.flits);
            if sum >= u32::from(flits) {
                return credit.time;
            }
        }
        self.awaited = true;
        NEVER
    }

    fn on_their_way(&self, chains: &ChainPool) -> impl Iterator<Item = Credit> {
        let near = (0..self.near).map(|number| self.at(number));
        let chain = std::iter::successors(chains.get(self.head), |link| chains.get(link.next));
        near.chain(chain.map(|link| link.credit))
    }
}

/// The chains of credits that do not fit into their lines.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChainPool {
    chains: Vec<ChainNode>,
    free: u32,
}

impl ChainPool {
    #[inline]
    fn get(&self, slot: u32) -> Option<&ChainNode> {
        self.chains.get(slot as usize)
    }

    fn insert(&mut self, link: ChainNode) -> u32 {
        if let Some(slot) = self.chains.get_mut(self.free as usize) {
            let next = slot.next;
            *slot = link;
            return std::mem::replace(&mut self.free, next);
        }
        self.chains.push(link);
        fitted!(self.chains.len(), u32) - 1
    }

    fn remove(&mut self, slot: u32) {
        self.chains[slot as usize].next = std::mem::replace(&mut self.free, slot);
    }
}

/// The credits of all channels, by channel, then virtual channel.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Credits {
    /// Free flits in the buffer at the far end, without credits that have arrived but are not
    /// collected.
    pub room: Vec<u16>,
    pub returning: Vec<Returning>,
    pub chains: ChainPool,
}

impl Credits {
    /// The credits of channels with this much room, one entry for each virtual channel.
    pub(crate) fn new(room: Vec<u16>) -> Self {
        let returning = vec![Returning::NONE; room.len()];
        Self { room, returning, chains: ChainPool { chains: Vec::new(), free: NONE } }
    }

    /// Bytes for each channel and virtual channel.
    pub(crate) const BYTES_PER_VC: u64 = (size_of::<Returning>() + size_of::<u16>()) as u64;

    /// Bytes before traffic.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.room) + size_of_val(&*self.returning)
    }

    /// Sends a credit, as [`Returning::send`] does.
    #[inline]
    pub(crate) fn send(&mut self, place: u32, credit: Credit, settled: Tick) -> bool {
        let (flits, awaited) =
            self.returning[place as usize].send(&mut self.chains, credit, settled);
        self.room[place as usize] += flits;
        awaited
    }

    /// Collects the credits of a channel's sender that have arrived by `now`.
    #[inline]
    pub(crate) fn collect(&mut self, place: u32, now: Tick) {
        let flits = self.returning[place as usize].collect(&mut self.chains, now);
        self.room[place as usize] += flits;
    }

    /// The time at which a channel's sender, which lacks room now, will have as much; see
    /// [`Returning::foresee`].
    pub(crate) fn foresee(&mut self, place: u32, need: u16) -> Tick {
        let lacks = need - self.room[place as usize];
        self.returning[place as usize].foresee(&self.chains, lacks)
    }

    /// Flits of room of a channel's sender, with all credits under way.
    pub(crate) fn due(&self, place: u32) -> u32 {
        let credits = self.returning[place as usize].on_their_way(&self.chains);
        let flits = credits.map(|credit| u32::from(credit.flits));
        u32::from(self.room[place as usize]) + flits.sum::<u32>()
    }

    /// Flits of room of a channel's sender by a time, as far as is known.
    pub(crate) fn by(&self, place: u32, now: Tick) -> u32 {
        let credits = self.returning[place as usize].on_their_way(&self.chains);
        let back = credits.filter(|credit| credit.time <= now);
        u32::from(self.room[place as usize]) + back.map(|it| u32::from(it.flits)).sum::<u32>()
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        for returning in &mut self.returning {
            for time in &mut returning.times {
                *time = rebased(*time, by);
            }
        }
        for link in &mut self.chains.chains {
            link.credit.time = rebased(link.credit.time, by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Compares with a plain list, for few and for many credits under way.
    #[test]
    fn credits_arrive_in_the_order_of_their_times() {
        for ahead in [30, 300, 3_000] {
            let mut random = ChaCha8Rng::seed_from_u64(u64::from(ahead));
            let mut credits = Credits::new(vec![0, 0]);
            let mut list: Vec<Credit> = Vec::new();
            let (mut room, mut awaited) = (0, false);
            for now in (0..20_000).step_by(7) {
                let time = now + random.random_range(1..ahead);
                let credit = Credit { time, flits: random.random_range(1..4) };
                let overtakes = list.iter().any(|other| other.time > time);
                let looks = std::mem::take(&mut awaited) || overtakes;
                assert_eq!(credits.send(1, credit, now - now % 3), looks);
                list.push(credit);
                list.sort_by_key(|credit| credit.time);
                let on_their_way: u16 = list.iter().map(|credit| credit.flits).sum();
                assert_eq!(credits.due(1), u32::from(room + on_their_way));
                if random.random_bool(0.3) {
                    list.retain(|credit| {
                        room += if credit.time <= now { credit.flits } else { 0 };
                        credit.time > now
                    });
                    credits.collect(1, now);
                    assert_eq!(credits.room[1], room);
                    let mut sum = room;
                    for credit in &list {
                        sum += credit.flits;
                        assert_eq!(credits.foresee(1, sum), credit.time);
                    }
                    assert_eq!(credits.foresee(1, sum + 1), NEVER);
                    awaited = true;
                }
                if room > 60_000 {
                    (room, credits.room[1]) = (0, credits.room[1] - room);
                }
                assert_eq!(credits.due(0), 0);
            }
        }
    }
}
