//! The fabric as the engine sees it: all channels (network, injection, ejection) with their timing.
//!
//! Numbers are such that a router's outputs, and its input ports, are neighbours in memory.
//! Channels are numbered by what they leave: the outputs of router 0 (network channels in port
//! order, vacant ones included, then ejection channels), of router 1, ..., then the injection
//! channels of terminal 0, 1, ... Input ports are numbered by router: first those of network
//! channels in the order of the fabric's channel numbers, then those of injection channels.

pub(crate) mod context;
pub(crate) mod cut;
pub(crate) mod demands;
pub(crate) mod far_queues;
pub(crate) mod port;
pub(crate) mod ports;
#[cfg(test)]
pub(crate) mod small;
pub(crate) mod trees;
pub(crate) mod vc_map;

use crate::bytes::bytes_of;
use std::ops::Range;

use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{CableClass, Fabric, NONE};
use flitlab_model::{ChannelKind, Parameters};

/// In place of an output: none.
pub(crate) const NO_OUTPUT: u16 = u16::MAX;

/// The times of a channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelTiming {
    /// Time for which a flit occupies it.
    pub flit_time: Picoseconds,
    /// Time from a flit's start on the wire until it is at the far end.
    pub wire: Picoseconds,
    /// Time from a flit's grant until it is there: that, the crossbar and its allocation.
    pub forward: Picoseconds,
    /// Time from a release at the far end until the credits are back.
    pub back: Picoseconds,
}

impl ChannelTiming {
    /// The times of a kind of channel on cables of a class. A cable has one length in both
    /// directions, so credits take the latency of their channel.
    pub fn new(parameters: &Parameters, kind: ChannelKind, class: CableClass) -> Self {
        let [_, allocation] = parameters.allocation_latencies();
        let crossbar = parameters.crossbar_latency + allocation;
        let (flit_time, wire) = match kind {
            ChannelKind::Network => (parameters.flit_time_of(class), parameters.latency_of(class)),
            ChannelKind::Injection => {
                (parameters.injection_flit_time_of(class), parameters.injection_latency_of(class))
            }
            ChannelKind::Ejection => {
                (parameters.ejection_flit_time_of(class), parameters.ejection_latency_of(class))
            }
        };
        let (crossbar, back) = match kind {
            ChannelKind::Network => (crossbar, wire),
            ChannelKind::Injection => (Picoseconds::ZERO, wire),
            ChannelKind::Ejection => (crossbar, Picoseconds::ZERO),
        };
        Self { flit_time, wire, forward: wire + crossbar, back }
    }

    /// The times of a kind of channel on cables of these classes.
    pub fn of_classes(
        parameters: &Parameters,
        kind: ChannelKind,
        classes: &[CableClass],
    ) -> Vec<Self> {
        classes.iter().map(|&class| Self::new(parameters, kind, class)).collect()
    }
}

/// Where a terminal is attached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub router: u32,
    /// The first of its ejection channels among the router's outputs.
    pub ejection: u16,
    /// Its class among the router's terminals, which the hops of a relation may distinguish.
    pub class: u8,
}

/// The numbers and timings of all channels; the module says how they are numbered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    /// First output channel of each router; the last entry is the first injection channel.
    pub first_output: Vec<u32>,
    /// First input port of each router.
    pub first_input: Vec<u32>,
    /// The input port at a channel's far end; [`NONE`] for ejection channels and vacant ports.
    pub input_of_channel: Vec<u32>,
    /// The channel that feeds an input port.
    pub channel_of_input: Vec<u32>,
    pub router_of_input: Vec<u32>,
    pub ring_of_channel: Vec<u32>,
    /// First ejection channel of each terminal, or [`NONE`].
    pub ejection_of_terminal: Vec<u32>,
    /// Number of input ports fed by network channels, by router.
    pub transit_inputs: Vec<u32>,
    /// Number of classes of cables.
    classes: u8,
    pub injection_channels: u32,
    /// Number of ejection channels of a terminal.
    ejections: u32,
}

impl Network {
    pub(crate) fn new(fabric: &Fabric, parameters: &Parameters) -> Self {
        let (injections, ejections) = (parameters.injection_channels, parameters.ejection_channels);
        let terminals_of = fabric.terminals_by_router();
        let mut network = Self {
            ejection_of_terminal: vec![NONE; fabric.terminals() as usize],
            transit_inputs: vec![0; fabric.routers() as usize],
            classes: narrow(fabric.cable_classes().len()),
            injection_channels: injections,
            ejections,
            ..Self::default()
        };
        for router in 0..fabric.routers() {
            network.first_output.push(narrow::<u32>(network.ring_of_channel.len()));
            for channel in fabric.outputs(router) {
                network.ring_of_channel.push(fabric.ring(channel).unwrap_or(NONE));
                if let Some(target) = fabric.target(channel) {
                    network.transit_inputs[target as usize] += 1;
                }
            }
            for &terminal in &terminals_of[router as usize] {
                network.ejection_of_terminal[terminal as usize] =
                    narrow::<u32>(network.ring_of_channel.len());
                network.ring_of_channel.extend((0..ejections).map(|_| NONE));
            }
        }
        let first_injection = narrow::<u32>(network.ring_of_channel.len());
        network.first_output.push(first_injection);
        network.ring_of_channel.extend((0..fabric.terminals() * injections).map(|_| NONE));
        network.connect(fabric, &terminals_of);
        network
    }

