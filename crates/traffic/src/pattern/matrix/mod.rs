//! Weights between nodes, in the scenario or in a CSV file beside it: a destination is drawn by its
//! weight.

mod file;

use flitlab_base::registry::Row;
use std::collections::HashSet;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::rows::{bounds, row};
use super::{Bind, Live, Nodes, Partners, PatternError, PatternKind, PatternRule};
use flitlab_base::document::{
    Diagnostic, Kind, List, Listed, Node, Reader, Slot, Text, Value, beside, both, wrong_type,
};
use flitlab_base::narrow::rounded_down;
use flitlab_fabric::{NodeName, NodePair, Places};

pub(super) const MATRIX: Row<PatternKind> = Row::new(
    "matrix",
    "to each node in proportion to a weight.",
    PatternKind { partners: Partners::Drawn, read },
);

pub(super) type Weight = (u32, u32, f64);

/// `[source, destination, weight]`.
#[derive(Clone, Copy)]
struct Weighted<'t>(NodeName<'t>);

impl Kind for Weighted<'_> {
    type Value = Weight;

    fn describe(&self) -> String {
        "[source, destination, weight]".into()
    }

    fn example(&self) -> String {
        format!("[{0}, {0}, 1.5]", self.0.example())
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Weight, Vec<Diagnostic>> {
        let parts = match &node.value {
            Value::List(parts) if parts.len() == 3 => parts,
            Value::List(parts) => {
                let message = "a weight is three things: [source, destination, weight]";
                let problem = Diagnostic::new(&node.place, message);
                return Err(vec![problem.label(format!("this has {}", parts.len()))]);
            }
            _ => return Err(wrong_type(self, slot, node)),
        };
        let pair = Node { value: Value::List(parts[..2].to_vec()), place: node.place.clone() };
        let pair = NodePair(self.0).parse(slot, &pair);
        let weight = match &parts[2].value {
            Value::Integer(Some(number)) => Some(*number as f64),
            Value::Float(number, _) => Some(*number),
            _ => None,
        };
        let weight =
            weight.filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
                vec![Diagnostic::new(&parts[2].place, "a weight is a number, 0 or above")]
            });
        both(pair, weight).map(|((source, destination), weight)| (source, destination, weight))
    }

    fn show(&self, value: &Weight) -> String {
        format!("[{}, {}, {}]", self.0.show(&value.0), self.0.show(&value.1), value.2)
    }
}

