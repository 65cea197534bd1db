//! A flit-by-flit router borrowed for a visit, and the loop over the instants of its window.

use super::arrivals::FlitMessages;
use super::flit_queue::FlitQueue;
use super::scratch::Scratch;
use super::states::VcState;
use super::vc_allocation::VcRequest;
use super::{FlitOutput, FlitRouters, FlitRules, FlitState};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::network::port;
use crate::network::ports::{Ports, RouterLayout};
use crate::next_hop::answer::{Head, NextHop};
use crate::router::link::Links;
use crate::set::bits;
use crate::trace::note;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;

/// The number of a router's active virtual channels that have a bit in sets; further ones are
/// scanned.
pub(super) const MASKED: usize = 64;

/// A router borrowed for a visit: the state of its part, of which it uses its own. Outputs, input
/// ports and queues have the router's own numbers.
pub(super) struct FlitRouterView<'a, 'f> {
    pub rules: &'a FlitRules,
    pub state: &'a mut FlitState,
    pub scratch: &'a mut Scratch,
    pub ports: &'a Ports,
    pub router: RouterLayout,
    /// Its number in the part and in the whole network, and the number of its part.
    pub number: u32,
    pub name: u32,
    pub part: u32,
    pub first_queue: usize,
    pub first_active_vc: usize,
    /// Active virtual channels that are left alone, a bit each of the first [`MASKED`], until a last
    /// flit, or until another packet joins one of their ports.
    pub uncontended: u64,
    /// The time before which it is simulated.
    pub until: Tick,
    pub first_channel: u32,
    pub links: &'a mut Links,
    pub outgoing: &'a mut [FlitMessages],
    pub common: &'a mut Common<'f>,
}

impl FlitRouters {
    /// A lower bound of the time of a router's next event.
    #[inline]
    pub(super) fn due(&self, number: u32) -> Tick {
        let first = self.state.wake_times.first(number);
        first.min(self.state.next_switch_request(&self.rules, number))
    }

    /// Borrows a router for a visit.
    pub(super) fn borrow<'a, 'f>(
        &'a mut self,
        common: &'a mut Common<'f>,
        number: u32,
    ) -> FlitRouterView<'a, 'f> {
        let router = self.ports.routers[number as usize];
        FlitRouterView {
            first_queue: self.rules.first_queue(&router),
            first_active_vc: self.rules.first_active_vc(number),
            rules: &self.rules,
            state: &mut self.state,
            scratch: &mut self.scratch,
            ports: &self.ports,
            links: &mut self.links,
            outgoing: &mut self.outgoing,
            router,
            number,
            name: number + common.context.cut.first_router(common.schedule.part),
            part: fitted!(common.schedule.part, u32),
            uncontended: 0,
            until: 0,
            first_channel: common.context.cut.first_output(common.schedule.part),
            common,
        }
    }
}

impl FlitRules {
    /// The number of a router's queues.
    pub(super) fn queues_of(&self, router: &RouterLayout) -> usize {
        (usize::from(router.inputs) << self.shift) * self.outputs as usize
    }

    /// The place of a router's first queue.
    #[inline(always)]
    pub(super) fn first_queue(&self, router: &RouterLayout) -> usize {
        ((router.first_input as usize) << self.shift) * self.outputs as usize
    }
}

impl FlitState {
    /// Makes the queues that ask for an output of a router due by `time`, if they ask by then.
    #[inline(always)]
    pub(super) fn wake_requesters(
        &mut self,
        rules: &FlitRules,
        (number, router): (u32, &RouterLayout),
        output: usize,
        time: Tick,
    ) {
        let first_word = (router.first_output as usize + output) * rules.words;
        let first_queue = rules.first_queue(router);
        for word in 0..rules.words {
            for bit in bits(self.requests[first_word + word]) {
                let queue = first_queue + word * 64 + bit;
                let FlitQueue { input, again, .. } = self.queues[queue];
                let port = (number, router.first_input + u32::from(input));
                self.wake_times.lower(queue, port, time.max(again));
            }
        }
    }
}

impl FlitRouterView<'_, '_> {
    /// Simulates the router before `until`, or until its terminals have something to do that cannot
    /// wait. Returns a lower bound of the time of its next event. Whether stalls are counted and
    /// whether links send again is known at compile time.
    pub(super) fn run<const COUNTS_STALLS: bool, const RESENDS: bool>(
        &mut self,
        until: Tick,
    ) -> Tick {
        self.until = until;
        // The latest instant at which links were served.
        let mut served = NEVER;
        let mut last = None;
        let left = loop {
            let (request_time, due) = self.next_switch_requests();
            let wake = self.state.wake_times.first(self.number);
            let links_due = if RESENDS { self.links_due() } else { NEVER };
            let now = request_time.min(wake).min(links_due);
            if now >= until {
                break until;
            }
            if COUNTS_STALLS {
                self.count_stalls(now);
            }
            if RESENDS && links_due == now && served != now {
                self.serve_links(now);
                served = now;
                continue;
            }
            if wake == now {
                self.advance_due_vcs(now);
                // Queues may have become active.
                continue;
            }
            if RESENDS && request_time > now {
                // No flit has taken along what is to be acknowledged.
                self.acknowledge(now);
                continue;
            }
            if due & self.uncontended != 0 {
                self.advance_some(due, now);
                continue;
            }
            if COUNTS_STALLS {
                self.note_due(now);
            }
            self.send::<RESENDS>(due, now);
            if COUNTS_STALLS {
                self.note_senders(now);
            }
            last = Some(now);
            if self.common.to_hosts.is_urgent() {
                break now + 1;
            }
        };
        if let Some(last) = last {
            self.common.latest = self.common.latest.max(self.time(last));
        }
        self.advance_all(left);
        if RESENDS {
            self.state.wake_times.lower_router(self.number, self.links_due());
        }
        let request_time = self.state.next_switch_request(self.rules, self.number);
        request_time.min(self.state.wake_times.first(self.number))
    }

