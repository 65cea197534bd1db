//! Routers that grant an output to a whole packet: the state of a part's routers, and what the part
//! asks of them.

pub(crate) mod allocation;
pub(crate) mod choice;
pub(crate) mod choice_by_relation;
pub(crate) mod choices;
pub(crate) mod collective;
pub(crate) mod credits;
pub(crate) mod features;
pub(crate) mod link;
pub(crate) mod outbox;
pub(crate) mod router_view;
pub(crate) mod stalls;
pub(crate) mod waits;

pub(crate) use features::Features;
pub(crate) use router_view::RouterView;

use serde::Serialize;

use crate::common::Common;
use crate::frame::exchange::HasEarliest;
use crate::frame::tick::{NEVER, Tick};
use crate::host::source::{Adapter, Injection};
use crate::host::{Hosts, NewPacket};
use crate::network::port_block::{AWAY, least};
use crate::network::ports::{PacketQueue, Ports, RemoteUpstream, RouterLayout};
use crate::network::size::Small;
use crate::packet::{Packet, PacketCrossing, chain};
use crate::router::packet::choices::AdaptiveState;
use crate::router::packet::collective::units::ReductionUnits;
use crate::router::packet::credits::{Credit, Credits};
use crate::router::packet::features::{Choosing, Every, FeatureSet, Plain};
use crate::router::packet::link::{LinkState, Links, Notice};
use crate::router::packet::outbox::{Outbox, Returned, Sent};
use crate::router::{Fail, Routers};
use crate::set::{bits, members};
use flitlab_base::narrow::fitted;
use flitlab_base::prefetch::{Stage, prefetch};
use flitlab_base::units::Picoseconds;

/// Number of deliveries by which the prefetch for a delivery comes ahead of it.
const LEAD: usize = 8;

/// The routers of a part. Routers, channels and buffers have the part's own numbers.
pub(crate) struct PacketRouters {
    pub ports: Ports,
    pub credits: Credits,
    features: FeatureSet,
    /// The state for packets that choose among outputs.
    adaptive_state: AdaptiveState,
    /// The routers' reduction units; none without collective operations.
    reduction_units: ReductionUnits,
    /// The state of links that send again; empty unless links err.
    links: Links,
    pub outbox: Outbox,
    /// By part: the messages for it.
    outgoing: Vec<PacketMessages>,
}

/// A packet on a cable between two parts.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    /// The router that it goes to, and the input virtual channel there.
    router: u32,
    input_vc: u32,
    packet: PacketCrossing,
}

/// What the routers of one part send those of another.
#[derive(Debug, Default)]
pub(crate) struct PacketMessages {
    packets: Vec<Crossing>,
    notices: Vec<Notice>,
    /// Credits, with their places.
    credits: Vec<(u32, Credit)>,
}

impl HasEarliest for PacketMessages {
    fn earliest(&self) -> Tick {
        let packets = self.packets.iter().map(|crossing| crossing.packet.packet.ready);
        let credits = self.credits.iter().map(|credit| credit.1.time);
        let notices = self.notices.iter().map(|notice| notice.time);
        packets.chain(credits).chain(notices).min().unwrap_or(NEVER)
    }
}

impl Routers for PacketRouters {
    type Messages = PacketMessages;
    type Own = ();
    type Saved = (Ports, Credits, AdaptiveState, ReductionUnits, LinkState);

    const QUEUES_AT_ONCE: bool = false;

    fn new(common: &Common<'_>, ports: Ports, (): &()) -> Self {
        let context = &*common.context;
        Self {
            credits: Credits::new(ports.rooms(context)),
            features: FeatureSet::new(context),
            adaptive_state: AdaptiveState::new(&common.routing, &ports),
            reduction_units: ReductionUnits::new(&context.trees, ports.routers.len()),
            links: Links::new(context, common.schedule.part, &ports),
            outbox: Outbox::default(),
            outgoing: (0..context.cut.parts()).map(|_| PacketMessages::default()).collect(),
            ports,
        }
    }

