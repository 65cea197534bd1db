//! Demands of routers that drop what waits at the head of a buffer for too long.

use super::Checks;
use crate::schema::Draft;

const LIFETIME: &str = "router.head_of_queue_lifetime";

impl Checks<'_> {
    /// The rules between the lifetime at the head of queues and other keys.
    pub(super) fn lifetime(&mut self, draft: &Draft) {
        let parameters = &draft.parameters;
        if parameters.head_of_queue_lifetime.is_none() {
            return;
        }
        let mut refuse = |key: &str, message: &str| {
            self.refuse(&[LIFETIME, key], message, "leave `head_of_queue_lifetime` out");
        };
        if parameters.errors.is_some() {
            refuse(
                "link.errors",
                "links that err send again what they hold, and a packet that is dropped may be held",
            );
        }
        if parameters.responder_resources.is_some() {
            refuse(
                "adapter.responder_resources",
                "a request that loses a packet would keep the room for its response for ever",
            );
        }
        if draft.interruption.is_some() {
            refuse("interruption", "what failures lose could not be told from what is dropped");
        }
        let Some(workload) = &draft.workload else { return };
        if !workload.bear_losses() {
            let message =
                "what is dropped is not sent again, and this workload would wait for it for ever";
            let help = "leave `head_of_queue_lifetime` out, or simulate a load ([traffic]) without reads, or an exchange \
                        with `between_steps = \"nothing\"`";
            self.refuse(&[LIFETIME], message, help);
        }
    }
}
