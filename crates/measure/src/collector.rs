//! Gathers what reaches the sinks while a measurement is on.

use serde::{Deserialize, Serialize};

use super::bucket_counts::BucketCounts;
use super::by_class::{ClassSummary, ClassTotals};
use super::by_pair::{LatencyBy, PairLatency, Pairs};
use super::delivery_log::{DeliveryLog, LogFilter, Logged};
use super::order::{Order, Reordering};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{CompletedMessage, DeliveredPacket, Observer};
use flitlab_model::Quantile;
use flitlab_routing::adaptive::Misroute;

/// Latencies as a distribution, in picoseconds. Percentiles are exact to three digits (they come
/// from a histogram), mean and maximum are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// Number of latencies.
    pub count: u64,
    /// Mean latency in picoseconds.
    pub mean: f64,
    /// The median.
    pub p50: Picoseconds,
    /// The 95th percentile.
    pub p95: Picoseconds,
    /// The 99th percentile.
    pub p99: Picoseconds,
    /// The 99.9th percentile.
    pub p999: Picoseconds,
    /// The longest latency.
    pub maximum: Picoseconds,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Latencies {
    counts: BucketCounts,
    sum: u128,
    maximum: Picoseconds,
}

impl Latencies {
    #[inline]
    pub(super) fn record(&mut self, latency: Picoseconds) {
        self.counts.record(latency.0);
        self.sum += u128::from(latency);
        self.maximum = self.maximum.max(latency);
    }

    pub(super) fn gather(&mut self, part: &mut Self) {
        self.counts.gather(&mut part.counts);
        self.sum += std::mem::take(&mut part.sum);
        self.maximum = self.maximum.max(std::mem::take(&mut part.maximum));
    }

    /// The number of each bucket of the histogram with latencies, and its count.
    pub(super) fn buckets(&self) -> Vec<(u32, u64)> {
        self.counts.buckets()
    }

    /// The longest latency.
    pub(super) fn maximum(&self) -> Picoseconds {
        self.maximum
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.total()
    }

    pub(super) fn distribution(&self) -> Option<Distribution> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let histogram = self.counts.histogram();
        let value = |share: f64| Picoseconds(histogram.value_at_quantile(share)).min(self.maximum);
        Some(Distribution {
            count,
            mean: self.sum as f64 / count as f64,
            p50: value(0.5),
            p95: value(0.95),
            p99: value(0.99),
            p999: value(0.999),
            maximum: self.maximum,
        })
    }

    /// The distribution function in at most 137 steps: a hundredth each, finer and finer from 99%
    /// on, up to the maximum. Values are those of [`Latencies::distribution`], each once.
    fn quantiles(&self) -> Vec<Quantile> {
        if self.count() == 0 {
            return Vec::new();
        }
        let histogram = self.counts.histogram();
        let hundredths = (1..100).map(|step| f64::from(step) / 100.0);
        let tail = [1e3, 1e4, 1e5, 1e6]
            .into_iter()
            .flat_map(|parts| (1..10).rev().map(move |left| 1.0 - f64::from(left) / parts));
        let mut steps: Vec<Quantile> = Vec::new();
        for share in hundredths.chain(tail).chain([1.0]) {
            let at = histogram.value_at_quantile(share);
            let value = Picoseconds(at).min(self.maximum);
            if steps.last().is_none_or(|last| last.value < value) {
                steps.push(Quantile { value, share: histogram.quantile_below(at) });
            }
        }
        steps
    }
}

/// Deliveries in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Delivered packets.
    pub packets: u64,
    /// Flits of these packets.
    pub flits: u64,
    /// Payload of these packets, in bytes.
    pub payload: u64,
    /// Channels between routers that these packets crossed, in sum.
    pub hops: u64,
    /// Packets that were derouted, by kind.
    pub derouted: [u64; Misroute::KINDS.len()],
    /// Sum of the packets' latencies from creation, in picoseconds. It may exceed the longest time
    /// that [`Picoseconds`] holds.
    pub latency: u128,
    /// Sum of the packets' latencies from injection, in picoseconds.
    pub network_latency: u128,
}

