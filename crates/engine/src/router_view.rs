//! Visits: a router is borrowed for a whole window (docs/model.md, "Windows and threads").
//!
//! A visit reads and writes its own router and terminals only. The effects of a grant elsewhere lie
//! beyond the window: the packet asks in the next router, and its credits reach the router
//! upstream, a window later at the earliest. Both go into the [`Outbox`] and are delivered after a
//! batch of visits. The frame calls [`visit_router`](Part::visit_router) and
//! [`send_out`](Part::send_out).

use super::credits::Credit;
use super::part::Part;
use super::port_block::least;
use super::ports::{AWAY, PacketQueue, Ports};
use super::router::RouterView;
use super::sink::Delivery;
use super::size::{Size, Small};
use super::tick::{NEVER, Tick};
use flitlab_base::prefetch::{Stage, prefetch};
use flitlab_fabric::NONE;

/// Number of deliveries by which the prefetch for a delivery comes ahead of it.
const LEAD: usize = 8;

/// A packet under way to another router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub slot: u32,
    /// The router's part, its number there, and its input virtual channel.
    pub part: u32,
    pub router: u32,
    pub input_vc: u32,
}

/// Credits under way to another router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Returned {
    /// The `upstream` of the input port.
    pub upstream: u32,
    pub vc: u8,
    pub credit: Credit,
}

/// The effects of visits on other routers and on terminals.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub sent: Vec<Sent>,
    pub returned: Vec<Returned>,
    pub deliveries: Vec<Delivery>,
    /// Injection channels that wait for credits, and the time at which those arrive.
    pub fed: Vec<(u32, Tick)>,
}

impl Outbox {
    /// Whether it holds something that may let the router's own terminals send something within the
    /// window.
    #[inline]
    pub(super) fn is_urgent(&self, hosts_answer: bool) -> bool {
        !self.fed.is_empty() || hosts_answer && !self.deliveries.is_empty()
    }
}

impl<'f> Part<'f> {
    /// Simulates a router and its terminals until the end of the window. Returns a lower bound of
    /// the time of its next event.
    pub(super) fn visit_router(&mut self, number: u32) -> Tick {
        let router = &self.ports.routers[number as usize];
        let terminals = router.first_terminal..router.first_terminal + u32::from(router.terminals);
        let end = self.schedule.window.end;
        let mut next = self.next_of_router(number);
        let mut at_terminals = self.sources.first_due(&terminals);
        let mut has_arrivals = self.has_arrivals(number);
        loop {
            let until = at_terminals.min(end);
            if next < until || has_arrivals {
                next = self.run_router(number, until);
                has_arrivals = false;
                if self.outbox.is_urgent(self.hosts_answer) {
                    self.handle_own_effects();
                    at_terminals = self.sources.first_due(&terminals);
                    continue;
                }
            }
            if at_terminals.min(next) >= end {
                self.handle_own_effects();
                return at_terminals.min(next);
            }
            if at_terminals < end && at_terminals <= next {
                for terminal in terminals.clone() {
                    if self.sources.due[terminal as usize] == at_terminals {
                        self.serve_terminal(terminal, at_terminals);
                    }
                }
                at_terminals = self.sources.first_due(&terminals);
                has_arrivals = self.has_arrivals(number);
                // Injected flits are put into their queues at once.
                if self.flits.is_some() {
                    next = self.next_of_router(number);
                }
            }
        }
    }

    /// The time of the next event at a router's outputs. Its terminals do not change it: a packet
    /// of theirs is among the arrivals.
    #[inline(always)]
    fn next_of_router(&self, number: u32) -> Tick {
        let router = &self.ports.routers[number as usize];
        let next = match &self.flits {
            None => least(self.ports.blocks_of(router)),
            Some(flits) => self.flits_due(flits, number),
        };
        if !self.special {
            return next;
        }
        let links = self.links.as_ref().map_or(NEVER, |it| it.state.due[number as usize]);
        let decide =
            self.adaptive_state.as_ref().map_or(NEVER, |it| it.state.decide_at[number as usize]);
        next.min(links).min(decide)
    }

    /// Prefetches the addresses that the next stages need for a router's visit.
    #[inline]
    pub(super) fn prefetch_router(&self, number: u32) {
        prefetch(&self.ports.routers[number as usize]);
        prefetch(&self.ports.arrived[number as usize * self.ports.size.words]);
    }

