//! `pattern`: who sends to whom, in both workloads.

use super::{matrix, topology::report_repeated};
use crate::{
    document::{Choice, Flag, List, Listed, Number, Reader, Variant, plain, with_keys},
    topology::{NodeName, NodePair, Places},
    traffic::PatternSpec,
};

/// What sends by the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Load,
    /// Takes patterns with steps only.
    Exchange,
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    sender: Sender,
    places: Option<Places<'_>>,
) -> Option<PatternSpec> {
    let choice = Choice {
        key: "pattern",
        noun: "pattern",
        default: None,
        doc: "Who sends to whom. In the formulas a node's coordinates are (x,y,...), of k nodes \
              each; the bits are those of its number.",
        sections: false,
    };
    let uniform = with_keys(
        "uniform",
        "every node to every other with the same probability.",
        |reader: &mut Reader<'_>| {
            let doc = "Whether nodes send to themselves too.";
            let include_self = reader.value("include_self", &Flag, false, doc);
            Some(PatternSpec::Uniform { include_self })
        },
    );
    let hotspot = with_keys(
        "hotspot",
        "a share of the messages to a few nodes, the rest uniform.",
        |reader| hotspot(reader, places),
    );
    let matrix = with_keys("matrix", "to each node in proportion to a weight.", |reader| {
        matrix::read(reader, places)
    });
    let pairs = with_keys(
        "pairs",
        "fixed pairs; a source with several partners takes them in turn.",
        |reader| pairs(reader, places),
    );
    use PatternSpec as P;
    let all_to_all = plain("all-to-all", P::AllToAll, "every node to every other in turn.");
    let fixed = vec![
        plain(
            "transpose",
            P::Transpose,
            "the first half of the coordinates swapped with the second: (x,y) to (y,x).",
        ),
        plain(
            "transpose-linear",
            P::TransposeLinear,
            "the node number's row and column in a square swapped: i m + j to j m + i.",
        ),
        plain("transpose-3d", P::Transpose3d, "(x,y,z) to (y,z,x)."),
        plain("neighbor", P::Neighbor, "x + 1 mod k, in every dimension."),
        plain("tornado", P::Tornado, "x + ceil(k/2) - 1 mod k, in every dimension."),
        plain("bit-reverse", P::BitReverse, "the bits in reverse order."),
        plain("bit-complement", P::BitComplement, "every bit inverted."),
        plain(
            "butterfly",
            P::Butterfly,
            "message i inverts bit i of the number, from bit 0 on, cyclic (FFT).",
        ),
        plain("shuffle", P::Shuffle, "the bits rotated left by one."),
        plain(
            "random-permutation",
            P::RandomPermutation,
            "every node to one partner, drawn at random.",
        ),
    ];
    // The first one is the example where none is written.
    let variants = match sender {
        Sender::Load => {
            let mut variants = vec![uniform];
            variants.extend(fixed);
            variants.extend([all_to_all, hotspot, matrix, pairs]);
            variants
        }
        Sender::Exchange => {
            let mut variants = vec![all_to_all];
            variants.extend(fixed);
            variants.push(pairs);
            // Those that draw their destinations have no steps; the rules between keys say so.
            variants.extend([uniform, hotspot, matrix].map(Variant::not_offered));
            variants
        }
    };
    reader.choice(&choice, variants)
}

fn hotspot(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<PatternSpec> {
    let kind =
        List { kind: NodeName { places }, noun: "nodes", length: 1..=usize::MAX, example: None };
    let nodes = reader.required("nodes", &kind, "The hot nodes.");
    let share = reader.required(
        "share",
        &Number { above: 0.0, to: 1.0, inclusive: true },
        "The share of messages that go to them.",
    );
    let nodes = nodes?;
    report_repeated(reader, "nodes", &nodes, "node", |&node| {
        places.map_or_else(String::new, |places| places.name(node))
    });
    Some(PatternSpec::Hotspot { nodes: Listed::values(nodes), share: share? })
}

fn pairs(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<PatternSpec> {
    let kind = List {
        kind: NodePair(NodeName { places }),
        noun: "pairs",
        length: 1..=usize::MAX,
        example: None,
    };
    let pairs = reader.required("list", &kind, "The pairs.")?;
    Some(PatternSpec::Pairs { pairs: Listed::values(pairs) })
}
