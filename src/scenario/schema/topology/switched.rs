//! Fabrics of switches that are built by rule, a table each.

use std::sync::Arc;

use crate::{
    document::{Count, Diagnostic, LARGEST, List, Listed, Reader, Variant, Whole, with_keys},
    narrow::narrow,
    scenario::{
        TopologySpec,
        topology::{Plan, SwitchedSpec},
    },
    topology::{
        MAXIMUM_DIMENSIONS,
        builders::{
            Builder, Cascade, DirectorTree, Dragonfly, HyperX, Kautz, RandomRegular, SlimFly,
            SwitchedTorus, Tree,
        },
    },
};

use super::failures;

/// Terminals of a switch.
const TERMINALS: Whole = Whole { range: 0..=1 << 20 };

type Read = fn(&mut Sizes<'_, '_>) -> Option<Builder>;

pub(super) fn variants<'v, 'd>(seed: u64) -> Vec<Variant<'v, 'd, TopologySpec>> {
    let variant = |name: &'static str, doc: &'static str, sizes: Read| {
        with_keys(name, doc, move |reader: &mut Reader<'d>| {
            let read = sizes(&mut Sizes { reader, seed });
            finish(reader, read, seed)
        })
    };
    vec![
        variant(
            "random_regular",
            "A random graph in which every switch has as many cables (Jellyfish).",
            random_regular,
        )
        .known_as([("jellyfish", "")]),
        variant(
            "switched_torus",
            "A torus of switches, with several terminals a switch and several cables between neighbours. \
             Two switches along a dimension have the cables once, not twice.",
            switched_torus,
        ),
        variant("tree", "A k-ary n-tree: a fat tree of levels that are alike.", tree)
            .known_as([("fattree", ""), ("k_ary_n_tree", "")]),
        variant("kautz", "A Kautz graph, each of its arcs a cable.", kautz),
        variant(
            "dragonfly",
            "A dragonfly: groups whose switches are all joined with each other, and cables between any two \
             groups.",
            dragonfly,
        ),
        variant(
            "cascade",
            "A Cray Cascade: groups of switches in rows and columns, joined along both.",
            cascade,
        ),
        variant(
            "director_tree",
            "A fat tree of edge switches under director switches, each of which is a fat tree itself; by \
             default that of Tsubame2.5.",
            director_tree,
        ),
        variant(
            "hyperx",
            "A HyperX: along each dimension all switches are joined with each other.",
            hyperx,
        )
        .known_as([("flattened_butterfly", ""), ("hamming", "")]),
        variant(
            "slim_fly",
            "A Slim Fly: no switch is farther than two hops from another.",
            slim_fly,
        ),
    ]
}

/// The fabric of a builder, and what has failed in it.
fn finish(reader: &mut Reader<'_>, read: Option<Builder>, seed: u64) -> Option<TopologySpec> {
    let built = read.and_then(|builder| {
        let fabric = builder.cabling().and_then(crate::topology::Cabling::fabric);
        match fabric {
            Ok(fabric) => Some((builder, fabric)),
            Err(error) => {
                if let Some(place) = reader.scope.place.clone() {
                    let mut problem = Diagnostic::new(&place, error.to_string());
                    problem.help = error.help();
                    reader.problems.push(problem);
                }
                None
            }
        }
    });
    let failures = failures::read(reader, built.as_ref().map(|(_, fabric)| fabric), seed);
    let (builder, whole) = built?;
    let plan = Plan::Built(builder);
    Some(TopologySpec::Switched(Arc::new(SwitchedSpec { plan, failures, whole })))
}

/// Reads sizes.
struct Sizes<'r, 'd> {
    reader: &'r mut Reader<'d>,
    /// The scenario's.
    seed: u64,
}

impl Sizes<'_, '_> {
    fn required(&mut self, key: &'static str, example: u64, doc: &'static str) -> Option<u32> {
        self.reader.required(key, &Count { example }, doc)
    }

    fn value(&mut self, key: &'static str, default: u32, doc: &'static str) -> u32 {
        self.reader.value(key, &Count { example: default.into() }, default, doc)
    }

    /// Terminals of each switch.
    fn terminals(&mut self, default: u32) -> u32 {
        let doc = "Terminals of each switch.";
        narrow(self.reader.value("terminals", &TERMINALS, default.into(), doc))
    }

    fn redundancy(&mut self, doc: &'static str) -> u32 {
        self.value("redundancy", 1, doc)
    }

