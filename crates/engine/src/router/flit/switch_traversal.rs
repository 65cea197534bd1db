//! Switch traversal: the second stage of a flit, which was granted the switch, and the effects of
//! that.

use super::arrivals::FlitCrossing;
use super::flit_queue::{FlitQueue, Upstream};
use super::round_trips::{Delay, Leaving};
use super::router_view::{FlitRouterView, MASKED};
use super::states::VcState;
use super::{FlitOutput, FlitState};
use crate::arbitration::{SentFlit, count_flit, counts_flits, pass_turn};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::network::context::Timing;
use crate::network::port;
use crate::network::port::AWAY;
use crate::packet::Delivery;
use crate::set::bits;
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::NONE;
use flitlab_model::ChannelKind;
use flitlab_model::{FlitSharing, Parameters};

/// The times of a flit from its grant on, by timing of its channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Time from a grant to the channel.
    crossing: Tick,
    /// Time for which a flit occupies the crossbar.
    pub crossbar: Tick,
    pub flit: Tick,
    wire: Tick,
    /// Maximum time from a grant until its channel is free.
    waits: Tick,
}

impl Pace {
    pub(super) fn new(timing: &Timing, parameters: &Parameters, sharing: &FlitSharing) -> Self {
        let &Timing { flit, wire, .. } = timing;
        let crossing = narrow::<Tick>(parameters.crossbar_latency + sharing.switch_allocation);
        let waits = crossing + sharing.output_buffer * flit;
        let crossbar = flit.div_ceil(parameters.crossbar_speedup);
        Self { crossing, crossbar, flit, wire, waits }
    }

    /// How long a flit waits behind the crossbar that is granted the switch at `now`.
    fn waits_for(&self, now: Tick, output: &FlitOutput) -> Tick {
        output.line.saturating_sub(now + self.crossing)
    }

    /// Sends a flit that is granted the switch at `now`. Returns the time until which it occupies
    /// the crossbar, and the time of its arrival at the far end.
    #[inline(always)]
    pub(super) fn pass(&self, now: Tick, output: &mut FlitOutput) -> (Tick, Tick) {
        let starts = output.line.max(now + self.crossing);
        output.line = starts + self.flit;
        let taken = now + self.crossbar;
        output.soonest = taken.max(output.line.saturating_sub(self.waits));
        (taken, starts + self.wire)
    }
}

impl FlitRouterView<'_, '_> {
    /// Sends the next flit of an active virtual channel, which was granted the switch in the first
    /// round of offers or later. Returns whether further flits may go before the end of the visit.
    #[inline(always)]
    pub(super) fn emit<const RESENDS: bool>(
        &mut self,
        place: usize,
        in_first_round: bool,
        now: Tick,
    ) -> bool {
        let queue = self.state.active_vcs[place] as usize;
        let counts_flits = counts_flits(self.rules.arbitration);
        if counts_flits {
            self.count_flit(queue);
        }
        let time = self.time(now);
        let measures = self.state.round_trips.are_measured();
        let freed = if measures { self.hold_back(queue, now) } else { now };
        let FlitState { inputs, outputs, queues, vcs, times, .. } = &mut *self.state;
        let own = &mut queues[queue];
        let left = own.left - 1;
        own.left = left;
        let pace = &self.rules.paces[usize::from(own.timing)];
        let (input_port, output_port) =
            (&mut inputs[own.input_port as usize], &mut outputs[own.output_port as usize]);
        output_port.waiting -= 1;
        pass_turn(
            (own.input, own.of_port, own.output),
            (&mut input_port.turn, &mut output_port.turn),
            (in_first_round, counts_flits),
        );
        let (taken, arrives) = pace.pass(now, output_port);
        let crossbar = pace.crossbar;
        input_port.free_at = taken;
        let soonest = output_port.soonest;
        let shares_none = input_port.senders == 1 && output_port.senders == 1;
        own.flits.pop();
        let came = if own.flits.is_empty() { NEVER } else { own.flits.front(times) };
        let mut credit = 0;
        if own.needs_room {
            let vc = &mut vcs[own.held.place()];
            vc.take(now, times);
            if came != NEVER && left > 0 {
                credit = vc.next_credit(times);
            }
        }
        let next = came.max(credit).max(soonest);
        self.common.digest.add_marked(time, own.mark);
        self.common.statistics.flits[own.counted as usize] += 1;
        if self.common.statistics.counts_classes() {
            self.common.statistics.count_class(own.output_port, 1, own.class);
        }
        let Upstream { place: upstream, back, .. } = own.upstream;
        // A sender in another part has to be told of each credit.
        let upstream = vcs.get_mut(upstream as usize);
        let awaited = upstream.is_none_or(|vc| vc.give_back(freed + back, times));
        // Most flits are under way now, and no queue waits for them.
        let far = own.far;
        let is_sent = match queues.get_mut(far as usize) {
            Some(far) if !far.flits.is_empty() => {
                far.flits.push(arrives, times);
                true
            }
            _ => false,
        };
        let (of_input, of_output) = (input_port.active, output_port.active);
        self.state.request_times[place] = next;
        if !shares_none {
            self.put_off(place, (of_input, taken), (of_output, soonest));
        }
        if awaited {
            self.tell_sender(queue, freed);
        }
        if RESENDS && !self.state.queues[queue].leaves {
            self.transmit(queue, now, arrives);
        } else if !is_sent {
            self.hand_over(queue, now, arrives);
        }
        if left == 0 {
            self.end(place, taken);
        }
        left > 1 && next < self.until.saturating_sub(crossbar)
    }

