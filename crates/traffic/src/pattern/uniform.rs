//! Any other node, all alike; oneself too on request.

use flitlab_base::registry::Row;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Live, Partners, PatternKind, PatternRule};
use flitlab_base::document::Flag;

pub(super) const UNIFORM: Row<PatternKind> = Row::new(
    "uniform",
    "every node to every other with the same probability.",
    PatternKind {
        partners: Partners::Drawn,
        read: |reader, _| {
            let doc = "Whether nodes send to themselves too.";
            let include_self = reader.value("include_self", &Flag, false, doc);
            Some(Arc::new(move |_| Ok(Box::new(Uniform { include_self }))))
        },
    },
);

struct Uniform {
    include_self: bool,
}

impl PatternRule for Uniform {
    fn steps(&self, _: &Live) -> Option<u32> {
        None
    }

    // Into the loop over a block.
    #[inline(always)]
    fn destination(
        &self,
        source: u32,
        _: u64,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        Some(match self.include_self {
            true => live.at(random.random_range(0..live.count())),
            false => live.draw_other(source, random),
        })
    }

    fn for_each_share(&self, source: u32, live: &Live, each: &mut dyn FnMut(u32, f64)) {
        match self.include_self {
            true => live.iter().for_each(|node| each(node, 1.0 / f64::from(live.count()))),
            false => live.others(source).for_each(|node| each(node, live.share_of_others())),
        }
    }
}
