//! Whether requests can wait for responses that wait behind requests (protocol deadlock, or
//! message-dependent deadlock).
//!
//! An adapter with a limit of responses takes no request while it holds as many. So a request at its
//! destination waits for responses there to leave, and so does all that stands behind it in its
//! virtual channel. This ends well if responses never wait for a virtual channel with such requests:
//! then they reach their hosts, which take them always, and make room for others. Each kind of
//! packets by itself is the concern of the proofs of routes.

use super::{RoutingSpec, Scenario};
use flitlab_base::units::counted;
use flitlab_engine::{Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL, TrafficClass};

/// Virtual channels, a bit each.
type Channels = u16;

impl Scenario {
    /// How requests and responses can wait for each other for ever, and advice; `None` if they
    /// can't.
    pub(super) fn protocol_deadlock(&self) -> Option<(String, String)> {
        let limit = self.responder_resources()?;
        let members = self.workload.members().iter();
        let classes: Vec<TrafficClass> =
            members.filter(|it| it.spec.reads()).map(|it| it.class).collect();
        let all = |of: &dyn Fn(TrafficClass) -> Channels| {
            classes.iter().fold(0, |all, &class| all | of(class))
        };
        let requests = all(&|class| self.ends_of_requests(class));
        let circle = requests & all(&|class| self.ways_of_responses(class));
        if circle == 0 {
            return None;
        }
        let routing = &self.network.routing;
        let place = if routing.is_of_any_fabric() {
            "the virtual channels of the routes".into()
        } else {
            format!("virtual channel {}", circle.trailing_zeros())
        };
        let how = format!(
            "packets can deadlock: an adapter that holds {} takes no more requests, and these wait in {place}, which \
             responses have to pass",
            counted(limit.into(), "response")
        );
        let advice = if routing.is_of_any_fabric() {
            "this routing has no channel for responses alone; try direction order on a torus, or adapters that hold any \
             number: --set adapter.responder_resources=unlimited"
        } else if self.parameters.message_classes == 1 {
            "give responses a channel of their own: --set router.message_classes=2"
        } else {
            "requests and responses of a workload, or their ways to intermediate nodes, share a virtual channel; try another \
             `packets` for it, another `escape_to_intermediate`, or adapters that hold any number: --set \
             adapter.responder_resources=unlimited"
        };
        Some((how, advice.into()))
    }

    /// The limit of responses of an adapter, if there is one and something is answered.
    pub fn responder_resources(&self) -> Option<u16> {
        self.parameters.responder_resources.filter(|_| self.workload.reads())
    }

    /// The virtual channels in which requests may wait at their destinations.
    fn ends_of_requests(&self, class: TrafficClass) -> Channels {
        match &self.network.routing {
            RoutingSpec::Adaptive(rules, ..) if class.is_adaptive(false, false) => {
                1 << rules.channels.adaptive | 1 << rules.channels.escape
            }
            // Where routes have no such channels, this stands for all.
            _ => 1 << REQUEST_CHANNEL,
        }
    }

    /// The virtual channels that responses may wait for, at any distance.
    fn ways_of_responses(&self, class: TrafficClass) -> Channels {
        let Parameters { message_classes, .. } = self.parameters;
        let routing = &self.network.routing;
        let RoutingSpec::Adaptive(rules, ..) = routing else {
            let shared = routing.is_of_any_fabric() || message_classes == 1;
            return 1 << if shared { REQUEST_CHANNEL } else { RESPONSE_CHANNEL };
        };
        let channels = &rules.channels;
        let to_destination = 1 << channels.escape;
        let via = rules.non_minimal.goes_via_intermediate();
        let to_intermediate =
            if via { 1 << channels.escape_to_intermediate } else { to_destination };
        if class.is_adaptive(false, true) {
            return 1 << channels.adaptive | to_destination | to_intermediate;
        }
        // Where datelines part virtual channels in two, each pair stands here as its lower one.
        let channel = if message_classes == 1 { REQUEST_CHANNEL } else { RESPONSE_CHANNEL };
        let own = 1 << (channel * rules.escape.width());
        // Packets on their way to an intermediate node go on by the other escape from there.
        own | if own == to_intermediate { to_destination } else { 0 }
    }
}
