//! A router with links that err: transmissions, retransmissions, acknowledgements (docs/model.md,
//! "Links that err").

use crate::frame::tick::{NEVER, Tick};
use crate::network::context::Timing;
use crate::packet::{Delivery, Packet};
use crate::router::link::replay::{ArrivalOutcome, Hold, ReplayChannel, ReplayEntry};
use crate::router::link::{FarOutput, Notice, NoticeKind};
use crate::router::packet::cell::{DEAD, Shape};
use crate::router::packet::credits::Credit;
use crate::router::packet::{FarEnd, Features, Visit};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::{REQUEST_CHANNEL, Retry};

/// A packet's transmission on a channel.
#[derive(Clone, Copy)]
struct Transmission {
    start: Tick,
    /// The times at which its header may ask at the far end, routing included, and at which its
    /// last flit is there.
    ready: Tick,
    arrives: Tick,
    damaged: bool,
    /// Whether it is a retransmission.
    again: bool,
}

impl<'a, S: Shape, F: Features> Visit<'a, '_, S, F> {
    /// A lower bound of the time of the next event on the router's links, grants excluded.
    pub(crate) fn links_due(&mut self) -> &mut Tick {
        &mut self.links.state.due[self.number as usize]
    }

    #[inline]
    fn link(&mut self, output: usize) -> &mut ReplayChannel {
        let number = self.channel(output) as usize;
        self.links.state.channels[number].as_deref_mut().expect("a network channel")
    }

    /// The times of an output's channel.
    fn timing(&mut self, output: usize) -> &'a Timing {
        self.context.timing(self.cell.timing[S::port(output)])
    }

    /// By output of the router: a lower bound of the next event on its link, grants excluded.
    fn links_next(&mut self) -> &mut [Tick] {
        let first = self.layout.first_output as usize;
        let outputs = first..first + usize::from(self.layout.outputs);
        &mut self.links.state.next[outputs]
    }

    /// Handles all events on links at this instant, before anything is granted.
    #[inline(never)]
    pub(crate) fn serve_links(&mut self, now: Tick) {
        let resend = self.links.rules.resend;
        let mut due = std::mem::take(&mut self.links.serving);
        due.clear();
        let next = self.links_next();
        due.extend((0..next.len()).filter(|&output| next[output] <= now));
        for &output in &due {
            self.link(output).learn(now, resend);
        }
        self.discard_bad_copies(now);
        for &output in &due {
            let link = self.link(output);
            if link.is_free(now) && link.to_send.front().is_some_and(|it| it.0 <= now) {
                self.acknowledge(output, now);
            }
        }
        for &output in &due {
            let link = self.link(output);
            if link.is_free(now) && link.sends_again() {
                self.send_again(output, now);
            }
        }
        let starts = |hold: Hold| matches!(hold, Hold::Starts(time) if time <= now);
        if due.iter().any(|&output| starts(self.link(output).hold)) {
            self.start_held(now);
        }
        for &output in &due {
            self.settle(output, now);
        }
        self.links.serving = due;
        self.set_links_due();
    }

    /// Handles the effects on links of an instant's grants.
    pub(in crate::router::packet) fn handle_granted(&mut self, now: Tick) {
        if self.links.granted.is_empty() {
            return;
        }
        let mut granted = std::mem::take(&mut self.links.granted);
        for output in granted.drain(..) {
            self.settle(usize::from(output), now);
        }
        self.links.granted = granted;
        self.set_links_due();
    }

    /// Sets the times at which an output can be granted next, and at which its link has its next
    /// event.
    fn settle(&mut self, output: usize, now: Tick) {
        let rules = self.links.rules;
        let next = self.link(output).due(rules.resend);
        self.links_next()[output] = next;
        let link = self.link(output);
        if link.hold != Hold::No {
            return;
        }
        let (is_full, line_free) = (link.is_full(&rules), link.line_free);
        let output = S::port(output);
        let (free_at, since) = (self.cell.free_at[output], self.cell.since[output]);
        if is_full && free_at != NEVER {
            (self.cell.free_at[output], self.cell.due[output]) = (NEVER, NEVER);
        } else if !is_full && free_at == NEVER {
            let free_at = line_free.max(now);
            self.cell.free_at[output] = free_at;
            self.cell.due[output] = if since == NEVER { NEVER } else { since.max(free_at) };
        }
    }

    /// Sets for whom an output's link is held.
    pub(in crate::router::packet) fn set_hold(&mut self, output: usize, hold: Hold) {
        let resend = self.links.rules.resend;
        let link = self.link(output);
        link.hold = hold;
        let due = link.due(resend);
        self.links_next()[output] = due;
        self.set_links_due();
    }

    /// Time at which the last flit of the present transmission of an output's link has left.
    pub(in crate::router::packet) fn line_free(&self, output: usize) -> Tick {
        self.links.line_free(self.channel(output))
    }

    /// Whether a virtual channel is one of the collective subnetwork's.
    fn is_on_tree(&self, vc: u8) -> bool {
        vc >= self.context.trees.up
    }

    fn set_links_due(&mut self) {
        let next = self.links_next().iter().copied().fold(NEVER, Tick::min);
        let bad_copies = &self.links.state.bad_copies[self.number as usize];
        *self.links_due() = bad_copies.iter().map(|it| it.0).fold(next, Tick::min);
    }

    /// Occupies an output until a time with something other than a grant.
    fn occupy(&mut self, output: usize, now: Tick, until: Tick) {
        let link = self.link(output);
        link.line_free = until;
        if link.hold == Hold::No {
            self.keep_busy(output, until, now);
        }
    }

    /// Transmits a packet for the first time, at its grant.
    #[inline(never)]
    pub(crate) fn transmit(
        &mut self,
        output: usize,
        slot: u32,
        vc: u8,
        (now, released): (Tick, Tick),
    ) {
        let room = self.cell.room[S::port(output)] + u32::from(vc);
        let Packet { ready, tail: arrives, source, sequence, flits, .. } = *self.packet(slot);
        self.credits.room[room as usize] -= flits;
        let cut = self.is_cut(output, arrives);
        if self.is_on_tree(vc) {
            self.origin(slot).hops += 1;
        } else {
            self.go_on(slot);
        }
        let bad = self.origin(slot).is_bad();
        let link = self.link(output);
        (link.line_free, link.hold) = (released, Hold::No);
        self.links.granted.push(fitted!(output, u16));
        let damaged = self.is_damaged(output, flits, (now, released));
        if cut {
            self.origin(slot).lose();
            return self.enter(output, vc, slot);
        }
        let transmission = Transmission { start: now, ready, arrives, damaged, again: false };
        let due = released.saturating_add(self.links.rules.time_out);
        let (number, accepted) = (0, false);
        let entry = ReplayEntry { number, slot, source, sequence, due, flits, vc, accepted, bad };
        let resend = self.links.rules.resend;
        let place = self.link(output).keep(entry, resend);
        self.pass(output, place, transmission);
    }

    /// Retransmits the next packet that is to be sent again.
    fn send_again(&mut self, output: usize, now: Tick) {
        let Some(place) = self.link(output).next_again() else { return };
        let ReplayEntry { slot, source, sequence, flits, vc, .. } =
            self.link(output).entries[place];
        let timing = self.timing(output);
        let last = now + (Tick::from(flits) - 1) * timing.flit;
        let (released, arrives) = (last + timing.flit, last + timing.forward);
        let ready = self.context.header(now, last) + timing.forward + self.context.routing;
        let (channel, time) = (self.channel(output), self.time(now));
        let name = self.first_channel + channel;
        self.digest.add(time, name, source, sequence);
        if let Some(trace) = self.trace {
            trace.add((time, Picoseconds::ZERO), name, source, sequence);
        }
        self.statistics.sent(channel, vc, flits);
        self.counters.flits_resent += u64::from(flits);
        self.counters.packets_resent += 1;
        self.link(output).flits_resent += u64::from(flits);
        self.occupy(output, now, released);
        let damaged = self.is_damaged(output, flits, (now, released));
        let transmission = Transmission { start: now, ready, arrives, damaged, again: true };
        if self.is_cut(output, arrives) {
            return self.lose(output, place, transmission);
        }
        let time_out = self.links.rules.time_out;
        self.link(output).entries[place].due = released.saturating_add(time_out);
        if let Some(packet) = self.packets.packets.get_mut(slot as usize) {
            (packet.ready, packet.tail) = (ready, arrives);
        }
        self.pass(output, place, transmission);
    }

    /// Loses a packet, whose retransmission is on a channel that fails before its last flit is
    /// there.
    fn lose(&mut self, output: usize, place: usize, transmission: Transmission) {
        let Some(ReplayEntry { slot, vc, .. }) = self.link(output).remove(place) else { return };
        let Transmission { ready, arrives, .. } = transmission;
        if slot != NONE {
            if self.has(output, DEAD) {
                let channel = self.context.fabric.outputs(self.name).start + fitted!(output, u32);
                let to = self.context.fabric.target(channel).expect("it was a link");
                self.routing.swallow(self.context, self.packets, (to, slot));
                let time = self.time(arrives);
                self.to_hosts.deliveries.push(Delivery { time, slot, terminal: NONE, vc });
            } else {
                self.origin(slot).lose();
                let packet = self.packet(slot);
                (packet.ready, packet.tail) = (ready, arrives);
                self.enter(output, vc, slot);
            }
        }
        self.admit_waiting(output, vc, arrives);
    }

    /// Whether any of the flits is damaged that have the channel for a stretch of time.
    fn is_damaged(&mut self, output: usize, flits: u16, (from, until): (Tick, Tick)) -> bool {
        let times = (self.time(from), self.time(until));
        let bits = u64::from(flits) * self.links.rules.bits_a_flit;
        self.link(output).damage.hits(bits, times)
    }

    /// Handles the reaction of the far end to a transmission.
    fn pass(&mut self, output: usize, place: usize, transmission: Transmission) {
        let mut rules = self.links.rules;
        let Transmission { arrives, damaged, again, .. } = transmission;
        let back = self.timing(output).back;
        let ReplayEntry { slot, vc, flits, bad, accepted, .. } = self.link(output).entries[place];
        if self.is_on_tree(vc) {
            // A reduction unit can't take back what it has combined, nor a router what it has
            // counted.
            rules.retry = Retry::Store;
        }
        let link = self.link(output);
        let (message, outcome) = link.react(place, damaged, &rules);
        if let Some(message) = message {
            if !rules.takes_flits {
                link.learned.push_back((arrives + back, message));
            } else if let Some(to) = link.reverse {
                let kind = NoticeKind::Message { message, about_sent: false };
                self.links.notices.push(Notice { to, time: arrives, kind });
            }
        }
        self.counters.damaged_packets += u64::from(damaged && !bad);
        let accepted =
            accepted || matches!(outcome, ArrivalOutcome::Enters | ArrivalOutcome::Waits) && !bad;
        self.counters.resent_accepted += u64::from(again && accepted);
        let by_header = rules.retry == Retry::Stomp;
        match outcome {
            ArrivalOutcome::Nothing => {}
            ArrivalOutcome::Waits => self.link(output).put_beside(place),
            ArrivalOutcome::Enters => {
                self.link(output).entries[place].slot = NONE;
                if !by_header {
                    self.packet(slot).ready = arrives + self.context.routing;
                }
                self.enter(output, vc, slot);
                self.admit_waiting(output, vc, arrives);
            }
            ArrivalOutcome::BadCopy => {
                let copy = self.packets.copy(slot);
                self.origin(copy).spoil();
                self.enter(output, vc, copy);
            }
            ArrivalOutcome::Discarded => {
                self.link(output).entries[place].slot = NONE;
                self.packets.remove(slot);
                let room = self.cell.room[S::port(output)];
                let credit = Credit { time: arrives + back, flits };
                let awaited = self.credits.send(room + u32::from(vc), credit, transmission.start);
                // A grant makes the output due for all that wait for it.
                if awaited && again {
                    let free_at = self.cell.free_at[S::port(output)];
                    self.cell.lower(output, credit.time.max(free_at));
                }
            }
        }
    }

    /// Puts a packet into the buffer at the far end. For a bad copy that router is told when its
    /// last flit is there, since that may be before the copy asks for an output.
    fn enter(&mut self, output: usize, vc: u8, slot: u32) {
        let is_bad = self.origin(slot).is_bad();
        let packet = self.packet(slot);
        packet.next = NONE;
        let (time, ready) = (packet.tail, packet.ready);
        self.hand_on(output, vc, (slot, ready));
        if is_bad {
            let FarEnd { part, router, input } = self.far_end(output);
            let to = FarOutput { part, router, output: 0 };
            let buffer = (u32::from(input) << self.size().shift) + u32::from(vc);
            let kind = NoticeKind::BadCopy(buffer);
            self.links.notices.push(Notice { to, time, kind });
        }
    }

    /// Lets packets that have waited beside the buffer enter it, behind the one that is whole at
    /// `arrives`.
    fn admit_waiting(&mut self, output: usize, vc: u8, arrives: Tick) {
        let mut slots = std::mem::take(&mut self.links.followers);
        self.link(output).take_from_beside(vc, &mut slots);
        for slot in slots.drain(..) {
            self.packet(slot).ready = arrives + self.context.routing;
            self.enter(output, vc, slot);
        }
        self.links.followers = slots;
    }

    /// Sends all acknowledgement messages that are due, in one flit.
    fn acknowledge(&mut self, output: usize, now: Tick) {
        let timing = self.timing(output);
        let until = now + timing.flit;
        let cut = self.is_cut(output, now + timing.back);
        let lost = self.is_damaged(output, 1, (now, until)) || cut;
        let channel = self.channel(output);
        self.statistics.sent(channel, self.context.vc_map.index(REQUEST_CHANNEL), 1);
        self.occupy(output, now, until);
        let reverse = self.link(output).reverse.filter(|_| !lost);
        while let Some(&(time, message)) = self.link(output).to_send.front()
            && time <= now
        {
            self.link(output).to_send.pop_front();
            if let Some(to) = reverse {
                let kind = NoticeKind::Message { message, about_sent: true };
                self.links.notices.push(Notice { to, time: now + timing.back, kind });
            }
        }
    }
}
