//! The frame: windows, and the visits of a window (docs/model.md, "Windows and threads").
//!
//! A thread runs a part. Before each window the parts hand over what crosses between them, and agree on when the
//! window begins: with the first thing that happens in any of them. In the window each router that has something to do
//! before the end is visited once, in the order of numbers, which matters to nothing. The epoch that ticks count from
//! moves on in all parts at the same window.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Observer;
use super::mail::Post;
use super::model::{Model, Window};
use super::rendezvous::Rendezvous;
use super::source::NO_TIME;
use super::tick::{HORIZON, Tick};
use crate::units::Picoseconds;

/// A part of a network and what is observed in it.
pub(super) struct Part<'f, O> {
    pub model: Model<'f>,
    pub observer: O,
}

impl<O: Observer> Part<'_, O> {
    /// Visits each router in which something happens before `end`.
    pub(super) fn run_window(&mut self, start: Tick, end: Tick) {
        let model = &mut self.model;
        model.window = Window { start, end, ..model.window };
        for block in 0..model.active.blocks() {
            let Some(routers) = model.active.due(block, end) else { continue };
            for router in routers {
                if model.active.next(router) < end {
                    let next = model.visit(router);
                    model.active.set(router, next);
                }
            }
            model.active.settle(block);
            model.send_out();
        }
        self.tell();
    }

    /// Tells the observer what has happened.
    pub(super) fn tell(&mut self) {
        for packet in self.model.sink.delivered.drain(..) {
            self.observer.packet_delivered(&packet);
        }
        for message in self.model.sink.completed.drain(..) {
            self.observer.message_completed(&message);
        }
    }
}

/// What a part tells the others at the end of a window.
#[derive(Debug, Default)]
struct Report {
    /// Before when nothing happens in it or by its mail.
    earliest: AtomicU64,
    /// When the last of its terminals came to the barrier; the latest of all times if not all have.
    at_barrier: AtomicU64,
}

/// What the threads of a simulation share while it runs.
pub(super) struct Together {
    post: Post,
    rendezvous: Rendezvous,
    /// By window's parity and part.
    reports: Vec<Report>,
    /// How long nothing that a router does can reach another.
    length: Tick,
    limit: Picoseconds,
}

impl Together {
    /// For so many parts, in windows of this length, up to and including `limit`.
    pub(super) fn new(parts: usize, length: Tick, limit: Picoseconds) -> Self {
        Self {
            post: Post::new(parts),
            rendezvous: Rendezvous::new(parts),
            reports: (0..2 * parts).map(|_| Report::default()).collect(),
            length,
            limit,
        }
    }

    /// Simulates a part, window by window. False if nothing is left that could happen later.
    pub(super) fn run<O: Observer>(&self, part: &mut Part<'_, O>) -> bool {
        let _attendance = self.rendezvous.attend();
        part.model.window.limit = self.limit;
        part.model.deliver_late();
        for window in 0.. {
            let start = self.meet(window, &mut part.model);
            if start > self.limit || start == NO_TIME {
                break;
            }
            if start - part.model.epoch >= u64::from(HORIZON) {
                part.model.rebase(start);
            }
            let epoch = part.model.epoch;
            let first = (start - epoch) as Tick;
            let beyond = self.limit.saturating_add(1).saturating_sub(epoch);
            let end = u64::from(first.saturating_add(self.length)).min(beyond) as Tick;
            part.run_window(first, end);
        }
        part.tell();
        part.model.has_work()
    }

    /// Exchanges mail with the other parts. Before when nothing happens in any of them.
    fn meet(&self, window: usize, model: &mut Model<'_>) -> Picoseconds {
        let parts = self.reports.len() / 2;
        let reports = &self.reports[window % 2 * parts..][..parts];
        let own = &reports[model.part];
        own.earliest.store(model.post(window, &self.post), Ordering::Relaxed);
        let at_barrier = model.sources.workload.at_barrier().unwrap_or(NO_TIME);
        own.at_barrier.store(at_barrier, Ordering::Relaxed);
        self.rendezvous.meet();
        model.collect(window, &self.post);
        let times = |time: fn(&Report) -> &AtomicU64| {
            reports.iter().map(move |report| time(report).load(Ordering::Relaxed))
        };
        let start = times(|report| &report.earliest).min().expect("there is a part");
        let latest = times(|report| &report.at_barrier).max().expect("there is a part");
        if latest == NO_TIME {
            return start;
        }
        // All may be idle: what is next comes of passing the barrier.
        start.min(model.pass_barrier(latest))
    }
}
