//! Channels, and routers with the ports that they join.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{FlitSharing, Parameters};
use flitlab_fabric::{CableClass, Fabric};
use flitlab_routing::Routes;

use crate::shared::{
    channel::{ChannelKind, Moving, OutputName},
    network::{self, HasOutlet, Outlet},
    operations::{DOWN, UP},
};

use super::{
    held_credits::{Delay, Held, is_held},
    link::Link,
    queue::Queue,
    source::Injection,
    turns::Turns,
};

/// One flit of a packet; number 0 is the header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flit {
    pub packet: usize,
    pub index: u32,
    /// The virtual channel in which it was sent last.
    pub virtual_channel: usize,
    /// Its number on the channel on which it was sent last, and whether it was damaged there, if that
    /// errs.
    pub number: u64,
    pub is_damaged: bool,
}

/// A directed channel: what its sender knows of the far end, and its wires.
pub struct Channel {
    pub kind: ChannelKind,
    /// The number by which the digest knows it: outputs by router (vacant ports included), then
    /// injection channels.
    pub number: u32,
    pub flit_time: Picoseconds,
    pub latency: Picoseconds,
    pub ring: Option<u32>,
    /// Router and input port at its end; `None` if that is a sink.
    pub leads_to: Option<(usize, usize)>,
    /// Flits of the room of each virtual channel.
    pub capacity: u32,
    /// What the sender knows to be free in each virtual channel.
    pub credits: Vec<u32>,
    pub failed: bool,
    /// Flits that have left for the far end; those that wait behind a crossbar are among them.
    pub flits: VecDeque<Moving<Flit>>,
    /// Credits on their way back, by their virtual channels.
    pub returning: VecDeque<Moving<usize>>,
    /// By how much longer than in an idle network some of these were away, if anybody asks; what
    /// the sender knows of that, and by virtual channel what its end holds back.
    pub delays: VecDeque<Moving<(usize, Picoseconds)>>,
    pub delay_of_credits: Delay,
    pub held: Vec<Held>,
    /// What a network channel needs if links err.
    pub link: Option<Link>,
}

impl Channel {
    fn new(kind: ChannelKind, number: u32, parameters: &Parameters, cable: CableClass) -> Self {
        let (flit_time, latency, capacity) = kind.figures(parameters, cable);
        Self {
            kind,
            number,
            flit_time,
            latency,
            ring: None,
            leads_to: None,
            capacity,
            failed: false,
            credits: vec![capacity; parameters.virtual_channels.into()],
            flits: VecDeque::new(),
            returning: VecDeque::new(),
            delays: VecDeque::new(),
            delay_of_credits: Delay::default(),
            held: vec![Held::default(); parameters.virtual_channels.into()],
            link: None,
        }
    }

    /// Sends back a credit.
    pub fn give_back(&mut self, arrives: Picoseconds, virtual_channel: usize) {
        let place = self.returning.partition_point(|before| before.arrives <= arrives);
        self.returning.insert(place, Moving { arrives, content: virtual_channel });
    }

    pub fn ends_in_sink(&self) -> bool {
        self.kind == ChannelKind::Ejection
    }

    /// Whether packets whose headers have not been sent need room at its end.
    pub fn needs_room(&self) -> bool {
        !self.ends_in_sink() && !self.failed
    }
}

/// A virtual channel of an output, as the router that sends keeps it.
#[derive(Default)]
pub struct OutputChannel {
    /// The packet that holds it, until its last flit has won the switch.
    pub held_by: Option<usize>,
    /// `C` after the last flit of the latest packet won the switch.
    pub free_from: Picoseconds,
    /// When it was given to a packet last, but for collective operations.
    pub taken: Picoseconds,
    /// The queue to which it is offered first, numbered through all ports.
    pub pointer: usize,
}

/// An output of a router.
pub struct Output {
    pub name: OutputName,
    pub channel: usize,
    pub virtual_channels: Vec<OutputChannel>,
    /// Until when the latest flit takes it.
    pub free_from: Picoseconds,
    /// When the latest flit will have left on the channel.
    pub end: Picoseconds,
    /// Whose flit that is.
    pub latest: Option<usize>,
    /// The input port to which it is offered first.
    pub pointer: usize,
    /// What decides where turns are weighted.
    pub turns: Turns,
    /// When its adaptive virtual channel was given to a packet last.
    pub granted: Picoseconds,
    /// For how long the packets had waited that were given one of its virtual channels.
    pub waited: Picoseconds,
}