fn read(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Bind> {
    let file_kind = Text { what: "a file's path", example: "matrix.csv" };
    let list_kind = List {
        kind: Weighted(NodeName { places }),
        noun: "weights",
        length: 1..=usize::MAX,
        example: None,
    };
    let recorded = reader.resolved.len();
    let place = reader.place("file");
    let doc = "A CSV file beside the scenario, with the header `source,destination,weight`; nodes are \
         numbers, coordinates such as `0;1;3` (in a torus) or names (elsewhere).";
    let file = reader.optional("file", &file_kind, doc);
    let both = file.is_some() && reader.has("list");
    let list = reader.optional("list", &list_kind, "The weights themselves, instead of `file`.");
    let entries = match (file, list) {
        _ if both => {
            let place = reader.key_place("list")?;
            reader.problems.push(
                Diagnostic::new(&place, "`matrix` takes `file` or `list`, not both")
                    .help("keep one of the two"),
            );
            return None;
        }
        (Some(file), _) => {
            match file::read(&beside(reader, &file), &place?, places) {
                Ok(entries) => {
                    // A resolved scenario may go anywhere, so it takes the file's contents along.
                    reader.resolved.truncate(recorded);
                    let listed: Vec<Listed<Weight>> =
                        entries.iter().map(|&value| Listed { value, place: None }).collect();
                    reader.record("list", list_kind.show(&listed));
                    entries
                }
                Err(problems) => {
                    reader.problems.extend(problems);
                    return None;
                }
            }
        }
        (None, Some(list)) => {
            let mut seen = HashSet::new();
            for Listed { value: (source, destination, _), place } in &list {
                if let (false, Some(place)) = (seen.insert((*source, *destination)), place) {
                    let problem = Diagnostic::new(place, REPEATED).label(REPEATED_LABEL);
                    reader.problems.push(problem);
                }
            }
            Listed::values(list)
        }
        (None, None) => {
            if let (false, false, Some(place)) =
                (reader.has("file"), reader.has("list"), reader.scope.place.clone())
            {
                reader.problems.push(
                    Diagnostic::new(&place, "`matrix` needs `file` or `list`").help(
                        "write for example `pattern = { matrix = { file = \"matrix.csv\" } }`",
                    ),
                );
            }
            return None;
        }
    };
    let entries: Vec<Weight> = entries.into_iter().filter(|&(.., weight)| weight > 0.0).collect();
    if entries.is_empty() {
        let place = reader.scope.place.clone()?;
        reader.problems.push(Diagnostic::new(&place, "all weights of the matrix are 0"));
        return None;
    }
    Some(Arc::new(move |nodes| Ok(Box::new(Matrix::new(&entries, nodes)?))))
}

const REPEATED: &str = "this pair of nodes has a weight already";
const REPEATED_LABEL: &str = "the second one";

/// Weights, as integers so that every machine draws alike.
pub(super) struct Matrix {
    bounds: Vec<u32>,
    /// Destination, and the sum of the source's weights up to and including this one.
    entries: Vec<(u32, u64)>,
    rates: Vec<f64>,
}

impl Matrix {
    /// Weights of failed nodes are left out.
    pub(super) fn new(entries: &[Weight], nodes: &Nodes<'_>) -> Result<Self, PatternError> {
        nodes.check(entries.iter().flat_map(|entry| [entry.0, entry.1]))?;
        let (live, terminals) = (nodes.live, nodes.count());
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(|entry| (entry.0, entry.1));
        sorted.retain(|entry| live.contains(entry.0) && live.contains(entry.1));
        let greatest =
            sorted.iter().fold(f64::MIN_POSITIVE, |greatest, entry| greatest.max(entry.2));
        let bounds = bounds(terminals, sorted.iter().map(|entry| entry.0));
        let mut rates = vec![0.0; terminals as usize];
        for entry in &mut sorted {
            entry.2 = (entry.2 / greatest).max(f64::MIN_POSITIVE);
            rates[entry.0 as usize] += entry.2;
        }
        let mut sum = (u32::MAX, 0);
        let entries = sorted.iter().map(|&(source, destination, weight)| {
            let before = if sum.0 == source { sum.1 } else { 0 };
            let scaled = weight / rates[source as usize] * (1u64 << 53) as f64;
            sum = (source, before + rounded_down::<u64>(scaled).max(1));
            (destination, sum.1)
        });
        let entries = entries.collect();
        let senders = rates.iter().filter(|&&rate| rate > 0.0).count();
        let mean = rates.iter().sum::<f64>() / senders.max(1) as f64;
        rates.iter_mut().for_each(|rate| *rate /= mean.max(f64::MIN_POSITIVE));
        Ok(Self { bounds, entries, rates })
    }

    fn row(&self, source: u32) -> &[(u32, u64)] {
        &self.entries[row(&self.bounds, source)]
    }
}

impl PatternRule for Matrix {
    fn steps(&self, _: &Live) -> Option<u32> {
        None
    }

    fn destination(&self, source: u32, _: u64, _: &Live, random: &mut ChaCha8Rng) -> Option<u32> {
        let row = self.row(source);
        let drawn = random.random_range(0..row.last()?.1);
        Some(row[row.partition_point(|entry| entry.1 <= drawn)].0)
    }

    fn sends(&self, source: u32, _: &Live) -> bool {
        self.rate(source) > 0.0
    }

    fn for_each_share(&self, source: u32, _: &Live, each: &mut dyn FnMut(u32, f64)) {
        let row = self.row(source);
        let Some(&(_, total)) = row.last() else { return };
        let mut before = 0;
        for &(destination, sum) in row {
            each(destination, (sum - before) as f64 / total as f64);
            before = sum;
        }
    }

    fn rate(&self, source: u32) -> f64 {
        self.rates[source as usize]
    }

    fn memory(&self) -> usize {
        self.bounds.capacity() * size_of::<u32>()
            + self.entries.capacity() * size_of::<(u32, u64)>()
            + self.rates.capacity() * size_of::<f64>()
    }
}
