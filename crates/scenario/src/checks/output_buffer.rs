//! Demands of buffers at outputs.

use super::{Checks, PACKET};
use crate::schema::Draft;
use flitlab_engine::RouterKind;

const BUFFER: &str = "router.output_buffer";

impl Checks<'_> {
    /// The rules between buffers at outputs and other keys; `packets`: whether sizes are known.
    pub(super) fn output_buffer(&mut self, draft: &Draft, packets: bool) {
        if draft.two_output_buffers {
            let message = "where links are shared flit by flit, what waits behind the crossbar has a key of its own";
            let help = "leave `output_buffer` out, and write `sharing.flit.output_buffer` in [link]; or write \
                        `sharing = \"packet\"` there";
            self.refuse(&[BUFFER, "link.sharing"], message, help);
        }
        let RouterKind::OutputBuffers(has) = draft.parameters.kind else { return };
        let largest = draft.parameters.maximum_packet();
        if packets && has < largest {
            let message = format!(
                "an `output_buffer` of {has} flits does not hold the largest packet, which has {largest}"
            );
            let help = format!("write `output_buffer = \"{largest} flits\"` or more in [router]");
            self.refuse(&[BUFFER, PACKET[0], PACKET[1], PACKET[2], PACKET[3]], message, help);
        }
    }
}