impl HasOutlet for Output {
    fn outlet(&self) -> Outlet {
        let &Self { name, channel, granted, waited, .. } = self;
        Outlet { name, channel, granted, waited }
    }
}

/// An input port of a router.
pub struct Input {
    pub channel: usize,
    /// By virtual channel, or by virtual channel and output.
    pub queues: Vec<Queue>,
    /// By virtual channel: the queue into which the flits of the packet go that comes in.
    pub comes_in: Vec<usize>,
    /// Until when the latest flit takes it.
    pub free_from: Picoseconds,
    /// The queue to which an offer goes first.
    pub next_queue: usize,
    /// The output whose offer is accepted first.
    pub next_output: usize,
}

/// A router's ports.
pub type Router = network::Router<Input, Output>;

impl Router {
    /// Queues of each input port.
    pub fn queues_of_port(&self) -> usize {
        self.inputs[0].queues.len()
    }

    /// A queue by its number through all ports.
    pub fn queue_at(&self, number: usize) -> &Queue {
        let queues = self.queues_of_port();
        &self.inputs[number / queues].queues[number % queues]
    }

    /// A queue by its number through all ports, to be changed.
    pub fn queue(&mut self, number: usize) -> &mut Queue {
        let queues = self.queues_of_port();
        &mut self.inputs[number / queues].queues[number % queues]
    }

    /// Adds an input port at the end of a channel; `asks` says in which virtual channels packets ask
    /// for outputs.
    fn add_input(
        &mut self,
        channel: usize,
        places: &Places,
        sharing: &FlitSharing,
        asks: impl Fn(usize) -> bool,
    ) {
        let outputs = if sharing.virtual_output_queues { self.outputs.len().max(1) } else { 1 };
        let queues = (0..places.virtual_channels * outputs).map(|queue| queue / outputs);
        self.inputs.push(Input {
            channel,
            queues: queues.map(|vc| Queue::new(vc, asks(vc))).collect(),
            comes_in: (0..places.virtual_channels).map(|vc| vc * outputs).collect(),
            free_from: Picoseconds::ZERO,
            next_queue: 0,
            next_output: 0,
        });
    }
}

/// What input ports have in common.
struct Places {
    virtual_channels: usize,
    has_units: bool,
}

impl Places {
    fn is_of_trees(&self, virtual_channel: usize) -> bool {
        self.has_units && (virtual_channel == UP || virtual_channel == DOWN)
    }
}

/// All channels, and the ports that they join.
pub type Network = network::Network<Channel, Input, Output, Injection>;

impl Network {
    /// Joins the ports in the order that the model gives them: network channels by number (as
    /// outputs that is by port), then injection or ejection channels by terminal and number.
    /// With reduction units there are ports for them between those of network channels and those of
    /// injection channels.
    pub fn new(
        (fabric, routes): (&Fabric, &Routes),
        parameters: &Parameters,
        sharing: &FlitSharing,
        has_units: bool,
    ) -> Self {
        let mut network = Self {
            channels: Vec::new(),
            routers: (0..fabric.routers()).map(|_| Router::default()).collect(),
            adapters: (0..fabric.terminals()).map(|_| Vec::new()).collect(),
        };
        network.add_outputs((fabric, routes), parameters, sharing);
        let places = Places { virtual_channels: parameters.virtual_channels.into(), has_units };
        network.add_inputs_of(ChannelKind::Network, sharing, &places);
        if has_units {
            network.add_units(fabric, parameters, sharing, &places);
        }
        network.add_inputs_of(ChannelKind::Injection, sharing, &places);
        network.join_cables(fabric);
        network
    }

