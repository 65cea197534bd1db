//! The ports of a part's routers: where their numbers begin, and what never changes of them.
//!
//! Numbers are a part's own and count from its first router. A router's outputs are its network
//! channels in the order of its ports, vacant ones included, then its ejection channels. Its input
//! ports are those of network channels, then those of injection channels. Where links are shared
//! flit by flit, those of its reduction unit are between them if there are collective operations. An
//! input virtual channel is a buffer of an input port: its number counts by input port, then virtual
//! channel.
//!
//! [`Ports`] belongs to the routers of a [`Part`](crate::part::Part).

use serde::{Deserialize, Serialize};

use crate::bytes::bytes_of;
use crate::network::NO_OUTPUT;
use crate::network::context::NetworkContext;
use crate::network::port::{AWAY, Input, NO_PORT, Output};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::NONE;
use flitlab_model::{ChannelKind, Parameters};

/// Where a router's ports lie in the arrays.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RouterLayout {
    pub first_output: u32,
    pub first_input: u32,
    pub first_terminal: u32,
    pub outputs: u16,
    pub inputs: u16,
    pub terminals: u16,
    /// Number of input ports that are not fed by injection channels.
    pub transit: u16,
    /// Of these, the number of the reduction unit's.
    pub unit: u16,
}

impl RouterLayout {
    /// The terminal of one of the router's ejection channels, of which each has so many.
    #[inline]
    pub(crate) fn terminal_at(&self, output: u32, ejection_channels: u32) -> u32 {
        let first = u32::from(self.outputs) - u32::from(self.terminals) * ejection_channels;
        self.first_terminal + (output - first) / ejection_channels
    }

    /// The first of the reduction unit's input ports.
    pub(crate) fn first_of_unit(&self) -> u16 {
        self.transit - self.unit
    }

    /// The number of an input port among those of the reduction unit, if it is one: 0 for results,
    /// and behind it one for the copies at each output.
    pub(crate) fn port_of_unit(&self, input: u16) -> Option<u16> {
        (input < self.transit).then(|| input.checked_sub(self.first_of_unit())).flatten()
    }
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
    /// By number. Routers that grant outputs to whole packets keep these in their cells instead.
    pub output_ports: Vec<Output>,
    pub input_ports: Vec<Input>,
    /// Number of outputs, and the most outputs or input ports that a router has.
    pub outputs: usize,
    pub most: usize,
    /// Number of bits by which the input port is shifted in the number of an input virtual channel;
    /// the lower bits hold the virtual channel.
    pub shift: u32,
    pub remote_upstreams: Vec<RemoteUpstream>,
    /// By place of credits: the sender's router, and the output there; [`NONE`] for an injection
    /// channel.
    pub senders: Vec<(u32, u32)>,
}