    /// Prefetches a router's ports and terminals, and the buffers that packets have come to.
    #[inline(never)]
    pub(super) fn prefetch_ports(&self, number: u32) {
        let router = &self.ports.routers[number as usize];
        let output = router.first_output as usize;
        self.ports.blocks_of(router).iter().for_each(prefetch);
        prefetch(&self.ports.requests[output * self.ports.size.words]);
        prefetch(&self.statistics.flits[output * self.context.vc_map.count()]);
        let terminal = router.first_terminal as usize;
        self.sources.due.get(terminal).into_iter().for_each(prefetch);
        if self.hosts_answer {
            self.sources.adapters.get(terminal).into_iter().for_each(prefetch);
        }
        self.for_each_arrival(number, prefetch);
    }

    /// Prefetches the packets in these buffers, the first credits and the first host.
    #[inline(never)]
    pub(super) fn prefetch_heads(&self, number: u32) {
        let router = &self.ports.routers[number as usize];
        if let Some(block) = self.ports.blocks_of(router).first() {
            prefetch(&self.credits.room[block.outputs[0].room as usize]);
        }
        if self.hosts_answer {
            self.prefetch_host(number, Stage::Next);
        }
        self.for_each_arrival(number, |queue| {
            self.packets.packets.get(queue.head as usize).into_iter().for_each(prefetch);
        });
    }

    /// Prefetches the state of a router's first host.
    #[inline(never)]
    pub(super) fn prefetch_host(&self, number: u32, stage: Stage) {
        let terminal = self.ports.routers[number as usize].first_terminal;
        if let Some(adapter) = self.sources.adapters.get(terminal as usize)
            // A message that only arrives changes little at its host.
            && (stage != Stage::Last
                || self.sources.due[terminal as usize] < self.schedule.window.end)
        {
            self.workload.prefetch(adapter.name, stage);
        }
    }

    /// Calls `see` with each buffer of a router that was empty and has got a packet since the last
    /// visit.
    #[inline(always)]
    fn for_each_arrival(&self, number: u32, see: impl Fn(&PacketQueue)) {
        let words = self.ports.size.words;
        let arrived = &self.ports.arrived[number as usize * words..][..words];
        for (word, &input_vcs) in (0..).zip(arrived) {
            let mut bits = input_vcs;
            while bits != 0 {
                let input_vc = word * 64 + bits.trailing_zeros();
                let queue = self.ports.queue(&self.ports.routers[number as usize], input_vc);
                see(&self.ports.queues[queue]);
                bits &= bits - 1;
            }
        }
    }

    /// Prefetches the memory for the delivery that is [`LEAD`] steps ahead in the outbox.
    #[inline(always)]
    fn prefetch_delivery(&self, place: usize) {
        if let Some(&Sent { slot, router, part, .. }) = self.outbox.sent.get(place)
            && part as usize == self.schedule.part
        {
            prefetch(&self.ports.routers[router as usize]);
            prefetch(&self.ports.arrived[router as usize * self.ports.size.words]);
            prefetch(&self.packets.packets[slot as usize]);
            self.schedule.active.prefetch(router);
        }
        if let Some(nearer) = place.checked_sub(LEAD / 2)
            && let Some(&Sent { router, input_vc, part, .. }) = self.outbox.sent.get(nearer)
            && part as usize == self.schedule.part
        {
            let router = &self.ports.routers[router as usize];
            prefetch(&self.ports.queues[self.ports.queue(router, input_vc)]);
        }
        if let Some(&Returned { upstream, vc, .. }) = self.outbox.returned.get(place)
            && upstream & AWAY == 0
        {
            prefetch(&self.credits.returning[upstream as usize + usize::from(vc)]);
        }
    }

    /// Whether packets have come to empty buffers of a router.
    #[inline(always)]
    fn has_arrivals(&self, number: u32) -> bool {
        let words = self.ports.size.words;
        let first = number as usize * words;
        self.ports.arrived[first..first + words].iter().any(|&word| word != 0)
    }

    /// Simulates a router's outputs before `until`; see [`RouterView::run`].
    #[inline(never)]
    fn run_router(&mut self, number: u32, until: Tick) -> Tick {
        if self.flits.is_some() {
            return self.run_flits(number, until);
        }
        let shift = self.ports.size.shift;
        match self.ports.small {
            Some(1) => self.borrow_router(number, Small::<1> { shift }).run::<false>(until),
            Some(2) => self.borrow_router(number, Small::<2> { shift }).run::<false>(until),
            _ if self.links.is_some() => {
                self.borrow_router(number, self.ports.size).run_on_links(until)
            }
            _ if self.reduction_units.is_some() => {
                self.borrow_router(number, self.ports.size).run::<true>(until)
            }
            _ => self.borrow_router(number, self.ports.size).run::<false>(until),
        }
    }

