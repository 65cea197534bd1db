//! Injection with links shared flit by flit: source queues share an injection channel.

use serde::{Deserialize, Serialize};

use super::{FlitRouters, first_from};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::host::Hosts;
use crate::host::source::Injection;
use crate::next_hop::Routing;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::Switching;

/// A source queue of an injection channel while its packet is being sent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct SourceVc {
    /// Flits of the packet that are left.
    left: u16,
    /// The virtual channel that the packet holds, and the one at which the search for the next
    /// packet's starts.
    vc: u8,
    next: u8,
    source: u32,
    sequence: u32,
    /// The packet's class.
    class: u8,
    /// The tag of its message, if the departure of its last flit is to be told.
    departs: Option<u64>,
}

impl FlitRouters {
    /// The virtual channels that a packet of a source queue may take at injection, and the flits of
    /// room that it needs there.
    fn injected_into(&self, common: &Common<'_>, queue: u8, flits: u16) -> (u16, u32) {
        let context = &*common.context;
        let vcs = match common.routing {
            Routing::Source(_) if !self.rules.is_of_trees(queue) => self.rules.kind(queue).all,
            _ => 1 << queue,
        };
        let room = match context.parameters.switching {
            Switching::Wormhole => 1,
            Switching::VirtualCutThrough | Switching::StoreAndForward => u32::from(flits),
        };
        (vcs, room)
    }

    /// Sends the next flit through a free injection channel, or several if no other can come
    /// between them. Returns the time at which the channel is served next.
    pub(super) fn inject_some(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal): (u32, u32),
        now: Tick,
    ) -> Tick {
        let injection = hosts.sources.injections[number as usize];
        if injection.free_at > now {
            return injection.free_at;
        }
        let vcs = self.rules.vcs;
        let room = injection.room;
        let first = number as usize * vcs as usize;
        let begun = self.state.begun[number as usize];
        let mut due = NEVER;
        let mut left = injection.waiting | begun;
        while let Some(queue) = first_from(left, injection.pointer.into()) {
            left &= !(1 << queue);
            let place = first + queue as usize;
            let is_new = begun >> queue & 1 == 0;
            if is_new && hosts.sources.paused {
                continue;
            }
            let SourceVc { vc: held, next, .. } = self.state.sources[place];
            let (mut allowed, mut need) = (1 << held, 1);
            if is_new {
                let flits = hosts.sources.queues[place].flits;
                (allowed, need) = self.injected_into(common, fitted!(queue, u8), flits);
            }
            let mut open = 0;
            for vc in bits(allowed) {
                let (state, times) = (&mut self.state.vcs[room as usize + vc], &self.state.times);
                if state.has_room(need, now, times) {
                    open |= 1 << vc;
                } else {
                    due = due.min(state.foresee(need, times));
                }
            }
            let Some(vc) = first_from(open, next.into()) else { continue };
            hosts.end_wait(common, number, now);
            let mut header = NONE;
            if is_new {
                let packet =
                    hosts.next_packet_of(common, number, terminal, fitted!(queue, u8), now);
                header = packet.slot;
                common.counters.grants += 1;
                let sent = &common.packets.packets[header as usize];
                self.state.sources[place] = SourceVc {
                    left: sent.flits,
                    vc: fitted!(vc, u8),
                    next: fitted!(vc, u8) + 1,
                    source: sent.source,
                    sequence: sent.sequence,
                    class: common.packets.origins[header as usize].class(),
                    departs: packet.departs,
                };
            }
            return self.send_source_flits(common, hosts, (number, terminal), queue, header, now);
        }
        if injection.waiting | begun != 0 && !hosts.sources.paused {
            hosts.begin_wait(common, number, now);
        }
        due
    }

    /// Sends flits of a source queue's packet, the first of which can go: the header if a packet is
    /// given. Returns the time at which the channel is served next.
    fn send_source_flits(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal): (u32, u32),
        queue: u32,
        header: u32,
        now: Tick,
    ) -> Tick {
        let vcs = self.rules.vcs;
        let place = (number * vcs + queue) as usize;
        let SourceVc { vc, source, sequence, class, departs, mut left, .. } =
            self.state.sources[place];
        let adapter = hosts.sources.adapters[terminal as usize];
        let Injection { name: channel, room, port, .. } = hosts.sources.injections[number as usize];
        let room = room as usize + usize::from(vc);
        let input = self.ports.routers[adapter.router as usize].first_input + u32::from(port);
        let input_vc = (input << self.rules.shift) + u32::from(vc);
        let timing = *common.context.timing(adapter.timing);
        let in_part = fitted!(self.ports.outputs, u32) + number;
        let mut arrivals = std::mem::take(&mut self.scratch.arrivals);
        let mut at = now;
        loop {
            self.state.vcs[room].take(now, &self.state.times);
            arrivals.push(at + timing.forward);
            let time = common.time(at);
            common.digest.add(time, channel, source, sequence);
            left -= 1;
            at += timing.flit;
            // The next flits are known only if no other queue uses the channel.
            let times = &self.state.times;
            if left == 0 || !self.rules.one_kind || !self.state.vcs[room].has_room(1, now, times) {
                break;
            }
        }
        self.borrow(common, adapter.router).join(adapter.router, input_vc, &arrivals, header);
        let sent = fitted!(arrivals.len(), u16);
        common.statistics.sent(in_part, vc, sent);
        if common.statistics.counts_classes() {
            common.statistics.count_class(in_part, sent, class);
        }
        arrivals.clear();
        self.scratch.arrivals = arrivals;
        self.state.sources[place].left = left;
        let begun = &mut self.state.begun[number as usize];
        *begun = *begun & !(1 << queue) | u16::from(left > 0) << queue;
        let has_begun = *begun != 0;
        let injection = &mut hosts.sources.injections[number as usize];
        injection.free_at = at;
        injection.pointer = fitted!((queue + 1) % vcs, u8);
        if left == 0
            && let Some(tag) = departs
        {
            let time = common.time(at);
            hosts.message_sent(common, terminal, tag, time);
        }
        let waits = hosts.sources.injections[number as usize].waiting != 0;
        if waits || has_begun { at } else { NEVER }
    }
}