impl Delivered {
    /// Shares of packets that were derouted, by kind; `None` without packets.
    pub fn derouted_shares(&self) -> Option<[f64; Misroute::KINDS.len()]> {
        let share = |count: u64| count as f64 / self.packets as f64;
        (self.packets > 0).then(|| self.derouted.map(share))
    }

    /// Mean number of channels between routers that a packet crossed; `None` without packets.
    pub(super) fn mean_hops(&self) -> Option<f64> {
        self.mean(self.hops.into())
    }

    /// Mean latency of packets from injection, in picoseconds; `None` without packets.
    pub(super) fn mean_network_latency(&self) -> Option<f64> {
        self.mean(self.network_latency)
    }

    fn mean(&self, sum: u128) -> Option<f64> {
        (self.packets > 0).then(|| sum as f64 / self.packets as f64)
    }

    /// Adds a packet.
    #[inline]
    pub(super) fn add_packet(&mut self, packet: &DeliveredPacket) {
        self.packets += 1;
        self.flits += u64::from(packet.flits);
        self.payload += u64::from(packet.payload);
        self.hops += u64::from(packet.hops);
        if let Some(kind) = packet.misroute {
            self.derouted[kind as usize] += 1;
        }
        self.latency += u128::from(packet.delivered - packet.created);
        self.network_latency += u128::from(packet.delivered - packet.injected);
    }

    /// What was delivered since the time of an earlier sum.
    pub(super) fn since(&self, before: Option<Self>) -> Self {
        let before = before.unwrap_or_default();
        let derouted = self.derouted.iter().zip(before.derouted).map(|(now, before)| now - before);
        let mut since = Self {
            packets: self.packets - before.packets,
            flits: self.flits - before.flits,
            payload: self.payload - before.payload,
            hops: self.hops - before.hops,
            derouted: Default::default(),
            latency: self.latency - before.latency,
            network_latency: self.network_latency - before.network_latency,
        };
        since.derouted.iter_mut().zip(derouted).for_each(|(own, count)| *own = count);
        since
    }

    pub(super) fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.flits += other.flits;
        self.payload += other.payload;
        self.hops += other.hops;
        for (derouted, other) in self.derouted.iter_mut().zip(other.derouted) {
            *derouted += other;
        }
        self.latency += other.latency;
        self.network_latency += other.network_latency;
    }
}

/// An observer that sums up what is delivered: window by window always, all together and as a
/// distribution while it is on, and of several workloads by class too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Collector {
    on: bool,
    window: Delivered,
    /// Deliveries in all windows that have ended since the start.
    pub total: Delivered,
    packets: Latencies,
    messages: Latencies,
    /// Payload delivered from each source.
    pub payload_by_source: Vec<u64>,
    /// When the last message was complete.
    pub latest_completion: Picoseconds,
    /// By class, if there are several workloads.
    classes: Vec<ClassTotals>,
    /// In which order packets come, if that is followed.
    order: Option<Box<Order>>,
    /// Latencies by the nodes that send and receive, if that is asked for.
    pairs: Option<Box<Pairs>>,
    by: LatencyBy,
    /// Of single runs that are asked for it; no part of what a checkpoint keeps.
    #[serde(skip)]
    log: Option<Box<DeliveryLog>>,
}

impl Collector {
    /// For a fabric of so many terminals; off.
    pub fn new(terminals: u32) -> Self {
        Self {
            on: false,
            window: Delivered::default(),
            total: Delivered::default(),
            packets: Latencies::default(),
            messages: Latencies::default(),
            payload_by_source: vec![0; terminals as usize],
            latest_completion: Picoseconds::ZERO,
            classes: Vec::new(),
            order: None,
            pairs: None,
            by: LatencyBy::Whole,
            log: None,
        }
    }

    /// Returns this collector, which from now on also follows the order of packets.
    #[must_use]
    pub fn following_order(self) -> Self {
        let sources = self.payload_by_source.len();
        Self { order: Some(Box::new(Order::new(sources))), ..self }
    }

    /// Returns this collector, which from now on also tells latencies by node or pair.
    #[must_use]
    pub fn telling_latencies_by(self, by: LatencyBy) -> Self {
        let pairs = Pairs::new(by, self.payload_by_source.len());
        Self { pairs, by, ..self }
    }

