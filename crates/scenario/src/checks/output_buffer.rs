//! Demands of routers with buffers at outputs.

use super::{Checks, PACKET};
use crate::RoutingSpec;
use crate::schema::Draft;

const BUFFER: &str = "router.output_buffer";
const LEAVE_OUT: &str = "leave `output_buffer` out";

impl Checks<'_> {
    /// The rules between buffers at outputs and other keys; `packets`: whether sizes are known.
    pub(super) fn output_buffer(&mut self, draft: &Draft, packets: bool) {
        let parameters = &draft.parameters;
        let (has, largest) = (parameters.output_buffer, parameters.maximum_packet());
        if has == 0 {
            return;
        }
        if packets && has < largest {
            let message = format!(
                "an `output_buffer` of {has} flits does not hold the largest packet, which has {largest}"
            );
            let help = format!("write `output_buffer = \"{largest} flits\"` or more in [router]");
            self.refuse(&[BUFFER, PACKET[0], PACKET[1], PACKET[2], PACKET[3]], message, help);
        }
        let mut refuse = |key: &str, message: &str, help: &str| {
            self.refuse(&[BUFFER, key], message, format!("{LEAVE_OUT}{help}"));
        };
        if parameters.sharing.is_some() {
            refuse(
                "link.sharing",
                "where links are shared flit by flit, what waits behind the crossbar has a key of its own",
                ", and write `sharing.flit.output_buffer` in [link]; or write `sharing = \"packet\"` there",
            );
        }
        if parameters.bubble {
            refuse(
                "router.bubble",
                "packets that enter a ring could stand in a buffer at an output before those that go on in it, so the \
                 bubble rule would keep no ring from deadlock",
                ", or `bubble`: here its default is false, and datelines keep rings from deadlock",
            );
        }
        match &draft.routing {
            Some(RoutingSpec::Adaptive(_)) => refuse(
                "routing",
                "packets that choose on a torus are simulated with buffers at inputs only",
                ", or choose [routing.relation]",
            ),
            Some(RoutingSpec::Relation(spec)) => {
                if spec.injection_bubble > 0 {
                    refuse(
                        "routing.relation.injection_bubble",
                        "packets leave room where they are injected in buffers at inputs only",
                        ", or `injection_bubble`: here its default is 0",
                    );
                } else if spec.rule.keeps_bubble() {
                    refuse(
                        "routing.relation.rule",
                        "the rings of this rule keep room in buffers at inputs only",
                        ", or choose another rule",
                    );
                }
            }
            _ => {}
        }
        if parameters.head_of_queue_lifetime.is_some() {
            refuse(
                "router.head_of_queue_lifetime",
                "packets are dropped in buffers at inputs only",
                ", or `head_of_queue_lifetime`",
            );
        }
        if parameters.responder_resources.is_some() {
            refuse(
                "adapter.responder_resources",
                "a request that has crossed to its adapter would have to wait there for others",
                ", or `responder_resources`",
            );
        }
        if parameters.errors.is_some() {
            refuse(
                "link.errors",
                "links that send again are simulated with buffers at inputs only",
                ", or make links sound ([link.errors])",
            );
        }
        if draft.interruption.is_some() {
            refuse(
                "interruption",
                "failures during operation are simulated with buffers at inputs only",
                ", or let things fail from the start, by keys such as `failed_cables` in [topology]",
            );
        }
        if draft.workload.as_ref().is_some_and(|it| it.is_collective()) {
            refuse(
                "collective",
                "routers combine and copy packets in buffers at inputs only",
                ", or choose collective operations of hosts ([application])",
            );
        }
    }
}
