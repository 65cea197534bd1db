//! What routers of each kind can do: one table, from which come what `flitlab check` refuses and why,
//! the matrix of docs/architecture.md, and what the tests of combinations expect.

use super::RouterKind;
use Support::{Absent, No, Yes};

/// What a scenario may ask of its routers, where not all kinds can do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The bubble rule on the rings of a torus.
    Bubble,
    /// Packets that choose hop by hop on a torus.
    AdaptiveOnTori,
    /// Forwarding tables, paths of sources, relations and rules with phases: routing on any fabric.
    AnyFabric,
    /// Relations whose packets keep room in rings.
    RingsOfRelations,
    /// Room that packets of a relation leave where they are injected.
    InjectionBubble,
    /// Packets that decide again while they wait.
    DecidingAgain,
    /// Packets that decide again until one of their hops has room.
    DecidingUntilRoom,
    /// Credits that are held back to show what waits behind a crossbar.
    HeldCredits,
    /// Links that err and send again.
    LinkErrors,
    /// A choice of what becomes of a packet before its checksum is there.
    RetryOfPackets,
    /// Failures during operation.
    Failures,
    /// Failures during operation of links that err.
    FailuresOfErringLinks,
    /// The collective subnetwork.
    Collectives,
    /// The lifetime at the head of a queue.
    Lifetime,
    /// Adapters that hold a limited number of responses.
    ResponderResources,
    /// Hosts that have a packet with its first flit.
    CutThroughHosts,
    /// Stall times by cause.
    StallTimes,
    /// Stall times by cause of links that err.
    StallTimesOfErringLinks,
    /// Wormhole switching.
    Wormhole,
    /// Arbitration by age or by weight.
    AgeOrWeight,
}

/// Whether a kind of routers can do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Yes,
    /// It is not asked for by a key, and its values are absent from results.
    Absent,
    /// It is refused, for this reason.
    No(&'static str),
}

/// A feature, and which kinds of routers have it.
#[derive(Clone, Copy, Debug)]
pub struct FeatureRow {
    /// The feature.
    pub feature: Feature,
    /// Its name in docs.
    pub name: &'static str,
    /// Of [`RouterKind::WholePackets`].
    pub whole_packets: Support,
    /// Of [`RouterKind::OutputBuffers`].
    pub output_buffers: Support,
    /// Of [`RouterKind::SharedLinks`].
    pub shared_links: Support,
    /// Of [`RouterKind::OutputQueues`].
    pub output_queues: Support,
}

impl FeatureRow {
    /// Whether routers of a kind have it.
    pub fn support(&self, kind: &RouterKind) -> Support {
        match kind {
            RouterKind::WholePackets => self.whole_packets,
            RouterKind::OutputBuffers(_) => self.output_buffers,
            RouterKind::SharedLinks(_) => self.shared_links,
            RouterKind::OutputQueues(_) => self.output_queues,
        }
    }
}

impl Feature {
    /// Why routers of a kind do not have it; `None` if they have it, or its values are absent.
    ///
    /// # Panics
    /// If it has no row, which a test excludes.
    pub fn refusal(self, kind: &RouterKind) -> Option<&'static str> {
        let row = FEATURES.iter().find(|row| row.feature == self).expect("each has a row");
        match row.support(kind) {
            Yes | Absent => None,
            No(why) => Some(why),
        }
    }
}

/// Routers with output queues have the keys of their preset alone.
const OWN: Support = No("this key is for routers with input buffers and credits; those of preset \
                         \"outflank-paper\" have output queues, and answers to packets");
const WHOLE: Support = No("a channel that is granted to a packet until its end has to have \
                                room for all of it");
const BY_FLIT: Support =
    No("flits are chosen by age or by weight where links are shared flit by flit");
const ROUTED_ONCE: Support =
    No("where links are shared flit by flit a route is computed once at a router");
const NO_RETRY: Support = No("links that send again are not modelled with buffers at outputs");

const fn row(feature: Feature, name: &'static str, support: [Support; 4]) -> FeatureRow {
    let [whole_packets, output_buffers, shared_links, output_queues] = support;
    FeatureRow { feature, name, whole_packets, output_buffers, shared_links, output_queues }
}

