//! SGR (the decoupled approach of \[sgr\], reference 20 of \[angara-routing\]): the best channel
//! loads by a linear program, then routes that come near to them.
//!
//! The program may split a pair over its routes; a table of Angara can't, and SGR's second stage,
//! which gives a pair several routes where it needs them, has to settle for one: pairs are taken
//! with the largest share of one route first, and each gets the route whose channels have most left
//! of the program's loads, the larger share if that is equal.

use flitlab_base::registry::Row;
use std::cmp::Reverse;

use super::algorithm::NoTable;
use super::linear::{Shares, shares};
use super::{Algorithm, Choices, Generated, Selection};
use flitlab_base::narrow::{narrow, rounded};

impl Algorithm {
    /// `sgr`.
    pub const SGR: Row<Self> = Row::new(
        "sgr",
        "SGR: routes along the loads of a linear program; for some 100 nodes.",
        Self {
            is_random: false,
            table: |choices, _, _| {
                let selection = sgr(choices)?;
                Ok(Generated::new(choices.table(&selection)))
            },
        },
    );
}

/// Chooses a route for every pair.
fn sgr(choices: &Choices<'_>) -> Result<Selection, NoTable> {
    let shares = shares(choices, Algorithm::SGR.name)?;
    Ok(follow(choices, &shares))
}

/// Leads each pair by a route where the channels have most left of what the shares put on them.
fn follow(choices: &Choices<'_>, shares: &Shares) -> Selection {
    let pairs = &choices.pairs;
    let mut selection = Selection::unique_routes(choices);
    let mut left = vec![0.0; selection.loads.len()];
    let open: Vec<usize> = (0..pairs.len()).filter(|&place| pairs[place].routes() > 1).collect();
    for (&place, shares) in open.iter().zip(shares) {
        for (number, share) in shares.iter().enumerate() {
            for &channel in choices.channels(&pairs[place], number) {
                left[channel as usize] += share;
            }
        }
    }
    // Shares in millionths, so that what is equal but for rounding is equal.
    let millionths = |share: f64| rounded::<u64>(share.clamp(0.0, 1.0) * 1e6);
    let most = |shares: &[f64]| shares.iter().map(|&share| millionths(share)).max();
    let mut order: Vec<usize> = (0..open.len()).collect();
    order.sort_by_key(|&it| (Reverse(most(&shares[it])), it));
    for it in order {
        let pair = &pairs[open[it]];
        let room = |number: usize| {
            let channels = choices.channels(pair, number).iter();
            let least = channels.map(|&it| left[it as usize]).fold(f64::INFINITY, f64::min);
            rounded::<i64>(least * 1e6)
        };
        let key = |&number: &usize| (room(number), millionths(shares[it][number]), Reverse(number));
        let number = (0..pair.routes()).max_by_key(key).expect("a pair has routes");
        selection.add(choices, open[it], number);
        for &channel in choices.channels(pair, number) {
            left[channel as usize] -= 1.0;
        }
    }
    // Pairs with a single route have number 0 and are counted already.
    Selection::new(choices, |place| narrow(selection.chosen(place)))
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
                assert!(quality.load.maximum >= bound.rounded().into(), "{algorithm:?}");
            }
        }
    }

    #[test]
    fn a_program_that_splits_nothing_is_followed() {
        let fabric = fabric(&[4, 4], &[]);
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let open = choices.pairs.iter().filter(|pair| pair.routes() > 1);
        let last = open.map(|pair| {
            (0..pair.routes()).map(|it| f64::from(u8::from(it + 1 == pair.routes()))).collect()
        });
        let selection = follow(&choices, &last.collect());
        for (place, pair) in choices.pairs.iter().enumerate() {
            assert_eq!(selection.chosen(place), pair.routes() - 1);
        }
    }
}
