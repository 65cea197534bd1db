//! Demands of routers that hold credits back.

use super::Checks;
use crate::Network;
use crate::schema::Draft;
use flitlab_routing::Routes;

const RULE: &str = "routing.relation.rule";

impl Checks<'_> {
    /// The rules between credits that are held back and other keys. The network's routes have to be
    /// made.
    pub(super) fn held_credits(&mut self, draft: &Draft, network: &Network) {
        let Ok(Routes::Relation(routes)) = network.routes() else { return };
        if !routes.holds_credits(&network.fabric) {
            return;
        }
        let behind = draft.parameters.sharing.as_ref().map_or(0, |sharing| sharing.output_buffer);
        if behind == 0 {
            let message = "credits that are held back show what waits behind a crossbar, and here nothing does";
            let help = "write `sharing.flit.output_buffer = 32` in [link], or leave `credits` out";
            self.refuse(&[RULE, "link.sharing"], message, help);
        }
    }
}
