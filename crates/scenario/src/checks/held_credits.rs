//! Demands of routers that hold credits back.

use super::Checks;
use crate::schema::Draft;
use crate::{RoutingSpec, RuleSpec};

impl Checks<'_> {
    /// The rules between credits that are held back and other keys.
    pub(super) fn held_credits(&mut self, draft: &Draft) {
        let Some(RoutingSpec::Relation(spec)) = &draft.routing else { return };
        if !matches!(&spec.rule, RuleSpec::Phased(rule, _) if rule.holds_credits()) {
            return;
        }
        let behind = draft.parameters.sharing.as_ref().map_or(0, |sharing| sharing.output_buffer);
        if behind == 0 {
            let message = "credits that are held back show what waits behind a crossbar, and here nothing does";
            let help = "write `sharing.flit.output_buffer = 32` in [link], or leave `credits` out";
            self.refuse(&["routing.relation.rule", "link.sharing"], message, help);
        }
    }
}
