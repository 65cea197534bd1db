//! What routers of each kind can do: one table, from which come what `flitlab check` refuses and why,
//! the matrix of docs/architecture.md, and what the tests of combinations expect.

use super::RouterKind;
use Support::{Absent, No, Yes};

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
    /// Whether it is there with [`RouterKind::WholePackets`].
    pub whole_packets: Support,
    /// With [`RouterKind::OutputBuffers`].
    pub output_buffers: Support,
    /// With [`RouterKind::SharedLinks`].
    pub shared_links: Support,
    /// With [`RouterKind::OutputQueues`].
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

    /// The kinds by their names in docs, and whether routers of each have it.
    pub fn columns(&self) -> [(&'static str, Support); 4] {
        [
            ("whole packets", self.whole_packets),
            ("buffers at outputs", self.output_buffers),
            ("flit by flit", self.shared_links),
            ("output queues", self.output_queues),
        ]
    }
}

impl Feature {
    /// Why routers of a kind do not have it; `None` if they have it, or its values are absent.
    pub fn refusal(self, kind: &RouterKind) -> Option<&'static str> {
        match FEATURES[self as usize].support(kind) {
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

/// A table of features: their variants, their names in docs, and whether routers of each kind have
/// them.
macro_rules! features {
    ($($(#[$doc:meta])+ $Feature:ident, $name:literal:
        $whole_packets:expr, $output_buffers:expr, $shared_links:expr, $output_queues:expr;)+) => {
        /// What a scenario may ask of its routers, where not all kinds can do it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature {
            $($(#[$doc])+ $Feature,)+
        }

        /// What routers of each kind can do: a row for each feature, in the order of their list.
        pub const FEATURES: [FeatureRow; [$($name),+].len()] = [
            $(FeatureRow {
                feature: Feature::$Feature,
                name: $name,
                whole_packets: $whole_packets,
                output_buffers: $output_buffers,
                shared_links: $shared_links,
                output_queues: $output_queues,
            },)+
        ];
    };
}

// Whole packets, buffers at outputs, links shared flit by flit, output queues.
features! {
    /// The bubble rule on the rings of a torus.
    Bubble, "bubble rule on tori": Yes,
        No("packets that enter a ring could stand in a buffer at an output before those that go on in it, so the \
            bubble rule would keep no ring from deadlock"), Yes, OWN;
    /// Packets that choose hop by hop on a torus.
    AdaptiveOnTori, "adaptive routing on tori": Yes,
        No("adaptive routing on tori is not modelled with buffers at outputs"), Yes, Yes;
    /// Forwarding tables, paths of sources, relations and rules with phases: routing on any fabric.
    AnyFabric, "tables, relations, rules with phases": Yes, Yes, Yes,
        No("preset \"outflank-paper\" has the three routings of the paper, with the rules of its program");
    /// Relations whose packets keep room in rings.
    RingsOfRelations, "relations with rings": Yes,
        No("the room that the rings of this rule keep free is not modelled with buffers at outputs"), Yes, OWN;
    /// Room that packets of a relation leave where they are injected.
    InjectionBubble, "injection bubble of relations": Yes,
        No("the room that injected packets leave free is not modelled with buffers at outputs"), Yes, OWN;
    /// Packets that decide again while they wait.
    DecidingAgain, "deciding again while waiting": Yes, Yes, ROUTED_ONCE, OWN;
    /// Packets that decide again until one of their hops has room.
    DecidingUntilRoom, "deciding again until there is room":
        No("in routers with buffers at inputs only, packets decide again until they go on"), Yes, ROUTED_ONCE, OWN;
    /// Credits that are held back to show what waits behind a crossbar.
    HeldCredits, "credits that are held back":
        No("credits that are held back show what waits behind a crossbar, and here nothing does"),
        No("credits that are held back show what waits behind a crossbar; with buffers at outputs packets see the \
            queues there"), Yes, OWN;
    /// Links that err and send again.
    LinkErrors, "links that err and send again": Yes, NO_RETRY, Yes, OWN;
    /// A choice of what becomes of a packet before its checksum is there.
    RetryOfPackets, "errors found at the end of a packet": Yes, NO_RETRY,
        No("where links are shared flit by flit, each flit is checked and sent again by itself"), OWN;
    /// Failures during operation.
    Failures, "failures during operation": Yes,
        No("failures during operation are not modelled with buffers at outputs"), Yes,
        No("nothing can fail during operation where routers are those of preset \"outflank-paper\"");
    /// Failures during operation of links that err.
    FailuresOfErringLinks, "failures of links that err": Yes, NO_RETRY,
        No("a packet of which some flits are sent again, and others are across, can't be cut where a channel fails"),
        OWN;
    /// The collective subnetwork.
    Collectives, "collective subnetwork": Yes,
        No("the collective subnetwork is not modelled with buffers at outputs"), Yes,
        No("the generators of preset \"outflank-paper\" create the messages of one [traffic]");
    /// The lifetime at the head of a queue.
    Lifetime, "lifetime at the head of a queue": Yes,
        No("packets that are dropped are not modelled with buffers at outputs"),
        No("packets are not dropped where links are shared flit by flit: their flits may be in several routers"), OWN;
    /// Adapters that hold a limited number of responses.
    ResponderResources, "adapters with few responses": Yes,
        No("a request that has crossed to its adapter would have to wait there for others"),
        No("adapters that hold few responses are not modelled where links are shared flit by flit"), OWN;
    /// Hosts that have a packet with its first flit.
    CutThroughHosts, "hosts that have packets with their first flit": Yes, Yes,
        No("with `sharing = \"flit\"` of [link] a message has come with its last flit only"), OWN;
    /// Stall times by cause.
    StallTimes, "stall times by cause": Yes, Absent, Yes, Absent;
    /// Stall times by cause of links that err.
    StallTimesOfErringLinks, "stall times of links that err": Yes, NO_RETRY,
        No("where flits are sent again, the causes for which packets wait are not told apart"), OWN;
    /// Wormhole switching.
    Wormhole, "wormhole switching": WHOLE, WHOLE, Yes, OWN;
    /// Arbitration by age or by weight.
    AgeOrWeight, "arbitration by age or weight": BY_FLIT, BY_FLIT, Yes, OWN;
}
