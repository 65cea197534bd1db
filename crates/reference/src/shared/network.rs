//! Routers with their ports, and how channels join them.

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::{CableClass, Fabric};

use super::{
    adapter::InjectionQueues,
    channel::{ChannelKind, OutputName},
};

/// What is the same of each router's output.
#[derive(Clone, Copy)]
pub struct Outlet {
    pub name: OutputName,
    pub channel: usize,
    /// When its adaptive virtual channel was given to a packet last.
    pub granted: Picoseconds,
    /// For how long the packets had waited that were granted it, or one of its virtual channels.
    pub waited: Picoseconds,
}

/// An output of a router of some kind.
pub trait HasOutlet {
    fn outlet(&self) -> Outlet;
}

/// A router's ports, in the model's order.
pub struct Router<I, O> {
    pub inputs: Vec<I>,
    pub outputs: Vec<O>,
}

impl<I, O> Default for Router<I, O> {
    fn default() -> Self {
        Self { inputs: Vec::new(), outputs: Vec::new() }
    }
}

impl<I, O: HasOutlet> Router<I, O> {
    /// The place of an output.
    pub fn output_named(&self, name: OutputName) -> Option<usize> {
        self.outputs.iter().position(|output| output.outlet().name == name)
    }
}

/// A virtual channel's buffer at the far end of a channel.
#[derive(Clone, Copy)]
pub struct Place {
    pub channel: usize,
    pub virtual_channel: usize,
}

/// All channels, the ports that they join, and by terminal and injection channel what waits there.
pub struct Network<C, I, O, A> {
    pub channels: Vec<C>,
    pub routers: Vec<Router<I, O>>,
    pub adapters: Vec<Vec<A>>,
}

impl<C, O> Network<C, usize, O, InjectionQueues> {
    /// Joins the ports of routers that take whole packets, in the order that the model gives them:
    /// network channels by number (as outputs that is by port), then injection or ejection channels
    /// by terminal and number. `channel` makes one of a kind, a class of cables, and for a network
    /// channel its number in the fabric; `output` makes an output with its name and channel.
    pub fn join(
        fabric: &Fabric,
        parameters: &Parameters,
        channel: impl Fn(ChannelKind, CableClass, Option<u32>) -> C,
        output: impl Fn(OutputName, usize) -> O,
    ) -> Self {
        let mut network = Self {
            channels: Vec::new(),
            routers: (0..fabric.routers()).map(|_| Router::default()).collect(),
            adapters: (0..fabric.terminals()).map(|_| Vec::new()).collect(),
        };
        for number in 0..fabric.channel_slots() {
            let Some(target) = fabric.target(number) else { continue };
            let source = fabric.source(number);
            let port = (number - fabric.outputs(source).start) as u16;
            let made = channel(ChannelKind::Network, fabric.cable(number), Some(number));
            let made = network.add(made);
            network.routers[source as usize].outputs.push(output(OutputName::Port(port), made));
            network.routers[target as usize].inputs.push(made);
        }
        for terminal in fabric.live_terminals() {
            let router = fabric.terminal_router(terminal).expect("it is live") as usize;
            let cable = fabric.terminal_cable(terminal);
            for _ in 0..parameters.injection_channels {
                let made = network.add(channel(ChannelKind::Injection, cable, None));
                network.routers[router].inputs.push(made);
                let queues = InjectionQueues::new(made, parameters.virtual_channels);
                network.adapters[terminal as usize].push(queues);
            }
            for number in 0..parameters.ejection_channels {
                let made = network.add(channel(ChannelKind::Ejection, cable, None));
                let name = OutputName::Ejection { terminal, number };
                network.routers[router].outputs.push(output(name, made));
            }
        }
        network
    }

    fn add(&mut self, channel: C) -> usize {
        self.channels.push(channel);
        self.channels.len() - 1
    }
}
