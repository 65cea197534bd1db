//! Demands of remote memory operations.

use super::{Checks, PACKET};
use crate::schema::Draft;
use flitlab_engine::Parameters;
use flitlab_fabric::Fabric;
use flitlab_workload::traffic::{Pattern, RemoteMemorySpec, RemoteOperation};

impl Checks<'_> {
    pub(super) fn remote_memory(
        &mut self,
        draft: &Draft,
        spec: &RemoteMemorySpec,
        fabric: Option<&Fabric>,
    ) {
        let parameters = &draft.parameters;
        self.pattern(&spec.pattern, fabric, draft.seed, "remote_memory.pattern");
        if !self.sound(&PACKET) || !self.sound(&["remote_memory"]) {
            return;
        }
        let (request, response) = spec.payloads();
        self.packets_without_flits(parameters, spec);
        let Some(fabric) = fabric else { return };
        let Ok(pattern) = Pattern::new(&spec.pattern, fabric, draft.seed) else { return };
        if pattern.steps().is_none() || !self.problems.is_empty() {
            return;
        }
        // Flits of all operations are counted in 64 bits.
        let nodes = fabric.live_terminals().count() as u64;
        let operations = u64::from(spec.operations).saturating_mul(spec.processes.into());
        let flits = parameters.message_flits(request) + parameters.message_flits(response);
        let all = nodes.saturating_mul(operations).saturating_mul(flits);
        if all == u64::MAX {
            let message = format!(
                "up to {nodes} times {operations} operations of {flits} flits are more flits than can be counted"
            );
            let keys = ["remote_memory.operations", "remote_memory.message"];
            self.refuse(
                &keys,
                message,
                "at most 2^64 flits are; make messages smaller, or do fewer operations",
            );
        }
    }

    /// Without header and checksum a packet without payload has no flits.
    fn packets_without_flits(&mut self, parameters: &Parameters, spec: &RemoteMemorySpec) {
        if parameters.header_flits + parameters.checksum_flits > 0 {
            return;
        }
        let (what, key) = match spec.operation {
            RemoteOperation::Put => ("the acknowledgement of a put", "remote_memory.operation"),
            RemoteOperation::Get if spec.request.0 == 0 => {
                ("a request of 0 B", "remote_memory.request")
            }
            RemoteOperation::Get if spec.message.0 == 0 => {
                ("a message of 0 B", "remote_memory.message")
            }
            _ => return,
        };
        let message = format!("{what} without header and checksum is a packet of no flits");
        self.refuse(&[key, PACKET[2], PACKET[3]], message, "set `header_flits` to 1");
    }
}
