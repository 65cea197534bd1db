//! `[topology.torus]`: sizes and failures.

use crate::TopologySpec;
use flitlab_base::document::{
    Choice, Diagnostic, List, Listed, Location, Reader, Whole, plain, report_repeated, with_keys,
};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{
    CableKinds, DimensionName, DirectionName, Faults, MAXIMUM_DIMENSIONS, NodeName, Torus,
    sizes_text,
};

pub(super) fn read(reader: &mut Reader<'_>) -> Option<TopologySpec> {
    let sizes = List {
        kind: Whole { range: 1..=1024 },
        noun: "sizes",
        length: 1..=MAXIMUM_DIMENSIONS,
        example: Some("[4, 2, 2, 2]"),
    };
    let doc = "Nodes along x, y, z, k, l, m; a node's number runs with x fastest.";
    let sizes = reader.required("dimensions", &sizes, doc);
    let open = List {
        kind: DimensionName { dimensions: sizes.as_ref().map_or(MAXIMUM_DIMENSIONS, Vec::len) },
        noun: "dimensions' names",
        length: 0..=usize::MAX,
        example: None,
    };
    let open =
        reader.value("open", &open, Vec::new(), "Dimensions that don't close into rings: a mesh.");
    report_repeated(reader, "open", &open, "dimension", |at| {
        flitlab_fabric::DIMENSION_NAMES[*at].into()
    });
    let sizes_given = sizes.as_ref().map(Vec::len);
    let torus = sizes.and_then(|sizes| torus(reader, sizes, Listed::values(open)));
    let CableKinds { rates, latencies } = CableKinds::listed(reader, sizes_given);
    let torus = torus.map(|torus| torus.with_cables(&rates, &latencies));
    let faults = faults(reader, torus.as_ref());
    Some(TopologySpec::Torus(torus?, faults))
}

fn torus(reader: &mut Reader<'_>, sizes: Vec<Listed<u64>>, open: Vec<usize>) -> Option<Torus> {
    let sizes: Vec<u32> = sizes.iter().map(|size| narrow(size.value)).collect();
    match Torus::new(&sizes, &open) {
        Ok(torus) => Some(torus),
        Err(error) => {
            if let Some(place) = reader.place("dimensions") {
                reader.problems.push(Diagnostic::new(&place, error.to_string()));
            }
            reader.mark_broken("dimensions");
            None
        }
    }
}

fn faults(reader: &mut Reader<'_>, torus: Option<&Torus>) -> Faults {
    let node = NodeName::of_torus(torus);
    let origin = vec!["0"; torus.map_or(3, Torus::dimensions)].join(", ");
    let cables = reader.tables(
        "failed_cables",
        &format!("[{{ node = [{origin}], direction = \"+x\" }}]"),
        "Cables out of service in both directions, each named by one of its ends.",
        |reader| {
            let node = reader.required("node", &node, "One end.");
            let doc = "The cable's direction from there.";
            let direction = reader.required("direction", &DirectionName { torus }, doc);
            Some((node?, direction?))
        },
    );
    let nodes = List { kind: node, noun: "nodes", length: 0..=usize::MAX, example: None };
    let doc = "Nodes out of service, with all their cables: they neither send nor forward.";
    let nodes = reader.value("failed_nodes", &nodes, Vec::new(), doc);
    let inside = node_set(reader, torus);
    if let Some(torus) = torus {
        report_repeated(reader, "failed_nodes", &nodes, "node", |&at| torus.node_name(at));
        check_cables(reader, torus, &cables);
    }
    let nodes = Listed::values(nodes);
    let outside = match (torus, inside) {
        (Some(torus), Some(inside)) => (0..torus.nodes())
            .filter(|node| inside.binary_search(node).is_err() && !nodes.contains(node))
            .collect(),
        _ => Vec::new(),
    };
    Faults { cables: cables.into_iter().map(|(_, cable)| cable).collect(), nodes, outside }
}

