//! Adaptive routing on trees (\[booksim\], nca and anca; \[k-ary-n-trees\]): up to any nearest common
//! ancestor of source and destination, and down the one way from there. These are the ways with the
//! fewest hops, in any virtual channel. On other fabrics they can lead in a circle.

use std::sync::Arc;

use super::super::relation::{Hop, Phases};
use super::at_head::{Among, AtHead, Cost};
use super::steps::Steps;
use super::ways::Ways;
use super::{At, Bind, PhasedKind, PhasedRule};
use flitlab_base::document::Reader;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `nearest-ancestor`.
pub(super) const ANCESTOR: Row<PhasedKind> = Row::new(
    "nearest-ancestor",
    "on a tree, up to a nearest common ancestor, port by port, and down from there, in any virtual \
     channel.",
    PhasedKind { misroutes: &[], read },
)
.known_as(&["nca", "anca"]);

fn read(reader: &mut Reader<'_>) -> Option<Bind> {
    let doc = "Which port up a packet takes when its head asks.";
    let two = "of two that are drawn the one with less, the first if equally much.";
    let hash = "that which a hash of source and destination node gives, at each switch another one (ECMP): the same for \
                all packets of a flow.";
    let choices = [
        ("least", Among::All, "the one with the fewest flits out."),
        ("random", Among::Drawn(1), "one that is drawn."),
        ("two", Among::Drawn(2), two),
        ("hash", Among::Hashed, hash),
    ];
    let among = reader.one_of("up", "choice of ports", doc, choices)?;
    Some(Arc::new(move |fabric, parameters| {
        Ok(Arc::new(Ancestor {
            ways: Ways::shortest(fabric)?,
            steps: Steps::new(1, parameters)?,
            among,
        }))
    }))
}

/// Ways with the fewest hops, in any virtual channel.
#[derive(Debug)]
pub struct Ancestor {
    ways: Ways,
    steps: Steps,
    /// The ports up among which a packet takes the one with the fewest flits out.
    pub among: Among,
}

impl PhasedRule for Ancestor {
    fn phases(&self) -> Phases {
        Phases::straight(1)
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        for (port, _, _) in self.ways.ports(fabric, router, target) {
            self.steps.add((port, 0, phase), hops);
        }
    }

    fn longest(&self) -> u32 {
        self.ways.before.into()
    }

    fn at_head(&self) -> Option<AtHead> {
        Some(AtHead { cost: Cost::Sum(0), among: self.among })
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.ways.channel(fabric, router, destination)
    }

    fn steps(&self) -> String {
        self.steps.describe()
    }
}
