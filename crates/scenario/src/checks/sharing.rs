//! Demands of links that are shared flit by flit.

use super::Checks;
use crate::RoutingSpec;
use crate::schema::Draft;
use flitlab_base::narrow::narrow;
use flitlab_engine::{Arbitration, FlitSharing, Parameters, RouterKind, Switching};

const WEIGHTS: &str = "link.sharing.flit.weights";
const HIGH_PRIORITY: &str = "link.sharing.flit.high_priority";
const LIMIT: &str = "link.sharing.flit.high_priority_limit";

impl Checks<'_> {
    /// The rules between keys of routers that share links flit by flit.
    pub(super) fn sharing(&mut self, draft: &Draft) {
        let parameters = &draft.parameters;
        let Some(sharing) = parameters.kind.sharing() else { return };
        let routing = draft.routing.as_ref();
        if parameters.switching == Switching::Wormhole && parameters.bubble {
            let message = "worms are longer than the room that a bubble keeps: the rule keeps no ring from deadlock";
            let help = "leave `bubble` out: here its default is false. `dateline = true` in [routing.direction_order] keeps \
                        rings from deadlock";
            let keys = ["router.bubble", "router.switching"];
            self.refuse(&keys, message, help);
        }
        if sharing.atomic && parameters.bubble {
            let message = "where a packet waits until a buffer is empty, the room that a bubble keeps is never used: rings \
                           can fill up in spite of it";
            let help = "leave `bubble` out: here its default is false, and datelines keep rings from deadlock";
            let keys = ["router.bubble", "link.sharing.flit.virtual_channel_allocation"];
            self.refuse(&keys, message, help);
        }
        let adaptive = match routing {
            Some(RoutingSpec::Adaptive(rules, ..)) => Some(rules),
            _ => None,
        };
        let chooses = adaptive.is_some()
            || matches!(
                routing, Some(RoutingSpec::Relation(spec)) if spec.selection.is_none()
            );
        if chooses && sharing.virtual_output_queues {
            let message = "a packet that chooses its way has no output of its own to queue for";
            let help = "leave `queues` out, or choose a routing that doesn't adapt";
            self.refuse(&["link.sharing.flit.queues", "routing"], message, help);
        }
        self.weights(parameters, sharing);
        if let Some(rules) = adaptive.filter(|rules| rules.escape.width() == 1) {
            let named = [
                rules.channels.adaptive,
                rules.channels.escape,
                if rules.non_minimal.goes_via_intermediate() {
                    rules.channels.escape_to_intermediate
                } else {
                    0
                },
            ];
            self.need_channels(draft, named.into_iter().max().map_or(1, |most| most + 1));
        } else if routing.is_none_or(|routing| routing.vcs().is_none())
            && draft.uses_response_channel()
        {
            self.need_channels(draft, 2);
        }
    }

    /// The turns of virtual channels.
    fn weights(&mut self, parameters: &Parameters, sharing: &FlitSharing) {
        let channels = usize::from(parameters.virtual_channels);
        for (key, weights) in [(WEIGHTS, &sharing.weights), (HIGH_PRIORITY, &sharing.high_priority)]
        {
            if weights.len() > channels {
                let message = format!(
                    "there are {} weights, and the routers have {channels} virtual channels",
                    weights.len()
                );
                let keys = [key, "router.virtual_channels"];
                self.refuse(&keys, message, "give at most one weight for each virtual channel");
            }
        }
        let never = |it: &usize| sharing.weight(*it) == 0 && sharing.high_weight(*it) == 0;
        if let Some(channel) = (0..channels).find(never) {
            let message = format!("virtual channel {channel} would never send anything");
            let help = "a weight of 0 is for virtual channels that have one in `high_priority`";
            self.refuse(&[WEIGHTS], message, help);
        }
        if sharing.high_priority.is_empty() {
            if sharing.high_priority_limit.is_some() {
                let message = "no virtual channel has a high priority that could be limited";
                let help = "give weights of those that have one in `high_priority`";
                self.refuse(&[LIMIT], message, help);
            }
        } else if parameters.arbitration != Arbitration::Weighted {
            let message = "priorities are those of weighted turns";
            let help =
                "write `arbitration = \"weighted\"` in [router], or leave `high_priority` out";
            self.refuse(&[HIGH_PRIORITY, "router.arbitration"], message, help);
        }
    }

    fn need_channels(&mut self, draft: &Draft, needs: u8) {
        let has = draft.parameters.virtual_channels;
        let message =
            format!("the routers have {has} virtual channels, and this takes {needs} at least");
        if has < needs {
            let help = format!("write `virtual_channels = {needs}` in [router]");
            self.refuse(&["router.virtual_channels"], message, help);
        }
    }

    /// The least buffer of a network channel, and of an injection channel, in flits: what it has to
    /// hold.
    pub(super) fn least_buffers(parameters: &Parameters) -> [(u32, &'static str); 2] {
        let packet = parameters.maximum_packet();
        let one = "the largest packet";
        match parameters.kind {
            RouterKind::SharedLinks(_) if parameters.switching == Switching::Wormhole => {
                [(1, "a flit"); 2]
            }
            RouterKind::SharedLinks(_) if !parameters.bubble => [(packet, one); 2],
            RouterKind::OutputBuffers(_) => [(packet, one); 2],
            RouterKind::WholePackets | RouterKind::SharedLinks(_) | RouterKind::OutputQueues(_) => {
                [(narrow(2 * u64::from(packet)), "two of the largest packets"), (packet, one)]
            }
        }
    }
}
