//! Room in the buffers at channels' far ends, and the credits under way from there.
//!
//! A credit is known from the grant that causes it, but counts from the time of its arrival. It
//! stays here until the channel's sender runs short and collects it. So a packet that finds room
//! reads one count only. The credits under way for a channel and virtual channel lie in one cache
//! line; later ones that do not fit wait in a queue. [`Credits`] belongs to a part; routers read
//! and send through their views.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, move_back};
use crate::router::packet::allocation::Obstacle;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::Stall;

/// Credits under way to a channel's sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Credit {
    pub time: Tick,
    pub flits: u16,
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
    /// The place of the queue of later credits; [`NONE`] if there are none.
    far: u32,
}

impl Returning {
    const NONE: Self = Self {
        times: [NEVER; NEAR],
        flits: [0; NEAR],
        first: 0,
        near: 0,
        awaited: false,
        far: NONE,
    };

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
}

/// The credits of all channels, by channel, then virtual channel.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Credits {
    /// Free flits in the buffer at the far end, without credits that have arrived but are not
    /// collected.
    pub room: Vec<u16>,
    pub returning: Vec<Returning>,
    /// Queues of credits that do not fit into their lines, in the order of arrival, and the places
    /// of those that no line uses.
    far: Vec<VecDeque<Credit>>,
    free: Vec<u32>,
}

impl Credits {
    /// The credits of channels with this much room, one entry for each virtual channel.
    pub(crate) fn new(room: Vec<u16>) -> Self {
        let returning = vec![Returning::NONE; room.len()];
        Self { room, returning, far: Vec::new(), free: Vec::new() }
    }

    /// Bytes for each channel and virtual channel.
    pub(crate) const BYTES_PER_VC: u64 = (size_of::<Returning>() + size_of::<u16>()) as u64;

