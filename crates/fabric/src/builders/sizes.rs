//! The keys that several builders have.

use std::ops::RangeInclusive;

use crate::MAXIMUM_DIMENSIONS;
use flitlab_base::document::{Count, CountIn, LARGEST, List, Listed, Reader, Whole};
use flitlab_base::narrow::narrow;

/// Terminals of a switch.
pub(super) const TERMINALS: Whole = Whole { range: 0..=1 << 20 };

/// Two and more, of what there is no fabric with one.
pub(super) const TWO_OR_MORE: RangeInclusive<u64> = 2..=1 << 20;

/// Reads sizes.
pub struct Sizes<'r, 'd> {
    /// The reader of the table that has the sizes.
    pub reader: &'r mut Reader<'d>,
    /// The scenario's.
    pub seed: u64,
}

impl Sizes<'_, '_> {
    pub(super) fn required(
        &mut self,
        key: &'static str,
        example: u64,
        doc: &'static str,
    ) -> Option<u32> {
        self.reader.required(key, &Count { example }, doc)
    }

    /// A size that has to be in a range.
    pub(super) fn required_in(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
        example: u64,
        doc: &'static str,
    ) -> Option<u32> {
        self.reader.required(key, &CountIn { range, example }, doc)
    }

    pub(super) fn value(&mut self, key: &'static str, default: u32, doc: &'static str) -> u32 {
        self.reader.value(key, &Count { example: default.into() }, default, doc)
    }

    /// Terminals of each switch.
    pub(super) fn terminals(&mut self, default: u32) -> u32 {
        let doc = "Terminals of each switch.";
        narrow(self.reader.value("terminals", &TERMINALS, default.into(), doc))
    }

    /// Terminals of each switch of a HyperX, and cables between two switches: as many terminals as cables along the
    /// shortest dimension, a switch's own place counted, so that uniform traffic just fills it (a flattened butterfly's
    /// concentration).
    pub(super) fn terminals_of_hyperx(&mut self, dimensions: Option<&[u32]>) -> (u32, u32) {
        let redundancy = self.redundancy("Cables between two switches of a dimension.");
        let joined = dimensions.unwrap_or_default().iter().filter(|&&size| size > 1);
        let usual = joined.min().map_or(1, |&size| size.saturating_mul(redundancy));
        let doc = "Terminals of each switch. By itself as many as uniform traffic at load 1 just fills the cables with.";
        let from = "the shortest dimension above 1, times redundancy";
        let usual = usual.min(1 << 20).into();
        (narrow(self.reader.value_from("terminals", &TERMINALS, usual, from, doc)), redundancy)
    }

    /// What a fabric is drawn from.
    pub(super) fn seed(&mut self) -> u64 {
        let (from, doc) = ("the scenario's seed", "What decides which switches are joined.");
        self.reader.value_from("seed", &Whole { range: 0..=LARGEST }, self.seed, from, doc)
    }

    pub(super) fn redundancy(&mut self, doc: &'static str) -> u32 {
        self.value("redundancy", 1, doc)
    }

    pub(super) fn dimensions(&mut self) -> Option<Vec<u32>> {
        let kind = List {
            kind: Whole { range: 1..=1024 },
            noun: "sizes",
            length: 1..=MAXIMUM_DIMENSIONS,
            example: Some("[6, 5, 5]"),
        };
        let doc = "Switches along each dimension; a switch's number runs with the first fastest.";
        let sizes = self.reader.required("dimensions", &kind, doc)?;
        Some(Listed::values(sizes).into_iter().map(narrow).collect())
    }
}
