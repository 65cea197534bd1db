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
use super::credits::OutputVc;
use super::failure::{chain, id_of};
use super::flit_queue::FlitQueue;
use super::states::VcState;
use crate::common::Common;
use crate::network::port::AWAY;
use crate::network::ports::{RouterLayout, place};
use crate::part::Part;
use crate::router::asks::{Asks, HeadRequests, OutputRequest};
use crate::router::{AllParts, Buffer, PacketId, Waits};
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;
use flitlab_model::{Lack, Waiting};

type Parts<'a, 'f> = AllParts<'a, 'f, FlitRouters>;

impl Waits for FlitRouters {
    fn buffers(&self) -> usize {
        self.state.queues.len()
    }

    fn waits_for(parts: &Parts<'_, '_>, (part, queue): Buffer) -> Vec<Buffer> {
        let Part { common, routers: flits, .. } = parts.part(part);
        let state = &flits.state.queues[queue as usize];
        let input_vc = queue / flits.rules.outputs;
        let has_flit = !state.flits.is_empty();
        let front = || common.time(state.flits.front(&flits.state.times));
        match state.vc_state {
            VcState::Idle | VcState::Deciding => Vec::new(),
            // What a reduction unit does with it waits for nothing for good.
            VcState::Routing if flits.rules.is_of_trees(state.in_vc) => Vec::new(),
            VcState::Routing => {
                let lacks_flits = flits.rules.forwards_whole
                    && state.flits.len() < common.packets.packets[state.head as usize].flits.into();
                if lacks_flits { Self::upstream(parts, part, input_vc) } else { Vec::new() }
            }
            VcState::Active if !has_flit => Self::upstream(parts, part, input_vc),
            VcState::Active if front() > parts.clock => Vec::new(),
            VcState::VcAlloc | VcState::Active => {
                let (_, router) = flits.ports.router_of(input_vc);
                let mut waits = Vec::new();
                for (output, vc, need) in flits.requests_of(common, state) {
                    match Self::blocked(parts, part, router, (output, vc, need), queue) {
                        Some(by) => waits.extend(by),
                        None => return Vec::new(),
                    }
                }
                waits
            }
        }
    }

    fn waiting(parts: &Parts<'_, '_>, (part, queue): Buffer) -> Waiting {
        let Part { common, routers: flits, .. } = parts.part(part);
        let state = &flits.state.queues[queue as usize];
        let input_vc = queue / flits.rules.outputs;
        let (_, router) = flits.ports.router_of(input_vc);
        let (output, vc, need) = match state.vc_state {
            VcState::Routing => (0, 0, 0),
            _ => flits.requests_of(common, state)[0],
        };
        let number = router.first_output + output;
        let held = flits.output_vc(number, vc);
        let lacks = match state.vc_state {
            VcState::Routing => Lack::Flits,
            VcState::Active if state.flits.is_empty() => Lack::Flits,
            VcState::VcAlloc if held.holder != NONE => Lack::VirtualChannel,
            _ => Lack::Room { needed: need.max(1), free: held.due() },
        };
        let packet = match state.vc_state {
            VcState::Routing => id_of(&common.packets, state.head),
            _ => (state.source, state.sequence),
        };
        let ends = (packet.0, Self::destination_of(parts, packet));
        parts.named(part, place(input_vc, flits.rules.shift), ends, number, lacks)
    }

    fn flits_held(parts: &Parts<'_, '_>, (part, input_vc): Buffer) -> u32 {
        let routers = parts.routers(part);
        let filled = routers.filled(part, input_vc);
        filled.map(|(_, queue)| routers.state.queues[queue as usize].flits.len()).sum()
    }

    fn waits_in(parts: &Parts<'_, '_>, (part, input_vc): Buffer, id: PacketId) -> bool {
        let Part { common, routers: flits, .. } = parts.part(part);
        let now = common.schedule.tick(parts.clock);
        flits.filled(0, input_vc).any(|(_, queue)| {
            let state = &flits.state.queues[queue as usize];
            let is_sent = state.vc_state == VcState::Active && (state.source, state.sequence) == id;
            let mut behind = chain(&common.packets, state.head);
            state.flits.front(&flits.state.times) <= now
                && (is_sent || behind.any(|slot| id_of(&common.packets, slot) == id))
        })
    }

    fn held_by(parts: &Parts<'_, '_>, (part, input_vc): Buffer) -> Option<(u32, Option<Buffer>)> {
        let Part { common, routers: flits, .. } = parts.part(part);
        let now = common.schedule.tick(parts.clock);
        let outputs = flits.rules.outputs;
        let (_, queue) = flits.filled(part, input_vc).find(|&(_, queue)| {
            let state = &flits.state.queues[queue as usize];
            state.flits.front(&flits.state.times) <= now
                && matches!(state.vc_state, VcState::VcAlloc | VcState::Active)
        })?;
        let (_, router) = flits.ports.router_of(input_vc);
        let state = &flits.state.queues[queue as usize];
        let &(output, vc, need) = flits.requests_of(common, state).first()?;
        let output_port = router.first_output + output;
        let held = flits.output_vc(output_port, vc);
        let port = flits.ports.output(output_port);
        let far = || Self::far(parts, part, (output_port, vc));
        let waiting =
            |(part, queue): Buffer| parts.routers(part).state.queues[queue as usize].flits.len();
        let is_full = |buffer| port.needs_room && 2 * far().map(waiting).sum::<u32>() > buffer;
        let next = if is_full(parts.context.parameters.buffer) {
            far().next()
        } else if let Some(holder) = flits.holder(router, held).filter(|&it| it != queue) {
            Some((part, holder))
        } else if port.needs_room && held.room_from(need, &flits.state.times) > now {
            far().next()
        } else {
            None
        };
        Some((output_port, next.map(|(part, queue)| (part, queue / outputs))))
    }
}

