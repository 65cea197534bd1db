//! The choice of a port when a packet's head asks, by what waits there and by what each way costs.

use std::sync::Arc;

use super::super::relation::NoRelation;
use super::{Bind, Drawn, PhasedParameters, PhasedRule, Queues, Sight};
use flitlab_base::document::{Reader, Whole};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;

/// How a packet chooses one of the ports of its hops at its head. Then it waits for that port
/// alone, whatever happens at others, or takes a fallback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtHead {
    /// What a port costs.
    pub cost: Cost,
    /// The ports among which the choice is.
    pub among: Among,
}

/// The ports among which a packet chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All.
    All,
    /// So many that the packet draws, each of all; 1 at least.
    Drawn(u8),
    /// One, which a hash of its source and destination terminals gives, at each router another one.
    Hashed,
}

/// What a port costs, from the flits that it has sent and for which no credit has come back, and from
/// the [label](super::super::relation::Hop::label) of its hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The flits, and this many more for each detour.
    Sum(u32),
    /// The flits and this many more, times the hops that are left by the port.
    Product(u32),
}

impl Cost {
    /// The cost of a port.
    pub fn of(self, used: u32, label: u8) -> u64 {
        let (used, label) = (u64::from(used), u64::from(label));
        match self {
            Self::Sum(penalty) => used + u64::from(penalty) * label,
            Self::Product(bias) => (used + u64::from(bias)) * label,
        }
    }

    /// What a rule with these costs has to see of a way of so many hops, in so many virtual channels
    /// at each step, and so many for two at each.
    pub(super) fn sight(self, hops: u8, (vcs, vcs_for_two): (u8, u8)) -> Sight {
        let threshold = match self {
            Self::Sum(penalty) => penalty,
            // A hop more counts as much as so many flits on each hop of the way.
            Self::Product(bias) => bias / u32::from(hops.max(1)),
        };
        Sight { threshold, key: "penalty", weight: 1, vcs, vcs_for_two }
    }

    /// The label of a hop that is a detour or not, with so many hops left behind it.
    pub(super) fn label(self, is_detour: bool, left: u8) -> u8 {
        match self {
            Self::Sum(_) => is_detour.into(),
            Self::Product(_) => left + 1,
        }
    }
}

/// The draws of a packet at routers come behind those of its detours.
const FIRST_DRAW: u32 = 256;

impl AtHead {
    /// The place of the port that a packet chooses at a router among these, each with its label. Of
    /// equals it takes the first from place `first` on, in cyclic order.
    pub fn choose(
        self,
        ports: impl ExactSizeIterator<Item = (u16, u8)> + Clone,
        first: usize,
        (router, drawn): (u32, Drawn),
        queues: &mut dyn Queues,
    ) -> u8 {
        let count = ports.len();
        let mut cost = |place: usize| {
            let (port, label) = ports.clone().nth(place).expect("it is one of them");
            self.cost.of(queues.used(port, u16::MAX), label)
        };
        let draws = match self.among {
            Among::All => 0,
            Among::Drawn(draws) => draws.into(),
            Among::Hashed => 1,
        };
        let places: &mut dyn Iterator<Item = usize> = if draws == 0 {
            &mut (first..count).chain(0..first)
        } else {
            &mut (0..draws).map(|number| {
                let draw = FIRST_DRAW.wrapping_add(router.wrapping_mul(draws));
                narrow(drawn.below(draw.wrapping_add(number), narrow(count)))
            })
        };
        // With one port drawn its queue does not matter.
        let chosen = if draws == 1 { places.next() } else { places.min_by_key(|&it| cost(it)) };
        narrow(chosen.expect("there is a port"))
    }
}

/// Reads what ports cost where some ways are detours, and binds the rule that `make` gives with it.
pub(super) fn bind_with_cost<R: PhasedRule>(
    reader: &mut Reader<'_>,
    make: impl Fn(&Fabric, Cost, &PhasedParameters) -> Result<R, NoRelation> + Send + Sync + 'static,
) -> Option<Bind> {
    let doc = "What makes a port worse than another.";
    let choices = [
        ("sum", false, "its flits that are out and, for a detour, `penalty` more."),
        ("product", true, "these flits and `penalty` more, times the hops that are left by it."),
    ];
    let by_hops = reader.one_of("weights", "kind of weights", doc, choices);
    let doc = "Flits that a detour costs besides those that are out, or that each hop costs; without it \
               two packets of the largest size, or one.";
    let penalty = read_penalty(reader, doc);
    let by_hops = by_hops?;
    Some(Arc::new(move |fabric, parameters| {
        let largest_packet = parameters.largest_packet;
        let cost = match by_hops {
            false => Cost::Sum(penalty.unwrap_or(2 * largest_packet)),
            true => Cost::Product(penalty.unwrap_or(largest_packet)),
        };
        Ok(Arc::new(make(fabric, cost, parameters)?))
    }))
}

/// Reads `penalty`.
pub(super) fn read_penalty(reader: &mut Reader<'_>, doc: &'static str) -> Option<u32> {
    reader.optional("penalty", &Whole { range: 0..=1 << 20 }, doc).map(narrow)
}
