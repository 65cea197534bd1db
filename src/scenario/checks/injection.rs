//! What packets that are injected ask of routers.

use super::Checks;
use crate::engine::Switching;
use crate::scenario::RoutingSpec;
use crate::scenario::schema::Draft;

impl Checks<'_> {
    /// Whether buffers have the room that packets leave which are injected.
    pub(super) fn injection_bubble(&mut self, draft: &Draft) {
        let (Some(RoutingSpec::Relation(spec)), parameters) = (&draft.routing, &draft.parameters)
        else {
            return;
        };
        let (asked, most) = (spec.injection_bubble, parameters.most_bubble());
        if asked <= most {
            return;
        }
        let packet = parameters.maximum_packet();
        let (message, help) = if parameters.switching == Switching::Wormhole {
            let message = "worms are longer than any room that packets could leave";
            (message.into(), "leave `injection_bubble` out: here its default is 0".into())
        } else {
            let message = format!(
                "a packet of {packet} flits that leaves room for {asked} more never finds it in a buffer of {} flits",
                parameters.buffer
            );
            (message, format!("write at most {most}, or write a larger `buffer` in [router]"))
        };
        self.refuse(&["routing.relation.injection_bubble", "router.buffer"], message, help);
    }
}