    /// The latencies of packets since the start by source, by destination and by pair, as far as that
    /// is asked for: those with packets.
    pub fn latencies_by_pair(&self) -> Vec<PairLatency> {
        self.pairs.as_ref().map_or_else(Vec::new, |pairs| pairs.found())
    }

    /// Returns this collector, which from now on also keeps a log of deliveries.
    #[must_use]
    pub fn logging(self, filter: LogFilter) -> Self {
        Self { log: Some(Box::new(DeliveryLog::new(filter))), ..self }
    }

    /// Takes what the log has; nothing without one.
    pub fn logged(&mut self) -> Logged {
        self.log.as_mut().map_or_else(Logged::default, |log| log.take())
    }

    /// Begins a window from which on everything counts, and nothing from before; of several
    /// workloads, as many as there are `classes`, by class too.
    pub fn start(&mut self, classes: usize) {
        self.on = true;
        self.window = Delivered::default();
        self.total = Delivered::default();
        (self.packets, self.messages) = (Latencies::default(), Latencies::default());
        self.payload_by_source.fill(0);
        self.classes.clear();
        self.classes.resize_with(classes, ClassTotals::default);
        if let Some(order) = &mut self.order {
            order.start();
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.start();
        }
    }

    /// Returns the deliveries since the last call (or the start).
    pub fn end_window(&mut self) -> Delivered {
        let window = std::mem::take(&mut self.window);
        self.settle();
        if self.on {
            self.total.add(window);
        }
        window
    }

    /// Looks at the order of what was delivered; to be called where all that was delivered so far
    /// is known.
    pub fn settle(&mut self) {
        if let Some(order) = &mut self.order {
            order.settle();
        }
    }

    /// Returns how far packets were out of order since the start, as far as it was [looked
    /// at](Self::settle); `None` if the order is not followed.
    pub fn reordering(&self) -> Option<Reordering> {
        self.order.as_ref().map(|order| order.found)
    }

    /// What was delivered in windows that have ended since the start, and latencies of packets: of
    /// all, then of each class if there are several workloads.
    pub(super) fn deliveries(&self) -> impl Iterator<Item = (&Delivered, &Latencies)> {
        let all = (&self.total, &self.packets);
        [all].into_iter().chain(self.classes.iter().map(ClassTotals::deliveries))
    }

    /// What was delivered by class, if there are several workloads.
    pub fn by_class(&self) -> Vec<ClassSummary> {
        self.classes.iter().map(ClassTotals::summary).collect()
    }

    /// When the last message of a class was complete since the start.
    pub fn latest_completion_of(&self, class: u8) -> Picoseconds {
        let of_class = self.classes.get(usize::from(class));
        of_class.map_or(self.latest_completion, ClassTotals::latest_completion)
    }

    /// Returns how many messages of a class were completed since the start, without control
    /// messages; 0 if it is not told by class.
    pub fn messages_of(&self, class: u8) -> u64 {
        self.classes.get(usize::from(class)).map_or(0, ClassTotals::messages)
    }

    /// Latencies of packets, from creation to the last flit at the sink.
    pub fn packet_latency(&self) -> Option<Distribution> {
        self.packets.distribution()
    }

    /// How the latencies of packets are distributed, in ascending order; empty without packets.
    pub fn packet_latency_quantiles(&self) -> Vec<Quantile> {
        self.packets.quantiles()
    }

    /// Adds a packet to the log.
    // It takes a copy: a packet of which no one has the address needs no memory.
    #[cold]
    fn follow(&mut self, packet: DeliveredPacket) {
        if let Some(log) = &mut self.log {
            log.packet(&packet);
        }
    }

    /// Latencies of messages, host overheads included; of a read, from its creation to its end.
    /// Control messages are none.
    pub fn message_latency(&self) -> Option<Distribution> {
        self.messages.distribution()
    }
}

impl Observer for Collector {
    fn fork(&self) -> Self {
        let log = self.log.as_ref().map(|log| Box::new(log.fork()));
        let order = self.order.as_ref().map(|_| Box::default());
        let part = Self::new(narrow(self.payload_by_source.len())).telling_latencies_by(self.by);
        Self { on: self.on, log, order, ..part }
    }

