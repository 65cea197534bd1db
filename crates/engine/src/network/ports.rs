//! The ports of a part's routers, in flat arrays: outputs, input ports, their buffers, and the
//! requests of buffers for outputs.
//!
//! Numbers are a part's own and count from its first router. A router's outputs are its network
//! channels in the order of its ports, vacant ones included, then its ejection channels. Its input
//! ports are those of network channels, then those of injection channels. An input virtual channel
//! is a buffer of an input port: its number counts by input port, then virtual channel.
//!
//! [`Ports`] belongs to a [`Part`](crate::part::Part); a visit borrows one router's share of it.

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, rebased};
use crate::network::NO_OUTPUT;
use crate::network::context::NetworkContext;
use crate::network::port_block::{AWAY, BLOCK_PORTS, Input, NO_PORT, Output, PortBlock};
use crate::network::size::Any;
use crate::next_hop::demands;
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::NONE;
use flitlab_model::{ChannelKind, Parameters};

/// Where a router's ports and buffers lie in the arrays, and where its next round-robin pass
/// starts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RouterLayout {
    pub first_output: u32,
    pub first_input: u32,
    pub first_block: u32,
    pub blocks: u32,
    pub first_terminal: u32,
    pub outputs: u16,
    pub inputs: u16,
    pub terminals: u16,
    /// Number of input ports fed by network channels.
    pub transit: u16,
    /// The output at which the next allocation pass starts.
    pub next_output: u16,
}

/// A buffer: a chain of packets, some of which may still be under way to it. The first packet asks
/// for an output once the one before it has left.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct PacketQueue {
    /// Time at which the head asks; [`NEVER`] if there is none, or if its request has not been
    /// computed.
    pub ask: Tick,
    /// Time at which the last flit of the latest packet that was sent from it has left.
    pub free_at: Tick,
    pub head: u32,
    pub tail: u32,
    pub flits: u16,
    /// Room that the head needs behind its output, in flits.
    pub need: u16,
    /// The output that it asks for, and its virtual channel there; for a head with a choice those
    /// of its escape.
    pub output: u16,
    /// The ports among which it may choose, a bit each; 0 if it has no choice.
    pub options: u16,
    pub out_vc: u8,
    /// The head's list of hops in a routing relation, looked up once per head.
    pub hops: u32,
}

/// The upstream end of a channel that begins in another part: the part, and the place of the
/// credits there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RemoteUpstream {
    pub part: u32,
    pub room: u32,
}

/// The input port and the virtual channel of a buffer.
#[inline(always)]
pub(crate) fn place(input_vc: u32, shift: u32) -> (usize, u8) {
    ((input_vc >> shift) as usize, fitted!(input_vc & ((1 << shift) - 1), u8))
}

/// All ports of a part.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub routers: Vec<RouterLayout>,
    /// By router: its outputs and input ports.
    pub blocks: Vec<PortBlock>,
    /// Number of outputs.
    pub outputs: usize,
    /// By input port, then virtual channel. There may be more places than virtual channels.
    pub queues: Vec<PacketQueue>,
    /// By output: the input virtual channels whose heads ask for it now or soon, a bit each.
    pub requests: Vec<u64>,
    /// By output: the input virtual channels whose heads may leave by it on an escape channel;
    /// empty unless routing is adaptive.
    pub escapes: Vec<u64>,
    /// By router: input virtual channels that have got a head since its last visit.
    pub arrived: Vec<u64>,
    /// The size of the routers.
    pub size: Any,
    /// Number of blocks of each router, if all are [`Small`](super::size::Small) and have equally
    /// many.
    pub small: Option<u32>,
    pub remote_upstreams: Vec<RemoteUpstream>,
    /// By place of credits: the sender's router, and the output there; [`NONE`] for an injection
    /// channel.
    pub senders: Vec<(u32, u32)>,
}

