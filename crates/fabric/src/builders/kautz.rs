//! Kautz graphs (\[kautz\]), each arc a cable.

use super::sizes::TWO_OR_MORE;
use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, cables_text,
    populate, product, refuse,
};
use flitlab_base::registry::Row;

pub(super) const KAUTZ: Row<BuilderKind> = Row::new(
    "kautz",
    "A Kautz graph, each of its arcs a cable.",
    BuilderKind { usual_table: ANY_TABLE, read },
);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let doc = "Arcs that leave a switch; it has twice as many neighbours.";
    let degree = sizes.required_in("degree", TWO_OR_MORE, 3, doc);
    let length =
        sizes.required("length", 3, "Letters of a word, which bounds the hops from any switch.");
    let terminals = sizes.terminals(1);
    let redundancy = sizes.redundancy();
    let kautz = Kautz { degree: degree?, length: length?, terminals, redundancy };
    let name = format!(
        "Kautz graph of degree {} and length {}{}",
        kautz.degree,
        kautz.length,
        cables_text(kautz.redundancy, "an arc")
    );
    Some(Built { name, cabling: kautz.cabling() })
}

/// A Kautz graph. Routers are the words of `length` letters from an alphabet of `degree + 1`, with
/// no letter twice in a row. A cable leads from each word to those that begin with its tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kautz {
    /// Arcs that leave a router.
    pub degree: u32,
    /// Letters of a word, which is also the diameter of the directed graph.
    pub length: u32,
    /// Terminals of each router.
    pub terminals: u32,
    /// Cables for each arc.
    pub redundancy: u32,
}

impl Kautz {
    /// The cables of the fabric. Routers are numbered in the alphabetical order of their words.
    ///
    /// # Errors
    /// If the degree is below 2, the length or the redundancy is 0, or there are too many words.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let degree = u64::from(self.degree);
        if degree < 2 || self.length == 0 || self.redundancy == 0 {
            return refuse(
                "a Kautz graph needs a degree of 2, a letter a word and a cable an arc at least",
            );
        }
        let tails = degree.saturating_pow(self.length - 1);
        let words = product([tails, degree + 1]);
        let (redundancy, terminals) = (self.redundancy.into(), self.terminals.into());
        let mut cabling = begin(&Size {
            routers: words,
            terminals: product([words, terminals]),
            cables: product([words, degree, redundancy]),
            ports: product([2, degree, redundancy]).saturating_add(terminals),
        })?;
        for word in 0..cabling.routers() {
            let letters = self.letters(word);
            for letter in (0..=self.degree).filter(|letter| Some(letter) != letters.last()) {
                let mut next = letters[1..].to_vec();
                next.push(letter);
                let next = self.number(&next);
                if next != word {
                    (0..self.redundancy).for_each(|_| cabling.cable(word, next));
                }
            }
        }
        populate(&mut cabling, |_| self.terminals);
        Ok(cabling)
    }

    /// The letters of a word: the first one counted among all letters, the others among those that
    /// differ from the letter before.
    fn letters(&self, word: u32) -> Vec<u32> {
        let mut step = self.degree.pow(self.length - 1);
        let mut letters = vec![word / step];
        let mut rest = word % step;
        while step > 1 {
            step /= self.degree;
            let (choice, before) = (rest / step, *letters.last().expect("the first"));
            letters.push(choice + u32::from(choice >= before));
            rest %= step;
        }
        letters
    }

    fn number(&self, letters: &[u32]) -> u32 {
        letters.windows(2).fold(letters[0], |number, pair| {
            number * self.degree + pair[1] - u32::from(pair[1] > pair[0])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_in_order_and_have_no_letter_twice_in_a_row() {
        let kautz = Kautz { degree: 3, length: 4, terminals: 1, redundancy: 1 };
        let words: Vec<Vec<u32>> = (0..4 * 27).map(|word| kautz.letters(word)).collect();
        assert!(words.is_sorted());
        for (number, word) in (0..).zip(&words) {
            assert!(word.windows(2).all(|pair| pair[0] != pair[1]) && word.len() == 4);
            assert_eq!(kautz.number(word), number);
        }
    }

    #[test]
    fn every_word_has_as_many_cables_in_as_out() {
        let kautz = Kautz { degree: 5, length: 3, terminals: 7, redundancy: 2 };
        let fabric = kautz.cabling().unwrap().fabric().unwrap();
        assert!((0..150).all(|router| fabric.outputs(router).len() == 20));
    }
}