    fn add_outputs(
        &mut self,
        (fabric, routes): (&Fabric, &Routes),
        parameters: &Parameters,
        sharing: &FlitSharing,
    ) {
        let terminals = fabric.terminals_by_router();
        let mut next = 0;
        let mut number = || {
            next += 1;
            next - 1
        };
        for (router, terminals) in (0..fabric.routers()).zip(&terminals) {
            for (port, slot) in fabric.outputs(router).enumerate() {
                let number = number();
                if let Some(target) = fabric.target(slot) {
                    let cable = fabric.cable(slot);
                    let mut channel = Channel::new(ChannelKind::Network, number, parameters, cable);
                    channel.delay_of_credits.is_held = is_held(routes, fabric, slot);
                    channel.ring = fabric.ring(slot);
                    channel.link = Link::new(parameters, slot);
                    channel.leads_to = Some((target as usize, 0));
                    let name = OutputName::Port(port as u16);
                    self.add_output(router as usize, name, channel, sharing);
                }
            }
            for &terminal in terminals {
                let cable = fabric.terminal_cable(terminal);
                for place in 0..parameters.ejection_channels {
                    let channel = Channel::new(ChannelKind::Ejection, number(), parameters, cable);
                    let name = OutputName::Ejection { terminal, number: place };
                    self.add_output(router as usize, name, channel, sharing);
                }
            }
        }
        for terminal in 0..fabric.terminals() {
            for _ in 0..parameters.injection_channels {
                let cable = fabric.terminal_cable(terminal);
                let mut channel = Channel::new(ChannelKind::Injection, number(), parameters, cable);
                let Some(router) = fabric.terminal_router(terminal) else { continue };
                channel.leads_to = Some((router as usize, 0));
                self.channels.push(channel);
            }
        }
    }

    /// Lets each channel that errs know the one that comes back by its cable.
    fn join_cables(&mut self, fabric: &Fabric) {
        let place = |network: &Self, slot: u32| {
            let router = fabric.source(slot);
            let port = (slot - fabric.outputs(router).start) as u16;
            let router = &network.routers[router as usize];
            let output = router.output_named(OutputName::Port(port)).expect("it is live");
            router.outputs[output].channel
        };
        for slot in (0..fabric.channel_slots()).filter(|&slot| fabric.target(slot).is_some()) {
            let own = place(self, slot);
            if self.channels[own].link.is_some() {
                let back = fabric.opposite(slot).expect("cables lead both ways");
                let back = place(self, back);
                self.channels[own].link.as_mut().expect("checked").back = back;
            }
        }
    }

    /// Goes through the channels of a kind by number: the order of their input ports.
    fn add_inputs_of(&mut self, kind: ChannelKind, sharing: &FlitSharing, places: &Places) {
        for (number, channel) in self.channels.iter_mut().enumerate() {
            let Some((router, port)) = &mut channel.leads_to else { continue };
            if channel.kind == kind {
                let router = &mut self.routers[*router];
                *port = router.inputs.len();
                let asks = |vc: usize| !places.is_of_trees(vc);
                router.add_input(number, places, sharing, asks);
            }
        }
    }

    /// Adds the ports of reduction units: one for results, and one for the copies at each output,
    /// vacant ones included.
    fn add_units(
        &mut self,
        fabric: &Fabric,
        parameters: &Parameters,
        sharing: &FlitSharing,
        places: &Places,
    ) {
        let number = self.channels.len();
        let cable = fabric.cable_classes()[0];
        self.channels.push(Channel::new(ChannelKind::Unit, u32::MAX, parameters, cable));
        let routers = (0..).zip(&mut self.routers);
        for ((name, router), terminals) in routers.zip(fabric.terminals_by_router()) {
            router.add_input(number, places, sharing, |vc| vc == UP);
            let ejections = terminals.len() * parameters.ejection_channels as usize;
            for _ in 0..fabric.outputs(name).len() + ejections {
                router.add_input(number, places, sharing, |vc| vc == DOWN);
            }
        }
    }

    fn add_output(
        &mut self,
        router: usize,
        name: OutputName,
        channel: Channel,
        sharing: &FlitSharing,
    ) {
        let channels = channel.credits.len();
        let virtual_channels = channel.credits.iter().map(|_| OutputChannel::default()).collect();
        self.routers[router].outputs.push(Output {
            name,
            channel: self.channels.len(),
            virtual_channels,
            free_from: Picoseconds::ZERO,
            end: Picoseconds::ZERO,
            latest: None,
            pointer: 0,
            turns: Turns::new(sharing, channels),
            granted: Picoseconds::ZERO,
            waited: Picoseconds::ZERO,
        });
        self.channels.push(channel);
    }
}