    /// Advances the queues that are due at an instant, and grants virtual channels.
    #[inline(never)]
    fn advance_due_vcs(&mut self, now: Tick) {
        let router = (self.number, &self.router);
        let count = self.state.wake_times.take_due(now, router, &mut self.scratch.due_queues);
        let is_alone = count == 1;
        for number in 0..count {
            let queue = self.scratch.due_queues[number];
            let open = self.advance_vc(queue as usize, now);
            if open == 0 {
                continue;
            }
            if is_alone {
                return self.accept_first(queue as usize, open, now);
            }
            let output = self.queue(queue as usize).output.into();
            self.scratch.vc_requests.push(VcRequest { queue, output, open });
        }
        if self.scratch.has_vc_requests() {
            self.allocate_vcs(now);
        }
    }

    /// Advances an inactive queue: routes its head, or requests a virtual channel. Returns the
    /// virtual channels of its output that are open to it. If that is not possible yet, sets its
    /// wake time.
    #[inline(always)]
    fn advance_vc(&mut self, queue: usize, now: Tick) -> u16 {
        let FlitQueue { vc_state, in_vc, .. } = *self.queue(queue);
        match vc_state {
            VcState::Idle | VcState::Active => 0,
            VcState::Routing if self.rules.is_of_trees(in_vc) => self.advance_on_tree(queue, now),
            VcState::Routing => self.compute_route(queue, now),
            VcState::Deciding => self.decide_then_ask(queue, now),
            VcState::VcAlloc => self.request_vc(queue, now),
        }
    }

    /// Sets the earliest time at which an inactive queue may progress.
    #[inline(always)]
    pub(super) fn set_due(&mut self, queue: usize, time: Tick) {
        let (input, _) = self.place(queue);
        let input = self.router.first_input + fitted!(input, u32);
        self.state.wake_times.set(self.first_queue + queue, (self.number, input), time);
    }

    #[inline(always)]
    pub(super) fn queue(&mut self, queue: usize) -> &mut FlitQueue {
        &mut self.state.queues[self.first_queue + queue]
    }

    /// The queue of an active virtual channel.
    #[inline(always)]
    pub(super) fn active_queue(&self, place: usize) -> &FlitQueue {
        &self.state.queues[self.state.active_vcs[place] as usize]
    }

    #[inline(always)]
    pub(super) fn output(&mut self, output: usize) -> &mut FlitOutput {
        &mut self.state.outputs[self.router.first_output as usize + output]
    }

    /// The constant fields of an output.
    #[inline(always)]
    pub(super) fn output_port(&self, output: usize) -> &port::Output {
        self.ports.output_of(&self.router, output)
    }

    /// The constant fields of an input port.
    #[inline(always)]
    pub(super) fn input_port(&self, input: usize) -> &port::Input {
        self.ports.input_of(&self.router, input)
    }

    /// The input port and the virtual channel of a queue.
    #[inline(always)]
    pub(super) fn place(&self, queue: usize) -> (usize, u8) {
        let FlitQueue { input, in_vc, .. } = self.state.queues[self.first_queue + queue];
        (input.into(), in_vc)
    }

    /// The place of an output's virtual channel.
    #[inline(always)]
    pub(super) fn vc(&mut self, output: usize, vc: u8) -> usize {
        self.output(output).vcs as usize + usize::from(vc)
    }

    /// The time that a flit takes on the crossbar to an output.
    #[inline(always)]
    pub(super) fn crossbar(&self, output: usize) -> Tick {
        self.rules.paces[usize::from(self.output_port(output).timing)].crossbar
    }

    #[inline(always)]
    pub(super) fn time(&self, tick: Tick) -> Picoseconds {
        self.common.time(tick)
    }

    /// Makes the queues that ask for an output due by `time`, if they ask by then.
    #[inline(always)]
    pub(super) fn wake_requesters(&mut self, output: usize, time: Tick) {
        self.state.wake_requesters(self.rules, (self.number, &self.router), output, time);
    }

    /// The terminal of an ejection channel, by its number in the part.
    pub(super) fn terminal(&self, output: usize) -> u32 {
        let channels = self.common.context.parameters.ejection_channels;
        self.router.terminal_at(fitted!(output, u32), channels)
    }

    /// Where the head of a buffer may go.
    #[inline(always)]
    pub(super) fn next_hop(&self, head: Head) -> NextHop {
        self.common.routing.next_hop(&self.common.context, &self.common.packets, head)
    }

    /// Updates a packet whose header has been sent to the next router, on a virtual channel.
    pub(super) fn go_on(&mut self, (output, vc): (usize, u8), slot: u32, now: Tick) {
        let packet = &mut self.common.packets.packets[slot as usize];
        if self.common.trace.is_some() {
            let channel = self.first_channel + self.router.first_output + fitted!(output, u32);
            let epoch = self.common.schedule.epoch;
            note(&mut self.common.trace, packet, (epoch, now), channel);
        }
        if self.rules.is_of_trees(vc) {
            self.common.packets.origins[slot as usize].hops += 1;
        } else {
            let Common { routing, packets, context, .. } = &mut *self.common;
            routing.go_on(context, packets, slot, self.name);
        }
    }
}
