//! Message i flips bit i mod b of the node's number, of b bits, as a fast Fourier transform does
//! (\[outflank\]).

use flitlab_base::registry::Row;
use rand_chacha::ChaCha8Rng;

use super::{Live, Partners, PatternKind, PatternRule, no_keys, rule::in_turn};

pub(super) const BUTTERFLY: Row<PatternKind> = Row::new(
    "butterfly",
    "message i inverts bit i of the number, from bit 0 on, cyclic (FFT).",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| no_keys(|nodes| Ok(Box::new(Butterfly { bits: nodes.bits()? }))),
    },
);

struct Butterfly {
    bits: u32,
}

impl PatternRule for Butterfly {
    fn steps(&self, _: &Live) -> Option<u32> {
        Some(self.bits)
    }

    fn partner(&self, source: u32, step: u32, _: &Live) -> u32 {
        source ^ 1 << step
    }

    /// Where nothing has failed every step has a partner, so that none has to be looked for.
    fn destination(&self, source: u32, index: u64, live: &Live, _: &mut ChaCha8Rng) -> Option<u32> {
        match live.all() {
            true => Some(source ^ 1 << (index % u64::from(self.bits))),
            false => in_turn(self, source, index, live),
        }
    }
}
