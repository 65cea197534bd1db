//! Channels, and routers with the buffers on both sides of their crossbars.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::{CableClass, Fabric};

use crate::shared::{
    adapter::InjectionQueues,
    channel::{ChannelKind, Moving, OutputName},
    network::{self, HasOutlet, Outlet},
};

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
    pub fn new(name: OutputName, channel: usize, parameters: &Parameters) -> Self {
        let buffer = |_| OutputBuffer::new(parameters.behind_crossbar());
        let buffers = (0..parameters.virtual_channels).map(buffer).collect();
        Self { name, channel, buffers, pointer: 0, next_vc: 0, waited: Picoseconds::ZERO }
    }
}

impl HasOutlet for Output {
    fn outlet(&self) -> Outlet {
        let &Self { name, channel, waited, .. } = self;
        Outlet { name, channel, granted: Picoseconds::ZERO, waited }
    }
}

/// All channels, and the ports that they join.
pub type Network = network::Network<Channel, usize, Output, InjectionQueues>;

/// The network of a fabric.
pub fn network(fabric: &Fabric, parameters: &Parameters) -> Network {
    let channel = |kind, cable, number: Option<u32>| {
        let is_in_ring = number.is_some_and(|number| fabric.ring(number).is_some());
        Channel { is_in_ring, ..Channel::new(kind, parameters, cable) }
    };
    let output = |name, channel| Output::new(name, channel, parameters);
    Network::join(fabric, parameters, channel, output)
}
