//! Several patterns, of which each message draws one by weight.
//!
//! A node that sends less than the mean of a pattern, or nothing, does so in the mixture as well: its
//! messages of that pattern are missing, and the others stay.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{
    Bind, Live, Nodes, ONE, PATTERNS, Partners, PatternError, PatternKind, PatternRule, PatternSpec,
};
use flitlab_base::document::{Choice, Diagnostic, Number, Reader, Variant, with_keys};
use flitlab_base::narrow::rounded;
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Places;

pub(super) const MIXTURE: Row<PatternKind> = Row::new(
    "mixture",
    "each message by one of several patterns, drawn by weight.",
    PatternKind { partners: Partners::Drawn, read },
);

fn read(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Bind> {
    let example =
        "[{ weight = 9, pattern = \"uniform\" }, { weight = 1, pattern = \"transpose\" }]";
    let doc = "The patterns, each with the weight by which messages draw it.";
    let count = reader.problems.len();
    let parts = reader.tables("patterns", example, doc, |reader| {
        let weight = Number { above: 0.0, to: f64::INFINITY, inclusive: false };
        let weight =
            reader.required("weight", &weight, "How often messages draw it, in proportion.");
        Some((weight?, one(reader, places)?))
    });
    if reader.is_documenting() {
        return None;
    }
    if let (true, true, Some(place)) =
        (parts.is_empty(), reader.problems.len() == count, reader.scope.place.clone())
    {
        let message = "mixture needs patterns";
        let help = format!("write for example `patterns = {example}`");
        reader.problems.push(Diagnostic::new(&place, message).help(help));
    }
    if reader.problems.len() > count {
        return None;
    }
    let parts: Vec<(f64, PatternSpec)> = parts.into_iter().map(|(_, part)| part).collect();
    Some(Arc::new(move |nodes| Ok(Box::new(Mixture::new(&parts, nodes)?))))
}

/// The pattern of a part: a built-in one, and no mixture.
fn one(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<PatternSpec> {
    let choice = Choice::required("pattern", "pattern", "A pattern with its keys.");
    // The keys of each stand on the reference page once.
    let of = if reader.is_documenting() { 1 } else { PATTERNS.len() };
    let simple = PATTERNS.iter().filter(|row| row.name != MIXTURE.name);
    let variants: Vec<Variant<'_, '_, PatternSpec>> = simple
        .take(of)
        .map(|row| {
            with_keys(row.name, row.doc, move |reader| PatternSpec::read(row, reader, places))
        })
        .collect();
    reader.choice(&choice, variants)
}

/// A pattern with its weight, 1 in sum.
struct Part {
    weight: f64,
    rule: Box<dyn PatternRule>,
}

struct Mixture {
    parts: Vec<Part>,
    live: Live,
    /// The mean of what the nodes that send do, of 1 where no part leaves any out.
    mean: f64,
    cycle: Picoseconds,
}

impl Mixture {
    fn new(parts: &[(f64, PatternSpec)], nodes: &Nodes<'_>) -> Result<Self, PatternError> {
        let most = parts.iter().fold(0.0, |most: f64, part| most.max(part.0));
        let total: f64 = parts.iter().map(|part| part.0 / most).sum();
        let bind = |(number, (weight, spec)): (u64, &(f64, PatternSpec))| {
            // Two that the seed draws are not the same one.
            let seed = nodes.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            Ok(Part {
                weight: weight / most / total,
                rule: spec.bind(&nodes.of(spec.name(), seed))?,
            })
        };
        let parts = (0..).zip(parts).map(bind).collect::<Result<Vec<Part>, PatternError>>()?;
        let cycle = parts.iter().map(|part| part.rule.cycle()).max().unwrap_or(Picoseconds::ZERO);
        let mut mixture = Self { parts, live: nodes.live.clone(), mean: 1.0, cycle };
        let rates = mixture.live.iter().map(|node| mixture.sum(node)).filter(|rate| *rate > 0.0);
        let rates: Vec<f64> = rates.collect();
        if let Some(&first) = rates.first() {
            let alike = rates.iter().all(|&rate| rate == first);
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            mixture.mean = if alike { first } else { mean };
        }
        Ok(mixture)
    }

    /// How much of a part a node sends, in proportion.
    fn share(part: &Part, source: u32, live: &Live) -> f64 {
        let sends = part.rule.sends(source, live);
        if sends { part.weight * part.rule.rate(source) } else { 0.0 }
    }

    /// How much a node sends in proportion.
    fn sum(&self, source: u32) -> f64 {
        self.parts.iter().map(|part| Self::share(part, source, &self.live)).sum()
    }

    /// Draws the part of a message of a node that sends.
    fn draw(&self, source: u32, live: &Live, random: &mut ChaCha8Rng) -> &dyn PatternRule {
        let sum = self.sum(source);
        let mut drawn = random.random_range(0..ONE);
        let mut last = None;
        for part in &self.parts {
            let share = Self::share(part, source, live) / sum;
            if share > 0.0 {
                let share = rounded(share * ONE as f64);
                if drawn < share {
                    return &*part.rule;
                }
                drawn -= share;
                last = Some(&*part.rule);
            }
        }
        last.expect("a node that sends does so in a part")
    }
}

impl PatternRule for Mixture {
    fn steps(&self, _: &Live) -> Option<u32> {
        None
    }

    fn destination(
        &self,
        source: u32,
        index: u64,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        self.draw(source, live, random).destination(source, index, live, random)
    }

    fn cycle(&self) -> Picoseconds {
        self.cycle
    }

    fn destination_at(
        &self,
        source: u32,
        index: u64,
        time: Picoseconds,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        self.draw(source, live, random).destination_at(source, index, time, live, random)
    }

    fn sends(&self, source: u32, live: &Live) -> bool {
        self.parts.iter().any(|part| Self::share(part, source, live) > 0.0)
    }

    fn for_each_share(&self, source: u32, live: &Live, each: &mut dyn FnMut(u32, f64)) {
        let (mut shares, sum) = (BTreeMap::new(), self.sum(source));
        for part in &self.parts {
            let share = Self::share(part, source, live) / sum;
            if share > 0.0 {
                part.rule.for_each_share(source, live, &mut |to, own| {
                    *shares.entry(to).or_insert(0.0) += share * own;
                });
            }
        }
        shares.into_iter().for_each(|(to, share)| each(to, share));
    }

    fn rate(&self, source: u32) -> f64 {
        self.sum(source) / self.mean
    }

    fn memory(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.rule.memory()).sum();
        parts + self.live.memory()
    }
}
