//! A network cut into parts, each simulated by one thread.
//!
//! Routers are numbered along the torus, so a part is a range of them, with all that their numbers imply:
//! outputs, input ports, terminals, injection channels. Within a part everything is counted from the
//! part's first; a cable that leaves it ends at a number behind its own input ports, and likewise
//! backwards. Packets keep the numbers of the part that they are in, apart from the ejection channel, which
//! is that of the part of the destination.

use std::ops::Range;

use super::network::Network;
use super::parameters::Parameters;
use super::port::{self, Input, Output, Router};
use crate::topology::{Fabric, NONE};

/// Where the parts begin: the first number of each, and the end.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    routers: Vec<u32>,
    terminals: Vec<u32>,
    outputs: Vec<u32>,
    inputs: Vec<u32>,
    injection_channels: u32,
}

/// Where a cable leads that leaves a part: the part, and the input port's number there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    pub part: u32,
    pub input: u32,
}

/// Where a cable comes from that enters a part: the part, and the channel's number there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub part: u32,
    pub channel: u32,
}

/// The ports of a part, in its own numbers.
#[derive(Debug)]
pub(super) struct Ports<const LANES: usize> {
    pub outputs: Vec<Output<LANES>>,
    pub inputs: Vec<Input<LANES>>,
    pub routers: Vec<Router>,
    /// Where the input ports lead that are numbered behind the part's own.
    pub exits: Vec<Exit>,
    /// Where the channels come from that are numbered behind the part's own.
    pub entries: Vec<Entry>,
}

impl Cut {
    /// Cuts a network into at most so many parts of about as many routers; one if its terminals are
    /// not numbered along its routers.
    pub(super) fn new(fabric: &Fabric, network: &Network, parts: usize) -> Self {
        let routers = fabric.routers();
        let homes = || fabric.live_terminals().map(|terminal| fabric.terminal_router(terminal));
        let parts = if homes().is_sorted() { parts.clamp(1, routers.max(1) as usize) } else { 1 };
        let first = |part: usize| (u64::from(routers) * part as u64 / parts as u64) as u32;
        let firsts: Vec<u32> = (0..=parts).map(first).collect();
        let first_terminal = |&router: &u32| {
            let beyond = |&terminal: &u32| fabric.terminal_router(terminal) >= Some(router);
            if router == 0 {
                0
            } else {
                (0..fabric.terminals()).find(beyond).unwrap_or(fabric.terminals())
            }
        };
        let of = |first: &[u32]| firsts.iter().map(|&router| first[router as usize]).collect();
        Self {
            terminals: firsts.iter().map(first_terminal).collect(),
            outputs: of(&network.first_output),
            inputs: of(&network.first_input),
            injection_channels: network.injection_channels,
            routers: firsts,
        }
    }

    pub(super) fn parts(&self) -> usize {
        self.routers.len() - 1
    }

    pub(super) fn first_router(&self, part: usize) -> u32 {
        self.routers[part]
    }

    pub(super) fn first_output(&self, part: usize) -> u32 {
        self.outputs[part]
    }

    pub(super) fn first_input(&self, part: usize) -> u32 {
        self.inputs[part]
    }

    /// Network and ejection channels of a part; its injection channels are numbered behind them.
    pub(super) fn outputs(&self, part: usize) -> u32 {
        self.outputs[part + 1] - self.outputs[part]
    }

    pub(super) fn terminals(&self, part: usize) -> Range<u32> {
        self.terminals[part]..self.terminals[part + 1]
    }

    /// The part of a router.
    pub(super) fn part_of_router(&self, router: u32) -> usize {
        part_of(&self.routers, router)
    }

    /// The part of a terminal.
    #[inline]
    pub(super) fn part_of_terminal(&self, terminal: u32) -> usize {
        if self.parts() == 1 { 0 } else { part_of(&self.terminals, terminal) }
    }

    /// What to add to the number of an injection channel of a part for its number in the whole network.
    pub(super) fn injection_offset(&self, part: usize) -> u32 {
        let first_injection = self.outputs[self.parts()];
        first_injection + self.terminals[part] * self.injection_channels - self.outputs(part)
    }

    /// The ports of a part.
    pub(super) fn ports<const LANES: usize>(
        &self,
        part: usize,
        network: &Network,
        parameters: &Parameters,
    ) -> Ports<LANES> {
        let routers = self.routers[part]..self.routers[part + 1];
        let mut ports = Ports {
            outputs: port::outputs(network, parameters, routers.clone(), self.terminals(part)),
            inputs: port::inputs(network, routers.clone()),
            routers: port::routers(network, routers, LANES),
            exits: Vec::new(),
            entries: Vec::new(),
        };
        let own_outputs = self.outputs(part);
        for (number, output) in (0..).zip(&mut ports.outputs) {
            let owners = if number < own_outputs { &self.routers } else { &self.terminals };
            output.owner -= owners[part];
            if output.input == NONE {
                continue;
            }
            let router = network.router_of_input[output.input as usize];
            let far = self.part_of_router(router);
            output.next_outputs -= self.outputs[far];
            output.input -= self.inputs[far];
            if far != part {
                let exit = Exit { part: far as u32, input: output.input };
                output.input = (ports.inputs.len() + ports.exits.len()) as u32;
                ports.exits.push(exit);
            }
        }
        for input in &mut ports.inputs {
            input.router -= self.routers[part];
            let first_injection = self.outputs[self.parts()];
            if input.feeder >= first_injection {
                input.feeder -= self.injection_offset(part);
                continue;
            }
            let far = part_of(&self.outputs, input.feeder);
            input.feeder -= self.outputs[far];
            if far != part {
                let entry = Entry { part: far as u32, channel: input.feeder };
                input.feeder = (ports.outputs.len() + ports.entries.len()) as u32;
                ports.entries.push(entry);
            }
        }
        for router in &mut ports.routers {
            router.first_output -= self.outputs[part];
            router.first_input -= self.inputs[part];
        }
        ports
    }
}

/// The part that a number lies in, given the first ones of all parts. Parts may be empty.
fn part_of(firsts: &[u32], number: u32) -> usize {
    firsts.partition_point(|&first| first <= number) - 1
}
