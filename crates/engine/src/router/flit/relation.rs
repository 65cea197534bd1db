//! Route computation by a routing relation, with links shared flit by flit.

use super::flit_queue::{FlitQueue, Held};
use super::router_view::FlitRouterView;
use super::{FlitState, OutputVc};
use crate::frame::tick::{NEVER, Tick};
use crate::next_hop::{HopRank, Routing, from_place};
use crate::router::Common;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_routing::Preference;
use flitlab_routing::relation::Hop;

impl<'f> FlitRouterView<'_, 'f> {
    /// The hops that the packet at the head of a queue may take.
    fn hops(&self, queue: usize) -> &'f [Hop] {
        let list = self.state.queues[self.first_queue + queue].held.list();
        self.common.routing.relation().hops_of_list(list)
    }

    /// Requests the virtual channels of a list of hops.
    pub(super) fn set_requests_for_hops(&mut self, queue: usize, list: u32) {
        self.choose_among(queue);
        self.queue(queue).held = Held::hops(list);
        let hops = self.hops(queue);
        self.queue(queue).output = hops.first().expect("every state leads on").port;
        for hop in hops {
            self.add_request(queue, usize::from(hop.port));
        }
    }

    /// Withdraws the requests of a packet, which has been granted a virtual channel.
    pub(super) fn withdraw_hops(&mut self, queue: usize) {
        for hop in self.hops(queue) {
            *self.request_word(queue, usize::from(hop.port)) &= !(1 << (queue % 64));
        }
    }

    /// Notes that a packet takes a hop, if packets choose by a relation.
    pub(super) fn take_hop(&mut self, queue: usize, output: usize, vc: u8, now: Tick) {
        let (channel, time) = (self.router.first_output as usize + output, self.time(now));
        self.state.hop_times.note(channel, vc, time);
        let Common { routing, packets, context, .. } = &mut *self.common;
        let Routing::Relation(relation) = routing else { return };
        let FlitQueue { slot, held, .. } = self.state.queues[self.first_queue + queue];
        let taken = (held.list(), (fitted!(output, u16), vc));
        relation.take_hop(context, packets, (slot, self.name), taken);
    }

    /// Lets a packet of a relation decide.
    pub(super) fn decide_by_relation(&mut self, queue: usize, now: Tick) {
        let slot = self.queue(queue).slot;
        let buffer = self.common.context.parameters.buffer;
        let FlitState { outputs, vcs, times, .. } = &*self.state;
        let outputs = &outputs[self.router.first_output as usize..];
        let mut used = |port: u16, of_port: u16| {
            let first = outputs[usize::from(port)].vcs as usize;
            bits(of_port).map(|vc| buffer - vcs[first + vc].room_at(now, times)).sum()
        };
        let Common { routing, packets, context, .. } = &mut *self.common;
        routing.relation().decide(context, packets, (slot, self.name), &mut used);
    }

    /// The flits that have left by an output and for which no credit is back at a time.
    pub(super) fn flits_out(&mut self, output: usize, at: Tick) -> u32 {
        let first = self.vc(output, 0);
        let vcs = &self.state.vcs[first..][..self.rules.vcs as usize];
        let buffer = self.common.context.parameters.buffer;
        vcs.iter().map(|vc| buffer - vc.room_at(at, &self.state.times)).sum()
    }

    /// Notes which hops are open to a packet, or else which fallbacks. If none is, lowers `until`
    /// to the time at which one may be. Returns whether any is open.
    pub(super) fn offer_hops(
        &mut self,
        queue: usize,
        need: u16,
        until: &mut Tick,
        now: Tick,
    ) -> bool {
        let hops = self.hops(queue);
        for fallback in [false, true] {
            let mut any = false;
            for hop in hops.iter().filter(|hop| hop.is_fallback() == fallback) {
                let left = self.queue(queue).left;
                let need = self.common.context.need_by(hop, need, left);
                any |= self.offer(queue, hop.port.into(), 1 << hop.vc, need, until, now);
            }
            if any {
                return true;
            }
        }
        false
    }

    /// The offer that a packet accepts among those of one router's virtual channels: by the output
    /// that it prefers, on the virtual channel there that it prefers.
    pub(super) fn best_of(
        &mut self,
        queue: usize,
        offers: impl Iterator<Item = u32> + Clone,
        now: Tick,
    ) -> u32 {
        let FlitQueue { slot, .. } = *self.queue(queue);
        let hops = self.hops(queue);
        let drawn = self.common.packets.packets[slot as usize].note;
        let relation = self.common.routing.relation();
        let first = relation.first(self.name, drawn, hops.len());
        let preference = relation.preference();
        if preference == Preference::LeastQueued
            && hops.iter().any(|hop| self.output_port(hop.port.into()).dead)
        {
            // What a failed channel swallows takes no credits: there an uncontended packet matters.
            self.advance_all(now);
        }
        let vcs = self.rules.vcs;
        let (mut best, mut most) = (None, <(HopRank, HopRank)>::default());
        let mut of_port = (u16::MAX, HopRank::default());
        for hop in from_place(hops, first) {
            let offer = u32::from(hop.port) * vcs + u32::from(hop.vc);
            if !offers.clone().any(|it| it == offer) {
                continue;
            }
            if preference == Preference::Random {
                return offer;
            }
            if of_port.0 != hop.port {
                of_port = (hop.port, self.rank_output(hop.port.into(), preference, now));
            }
            let place = self.vc(hop.port.into(), hop.vc);
            let room = self.state.vcs[place].room_at(now, &self.state.times);
            let channel = self.router.first_output as usize + usize::from(hop.port);
            let times = &self.state.hop_times;
            let own = (of_port.1, times.rank_vc(preference, (channel, hop.vc), room.into()));
            if best.is_none() || own > most {
                (best, most) = (Some(offer), own);
            }
        }
        best.expect("an offer is one of its hops")
    }

    /// The rank of an output. Its room is the credits of all its virtual channels, less the flits of
    /// packets that hold one and are still to be sent. Sending a flit changes both alike. So an
    /// uncontended packet, which may lag behind, does not matter. Flits wait in a virtual channel
    /// while a packet holds it, and until all its credits are back.
    fn rank_output(&mut self, output: usize, preference: Preference, now: Tick) -> HopRank {
        let first = self.vc(output, 0);
        let waiting = i64::from(self.output(output).waiting);
        let buffer = self.common.context.parameters.buffer;
        let FlitState { vcs, times, hop_times, .. } = &*self.state;
        let vcs = &vcs[first..][..self.rules.vcs as usize];
        let room = || vcs.iter().map(|vc| i64::from(vc.room_at(now, times))).sum::<i64>() - waiting;
        let is_idle = |vc: &OutputVc| vc.free_at != NEVER && vc.room_at(now, times) == buffer;
        let idle = || vcs.iter().map(|vc| i64::from(is_idle(vc))).sum();
        let channel = self.router.first_output as usize + output;
        hop_times.rank_output(preference, channel, room, idle)
    }
}
