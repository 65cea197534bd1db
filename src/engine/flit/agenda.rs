//! Before when nothing can come of each queue, and of the queues of each input port together.

use serde::{Deserialize, Serialize};

use crate::engine::octet::EIGHT;
use crate::engine::tick::{NEVER, Tick, rebased};
use crate::narrow::fitted;

/// The times of all queues of a part. That of an input port is not later than those of its queues, but may be earlier
/// until it is [settled](Self::settle).
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Agenda {
    /// By queue.
    queues: Vec<Tick>,
    /// By octet of a router, then input port: the least time is looked for at every instant, in many at once.
    ports: Vec<[Tick; EIGHT]>,
    /// Queues of an input port.
    of_port: usize,
}

/// A router's times among those of its part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub first_queue: usize,
    pub first_octet: usize,
    pub octets: usize,
}

impl Agenda {
    /// Of so many queues and octets in which nothing happens.
    pub(super) fn new(queues: usize, octets: usize, of_port: usize) -> Self {
        Self { queues: vec![NEVER; queues], ports: vec![[NEVER; EIGHT]; octets], of_port }
    }

    pub(super) fn queues(&self) -> usize {
        self.queues.len()
    }

    /// The time of a queue of the part.
    #[inline(always)]
    pub(super) fn at(&self, queue: usize) -> Tick {
        self.queues[queue]
    }

    /// Sets a queue's time; its input port is given by the router's first octet and its number.
    #[inline(always)]
    pub(super) fn set(&mut self, queue: usize, (octet, input): (usize, usize), time: Tick) {
        self.queues[queue] = time;
        let port = &mut self.ports[octet + input / EIGHT][input % EIGHT];
        *port = (*port).min(time);
    }

    /// Sees to it that a queue's time is not later than `time`. What it is then.
    #[inline(always)]
    pub(super) fn lower(
        &mut self,
        queue: usize,
        (octet, input): (usize, usize),
        time: Tick,
    ) -> Tick {
        let time = self.queues[queue].min(time);
        self.set(queue, (octet, input), time);
        time
    }

    /// Before when nothing can come of any queue of a router.
    #[inline(always)]
    pub(super) fn first(&self, place: Place) -> Tick {
        least(&self.ports[place.first_octet..][..place.octets])
    }

    /// The router's queues whose time is `now`.
    #[inline(always)]
    pub(super) fn due_at(&self, now: Tick, place: Place, due: &mut Vec<u32>) {
        due.clear();
        let ports = &self.ports[place.first_octet..][..place.octets];
        for (octet, times) in ports.iter().enumerate() {
            let mut set = at_most(times, now);
            while set != 0 {
                let input = octet * EIGHT + set.trailing_zeros() as usize;
                set &= set - 1;
                let first = input * self.of_port;
                let times = &self.queues[place.first_queue + first..][..self.of_port];
                for (queue, &time) in (fitted!(first, u32)..).zip(times) {
                    if time == now {
                        due.push(queue);
                    }
                }
            }
        }
    }

    /// Brings the times of input ports up to date that are not later than `now`.
    #[inline(always)]
    pub(super) fn settle(&mut self, now: Tick, place: Place) {
        let ports = &mut self.ports[place.first_octet..][..place.octets];
        for (octet, times) in ports.iter_mut().enumerate() {
            let mut set = at_most(times, now);
            while set != 0 {
                let port = set.trailing_zeros() as usize;
                set &= set - 1;
                let first = place.first_queue + (octet * EIGHT + port) * self.of_port;
                let queues = &self.queues[first..][..self.of_port];
                times[port] = queues.iter().fold(NEVER, |least, &time| least.min(time));
            }
        }
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        let ports = self.ports.iter_mut().flatten();
        ports.chain(&mut self.queues).for_each(|time| *time = rebased(*time, by));
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.queues) + size_of_val(&*self.ports)
    }
}

/// The places of times that are not later than `now`, a bit each.
#[inline(always)]
fn at_most(times: &[Tick; EIGHT], now: Tick) -> u32 {
    let mut set = 0;
    for (place, &time) in times.iter().enumerate() {
        set |= u32::from(time <= now) << place;
    }
    set
}

/// The least of some times.
#[inline(always)]
fn least(times: &[[Tick; EIGHT]]) -> Tick {
    let mut least = NEVER;
    for [a, b, c, d, e, f, g, h] in times {
        let quarters = [a.min(e), b.min(f), c.min(g), d.min(h)];
        least = least.min(*quarters[0].min(quarters[1]).min(quarters[2].min(quarters[3])));
    }
    least
}