/// The nodes of the node set, ascending; `None` for all.
fn node_set(reader: &mut Reader<'_>, torus: Option<&Torus>) -> Option<Vec<u32>> {
    let doc = "The nodes that take part, as a job's allocation does. The others neither send nor \
              forward. Load 1 stays that of the whole torus.";
    let choice = Choice::usual("node_set", "node set", "all", doc);
    let all = plain("all", None, "every node that has not failed.");
    let doc = "a box of nodes; it may go round where a dimension closes into rings.";
    let part = with_keys("box", doc, |reader: &mut Reader<'_>| {
        let corner =
            reader.required("corner", &NodeName::of_torus(torus), "The node with which it begins.");
        let sizes = List {
            kind: Whole { range: 1..=1024 },
            noun: "sizes",
            length: torus
                .map_or(1..=MAXIMUM_DIMENSIONS, |torus| torus.dimensions()..=torus.dimensions()),
            example: Some("[2, 1, 1]"),
        };
        let sizes = reader.required("size", &sizes, "Nodes along each dimension.");
        let (corner, sizes, torus) = (corner?, Listed::values(sizes?), torus?);
        match torus.part(corner, &sizes.into_iter().map(narrow).collect::<Vec<_>>()) {
            Some(nodes) => Some(Some(nodes)),
            None => {
                if let Some(place) = reader.place("size") {
                    let problem = Diagnostic::new(&place, "the box reaches beyond the torus")
                        .label(format!("the torus is {}", sizes_text(torus.sizes())));
                    reader.problems.push(problem);
                }
                None
            }
        }
    });
    let list = with_keys("list", "these nodes.", |reader: &mut Reader<'_>| {
        let kind = NodeName::of_torus(torus);
        let example = Some("[[0, 0, 0], [1, 0, 0]]");
        let kind = List { kind, noun: "nodes", length: 2..=usize::MAX, example };
        let nodes = reader.required("members", &kind, "The nodes.")?;
        if let Some(torus) = torus {
            report_repeated(reader, "members", &nodes, "node", |&at| torus.node_name(at));
        }
        let mut nodes = Listed::values(nodes);
        nodes.sort_unstable();
        Some(Some(nodes))
    });
    reader.choice(&choice, vec![all, part, list]).flatten()
}

/// Every cable exists and is named once, from whichever end.
fn check_cables(reader: &mut Reader<'_>, torus: &Torus, cables: &[(Location, (u32, u32))]) {
    let mut seen: Vec<(u32, u32)> = Vec::new();
    for (place, (node, direction)) in cables {
        let name = |node: u32, direction: u32| {
            format!("{} {}", torus.node_name(node), torus.direction_name(direction))
        };
        let Some(other) = torus.neighbor(*node, *direction) else {
            let dimension = torus.dimension(*direction);
            let why = match torus.sizes()[dimension] {
                1 => "a dimension of size 1 has no cables",
                2 if !torus.open(dimension) => "a dimension of size 2 has one cable, not two",
                _ => "the dimension is open, and the node is at its edge",
            };
            reader.problems.push(
                Diagnostic::new(
                    place,
                    format!(
                        "node {} has no cable in direction {}",
                        torus.node_name(*node),
                        torus.direction_name(*direction)
                    ),
                )
                .label(why),
            );
            reader.mark_broken("failed_cables");
            continue;
        };
        let back = (other, torus.opposite(*direction));
        if seen.contains(&(*node, *direction)) || seen.contains(&back) {
            let label = if seen.contains(&(*node, *direction)) {
                "the second time".into()
            } else {
                format!("the other end of {}", name(back.0, back.1))
            };
            reader.problems.push(
                Diagnostic::new(
                    place,
                    format!("the cable {} has failed already", name(*node, *direction)),
                )
                .label(label)
                .help("name each cable once, by either of its ends"),
            );
            reader.mark_broken("failed_cables");
        }
        seen.push((*node, *direction));
    }
}