    fn ports(&self) -> &Ports {
        &self.ports
    }

    #[inline]
    fn prefetch(&self, common: &Common<'_>, router: u32, stage: Stage) {
        match stage {
            // The addresses that the next stages need.
            Stage::Far => {
                prefetch(&self.ports.routers[router as usize]);
                prefetch(&self.ports.arrived[router as usize * self.ports.size.words]);
            }
            Stage::Near => self.prefetch_ports(common, router),
            Stage::Next => self.prefetch_heads(common, router),
            Stage::Last => (),
        }
    }

    #[inline(always)]
    fn next_event(&self, number: u32) -> Tick {
        let next = least(self.ports.blocks_of(&self.ports.routers[number as usize]));
        if self.features == FeatureSet::Plain {
            return next;
        }
        let decide_at = self.adaptive_state.decide_at[number as usize];
        next.min(decide_at).min(self.links.state.due[number as usize])
    }

    #[inline(always)]
    fn has_arrivals(&self, number: u32) -> bool {
        let words = self.ports.size.words;
        let first = number as usize * words;
        self.ports.arrived[first..first + words].iter().any(|&word| word != 0)
    }

    #[inline(never)]
    fn run(&mut self, common: &mut Common<'_>, number: u32, until: Tick) -> Tick {
        let (shift, size) = (self.ports.size.shift, self.ports.size);
        let (one, two) = (Small::<1> { shift }, Small::<2> { shift });
        match (self.features, self.ports.small) {
            _ if common.trace.is_some() => self.borrow::<_, Every>(common, number, size).run(until),
            (FeatureSet::Plain, Some(1)) => self.borrow::<_, Plain>(common, number, one).run(until),
            (FeatureSet::Plain, Some(2)) => self.borrow::<_, Plain>(common, number, two).run(until),
            (FeatureSet::Plain, _) => self.borrow::<_, Plain>(common, number, size).run(until),
            (FeatureSet::Choosing, Some(1)) => {
                self.borrow::<_, Choosing>(common, number, one).run(until)
            }
            (FeatureSet::Choosing, Some(2)) => {
                self.borrow::<_, Choosing>(common, number, two).run(until)
            }
            (FeatureSet::Choosing, _) => {
                self.borrow::<_, Choosing>(common, number, size).run(until)
            }
            (FeatureSet::Every, _) => self.borrow::<_, Every>(common, number, size).run(until),
        }
    }

    /// Sends the first packet that has room through an injection channel, if that is free.
    #[inline]
    fn inject(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        number: u32,
        terminal: u32,
        now: Tick,
    ) -> Tick {
        let vcs = fitted!(common.context.vc_map.count(), u32);
        let injection = hosts.sources.injections[number as usize];
        if hosts.sources.paused || injection.waiting == 0 {
            return NEVER;
        }
        if injection.free_at > now {
            return injection.free_at;
        }
        let of_terminal = number - terminal * common.context.parameters.injection_channels;
        let room = hosts.sources.adapters[terminal as usize].room + of_terminal * vcs;
        let mut due = NEVER;
        let from_pointer = u16::MAX << injection.pointer;
        for waiting in [injection.waiting & from_pointer, injection.waiting & !from_pointer] {
            for vc in bits(waiting).map(|vc| fitted!(vc, u32)) {
                let flits = hosts.sources.flits_of_next(number, vc, vcs);
                let place = room + vc;
                if !self.credits.have_room(place, flits, now) {
                    due = due.min(self.credits.foresee(place, flits));
                    continue;
                }
                self.credits.room[place as usize] -= flits;
                hosts.end_wait(common, number, now);
                self.send_packet(common, hosts, (number, terminal), fitted!(vc, u8), now);
                let Injection { waiting, free_at, .. } = hosts.sources.injections[number as usize];
                return if waiting == 0 { NEVER } else { free_at };
            }
        }
        hosts.begin_wait(common, number, now);
        due
    }

