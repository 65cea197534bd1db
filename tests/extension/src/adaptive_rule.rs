//! Each packet goes through a node that is drawn from all.

use std::sync::Arc;

use flitlab::adaptive::{AdaptiveKind, AdaptiveRule, AtInjection, Intermediate, When};
use flitlab::registry::Row;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The rule.
pub static RELAY: Row<AdaptiveKind> = Row::new(
    "relay",
    "through a node that is drawn from all.",
    AdaptiveKind::nodes("relaying", When::AtInjection, |_| Some(Arc::new(|_| Ok(Arc::new(Relay))))),
);

#[derive(Debug)]
struct Relay;

impl AdaptiveRule<Intermediate> for Relay {
    fn draw(&self, packet: &AtInjection<'_>, random: &mut ChaCha8Rng) -> Option<Intermediate> {
        let node = random.random_range(0..packet.compass.nodes());
        let is_live = packet.live.ends.is_none_or(|ends| ends[node as usize]);
        is_live.then_some(Intermediate { node, across: false })
    }
}
