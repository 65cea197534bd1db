//! Dimension order on a HyperX, from the first dimension to the last or the other way round
//! (\[hyperx\]; on a flattened butterfly \[booksim\], xyyx and adaptive_xyyx).

use std::sync::Arc;

use super::super::relation::{Hop, NoRelation, Phase, Phases};
use super::failures::Harmed;
use super::rows::Rows;
use super::steps::Steps;
use super::ways::Ways;
use super::{
    At, Bind, Course, Deciding, Drawn, PhasedKind, PhasedParameters, PhasedRule, Queues, Sees,
};
use flitlab_base::document::Reader;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `hyperx-order`.
pub(super) const ORDER: Row<PhasedKind> = Row::new(
    "hyperx-order",
    "on a HyperX, from the first dimension to the last or the other way round, by chance or by the \
     queues at the source, each order in virtual channels of its own.",
    PhasedKind { misroutes: &[], read },
)
.known_as(&["xyyx", "xy-yx"]);

fn read(reader: &mut Reader<'_>) -> Option<Bind> {
    let doc = "Which packets go from the first dimension to the last.";
    let adaptive =
        "those whose source has less out by the first port of that way; by chance if equally much.";
    let choices = [
        ("drawn", Choice::Drawn, "those that draw it: each order is as likely."),
        ("adaptive", Choice::Adaptive, adaptive),
    ];
    let choice = reader.one_of("order", "choice of the order", doc, choices)?;
    Some(Arc::new(move |fabric, parameters| Ok(Arc::new(Order::new(fabric, choice, parameters)?))))
}

/// How a packet chooses its order of dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// By chance.
    Drawn,
    /// By the queues at its source's router.
    Adaptive,
}

/// Two orders of dimensions.
#[derive(Debug)]
pub struct Order {
    rows: Rows,
    ways: Ways,
    steps: Steps,
    /// How packets choose between them.
    pub choice: Choice,
}

/// The phases of packets that go from the first dimension to the last, and from the last to the
/// first.
const ORDERS: [u8; 2] = [0, 1];

/// The phase of packets that decide on one of them.
const DECIDES: u8 = 2;

impl Order {
    fn new(
        fabric: &Fabric,
        choice: Choice,
        parameters: &PhasedParameters,
    ) -> Result<Self, NoRelation> {
        let (rows, steps) = (Rows::of(fabric)?, Steps::new(2, parameters)?);
        let ends = fabric.ends();
        let mut pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
        if !fabric.failed_cables().is_empty()
            && let Some(ends) = pairs.find(|&ends| is_lost(fabric, &rows, ends))
            && let Some(Harmed { from, to, cable }) = rows.harmed(fabric, ends)
        {
            return Err(NoRelation::OutOfService { from, to, cable });
        }
        Ok(Self { rows, ways: Ways::shortest(fabric)?, steps, choice })
    }

    fn drawn(drawn: Drawn) -> Course {
        Course::straight(narrow(drawn.below(0, 2)))
    }
}

/// Whether one of the two ways between routers leads over what has failed.
fn is_lost(fabric: &Fabric, rows: &Rows, (from, to): (u32, u32)) -> bool {
    let leads = |is_back: bool| {
        let mut dimensions: Vec<usize> = rows.unaligned(from, to).collect();
        if is_back {
            dimensions.reverse();
        }
        let mut at = from;
        dimensions.into_iter().all(|dimension| {
            let leads_on = rows.leads_on(fabric, at, (to, dimension));
            at = rows.aligned(at, to, dimension);
            leads_on
        })
    };
    !leads(false) || !leads(true)
}

impl PhasedRule for Order {
    fn phases(&self) -> Phases {
        let mut phases = vec![Phase::Destination; 2];
        let starts = match self.choice {
            Choice::Drawn => ORDERS.to_vec(),
            Choice::Adaptive => {
                phases.push(Phase::Decides { among: ORDERS.to_vec() });
                vec![DECIDES]
            }
        };
        Phases { phases, starts, ..Phases::straight(2) }
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        let mut left = self.rows.unaligned(router, target);
        let dimension = if phase == 0 { left.next() } else { left.next_back() };
        let straight = self.rows.onward(fabric, router, target);
        for along in straight.filter(|it| it.aligns && Some(it.dimension) == dimension) {
            self.steps.add((along.port, phase, phase), hops);
        }
    }

    fn longest(&self) -> u32 {
        self.rows.dimensions().into()
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.ways.channel(fabric, router, destination)
    }

    fn steps(&self) -> String {
        self.steps.describe()
    }

    fn start(&self, _: (u32, u32), drawn: Drawn) -> Course {
        match self.choice {
            Choice::Drawn => Self::drawn(drawn),
            Choice::Adaptive => Course::straight(DECIDES),
        }
    }

    fn decides_by_chance(&self) -> bool {
        true
    }

    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course {
        let mut queue = |order| {
            let least = packet.least(Course::straight(order), Sees::Port, queues);
            least.map(|(queue, _)| queue)
        };
        let [first, last] = ORDERS.map(&mut queue);
        match first.cmp(&last) {
            std::cmp::Ordering::Less => Course::straight(ORDERS[0]),
            std::cmp::Ordering::Greater => Course::straight(ORDERS[1]),
            std::cmp::Ordering::Equal => Self::drawn(packet.drawn),
        }
    }
}