impl Ports {
    /// The ports of an idle part.
    pub(crate) fn new(context: &NetworkContext<'_>, part: usize) -> Self {
        let NetworkContext { fabric, network, cut, parameters, .. } = context;
        let routers = cut.routers(part);
        let vcs = narrow::<u32>(context.vc_map.count());
        // A router's reduction unit has two queues at the first input port.
        let has_units = !context.trees.is_empty();
        let shares_flits = parameters.kind.grants_flits();
        let queues = vcs + if has_units && !shares_flits { 2 } else { 0 };
        let shift = queues.next_power_of_two().trailing_zeros();
        let most = |first: &[u32]| first.windows(2).map(|pair| pair[1] - pair[0]).max();
        let most = most(&network.first_input).max(most(&network.first_output)).unwrap_or(0);
        let mut ports = Self {
            routers: Vec::with_capacity(routers.len()),
            output_ports: Vec::new(),
            input_ports: Vec::new(),
            outputs: 0,
            most: most as usize,
            shift,
            remote_upstreams: Vec::new(),
            senders: Vec::new(),
        };
        let injections = parameters.injection_channels;
        let mut terminals = 0;
        for router in routers.clone() {
            let own = narrow::<u32>(context.terminals_of(router).len());
            let (outputs, inputs) = (network.outputs_of(router), network.inputs_of(router));
            let number = narrow::<u32>(ports.routers.len());
            // One for results, and one for the copies at each output.
            let unit = if has_units && shares_flits { 1 + outputs.len() } else { 0 };
            let from_network = network.transit_inputs[router as usize];
            ports.routers.push(RouterLayout {
                first_output: narrow::<u32>(ports.output_ports.len()),
                first_input: narrow::<u32>(ports.input_ports.len()),
                first_terminal: terminals,
                outputs: narrow::<u16>(outputs.len()),
                inputs: narrow::<u16>(inputs.len() + unit),
                terminals: narrow::<u16>(own),
                transit: narrow::<u16>(from_network as usize + unit),
                unit: narrow::<u16>(unit),
            });
            for channel in outputs {
                let port = ports.new_output(context, part, router, channel);
                ports.output_ports.push(port);
            }
            let first_injection = inputs.start + from_network;
            for input in inputs.start..first_injection {
                let port = ports.new_input(context, part, router, input);
                ports.input_ports.push(port);
            }
            ports.input_ports.extend((0..unit).map(|_| Input::OF_UNIT));
            for input in first_injection..inputs.end {
                let port = ports.new_input(context, part, router, input);
                ports.input_ports.push(port);
            }
            terminals += own;
            ports.senders.extend((0..own * injections).map(|_| (number, NONE)));
        }
        ports.outputs = ports.output_ports.len();
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
            output.far_input = narrow::<u16>(input - network.first_input[far as usize]);
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

    /// An output of a router.
    #[inline(always)]
    pub(crate) fn output_of(&self, router: &RouterLayout, output: usize) -> &Output {
        &self.output_ports[router.first_output as usize + output]
    }

    /// An input port of a router.
    #[inline(always)]
    pub(crate) fn input_of(&self, router: &RouterLayout, input: usize) -> &Input {
        &self.input_ports[router.first_input as usize + input]
    }

    /// An output by its number in the part.
    pub(crate) fn output(&self, number: u32) -> &Output {
        &self.output_ports[number as usize]
    }

    /// An input port by its number in the part.
    pub(crate) fn input(&self, number: u32) -> &Input {
        &self.input_ports[number as usize]
    }

    /// The number of input ports.
    pub(crate) fn inputs(&self) -> u32 {
        self.routers.last().map_or(0, |last| last.first_input + u32::from(last.inputs))
    }

    /// Makes a router's output swallow what is sent to it.
    pub(crate) fn fail(&mut self, router: u32, output: u32) {
        let number = self.routers[router as usize].first_output + output;
        self.output_ports[number as usize].fail();
    }

    /// The router of an input virtual channel of the part, and its number.
    pub(crate) fn router_of(&self, input_vc: u32) -> (u32, &RouterLayout) {
        self.router_of_input(input_vc >> self.shift)
    }

    /// The router of an input port of the part, and its number.
    pub(crate) fn router_of_input(&self, input: u32) -> (u32, &RouterLayout) {
        let place = self.routers.partition_point(|router| router.first_input <= input) - 1;
        (narrow::<u32>(place), &self.routers[place])
    }

    /// The router of an output of the part, and its number.
    pub(crate) fn router_of_output(&self, output: u32) -> (u32, &RouterLayout) {
        let place = self.routers.partition_point(|router| router.first_output <= output) - 1;
        (narrow::<u32>(place), &self.routers[place])
    }

    /// The number in the whole network of an input port of the part, which a channel feeds.
    pub(crate) fn name_of_input(
        &self,
        context: &NetworkContext<'_>,
        part: usize,
        input: u32,
    ) -> u32 {
        let (number, router) = self.router_of_input(input);
        let of_router = input - router.first_input;
        let before = if of_router >= router.transit.into() { router.unit.into() } else { 0 };
        let name = context.cut.first_router(part) + number;
        context.network.first_input[name as usize] + of_router - before
    }

    /// The input port of the part with this number in the whole network.
    pub(crate) fn input_named(&self, context: &NetworkContext<'_>, part: usize, name: u32) -> u32 {
        let router_name = context.network.router_of_input[name as usize];
        let router = &self.routers[(router_name - context.cut.first_router(part)) as usize];
        let of_router = name - context.network.first_input[router_name as usize];
        let from_network = router.first_of_unit().into();
        let before = if of_router >= from_network { router.unit.into() } else { 0 };
        router.first_input + of_router + before
    }

    /// The buffer of a router's input virtual channel: its number in the part.
    #[inline]
    pub(crate) fn queue(&self, router: &RouterLayout, input_vc: u32) -> usize {
        ((router.first_input << self.shift) + input_vc) as usize
    }

    pub(crate) fn memory(&self) -> usize {
        bytes_of!(self; routers, output_ports, input_ports, senders)
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
            let vcs = narrow::<u32>(context.vc_map.count());
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
                        let input = far.input(far_router.first_input + u32::from(own.far_input));
                        assert_eq!(u32::from(input.port), output);
                        let sender = if input.upstream & AWAY == 0 {
                            (own.far_part, input.upstream)
                        } else {
                            let remote = far.remote_upstreams[(input.upstream & !AWAY) as usize];
                            (remote.part, remote.room)
                        };
                        assert_eq!(sender, (narrow::<u32>(part), own.room));
                        // The cable leads back to where it has come from.
                        let back = far.output_of(far_router, input.opposite.into());
                        assert_eq!((back.far_part, back.far_router), (narrow::<u32>(part), number));
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
        let vcs = narrow::<u32>(context.vc_map.count());
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
