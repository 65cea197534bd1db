//! The queues of a router in hand of which something can come before its window ends.

use crate::engine::octet::EIGHT;
use crate::engine::tick::{NEVER, Tick};
use crate::narrow::fitted;

/// The place of a queue that is not on the list.
const ABSENT: u32 = u32::MAX;

/// Queues and the times before which nothing can come of them, in two lists side by side: the least time is looked for at
/// every instant, in many at once.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// Never beyond the last queue, up to a whole number of eights.
    times: Vec<[Tick; EIGHT]>,
    queues: Vec<u32>,
    /// By queue: its place in both.
    places: Vec<u32>,
}

impl Agenda {
    /// Begins with a router of so many queues.
    pub(super) fn start(&mut self, queues: usize) {
        for queue in self.queues.drain(..) {
            self.places[queue as usize] = ABSENT;
        }
        self.times.clear();
        if self.places.len() < queues {
            self.places.resize(queues, ABSENT);
        }
    }

    /// Sets a queue's time; it is on the list if that is before `until`.
    #[inline(always)]
    pub(super) fn set(&mut self, queue: usize, time: Tick, until: Tick) {
        let place = self.places[queue];
        if time < until {
            if place != ABSENT {
                return *self.time(place as usize) = time;
            }
            self.add(queue, time);
        } else if place != ABSENT {
            self.remove(queue, place as usize);
        }
    }

    fn time(&mut self, place: usize) -> &mut Tick {
        &mut self.times[place / EIGHT][place % EIGHT]
    }

    fn add(&mut self, queue: usize, time: Tick) {
        let place = self.queues.len();
        if place.is_multiple_of(EIGHT) {
            self.times.push([NEVER; EIGHT]);
        }
        *self.time(place) = time;
        self.queues.push(fitted!(queue, u32));
        self.places[queue] = fitted!(place, u32);
    }

    /// Takes a queue off the list; the last one takes its place.
    fn remove(&mut self, queue: usize, place: usize) {
        let last = self.queues.len() - 1;
        self.places[self.queues[last] as usize] = fitted!(place, u32);
        self.places[queue] = ABSENT;
        self.queues.swap_remove(place);
        *self.time(place) = *self.time(last);
        *self.time(last) = NEVER;
        if last.is_multiple_of(EIGHT) {
            self.times.pop();
        }
    }

    /// The least time, and whose it is.
    #[inline(always)]
    pub(super) fn first(&self, due: &mut Vec<u32>) -> Tick {
        let now = least(&self.times);
        due.clear();
        for (eight, times) in self.times.iter().enumerate() {
            let mut set = 0_u32;
            for (place, &time) in times.iter().enumerate() {
                set |= u32::from(time == now) << place;
            }
            while set != 0 {
                let place = eight * EIGHT + set.trailing_zeros() as usize;
                set &= set - 1;
                // Beyond the last queue there is none, if no time is left.
                if let Some(&queue) = self.queues.get(place) {
                    due.push(queue);
                }
            }
        }
        now
    }
}

/// The least of some times.
#[inline(always)]
pub(super) fn least(times: &[[Tick; EIGHT]]) -> Tick {
    let mut lanes = [NEVER; EIGHT];
    for eight in times {
        for place in 0..EIGHT {
            lanes[place] = lanes[place].min(eight[place]);
        }
    }
    let mut least = NEVER;
    for time in lanes {
        least = least.min(time);
    }
    least
}
