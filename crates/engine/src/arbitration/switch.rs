//! What arbitrations see of a flit-by-flit router: the flits that ask for the switch, and the turns
//! of its ports.

use serde::{Deserialize, Serialize};

use super::{Priority, oldest_first, random, round_robin, transit_first, weighted};
use crate::network::vc_map::VcMap;
use flitlab_base::units::Picoseconds;
use flitlab_model::{Arbitration, FlitSharing};

/// The turns of an input port.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct InputTurn {
    /// The queue of the port at which round-robin arbitration starts.
    pub pointer: u16,
    /// The output at which the cyclic order of the port's offers starts.
    pub accepts: u16,
}

/// The turns of an output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct OutputTurn {
    /// The input port at which round-robin arbitration starts; by weights the virtual channel whose
    /// turn it is.
    pub pointer: u16,
    /// Flits left of that turn.
    pub left: u8,
}

impl OutputTurn {
    pub(crate) fn new(sharing: &FlitSharing) -> Self {
        Self { pointer: 0, left: sharing.weight(0) }
    }
}

/// A flit that takes part in a switch allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchCandidate {
    /// Its queue, by its number in the part.
    pub queue: u32,
    pub input: u32,
    pub output: u32,
    /// The number of its queue among those of its input port.
    pub of_port: u32,
    /// The virtual channel that its packet holds at the output.
    pub out_vc: u8,
    /// Whether it has been granted the switch, or cannot be any more.
    pub is_out: bool,
}

/// Where a router keeps the turns of its ports, and the packets of its queues.
pub(crate) trait Turns {
    /// The turns of an input port, by its number in the part.
    fn of_input(&self, input: usize) -> InputTurn;

    /// The turns of an output, by its number in the part.
    fn of_output(&self, output: usize) -> OutputTurn;

    /// The creation of the packet at the head of a queue, its source and its number there.
    fn age(&self, queue: u32) -> (Picoseconds, u32, u32);
}

/// A router at an instant of its switch allocation. Functions that take one are inlined: if its
/// address left them, each comparison would store all fields, and most need but two.
pub(crate) struct Switch<'a, T> {
    pub arbitration: Arbitration,
    pub sharing: &'a FlitSharing,
    pub vc_map: &'a VcMap,
    pub time: Picoseconds,
    pub router: u32,
    /// The first input port that is an injection channel.
    pub transit: u32,
    /// The first of the router's input ports and outputs in its part.
    pub first_input: u32,
    pub first_output: u32,
    pub priorities: &'a [Priority],
    pub turns: &'a T,
}

impl<T: Turns> Switch<'_, T> {
    /// Whether an output is offered to one flit rather than to another.
    #[inline(always)]
    pub(crate) fn is_offered(&self, one: &SwitchCandidate, other: &SwitchCandidate) -> bool {
        match self.arbitration {
            Arbitration::RoundRobin => round_robin::is_offered(self, one, other),
            Arbitration::TransitFirst => transit_first::is_offered(self, one, other),
            Arbitration::Random => random::flit_rank(self, one) < random::flit_rank(self, other),
            Arbitration::OldestFirst => {
                oldest_first::age(self, one) < oldest_first::age(self, other)
            }
            Arbitration::Weighted => {
                let turns = (self.output_turn(one), self.priority(one));
                weighted::comes_first(turns, self.sharing, (one.out_vc, other.out_vc))
            }
        }
    }

    /// Whether an input port accepts the offer to one of its flits rather than that to another.
    #[inline(always)]
    pub(crate) fn is_accepted(&self, one: &SwitchCandidate, other: &SwitchCandidate) -> bool {
        match self.arbitration {
            Arbitration::OldestFirst => {
                oldest_first::age(self, one) < oldest_first::age(self, other)
            }
            _ => round_robin::is_accepted(self, one, other),
        }
    }

    /// The turns of a flit's input port.
    #[inline(always)]
    pub(super) fn input_turn(&self, candidate: &SwitchCandidate) -> InputTurn {
        self.turns.of_input(self.first_input as usize + candidate.input as usize)
    }

    /// The turns of a flit's output.
    #[inline(always)]
    pub(super) fn output_turn(&self, candidate: &SwitchCandidate) -> OutputTurn {
        self.turns.of_output(self.first_output as usize + candidate.output as usize)
    }

    /// The turns of virtual channels of high priority at a flit's output, if there are any.
    #[inline(always)]
    pub(super) fn priority(&self, candidate: &SwitchCandidate) -> Option<&Priority> {
        self.priorities.get(self.first_output as usize + candidate.output as usize)
    }
}