impl Ports {
    /// The ports of an idle part.
    pub(crate) fn new(context: &NetworkContext<'_>, part: usize) -> Self {
        let adaptive = demands::is_adaptive(context.routes);
        let NetworkContext { fabric, network, cut, parameters, .. } = context;
        let routers = cut.routers(part);
        let vcs = narrow::<u32>(context.vc_map.count());
        // A router's reduction unit has two queues at the first input port.
        let queues = vcs + if context.trees.is_empty() { 0 } else { 2 };
        let shift = queues.next_power_of_two().trailing_zeros();
        let most_inputs = network.first_input.windows(2).map(|pair| pair[1] - pair[0]).max();
        let words = ((most_inputs.unwrap_or(0) as usize) << shift).div_ceil(64).max(1);
        let first_input = cut.first_input(part);
        let mut ports = Self {
            routers: Vec::with_capacity(routers.len()),
            blocks: Vec::new(),
            outputs: 0,
            queues: Vec::new(),
            requests: Vec::new(),
            escapes: Vec::new(),
            arrived: vec![0; routers.len() * words],
            size: Any { words, shift },
            small: None,
            remote_upstreams: Vec::new(),
            senders: Vec::new(),
        };
        let injections = parameters.injection_channels;
        let (mut terminals, mut inputs_before) = (0, 0);
        for router in routers.clone() {
            let own = narrow::<u32>(context.terminals_of(router).len());
            let (outputs, inputs) = (network.outputs_of(router), network.inputs_of(router));
            let blocks = outputs.len().max(inputs.len()).div_ceil(BLOCK_PORTS);
            ports.routers.push(RouterLayout {
                first_output: narrow::<u32>(ports.outputs),
                first_input: inputs_before,
                first_block: narrow::<u32>(ports.blocks.len()),
                blocks: narrow::<u32>(blocks),
                first_terminal: terminals,
                outputs: narrow::<u16>(outputs.len()),
                inputs: narrow::<u16>(inputs.len()),
                terminals: narrow::<u16>(own),
                transit: narrow::<u16>(network.transit_inputs[router as usize]),
                next_output: 0,
            });
            ports.blocks.resize(ports.blocks.len() + blocks, PortBlock::VACANT);
            let number = narrow::<u32>(ports.routers.len()) - 1;
            for (output, channel) in (0..).zip(outputs.clone()) {
                *ports.output_mut(number, output) =
                    ports.new_output(context, part, router, channel);
            }
            debug_assert_eq!(inputs.start - first_input, inputs_before);
            for (place, input) in inputs.clone().enumerate() {
                let state = ports.new_input(context, part, router, input);
                let first = ports.routers[number as usize].first_block as usize;
                ports.blocks[first + place / BLOCK_PORTS].inputs[place % BLOCK_PORTS] = state;
            }
            inputs_before += narrow::<u32>(inputs.len());
            ports.outputs += outputs.len();
            terminals += own;
            ports.senders.extend((0..own * injections).map(|_| (number, NONE)));
        }
        let blocks = ports.routers.first().map_or(0, |router| router.blocks);
        let alike = ports.routers.iter().all(|router| router.blocks == blocks);
        ports.small = Some(blocks).filter(|_| alike && words == 1);
        let empty = PacketQueue {
            ask: NEVER,
            head: NONE,
            tail: NONE,
            output: NO_OUTPUT,
            ..PacketQueue::default()
        };
        ports.queues = vec![empty; (inputs_before as usize) << shift];
        ports.requests = vec![0; ports.outputs * words];
        ports.escapes = if adaptive { ports.requests.clone() } else { Vec::new() };
        debug_assert!(fabric.routers() >= routers.end);
        ports
    }

    fn new_output(
        &mut self,
        context: &NetworkContext<'_>,
        part: usize,
        router: u32,
        channel: u32,
    ) -> Output {
        let NetworkContext { fabric, network, cut, parameters, .. } = context;
        let port = channel - network.first_output[router as usize];
        let ports = fabric.outputs(router);
        let (kind, class) = match port.checked_sub(narrow::<u32>(ports.len())) {
            None => (ChannelKind::Network, fabric.cable_class(ports.start + port)),
            Some(ejection) => {
                let number = ejection / parameters.ejection_channels;
                let terminal = context.terminals_of(router)[number as usize];
                (ChannelKind::Ejection, fabric.terminal_class(terminal))
            }
        };
        let is_network = kind == ChannelKind::Network;
        let input = network.input_of_channel[channel as usize];
        let mut output = Output {
            kind,
            timing: network.timing(kind, class),
            in_ring: network.ring_of_channel[channel as usize] != NONE,
            dead: is_network && input == NONE,
            needs_room: input != NONE,
            hands_on: is_network && input != NONE && parameters.errors.is_none(),
            repeats: is_network && input != NONE && parameters.errors.is_some(),
            ..Output::VACANT
        };
        if input != NONE {
            let far = network.router_of_input[input as usize];
            let far_part = cut.part_of_router(far);
            let own = narrow::<u32>(self.routers.len()) - 1;
            output.room = self.next_room(context);
            debug_assert_eq!(context.room_of_channel(part, channel), output.room);
            self.senders.push((own, port));
            output.far_input_vc =
                narrow::<u16>((input - network.first_input[far as usize]) << self.size.shift);
            output.far_router = far - cut.first_router(far_part);
            output.far_part = narrow::<u32>(far_part);
        }
        output
    }

    /// The place of the next channel's credits, for virtual channel 0.
    fn next_room(&self, context: &NetworkContext<'_>) -> u32 {
        narrow::<u32>(self.senders.len() * context.vc_map.count())
    }

