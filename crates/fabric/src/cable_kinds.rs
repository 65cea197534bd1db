//! Keys that give each kind of a fabric's cables a rate and a latency: the dimensions of a torus,
//! the levels of a tree, cables within groups and between them.

use super::MAXIMUM_DIMENSIONS;
use super::cables::{CableClass, CableRate, CableSpeed};
use flitlab_base::document::{List, Listed, Reader, rate, time};
use flitlab_base::units::{Picoseconds, Rate};

/// Rates and latencies of the kinds of a fabric's cables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CableKinds {
    /// Data rates of each direction, by kind; empty if all have `link.rate`, which is otherwise the
    /// fastest of those that there are cables of.
    pub rates: Vec<Rate>,
    /// Latencies, by kind; empty if all have `link.latency`.
    pub latencies: Vec<Picoseconds>,
}

impl CableKinds {
    /// Reads lists with a value for each dimension, or for each level of a tree's cables, if it is
    /// known how many there are.
    pub fn listed(reader: &mut Reader<'_>, kinds: Option<usize>) -> Self {
        let length = match kinds {
            Some(kinds) => kinds..=kinds,
            None => 1..=MAXIMUM_DIMENSIONS,
        };
        let kind = List {
            kind: rate(),
            noun: "rates",
            length: length.clone(),
            example: Some("[\"60 Gb/s\", \"60 Gb/s\", \"30 Gb/s\"]"),
        };
        let doc = "Rates of the cables along each dimension, or from each level of a tree to the next, in each direction; all \
                   have `link.rate` if absent. `link.rate` is the fastest of them.";
        let rates = reader.optional("rates", &kind, doc);
        let kind = List {
            kind: time(Picoseconds(1)),
            noun: "latencies",
            length,
            example: Some("[\"70 ns\", \"70 ns\", \"200 ns\"]"),
        };
        let doc = "Latencies of these cables; if absent all have `link.latency`, and what a flit takes longer on a slower cable.";
        let latencies = reader.optional("latencies", &kind, doc);
        Self {
            rates: rates.map_or_else(Vec::new, Listed::values),
            latencies: latencies.map_or_else(Vec::new, Listed::values),
        }
    }

    /// Reads tables with a value for cables within groups, of kind 0, and for those between groups,
    /// of kind 1.
    pub(super) fn of_groups(reader: &mut Reader<'_>) -> Self {
        let doc = "Rates of cables, in each direction; all have `link.rate` if absent, which is the fastest of them.";
        let example = "{ local = \"200 Gb/s\", global = \"100 Gb/s\" }";
        let rates = reader.optional_table("rates", example, doc, |reader| {
            let local = reader.required("local", &rate(), "Within groups.");
            let global = reader.required("global", &rate(), "Between groups.");
            Some(vec![local?, global?])
        });
        let doc = "Latencies of cables; all have `link.latency` if absent.";
        let example = "{ local = \"50 ns\", global = \"500 ns\" }";
        let latencies = reader.optional_table("latencies", example, doc, |reader| {
            let kind = time(Picoseconds(1));
            let local = reader.required("local", &kind, "Within groups.");
            let global = reader.required("global", &kind, "Between groups.");
            Some(vec![local?, global?])
        });
        Self {
            rates: rates.flatten().unwrap_or_default(),
            latencies: latencies.flatten().unwrap_or_default(),
        }
    }

    /// The class of each kind; empty if all are alike. `exists` says of which kinds there are
    /// cables: others have no share in what is the fastest.
    pub(super) fn classes(&self, exists: impl Fn(usize) -> bool) -> Vec<CableClass> {
        let rates = self.rates.iter().enumerate().filter(|&(kind, _)| exists(kind));
        let fastest = rates.map(|(_, rate)| *rate).max();
        let kinds = 0..self.rates.len().max(self.latencies.len());
        let classes = kinds.map(|kind| CableClass {
            rate: match (self.rates.get(kind), fastest) {
                (Some(&own), Some(fastest)) if exists(kind) => CableRate::Share {
                    cable: CableSpeed::Data(own),
                    fastest: CableSpeed::Data(fastest),
                },
                _ => CableRate::Link,
            },
            latency: self.latencies.get(kind).copied(),
        });
        let classes: Vec<CableClass> = classes.collect();
        let is_usual = |class: &CableClass| *class == CableClass::default();
        if classes.iter().all(is_usual) { Vec::new() } else { classes }
    }
}