    /// When the room of an active queue's next flit counts as free, which is granted the switch at
    /// `now`.
    #[inline(never)]
    fn hold_back(&mut self, queue: usize, now: Tick) -> Tick {
        let own = self.state.queues[queue];
        let FlitState { round_trips, times, outputs, .. } = &mut *self.state;
        if own.needs_room {
            let pace = &self.rules.paces[usize::from(own.timing)];
            round_trips
                .send(own.held.place(), pace.waits_for(now, &outputs[own.output_port as usize]));
        }
        let Upstream { place: upstream, back, injects } = own.upstream;
        if injects || upstream == NONE {
            return now;
        }
        let vcs = self.rules.vcs;
        let leaving = Leaving {
            input: own.input_port,
            vc: own.in_vc,
            channel: own.needs_room.then(|| fitted!(own.held.place(), u32) / vcs),
            waited: now.saturating_sub(own.flits.front(times) + self.rules.routing),
        };
        let first = self.router.first_output as usize;
        let outputs = &self.ports.output_ports[first..][..usize::from(self.router.outputs)];
        let outputs = outputs.iter().filter(|output| output.needs_room);
        let (until, delay) = round_trips.hold(leaving, outputs.map(|it| it.room / vcs), now);
        let delay = Delay { time: until + back, delay };
        if upstream & AWAY == 0 {
            round_trips.tell(upstream, delay);
        } else {
            let remote = self.ports.remote_upstreams[(upstream & !AWAY) as usize];
            let place = remote.room + u32::from(own.in_vc);
            self.outgoing[remote.part as usize].delays.push((place, delay));
        }
        until
    }

    /// Postpones the requests of active virtual channels that share ports with one that has sent a
    /// flit: its input port is busy until `taken`, and its output until `soonest`, which is not
    /// earlier.
    #[inline(always)]
    fn put_off(
        &mut self,
        place: usize,
        (of_input, taken): (u64, Tick),
        (of_output, soonest): (u64, Tick),
    ) {
        let put_off = |next: &mut Tick, free: Tick| *next = free.max(*next);
        let first = self.first_active_vc;
        let others = !self.bit(place);
        for number in bits(of_input & others) {
            put_off(&mut self.state.request_times[first + number], taken);
        }
        for number in bits(of_output & others) {
            put_off(&mut self.state.request_times[first + number], soonest);
        }
        let &FlitQueue { input_port, output_port, .. } = self.active_queue(place);
        for other in self.active_vcs().skip(MASKED) {
            let &FlitQueue { input_port: input, output_port: output, .. } =
                self.active_queue(other);
            if output == output_port {
                put_off(&mut self.state.request_times[other], soonest);
            } else if input == input_port {
                put_off(&mut self.state.request_times[other], taken);
            }
        }
    }

    /// Counts the next flit of an active queue, for an arbitration that counts them.
    #[inline(never)]
    pub(super) fn count_flit(&mut self, queue: usize) {
        let FlitQueue { output_port, vc, left, .. } = self.state.queues[queue];
        let output = output_port as usize;
        let turns = (&mut self.state.outputs[output].turn, self.state.priorities.get_mut(output));
        let flit = SentFlit { vc, vcs: self.rules.vcs as usize, is_last: left == 1 };
        count_flit(turns, &self.rules.sharing, flit);
    }

