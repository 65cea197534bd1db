//! Livelock: packets are sent for ever, and none arrives.
//!
//! It has two kinds. On links that err a packet may be damaged each time that it is sent. And
//! packets that choose their ways could go from router to router for ever. No routing of ours lets
//! them: each bounds a packet's detours (docs/model.md, "Livelock"). Both kinds are seen by what
//! the engine counts.

use std::fmt;

use serde::{Deserialize, Serialize};

use flitlab_engine::Counters;

/// Number of transmissions sent again without one accepted by the far end of a cable that counts as
/// a livelock.
pub const SENDINGS_OF_A_LIVELOCK: u64 = 1_000_000;

/// Grants for each packet under way, without a delivery, that count as a livelock...
const GRANTS_A_PACKET: u64 = 1_000;

/// ... and so many at the least, altogether.
const MIN_GRANTS: u64 = 1_000_000;

/// Packets move for ever, and none arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Livelock {
    /// Packets were sent again on links that err, and none got across.
    Links {
        /// Repeated transmissions since the last accepted one.
        resent: u64,
    },
    /// Channels were granted, and no packet was delivered.
    Ways {
        /// Grants since the last delivery.
        grants: u64,
        /// Packets under way.
        packets: u64,
    },
}

impl fmt::Display for Livelock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Links { resent } => write!(
                formatter,
                "packets were sent again {resent} times, and not one got across its cable"
            ),
            Self::Ways { grants, packets } => write!(
                formatter,
                "{packets} packets were sent on {grants} times, and not one came to its destination"
            ),
        }
    }
}

/// The counts at the last arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    accepted: u64,
    resent: u64,
    delivered: u64,
    grants: u64,
}

impl Arrivals {
    /// Takes in what has been counted by now, while so many packets are under way. Whether they
    /// will move for ever.
    pub fn note(&mut self, counters: &Counters, under_way: usize) -> Option<Livelock> {
        if counters.resent_accepted > self.accepted {
            (self.accepted, self.resent) = (counters.resent_accepted, counters.packets_resent);
        }
        let arrived = counters.packets_delivered + counters.packets_lost;
        if arrived > self.delivered {
            (self.delivered, self.grants) = (arrived, counters.grants);
        }
        let resent = counters.packets_resent - self.resent;
        if resent >= SENDINGS_OF_A_LIVELOCK {
            return Some(Livelock::Links { resent });
        }
        let (grants, packets) = (counters.grants - self.grants, under_way as u64);
        let most = MIN_GRANTS.max(GRANTS_A_PACKET * packets);
        (grants >= most && packets > 0).then_some(Livelock::Ways { grants, packets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_livelock_is_told_only_while_nothing_arrives() {
        let mut arrivals = Arrivals::default();
        let counters = |resent, accepted, grants, delivered| Counters {
            packets_resent: resent,
            resent_accepted: accepted,
            grants,
            packets_delivered: delivered,
            ..Counters::default()
        };
        let most = SENDINGS_OF_A_LIVELOCK;
        assert_eq!(arrivals.note(&counters(most - 1, 0, 5, 0), 3), None);
        // One that gets across after all begins the count anew.
        assert_eq!(arrivals.note(&counters(most, 1, 5, 0), 3), None);
        assert_eq!(arrivals.note(&counters(2 * most - 1, 1, 5, 0), 3), None);
        let links = Livelock::Links { resent: most };
        assert_eq!(arrivals.note(&counters(2 * most, 1, 5, 0), 3), Some(links));

        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.note(&counters(0, 0, 900_000, 0), 3), None);
        assert_eq!(arrivals.note(&counters(0, 0, 1_000_000, 1), 3), None);
        let ways = Livelock::Ways { grants: 1_000_000, packets: 3 };
        assert_eq!(arrivals.note(&counters(0, 0, 2_000_000, 1), 3), Some(ways));
        assert_eq!(arrivals.note(&counters(0, 0, 2_000_000, 1), 0), None);
        // Many packets are sent on often before the first of them arrives.
        assert_eq!(arrivals.note(&counters(0, 0, 2_000_000, 1), 2_000), None);
    }
}
