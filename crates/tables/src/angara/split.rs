//! SGR (the decoupled approach of \[sgr\], reference 20 of \[angara-routing\]): the best channel
//! loads by a linear program, then routes that have these loads.
//!
//! The program splits pairs over their routes, and so does the table: a pair has several routes
//! where the program needs them, each with a count of packets in a round of [`ROUND`] or fewer, which
//! the source takes in turn. Shares are rounded down to whole counts; what is left of a round goes
//! packet by packet to the route whose channels have most left of the program's loads.

use flitlab_base::registry::Row;

use super::linear::{Shares, highest_bound, shares};
use super::{Algorithm, Choices, Generated};
use flitlab_base::narrow::{narrow, rounded, rounded_down};
use flitlab_routing::RouteTable;

impl Algorithm {
    /// `sgr`.
    pub const SGR: Row<Self> = Row::new(
        "sgr",
        "SGR: several routes a pair, with the loads of a linear program; for some 100 nodes.",
        Self {
            is_random: false,
            follows_rule: false,
            table: |choices, _, _| {
                let shares = shares(choices, Algorithm::SGR.name)?;
                let bound = highest_bound(choices, Algorithm::SGR.name)?;
                let made = Generated::new(split(choices, &shares));
                Ok(Generated { bound: Some(bound), ..made })
            },
        },
    );
}

/// Most packets in a round: many divisors, so that the shares of small programs are exact.
const ROUND: u8 = 120;

/// Gives each pair the routes among which the program has split it.
fn split(choices: &Choices<'_>, shares: &Shares) -> RouteTable {
    let mut table = RouteTable::empty(choices.region().fabric());
    let unit = 1.0 / f64::from(ROUND);
    let mut left = vec![0.0; choices.region().fabric().channel_slots() as usize];
    let mut open = Vec::new();
    let mut shares = shares.iter();
    for pair in choices.pairs() {
        if pair.routes() == 1 {
            table.set(pair.source, pair.destination, choices.header(&pair, 0));
            continue;
        }
        let shares = shares.next().expect("a pair with several routes has shares");
        // A share that is whole but for the solver's rounding is whole.
        let whole =
            |share: &f64| rounded_down::<u8>((share / unit + 1e-6).clamp(0.0, ROUND.into()));
        let counts: Vec<u8> = shares.iter().map(whole).collect();
        for (number, (share, &count)) in shares.iter().zip(&counts).enumerate() {
            for channel in choices.channels(&pair, number) {
                left[channel as usize] += share - f64::from(count) * unit;
            }
        }
        open.push((pair, shares, counts));
    }
    for (pair, shares, mut counts) in open {
        let rest = ROUND.saturating_sub(counts.iter().sum());
        for _ in 0..rest {
            // In millionths, so that what is equal but for rounding is equal.
            let room = |number: usize| {
                let channels = choices.channels(&pair, number);
                let least = channels.map(|it| left[it as usize]).fold(f64::INFINITY, f64::min);
                rounded::<i64>(least * 1e6)
            };
            let taken = (0..pair.routes()).filter(|&number| shares[number] > 1e-6).rev();
            let number = taken.max_by_key(|&number| room(number)).expect("shares add up to 1");
            counts[number] += 1;
            for channel in choices.channels(&pair, number) {
                left[channel as usize] -= unit;
            }
        }
        let divisor = counts.iter().copied().fold(0, greatest_common_divisor);
        let taken = (0..pair.routes()).filter(|&number| counts[number] > 0);
        let routes: Vec<_> = taken
            .map(|number| (choices.header(&pair, number), narrow(counts[number] / divisor)))
            .collect();
        table.set_several(pair.source, pair.destination, &routes);
    }
    table
}

fn greatest_common_divisor(one: u8, other: u8) -> u8 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::angara::{Freedoms, Parameters, lower_bound};
    use crate::{Quality, Region, prove, test_fabric as fabric};

    #[test]
    fn tables_of_every_algorithm_are_whole_and_proved_and_none_is_below_the_bound() {
        for (sizes, cables) in [(&[4, 4][..], &[][..]), (&[4, 3, 2], &[(5, 0), (11, 1)])] {
            let fabric = fabric(sizes, cables);
            let choices = Choices::new(Region::new(&fabric), Freedoms::default());
            for algorithm in super::super::ALGORITHMS {
                let made = (algorithm.table)(&choices, &Parameters::default(), 1).unwrap();
                let flaws = prove(&fabric, &made.table).flaws;
                assert!(flaws.is_empty(), "{algorithm:?} {sizes:?}: {flaws:?}");
                let quality = Quality::new(choices.region(), &made.table);
                assert_eq!(quality.unrouted, 0, "{algorithm:?}");
                let bound = lower_bound(&choices, &vec![0; fabric.channel_slots() as usize]);
                assert!(quality.load.maximum >= bound.value - 1e-6, "{algorithm:?}");
            }
        }
    }

    /// Of Desmos the program has 25 1/3; one route a pair has 26 at best.
    #[test]
    fn several_routes_a_pair_have_the_loads_of_the_program() {
        for (sizes, cables, value) in [
            (&[4, 2, 2, 2][..], &[][..], 25.333),
            (&[4, 4], &[], 8.0),
            (&[4, 3, 2], &[(5, 0)], 13.09),
            (&[4, 4, 2], &[(9, 1)], 17.07),
        ] {
            let fabric = fabric(sizes, cables);
            let choices = Choices::new(Region::new(&fabric), Freedoms::default());
            let bound = highest_bound(&choices, "sgr").unwrap().value;
            assert!((bound - value).abs() < 0.01, "{sizes:?}: {bound}");
            let made = (Algorithm::SGR.table)(&choices, &Parameters::default(), 1).unwrap();
            assert!(prove(&fabric, &made.table).holds());
            let most = Quality::new(choices.region(), &made.table).load.maximum;
            assert!((bound - 1e-6..bound * 1.003).contains(&most), "{sizes:?}: {most} of {bound}");
        }
    }

    #[test]
    fn a_program_that_splits_nothing_is_followed_and_halves_are_halves() {
        let fabric = fabric(&[4, 4], &[]);
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let open = || choices.pairs().filter(|pair| pair.routes() > 1);
        let last = open().map(|pair| {
            (0..pair.routes()).map(|it| f64::from(u8::from(it + 1 == pair.routes()))).collect()
        });
        let table = split(&choices, &last.collect());
        let headers = |table: &RouteTable, pair: &super::super::Pair| {
            table.headers(pair.source, pair.destination)
        };
        for pair in choices.pairs() {
            let last = choices.header(&pair, pair.routes() - 1);
            assert_eq!(headers(&table, &pair), [(last, 1)]);
        }
        let evenly = open().map(|pair| vec![1.0 / pair.routes() as f64; pair.routes()]);
        let table = split(&choices, &evenly.collect());
        for pair in choices.pairs() {
            let all = (0..pair.routes()).map(|number| (choices.header(&pair, number), 1));
            assert_eq!(headers(&table, &pair), all.collect::<Vec<_>>());
        }
        assert_eq!(table.pairs_with_several(), open().count());
    }
}
