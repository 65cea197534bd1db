//! Channels with their two ends, and how routers and adapters are joined by them.

use std::collections::{BTreeMap, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::{CableClass, Fabric};

use super::{
    Place,
    adapter::InjectionQueues,
    channel::{ChannelKind, Moving, OutputName},
    collective::Origin,
    link::Link,
    router::Router,
};

/// One flit of a packet; number 0 is the header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flit {
    pub packet: usize,
    pub index: u32,
    /// The virtual channel on which it was sent last.
    pub virtual_channel: usize,
    /// The packet's number on the network channel on which it was sent last, and from where on
    /// those before it are void.
    pub number: u64,
    pub void_from: u64,
    /// Whether it was damaged on that channel.
    pub is_damaged: bool,
    /// Of a last flit: whether it has the mark of a bad copy.
    pub is_bad_copy: bool,
    /// Whether it got the mark where that channel ends.
    pub is_bad_here: bool,
}

/// Credits on their way back to the sender.
pub struct CreditMessage {
    pub virtual_channel: usize,
    pub flits: u32,
}

/// Whether a channel is held for a packet that goes along a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    No,
    /// The packet waits for other channels.
    Waits,
    /// It has all of them, and waits until nothing is being sent on any.
    Starts,
}

/// Where the flits of a packet come from.
#[derive(Clone, Copy)]
pub enum Source {
    /// An adapter or a replay buffer, which has them all.
    Whole,
    /// The head of a buffer.
    Buffer(Place),
    /// A packet of a router that goes along a tree, and where it lies.
    Tree { router: usize, packet: usize, origin: Origin },
}

/// A packet that occupies a channel, from its grant to its release.
pub struct Sending {
    pub packet: usize,
    /// The virtual channel at the far end.
    pub out_vc: usize,
    pub from: Source,
    /// How many of its flits have started.
    pub started: u32,
    /// When the packet got the channel, and when the latest one of those flits started.
    pub began: Picoseconds,
    pub latest_start: Picoseconds,
    /// Its number on a channel that errs, and from where on those before it are void.
    pub number: u64,
    pub void_from: u64,
}

/// The buffer of one virtual channel at the receiving end.
#[derive(Default)]
pub struct Buffer {
    /// Flits that are there, each with the time at which it came.
    pub flits: VecDeque<(Picoseconds, Flit)>,
    /// Flits that have left, whose space is not released yet.
    pub departed: u32,
    /// The latest one of those.
    pub latest: Option<Flit>,
    /// Whether the packet at the head has been granted an output.
    pub is_sending: bool,
    /// The packet that asks for an output, and since when, if packets are dropped.
    pub asks: Option<(usize, Picoseconds)>,
}

/// A directed channel: the sender's end, the wire, the receiver's buffers.
pub struct Channel {
    pub kind: ChannelKind,
    pub flit_time: Picoseconds,
    /// From a flit's start to the time at which it is there, whole; with the crossbar, where the
    /// channel leaves a router.
    pub delay: Picoseconds,
    /// From a release to the time at which the sender has the credits.
    pub credit_delay: Picoseconds,
    pub ring: Option<u32>,
    /// Whether it swallows what is sent to it.
    pub failed: bool,
    pub hold: Hold,
    /// Flits of each buffer.
    pub capacity: u32,
    /// What the sender knows to be free in each buffer.
    pub credits: Vec<u32>,
    pub sending: Option<Sending>,
    pub flits: VecDeque<Moving<Flit>>,
    pub returning: VecDeque<Moving<CreditMessage>>,
    pub buffers: Vec<Buffer>,
    /// What a network channel needs if links err.
    pub link: Option<Link>,
}

impl Channel {
    fn new(kind: ChannelKind, parameters: &Parameters, cable: CableClass) -> Self {
        let (flit_time, latency, capacity) = kind.figures(parameters, cable);
        let leaves_router = kind != ChannelKind::Injection;
        let crossbar = if leaves_router { parameters.crossbar_latency } else { Picoseconds::ZERO };
        Self {
            kind,
            flit_time,
            delay: crossbar + latency,
            credit_delay: latency,
            ring: None,
            failed: false,
            hold: Hold::No,
            capacity,
            credits: vec![capacity; parameters.virtual_channels.into()],
            sending: None,
            flits: VecDeque::new(),
            returning: VecDeque::new(),
            buffers: (0..parameters.virtual_channels).map(|_| Buffer::default()).collect(),
            link: None,
        }
    }

    /// Whether its flits leave the network at its end, without credits.
    pub fn ends_in_sink(&self) -> bool {
        self.kind == ChannelKind::Ejection
    }

    /// Whether packets need credits for it.
    pub fn needs_room(&self) -> bool {
        !self.ends_in_sink() && !self.failed
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
        let mut places = BTreeMap::new();
        for number in 0..fabric.channel_slots() {
            let Some(target) = fabric.target(number) else { continue };
            let source = fabric.source(number);
            let port = (number - fabric.outputs(source).start) as u16;
            let cable = fabric.cable(number);
            let mut channel = Channel::new(ChannelKind::Network, parameters, cable);
            channel.ring = fabric.ring(number);
            channel.link = Link::new(parameters, number);
            let channel = network.add(channel);
            places.insert(number, channel);
            network.routers[source as usize].add_output(OutputName::Port(port), channel);
            network.routers[target as usize].inputs.push(channel);
        }
        for (&number, &channel) in &places {
            if let Some(link) = &mut network.channels[channel].link {
                link.back = places[&fabric.opposite(number).expect("cables lead both ways")];
            }
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
                network.routers[router].add_output(name, channel);
            }
        }
        network
    }

    fn add(&mut self, channel: Channel) -> usize {
        self.channels.push(channel);
        self.channels.len() - 1
    }
}