    /// Bytes before traffic.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.room) + size_of_val(&*self.returning)
    }

    /// Returns a credit to the upstream router. Credits that arrive by `settled` can be added at
    /// once, since the sender will not look earlier. Returns whether the sender must be woken at
    /// the arrival of this credit: it waits for one, or has planned on a credit that this one
    /// overtakes.
    #[inline]
    pub(crate) fn send(&mut self, place: u32, credit: Credit, settled: Tick) -> bool {
        let line = &mut self.returning[place as usize];
        if usize::from(line.near) < NEAR && line.far == NONE {
            let overtakes = line.insert(credit);
            return std::mem::take(&mut line.awaited) | overtakes;
        }
        self.send_far(place, credit, settled)
    }

    /// Returns a credit that overtakes none, as [`send`](Self::send) does.
    #[inline(always)]
    pub(crate) fn append(&mut self, place: u32, credit: Credit, settled: Tick) -> bool {
        let line = &mut self.returning[place as usize];
        if usize::from(line.near) < NEAR && line.far == NONE {
            debug_assert!(line.near == 0 || line.at(line.near - 1).time <= credit.time);
            line.put(line.near, credit);
            line.near += 1;
            return std::mem::take(&mut line.awaited);
        }
        self.append_far(place, credit, settled)
    }

    /// Does the work of [`append`](Self::append) if the line is full, or was. The queue behind it
    /// grows no longer than a buffer has room for packets.
    #[inline(never)]
    fn append_far(&mut self, place: u32, credit: Credit, settled: Tick) -> bool {
        if self.returning[place as usize].far == NONE {
            self.collect(place, settled);
        }
        let line = &mut self.returning[place as usize];
        let awaited = std::mem::take(&mut line.awaited);
        if line.far == NONE && usize::from(line.near) < NEAR {
            line.put(line.near, credit);
            line.near += 1;
        } else {
            self.queue_behind(place).push_back(credit);
        }
        awaited
    }

    /// The queue of later credits of a line.
    fn queue_behind(&mut self, place: u32) -> &mut VecDeque<Credit> {
        let Self { returning, far, free, .. } = self;
        let line = &mut returning[place as usize];
        if line.far == NONE {
            line.far = free.pop().unwrap_or(fitted!(far.len(), u32));
            far.resize(far.len().max(line.far as usize + 1), VecDeque::new());
        }
        &mut far[line.far as usize]
    }

    /// Does the work of [`send`](Self::send) if the line is full, or was.
    fn send_far(&mut self, place: u32, credit: Credit, settled: Tick) -> bool {
        self.collect(place, settled);
        let line = &mut self.returning[place as usize];
        if line.far == NONE && usize::from(line.near) < NEAR {
            let overtakes = line.insert(credit);
            return std::mem::take(&mut line.awaited) | overtakes;
        }
        // If the credit overtakes the last one of the line, that one makes room.
        let last = line.at(line.near - 1);
        let overtakes = last.time > credit.time;
        if overtakes {
            line.near -= 1;
            line.insert(credit);
        }
        let later = if overtakes { last } else { credit };
        let awaited = std::mem::take(&mut line.awaited);
        let queue = self.queue_behind(place);
        let before = queue.partition_point(|it| it.time <= later.time);
        queue.insert(before, later);
        awaited | overtakes | (before < queue.len() - 1)
    }

    /// Whether a channel's sender has room for this many flits, with the credits that have arrived
    /// by `now`; they are collected if they are needed.
    #[inline(always)]
    pub(super) fn have_room(&mut self, place: u32, flits: u16, now: Tick) -> bool {
        self.room[place as usize] >= flits || {
            self.collect(place, now);
            self.room[place as usize] >= flits
        }
    }

    /// Time at which the first credits arrive of those that are under way.
    #[inline(always)]
    pub(super) fn first_time(&self, place: u32) -> Tick {
        let line = &self.returning[place as usize];
        if line.near == 0 { NEVER } else { line.at(0).time }
    }

    /// Time at which the room of a channel's sender changes next by credits, those that have arrived
    /// by `now` collected. [`NEVER`] if that is not known yet: then the next credit that is sent
    /// wakes the sender.
    pub(super) fn next_change(&mut self, place: u32, now: Tick) -> Tick {
        self.collect(place, now);
        let line = &mut self.returning[place as usize];
        line.awaited |= line.near == 0;
        self.first_time(place)
    }

    /// Collects the credits of a channel's sender that have arrived by `now`.
    #[inline]
    pub(crate) fn collect(&mut self, place: u32, now: Tick) {
        let line = &mut self.returning[place as usize];
        let mut flits = 0;
        while line.near > 0 {
            let credit = line.at(0);
            if credit.time > now {
                break;
            }
            flits += credit.flits;
            line.first = fitted!(line.place(1), u8);
            line.near -= 1;
        }
        self.room[place as usize] += flits;
        if line.near == 0 && line.far != NONE {
            self.bring_near(place, now);
        }
    }

    /// Collects the arrived credits of a queue, and moves the next ones into the line.
    #[cold]
    fn bring_near(&mut self, place: u32, now: Tick) {
        let line = &mut self.returning[place as usize];
        let queue = &mut self.far[line.far as usize];
        while usize::from(line.near) < NEAR
            && let Some(credit) = queue.pop_front()
        {
            if credit.time <= now {
                self.room[place as usize] += credit.flits;
            } else {
                line.put(line.near, credit);
                line.near += 1;
            }
        }
        if queue.is_empty() {
            self.free.push(std::mem::replace(&mut line.far, NONE));
        }
    }

    /// The lack of room of a channel's sender for a packet of this many flits that needs room for
    /// `need`, once the credits that have arrived by `now` are collected.
    #[inline(never)]
    pub(super) fn lack(
        &mut self,
        place: u32,
        need: u16,
        flits: u16,
        now: Tick,
    ) -> Option<Obstacle> {
        if self.have_room(place, need, now) {
            return None;
        }
        let room = self.room[place as usize];
        let stall = if room < flits { Stall::NoCredit } else { Stall::Bubble };
        // The reason changes once there is room for the packet itself.
        let least = if room < flits { flits } else { need };
        Some(Obstacle { stall, until: self.foresee(place, least) })
    }

    /// The time at which a channel's sender, which lacks room now, will have as much. [`NEVER`] if
    /// that is not known yet: then the next credit that is sent wakes the sender.
    pub(crate) fn foresee(&mut self, place: u32, need: u16) -> Tick {
        let lacks = u32::from(need - self.room[place as usize]);
        let mut sum = 0;
        for credit in self.on_their_way(place) {
            sum += u32::from(credit.flits);
            if sum >= lacks {
                return credit.time;
            }
        }
        self.returning[place as usize].awaited = true;
        NEVER
    }

    /// The credits of a channel that are under way, in the order of their arrival.
    fn on_their_way(&self, place: u32) -> impl Iterator<Item = Credit> {
        let line = &self.returning[place as usize];
        let far = self.far.get(line.far as usize).into_iter().flatten();
        (0..line.near).map(|number| line.at(number)).chain(far.copied())
    }

    /// Flits of room of a channel's sender, with all credits under way.
    pub(crate) fn due(&self, place: u32) -> u32 {
        self.by(place, NEVER)
    }

    /// Flits of room of a channel's sender by a time, as far as is known.
    pub(crate) fn by(&self, place: u32, now: Tick) -> u32 {
        let back = self.on_their_way(place).filter(|credit| credit.time <= now);
        u32::from(self.room[place as usize]) + back.map(|it| u32::from(it.flits)).sum::<u32>()
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        self.returning.iter_mut().for_each(|line| move_back(&mut line.times, by));
        move_back(self.far.iter_mut().flatten().map(|credit| &mut credit.time), by);
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
        for (ahead, in_order) in
            [30, 300, 3_000].into_iter().flat_map(|ahead| [(ahead, false), (ahead, true)])
        {
            let mut random = ChaCha8Rng::seed_from_u64(u64::from(ahead));
            let mut credits = Credits::new(vec![0, 0]);
            let mut list: Vec<Credit> = Vec::new();
            let (mut room, mut awaited) = (0, false);
            for now in (0..20_000).step_by(7) {
                let latest = list.last().filter(|_| in_order).map_or(0, |last| last.time);
                let time = latest.max(now + random.random_range(1..ahead));
                let credit = Credit { time, flits: random.random_range(1..4) };
                let overtakes = list.iter().any(|other| other.time > time);
                let looks = std::mem::take(&mut awaited) || overtakes;
                let settled = now - now % 3;
                let told = if in_order {
                    credits.append(1, credit, settled)
                } else {
                    credits.send(1, credit, settled)
                };
                assert_eq!(told, looks);
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
