//! The cut of a network into parts, each simulated by one thread.
//!
//! A part is a range of routers, with the outputs, input ports and terminals of these routers.
//! Within a part all numbers count from the part's first.

use std::ops::Range;

use crate::network::Network;
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;

/// The first number of each part, and the end, for each kind of number.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    routers: Vec<u32>,
    terminals: Vec<u32>,
    outputs: Vec<u32>,
}

impl Cut {
    /// Cuts a network into at most `parts` parts with about equally many routers. There is one part
    /// if terminals are not numbered along their routers.
    pub(crate) fn new(fabric: &Fabric, network: &Network, parts: usize) -> Self {
        let routers = fabric.routers();
        let homes = || fabric.live_terminals().map(|terminal| fabric.terminal_router(terminal));
        let parts = if homes().is_sorted() { parts.clamp(1, routers.max(1) as usize) } else { 1 };
        let first = |part: usize| narrow::<u32>(u64::from(routers) * part as u64 / parts as u64);
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
            routers: firsts,
        }
    }

    pub(crate) fn parts(&self) -> usize {
        self.routers.len() - 1
    }

    pub(crate) fn routers(&self, part: usize) -> Range<u32> {
        self.routers[part]..self.routers[part + 1]
    }

    #[inline]
    pub(crate) fn first_router(&self, part: usize) -> u32 {
        self.routers[part]
    }

    #[inline]
    pub(crate) fn first_output(&self, part: usize) -> u32 {
        self.outputs[part]
    }

    pub(crate) fn terminals(&self, part: usize) -> Range<u32> {
        self.terminals[part]..self.terminals[part + 1]
    }

    /// The part of a router.
    pub(crate) fn part_of_router(&self, router: u32) -> usize {
        part_of(&self.routers, router)
    }

    /// The part of a terminal.
    #[inline]
    pub(crate) fn part_of_terminal(&self, terminal: u32) -> usize {
        if self.parts() == 1 { 0 } else { part_of(&self.terminals, terminal) }
    }
}

/// The part that a number lies in, given the first numbers of all parts. Parts may be empty.
fn part_of(firsts: &[u32], number: u32) -> usize {
    firsts.partition_point(|&first| first <= number) - 1
}