    /// Borrows a router for a visit.
    #[inline(always)]
    pub(super) fn borrow_router<S: Size>(&mut self, number: u32, size: S) -> RouterView<'_, 'f, S> {
        let (words, shift) = (size.words(), size.shift());
        let Ports { routers, blocks, queues, requests, escapes, arrived, .. } = &mut self.ports;
        let router = &mut routers[number as usize];
        let sets = router.first_output as usize * words;
        let sets = sets..sets + usize::from(router.outputs) * words;
        let first = (router.first_input as usize) << shift;
        let input_vcs = first..first + (usize::from(router.inputs) << shift);
        let blocks = &mut blocks[router.first_block as usize..][..router.blocks as usize];
        RouterView {
            size,
            blocks: S::blocks(blocks),
            queues: &mut queues[input_vcs],
            requests: &mut requests[sets.clone()],
            escapes: escapes.get_mut(sets).unwrap_or_default(),
            arrived: &mut arrived[number as usize * words..][..words],
            router,
            number,
            name: number + self.context.cut.first_router(self.schedule.part),
            first_channel: self.context.cut.first_output(self.schedule.part),
            epoch: self.schedule.epoch,
            routing: &self.routing,
            interruption: self.interruption,
            hosts_answer: self.hosts_answer,
            context: &self.context,
            packets: &mut self.packets,
            credits: &mut self.credits,
            statistics: &mut self.statistics,
            special: self.special,
            links: self.links.as_mut(),
            adaptive_state: self.adaptive_state.as_mut(),
            reduction_units: self.reduction_units.as_mut(),
            outbox: &mut self.outbox,
            digest: &mut self.digest,
            trace: &mut self.trace,
            counters: &mut self.counters,
            latest: &mut self.latest,
        }
    }

    /// Handles the effects of a router's packets at its own terminals.
    #[inline]
    fn handle_own_effects(&mut self) {
        if !self.outbox.deliveries.is_empty() || !self.outbox.fed.is_empty() {
            self.handle_own_effects_slowly();
        }
    }

    #[inline(never)]
    fn handle_own_effects_slowly(&mut self) {
        for place in 0..self.outbox.deliveries.len() {
            self.deliver(self.outbox.deliveries[place]);
        }
        self.outbox.deliveries.clear();
        for place in 0..self.outbox.fed.len() {
            let (injection, time) = self.outbox.fed[place];
            self.credits_arrive(injection, time);
        }
        self.outbox.fed.clear();
    }

    /// Delivers what visits have sent to other routers.
    pub(super) fn send_out(&mut self) {
        let lead = if self.is_large { LEAD } else { 0 };
        for step in 0..self.outbox.sent.len() + lead {
            if self.is_large {
                self.prefetch_delivery(step);
            }
            let Some(place) = step.checked_sub(lead) else { continue };
            let Sent { slot, part, router, input_vc } = self.outbox.sent[place];
            if part as usize == self.schedule.part {
                self.join(router, input_vc, slot);
            } else {
                self.send_away(part, router, input_vc, slot);
            }
        }
        self.outbox.sent.clear();
        for place in 0..self.outbox.returned.len() {
            let Returned { upstream, vc, credit } = self.outbox.returned[place];
            if upstream & AWAY == 0 {
                self.return_credit(upstream + u32::from(vc), credit);
            } else {
                self.send_credit_away(upstream & !AWAY, vc, credit);
            }
        }
        self.outbox.returned.clear();
        if self.links.is_some() {
            self.send_notices();
        }
    }

    /// Puts a packet into a buffer of a router of this part.
    #[inline]
    pub(super) fn join(&mut self, number: u32, input_vc: u32, slot: u32) {
        let router = &self.ports.routers[number as usize];
        let place = self.ports.queue(router, input_vc);
        let queue = &mut self.ports.queues[place];
        let tail = std::mem::replace(&mut queue.tail, slot);
        let packet = &mut self.packets.packets[slot as usize];
        packet.next = NONE;
        if queue.head != NONE {
            self.packets.packets[tail as usize].next = slot;
            return;
        }
        queue.head = slot;
        let ready = packet.ready;
        self.ports.arrived[number as usize * self.ports.size.words + input_vc as usize / 64] |=
            1 << (input_vc % 64);
        self.schedule.active.lower(number, ready);
    }

    /// Returns a credit to a sender of this part. If the sender waits for one, its output is due at
    /// the credit's arrival.
    #[inline]
    pub(super) fn return_credit(&mut self, place: u32, credit: Credit) {
        if self.credits.send(place, credit, self.schedule.window.start) {
            self.wake_sender(place, credit.time);
        }
    }

    #[cold]
    fn wake_sender(&mut self, place: u32, time: Tick) {
        let (number, output) = self.ports.senders[place as usize / self.context.vc_map.count()];
        let free_at = self.ports.output_mut(number, output).free_at;
        let time = time.max(free_at);
        self.ports.lower(number, output, time);
        self.schedule.active.lower(number, time);
    }
}
