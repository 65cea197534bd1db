//! Flits and credits that come to a router from others.

use super::FlitRouters;
use super::round_trips::Delay;
use super::router_view::FlitRouterView;
use super::states::VcState;
use crate::common::Common;
use crate::frame::exchange::HasEarliest;
use crate::frame::tick::{NEVER, Tick};
use crate::network::ports;
use crate::next_hop::answer::{Head, NextHop};
use crate::packet::PacketCrossing;
use crate::router::link::Notice;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

/// A flit on a cable between two parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlitCrossing {
    pub router: u32,
    pub input_vc: u32,
    pub time: Tick,
    /// Whether it is the header of the next packet in the list of packets that cross.
    pub is_header: bool,
}

/// What the routers of one part send those of another.
#[derive(Debug, Default)]
pub(crate) struct FlitMessages {
    /// Flits, in the order in which they were sent, and the packets of the headers among them.
    pub flits: Vec<FlitCrossing>,
    pub headers: Vec<PacketCrossing>,
    /// Credits: their places, and the times of their arrival.
    pub credits: Vec<(u32, Tick)>,
    /// Delays that come with credits, with the places of these.
    pub delays: Vec<(u32, Delay)>,
    /// Notices of links.
    pub notices: Vec<Notice>,
}

impl HasEarliest for FlitMessages {
    fn earliest(&self) -> Tick {
        let flits = self.flits.iter().map(|flit| flit.time);
        let notices = self.notices.iter().map(|notice| notice.time);
        let credits = self.credits.iter().map(|credit| credit.1);
        flits.chain(credits).chain(notices).min().unwrap_or(NEVER)
    }
}

impl FlitRouters {
    /// Takes in the flits and credits that another part has sent.
    pub(super) fn receive(&mut self, common: &mut Common<'_>, incoming: &mut FlitMessages) {
        let mut headers = incoming.headers.drain(..);
        for FlitCrossing { router, input_vc, time, is_header } in incoming.flits.drain(..) {
            let mut header = NONE;
            if is_header {
                let crossing = headers.next().expect("a packet for each header");
                header = common.packets.take_in(&crossing);
            }
            let first = self.ports.routers[router as usize].first_input << self.rules.shift;
            self.borrow(common, router).join(router, first + input_vc, &[time], header);
        }
        for notice in incoming.notices.drain(..) {
            self.take_notice(common, &notice);
        }
        for (place, delay) in incoming.delays.drain(..) {
            self.state.round_trips.tell(place, delay);
        }
        for (place, time) in incoming.credits.drain(..) {
            let state = &mut self.state;
            if state.vcs[place as usize].give_back(time, &mut state.times) {
                let vcs = common.context.vc_map.count();
                let (number, _) = self.ports.senders[place as usize / vcs];
                self.borrow(common, number).wake_sender(place, time);
            }
        }
    }
}

impl FlitRouterView<'_, '_> {
    /// Puts flits of a packet into a router of this part, at times after the end of its visit. The
    /// first flit is the header if the packet is given. The input virtual channel's number is that
    /// in the part.
    #[inline(always)]
    pub(super) fn join(&mut self, number: u32, input_vc: u32, times: &[Tick], header: u32) {
        let (_, vc) = ports::place(input_vc, self.ports.shift);
        if self.rules.outputs > 1 && header != NONE && !self.rules.is_of_trees(vc) {
            let output = self.next_output(number, input_vc, header);
            self.state.current[input_vc as usize] = output;
        }
        let queue = self.queue_of_input_vc(input_vc);
        let state = &mut self.state.queues[queue];
        if header != NONE {
            self.common.packets.packets[header as usize].next = NONE;
            let tail = std::mem::replace(&mut state.tail, header);
            if state.head == NONE {
                state.head = header;
            } else {
                self.common.packets.packets[tail as usize].next = header;
            }
            if state.vc_state == VcState::Idle {
                state.vc_state = VcState::Routing;
            }
        }
        let was_empty = state.flits.is_empty();
        for &time in times {
            state.flits.push(time, &mut self.state.times);
        }
        // A packet that lacks nothing else is due then anyway.
        match state.vc_state {
            // A packet that waits for its last flit is due at each flit, others at the first.
            VcState::Routing if was_empty || self.rules.awaits_all(state.in_vc) => {
                let front = state.flits.front(&self.state.times);
                let time = self.rules.asks_from(front, times[0], state.free_at, state.in_vc);
                let first = self.ports.routers[number as usize].first_input;
                let port = (number, first + u32::from(state.input));
                let due = self.state.wake_times.lower(queue, port, time);
                self.common.schedule.active.lower(number, due);
            }
            VcState::Active if was_empty => self.set_next_of(number, queue),
            _ => (),
        }
    }

    /// Computes the next switch request of an active queue after a flit or a credit has come that
    /// it waited for.
    #[inline(never)]
    fn set_next_of(&mut self, number: u32, queue: usize) {
        let place = self.state.queues[queue].active;
        let next = self.state.set_next(place as usize);
        self.common.schedule.active.lower(number, next);
    }

    /// The queue of the latest packet of an input virtual channel, by its number in the part.
    #[inline(always)]
    pub(super) fn queue_of_input_vc(&self, input_vc: u32) -> usize {
        let (input_vc, outputs) = (input_vc as usize, self.rules.outputs as usize);
        if outputs == 1 {
            input_vc
        } else {
            input_vc * outputs + usize::from(self.state.current[input_vc])
        }
    }

    /// The output by which a packet in an input virtual channel leaves the router.
    #[inline(never)]
    fn next_output(&self, number: u32, input_vc: u32, slot: u32) -> u16 {
        let (input, vc) = ports::place(input_vc, self.ports.shift);
        let input = fitted!(input, u32);
        let router = number + self.common.context.cut.first_router(self.part as usize);
        let head = Head { slot, router, input, vc, came: self.ports.input(input).came() };
        match self.next_hop(head) {
            NextHop::Output { output, .. } => output,
            _ => unreachable!("virtual output queues are for packets without a choice"),
        }
    }

    /// Makes a channel's sender due when a credit arrives that it waits for.
    #[cold]
    pub(super) fn wake_sender(&mut self, place: u32, time: Tick) {
        let (number, output) =
            self.ports.senders[place as usize / self.common.context.vc_map.count()];
        let holder = self.state.vcs[place as usize].holder;
        let router = self.ports.routers[number as usize];
        if holder != NONE {
            self.set_next_of(number, self.rules.first_queue(&router) + holder as usize);
        }
        self.state.wake_requesters(self.rules, (number, &router), output as usize, time);
        self.common.schedule.active.lower(number, time);
    }
}