    /// Hands over a flit that is its packet's header or last flit, or whose arrival has to be told.
    fn hand_over(&mut self, queue: usize, now: Tick, arrives: Tick) {
        let own = &self.state.queues[queue];
        let output = usize::from(own.output);
        if own.has_header() {
            self.send_header(queue, now, arrives);
        } else if !own.leaves {
            self.pass_on(output, own.vc, &[arrives], NONE);
        } else if own.left == 0 {
            let &FlitQueue { slot, in_vc: vc, .. } = own;
            let time = self.time(arrives);
            let mut terminal = NONE;
            if self.output_port(output).dead {
                let Common { routing, context, packets, .. } = &mut *self.common;
                routing.swallow(context, packets, (self.name, slot));
            } else {
                terminal = self.terminal(output);
            }
            self.common.to_hosts.deliveries.push(Delivery { time, slot, terminal, vc });
        }
    }

    /// Hands over the header of an active queue to the next router.
    #[inline(always)]
    fn send_header(&mut self, queue: usize, now: Tick, arrives: Tick) {
        let own = &mut self.state.queues[queue];
        let (output, out_vc) = (usize::from(own.output), own.vc);
        let header = std::mem::replace(&mut own.slot, NONE);
        self.go_on((output, out_vc), header, now);
        self.pass_on(output, out_vc, &[arrives], header);
        let &port::Output { far_part, .. } = self.output_port(output);
        // A queue that waits for its packet's last flit has to be told of each flit.
        if far_part == self.part && !self.rules.awaits_all(out_vc) {
            let input_vc = self.output(output).far + u32::from(out_vc);
            self.state.queues[queue].far = fitted!(self.queue_of_input_vc(input_vc), u32);
        }
    }

    /// Hands over flits to another router, with their packet if the first is the header.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, output: usize, out_vc: u8, times: &[Tick], header: u32) {
        let &port::Output { far_part, far_router, far_input, .. } = self.output_port(output);
        if far_part == self.part {
            let far = self.output(output).far;
            return self.join(far_router, far + u32::from(out_vc), times, header);
        }
        let input_vc = (u32::from(far_input) << self.ports.shift) + u32::from(out_vc);
        let outgoing = &mut self.outgoing[far_part as usize];
        if header != NONE {
            outgoing.headers.push(self.common.packets.take_away(header));
        }
        let mut is_header = header != NONE;
        for &time in times {
            outgoing.flits.push(FlitCrossing { router: far_router, input_vc, time, is_header });
            is_header = false;
        }
    }

    /// Returns the credit of a flit whose room counts as free from `now` on, where the sender is in
    /// another part or waits for the credit.
    #[cold]
    pub(super) fn tell_sender(&mut self, queue: usize, now: Tick) {
        let FlitQueue { input_port, in_vc: vc, upstream, .. } = self.state.queues[queue];
        let Upstream { place: upstream, back, injects } = upstream;
        if upstream == NONE {
            // Nobody gets credits for what leaves a reduction unit.
            return;
        }
        let time = now + back;
        if upstream & AWAY != 0 {
            let remote = self.ports.remote_upstreams[(upstream & !AWAY) as usize];
            self.outgoing[remote.part as usize].credits.push((remote.room + u32::from(vc), time));
        } else if injects {
            let channels = self.common.context.parameters.injection_channels;
            let of_router = input_port - self.router.first_input - u32::from(self.router.transit);
            self.common
                .to_hosts
                .fed
                .push((self.router.first_terminal * channels + of_router, time));
        } else {
            self.wake_sender(upstream, time);
        }
    }

    /// Ends a packet, whose last flit was granted the switch: frees its virtual channel, and lets
    /// the packet behind it go on.
    #[inline(always)]
    fn end(&mut self, place: usize, free_at: Tick) {
        let number = self.state.active_vcs[place] as usize;
        let FlitState { queues, vcs, inputs, outputs, times, wake_times, .. } = &mut *self.state;
        let behind = &mut queues[number];
        let (input, output) = (behind.input_port, behind.output.into());
        inputs[input as usize].senders -= 1;
        outputs[behind.output_port as usize].senders -= 1;
        let vc = &mut vcs[behind.held.place()];
        (vc.free_at, vc.holder) = (free_at, NONE);
        (behind.free_at, behind.slot, behind.vc_state) = (free_at, NONE, VcState::Idle);
        if behind.head != NONE {
            behind.vc_state = VcState::Routing;
            // If it has no flit, the next one makes the queue due.
            if !behind.flits.is_empty() {
                let next =
                    self.rules.asks_from(behind.flits.front(times), 0, free_at, behind.in_vc);
                wake_times.set(number, (self.number, input), next);
            }
        }
        let is_of_unit = behind.upstream.place == NONE;
        self.retire(place);
        self.wake_requesters(output, free_at);
        if is_of_unit {
            self.leave_unit(number, free_at);
        }
    }
}

/// Whether an output leads out of the network.
pub(super) fn leaves(port: &port::Output) -> bool {
    port.kind != ChannelKind::Network || port.dead
}