/// What routers of each kind can do: whole packets, buffers at outputs, links shared flit by flit,
/// output queues.
pub const FEATURES: [FeatureRow; 20] = [
    row(
        Feature::Bubble,
        "bubble rule on tori",
        [
            Yes,
            No("packets that enter a ring could stand in a buffer at an output before those that \
                go on in it, so the bubble rule would keep no ring from deadlock"),
            Yes,
            OWN,
        ],
    ),
    row(
        Feature::AdaptiveOnTori,
        "adaptive routing on tori",
        [Yes, No("adaptive routing on tori is not modelled with buffers at outputs"), Yes, Yes],
    ),
    row(
        Feature::AnyFabric,
        "tables, relations, rules with phases",
        [
            Yes,
            Yes,
            Yes,
            No(
                "preset \"outflank-paper\" has the three routings of the paper, with the rules of its \
                program",
            ),
        ],
    ),
    row(
        Feature::RingsOfRelations,
        "relations with rings",
        [
            Yes,
            No(
                "the room that the rings of this rule keep free is not modelled with buffers at outputs",
            ),
            Yes,
            OWN,
        ],
    ),
    row(
        Feature::InjectionBubble,
        "injection bubble of relations",
        [
            Yes,
            No("the room that injected packets leave free is not modelled with buffers at outputs"),
            Yes,
            OWN,
        ],
    ),
    row(Feature::DecidingAgain, "deciding again while waiting", [Yes, Yes, ROUTED_ONCE, OWN]),
    row(
        Feature::DecidingUntilRoom,
        "deciding again until there is room",
        [
            No("in routers with buffers at inputs only, packets decide again until they go on"),
            Yes,
            ROUTED_ONCE,
            OWN,
        ],
    ),
    row(
        Feature::HeldCredits,
        "credits that are held back",
        [
            No(
                "credits that are held back show what waits behind a crossbar, and here nothing does",
            ),
            No("credits that are held back show what waits behind a crossbar; with buffers at \
                outputs packets see the queues there"),
            Yes,
            OWN,
        ],
    ),
    row(Feature::LinkErrors, "links that err and send again", [Yes, NO_RETRY, Yes, OWN]),
    row(
        Feature::RetryOfPackets,
        "errors found at the end of a packet",
        [
            Yes,
            NO_RETRY,
            No(
                "where links are shared flit by flit, each flit is checked and sent again by itself",
            ),
            OWN,
        ],
    ),
    row(
        Feature::Failures,
        "failures during operation",
        [
            Yes,
            No("failures during operation are not modelled with buffers at outputs"),
            Yes,
            No("nothing can fail during operation where routers are those of preset \
                \"outflank-paper\""),
        ],
    ),
    row(
        Feature::FailuresOfErringLinks,
        "failures of links that err",
        [
            Yes,
            NO_RETRY,
            No("a packet of which some flits are sent again, and others are across, can't be cut \
                where a channel fails"),
            OWN,
        ],
    ),
    row(
        Feature::Collectives,
        "collective subnetwork",
        [
            Yes,
            No("the collective subnetwork is not modelled with buffers at outputs"),
            Yes,
            No("the generators of preset \"outflank-paper\" create the messages of one [traffic]"),
        ],
    ),
    row(
        Feature::Lifetime,
        "lifetime at the head of a queue",
        [
            Yes,
            No("packets that are dropped are not modelled with buffers at outputs"),
            No(
                "packets are not dropped where links are shared flit by flit: their flits may be in \
                several routers",
            ),
            OWN,
        ],
    ),
    row(
        Feature::ResponderResources,
        "adapters with few responses",
        [
            Yes,
            No("a request that has crossed to its adapter would have to wait there for others"),
            No("adapters that hold few responses are not modelled where links are shared flit by \
                flit"),
            OWN,
        ],
    ),
    row(
        Feature::CutThroughHosts,
        "hosts that have packets with their first flit",
        [
            Yes,
            Yes,
            No("with `sharing = \"flit\"` of [link] a message has come with its last flit only"),
            OWN,
        ],
    ),
    row(Feature::StallTimes, "stall times by cause", [Yes, Absent, Yes, Absent]),
    row(
        Feature::StallTimesOfErringLinks,
        "stall times of links that err",
        [
            Yes,
            NO_RETRY,
            No("where flits are sent again, the causes for which packets wait are not told apart"),
            OWN,
        ],
    ),
    row(Feature::Wormhole, "wormhole switching", [WHOLE, WHOLE, Yes, OWN]),
    row(Feature::AgeOrWeight, "arbitration by age or weight", [BY_FLIT, BY_FLIT, Yes, OWN]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_has_one_row_in_the_order_of_the_list() {
        let numbers: Vec<usize> = FEATURES.iter().map(|row| row.feature as usize).collect();
        assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
        // The last of the list; the compiler knows no count of them.
        assert_eq!(FEATURES.last().map(|row| row.feature), Some(Feature::AgeOrWeight));
    }
}
