//! Demands of routers that hold credits back.

use super::Checks;
use crate::schema::Draft;
use crate::{RoutingSpec, RuleSpec};
use flitlab_engine::{Feature, FlitSharing, RouterKind};

impl Checks<'_> {
    /// The rules between credits that are held back and other keys.
    pub(super) fn held_credits(&mut self, draft: &Draft) {
        let Some(RoutingSpec::Relation(spec)) = &draft.routing else { return };
        if !matches!(&spec.rule, RuleSpec::Phased(rule, _) if rule.holds_credits()) {
            return;
        }
        // Without shared links it is refused as a feature, for the same reason.
        if let RouterKind::SharedLinks(FlitSharing { output_buffer: 0, .. }) = draft.parameters.kind
            && let Some(message) = Feature::HeldCredits.refusal(&RouterKind::WholePackets)
        {
            let help = "write `sharing.flit.output_buffer = 32` in [link], or leave `credits` out";
            self.refuse(&["routing.relation.rule", "link.sharing"], message, help);
        }
    }
}
