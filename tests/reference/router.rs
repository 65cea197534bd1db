//! Routers: which packet is granted which output.

use flitlab::{
    engine::{Arbitration, Switching, VIRTUAL_CHANNELS},
    units::Picoseconds,
};

use super::{
    Place, Simulator,
    network::{ChannelKind, Flit, Sending},
};

/// What an output of a router leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OutputName {
    Port(u16),
    Ejection { terminal: u32, number: u32 },
}

/// An output of a router.
pub struct Output {
    pub name: OutputName,
    pub channel: usize,
    /// The pair of input port and virtual channel that is looked at first, as
    /// `port * VIRTUAL_CHANNELS + virtual channel`.
    pub pointer: usize,
}

/// A router's ports, in the model's order.
#[derive(Default)]
pub struct Router {
    /// The channels that arrive.
    pub inputs: Vec<usize>,
    pub outputs: Vec<Output>,
    /// The output that is looked at first.
    pub pointer: usize,
}

impl Router {
    pub fn add_network_output(&mut self, port: u16, channel: usize) {
        self.outputs.push(Output { name: OutputName::Port(port), channel, pointer: 0 });
    }

    pub fn add_ejection_output(&mut self, terminal: u32, number: u32, channel: usize) {
        let name = OutputName::Ejection { terminal, number };
        self.outputs.push(Output { name, channel, pointer: 0 });
    }
}

/// A packet at the head of a buffer that asks for an output.
#[derive(Clone, Copy)]
struct Request {
    packet: usize,
    /// Its output's place among the router's.
    output: usize,
}

impl Simulator<'_> {
    /// Walks a router's free outputs once and gives each to a packet that asks for it and fits.
    pub fn grant_outputs(&mut self, router: usize, now: Picoseconds) {
        let mut requests = self.requests(router, now);
        if requests.iter().all(Option::is_none) {
            return;
        }
        let outputs = self.routers[router].outputs.len();
        let start = self.routers[router].pointer;
        for output in (0..outputs).map(|step| (start + step) % outputs) {
            let channel = self.routers[router].outputs[output].channel;
            if self.channels[channel].sending.is_some() {
                continue;
            }
            let Some(pair) = self.choose(router, output, &requests) else { continue };
            let request = requests[pair].take().expect("it was chosen");
            self.grant(router, pair, request, now);
        }
    }

    /// For each pair of input port and virtual channel the request of the packet at its head.
    fn requests(&self, router: usize, now: Picoseconds) -> Vec<Option<Request>> {
        let inputs = self.routers[router].inputs.iter();
        inputs
            .flat_map(|&channel| {
                (0..VIRTUAL_CHANNELS).map(move |virtual_channel| Place { channel, virtual_channel })
            })
            .map(|place| {
                let packet = self.asking(place, now)?;
                let output = self.next_output(router, packet);
                Some(Request { packet, output })
            })
            .collect()
    }

    /// The packet at the buffer's head, if it may ask for its output.
    fn asking(&self, place: Place, now: Picoseconds) -> Option<usize> {
        let buffer = &self.channels[place.channel].buffers[place.virtual_channel];
        if buffer.is_sending {
            return None;
        }
        let &(_, header) = buffer.flits.front()?;
        assert_eq!(header.index, 0, "a buffer's head is a header until it is granted an output");
        let awaited = match self.parameters.switching {
            Switching::VirtualCutThrough => 0,
            Switching::StoreAndForward => self.packets[header.packet].flits - 1,
        };
        let is_awaited = |&&(_, flit): &&(Picoseconds, Flit)| {
            flit.packet == header.packet && flit.index == awaited
        };
        let &(came, _) = buffer.flits.iter().find(is_awaited)?;
        (came + self.parameters.routing_latency <= now).then_some(header.packet)
    }

    /// The output that the packet needs at the router where its header is.
    fn next_output(&self, router: usize, packet: usize) -> usize {
        let packet = &self.packets[packet];
        let name = match packet.ports.get(packet.hops_granted) {
            Some(&port) => OutputName::Port(port),
            None => OutputName::Ejection {
                terminal: packet.destination,
                number: u32::from(packet.injection_channel) % self.parameters.ejection_channels,
            },
        };
        let mut outputs = self.routers[router].outputs.iter();
        outputs.position(|output| output.name == name).expect("routes lead through live outputs")
    }

    /// The pair of input port and virtual channel that a free output is to serve next.
    fn choose(&self, router: usize, output: usize, requests: &[Option<Request>]) -> Option<usize> {
        let start = self.routers[router].outputs[output].pointer;
        let walk = |may_be_served: fn(ChannelKind) -> bool| {
            (0..requests.len()).map(|step| (start + step) % requests.len()).find(|&pair| {
                let input = self.routers[router].inputs[pair / VIRTUAL_CHANNELS];
                requests[pair].is_some_and(|request| {
                    request.output == output
                        && may_be_served(self.channels[input].kind)
                        && self.fits(router, input, request)
                })
            })
        };
        match self.parameters.arbitration {
            Arbitration::RoundRobin => walk(|_| true),
            Arbitration::TransitFirst => walk(|kind| kind == ChannelKind::Network)
                .or_else(|| walk(|kind| kind == ChannelKind::Injection)),
        }
    }

    /// Whether the input port can send one packet more and the credits cover what the packet needs.
    fn fits(&self, router: usize, input: usize, request: Request) -> bool {
        let channel = &self.channels[input];
        let sending = channel.buffers.iter().filter(|buffer| buffer.is_sending).count();
        if sending >= self.parameters.crossbar_speedup as usize {
            return false;
        }
        let output = &self.channels[self.routers[router].outputs[request.output].channel];
        let packet = &self.packets[request.packet];
        let enters_ring = output.ring.is_some() && channel.ring != output.ring;
        let bubble = if self.parameters.bubble && enters_ring {
            self.parameters.maximum_packet()
        } else {
            0
        };
        output.ends_in_sink()
            || packet.flits + bubble <= output.credits[usize::from(packet.virtual_channel)]
    }

    fn grant(&mut self, router: usize, pair: usize, request: Request, now: Picoseconds) {
        let virtual_channel = pair % VIRTUAL_CHANNELS;
        let Request { packet: number, output } = request;
        let router = &mut self.routers[router];
        let from = Place { channel: router.inputs[pair / VIRTUAL_CHANNELS], virtual_channel };
        router.pointer = (output + 1) % router.outputs.len();
        let pairs = router.inputs.len() * VIRTUAL_CHANNELS;
        let output = &mut router.outputs[output];
        output.pointer = (pair + 1) % pairs;
        self.channels[from.channel].buffers[virtual_channel].is_sending = true;
        let channel = &mut self.channels[output.channel];
        let packet = &mut self.packets[number];
        if !channel.ends_in_sink() {
            channel.credits[virtual_channel] -= packet.flits;
            packet.hops_granted += 1;
        }
        channel.sending =
            Some(Sending { packet: number, from: Some(from), started: 0, latest_start: now });
    }
}