    fn gather(&mut self, part: &mut Self) {
        self.window.add(std::mem::take(&mut part.window));
        self.packets.gather(&mut part.packets);
        self.messages.gather(&mut part.messages);
        for (payload, more) in self.payload_by_source.iter_mut().zip(&mut part.payload_by_source) {
            *payload += std::mem::take(more);
        }
        self.latest_completion = self.latest_completion.max(part.latest_completion);
        part.on = self.on;
        part.classes.resize_with(self.classes.len(), ClassTotals::default);
        for (own, more) in self.classes.iter_mut().zip(&mut part.classes) {
            own.gather(more);
        }
        if let (Some(order), Some(more)) = (&mut self.order, &mut part.order) {
            order.gather(more);
        }
        if let (Some(pairs), Some(more)) = (&mut self.pairs, &mut part.pairs) {
            pairs.gather(more);
        }
        if let (Some(log), Some(more)) = (&mut self.log, &mut part.log) {
            log.gather(more);
        }
    }

    #[inline(always)]
    fn packet_delivered(&mut self, packet: &DeliveredPacket) {
        if let Some(order) = &mut self.order {
            order.add(packet);
        }
        if self.log.is_some() {
            self.follow(*packet);
        }
        let latency = packet.delivered - packet.created;
        self.window.add_packet(packet);
        if !self.on {
            return;
        }
        if !self.classes.is_empty() {
            self.classes[usize::from(packet.class)].packet_delivered(packet);
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.add(packet);
        }
        self.packets.record(latency);
        self.payload_by_source[packet.source as usize] += u64::from(packet.payload);
    }

    #[inline(always)]
    fn message_completed(&mut self, message: &CompletedMessage) {
        if let Some(log) = &mut self.log {
            // A copy, as for `follow`.
            let message = *message;
            log.message(&message);
        }
        if self.on {
            // Two control messages beside each large one would halve the mean, and be the median.
            if !message.is_control {
                self.messages.record(message.completed - message.created);
            }
            self.latest_completion = self.latest_completion.max(message.completed);
            if !self.classes.is_empty() {
                self.classes[usize::from(message.class)].message_completed(message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest latency of the warm-up came back with a part of the next stretch, so that it depended
    /// on the number of threads.
    #[test]
    fn a_part_keeps_nothing_of_what_was_taken_from_it() {
        let (mut all, mut part) = (Latencies::default(), Latencies::default());
        part.record(Picoseconds(900));
        all.gather(&mut part);
        let mut later = Latencies::default();
        part.record(Picoseconds(70));
        later.gather(&mut part);
        assert_eq!((all.maximum(), later.maximum()), (Picoseconds(900), Picoseconds(70)));
        assert_eq!(
            later.distribution().map(|it| (it.count, it.maximum)),
            Some((1, Picoseconds(70)))
        );
    }

    #[test]
    fn few_quantiles_say_how_many_values_are_at_most_so_high() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.quantiles(), []);
        for value in 1..=1_000_000u64 {
            latencies.record(Picoseconds(value * 1000));
        }
        let steps = latencies.quantiles();
        assert!((100..=137).contains(&steps.len()), "{}", steps.len());
        assert!(steps.is_sorted_by(|a, b| a.value < b.value && a.share < b.share));
        for step in &steps {
            assert!((step.value.0 as f64 / 1e9 - step.share).abs() < 2e-3, "{step:?}");
        }
        assert_eq!(steps.last(), Some(&Quantile { value: Picoseconds(1_000_000_000), share: 1.0 }));
    }

    #[test]
    fn equal_values_are_one_step() {
        let mut latencies = Latencies::default();
        (0..50).for_each(|_| latencies.record(Picoseconds(700)));
        latencies.record(Picoseconds(900));
        let steps: Vec<(u64, f64)> =
            latencies.quantiles().iter().map(|step| (step.value.0, step.share)).collect();
        assert_eq!(steps, [(700, 50.0 / 51.0), (900, 1.0)]);
    }
}
