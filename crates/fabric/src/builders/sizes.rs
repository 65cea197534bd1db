//! The keys that several builders have.

use std::ops::RangeInclusive;

use crate::{CableKinds, MAXIMUM_DIMENSIONS};
use flitlab_base::document::{Count, CountIn, LARGEST, List, Listed, Reader, Whole};
use flitlab_base::narrow::narrow;

/// Allowed terminals of a switch.
pub(super) const TERMINALS: Whole = Whole { range: 0..=1 << 20 };

/// Allowed sizes where one would make no fabric.
pub(super) const TWO_OR_MORE: RangeInclusive<u64> = 2..=1 << 20;

/// A reader of sizes, for [`BuilderKind::read`](super::BuilderKind::read).
pub struct Sizes<'r, 'd> {
    /// The reader of the table that has the sizes.
    pub reader: &'r mut Reader<'d>,
    /// The scenario's seed, from which random fabrics are drawn by default.
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

    /// Reads a required size within a range.
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

    /// Reads the terminals of each switch.
    pub(super) fn terminals(&mut self, default: u32) -> u32 {
        let doc = "Terminals of each switch.";
        narrow(self.reader.value("terminals", &TERMINALS, default.into(), doc))
    }

    /// Reads the terminals of each switch of a HyperX, and the cables between two switches. By
    /// default terminals are as many as the switches along the shortest dimension, so that uniform
    /// traffic just fills it (a flattened butterfly's concentration).
    pub(super) fn terminals_of_hyperx(&mut self, dimensions: Option<&[u32]>) -> (u32, u32) {
        let redundancy = self.redundancy();
        let joined = dimensions.unwrap_or_default().iter().filter(|&&size| size > 1);
        let usual = joined.min().map_or(1, |&size| size.saturating_mul(redundancy));
        let doc = "Terminals of each switch. By itself as many as uniform traffic at load 1 just fills the cables with.";
        let from = "the shortest dimension above 1, times redundancy";
        let usual = usual.min(1 << 20).into();
        (narrow(self.reader.value_from("terminals", &TERMINALS, usual, from, doc)), redundancy)
    }

    /// Reads the seed of a random fabric.
    pub(super) fn seed(&mut self) -> u64 {
        let (from, doc) = ("the scenario's seed", "What decides which switches are joined.");
        self.reader.value_from("seed", &Whole { range: 0..=LARGEST }, self.seed, from, doc)
    }

    /// Reads the number of switches of a random fabric.
    pub(super) fn switches(&mut self) -> Option<u32> {
        self.required_in("switches", TWO_OR_MORE, 32, "How many switches there are.")
    }

    /// Reads the number of groups.
    pub(super) fn groups(&mut self) -> Option<u32> {
        self.required_in("groups", TWO_OR_MORE, 9, "Groups, g.")
    }

    /// Reads the ports for cables between groups.
    pub(super) fn global_cables(&mut self) -> Option<u32> {
        let doc = "Ports for cables to other groups, h, of each switch that has some: a Dragonfly+'s spines.";
        self.required("global_cables", 2, doc)
    }

    /// Reads the number of parallel cables.
    pub(super) fn redundancy(&mut self) -> u32 {
        self.value("redundancy", 1, "Parallel cables in place of each one.")
    }

    /// Reads rates and latencies of cables by dimension or level, if it is known how many these are.
    pub(super) fn cables(&mut self, kinds: Option<usize>) -> CableKinds {
        CableKinds::listed(self.reader, kinds)
    }

    /// Reads rates and latencies of cables within groups and between them.
    pub(super) fn cables_of_groups(&mut self) -> CableKinds {
        CableKinds::of_groups(self.reader)
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
