//! What routers of a kind lack, by the table of features.

use super::Checks;
use crate::schema::Draft;
use crate::{RoutingSpec, RuleSpec, Scenario};
use flitlab_engine::{Feature, Parameters, RouterKind, Switching, needs_shared_links};

const BUFFER: &str = "router.output_buffer";
const SHARING: &str = "link.sharing";

/// How to have links shared flit by flit.
const SHARE: &str = "write `sharing = \"flit\"` in [link]";

/// What a scenario has that may ask for a feature.
struct Parts<'s> {
    parameters: &'s Parameters,
    routing: Option<&'s RoutingSpec>,
    is_interrupted: bool,
    is_collective: bool,
}

impl Parts<'_> {
    /// The features of the table that are asked for, each with the key that does.
    fn asked(&self) -> Vec<(Feature, &'static str)> {
        let parameters = self.parameters;
        let (errs, fails) = (parameters.errors.is_some(), self.is_interrupted);
        let stalls = parameters.kind.sharing().is_some_and(|sharing| sharing.stall_times);
        let of_routing = match self.routing {
            Some(RoutingSpec::Adaptive(..)) => Some((Feature::AdaptiveOnTori, "routing")),
            Some(RoutingSpec::Relation(spec)) if spec.injection_bubble > 0 => {
                Some((Feature::InjectionBubble, "routing.relation.injection_bubble"))
            }
            Some(RoutingSpec::Relation(spec)) if spec.rule.keeps_bubble() => {
                Some((Feature::RingsOfRelations, "routing.relation.rule"))
            }
            Some(RoutingSpec::Relation(spec)) => {
                let holds = matches!(&spec.rule, RuleSpec::Phased(rule, _) if rule.holds_credits());
                holds.then_some((Feature::HeldCredits, "routing.relation.rule"))
            }
            _ => None,
        };
        let has_lifetime = parameters.head_of_queue_lifetime.is_some();
        let bounds_responses = parameters.responder_resources.is_some();
        let mut asked = Vec::new();
        let mut ask = |is_asked: bool, feature, key| {
            if is_asked {
                asked.push((feature, key));
            }
        };
        let by_flit = needs_shared_links(parameters.arbitration);
        ask(parameters.switching == Switching::Wormhole, Feature::Wormhole, "router.switching");
        ask(by_flit, Feature::AgeOrWeight, "router.arbitration");
        // Queues at outputs have no bubble, whatever the default of a torus.
        let has_bubble = parameters.bubble && parameters.kind.output_queues().is_none();
        ask(has_bubble, Feature::Bubble, "router.bubble");
        if let Some((feature, key)) = of_routing {
            ask(true, feature, key);
        }
        ask(has_lifetime, Feature::Lifetime, "router.head_of_queue_lifetime");
        ask(bounds_responses, Feature::ResponderResources, "adapter.responder_resources");
        ask(errs, Feature::LinkErrors, "link.errors");
        ask(errs && stalls, Feature::StallTimesOfErringLinks, "link.sharing.flit.stall_times");
        ask(fails, Feature::Failures, "interruption");
        ask(errs && fails, Feature::FailuresOfErringLinks, "interruption");
        ask(self.is_collective, Feature::Collectives, "collective");
        asked
    }
}

impl Scenario {
    /// The features of the [table](flitlab_engine::FEATURES) that it asks its routers for, but for
    /// those whose keys are refused where they are read.
    pub fn features(&self) -> Vec<Feature> {
        let parts = Parts {
            parameters: &self.parameters,
            routing: Some(&self.network.routing),
            is_interrupted: self.interruption.is_some(),
            is_collective: self.workload.is_collective(),
        };
        parts.asked().into_iter().map(|(feature, _)| feature).collect()
    }
}

impl Checks<'_> {
    /// Refuses what routers of the scenario's kind lack. The keys of output queues are those of their
    /// preset alone, and have checks of their own.
    pub(super) fn features(&mut self, draft: &Draft) {
        let parameters = &draft.parameters;
        let kind = &parameters.kind;
        if kind.output_queues().is_some() {
            return;
        }
        let parts = Parts {
            parameters,
            routing: draft.routing.as_ref(),
            is_interrupted: draft.interruption.is_some(),
            is_collective: draft.workload.as_ref().is_some_and(|it| it.is_collective()),
        };
        for (feature, key) in parts.asked() {
            // Without buffers behind the crossbar, shared links have no more to show than whole packets.
            let shows_nothing = kind.sharing().is_some_and(|sharing| sharing.output_buffer == 0);
            let is_held = feature == Feature::HeldCredits;
            let kind = if is_held && shows_nothing { &RouterKind::WholePackets } else { kind };
            let Some(why) = feature.refusal(kind) else { continue };
            if let Some((other, help)) = way_out(feature, kind) {
                // Of buffers at outputs the culprit is likelier the buffer.
                let keys = if other == BUFFER { [BUFFER, key] } else { [key, other] };
                self.refuse(&keys, why, help);
            }
        }
    }
}

/// The key beside that of a feature which routers of a kind lack, and what to do; `None` if a feature
/// is refused with another one.
fn way_out(feature: Feature, kind: &RouterKind) -> Option<(&'static str, String)> {
    let leave_out = |key: &str| format!("leave `{key}` out");
    let of_whole_packets = || match feature {
        Feature::Wormhole => Some((SHARING, format!("{SHARE}, and flits go on one by one"))),
        Feature::AgeOrWeight => Some((SHARING, SHARE.into())),
        Feature::HeldCredits => {
            let help = "write `sharing.flit.output_buffer = 32` in [link], or leave `credits` out";
            Some((SHARING, help.into()))
        }
        _ => None,
    };
    match kind {
        RouterKind::WholePackets | RouterKind::OutputQueues(_) => of_whole_packets(),
        RouterKind::OutputBuffers(_) => {
            let or = match feature {
                Feature::Bubble => {
                    ", or `bubble`: here its default is false, and datelines keep rings from deadlock"
                }
                Feature::AdaptiveOnTori => ", or choose [routing.relation]",
                Feature::InjectionBubble => ", or `injection_bubble`: here its default is 0",
                Feature::RingsOfRelations => ", or choose another rule",
                Feature::Lifetime => ", or `head_of_queue_lifetime`",
                Feature::ResponderResources => ", or `responder_resources`",
                Feature::LinkErrors => ", or make links sound ([link.errors])",
                Feature::Failures => {
                    ", or let things fail from the start, by keys such as `failed_cables` in [topology]"
                }
                Feature::Collectives => {
                    ", or choose collective operations of hosts ([application])"
                }
                _ => return of_whole_packets(),
            };
            Some((BUFFER, leave_out("output_buffer") + or))
        }
        RouterKind::SharedLinks(_) => match feature {
            Feature::Lifetime => Some((SHARING, leave_out("head_of_queue_lifetime"))),
            Feature::ResponderResources => {
                let help = leave_out("responder_resources");
                Some((SHARING, help + ", or write `sharing = \"packet\"` in [link]"))
            }
            Feature::StallTimesOfErringLinks => {
                Some(("link.errors", "leave out `stall_times`, or [link.errors]".into()))
            }
            Feature::FailuresOfErringLinks => {
                let help = "leave out [interruption], [link.errors], or `sharing` in [link]";
                Some(("link.errors", help.into()))
            }
            _ => None,
        },
    }
}