    fn new_input(
        &mut self,
        context: &NetworkContext<'_>,
        part: usize,
        router: u32,
        input: u32,
    ) -> Input {
        let NetworkContext { fabric, network, cut, parameters, .. } = context;
        let upstream_channel = network.channel_of_input[input as usize];
        if upstream_channel >= network.first_injection() {
            let of_router = input
                - network.first_input[router as usize]
                - network.transit_inputs[router as usize];
            // The credits of injection channels follow those of all network channels.
            let first = self.next_room(context);
            let upstream = first + of_router * narrow::<u32>(context.vc_map.count());
            let own = context.terminals_of(router);
            let terminal = own[(of_router / parameters.injection_channels) as usize];
            let class = fabric.terminal_class(terminal);
            let timing = network.timing(ChannelKind::Injection, class);
            return Input { upstream, injects: true, timing, ..Input::VACANT };
        }
        let from = network.router_of_output(upstream_channel);
        let from_part = cut.part_of_router(from);
        let room = context.room_of_channel(from_part, upstream_channel);
        let ring = network.ring_of_channel[upstream_channel as usize];
        let port = upstream_channel - network.first_output[from as usize];
        let channel = fabric.outputs(from).start + port;
        let ring_output = network
            .outputs_of(router)
            .position(|output| ring != NONE && network.ring_of_channel[output as usize] == ring);
        let opposite = fabric.opposite(channel).map(|it| it - fabric.outputs(router).start);
        Input {
            upstream: if from_part == part {
                room
            } else {
                self.remote_upstreams.push(RemoteUpstream { part: narrow::<u32>(from_part), room });
                AWAY | (narrow::<u32>(self.remote_upstreams.len()) - 1)
            },
            ring_output: ring_output.map_or(NO_OUTPUT, |output| narrow::<u16>(output)),
            opposite: opposite.map_or(NO_OUTPUT, |output| narrow::<u16>(output)),
            port: narrow::<u8>(port.min(u32::from(NO_PORT))),
            timing: network.timing(ChannelKind::Network, fabric.cable_class(channel)),
            ..Input::VACANT
        }
    }

    /// The initial room of each channel's virtual channels, in flits.
    pub(crate) fn rooms(&self, context: &NetworkContext<'_>) -> Vec<u16> {
        let Parameters { buffer, injection_buffer, .. } = context.parameters;
        let of_channel = |&(_, output): &(u32, u32)| {
            let room = if output == NONE { injection_buffer } else { buffer };
            std::iter::repeat_n(narrow::<u16>(room), context.vc_map.count())
        };
        self.senders.iter().flat_map(of_channel).collect()
    }

    /// The blocks of a router.
    #[inline(always)]
    pub(crate) fn blocks_of(&self, router: &RouterLayout) -> &[PortBlock] {
        &self.blocks[router.first_block as usize..][..router.blocks as usize]
    }

    /// A router's output.
    pub(crate) fn output_mut(&mut self, router: u32, output: u32) -> &mut Output {
        let first = self.routers[router as usize].first_block as usize;
        &mut self.blocks[first + output as usize / BLOCK_PORTS].outputs
            [output as usize % BLOCK_PORTS]
    }

    /// Makes a router's output swallow what is sent to it.
    pub(crate) fn fail(&mut self, router: u32, output: u32) -> &Output {
        let output = self.output_mut(router, output);
        output.dead = true;
        output.needs_room = false;
        (output.hands_on, output.repeats) = (false, false);
        output
    }

    /// An output of a router.
    #[inline(always)]
    pub(crate) fn output_of(&self, router: &RouterLayout, output: usize) -> &Output {
        let block = router.first_block as usize + output / BLOCK_PORTS;
        &self.blocks[block].outputs[output % BLOCK_PORTS]
    }

    /// An input port of a router.
    #[inline(always)]
    pub(crate) fn input_of(&self, router: &RouterLayout, input: usize) -> &Input {
        let block = router.first_block as usize + input / BLOCK_PORTS;
        &self.blocks[block].inputs[input % BLOCK_PORTS]
    }

    /// An output by its number in the part.
    pub(crate) fn output(&self, number: u32) -> &Output {
        let router = self.routers.partition_point(|router| router.first_output <= number) - 1;
        let router = &self.routers[router];
        self.output_of(router, (number - router.first_output) as usize)
    }

    /// An input port by its number in the part.
    pub(crate) fn input(&self, number: u32) -> &Input {
        let router = self.routers.partition_point(|router| router.first_input <= number) - 1;
        let router = &self.routers[router];
        self.input_of(router, (number - router.first_input) as usize)
    }

