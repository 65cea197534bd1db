//! Queues of flits at an input port, and how far their heads have come.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;

use super::network::Flit;

/// The virtual channel at a router's output that the packet at a queue's head has got.
#[derive(Clone, Copy)]
pub struct Way {
    pub packet: usize,
    pub output: usize,
    pub virtual_channel: usize,
    /// When its flits may ask for the switch.
    pub asks_from: Picoseconds,
    /// How many of them have won it.
    pub sent: u32,
}

/// A queue of an input port: of a virtual channel, or of a virtual channel and an output.
pub struct Queue {
    pub virtual_channel: usize,
    /// Whether its packets ask for virtual channels of outputs, rather than to be combined or
    /// copied.
    pub asks_for_outputs: bool,
    /// Flits that are there, each with the time at which it came.
    pub flits: VecDeque<(Picoseconds, Flit)>,
    /// What the packet at the head has been allocated, until its last flit has won the switch.
    pub way: Option<Way>,
    /// `C` after the last flit of the latest packet won the switch.
    pub free_from: Picoseconds,
    /// When a packet that was not allocated a virtual channel asks again.
    pub packet_asks_again: Picoseconds,
    /// When a flit that did not win the switch asks again.
    pub flit_asks_again: Picoseconds,
    /// The virtual channel that is accepted first, as `output * virtual channels + virtual
    /// channel`.
    pub pointer: usize,
}

impl Queue {
    pub fn new(virtual_channel: usize, asks_for_outputs: bool) -> Self {
        Self {
            virtual_channel,
            asks_for_outputs,
            flits: VecDeque::new(),
            way: None,
            free_from: Picoseconds::ZERO,
            packet_asks_again: Picoseconds::ZERO,
            flit_asks_again: Picoseconds::ZERO,
            pointer: 0,
        }
    }
}