    /// Numbers the input ports and connects them with their channels.
    fn connect(&mut self, fabric: &Fabric, terminals_of: &[Vec<u32>]) {
        let first_injection = self.first_injection();
        let mut next = 0;
        for (router, terminals) in terminals_of.iter().enumerate() {
            self.first_input.push(next);
            next += self.transit_inputs[router]
                + narrow::<u32>(terminals.len()) * self.injection_channels;
            self.router_of_input.resize(next as usize, narrow(router));
        }
        self.first_input.push(next);
        self.input_of_channel = vec![NONE; self.ring_of_channel.len()];
        self.channel_of_input = vec![NONE; next as usize];
        let mut free: Vec<u32> = self.first_input.clone();
        for router in 0..fabric.routers() {
            for (port, slot) in fabric.outputs(router).enumerate() {
                if let Some(target) = fabric.target(slot) {
                    let channel = self.first_output[router as usize] + narrow::<u32>(port);
                    self.attach(channel, target, &mut free);
                }
            }
        }
        for (router, terminals) in terminals_of.iter().enumerate() {
            for &terminal in terminals {
                let first = first_injection + terminal * self.injection_channels;
                for channel in first..first + self.injection_channels {
                    self.attach(channel, narrow::<u32>(router), &mut free);
                }
            }
        }
    }

    fn attach(&mut self, channel: u32, router: u32, free: &mut [u32]) {
        let input = free[router as usize];
        free[router as usize] += 1;
        self.input_of_channel[channel as usize] = input;
        self.channel_of_input[input as usize] = channel;
    }

    pub(crate) fn memory(&self) -> usize {
        bytes_of!(self; first_output, first_input, input_of_channel, channel_of_input,
            router_of_input, ring_of_channel, ejection_of_terminal, transit_inputs)
    }

    /// The index of the timing that a kind of channel has on cables of a class.
    pub(crate) fn timing(&self, kind: ChannelKind, class: u8) -> u8 {
        kind as u8 * self.classes + class
    }

    /// The indices of the timings of a kind of channel, by class of cables.
    pub(crate) fn timings_of(&self, kind: ChannelKind) -> Range<usize> {
        self.timing(kind, 0).into()..self.timing(kind, self.classes).into()
    }

    /// The outputs of a router.
    pub(crate) fn outputs_of(&self, router: u32) -> Range<u32> {
        self.first_output[router as usize]..self.first_output[router as usize + 1]
    }

    /// The input ports of a router.
    pub(crate) fn inputs_of(&self, router: u32) -> Range<u32> {
        self.first_input[router as usize]..self.first_input[router as usize + 1]
    }

    /// The number of the first injection channel.
    pub(crate) fn first_injection(&self) -> u32 {
        *self.first_output.last().expect("one more than routers")
    }

    /// The router that a network or ejection channel leaves.
    pub(crate) fn router_of_output(&self, channel: u32) -> u32 {
        narrow::<u32>(self.first_output.partition_point(|&first| first <= channel)) - 1
    }

    /// The name of a channel, for people.
    pub(crate) fn channel_name(&self, fabric: &Fabric, channel: u32) -> String {
        if channel >= self.first_injection() {
            let index = channel - self.first_injection();
            let (terminal, number) =
                (index / self.injection_channels, index % self.injection_channels);
            return fabric.terminal_name(terminal) + " injection " + &number.to_string();
        }
        let router = self.router_of_output(channel);
        let port = channel - self.first_output[router as usize];
        let ports = narrow::<u32>(fabric.outputs(router).len());
        if port < ports {
            return fabric.channel_name(fabric.outputs(router).start + port);
        }
        // A torus may have a million terminals, one a router.
        let of_terminal = |first: u32| first <= channel && channel < first + self.ejections;
        let place = match fabric.torus() {
            Some(_) => None,
            None => self.ejection_of_terminal.iter().position(|&first| of_terminal(first)),
        };
        match place {
            Some(terminal) => {
                let first = self.ejection_of_terminal[terminal];
                let name = fabric.terminal_name(narrow::<u32>(terminal));
                format!("{name} ejection {}", channel - first)
            }
            None => fabric.router_name(router) + " ejection " + &(port - ports).to_string(),
        }
    }
}
