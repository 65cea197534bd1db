//! Lists of the allocations of an instant, kept to reuse their memory.

use super::vc_allocation::VcRequest;
use crate::arbitration::SwitchCandidate;
use crate::frame::tick::Tick;
use flitlab_fabric::NONE;

/// Lists of an instant, kept to reuse their memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Packets without a choice for which virtual channels of their output are open.
    pub vc_requests: Vec<VcRequest>,
    /// Open virtual channels of outputs, each with a queue that may take it.
    pub vc_candidates: Vec<(u32, u32)>,
    /// Offers: a virtual channel, and the queue that it is offered to.
    pub offers: Vec<(u32, u32)>,
    pub losers: Vec<u32>,
    /// Flits that take part in the switch allocation.
    pub candidates: Vec<SwitchCandidate>,
    /// Of these, the flits that get an offer; by output the place in this list, and by input port
    /// the place among the candidates.
    pub offered: Vec<u32>,
    pub of_output: Vec<u32>,
    pub of_input: Vec<u32>,
    /// Arrival times of flits that are handed over together.
    pub arrivals: Vec<Tick>,
    /// Queues that are due at the instant.
    pub due_queues: Vec<u32>,
}

impl Scratch {
    /// Lists for routers with up to this many ports and queues.
    pub(super) fn new(inputs: u16, outputs: u16, queues: u32) -> Self {
        let (of_input, of_output) = (vec![NONE; inputs.into()], vec![NONE; outputs.into()]);
        Self { of_input, of_output, due_queues: vec![NONE; queues as usize + 1], ..Self::default() }
    }

    pub(super) fn has_vc_requests(&self) -> bool {
        !self.vc_requests.is_empty() || !self.vc_candidates.is_empty()
    }
}