    fn dimensions(&mut self) -> Option<Vec<u32>> {
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

fn random_regular(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let routers = sizes.required("switches", 32, "How many switches there are.");
    let degree = sizes.required("degree", 6, "Cables of each switch to others.");
    let terminals = sizes.terminals(1);
    let seed = sizes.reader.value_from(
        "seed",
        &Whole { range: 0..=LARGEST },
        sizes.seed,
        "the scenario's seed",
        "What decides which switches are joined.",
    );
    let (routers, degree) = (routers?, degree?);
    Some(Builder::RandomRegular(RandomRegular { routers, degree, terminals, seed }))
}

fn switched_torus(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let dimensions = sizes.dimensions();
    let terminals = sizes.terminals(1);
    let redundancy = sizes.redundancy("Cables between neighbours.");
    Some(Builder::SwitchedTorus(SwitchedTorus { sizes: dimensions?, terminals, redundancy }))
}

fn tree(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let arity = sizes.required("arity", 4, "Cables of a switch to each neighbouring level, k.");
    let levels = sizes.required("levels", 3, "Levels of switches, n.");
    let terminals = narrow(sizes.reader.value_from(
        "terminals",
        &TERMINALS,
        arity.unwrap_or(1).into(),
        "as arity",
        "Terminals of each switch of the lowest level.",
    ));
    Some(Builder::Tree(Tree { arity: arity?, levels: levels?, terminals }))
}

fn kautz(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let degree =
        sizes.required("degree", 3, "Arcs that leave a switch; it has twice as many neighbours.");
    let length =
        sizes.required("length", 3, "Letters of a word, which bounds the hops from any switch.");
    let terminals = sizes.terminals(1);
    let redundancy = sizes.redundancy("Cables for each arc.");
    Some(Builder::Kautz(Kautz { degree: degree?, length: length?, terminals, redundancy }))
}

fn dragonfly(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let groups = sizes.required("groups", 9, "Groups, g.");
    let routers = sizes.required("group_size", 4, "Switches of a group, a.");
    let global = sizes.required(
        "global_cables",
        2,
        "Ports of each switch for cables to other groups, h; some are left over if a h is no multiple of \
         g - 1.",
    );
    let terminals = narrow(sizes.reader.value_from(
        "terminals",
        &TERMINALS,
        global.unwrap_or(1).into(),
        "as global_cables",
        "Terminals of each switch, p.",
    ));
    let (groups, routers, global) = (groups?, routers?, global?);
    Some(Builder::Dragonfly(Dragonfly { routers, terminals, global, groups }))
}

fn cascade(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let usual = Cascade::default();
    Some(Builder::Cascade(Cascade {
        groups: sizes.value("groups", usual.groups, "Groups."),
        columns: sizes.value(
            "columns",
            usual.columns,
            "Switches of a row, joined by one cable each.",
        ),
        rows: sizes.value("rows", usual.rows, "Switches of a column."),
        column_cables: sizes.value(
            "column_cables",
            usual.column_cables,
            "Cables between two switches of a column.",
        ),
        global: sizes.value("global_cables", usual.global, "Cables between two groups."),
        terminals: sizes.terminals(usual.terminals),
    }))
}

fn director_tree(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let usual = DirectorTree::default();
    Some(Builder::DirectorTree(DirectorTree {
        edges: sizes.value("edge_switches", usual.edges, "Edge switches."),
        directors: sizes.value("directors", usual.directors, "Director switches."),
        line_chips: sizes.value("line_chips", usual.line_chips, "Line chips of a director."),
        fabric_chips: sizes.value(
            "fabric_chips",
            usual.fabric_chips,
            "Fabric chips of a director.",
        ),
        inner_cables: sizes.value(
            "inner_cables",
            usual.inner_cables,
            "Cables between a line chip and a fabric chip.",
        ),
        uplinks: sizes.value(
            "uplinks",
            usual.uplinks,
            "Cables from edge switches to line chips, all together.",
        ),
        terminals: sizes.value(
            "all_terminals",
            usual.terminals,
            "Terminals, all together; edge switches have as many each, or one more.",
        ),
    }))
}

fn hyperx(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let dimensions = sizes.dimensions();
    let terminals = sizes.terminals(1);
    let redundancy = sizes.redundancy("Cables between two switches of a dimension.");
    Some(Builder::HyperX(HyperX { sizes: dimensions?, redundancy, terminals }))
}

fn slim_fly(sizes: &mut Sizes<'_, '_>) -> Option<Builder> {
    let prime = sizes.required("prime", 5, "The prime q from 5 on; there are 2 q^2 switches.");
    let terminals = sizes.terminals(1);
    Some(Builder::SlimFly(SlimFly { prime: prime?, terminals }))
}
