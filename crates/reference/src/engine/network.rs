//! Channels with their two ends, and how routers and adapters are joined by them.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::{CableClass, Fabric};

use crate::shared::{
    adapter::InjectionQueues,
    channel::{ChannelKind, Moving},
    network::{self, Place},
};

use super::{collective::Origin, link::Link, router::Output};

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
pub type Network = network::Network<Channel, usize, Output, InjectionQueues>;

/// The network of a fabric.
pub fn network(fabric: &Fabric, parameters: &Parameters) -> Network {
    let channel = |kind, cable, number: Option<u32>| {
        let mut channel = Channel::new(kind, parameters, cable);
        channel.ring = number.and_then(|number| fabric.ring(number));
        channel.link = number.and_then(|number| Link::new(parameters, number));
        channel
    };
    let mut network = Network::join(fabric, parameters, channel, Output::new);
    let live = (0..fabric.channel_slots()).filter(|&number| fabric.target(number).is_some());
    let live: Vec<u32> = live.collect();
    for (&number, channel) in live.iter().zip(&mut network.channels) {
        if let Some(link) = &mut channel.link {
            let back = fabric.opposite(number).expect("cables lead both ways");
            link.back = live.binary_search(&back).expect("cables lead both ways");
        }
    }
    network
}
