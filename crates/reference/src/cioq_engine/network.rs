//! Channels, and routers with the buffers on both sides of their crossbars.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::{CableClass, Fabric};

use crate::engine::adapter::InjectionQueues;
use crate::engine::channel::{ChannelKind, Moving, OutputName};

use super::passage::{Leaving, Passage};

/// One flit of a packet; number 0 is the header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flit {
    pub packet: usize,
    pub index: u32,
    /// The virtual channel to which it crossed last, or in which it was injected.
    pub virtual_channel: usize,
}

/// A packet that crosses, and the place of its output among the router's.
pub struct Crossing {
    pub output: usize,
    pub passage: Passage,
}

/// The buffer of one virtual channel at an input.
#[derive(Default)]
pub struct InputBuffer {
    /// Flits that are there, each with the time at which it came.
    pub flits: VecDeque<(Picoseconds, Flit)>,
    pub leaving: Leaving,
    /// The packet at the head, if it crosses.
    pub crossing: Option<Crossing>,
    /// When the packet at the head may request again that was not granted its latest request.
    pub again: Picoseconds,
}

/// The buffer of one virtual channel at an output.
pub struct OutputBuffer {
    /// Flits on their way through the crossbar.
    pub coming: VecDeque<Moving<Flit>>,
    /// Flits that are there.
    pub flits: VecDeque<Flit>,
    /// When the headers came of the packets that are there and not being sent.
    pub headers: VecDeque<Picoseconds>,
    pub leaving: Leaving,
    /// Flits for which there is room that no packet has taken.
    pub room: u32,
    /// When a packet crossed to it last.
    pub taken: Picoseconds,
    /// The model's queue: when each of its flits begins to cross, as the page counts that, in order.
    pub queued: VecDeque<Picoseconds>,
}

impl OutputBuffer {
    fn new(room: u32) -> Self {
        Self {
            coming: VecDeque::new(),
            flits: VecDeque::new(),
            headers: VecDeque::new(),
            leaving: Leaving::default(),
            room,
            taken: Picoseconds::ZERO,
            queued: VecDeque::new(),
        }
    }

    /// The flits of the queue that began to cross before an instant.
    pub fn queue(&self, before: Picoseconds) -> u32 {
        self.queued.iter().filter(|&&begins| begins < before).count() as u32
    }
}

/// A directed channel: what its sender knows, its wires, and the buffers of the input at its end.
pub struct Channel {
    pub kind: ChannelKind,
    pub flit_time: Picoseconds,
    pub latency: Picoseconds,
    pub is_in_ring: bool,
    /// Flits of each buffer.
    pub capacity: u32,
    /// What the sender knows to be free in each buffer.
    pub credits: Vec<u32>,
    pub sending: Option<Passage>,
    pub flits: VecDeque<Moving<Flit>>,
    /// Credits on their way back, by their virtual channels.
    pub returning: VecDeque<Moving<usize>>,
    pub buffers: Vec<InputBuffer>,
}

impl Channel {
    fn new(kind: ChannelKind, parameters: &Parameters, cable: CableClass) -> Self {
        let (flit_time, latency, capacity) = kind.figures(parameters, cable);
        Self {
            kind,
            flit_time,
            latency,
            is_in_ring: false,
            capacity,
            credits: vec![capacity; parameters.virtual_channels.into()],
            sending: None,
            flits: VecDeque::new(),
            returning: VecDeque::new(),
            buffers: (0..parameters.virtual_channels).map(|_| InputBuffer::default()).collect(),
        }
    }

    /// Whether its flits leave the network at its end, without credits.
    pub fn ends_in_sink(&self) -> bool {
        self.kind == ChannelKind::Ejection
    }

    /// How many packets cross from the input at its end.
    pub fn crossing(&self) -> usize {
        self.buffers.iter().filter(|buffer| buffer.crossing.is_some()).count()
    }
}

/// An output of a router.
pub struct Output {
    pub name: OutputName,
    pub channel: usize,
    /// By virtual channel.
    pub buffers: Vec<OutputBuffer>,
    /// The input virtual channel that is looked at first, as `port * virtual channels + virtual
    /// channel`.
    pub pointer: usize,
    /// The virtual channel of which a packet is sent first.
    pub next_vc: usize,
    /// For how long the packets had waited that crossed to it, and that it sent.
    pub waited: Picoseconds,
}

impl Output {
    /// The flits of its queue that began to cross before an instant.
    pub fn queue(&self, before: Picoseconds) -> u32 {
        self.buffers.iter().map(|buffer| buffer.queue(before)).sum()
    }
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
    fn add_output(&mut self, name: OutputName, channel: usize, parameters: &Parameters) {
        let buffer = |_| OutputBuffer::new(parameters.behind_crossbar());
        let buffers = (0..parameters.virtual_channels).map(buffer).collect();
        let waited = Picoseconds::ZERO;
        self.outputs.push(Output { name, channel, buffers, pointer: 0, next_vc: 0, waited });
    }

    /// The place of an output.
    pub fn output_named(&self, name: OutputName) -> Option<usize> {
        self.outputs.iter().position(|output| output.name == name)
    }
}

/// All channels, and the ports that they join.
pub struct Network {
    pub channels: Vec<Channel>,
    pub routers: Vec<Router>,
    /// By terminal and injection channel.
    pub adapters: Vec<Vec<InjectionQueues>>,
}

impl Network {
    /// Joins the ports in the order that the model gives them: network channels by number (as
    /// outputs that is by port), then injection or ejection channels by terminal and number.
    pub fn new(fabric: &Fabric, parameters: &Parameters) -> Self {
        let mut network = Self {
            channels: Vec::new(),
            routers: (0..fabric.routers()).map(|_| Router::default()).collect(),
            adapters: (0..fabric.terminals()).map(|_| Vec::new()).collect(),
        };
        for number in 0..fabric.channel_slots() {
            let Some(target) = fabric.target(number) else { continue };
            let source = fabric.source(number);
            let port = (number - fabric.outputs(source).start) as u16;
            let mut channel = Channel::new(ChannelKind::Network, parameters, fabric.cable(number));
            channel.is_in_ring = fabric.ring(number).is_some();
            let channel = network.add(channel);
            let name = OutputName::Port(port);
            network.routers[source as usize].add_output(name, channel, parameters);
            network.routers[target as usize].inputs.push(channel);
        }
        for terminal in fabric.live_terminals() {
            let router = fabric.terminal_router(terminal).expect("it is live") as usize;
            let cable = fabric.terminal_cable(terminal);
            for _ in 0..parameters.injection_channels {
                let channel = network.add(Channel::new(ChannelKind::Injection, parameters, cable));
                network.routers[router].inputs.push(channel);
                let queues = InjectionQueues::new(channel, parameters.virtual_channels);
                network.adapters[terminal as usize].push(queues);
            }
            for number in 0..parameters.ejection_channels {
                let channel = network.add(Channel::new(ChannelKind::Ejection, parameters, cable));
                let name = OutputName::Ejection { terminal, number };
                network.routers[router].add_output(name, channel, parameters);
            }
        }
        network
    }

    fn add(&mut self, channel: Channel) -> usize {
        self.channels.push(channel);
        self.channels.len() - 1
    }
}
