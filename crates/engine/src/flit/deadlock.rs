//! The search for deadlocks with links shared flit by flit: queues that wait for each other for
//! good.
//!
//! * A packet that asks for virtual channels waits for their holders, or for room in the queues
//!   behind them.
//! * A packet that holds a virtual channel waits for a credit or for its next flit. Only the queues
//!   at the other end can give the credit; only the queue with the flit can send it.
//!
//! If a queue waits for several others, any of them may free it.

use super::FlitRouters;
use super::flit_queue::{FlitQueue, VcState};
use super::output_vc::OutputVc;
use crate::deadlock::Buffer;
use crate::next_hop::Routing;
use crate::part::Part;
use crate::ports::{AWAY, Output, RouterLayout, place};
use crate::set::bits;
use crate::tick::Tick;
use crate::{Engine, Observer, Switching};
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;
use flitlab_model::{Lack, Waiting};

impl FlitRouters {
    /// Number of queues.
    pub(crate) fn queue_count(&self) -> usize {
        self.state.queues.len()
    }

    /// The queues of an input virtual channel of a part that have flits.
    fn filled(&self, part: usize, input_vc: u32) -> impl Iterator<Item = Buffer> {
        let first = input_vc * self.rules.outputs;
        let queues = first..first + self.rules.outputs;
        queues
            .filter(|&queue| !self.state.queues[queue as usize].flits.is_empty())
            .map(move |queue| (part, queue))
    }

    /// Whether an input virtual channel of a part holds arrived flits of a packet.
    pub(crate) fn has_packet(
        &self,
        here: &Part<'_>,
        input_vc: u32,
        id: (u32, u32),
        now: Tick,
    ) -> bool {
        let slot = |slot: u32| (slot != NONE).then_some(slot);
        let packets = &here.packets.packets;
        self.filled(0, input_vc).any(|(_, queue)| {
            let state = &self.state.queues[queue as usize];
            let mut behind =
                std::iter::successors(slot(state.head), |&at| slot(packets[at as usize].next));
            let is_sent = state.vc_state == VcState::Active && (state.source, state.sequence) == id;
            state.flits.front(&self.state.times) <= now
                && (is_sent
                    || behind.any(|at| {
                        let packet = &packets[at as usize];
                        (packet.source, packet.sequence) == id
                    }))
        })
    }

    /// The requests of a queue's packet: output, virtual channel, and the flits of room that it
    /// needs there.
    fn requests_of(&self, here: &Part<'_>, queue: &FlitQueue) -> Vec<(u32, u8, u32)> {
        let (output, need) = (u32::from(queue.output), u32::from(queue.need));
        if queue.vc_state == VcState::Active {
            return vec![(output, queue.vc, 1)];
        }
        if queue.options == 0 {
            let vcs = bits(queue.vcs);
            return vcs.map(|vc| (output, narrow::<u8>(vc), need)).collect();
        }
        if let Routing::Relation(relation) = &here.routing {
            let hops = relation.hops_of_list(queue.held).iter();
            let need = |hop| here.context.need_by(hop, queue.need, queue.left).into();
            return hops.map(|hop| (u32::from(hop.port), hop.vc, need(hop))).collect();
        }
        let adaptive = here.context.channels.adaptive;
        let options = bits(queue.options).map(|port| (narrow::<u32>(port), adaptive, need));
        // The most that its escape can need. A cycle that is found with less is none.
        let least = u32::from(queue.left);
        std::iter::once((output, queue.vc, least)).chain(options).collect()
    }
}

impl Part<'_> {
    /// The router of a part's input virtual channel, and its number.
    pub(super) fn router_of_input_vc(&self, input_vc: u32) -> (u32, &RouterLayout) {
        let input = input_vc >> self.ports.size.shift;
        let place = self.ports.routers.partition_point(|router| router.first_input <= input);
        (narrow::<u32>(place - 1), &self.ports.routers[place - 1])
    }
}

