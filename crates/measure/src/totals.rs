//! What has been counted since the beginning of a measurement, at one time. The difference of two of
//! these is a [`Window`], so nothing has to be counted by window.

use serde::{Deserialize, Serialize};

use super::bucket_counts::highest;
use super::collector::{Collector, Delivered, Latencies};
use super::window::{ClassWindow, ENOUGH_PACKETS, FullestChannel};
use super::{Phase, Window};
use flitlab_base::narrow::{narrow, rounded};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Carried, Engine};

/// The share of latencies that are at most a 99th percentile.
const P99: f64 = 0.99;

/// Packets that were delivered so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Deliveries {
    delivered: Delivered,
    /// Buckets of the histogram of latencies with packets, ascending, and their counts.
    latencies: Vec<(u32, u64)>,
    longest: Picoseconds,
}

impl Deliveries {
    fn of((delivered, latencies): (&Delivered, &Latencies)) -> Self {
        let (delivered, longest) = (*delivered, latencies.maximum());
        Self { delivered, latencies: latencies.buckets(), longest }
    }

    /// Adds what was counted before the counts began anew.
    fn add(&mut self, before: &Self) {
        self.delivered.add(before.delivered);
        self.longest = self.longest.max(before.longest);
        let mut all = std::mem::take(&mut self.latencies);
        all.extend(&before.latencies);
        all.sort_unstable_by_key(|&(bucket, _)| bucket);
        for (bucket, count) in all {
            match self.latencies.last_mut().filter(|last| last.0 == bucket) {
                Some(last) => last.1 += count,
                None => self.latencies.push((bucket, count)),
            }
        }
    }

    /// The 99th percentile of the latencies since an earlier time, if there are enough.
    fn p99_since(&self, before: Option<&Self>) -> Option<Picoseconds> {
        let before = before.map_or(&[][..], |before| &before.latencies);
        let all = |counts: &[(u32, u64)]| counts.iter().map(|it| it.1).sum::<u64>();
        let count = all(&self.latencies) - all(before);
        if count < ENOUGH_PACKETS {
            return None;
        }
        // As the histogram does, from the top.
        let mut above = count - rounded::<u64>((P99 * count as f64).ceil());
        let mut before = before.iter().rev().peekable();
        for &(bucket, count) in self.latencies.iter().rev() {
            let earlier = before.next_if(|it| it.0 == bucket).map_or(0, |it| it.1);
            if count - earlier > above {
                return Some(Picoseconds(highest(bucket)).min(self.longest));
            }
            above -= count - earlier;
        }
        None
    }
}

/// What has been counted by some time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) time: Picoseconds,
    all: Deliveries,
    classes: Vec<Deliveries>,
    /// By channel, in the engine's order: the time for which it carried flits.
    busy: Vec<Picoseconds>,
    carried: Carried,
}

impl Totals {
    /// What has been counted by now. `before` was counted before counts began anew.
    pub(super) fn now(engine: &mut Engine<'_, Collector>, before: &Self) -> Self {
        let mut deliveries = engine.observer().deliveries().map(Deliveries::of);
        let all = deliveries.next().expect("all are the first");
        let classes = deliveries.collect();
        let mut busy = Vec::with_capacity(before.busy.len());
        let carried = engine.carried_by_each(|time| busy.push(time));
        let mut now = Self { time: engine.now(), all, classes, busy, carried };
        if before.time > Picoseconds::ZERO {
            now.all.add(&before.all);
            now.classes.iter_mut().zip(&before.classes).for_each(|(own, more)| own.add(more));
            now.busy.iter_mut().zip(&before.busy).for_each(|(own, more)| *own += *more);
            now.carried.add(before.carried);
        }
        now
    }

    /// The number of channels.
    pub(super) fn channels(&self) -> u64 {
        self.busy.len() as u64
    }

    /// The window since an earlier time.
    pub(super) fn since(
        &self,
        before: &Self,
        phase: Phase,
        engine: &Engine<'_, Collector>,
    ) -> Window {
        let (start, end) = (before.time, self.time);
        let class = |(class, own): (u8, &Deliveries)| {
            let before = before.classes.get(usize::from(class));
            ClassWindow {
                delivered: own.delivered.since(before.map(|it| it.delivered)),
                latency_p99: own.p99_since(before),
                under_way: engine.flits_under_way_of(class),
            }
        };
        Window {
            phase,
            start,
            end,
            delivered: self.all.delivered.since(Some(before.all.delivered)),
            latency_p99: self.all.p99_since(Some(&before.all)),
            mean_utilisation: self.carried.mean_utilisation_since(before.carried, end - start),
            fullest: self.fullest_since(before),
            under_way: engine.counters().flits_under_way(),
            packets_under_way: engine.packets_under_way() as u64,
            busiest_channel: self.carried.busiest,
            classes: (0..).zip(&self.classes).map(class).collect(),
        }
    }

    /// The fullest channel since an earlier time; `None` if no channel carried anything.
    fn fullest_since(&self, before: &Self) -> Option<FullestChannel> {
        let mut most = (Picoseconds::ZERO, 0);
        for (place, &busy) in self.busy.iter().enumerate() {
            let earlier = before.busy.get(place).copied().unwrap_or_default();
            let carried = busy.saturating_sub(earlier);
            if carried > most.0 {
                most = (carried, place);
            }
        }
        let time = (self.time - before.time).max(Picoseconds(1));
        (most.0 > Picoseconds::ZERO).then(|| FullestChannel {
            place: narrow(most.1),
            // A packet that is granted a channel in the last moment counts in full.
            utilisation: (most.0.0 as f64 / time.0 as f64).min(1.0),
        })
    }
}
