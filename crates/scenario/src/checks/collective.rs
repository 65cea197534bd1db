//! Demands of the collective subnetwork.

use super::Checks;
use crate::RoutingSpec;
use crate::schema::Draft;
use flitlab_base::units::time_text;
use flitlab_engine::{DOWN_CHANNEL, MAX_HOP_TIME, UP_CHANNEL};
use flitlab_fabric::{Fabric, SpanningTree};
use flitlab_workload::traffic::{Access, CollectiveSpec};

impl Checks<'_> {
    pub(super) fn collective(
        &mut self,
        draft: &Draft,
        spec: &CollectiveSpec,
        fabric: Option<&Fabric>,
    ) {
        let parameters = &draft.parameters;
        self.empty_packets(parameters, spec.message, Access::Write, "collective");
        self.packets_of_messages(parameters, spec.message, Access::Write, "collective");
        if parameters.sharing.is_some() {
            let message =
                "routers that share links flit by flit neither combine nor replicate packets";
            let help = "leave out `sharing` in [link], or [collective]";
            self.refuse(&["collective", "link.sharing"], message, help);
        }
        match &draft.routing {
            Some(routing) if routing.is_of_any_fabric() || routing.has_dateline() => {
                let message = "the collective subnetwork takes Angara's virtual channels 3 and 4, and this routing has \
                               others";
                let help = "choose [routing.direction_order] without `dateline`, [routing.angara], [routing.file] or an \
                            adaptive routing; or leave out [collective]";
                self.refuse(&["collective", "routing"], message, help);
            }
            Some(RoutingSpec::Adaptive(rules)) => {
                let channels = &rules.channels;
                let used = [channels.adaptive, channels.escape, channels.escape_to_intermediate];
                if used.iter().any(|it| [UP_CHANNEL, DOWN_CHANNEL].contains(it)) {
                    let message =
                        "the collective subnetwork takes virtual channels 3 and 4 for itself";
                    let help = "leave out `virtual_channels` of the routing, or [collective]";
                    self.refuse(&["collective", "routing"], message, help);
                }
            }
            _ => {}
        }
        let keys = ["collective.combining_rate", "collective.combining_latency"];
        let packet = u64::from(parameters.maximum_packet());
        let takes = parameters.combining_flit_time() * packet;
        let takes = takes + parameters.collective.combining_latency;
        if takes > MAX_HOP_TIME {
            let message = format!(
                "combining the largest packets takes {}, and {} is the most",
                time_text(takes),
                time_text(MAX_HOP_TIME)
            );
            self.refuse(&keys, message, "raise `combining_rate`, or shorten `combining_latency`");
        }
        if let Some(fabric) = fabric.filter(|_| self.sound(&["collective", "topology"])) {
            self.trees(spec, fabric);
        }
    }

    /// Whether there are enough nodes, and trees from all roots reach them.
    fn trees(&mut self, spec: &CollectiveSpec, fabric: &Fabric) {
        let members = spec.members_of(fabric.live_terminals());
        if members.len() < 2 {
            let message = "a collective operation needs two nodes at least";
            return self.refuse(&["collective.members", "topology"], message, "name more nodes");
        }
        for root in spec.roots_of(&members) {
            if members.binary_search(&root).is_err() && fabric.terminal_router(root).is_some() {
                let name = fabric.terminal_name(root);
                let message = format!("root {name} does not take part");
                let help = "add it to `members`, or choose a root among those";
                return self.refuse(&["collective.roots", "collective.members"], message, help);
            }
            if let Err(error) = SpanningTree::new(fabric, root, &members) {
                let keys = ["collective.members", "collective.roots", "topology"];
                let help = "leave the node out of [collective], or the failures out of [topology]";
                return self.refuse(&keys, error.to_string(), help);
            }
        }
    }
}
