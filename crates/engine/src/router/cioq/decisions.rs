//! Packets that decide how they go on by what their router sees (docs/model.md, "Phases").

use super::visit::Visited;
use super::{CioqRouters, Hops, InputVc};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick, multiple_from};
use crate::network::ports::RouterLayout;
use crate::next_hop::Routing;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

impl CioqRouters {
    /// The queue of a virtual channel of an output: the flits that have begun to cross to it before
    /// a time and for which no credit is back by another one; at an ejection channel those of
    /// packets that have not begun to be sent.
    #[inline]
    pub(super) fn queued(&mut self, output: usize, vc: u32, (before, by): (Tick, Tick)) -> u32 {
        let own = &self.state.vcs[output * self.rules.vcs as usize + vc as usize];
        let port = self.ports.output_ports[output];
        let mut flits = own.flits;
        if port.needs_room {
            flits += self.rules.buffer - self.state.credits[(port.room + vc) as usize].at(by);
        }
        flits.saturating_sub(own.to_cross(before))
    }

    /// Lets a packet at a router decide. Returns whether it goes on otherwise than before.
    pub(super) fn decide(&mut self, common: &mut Common<'_>, at: &Visited, slot: u32) -> bool {
        let &Visited { router, name, now, .. } = at;
        let Common { routing, packets, context, .. } = common;
        let mut used = |port: u16, vcs: u16| {
            let output = router.first_output as usize + usize::from(port);
            bits(vcs).map(|vc| self.queued(output, fitted!(vc, u32), (now, now))).sum()
        };
        routing.relation().decide(context, packets, (slot, name), &mut used)
    }

    /// Lets the heads of a router that have decided there and wait decide again.
    pub(super) fn decide_all_again(&mut self, common: &mut Common<'_>, at: &Visited) {
        self.state.decide_at[at.number as usize] = NEVER;
        for input_vc in self.inputs_of(&at.router) {
            if self.waits_decided(common, input_vc) {
                let slot = self.state.inputs[input_vc].first;
                if self.decide(common, at, slot) {
                    self.find_hops(common, at, fitted!(input_vc, u32));
                    let again = self.state.inputs[input_vc].again;
                    self.state.lower(input_vc, at.now.max(again));
                }
                self.settle(common, at, fitted!(input_vc, u32));
            }
        }
    }

    /// Notes whether a head that has just decided keeps to that: if one of its hops has room, and
    /// packets settle then.
    pub(super) fn settle(&mut self, common: &Common<'_>, at: &Visited, input_vc: u32) {
        let InputVc { first, hops, .. } = self.state.inputs[input_vc as usize];
        let (true, Hops::List(list)) = (self.rules.settles, hops) else { return };
        let flits = u32::from(common.packets.packets[first as usize].flits);
        let vcs = self.rules.vcs as usize;
        let is_settled = common.routing.relation().hops_of_list(list).iter().any(|hop| {
            let output = at.router.first_output as usize + usize::from(hop.port);
            self.state.vcs[output * vcs + usize::from(hop.vc)].room.has(flits, at.now)
        });
        self.state.inputs[input_vc as usize].is_settled = is_settled;
    }

    /// Whether the head of an input virtual channel has decided, may do so again, and waits.
    fn waits_decided(&self, common: &Common<'_>, input_vc: usize) -> bool {
        let head = &self.state.inputs[input_vc];
        let Routing::Relation(relation) = &common.routing else { return false };
        head.first != NONE
            && !head.is_settled
            && matches!(head.hops, Hops::List(_))
            && relation.has_decided(&common.packets.packets[head.first as usize])
    }

    /// Sets the time at which packets of a router decide again after now: as long as something
    /// changes by which they do.
    pub(super) fn set_next_decision(&mut self, common: &mut Common<'_>, at: &Visited) {
        let waits = self.inputs_of(&at.router).any(|input_vc| self.waits_decided(common, input_vc));
        if waits && self.queues_change(&at.router, at.now) {
            self.decide_by(common, at.number, at.now + 1);
        }
    }

    /// Lets packets of a router that wait decide again at the first multiple from a time on.
    pub(super) fn decide_by(&mut self, common: &mut Common<'_>, router: u32, time: Tick) {
        let Some(again) = self.rules.again else { return };
        let time = multiple_from(time, again, common.schedule.epoch);
        let decide_at = &mut self.state.decide_at[router as usize];
        *decide_at = (*decide_at).min(time);
        common.schedule.active.lower(router, time);
    }

    /// Whether the queue of an output of a router will change after now, as far as is known, or the
    /// room there if packets settle by it.
    fn queues_change(&self, router: &RouterLayout, now: Tick) -> bool {
        let first = router.first_output as usize;
        (first..first + usize::from(router.outputs)).any(|output| {
            let port = &self.ports.output_ports[output];
            port.needs_room
                && (0..self.rules.vcs).any(|vc| {
                    let own = &self.state.vcs[output * self.rules.vcs as usize + vc as usize];
                    let credits = &self.state.credits[(port.room + vc) as usize];
                    let settles = self.rules.settles;
                    own.crosses_until > now
                        || credits.changes(now)
                        || settles && own.room.changes(now)
                })
        })
    }
}
