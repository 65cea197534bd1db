//! Failures during operation, and new forwarding tables (docs/model.md, "Failures during
//! operation").
//!
//! Channels and routers fail at a time that is known beforehand. So a grant can tell whether the
//! packet's last flit gets across. With links shared flit by flit that is determined at the failure
//! (`flit::failure`). A packet that is cut goes on to its sink, which discards it. From the failure
//! on, a failed channel swallows what is sent to it.
//!
//! When the new table is ready, no packets are injected until none is under way. Then the routers
//! change tables, and the sources go on. Packets of both tables are never under way together, so
//! the two tables cannot deadlock together.

use serde::{Deserialize, Serialize};

use super::next_hop::Routing;
use super::part::Part;
use super::{Engine, Observer};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric, NONE};
use flitlab_routing::ForwardingTable;

/// Interval of the checks whether the network is empty.
const DRAIN_CHECK: Picoseconds = Picoseconds(100_000);

/// A failure during operation, and the forwarding table made without what fails.
#[derive(Clone, Debug)]
pub struct Interruption {
    /// Time of the failure. Events at exactly this time still happen.
    pub at: Picoseconds,
    /// Time at which the new table is ready.
    pub ready: Picoseconds,
    /// By channel: whether it fails.
    pub(super) failed_channels: Vec<bool>,
    /// By router: whether it fails.
    pub(super) failed_routers: Vec<bool>,
    /// The new table, for the whole fabric, with routes through what is left.
    pub(super) table: ForwardingTable,
}

/// The effects of an interruption so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptionReport {
    /// Packets in the network at the failure.
    pub packets_under_way: u64,
    /// Packets lost so far.
    pub packets_lost: u64,
    /// Messages that are not received because of it.
    pub messages_lost: u64,
    /// Time at which the network was empty and the sources went on.
    pub resumed: Option<Picoseconds>,
}

impl Interruption {
    /// At time `at`, `whole` becomes `left`, which lacks some of its channels and terminals and has
    /// the same numbers. From time `ready` on, `table` leads through what is left.
    ///
    /// # Panics
    /// If the table is ready before the failure, or is not one for these fabrics.
    pub fn new(
        whole: &Fabric,
        left: &Fabric,
        (at, ready): (Picoseconds, Picoseconds),
        table: ForwardingTable,
    ) -> Self {
        assert!(ready > at, "a table is made after the failure");
        assert_eq!((table.routers(), table.terminals()), (whole.routers(), whole.terminals()));
        let lacks = |&channel: &Channel| whole.target(channel) != left.target(channel);
        let failed_channels = (0..whole.channel_slots()).map(|channel| lacks(&channel)).collect();
        let lives = |router| left.outputs(router).any(|channel| left.target(channel).is_some());
        let mut failed_routers: Vec<bool> = (0..whole.routers())
            .map(|router| !lives(router) && whole.outputs(router).any(|channel| lacks(&channel)))
            .collect();
        // A router that is left alone with its terminals still serves these.
        for terminal in whole.live_terminals() {
            let router = whole.terminal_router(terminal).expect("live");
            failed_routers[router as usize] = left.terminal_router(terminal).is_none();
        }
        Self { at, ready, failed_channels, failed_routers, table }
    }

    /// Whether a packet is cut whose last flit reaches the end of the channel at time `arrives`.
    #[inline]
    pub(super) fn cuts(&self, channel: Channel, arrives: Picoseconds) -> bool {
        arrives > self.at && self.failed_channels[channel as usize]
    }

    /// Whether a terminal is alive and reachable by the new table.
    pub(super) fn serves(&self, fabric: &Fabric, terminal: u32) -> bool {
        let router = fabric.terminal_router(terminal);
        router.is_some_and(|router| !self.failed_routers[router as usize])
    }
}

/// Stages of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FailureProgress {
    /// Nothing has failed yet.
    Ahead,
    /// The old tables are still in use.
    Failed,
    /// No packets are injected; the next check is at this time.
    Draining(Picoseconds),
    Over(Picoseconds),
}

impl FailureProgress {
    /// Time of the next stage.
    pub(super) fn due(self, interruption: &Interruption) -> Option<Picoseconds> {
        match self {
            Self::Ahead => Some(interruption.at),
            Self::Failed => Some(interruption.ready),
            Self::Draining(next) => Some(next),
            Self::Over(_) => None,
        }
    }
}

