//! A router that grants outputs to whole packets, borrowed for a visit.

use std::marker::PhantomData;
use std::ops::Range;

use crate::common::{Common, ToHosts};
use crate::counters::Counters;
use crate::frame::Window;
use crate::frame::active::Active;
use crate::frame::tick::{Tick, time};
use crate::interruption::Interruption;
use crate::network::context::NetworkContext;
use crate::network::port::AWAY;
use crate::network::ports::{RemoteUpstream, RouterLayout, place};
use crate::next_hop::Routing;
use crate::packet::{Origin, Packet, Packets};
use crate::router::asks::Asks;
use crate::router::between_parts::BetweenParts;
use crate::router::collective::units::ReductionUnits;
use crate::router::link::Links;
use crate::router::packet::cell::{Cell, Shape, Size};
use crate::router::packet::choices::AdaptiveState;
use crate::router::packet::credits::Credits;
use crate::router::packet::features::Features;
use crate::router::packet::inlets::Inlets;
use crate::router::packet::lifetime::Lifetimes;
use crate::router::packet::responder_resources::ResponderResources;
use crate::router::packet::{FarEnd, PacketMessages, SharedState};
use crate::statistics::Statistics;
use crate::trace::Trace;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::Digest;

/// A router borrowed for a visit: its own state, and the state that the routers of its part share.
/// Outputs, input ports and buffers have the router's own numbers.
pub(crate) struct Visit<'a, 'f, S: Shape, F: Features> {
    pub features: PhantomData<F>,
    pub cell: &'a mut Cell<S>,
    pub layout: &'a RouterLayout,
    size: Size,
    /// Its number in its part and in the whole network, and the number of the part's first output.
    pub number: u32,
    pub name: u32,
    pub first_channel: u32,
    /// The number of its part.
    pub part: u32,
    pub epoch: Picoseconds,
    pub window: Window,
    pub routing: &'a Routing<'f>,
    pub interruption: Option<&'f Interruption>,
    pub context: &'a NetworkContext<'f>,
    pub packets: &'a mut Packets,
    pub inlets: &'a mut Inlets,
    pub active: &'a mut Active,
    pub far_ends: &'a [FarEnd],
    pub credits: &'a mut Credits,
    pub responder_resources: &'a mut ResponderResources,
    pub lifetimes: &'a mut Lifetimes,
    /// Places of credits whose senders are woken by a credit, and the time of its arrival.
    pub woken: &'a mut Vec<(u32, Tick)>,
    pub remote_upstreams: &'a [RemoteUpstream],
    pub outgoing: &'a mut [PacketMessages],
    pub statistics: &'a mut Statistics,
    pub adaptive_state: &'a mut AdaptiveState,
    pub reduction_units: &'a mut ReductionUnits,
    pub links: &'a mut Links,
    pub to_hosts: &'a mut ToHosts,
    pub digest: &'a mut Digest,
    pub trace: &'a mut Option<Box<Trace>>,
    pub counters: &'a mut Counters,
    /// Time of the latest event.
    pub latest: &'a mut Picoseconds,
}

impl<'a, 'f, S: Shape, F: Features> Visit<'a, 'f, S, F> {
    /// Borrows a router for a visit.
    #[inline(always)]
    pub(crate) fn new(
        cell: &'a mut Cell<S>,
        shared: &'a mut SharedState,
        common: &'a mut Common<'f>,
        number: u32,
    ) -> Self {
        Self {
            features: PhantomData,
            cell,
            layout: &shared.ports.routers[number as usize],
            size: S::KNOWN.unwrap_or(shared.size),
            number,
            name: number + shared.first_router,
            first_channel: shared.first_channel,
            part: fitted!(common.schedule.part, u32),
            epoch: common.schedule.epoch,
            window: common.schedule.window,
            routing: &common.routing,
            interruption: common.interruption,
            context: &common.context,
            packets: &mut common.packets,
            inlets: &mut shared.inlets,
            active: &mut common.schedule.active,
            far_ends: &shared.far_ends,
            credits: &mut shared.credits,
            responder_resources: &mut shared.responder_resources,
            lifetimes: &mut shared.lifetimes,
            woken: &mut shared.woken,
            remote_upstreams: &shared.ports.remote_upstreams,
            outgoing: &mut shared.outgoing,
            statistics: &mut common.statistics,
            adaptive_state: &mut shared.adaptive_state,
            reduction_units: &mut shared.reduction_units,
            links: &mut shared.links,
            to_hosts: &mut common.to_hosts,
            digest: &mut common.digest,
            trace: &mut common.trace,
            counters: &mut common.counters,
            latest: &mut common.latest,
        }
    }

    /// The numbers of the router's ports and buffers.
    #[inline(always)]
    pub(crate) fn size(&self) -> Size {
        S::KNOWN.unwrap_or(self.size)
    }

    /// The input port and the virtual channel of a buffer.
    #[inline(always)]
    pub(crate) fn place(&self, buffer: u32) -> (usize, u8) {
        let (input, vc) = place(buffer, self.size().shift);
        (S::port(input), vc)
    }

    /// The range of words of an output's set of requests.
    #[inline(always)]
    pub(crate) fn words(&self, output: usize) -> Range<usize> {
        let (words, output) = (self.size().words, S::port(output));
        output * words..(output + 1) * words
    }

