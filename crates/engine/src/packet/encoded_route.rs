//! The encoded route of a packet: eight bytes that routers read and write.
//!
//! The content depends on the routing: runs of hops that the source has written into the header;
//! the destination whose entry routers look up; or the state of an adaptive choice hop by hop.

use serde::{Deserialize, Serialize};

use flitlab_base::narrow::fitted;
use flitlab_routing::{Route, Run};

/// The maximum number of words of a route beyond the first: nine runs, at least three a word.
pub(crate) const MAX_WORDS: usize = 2;

/// A route in eight bytes. Its reader knows from the routing which kind it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EncodedRoute(pub u64);

/// The code of runs of hops: some bits for the output, then some for the hops. The present run is
/// in the lowest bits. The last run is one hop by an ejection channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteCodec {
    output_bits: u32,
    run_bits: u32,
    /// The bits of the first run's hops.
    first_hops: u64,
    /// Number of runs in eight bytes.
    a_word: usize,
}

impl RouteCodec {
    /// The code for routers with this many outputs and runs of at most this many hops.
    pub(crate) fn new(outputs: u32, hops: u32) -> Self {
        let bits = |most: u32| u32::BITS - most.leading_zeros();
        let output_bits = bits(outputs.saturating_sub(1)).max(1);
        let run_bits = output_bits + bits(hops.max(1));
        let first_hops = (1 << run_bits) - (1 << output_bits);
        Self { output_bits, run_bits, first_hops, a_word: (u64::BITS / run_bits) as usize }
    }

    /// Number of bits of a run.
    #[inline]
    pub(crate) fn bits(&self) -> u32 {
        self.run_bits
    }

    /// Encodes a run, in the lowest bits. It fits where four runs or more fit into eight bytes.
    #[inline]
    pub(crate) fn run(&self, port: u16, hops: u16) -> u16 {
        hops << self.output_bits | port
    }

    /// The hops of a run.
    #[inline]
    pub(crate) fn hops(&self, run: u16) -> u16 {
        run >> self.output_bits
    }

    /// Words beyond the first of a route with this many runs.
    pub(crate) fn rest(&self, runs: usize) -> usize {
        runs.div_ceil(self.a_word).saturating_sub(1)
    }

    /// Encodes a route that ends with an output at the destination. Returns the first word, and
    /// puts the others into `rest`.
    #[inline]
    pub(crate) fn write(&self, route: &Route, ejection: u16, rest: &mut [u64]) -> EncodedRoute {
        let last = Run { port: ejection, hops: 1 };
        let mut runs = route.runs().iter().chain([&last]);
        let first = self.word(runs.by_ref().take(self.a_word));
        rest.fill_with(|| self.word(runs.by_ref().take(self.a_word)));
        EncodedRoute(first)
    }

    #[inline]
    fn word<'r>(&self, runs: impl Iterator<Item = &'r Run>) -> u64 {
        let (mut word, mut shift) = (0, 0);
        for run in runs {
            let codec = u64::from(run.hops) << self.output_bits | u64::from(run.port);
            word |= codec << shift;
            shift += self.run_bits;
        }
        word
    }

    /// The output at the present router.
    #[inline]
    pub(crate) fn output(&self, encoded: EncodedRoute) -> u16 {
        fitted!(encoded.0 & ((1 << self.output_bits) - 1), u16)
    }

    /// Takes the hop to the next router. Returns whether the word is used up, and another one
    /// follows.
    #[inline(always)]
    pub(crate) fn go_on(&self, encoded: &mut EncodedRoute) -> bool {
        encoded.0 -= 1 << self.output_bits;
        // No branch, since the end of a run cannot be predicted.
        let ends = encoded.0 & self.first_hops == 0;
        encoded.0 >>= self.run_bits * u32::from(ends);
        encoded.0 == 0
    }

    /// Replaces a used-up word by the next one of the route.
    #[cold]
    pub(crate) fn refill(&self, encoded: &mut EncodedRoute, rest: &mut [u64]) {
        if let [first, others @ ..] = rest {
            encoded.0 = *first;
            let others = others.len();
            rest.copy_within(1..=others, 0);
            rest[others] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_route_is_gone_hop_by_hop() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for (outputs, hops) in [(2, 1), (8, 7), (10, 31), (18, 1023), (300, 1023)] {
            let codec = RouteCodec::new(outputs, hops);
            for _ in 0..200 {
                let mut route = Route::default();
                for _ in 0..random.random_range(0..=8) {
                    let port = narrow::<u16>(random.random_range(0..outputs));
                    if route.runs().last().is_none_or(|last| last.port != port) {
                        route.push(port, narrow::<u16>(random.random_range(1..=hops)));
                    }
                }
                let ejection = narrow::<u16>(outputs) - 1;
                let mut rest = vec![0; codec.rest(9)];
                let mut encoded = codec.write(&route, ejection, &mut rest);
                for port in route.ports() {
                    assert_eq!(codec.output(encoded), port);
                    if codec.go_on(&mut encoded) {
                        codec.refill(&mut encoded, &mut rest);
                    }
                }
                assert_eq!(codec.output(encoded), ejection);
            }
        }
    }

    #[test]
    fn tori_of_usual_sizes_need_one_word() {
        for (dimensions, size, ejections) in [(3, 8, 2), (3, 64, 2), (3, 100, 2), (4, 32, 2)] {
            let codec = RouteCodec::new(2 * dimensions + ejections, size / 2);
            assert_eq!(codec.rest(dimensions as usize + 3), 0, "{dimensions} of {size}");
        }
    }
}