impl<'f, O: Observer> Engine<'f, O> {
    /// Takes a due interruption to its next stage.
    pub(super) fn go_on_with(
        &mut self,
        interruption: &'f Interruption,
        progress: FailureProgress,
        now: Picoseconds,
    ) {
        let under_way = self.packets_under_way() as u64;
        // A packet may be complete only with flits that are sent later.
        let cut = match progress {
            FailureProgress::Ahead => self.cut_flit_by_flit(interruption),
            _ => Vec::new(),
        };
        let parts = self.parts.iter_mut().map(|it| &mut it.part);
        let next = match progress {
            FailureProgress::Ahead => {
                self.under_way_when_it_came = under_way;
                parts.for_each(|part| {
                    part.lose_flit_by_flit(&cut);
                    part.fail(interruption);
                });
                FailureProgress::Failed
            }
            FailureProgress::Failed => {
                parts.for_each(|part| part.sources.paused = true);
                FailureProgress::Draining(now)
            }
            FailureProgress::Draining(_) if under_way > 0 => {
                FailureProgress::Draining(now + DRAIN_CHECK)
            }
            FailureProgress::Draining(_) => {
                parts.for_each(|part| part.change_tables(interruption, now));
                FailureProgress::Over(now)
            }
            FailureProgress::Over(_) => progress,
        };
        self.interruption = Some((interruption, next));
    }

    /// The effects of the interruption so far, if there is one.
    pub fn interruption(&self) -> Option<InterruptionReport> {
        let (_, progress) = self.interruption?;
        let counters = self.counters();
        Some(InterruptionReport {
            packets_under_way: self.under_way_when_it_came,
            packets_lost: counters.packets_lost,
            messages_lost: counters.messages_lost,
            resumed: match progress {
                FailureProgress::Over(time) => Some(time),
                _ => None,
            },
        })
    }
}

impl<'f> Part<'f> {
    /// Makes failed channels swallow what is sent to them, and loses what is in failed routers.
    fn fail(&mut self, interruption: &Interruption) {
        if self.flits.is_some() {
            // Until then packets wait for the reasons that they have had so far.
            self.settle_stalls(self.schedule.tick(interruption.at + Picoseconds(1)));
        }
        let fabric = self.context.fabric;
        let first_router = self.context.cut.first_router(self.schedule.part);
        for number in 0..fitted!(self.ports.routers.len(), u32) {
            let router = self.ports.routers[number as usize];
            let name = number + first_router;
            for (port, channel) in (0..).zip(fabric.outputs(name)) {
                if interruption.failed_channels[channel as usize] {
                    let output = self.ports.output_mut(number, port);
                    output.dead = true;
                    output.needs_room = false;
                    (output.hands_on, output.repeats) = (false, false);
                    if self.flits.is_some() {
                        self.swallow_flits(number, port, interruption.at + Picoseconds(1));
                        continue;
                    }
                    // It may be granted now, whatever it waited for.
                    let next =
                        output.free_at.max(self.schedule.tick(interruption.at + Picoseconds(1)));
                    self.ports.lower(number, port, next);
                    self.schedule.active.lower(number, next);
                }
            }
            if interruption.failed_routers[name as usize] {
                if self.flits.is_some() {
                    self.lose_flits_of(number);
                    continue;
                }
                let first = router.first_input << self.ports.size.shift;
                let end = (router.first_input + u32::from(router.inputs)) << self.ports.size.shift;
                for queue in first..end {
                    let mut slot = self.ports.queues[queue as usize].head;
                    while slot != NONE {
                        self.packets.origins[slot as usize].lose();
                        slot = self.packets.packets[slot as usize].next;
                    }
                }
            }
        }
        for delivery in &self.sink.late {
            let adapter = self.sources.adapters.get(delivery.terminal as usize);
            if adapter
                .is_some_and(|it| interruption.failed_routers[(it.router + first_router) as usize])
            {
                self.packets.origins[delivery.slot as usize].lose();
            }
        }
        for terminal in 0..fitted!(self.sources.adapters.len(), u32) {
            if !interruption.serves(fabric, self.sources.adapters[terminal as usize].name) {
                self.drop_queued(terminal, |_| true);
            }
        }
    }

    /// Continues from a checkpoint at this stage of an interruption.
    pub(super) fn follow(&mut self, interruption: &'f Interruption, progress: FailureProgress) {
        if let FailureProgress::Over(_) = progress {
            self.routing = Routing::Table(&interruption.table);
        }
    }

    /// Changes to the new table.
    fn change_tables(&mut self, interruption: &'f Interruption, now: Picoseconds) {
        self.routing = Routing::Table(&interruption.table);
        self.sources.paused = false;
        let next = self.schedule.tick(now + Picoseconds(1));
        let fabric = self.context.fabric;
        for terminal in 0..fitted!(self.sources.adapters.len(), u32) {
            self.drop_queued(terminal, |to| !interruption.serves(fabric, to));
            self.resume(terminal, next);
        }
    }

    /// Whether a message between two terminals is lost before it is queued.
    #[inline]
    pub(super) fn is_cut_off(&self, source: u32, destination: u32, now: Picoseconds) -> bool {
        self.interruption.is_some_and(|interruption| {
            let fabric = self.context.fabric;
            let changed = self.routing.goes_by(&interruption.table);
            now > interruption.at && !interruption.serves(fabric, source)
                || changed && !interruption.serves(fabric, destination)
        })
    }
}