    fn deliver(&mut self, common: &mut Common<'_>) {
        let lead = if common.is_large { LEAD } else { 0 };
        for step in 0..self.outbox.sent.len() + lead {
            if lead > 0 {
                self.prefetch_delivery(common, step);
            }
            let Some(place) = step.checked_sub(lead) else { continue };
            let Sent { slot, part, router, input_vc } = self.outbox.sent[place];
            if part as usize == common.schedule.part {
                self.join(common, router, input_vc, slot);
            } else {
                let packet = common.packets.take_away(slot);
                let crossing = Crossing { router, input_vc, packet };
                self.outgoing[part as usize].packets.push(crossing);
            }
        }
        self.outbox.sent.clear();
        for place in 0..self.outbox.returned.len() {
            let Returned { upstream, vc, credit } = self.outbox.returned[place];
            if upstream & AWAY == 0 {
                self.return_credit(common, upstream + u32::from(vc), credit);
            } else {
                let entry = (upstream & !AWAY) as usize;
                let RemoteUpstream { part, room } = self.ports.remote_upstreams[entry];
                self.outgoing[part as usize].credits.push((room + u32::from(vc), credit));
            }
        }
        self.outbox.returned.clear();
        self.send_notices(common);
    }

    fn swap_outgoing(&mut self, to: usize, empty: &mut PacketMessages) {
        std::mem::swap(&mut self.outgoing[to], empty);
    }

    fn take_incoming(&mut self, common: &mut Common<'_>, incoming: &mut PacketMessages) {
        for Crossing { router, input_vc, packet } in incoming.packets.drain(..) {
            let slot = common.packets.take_in(&packet);
            self.join(common, router, input_vc, slot);
        }
        for notice in incoming.notices.drain(..) {
            self.take_notice(common, &notice);
        }
        for (place, credit) in incoming.credits.drain(..) {
            self.return_credit(common, place, credit);
        }
    }

    fn rebase(&mut self, by: Tick) {
        self.ports.rebase(by);
        self.credits.rebase(by);
        self.adaptive_state.rebase(by);
        self.reduction_units.rebase(by);
        self.links.rebase(by);
    }

    fn latest_arrival(&self, common: &Common<'_>) -> Picoseconds {
        let packets = &common.packets.packets;
        let queues = if common.packets.count > 0 { &*self.ports.queues } else { &[] };
        let slots = queues.iter().flat_map(|queue| chain(packets, queue.head));
        let ready = slots.map(|slot| common.time(packets[slot as usize].ready));
        ready.max().unwrap_or(Picoseconds::ZERO)
    }

    fn may_hold_flits(&self, common: &Common<'_>) -> bool {
        common.packets.count > 0
    }

    fn memory(&self) -> usize {
        self.ports.memory()
            + self.credits.memory()
            + self.adaptive_state.memory()
            + self.reduction_units.memory()
            + self.links.memory()
    }

    fn settle_stalls(&mut self, common: &mut Common<'_>, now: Tick) {
        for number in 0..fitted!(self.ports.routers.len(), u32) {
            self.borrow::<_, Plain>(common, number, self.ports.size).settle_stalls(now);
        }
    }

    fn output_free_at(&self, output: u32) -> Tick {
        match self.ports.output(output).free_at {
            // An output that is held for a packet of a collective operation sends nothing.
            NEVER => self.links.line_free(output),
            free_at => free_at,
        }
    }

    fn flits_resent(&self, output: u32) -> Option<u64> {
        Some(self.links.channel(output)?.flits_resent)
    }

    fn reset_statistics(&mut self) {
        self.links.reset_statistics();
    }

