//! A router that grants outputs to whole packets, borrowed for a visit.

use std::marker::PhantomData;
use std::ops::Range;

use crate::common::{Common, ToHosts};
use crate::counters::Counters;
use crate::frame::tick::{Tick, time};
use crate::interruption::Interruption;
use crate::network::context::NetworkContext;
use crate::network::port_block::{BLOCK_PORTS, Input, Output};
use crate::network::ports::{PacketQueue, Ports, RouterLayout, place};
use crate::network::size::Size;
use crate::next_hop::Routing;
use crate::packet::{Origin, Packet, Packets};
use crate::router::packet::PacketRouters;
use crate::router::packet::choices::AdaptiveState;
use crate::router::packet::collective::units::ReductionUnits;
use crate::router::packet::credits::Credits;
use crate::router::packet::features::Features;
use crate::router::packet::link::Links;
use crate::router::packet::outbox::Outbox;
use crate::router::statistics::Statistics;
use crate::trace::Trace;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_model::Digest;

/// A router borrowed for a visit: its own state, and the state that the routers of its part share.
/// Outputs, input ports and input virtual channels have the router's own numbers.
pub(crate) struct RouterView<'a, 'f, S: Size, F: Features> {
    pub size: S,
    pub features: PhantomData<F>,
    pub router: &'a mut RouterLayout,
    pub blocks: &'a mut S::PortBlocks,
    /// By input virtual channel.
    pub queues: &'a mut [PacketQueue],
    /// By output: the set of input virtual channels that ask for it, in words.
    pub requests: &'a mut [u64],
    pub escapes: &'a mut [u64],
    pub arrived: &'a mut [u64],
    /// Its number in its part and in the whole network, and the number of the part's first output.
    pub number: u32,
    pub name: u32,
    pub first_channel: u32,
    pub epoch: Picoseconds,
    pub routing: &'a Routing<'f>,
    pub interruption: Option<&'f Interruption>,
    pub context: &'a NetworkContext<'f>,
    pub packets: &'a mut Packets,
    pub credits: &'a mut Credits,
    pub statistics: &'a mut Statistics,
    pub adaptive_state: &'a mut AdaptiveState,
    pub reduction_units: &'a mut ReductionUnits,
    pub links: &'a mut Links,
    pub outbox: &'a mut Outbox,
    pub to_hosts: &'a mut ToHosts,
    pub digest: &'a mut Digest,
    pub trace: &'a mut Option<Box<Trace>>,
    pub counters: &'a mut Counters,
    /// Time of the latest event.
    pub latest: &'a mut Picoseconds,
}

impl PacketRouters {
    /// Borrows a router for a visit.
    #[inline(always)]
    pub(super) fn borrow<'a, 'f, S: Size, F: Features>(
        &'a mut self,
        common: &'a mut Common<'f>,
        number: u32,
        size: S,
    ) -> RouterView<'a, 'f, S, F> {
        let (words, shift) = (size.words(), size.shift());
        let Ports { routers, blocks, queues, requests, escapes, arrived, .. } = &mut self.ports;
        let router = &mut routers[number as usize];
        let sets = router.first_output as usize * words;
        let sets = sets..sets + usize::from(router.outputs) * words;
        let first = (router.first_input as usize) << shift;
        let input_vcs = first..first + (usize::from(router.inputs) << shift);
        let blocks = &mut blocks[router.first_block as usize..][..router.blocks as usize];
        RouterView {
            size,
            features: PhantomData,
            blocks: S::blocks(blocks),
            queues: &mut queues[input_vcs],
            requests: &mut requests[sets.clone()],
            escapes: escapes.get_mut(sets).unwrap_or_default(),
            arrived: &mut arrived[number as usize * words..][..words],
            router,
            number,
            name: number + common.context.cut.first_router(common.schedule.part),
            first_channel: common.context.cut.first_output(common.schedule.part),
            epoch: common.schedule.epoch,
            routing: &common.routing,
            interruption: common.interruption,
            context: &common.context,
            packets: &mut common.packets,
            credits: &mut self.credits,
            statistics: &mut common.statistics,
            adaptive_state: &mut self.adaptive_state,
            reduction_units: &mut self.reduction_units,
            links: &mut self.links,
            outbox: &mut self.outbox,
            to_hosts: &mut common.to_hosts,
            digest: &mut common.digest,
            trace: &mut common.trace,
            counters: &mut common.counters,
            latest: &mut common.latest,
        }
    }
}

impl<S: Size, F: Features> RouterView<'_, '_, S, F> {
    /// The earliest time at which an output can grant.
    pub(crate) fn due(&mut self, output: usize) -> &mut Tick {
        &mut S::block(self.blocks, output).due[output % BLOCK_PORTS]
    }

    /// Makes an output due by `time`.
    #[inline(always)]
    pub(crate) fn lower(&mut self, output: usize, time: Tick) {
        let due = self.due(output);
        *due = (*due).min(time);
    }

    pub(crate) fn output(&mut self, output: usize) -> &mut Output {
        &mut S::block(self.blocks, output).outputs[output % BLOCK_PORTS]
    }

    pub(crate) fn input(&mut self, input: usize) -> &mut Input {
        &mut S::block(self.blocks, input).inputs[input % BLOCK_PORTS]
    }

    /// The input port and the virtual channel of a buffer.
    pub(crate) fn place(&self, input_vc: u32) -> (usize, u8) {
        place(input_vc, self.size.shift())
    }

    /// The range of words of an output's set of requests.
    pub(crate) fn words(&self, output: usize) -> Range<usize> {
        output * self.size.words()..(output + 1) * self.size.words()
    }

    /// The word with an input virtual channel in an output's set of requests.
    pub(crate) fn word(&self, output: usize, input_vc: u32) -> usize {
        output * self.size.words() + input_vc as usize / 64
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

    pub(crate) fn queue(&mut self, input_vc: u32) -> &mut PacketQueue {
        &mut self.queues[input_vc as usize]
    }

    /// The number in the part of an output's channel.
    pub(crate) fn channel(&self, output: usize) -> u32 {
        self.router.first_output + fitted!(output, u32)
    }

    /// Removes an input virtual channel from those that ask for an output.
    #[inline(always)]
    pub(crate) fn drop_request(&mut self, output: usize, input_vc: u32) {
        let word = self.word(output, input_vc);
        self.requests[word] &= !(1 << (input_vc % 64));
    }
}
