//! What the head of a buffer asks for, under every kind of routing.

use serde::{Deserialize, Serialize};

use crate::common::Common;
use crate::network::NO_OUTPUT;
use crate::next_hop::Routing;
use crate::set::bits;
use flitlab_base::narrow::narrow;

/// The outputs for which the head of a buffer asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Asks {
    /// One; its request says which.
    #[default]
    One,
    /// Those of any of these ports, a bit each, on the adaptive virtual channel. If none has room,
    /// that of its escape.
    Torus { ports: u16, escape: u16 },
    /// Those of any hop of this list of the relation.
    Hops(u32),
}

impl Asks {
    /// The ports among which it chooses on a torus, a bit each, and the output of its escape; none
    /// if it does not.
    #[inline(always)]
    pub(crate) fn on_torus(self) -> (u16, u16) {
        match self {
            Self::Torus { ports, escape } => (ports, escape),
            Self::One | Self::Hops(_) => (0, NO_OUTPUT),
        }
    }

    /// Its list of hops, where it asks for those.
    #[inline(always)]
    pub(crate) fn hops(self) -> u32 {
        match self {
            Self::Hops(list) => list,
            Self::One | Self::Torus { .. } => unreachable!("it chooses among hops"),
        }
    }
}

/// A request of the head of a buffer: an output of the part, a virtual channel there, and the flits
/// of room that the packet needs.
#[derive(Clone, Copy)]
pub(crate) struct OutputRequest {
    pub output: u32,
    pub vc: u8,
    pub need: u32,
}

/// All that the head of a buffer asks for.
pub(crate) struct HeadRequests {
    /// The first output of its router.
    pub first_output: u32,
    pub asks: Asks,
    /// The output that it asks for without a choice, and its virtual channels, a bit each, or those
    /// of its escape.
    pub output: u16,
    pub vcs: u16,
    /// The flits of room that it needs, its own flits, and the room that its escape needs.
    pub need: u16,
    pub flits: u16,
    pub of_escape: u16,
}

impl HeadRequests {
    /// The list of requests; with a choice on a torus, that of the escape comes first.
    pub(crate) fn list(&self, common: &Common<'_>) -> Vec<OutputRequest> {
        let request = |port: u16, vc: u8, need: u16| OutputRequest {
            output: self.first_output + u32::from(port),
            vc,
            need: need.into(),
        };
        match (self.asks, &common.routing) {
            (Asks::Hops(list), Routing::Relation(relation)) => {
                let need = |hop| common.context.need_by(hop, self.need, self.flits);
                let hops = relation.hops_of_list(list).iter();
                hops.map(|hop| request(hop.port, hop.vc, need(hop))).collect()
            }
            (Asks::Torus { ports, escape }, _) => {
                let vcs = bits(self.vcs).map(|vc| request(escape, narrow(vc), self.of_escape));
                let adaptive = common.context.channels.adaptive;
                let ports = bits(ports).map(|port| request(narrow(port), adaptive, self.need));
                vcs.chain(ports).collect()
            }
            _ => bits(self.vcs).map(|vc| request(self.output, narrow(vc), self.need)).collect(),
        }
    }
}
