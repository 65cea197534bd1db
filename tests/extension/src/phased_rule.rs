//! UGAL (\[ugal\]) with several candidates: a packet draws some detours as Valiant's and looks at
//! the one with the shortest queue. It goes that way if the queue of its minimal way is more than
//! twice as long, and by more than a threshold.

use std::sync::Arc;

use flitlab::adaptive::Misroute;
use flitlab::document::{Count, Reader, Whole};
use flitlab::registry::Row;
use flitlab::routing::phased::{
    Bind, Course, Deciding, DetourRule, MinimalVcs, PhasedKind, Queues, Sees, Valiant, ViaKind,
};

/// The rule.
pub static BEST_OF: Row<PhasedKind> = Row::new(
    "best-of",
    "UGAL that draws several detours and looks at the one with the shortest queue.",
    PhasedKind { misroutes: &[Misroute::AtSource], read },
);

fn read(reader: &mut Reader<'_>) -> Option<Bind> {
    let number = Count { example: 4 };
    let candidates = reader.value("candidates", &number, 2, "How many detours a packet draws.");
    let flits = Whole { range: 0..=1 << 20 };
    let threshold = reader.value("threshold", &flits, 16, "Flits that a detour costs besides.");
    Some(Arc::new(move |fabric, parameters| {
        let valiant = Valiant::deciding(fabric, ViaKind::Auto, MinimalVcs::Shared, parameters)?;
        Ok(Arc::new(BestOf { valiant, candidates, threshold }))
    }))
}

#[derive(Debug)]
struct BestOf {
    valiant: Valiant,
    candidates: u32,
    threshold: u64,
}

impl DetourRule for BestOf {
    fn valiant(&self) -> &Valiant {
        &self.valiant
    }

    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course {
        let minimal = self.valiant.minimal(packet);
        let mut queue = |way| Some(u64::from(packet.least(way, Sees::Port, queues)?.0));
        let Some(straight) = queue(minimal) else { return minimal };
        let drawn = (0..self.candidates).filter_map(|place| self.valiant.draw(packet, place));
        let costs = drawn.filter_map(|detour| Some((2 * queue(detour)? + self.threshold, detour)));
        match costs.min_by_key(|(cost, _)| *cost) {
            Some((cost, detour)) if straight > cost => detour,
            _ => minimal,
        }
    }
}
