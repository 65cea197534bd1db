//! Demands of adapters that hold a limited number of responses.

use super::Checks;
use crate::RoutingSpec;
use crate::schema::Draft;
use flitlab_engine::TrafficClass;
use flitlab_routing::HalfRing;
use flitlab_tables::angara::Algorithm;

const LIMIT: &str = "adapter.responder_resources";
const CLASSES: &str = "router.message_classes";

impl Checks<'_> {
    /// The rules between keys of requests and responses.
    pub(super) fn responder_resources(&mut self, draft: &Draft) {
        let parameters = &draft.parameters;
        if let Some(routing) = &draft.routing
            && parameters.message_classes == 1
            && routing.is_of_any_fabric()
        {
            let message =
                "with this routing requests and responses share all virtual channels as it is";
            self.refuse(&[CLASSES, "routing"], message, "leave `message_classes` out");
        }
        if parameters.responder_resources.is_none() {
            return;
        }
        let leave_out = "leave `responder_resources` out";
        if parameters.errors.is_some() {
            let message =
                "a bad copy of a request would take room for a response that nobody sends";
            self.refuse(&[LIMIT, "link.errors"], message, leave_out);
        }
        let Some(workload) = &draft.workload else { return };
        if !workload.reads() {
            let message = "nothing is answered here, so adapters hold no responses";
            let help = format!("{leave_out}, or have nodes read, for example with `read = {{}}`");
            return self.refuse(&[LIMIT], message, help);
        }
        let Some(routing) = &draft.routing else { return };
        let mut several = false;
        workload.for_each_size(&mut |class, bytes, access| {
            let (request, response) = access.payloads(bytes);
            let is_cut = response.is_some() && request > parameters.maximum_payload.0;
            several |= is_cut && !keeps_order(routing, class);
        });
        if several {
            let message = "packets of a request can overtake each other here, so an adapter could be full of requests the \
                           rest of which waits behind others";
            let help = "choose requests, or puts, of one packet (`maximum_payload`), or a routing with one route a pair";
            self.refuse(&[LIMIT, "routing", super::PACKET[0]], message, help);
        }
    }
}

/// Whether the packets of a request come in the order in which they are sent.
fn keeps_order(routing: &RoutingSpec, class: TrafficClass) -> bool {
    match routing {
        RoutingSpec::DirectionOrder(rules) => rules.half_ring != HalfRing::Random,
        RoutingSpec::Angara { algorithm, .. } => algorithm.name != Algorithm::SGR.name,
        RoutingSpec::File(file) => !file.table.has_several(),
        RoutingSpec::Adaptive(..) => !class.is_adaptive(false, false),
        RoutingSpec::Agnostic { .. } | RoutingSpec::OpenSm(_) => true,
        RoutingSpec::Relation(_) => false,
    }
}