impl<O: Observer> Engine<'_, O> {
    fn flits(&self, part: usize) -> &FlitRouters {
        self.parts[part].part.flits.as_ref().expect("links are shared flit by flit")
    }

    /// The queues of which one has to move before this one can; empty if it may move without.
    pub(crate) fn flits_wait_for(&self, flits: &FlitRouters, (part, queue): Buffer) -> Vec<Buffer> {
        let here = &self.parts[part].part;
        let state = &flits.state.queues[queue as usize];
        let input_vc = queue / flits.rules.outputs;
        let has_flit = !state.flits.is_empty();
        let front = || here.time(state.flits.front(&flits.state.times));
        match state.vc_state {
            VcState::Idle | VcState::Deciding => Vec::new(),
            VcState::Routing if self.context.parameters.switching != Switching::StoreAndForward => {
                Vec::new()
            }
            VcState::Routing => {
                let flits_of_it = here.packets.packets[state.head as usize].flits;
                let all_there = state.flits.len() >= u32::from(flits_of_it);
                if all_there { Vec::new() } else { self.upstream(flits, part, input_vc) }
            }
            VcState::Active if !has_flit => self.upstream(flits, part, input_vc),
            VcState::Active if front() > self.clock => Vec::new(),
            VcState::VcAlloc | VcState::Active => {
                let router = here.router_of_input_vc(input_vc);
                let mut waits = Vec::new();
                for (output, vc, need) in flits.requests_of(here, state) {
                    match self.blocked(part, router, (output, vc, need), queue) {
                        Some(by) => waits.extend(by),
                        None => return Vec::new(),
                    }
                }
                waits
            }
        }
    }

    /// The output for which the flits of an input virtual channel wait, and the input virtual
    /// channel that keeps them from it, if one does. That is the one at the far end if it has no
    /// room or is more than half full; or the one whose packet holds the virtual channel. `None` if
    /// no flits are there that could go on.
    pub(crate) fn flits_held_by(&self, (part, input_vc): Buffer) -> Option<(u32, Option<Buffer>)> {
        let here = &self.parts[part].part;
        let flits = self.flits(part);
        let now = here.schedule.tick(self.clock);
        let outputs = flits.rules.outputs;
        let (_, queue) = flits.filled(part, input_vc).find(|&(_, queue)| {
            let state = &flits.state.queues[queue as usize];
            state.flits.front(&flits.state.times) <= now
                && matches!(state.vc_state, VcState::VcAlloc | VcState::Active)
        })?;
        let (_, router) = here.router_of_input_vc(input_vc);
        let state = &flits.state.queues[queue as usize];
        let &(output, vc, need) = flits.requests_of(here, state).first()?;
        let first = (router.first_input << flits.rules.shift) * outputs;
        let output_port = router.first_output + output;
        let place = flits.state.outputs[output_port as usize].vcs + u32::from(vc);
        let held: &OutputVc = &flits.state.vcs[place as usize];
        let port = here.ports.output(output_port);
        let far = || self.far(port, vc);
        let waiting =
            |(part, queue): Buffer| self.flits(part).state.queues[queue as usize].flits.len();
        let is_full = |buffer| port.needs_room && 2 * far().map(waiting).sum::<u32>() > buffer;
        let next = if is_full(self.context.parameters.buffer) {
            far().next()
        } else if held.holder != NONE && first + held.holder != queue {
            Some((part, first + held.holder))
        } else if port.needs_room && held.room_from(need, &flits.state.times) > now {
            far().next()
        } else {
            None
        };
        Some((output_port, next.map(|(part, queue)| (part, queue / outputs))))
    }

    /// The queues that keep a queue's packet from a virtual channel of its router's output; `None`
    /// if nothing does for long.
    fn blocked(
        &self,
        part: usize,
        (number, router): (u32, &RouterLayout),
        (output, vc, need): (u32, u8, u32),
        queue: u32,
    ) -> Option<Vec<Buffer>> {
        let here = &self.parts[part].part;
        let flits = self.flits(part);
        let first = (router.first_input << flits.rules.shift) * flits.rules.outputs;
        let output_port = router.first_output + output;
        let place = flits.state.outputs[output_port as usize].vcs + u32::from(vc);
        let held: &OutputVc = &flits.state.vcs[place as usize];
        if held.holder != NONE && first + held.holder != queue {
            return Some(vec![(part, first + held.holder)]);
        }
        let port = here.ports.output(output_port);
        let takes_room = if held.holder == NONE {
            port.needs_room
        } else {
            // A packet that was cut takes room where other packets are swallowed.
            let router = (number, router);
            let place = flits.state.active_vc_of(&flits.rules, router, queue as usize);
            flits.state.active_vcs[place].needs_room
        };
        if !takes_room || held.due() >= need {
            return None;
        }
        Some(self.far(port, vc).collect())
    }

    /// The queues with flits at the far end of an output's virtual channel.
    fn far(&self, port: &Output, vc: u8) -> impl Iterator<Item = Buffer> {
        let part = port.far_part as usize;
        let far = &self.parts[part].part.ports;
        let router = &far.routers[port.far_router as usize];
        let input_vc = far.queue(router, u32::from(port.far_input_vc) + u32::from(vc));
        self.flits(part).filled(part, narrow::<u32>(input_vc))
    }

    /// The queues with the flits that a queue waits for and that are not under way.
    fn upstream(&self, flits: &FlitRouters, part: usize, input_vc: u32) -> Vec<Buffer> {
        let here = &self.parts[part].part;
        let (input, vc) = place(input_vc, flits.rules.shift);
        let input_port = here.ports.input(narrow::<u32>(input));
        if input_port.injects {
            let room = flits.state.vcs[input_port.upstream as usize + usize::from(vc)].due();
            return if room > 0 { Vec::new() } else { flits.filled(part, input_vc).collect() };
        }
        let (from, room) = if input_port.upstream & AWAY == 0 {
            (part, input_port.upstream)
        } else {
            let remote = here.ports.remote_upstreams[(input_port.upstream & !AWAY) as usize];
            (remote.part as usize, remote.room)
        };
        let place = room + u32::from(vc);
        let sender = &self.parts[from].part;
        let holder = self.flits(from).state.vcs[place as usize].holder;
        let (number, _) = sender.ports.senders[place as usize / self.context.vc_map.count()];
        let router = &sender.ports.routers[number as usize];
        let rules = &self.flits(from).rules;
        let first = (router.first_input << rules.shift) * rules.outputs;
        if holder == NONE { Vec::new() } else { vec![(from, first + holder)] }
    }

    /// The description of a queue in a cycle.
    pub(crate) fn flits_waiting(&self, flits: &FlitRouters, (part, queue): Buffer) -> Waiting {
        let here = &self.parts[part].part;
        let state = &flits.state.queues[queue as usize];
        let input_vc = queue / flits.rules.outputs;
        let (_, router) = here.router_of_input_vc(input_vc);
        let (output, vc, need) = match state.vc_state {
            VcState::Routing => (0, 0, 0),
            _ => flits.requests_of(here, state)[0],
        };
        let number = router.first_output + output;
        let place = flits.state.outputs[number as usize].vcs + u32::from(vc);
        let held = &flits.state.vcs[place as usize];
        let lacks = match state.vc_state {
            VcState::Routing => Lack::Flits,
            VcState::Active if state.flits.is_empty() => Lack::Flits,
            VcState::VcAlloc if held.holder != NONE => Lack::VirtualChannel,
            _ => Lack::Room { needed: need.max(1), free: held.due() },
        };
        let (source, sequence) = match state.vc_state {
            VcState::Routing => {
                let packet = &here.packets.packets[state.head as usize];
                (packet.source, packet.sequence)
            }
            _ => (state.source, state.sequence),
        };
        let ends = (source, self.destination_of(source, sequence));
        self.named(part, place_of(input_vc, flits), ends, number, lacks)
    }

    /// The destination terminal of a packet, wherever its header is.
    fn destination_of(&self, source: u32, sequence: u32) -> u32 {
        for (part, it) in self.parts.iter().enumerate() {
            let here = &it.part;
            let flits = self.flits(part);
            for (queue, state) in (0..).zip(&flits.state.queues) {
                let slot = |slot: u32| (slot != NONE).then_some(slot);
                let packets = &here.packets.packets;
                let behind =
                    std::iter::successors(slot(state.head), |&at| slot(packets[at as usize].next));
                let is_it = |&at: &u32| {
                    let packet = &packets[at as usize];
                    (packet.source, packet.sequence) == (source, sequence)
                };
                let own = slot(state.slot).filter(|_| state.vc_state != VcState::Idle);
                if let Some(found) = own.into_iter().chain(behind).find(is_it) {
                    let input_vc: u32 = queue / flits.rules.outputs;
                    let input = input_vc >> flits.rules.shift;
                    let input = input + self.context.cut.first_input(part);
                    let router = self.context.network.router_of_input[input as usize];
                    let packets = &here.packets;
                    return here.routing.destination(&self.context, packets, (router, found));
                }
            }
        }
        source
    }

    /// Whether the room and the flits of all queues add up.
    pub(crate) fn flit_credits_are_conserved(&self) -> bool {
        let parameters = &self.context.parameters;
        (0..self.parts.len()).all(|part| {
            let here = &self.parts[part].part;
            let flits = self.flits(part);
            let held =
                |(part, queue): Buffer| self.flits(part).state.queues[queue as usize].flits.len();
            let vcs = narrow::<u8>(self.context.vc_map.count());
            let outputs = (0..).zip(here.ports.outputs()).filter(|(_, port)| port.needs_room);
            let mut network = outputs.flat_map(|it| (0..vcs).map(move |vc| (it, vc)));
            let mut injections = (0..narrow::<u32>(flits.state.inputs.len()))
                .filter(|&input| here.ports.input(input).injects)
                .flat_map(|input| (0..vcs).map(move |vc| (input, vc)));
            network.all(|((output, port), vc): ((usize, &Output), u8)| {
                let place = flits.state.outputs[output].vcs as usize + usize::from(vc);
                let flits: u32 = self.far(port, vc).map(held).sum();
                flits + flits_due(self.flits(part), place) == parameters.buffer
            }) && injections.all(|(input, vc)| {
                let place = here.ports.input(input).upstream as usize + usize::from(vc);
                let input_vc = (input << flits.rules.shift) + u32::from(vc);
                let there: u32 = flits.filled(part, input_vc).map(held).sum();
                there + flits_due(flits, place) == parameters.injection_buffer
            })
        })
    }
}

fn flits_due(flits: &FlitRouters, place: usize) -> u32 {
    flits.state.vcs[place].due()
}

fn place_of(input_vc: u32, flits: &FlitRouters) -> (usize, u8) {
    place(input_vc, flits.rules.shift)
}
