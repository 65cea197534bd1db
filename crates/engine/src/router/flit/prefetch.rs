//! Prefetches for visits that come soon, where a part is larger than the nearer caches.

use super::FlitRouters;
use super::credits::OutputVc;
use super::flit_queue::FlitQueue;
use crate::network::ports::Ports;
use crate::packet::Packets;
use flitlab_base::prefetch::{Stage, prefetch};

impl FlitRouters {
    /// Prefetches the memory for a router's visit.
    #[inline(never)]
    pub(super) fn prefetch_router(&self, packets: &Packets, number: u32, stage: Stage) {
        let router = &self.ports.routers[number as usize];
        let (rules, state) = (&self.rules, &self.state);
        let queues = || {
            let inputs = usize::from(router.inputs) << rules.shift;
            &state.queues[rules.first_queue(router)..][..inputs * rules.outputs as usize]
        };
        let outputs = || &state.outputs[router.first_output as usize..][..router.outputs.into()];
        match stage {
            Stage::Far => prefetch(router),
            Stage::Near => {
                let Ports { output_ports, input_ports, .. } = &self.ports;
                output_ports.get(router.first_output as usize).into_iter().for_each(prefetch);
                input_ports.get(router.first_input as usize).into_iter().for_each(prefetch);
                queues().iter().for_each(prefetch);
                outputs().iter().for_each(prefetch);
                let active_vcs = state.active_vcs_of(rules, number);
                state.request_times[active_vcs].iter().step_by(16).for_each(prefetch);
            }
            Stage::Next => {
                for output in outputs() {
                    let vcs = &state.vcs[output.vcs as usize..][..rules.vcs as usize];
                    vcs.iter().for_each(prefetch);
                }
                for FlitQueue { flits, .. } in queues() {
                    flits.prefetch(&state.times);
                }
            }
            Stage::Last => {
                for queue in queues() {
                    packets.packets.get(queue.head as usize).into_iter().for_each(prefetch);
                }
                for output in outputs() {
                    let vcs = &state.vcs[output.vcs as usize..][..rules.vcs as usize];
                    vcs.iter().for_each(|vc: &OutputVc| vc.prefetch(&state.times));
                }
            }
        }
    }
}