    fn saved(&self) -> impl Serialize + '_ {
        let Self { ports, credits, adaptive_state, reduction_units, links, .. } = self;
        (ports, credits, adaptive_state, reduction_units, &links.state)
    }

    fn restore(&mut self, saved: Self::Saved) -> bool {
        let (ports, credits, adaptive_state, reduction_units, links) = saved;
        let memory = self.memory();
        (self.ports, self.credits, self.reduction_units) = (ports, credits, reduction_units);
        (self.adaptive_state, self.links.state) = (adaptive_state, links);
        // The arrays of another network have other sizes.
        self.memory() == memory
    }
}

impl Fail for PacketRouters {
    fn fail_output(&mut self, common: &mut Common<'_>, router: u32, output: u32, at: Picoseconds) {
        let state = self.ports.fail(router, output);
        // It may be granted now, whatever it waited for.
        let next = state.free_at.max(common.schedule.tick(at + Picoseconds(1)));
        self.ports.lower(router, output, next);
        common.schedule.active.lower(router, next);
    }

    fn fail_router(&mut self, common: &mut Common<'_>, router: u32) {
        let RouterLayout { first_input, inputs, .. } = self.ports.routers[router as usize];
        let shift = self.ports.size.shift;
        for buffer in first_input << shift..(first_input + u32::from(inputs)) << shift {
            for slot in chain(&common.packets.packets, self.ports.queues[buffer as usize].head) {
                common.packets.origins[slot as usize].lose();
            }
        }
    }
}

