//! Valiant's routing: each packet goes through a node that is drawn from all.

use std::sync::Arc;

use flitlab::adaptive::{AdaptiveKind, AdaptiveRule, AtInjection, Intermediate, When};
use flitlab::registry::Row;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The rule.
pub static VALIANT: Row<AdaptiveKind> = Row::new(
    "valiant",
    "through a node that is drawn from all.",
    AdaptiveKind::nodes("Valiant's routing", When::AtInjection, |_| {
        Some(Arc::new(|_| Ok(Arc::new(Valiant))))
    }),
);

#[derive(Debug)]
struct Valiant;

impl AdaptiveRule<Intermediate> for Valiant {
    fn draw(&self, packet: &AtInjection<'_>, random: &mut ChaCha8Rng) -> Option<Intermediate> {
        let node = random.random_range(0..packet.compass.nodes());
        let is_live = packet.live.ends.is_none_or(|ends| ends[node as usize]);
        is_live.then_some(Intermediate { node, across: false })
    }
}
