//! The measurements of a run.

use serde::{Deserialize, Serialize};

use super::event::Femtoseconds;
use flitlab_routing::adaptive::Misroute;

/// Totals over all packets of a run, none left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTotals {
    /// Packets that reached their sink.
    pub packets: u64,
    /// Sum of the lifetimes, from the creation of a packet's message to its last bit at the sink,
    /// in femtoseconds.
    pub lifetime_sum: u128,
    /// Longest lifetime in femtoseconds.
    pub lifetime_maximum: u64,
    /// Links that packets crossed between routers; refused attempts don't count.
    pub hops: u64,
    /// Packets that went through an outflanking intermediate node.
    pub outflanked: u64,
    /// Packets that went through a wraparound intermediate node.
    pub wrapped_around: u64,
    /// Packets that went through another orthant than the minimal one.
    pub other_orthant: u64,
    /// Packets sent that the next router refused.
    pub refused: u64,
    /// When the last packet reached its sink, in femtoseconds.
    pub end: u64,
    /// A fingerprint of all arrivals in their order: equal runs have equal digests.
    pub digest: u64,
}

impl RunTotals {
    /// Mean lifetime of a packet in picoseconds.
    pub fn mean_lifetime(&self) -> f64 {
        self.lifetime_sum as f64 / self.packets as f64 / 1e3
    }

    /// Packets that did not go the minimal way.
    pub fn derouted(&self) -> u64 {
        self.outflanked + self.wrapped_around + self.other_orthant
    }

    pub(super) fn deliver(
        &mut self,
        created: Femtoseconds,
        now: Femtoseconds,
        derouting: Option<Misroute>,
    ) {
        let lifetime = now - created;
        self.packets += 1;
        self.lifetime_sum += u128::from(lifetime);
        self.lifetime_maximum = self.lifetime_maximum.max(lifetime);
        self.end = now;
        match derouting {
            None => {}
            Some(Misroute::OutFlank) => self.outflanked += 1,
            Some(Misroute::Wraparound) => self.wrapped_around += 1,
            Some(Misroute::Orthant) => self.other_orthant += 1,
            Some(Misroute::AtSource | Misroute::OnTheWay) => {
                unreachable!("the rules of this router have no phases")
            }
        }
    }

    /// Counts an arrival and adds it to the digest.
    #[inline]
    pub(super) fn witness(&mut self, now: Femtoseconds, place: u32, accepted: bool) {
        self.hops += u64::from(accepted);
        self.refused += u64::from(!accepted);
        let word = now << 1 ^ u64::from(place) << 40 ^ u64::from(accepted);
        self.digest = (self.digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}
