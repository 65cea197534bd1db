//! Demands on buffers of packets that choose their hops, where they are injected and where they
//! enter rings.

use super::Checks;
use crate::RoutingSpec;
use crate::schema::Draft;
use flitlab_engine::{Parameters, Switching};

impl Checks<'_> {
    /// Whether buffers have the room that packets leave which are injected, and those which enter a
    /// ring.
    pub(super) fn bubbles(&mut self, draft: &Draft) {
        let parameters = &draft.parameters;
        let asked = match &draft.routing {
            Some(RoutingSpec::Relation(spec)) => {
                // Elsewhere all buffers hold two.
                let holds_one = parameters.most_bubble() == 0 && parameters.kind.grants_flits();
                let atomic = parameters.kind.is_atomic();
                if spec.rule.keeps_bubble() && spec.selection.is_none() && (holds_one || atomic) {
                    return self.ring(spec.rule.name(), parameters);
                }
                spec.injection_bubble
            }
            Some(RoutingSpec::Adaptive(rules, ..)) => rules.injection_bubble,
            _ => 0,
        };
        if asked > parameters.most_bubble() {
            self.injection_bubble(asked, parameters);
        }
    }

    fn ring(&mut self, rule: &str, parameters: &Parameters) {
        let (other, message, help) = if parameters.switching == Switching::Wormhole {
            let message =
                format!("worms are longer than any room that the rings of {rule} could keep");
            ("router.switching", message, "leave `switching` out".to_owned())
        } else if parameters.kind.is_atomic() {
            let message = format!(
                "packets that wait until a buffer is empty never use the room that the rings of {rule} keep"
            );
            let key = "link.sharing.flit.virtual_channel_allocation";
            (key, message, "leave `virtual_channel_allocation` out".to_owned())
        } else {
            let two = 2 * u64::from(parameters.maximum_packet());
            let message = format!(
                "packets enter the rings of {rule} where two of the largest have room, {two} flits, and buffers hold {}",
                parameters.buffer
            );
            (
                "router.buffer",
                message,
                format!("write `buffer = \"{two} flits\"` or more in [router]"),
            )
        };
        let keys = ["routing.relation.rule", other];
        self.refuse(&keys, message, format!("{help}, or choose another rule"));
    }

    fn injection_bubble(&mut self, asked: u8, parameters: &Parameters) {
        let most = parameters.most_bubble();
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
        let keys = ["relation", "adaptive", "pick_orthant", "outflank", "two_phase"]
            .map(|table| format!("routing.{table}.injection_bubble"));
        let key = self.written(&keys);
        self.refuse(&[key, "router.buffer"], message, help);
    }
}
