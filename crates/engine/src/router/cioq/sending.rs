//! Packets that are sent from the buffers of outputs, on channels that are granted to one at a time.

use super::visit::Visited;
use super::{CioqRouters, Hops, Queued};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::network::port::Output;
use crate::packet::{Delivery, Packet, last_start};
use crate::router::between_parts::BetweenParts;
use crate::router::cioq::room::Leaving;
use crate::router::injector::Injector;
use crate::trace::note;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

impl CioqRouters {
    /// Lets the channels of a router send that are due.
    pub(super) fn send_all(&mut self, common: &mut Common<'_>, at: &Visited) {
        let first = at.router.first_output as usize;
        for place in first..first + usize::from(at.router.outputs) {
            if self.state.due[place] <= at.now {
                self.state.due[place] = self.send_first(common, at, place);
            }
        }
    }

    /// Sends the first packet that can go on a free channel. Returns when the channel is due next.
    fn send_first(&mut self, common: &mut Common<'_>, at: &Visited, place: usize) -> Tick {
        let pointer = self.state.outputs[place].pointer;
        let port = self.ports.output_ports[place];
        let first = place * self.rules.vcs as usize;
        let mut until = NEVER;
        for vc in (pointer.into()..self.rules.vcs).chain(0..pointer.into()) {
            let Some(&queued) = self.state.vcs[first + vc as usize].packets.front() else {
                continue;
            };
            let Packet { flits, .. } = common.packets.packets[queued.slot as usize];
            let mut from = queued.ready;
            if port.needs_room {
                let credits = &mut self.state.credits[(port.room + vc) as usize];
                if !credits.has(flits.into(), at.now) {
                    from = from.max(credits.foresee(flits.into()));
                }
            }
            if from <= at.now {
                return self.send(common, at, (place, vc));
            }
            until = until.min(from);
        }
        until
    }

    /// Sends the first packet of a virtual channel of an output. Returns when the channel is due
    /// next.
    fn send(&mut self, common: &mut Common<'_>, at: &Visited, (place, vc): (usize, u32)) -> Tick {
        let now = at.now;
        let port = self.ports.output_ports[place];
        let timing = *common.context.timing(port.timing);
        let channel = fitted!(place, u32);
        let name = channel + common.context.cut.first_output(common.schedule.part);
        let own = &mut self.state.vcs[place * self.rules.vcs as usize + vc as usize];
        let Queued { slot, in_vc, ready } = own.packets.pop_front().expect("it has a packet");
        let packet = common.packets.packets[slot as usize];
        if common.trace.is_some() {
            note(&mut common.trace, &packet, (common.schedule.epoch, now), name);
            let class = common.packets.origins[slot as usize].class();
            common.statistics.count_class(channel, packet.flits, class);
        }
        let last = last_start(now, packet.tail, packet.flits, timing.flit);
        let free_at = last + timing.flit;
        let flits = u32::from(packet.flits);
        own.flits -= flits;
        let is_awaited = own.room.leave(Leaving { last: free_at, flit: timing.flit, flits });
        let output = &mut self.state.outputs[place];
        (output.free_at, output.pointer) = (free_at, fitted!(vc, u8) + 1);
        if is_awaited {
            self.wake_heads(common, at, (place, vc));
        }
        let time = common.time(now);
        common.digest.add(time, name, packet.source, packet.sequence);
        common.counters.grants += 1;
        common.statistics.sent(channel, fitted!(vc, u8), packet.flits);
        common.statistics.waited(channel, ready, now);
        common.latest = common.latest.max(time);
        let sent = &mut common.packets.packets[slot as usize];
        sent.tail = last + timing.wire;
        sent.ready = common.context.header(now, last) + timing.wire + common.context.routing;
        if port.needs_room {
            self.state.credits[(port.room + vc) as usize].take(flits);
            let Common { routing, context, packets, .. } = &mut *common;
            routing.go_on(context, packets, slot, at.name);
            self.hand_on(common, &port, fitted!(vc, u8), slot);
        } else {
            let channels = common.context.parameters.ejection_channels;
            let terminal = at.router.terminal_at(channel - at.router.first_output, channels);
            let time = common.time(last + timing.wire);
            common.to_hosts.deliveries.push(Delivery { time, slot, terminal, vc: in_vc });
        }
        let vcs = &self.state.vcs[place * self.rules.vcs as usize..][..self.rules.vcs as usize];
        if vcs.iter().all(|vc| vc.packets.is_empty()) { NEVER } else { free_at }
    }

    /// Puts a packet into the buffer at the far end of a channel.
    fn hand_on(&mut self, common: &mut Common<'_>, port: &Output, vc: u8, slot: u32) {
        let &Output { far_part, far_router, far_input, .. } = port;
        if far_part as usize == common.schedule.part {
            return self.put(common, far_router, (far_input, vc), slot);
        }
        let packet = common.packets.take_away(slot);
        let crossing = BetweenParts { router: far_router, input: far_input, vc, packet };
        self.outgoing[far_part as usize].packets.push(crossing);
    }

    /// Makes the heads due that wait for room in a virtual channel of an output, once there is
    /// enough.
    fn wake_heads(&mut self, common: &Common<'_>, at: &Visited, (place, vc): (usize, u32)) {
        let output = fitted!(place - at.router.first_output as usize, u16);
        let own = place * self.rules.vcs as usize + vc as usize;
        for input_vc in self.inputs_of(&at.router) {
            let head = self.state.inputs[input_vc];
            let may_take = match head.hops {
                Hops::Unknown => false,
                Hops::One { output: own, vc: of } => (own, u32::from(of)) == (output, vc),
                Hops::List(_) => true,
                Hops::Ejection(own) => own == output,
            };
            if may_take && head.first != NONE {
                let flits = common.packets.packets[head.first as usize].flits;
                let time = self.state.vcs[own].room.foresee(flits.into());
                // If there is room for it, it waits for something else.
                if time > at.now {
                    self.state.lower(input_vc, time);
                }
            }
        }
    }
}