    /// The word with a buffer in an output's set of requests.
    #[inline(always)]
    pub(crate) fn word(&self, output: usize, buffer: u32) -> usize {
        let words = self.size().words;
        S::port(output) * words + S::buffer(buffer as usize) / 64
    }

    pub(crate) fn time(&self, tick: Tick) -> Picoseconds {
        time(self.epoch, tick)
    }

    pub(crate) fn packet(&mut self, slot: u32) -> &mut Packet {
        &mut self.packets.packets[slot as usize]
    }

    pub(crate) fn origin(&mut self, slot: u32) -> &mut Origin {
        &mut self.packets.origins[slot as usize]
    }

    /// The head of a buffer that is not empty.
    pub(super) fn head_of(&self, buffer: u32) -> &Packet {
        &self.packets.packets[self.cell.head[S::buffer(buffer as usize)] as usize]
    }

    /// Whether an output has a property.
    #[inline(always)]
    pub(crate) fn has(&self, output: usize, flag: u8) -> bool {
        self.cell.flags[S::port(output)] & flag != 0
    }

    /// Whether packets at an input port have been injected there.
    #[inline(always)]
    pub(crate) fn injects(&self, input: usize) -> bool {
        input >= usize::from(self.layout.transit)
    }

    /// The number in the part of an output's channel.
    pub(crate) fn channel(&self, output: usize) -> u32 {
        self.layout.first_output + fitted!(output, u32)
    }

    /// By output: the set of buffers whose heads may leave by it on an escape channel, in words.
    #[inline(always)]
    pub(crate) fn escapes(&self) -> &[u64] {
        let Size { ports, words, .. } = self.size();
        &self.adaptive_state.escapes[self.number as usize * ports * words..][..ports * words]
    }

    /// The word with a buffer in an output's set of escapes.
    #[inline(always)]
    pub(super) fn escape_word(&mut self, output: usize, buffer: u32) -> &mut u64 {
        let Size { ports, words, .. } = self.size();
        let word = self.word(output, buffer);
        &mut self.adaptive_state.escapes[self.number as usize * ports * words + word]
    }

    /// What the head of a buffer asks for.
    #[inline(always)]
    pub(crate) fn asks(&mut self, buffer: u32) -> &mut Asks {
        let first = self.number as usize * self.size().buffers;
        &mut self.adaptive_state.choices[first + buffer as usize]
    }

    /// Removes a buffer from those that ask for an output.
    #[inline(always)]
    pub(super) fn drop_request(&mut self, output: usize, buffer: u32) {
        let word = self.word(output, buffer);
        self.cell.requests[word] &= !(1 << (buffer % 64));
    }

    /// The number of a buffer in the part.
    #[inline(always)]
    pub(crate) fn in_part(&self, buffer: u32) -> u32 {
        (self.number << self.size().stride()) + buffer
    }

    /// Notes that a buffer is empty.
    #[inline(always)]
    pub(super) fn note_empty(&mut self, buffer: u32) {
        let number = self.in_part(buffer);
        self.inlets.inlets[number as usize].last = NONE;
    }

    /// Puts a packet at the end of a buffer of this router. Returns whether it is the first one
    /// there.
    pub(crate) fn append(&mut self, buffer: u32, slot: u32) -> bool {
        let number = self.in_part(buffer);
        let last = std::mem::replace(&mut self.inlets.inlets[number as usize].last, slot);
        self.packet(slot).next = NONE;
        if last == NONE {
            self.cell.head[S::buffer(buffer as usize)] = slot;
        } else {
            self.packet(last).next = slot;
        }
        last == NONE
    }

    /// Leaves the packets of a buffer among the arrivals, of which the first may ask at `ready`.
    pub(super) fn put_back(&mut self, buffer: u32, ready: Tick) {
        let head = &mut self.cell.head[S::buffer(buffer as usize)];
        let slot = std::mem::replace(head, NONE);
        self.arrive_again(buffer, slot);
        self.active.lower(self.number, ready);
    }

    /// Leaves the first packet of a buffer among the arrivals.
    #[inline(always)]
    pub(super) fn arrive_again(&mut self, buffer: u32, slot: u32) {
        let number = self.in_part(buffer);
        self.inlets.inlets[number as usize].first = slot;
        let word = self.number as usize * self.size().words + buffer as usize / 64;
        self.inlets.arrived[word] |= 1 << (buffer % 64);
    }

    /// Puts a packet into the buffer behind an output.
    #[inline(always)]
    pub(crate) fn hand_on(&mut self, output: usize, vc: u8, (slot, ready): (u32, Tick)) {
        let (far, size) = (self.cell.far[S::port(output)], self.size());
        if far & AWAY == 0 {
            let (packets, buffer) = (&mut self.packets.packets, far + u32::from(vc));
            return self.inlets.join(packets, self.active, buffer, (slot, ready), size);
        }
        let FarEnd { part, router, input } = self.far_ends[(far & !AWAY) as usize];
        let packet = self.packets.take_away(slot);
        self.outgoing[part as usize].packets.push(BetweenParts { router, input, vc, packet });
    }

    /// The input port at the far end of an output.
    pub(crate) fn far_end(&self, output: usize) -> FarEnd {
        let far = self.cell.far[S::port(output)];
        match far & AWAY {
            0 => self.inlets.far_end(self.part, far, self.size()),
            _ => self.far_ends[(far & !AWAY) as usize],
        }
    }
}