    /// The router of an input virtual channel of the part, and its number.
    pub(crate) fn router_of(&self, input_vc: u32) -> (u32, &RouterLayout) {
        let input = input_vc >> self.size.shift;
        let place = self.routers.partition_point(|router| router.first_input <= input) - 1;
        (narrow::<u32>(place), &self.routers[place])
    }

    /// All outputs of the part, in the order of their numbers.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.routers.iter().flat_map(|router| {
            let outputs = self.blocks_of(router).iter().flat_map(|block| &block.outputs);
            outputs.take(router.outputs.into())
        })
    }

    /// Makes an output due by `time`.
    pub(crate) fn lower(&mut self, router: u32, output: u32, time: Tick) {
        let first = self.routers[router as usize].first_block as usize;
        let block = &mut self.blocks[first + output as usize / BLOCK_PORTS];
        let due = &mut block.due[output as usize % BLOCK_PORTS];
        *due = (*due).min(time);
    }

    /// The buffer of a router's input virtual channel: its number in the part.
    #[inline]
    pub(crate) fn queue(&self, router: &RouterLayout, input_vc: u32) -> usize {
        ((router.first_input << self.size.shift) + input_vc) as usize
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        let move_back = |tick: &mut Tick| *tick = rebased(*tick, by);
        for block in &mut self.blocks {
            block.due.iter_mut().for_each(move_back);
            for output in &mut block.outputs {
                move_back(&mut output.free_at);
                move_back(&mut output.since);
            }
            block.inputs.iter_mut().for_each(|input| move_back(&mut input.free_at));
        }
        for queue in &mut self.queues {
            move_back(&mut queue.ask);
            move_back(&mut queue.free_at);
        }
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.routers)
            + size_of_val(&*self.blocks)
            + size_of_val(&*self.queues)
            + size_of_val(&*self.requests)
            + size_of_val(&*self.escapes)
            + size_of_val(&*self.arrived)
            + size_of_val(&*self.senders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::small::{context, direction_order, torus};

    #[test]
    fn an_output_and_the_input_at_its_far_end_know_each_other_in_any_cut() {
        let fabric = torus(&[4, 3]);
        let routes = direction_order(&fabric);
        let parameters = Parameters { injection_channels: 2, ..Parameters::default() };
        for parts in [1, 2, 5] {
            let context = context(parts, &fabric, &routes, &parameters);
            let all: Vec<Ports> = (0..parts).map(|part| Ports::new(&context, part)).collect();
            let vcs = context.vc_map.count() as u32;
            let mut wired = 0;
            for (part, ports) in all.iter().enumerate() {
                for (number, router) in (0..).zip(&ports.routers) {
                    for output in 0..u32::from(router.outputs) {
                        let own = ports.output(router.first_output + output);
                        assert!(std::ptr::eq(own, ports.output_of(router, output as usize)));
                        if !own.is_wired() {
                            assert_eq!(own.kind, ChannelKind::Ejection);
                            continue;
                        }
                        wired += 1;
                        assert_eq!(ports.senders[(own.room / vcs) as usize], (number, output));
                        let far = &all[own.far_part as usize];
                        let far_router = &far.routers[own.far_router as usize];
                        let place = place(own.far_input_vc.into(), far.size.shift).0;
                        let input = far.input(far_router.first_input + place as u32);
                        assert_eq!(u32::from(input.port), output);
                        let sender = if input.upstream & AWAY == 0 {
                            (own.far_part, input.upstream)
                        } else {
                            let remote = far.remote_upstreams[(input.upstream & !AWAY) as usize];
                            (remote.part, remote.room)
                        };
                        assert_eq!(sender, (part as u32, own.room));
                        // The cable leads back to where it has come from.
                        let back = far.output_of(far_router, input.opposite.into());
                        assert_eq!((back.far_part, back.far_router), (part as u32, number));
                    }
                }
            }
            assert_eq!(wired, fabric.routers() * 4);
        }
    }

    #[test]
    fn injection_channels_follow_the_network_channels_of_their_router() {
        let fabric = torus(&[4, 3]);
        let routes = direction_order(&fabric);
        let parameters = Parameters { injection_channels: 2, ..Parameters::default() };
        let context = context(2, &fabric, &routes, &parameters);
        let ports = Ports::new(&context, 1);
        let vcs = context.vc_map.count() as u32;
        for (number, router) in (0..).zip(&ports.routers) {
            assert_eq!((router.transit, router.inputs, router.first_terminal), (4, 6, number));
            for input in 0..router.inputs {
                let port = ports.input_of(router, input.into());
                assert_eq!(port.injects, input >= router.transit);
                if port.injects {
                    assert_eq!(ports.senders[(port.upstream / vcs) as usize], (number, NONE));
                }
            }
        }
    }
}
