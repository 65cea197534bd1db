//! Injection with links shared flit by flit: source queues share an injection channel.

use serde::{Deserialize, Serialize};

use super::{FlitRouters, first_from};
use crate::Switching;
use crate::next_hop::Routing;
use crate::part::Part;
use crate::set::bits;
use crate::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

/// A source queue of an injection channel while its packet is being sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SourceVc {
    /// Flits of the packet that are left.
    left: u16,
    /// The virtual channel that the packet holds, and the one at which the search for the next
    /// packet's starts.
    vc: u8,
    next: u8,
    source: u32,
    sequence: u32,
    /// The tag of its message, if the departure of its last flit is to be told.
    departs: Option<u64>,
}

impl Default for SourceVc {
    fn default() -> Self {
        Self { left: 0, vc: 0, next: 0, source: NONE, sequence: 0, departs: None }
    }
}

impl FlitRouters {
    /// The virtual channels that a packet of a source queue may take at injection, and the flits of
    /// room that it needs there.
    fn injected_into(&self, here: &Part<'_>, queue: u8, flits: u16) -> (u16, u32) {
        let context = &*here.context;
        let vcs = match here.routing {
            Routing::Source(_) => self.rules.kind(queue).all,
            _ => 1 << queue,
        };
        let room = match context.parameters.switching {
            Switching::Wormhole => 1,
            Switching::VirtualCutThrough | Switching::StoreAndForward => u32::from(flits),
        };
        (vcs, room)
    }
}

impl Part<'_> {
    /// Sends the next flit through a free injection channel, or several if no other can come
    /// between them. Sets the time at which the channel is served next.
    pub(crate) fn inject_flits(&mut self, number: u32, terminal: u32, now: Tick) {
        let mut flits = self.flits.take().expect("links are shared flit by flit");
        let due = self.inject_some(&mut flits, number, terminal, now);
        self.sources.injections[number as usize].due = due;
        self.flits = Some(flits);
    }

    fn inject_some(
        &mut self,
        flits: &mut FlitRouters,
        number: u32,
        terminal: u32,
        now: Tick,
    ) -> Tick {
        let injection = self.sources.injections[number as usize];
        if injection.free_at > now {
            return injection.free_at;
        }
        let vcs = flits.rules.vcs;
        let channels = self.context.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let room = self.sources.adapters[terminal as usize].room + of_terminal * vcs;
        let first = number as usize * vcs as usize;
        let begun = flits.state.begun[number as usize];
        let mut due = NEVER;
        let mut left = injection.waiting | begun;
        while let Some(queue) = first_from(left, injection.pointer.into()) {
            left &= !(1 << queue);
            let place = first + queue as usize;
            if begun >> queue & 1 == 1 {
                let vc = room as usize + usize::from(flits.state.sources[place].vc);
                let (state, times) = (&mut flits.state.vcs[vc], &flits.state.times);
                if !state.has_room(1, now, times) {
                    due = due.min(state.foresee(1, times));
                    continue;
                }
                self.end_wait(number, now);
                return self.send_source_flits(flits, (number, terminal), queue, NONE, now);
            }
            if self.sources.paused {
                continue;
            }
            let n = self.sources.flits_of_next(number, queue, vcs);
            let (allowed, need) = flits.injected_into(self, fitted!(queue, u8), n);
            let mut open = 0;
            for vc in bits(allowed) {
                let (state, times) = (&mut flits.state.vcs[room as usize + vc], &flits.state.times);
                if state.has_room(need, now, times) {
                    open |= 1 << vc;
                } else {
                    due = due.min(state.foresee(need, times));
                }
            }
            let next = flits.state.sources[place].next;
            let Some(vc) = first_from(open, next.into()) else { continue };
            self.end_wait(number, now);
            let packet = self.next_packet_of(number, terminal, fitted!(queue, u8), now);
            self.counters.grants += 1;
            let sent = &self.packets.packets[packet.slot as usize];
            flits.state.sources[place] = SourceVc {
                left: sent.flits,
                vc: fitted!(vc, u8),
                next: fitted!(vc, u8) + 1,
                source: sent.source,
                sequence: sent.sequence,
                departs: packet.departs,
            };
            return self.send_source_flits(flits, (number, terminal), queue, packet.slot, now);
        }
        if injection.waiting | begun != 0 && !self.sources.paused {
            self.begin_wait(number, now);
        }
        due
    }

    /// Sends flits of a source queue's packet, the first of which can go: the header if a packet is
    /// given. Returns the time at which the channel is served next.
    fn send_source_flits(
        &mut self,
        flits: &mut FlitRouters,
        (number, terminal): (u32, u32),
        queue: u32,
        header: u32,
        now: Tick,
    ) -> Tick {
        let vcs = flits.rules.vcs;
        let place = (number * vcs + queue) as usize;
        let SourceVc { vc, source, sequence, departs, mut left, .. } = flits.state.sources[place];
        let channels = self.context.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let adapter = self.sources.adapters[terminal as usize];
        let room = (adapter.room + of_terminal * vcs) as usize + usize::from(vc);
        let input_vc = ((adapter.input + of_terminal) << flits.rules.shift) + u32::from(vc);
        let timing = *self.context.timing(adapter.timing);
        let channel = self.context.channel_of_injection(self.schedule.part, number);
        let in_part = fitted!(self.ports.outputs, u32) + number;
        let mut arrivals = std::mem::take(&mut flits.scratch.arrivals);
        let mut at = now;
        loop {
            flits.state.vcs[room].take(now, &flits.state.times);
            arrivals.push(at + timing.forward);
            let time = self.time(at);
            self.digest.add(time, channel, source, sequence);
            left -= 1;
            at += timing.flit;
            // The next flits are known only if no other queue uses the channel.
            let times = &flits.state.times;
            if left == 0 || !flits.rules.one_kind || !flits.state.vcs[room].has_room(1, now, times)
            {
                break;
            }
        }
        self.borrow_flit_router(flits, adapter.router).join(
            adapter.router,
            input_vc,
            &arrivals,
            header,
        );
        self.statistics.sent(in_part, vc, fitted!(arrivals.len(), u16));
        arrivals.clear();
        flits.scratch.arrivals = arrivals;
        flits.state.sources[place].left = left;
        let begun = &mut flits.state.begun[number as usize];
        *begun = *begun & !(1 << queue) | u16::from(left > 0) << queue;
        let has_begun = *begun != 0;
        let injection = &mut self.sources.injections[number as usize];
        injection.free_at = at;
        injection.pointer = fitted!((queue + 1) % vcs, u8);
        if left == 0
            && let Some(tag) = departs
        {
            let time = self.time(at);
            self.message_sent(terminal, tag, time);
        }
        let waits = self.sources.injections[number as usize].waiting != 0;
        if waits || has_begun { at } else { NEVER }
    }

    /// Whether an injection channel has begun a packet whose flits wait.
    pub(crate) fn has_begun(&self, number: u32) -> bool {
        self.flits.as_ref().is_some_and(|flits| flits.state.begun[number as usize] != 0)
    }
}