impl PacketRouters {
    /// Sends the first packet of a source queue through a free injection channel.
    #[inline]
    fn send_packet(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal): (u32, u32),
        vc: u8,
        now: Tick,
    ) {
        let NewPacket { slot, departs } = hosts.next_packet_of(common, number, terminal, vc, now);
        let packet = &mut common.packets.packets[slot as usize];
        let Packet { source, sequence, flits, .. } = *packet;
        let &Adapter { router, input: first_input, timing, .. } =
            &hosts.sources.adapters[terminal as usize];
        // All flits are there from the start.
        let last = common.context.send(packet, timing, now);
        let channels = common.context.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let time = common.time(now);

        let context = &*common.context;
        let channel = context.channel_of_injection(common.schedule.part, number);
        common.digest.add(time, channel, source, sequence);
        common.counters.grants += 1;
        let in_part = fitted!(self.ports.outputs, u32) + number;
        common.statistics.sent(in_part, vc, flits);
        let injection = &mut hosts.sources.injections[number as usize];
        injection.pointer = (vc + 1) % fitted!(context.vc_map.count(), u8);
        let free_at = last + context.timing(timing).flit;
        injection.free_at = free_at;
        let of_router = first_input + of_terminal - self.ports.routers[router as usize].first_input;
        let input_vc = (of_router << self.ports.size.shift) + u32::from(vc);
        self.join(common, router, input_vc, slot);
        if let Some(tag) = departs {
            hosts.message_sent(common, terminal, tag, common.time(free_at));
        }
    }

    /// Puts a packet into a buffer of a router of this part.
    #[inline]
    fn join(&mut self, common: &mut Common<'_>, number: u32, input_vc: u32, slot: u32) {
        let router = &self.ports.routers[number as usize];
        let place = self.ports.queue(router, input_vc);
        let PacketQueue { head, tail, .. } = &mut self.ports.queues[place];
        if common.packets.append(head, tail, slot) {
            let word = number as usize * self.ports.size.words + input_vc as usize / 64;
            self.ports.arrived[word] |= 1 << (input_vc % 64);
            common.schedule.active.lower(number, common.packets.packets[slot as usize].ready);
        }
    }

    /// Returns a credit to a sender of this part. If the sender waits for one, its output is due at
    /// the credit's arrival.
    #[inline]
    fn return_credit(&mut self, common: &mut Common<'_>, place: u32, credit: Credit) {
        if self.credits.send(place, credit, common.schedule.window.start) {
            self.wake_sender(common, place, credit.time);
        }
    }

    #[cold]
    fn wake_sender(&mut self, common: &mut Common<'_>, place: u32, time: Tick) {
        let (number, output) = self.ports.senders[place as usize / common.context.vc_map.count()];
        let free_at = self.ports.output_mut(number, output).free_at;
        let time = time.max(free_at);
        self.ports.lower(number, output, time);
        common.schedule.active.lower(number, time);
    }

    /// Delivers the notices of visits to other routers.
    fn send_notices(&mut self, common: &mut Common<'_>) {
        let mut notices = std::mem::take(&mut self.links.notices);
        for notice in notices.drain(..) {
            if notice.to.part as usize == common.schedule.part {
                self.take_notice(common, &notice);
            } else {
                self.outgoing[notice.to.part as usize].notices.push(notice);
            }
        }
        self.links.notices = notices;
    }

    /// Takes in a notice for a router of this part.
    fn take_notice(&mut self, common: &mut Common<'_>, notice: &Notice) {
        let router = notice.to.router;
        self.links.take_in(self.ports.routers[router as usize].first_output, notice);
        common.schedule.active.lower(router, notice.time);
    }

    /// Prefetches a router's ports, and the buffers that packets have come to.
    #[inline(never)]
    fn prefetch_ports(&self, common: &Common<'_>, number: u32) {
        let router = &self.ports.routers[number as usize];
        let output = router.first_output as usize;
        self.ports.blocks_of(router).iter().for_each(prefetch);
        prefetch(&self.ports.requests[output * self.ports.size.words]);
        prefetch(&common.statistics.flits[output * common.context.vc_map.count()]);
        self.for_each_arrival(number, prefetch);
    }

    /// Prefetches the packets in these buffers, and the first credits.
    #[inline(never)]
    fn prefetch_heads(&self, common: &Common<'_>, number: u32) {
        let router = &self.ports.routers[number as usize];
        if let Some(block) = self.ports.blocks_of(router).first() {
            prefetch(&self.credits.room[block.outputs[0].room as usize]);
        }
        self.for_each_arrival(number, |queue| {
            common.packets.packets.get(queue.head as usize).into_iter().for_each(prefetch);
        });
    }

    /// Calls `see` with each buffer of a router that was empty and has got a packet since the last
    /// visit.
    #[inline(always)]
    fn for_each_arrival(&self, number: u32, see: impl Fn(&PacketQueue)) {
        let words = self.ports.size.words;
        let arrived = &self.ports.arrived[number as usize * words..][..words];
        for input_vc in members(arrived) {
            let router = &self.ports.routers[number as usize];
            see(&self.ports.queues[self.ports.queue(router, fitted!(input_vc, u32))]);
        }
    }

    /// Prefetches the memory for the delivery that is [`LEAD`] steps ahead in the outbox.
    #[inline(always)]
    fn prefetch_delivery(&self, common: &Common<'_>, place: usize) {
        if let Some(&Sent { slot, router, part, .. }) = self.outbox.sent.get(place)
            && part as usize == common.schedule.part
        {
            prefetch(&self.ports.routers[router as usize]);
            prefetch(&self.ports.arrived[router as usize * self.ports.size.words]);
            prefetch(&common.packets.packets[slot as usize]);
            common.schedule.active.prefetch(router);
        }
        if let Some(nearer) = place.checked_sub(LEAD / 2)
            && let Some(&Sent { router, input_vc, part, .. }) = self.outbox.sent.get(nearer)
            && part as usize == common.schedule.part
        {
            let router = &self.ports.routers[router as usize];
            prefetch(&self.ports.queues[self.ports.queue(router, input_vc)]);
        }
        if let Some(&Returned { upstream, vc, .. }) = self.outbox.returned.get(place)
            && upstream & AWAY == 0
        {
            prefetch(&self.credits.returning[upstream as usize + usize::from(vc)]);
        }
    }
}