impl FlitRouters {
    /// The queues of an input virtual channel of a part that have flits.
    fn filled(&self, part: usize, input_vc: u32) -> impl Iterator<Item = Buffer> {
        let first = input_vc * self.rules.outputs;
        let queues = first..first + self.rules.outputs;
        queues
            .filter(|&queue| !self.state.queues[queue as usize].flits.is_empty())
            .map(move |queue| (part, queue))
    }

    /// The requests of a queue's packet: output, virtual channel, and the flits of room that it
    /// needs there.
    fn requests_of(&self, common: &Common<'_>, queue: &FlitQueue) -> Vec<(u32, u8, u32)> {
        if queue.vc_state == VcState::Active {
            return vec![(queue.output.into(), queue.vc, 1)];
        }
        let asks = match queue.chooses {
            false => Asks::One,
            true if common.routing.is_by_relation() => Asks::Hops(queue.held.list()),
            true => Asks::Torus { ports: queue.options, escape: queue.output },
        };
        let head = HeadRequests {
            first_output: 0,
            asks,
            output: queue.output,
            vcs: if queue.chooses { 1 << queue.vc } else { queue.vcs },
            need: queue.need,
            flits: queue.left,
            // Perhaps a bubble besides: then it is not found to wait.
            of_escape: self.rules.needed(queue.left, 0),
        };
        let requests = head.list(common).into_iter();
        requests.map(|OutputRequest { output, vc, need }| (output, vc, need)).collect()
    }

    /// The state of an output's virtual channel.
    fn output_vc(&self, output: u32, vc: u8) -> &OutputVc {
        let first = self.state.outputs[output as usize].vcs;
        &self.state.vcs[first as usize + usize::from(vc)]
    }

    /// The queue that holds a virtual channel of a router's output.
    fn holder(&self, router: &RouterLayout, held: &OutputVc) -> Option<u32> {
        let first = narrow::<u32>(self.rules.first_queue(router));
        (held.holder != NONE).then(|| first + held.holder)
    }

    /// The queues that keep a queue's packet from a virtual channel of its router's output; `None`
    /// if nothing does for long.
    fn blocked(
        parts: &Parts<'_, '_>,
        part: usize,
        router: &RouterLayout,
        (output, vc, need): (u32, u8, u32),
        queue: u32,
    ) -> Option<Vec<Buffer>> {
        let flits = parts.routers(part);
        let output_port = router.first_output + output;
        let held = flits.output_vc(output_port, vc);
        if let Some(holder) = flits.holder(router, held).filter(|&it| it != queue) {
            return Some(vec![(part, holder)]);
        }
        let port = flits.ports.output(output_port);
        let takes_room = if held.holder == NONE {
            port.needs_room
        } else {
            // A packet that was cut takes room where other packets are swallowed.
            flits.state.queues[queue as usize].needs_room
        };
        if !takes_room || held.due() >= need {
            return None;
        }
        Some(Self::far(parts, part, (output_port, vc)).collect())
    }

    /// The queues with flits at the far end of a virtual channel of a part's output.
    fn far<'a>(
        parts: &Parts<'a, '_>,
        part: usize,
        (output, vc): (u32, u8),
    ) -> impl Iterator<Item = Buffer> + use<'a> {
        let (far, input_vc) = parts.far_end(part, output, vc);
        parts.routers(far).filled(far, input_vc)
    }

    /// The queues with the flits that a queue waits for and that are not under way.
    fn upstream(parts: &Parts<'_, '_>, part: usize, input_vc: u32) -> Vec<Buffer> {
        let flits = parts.routers(part);
        let (input, vc) = place(input_vc, flits.rules.shift);
        let input_port = flits.ports.input(narrow::<u32>(input));
        if input_port.injects {
            let room = flits.state.vcs[input_port.upstream as usize + usize::from(vc)].due();
            return if room > 0 { Vec::new() } else { flits.filled(part, input_vc).collect() };
        }
        let (from, room) = if input_port.upstream & AWAY == 0 {
            (part, input_port.upstream)
        } else {
            let remote = flits.ports.remote_upstreams[(input_port.upstream & !AWAY) as usize];
            (remote.part as usize, remote.room)
        };
        let place = room + u32::from(vc);
        let sender = parts.routers(from);
        let (number, _) = sender.ports.senders[place as usize / parts.context.vc_map.count()];
        let router = &sender.ports.routers[number as usize];
        let holder = sender.holder(router, &sender.state.vcs[place as usize]);
        holder.into_iter().map(|holder| (from, holder)).collect()
    }

    /// The destination terminal of a packet, wherever its header is.
    fn destination_of(parts: &Parts<'_, '_>, packet: PacketId) -> u32 {
        for (part, &Part { common, routers: flits, .. }) in parts.parts.iter().enumerate() {
            for queue in 0..flits.state.queues.len() {
                let slots = flits.packets_of(&common.packets, queue);
                let found = slots.into_iter().find(|&slot| id_of(&common.packets, slot) == packet);
                if let Some(slot) = found {
                    let input_vc = narrow::<u32>(queue) / flits.rules.outputs;
                    let (number, _) = flits.ports.router_of(input_vc);
                    let router = parts.context.cut.first_router(part) + number;
                    return common.destination(router, slot);
                }
            }
        }
        packet.0
    }
}
