//! The features of scenarios, as small pieces of TOML by axis: a scenario takes at most one of each
//! axis, and what no piece says stays as it is by default.
//!
//! A key may belong to one of several tables: `{traffic|exchange}.message` is a key of the workload
//! that the scenario has. Which tables a piece can stand beside follows from its keys.

/// Groups of tables of which a scenario has one each: topologies, routings, workloads; and kinds of
/// routers. The first of each is the one that a scenario has if no piece says otherwise.
pub const TABLES: [&[&str]; 4] = [
    &[
        "torus",
        "random_regular",
        "irregular",
        "switched_torus",
        "tree",
        "xgft",
        "kautz",
        "dragonfly",
        "dragonfly_plus",
        "cascade",
        "director_tree",
        "hyperx",
        "slim_fly",
        "polarfly",
        "switch",
        "netlist",
    ],
    &[
        "direction_order",
        "agnostic",
        "relation",
        "adaptive",
        "pick_orthant",
        "outflank",
        "two_phase",
        "angara",
        "file",
        "opensm",
    ],
    &["traffic", "exchange", "remote_memory", "collective", "application", "flows"],
    &["packets", "flits", "outputs"],
];

/// Topologies whose switches are in groups.
pub const OF_GROUPS: [&str; 3] = ["dragonfly", "dragonfly_plus", "cascade"];

/// Topologies whose routers have coordinates.
pub const OF_COORDINATES: [&str; 3] = ["torus", "switched_torus", "hyperx"];

/// How often a scenario that is drawn has a feature of an axis, as a weight beside the others'.
pub const WEIGHTS: &[(&str, u32)] = &[
    ("routing", 60),
    ("pattern", 30),
    ("beside", 25),
    ("selection", 20),
    ("failures", 20),
    ("fabric", 15),
    ("third", 10),
    ("apart", 10),
    ("schedule", 10),
    ("lanes", 8),
    ("many lanes", 8),
    ("preference", 10),
    ("ties", 6),
    ("services", 10),
    ("slowdowns", 8),
    ("nodes", 8),
    ("arbitration", 8),
    ("switching", 6),
    ("output buffer", 8),
    ("sharing: output buffer", 8),
    ("speed-up", 5),
    ("interruption", 4),
    ("operation", 5),
];

/// What each table is begun with, where a scenario has it.
pub const BASES: &[(&str, &[&str])] = &[
    ("torus", &["topology.torus.dimensions = [4, 4]"]),
    (
        "random_regular",
        &[
            "topology.random_regular.switches = 8",
            "topology.random_regular.degree = 3",
            "topology.random_regular.terminals = 2",
        ],
    ),
    (
        "irregular",
        &[
            "topology.irregular.switches = 8",
            "topology.irregular.links = 3",
            "topology.irregular.terminals = 2",
        ],
    ),
    (
        "switched_torus",
        &["topology.switched_torus.dimensions = [4, 2]", "topology.switched_torus.terminals = 2"],
    ),
    ("tree", &["topology.tree.arity = 2", "topology.tree.levels = 3"]),
    ("xgft", &["topology.xgft.down = [2, 2, 4]", "topology.xgft.up = [1, 2, 2]"]),
    (
        "kautz",
        &["topology.kautz.degree = 2", "topology.kautz.length = 2", "topology.kautz.terminals = 2"],
    ),
    (
        "dragonfly",
        &[
            "topology.dragonfly.groups = 4",
            "topology.dragonfly.group_size = 2",
            "topology.dragonfly.global_cables = 2",
        ],
    ),
    (
        "dragonfly_plus",
        &[
            "topology.dragonfly_plus.groups = 4",
            "topology.dragonfly_plus.leaves = 2",
            "topology.dragonfly_plus.spines = 2",
            "topology.dragonfly_plus.global_cables = 2",
        ],
    ),
    (
        "cascade",
        &[
            "topology.cascade.columns = 2",
            "topology.cascade.rows = 2",
            "topology.cascade.global_cables = 4",
            "topology.cascade.terminals = 2",
        ],
    ),
    (
        "director_tree",
        &[
            "topology.director_tree.edge_switches = 4",
            "topology.director_tree.directors = 2",
            "topology.director_tree.line_chips = 2",
            "topology.director_tree.fabric_chips = 2",
            "topology.director_tree.uplinks = 8",
            "topology.director_tree.all_terminals = 16",
        ],
    ),
    ("hyperx", &["topology.hyperx.dimensions = [4, 2]", "topology.hyperx.terminals = 2"]),
    ("slim_fly", &["topology.slim_fly.prime = 5"]),
    ("polarfly", &["topology.polarfly.prime = 3"]),
    ("switch", &["topology.switch.terminals = 16"]),
    ("netlist", &["topology.netlist.path = \"../../fabrics/torus4x4.net\""]),
    ("agnostic", &["routing.agnostic.algorithm = \"nue\""]),
    ("file", &["routing.file.path = \"torus4x4.routes\""]),
    ("flows", &["flows.file = \"../../right/flows.csv\""]),
    (
        "traffic",
        &[
            "traffic.pattern = \"uniform\"",
            "measure.window = \"3 us\"",
            "measure.warm_up_windows = 3",
            "measure.minimum_windows = 3",
            "measure.maximum_windows = 5",
        ],
    ),
    ("exchange", &["exchange.pattern = \"all-to-all\"", "exchange.message = \"256 B\""]),
    (
        "remote_memory",
        &[
            "remote_memory.operation = \"put\"",
            "remote_memory.pattern = \"all-to-all\"",
            "remote_memory.operations = 4",
        ],
    ),
    ("collective", &["collective.operation = \"all-reduce\"", "collective.rounds = 3"]),
    ("application", &["application.schedule = { all-reduce = { ranks = 8, bytes = \"4 KiB\" } }"]),
    ("flits", &["link.sharing.flit.iterations = 1"]),
    ("outputs", &["router.output_buffer = \"300 flits\""]),
];

/// One feature.
#[derive(Clone, Debug)]
pub struct Piece {
    pub axis: &'static str,
    /// `key = value` each.
    pub lines: Vec<&'static str>,
    /// What it needs beside, unless another piece says something else about it.
    pub with: Vec<&'static str>,
    /// By group of tables: those beside which it can stand, a bit each.
    pub tables: [u32; 4],
    /// Axes and tables beside which it is refused, or means nothing: they meet in scenarios of the
    /// plan, and rarely in those that are drawn.
    pub rarely: Vec<&'static str>,
    /// How often it is drawn, as a weight among the pieces of its axis.
    pub weight: u32,
}

impl Piece {
    pub fn new(axis: &'static str, text: &'static str) -> Self {
        let lines: Vec<&str> = text.split('\n').map(str::trim).collect();
        let mut tables = TABLES.map(|group| (1 << group.len()) - 1);
        for name in lines.iter().filter_map(|line| named(line)) {
            if name == "{switched}" {
                tables[0] &= !1;
                continue;
            }
            let alternatives = name.trim_matches(['{', '}']).split('|');
            restrict(&mut tables, &alternatives.collect::<Vec<_>>());
        }
        Self { axis, lines, with: Vec::new(), tables, rarely: Vec::new(), weight: 1 }
    }

    pub fn with(mut self, text: &'static str) -> Self {
        self.with.extend(text.split('\n').map(str::trim));
        self
    }

    /// Only beside these tables of a group.
    pub fn among(mut self, names: &[&str]) -> Self {
        restrict(&mut self.tables, names);
        self
    }

    /// Seldom beside these axes and tables.
    pub fn rarely(mut self, names: &[&'static str]) -> Self {
        self.rarely.extend(names);
        self
    }

    /// Drawn so many times as often as others of its axis.
    pub fn often(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// What it is called in counts.
    pub fn name(&self) -> String {
        format!("{}: {}", self.axis, self.lines.join("; "))
    }

    /// Whether a scenario can have both.
    pub fn stands_beside(&self, other: &Self) -> bool {
        let both = self.tables.iter().zip(other.tables).map(|(one, other)| one & other);
        let says = |line: &str| other.lines.iter().any(|it| key(it) == key(line));
        self.axis != other.axis
            && !self.lines.iter().any(|line| says(line))
            && possible(&both.collect::<Vec<_>>())
    }
}

/// Whether one of two pieces is refused beside the other, or means nothing there.
pub fn seldom(one: &Piece, other: &Piece) -> bool {
    let by = |one: &Piece, other: &Piece| {
        let table = (0..TABLES.len()).any(|group| {
            let rare = bits(group, &one.rarely);
            rare != 0 && other.tables[group] & !rare == 0
        });
        one.rarely.contains(&other.axis) || table
    };
    by(one, other) || by(other, one)
}

/// Whether there is a table of each group left, and the routing is one that the fabrics know.
pub fn possible(tables: &[u32]) -> bool {
    let [topologies, routings] = [tables[0], tables[1]];
    let (of_any, of_netlists) = (bits(1, &["agnostic", "relation"]), bits(1, &["opensm"]));
    tables.iter().all(|&left| left != 0)
        && (routings & of_any != 0
            || routings & of_netlists != 0 && known(topologies, "opensm") != 0
            || routings & !(of_any | of_netlists) != 0 && topologies & 1 != 0)
}

/// The topologies of these on which a routing is known.
pub fn known(topologies: u32, routing: &str) -> u32 {
    match routing {
        "agnostic" | "relation" => topologies,
        "opensm" => topologies & bits(0, &["netlist"]),
        _ => topologies & 1,
    }
}

/// The bits of names in a group of tables.
pub fn bits(group: usize, names: &[&str]) -> u32 {
    let places = TABLES[group].iter().enumerate().filter(|(_, name)| names.contains(name));
    places.fold(0, |bits, (place, _)| bits | 1 << place)
}

fn restrict(tables: &mut [u32; 4], names: &[&str]) {
    let group = (0..TABLES.len()).find(|&group| bits(group, names) != 0);
    if let Some(group) = group {
        tables[group] &= bits(group, names);
    }
}

pub fn key(line: &str) -> &str {
    line.split(" = ").next().expect("a key")
}

/// The table of a group that a line names, or the choice of them.
fn named(line: &'static str) -> Option<&'static str> {
    match key(line) {
        "router.output_buffer" => return Some("outputs"),
        key if key.starts_with("link.sharing.flit") => return Some("flits"),
        _ => {}
    }
    let mut parts = key(line).split('.');
    let first = parts.next().expect("a table");
    match first {
        "topology" | "routing" => parts.next(),
        _ => Some(first),
    }
}

/// One of each that a scenario can name on an axis.
pub fn each(axis: &'static str, texts: &[&'static str]) -> impl Iterator<Item = Piece> {
    texts.iter().map(move |text| Piece::new(axis, text)).collect::<Vec<_>>().into_iter()
}

/// All pieces.
pub fn pieces() -> Vec<Piece> {
    let mut all = Vec::new();
    fabrics(&mut all);
    routings(&mut all);
    links(&mut all);
    routers(&mut all);
    super::workloads::add(&mut all);
    all.into_iter()
        .map(|piece| {
            let only = |group, names: &[&str]| piece.tables[group] & !bits(group, names) == 0;
            let chooses = only(1, &["adaptive", "pick_orthant", "outflank", "two_phase"]);
            let of_trees = only(2, &["collective"]);
            let piece = if chooses { piece.rarely(&["outputs"]) } else { piece };
            if of_trees {
                piece.rarely(&["outputs", "agnostic", "relation", "opensm"])
            } else {
                piece
            }
        })
        .collect()
}

fn fabrics(all: &mut Vec<Piece>) {
    let tori = [
        "topology.torus.dimensions = [8]",
        "topology.torus.dimensions = [5, 3]",
        "topology.torus.dimensions = [3, 2, 4]",
        "topology.torus.dimensions = [2, 2, 2, 2]",
        "topology.torus.dimensions = [4, 4]\ntopology.torus.open = [\"x\", \"y\"]",
        "topology.torus.dimensions = [4, 4]\ntopology.torus.open = [\"y\"]",
    ];
    all.extend(each("fabric", &tori));
    let switched = [
        "topology.random_regular.switches = 10",
        "topology.irregular.switches = 9",
        "topology.switched_torus.dimensions = [3, 3]",
        "topology.switched_torus.dimensions = [4, 2]\ntopology.switched_torus.redundancy = 2",
        "topology.tree.arity = 2",
        "topology.xgft.down = [3, 4]\ntopology.xgft.up = [1, 2]",
        "topology.kautz.redundancy = 2",
        "topology.dragonfly.groups = 5",
        "topology.dragonfly.cabling = \"absolute\"\ntopology.dragonfly.groups = 3\n\
         topology.dragonfly.cables_between = 1",
        "topology.dragonfly_plus.groups = 3",
        "topology.dragonfly_plus.cabling = \"palm-tree\"",
        "topology.cascade.columns = 2",
        "topology.director_tree.edge_switches = 4",
        "topology.hyperx.dimensions = [3, 3]",
        "topology.slim_fly.prime = 5",
        "topology.polarfly.prime = 5",
        "topology.switch.terminals = 9",
        "topology.netlist.path = \"../../fabrics/updn24.net\"",
    ];
    all.extend(each("fabric", &switched));
    let cables = [
        "topology.{dragonfly|dragonfly_plus}.rates.local = \"32 Gb/s\"\n\
         topology.{dragonfly|dragonfly_plus}.rates.global = \"8 Gb/s\"",
        "topology.{dragonfly|dragonfly_plus}.latencies.local = \"60 ns\"\n\
         topology.{dragonfly|dragonfly_plus}.latencies.global = \"700 ns\"",
        "topology.{tree|hyperx|switched_torus}.rates = [\"16 Gb/s\", \"32 Gb/s\"]",
        "topology.{tree|hyperx|switched_torus}.latencies = [\"150 ns\", \"40 ns\"]",
    ];
    all.extend(each("cables", &cables));
    let sets = [
        "topology.torus.node_set = { box = { corner = [0, 0], size = [3, 2] } }",
        "topology.torus.node_set = { list = { members = [0, 1, 2, 3, 4, 5, 6] } }",
    ];
    let around = "routing.angara.relaxation = true";
    all.extend(each("node set", &sets).map(|piece| piece.with(around)));
    let failures = [
        "topology.torus.failed_cables = [{ node = 0, direction = \"+x\" }]",
        "topology.torus.failed_nodes = [3]",
        "topology.torus.failed_cables = [{ node = 1, direction = \"-x\" }, { node = 4, direction = \"+x\" }]",
    ];
    all.extend(each("failures", &failures).map(|piece| piece.with(around)));
    let switched = [
        "topology.{switched}.failed_cables = [{ switch = 1, port = 1 }]",
        "topology.{switched}.failed_switches = [2]",
        "topology.{switched}.failed_cables = [{ switch = 0, port = 1 }, { switch = 2, port = 1 }]",
        "topology.{switched}.random_failures = { cables = 1, seed = 3 }",
        "topology.{switched}.random_failures = { cables = 2, seed = 5 }",
        "topology.{switched}.random_failures = { cables = \"12%\" }",
        "topology.{switched}.random_failures = { switches = 1, seed = 2 }",
        "topology.{switched}.random_failures = { cables = 1, switches = 1 }",
    ];
    all.extend(each("failures", &switched));
    let interruptions = [
        "interruption.time = \"6 us\"\ninterruption.new_tables_after = \"2 us\"\n\
         interruption.random_failures = { cables = 1 }",
        "interruption.time = \"5 us\"\ninterruption.new_tables_after = \"1 ps\"\n\
         interruption.random_failures = { switches = 1 }",
        "interruption.time = \"5 us\"\ninterruption.new_tables_after = \"1 us\"\n\
         interruption.random_failures = { cables = 2, switches = 1 }",
        "interruption.time = \"6 us\"\ninterruption.new_tables_after = \"1 us\"\n\
         interruption.new_tables = \"concerned\"\ninterruption.destination_time = \"10 ns\"\n\
         interruption.block_time = \"20 ns\"\ninterruption.random_failures = { cables = 1 }",
        "interruption.time = \"5 us\"\ninterruption.new_tables_after = \"1 us\"\n\
         interruption.random_failures = { cables = 1 }\n\
         interruption.further_failures = [{ time = \"5500 ns\", random_failures = { cables = 1 } }, \
         { time = \"8 us\", new_tables_after = \"500 ns\", random_failures = { switches = 1 } }]",
        "interruption.time = \"5 us\"\ninterruption.new_tables_after = \"1 us\"\n\
         interruption.new_tables = \"concerned\"\ninterruption.random_failures = { cables = 1 }\n\
         interruption.further_failures = [{ time = \"7 us\", random_failures = { cables = 1 } }]",
    ];
    for interruption in interruptions {
        let piece = Piece::new("interruption", interruption);
        all.push(
            piece.among(&["traffic"]).rarely(&["outputs", "beside", "third", "read", "nodes"]),
        );
    }
}

fn routings(all: &mut Vec<Piece>) {
    let on_tori = [
        "routing.direction_order.half_ring = \"plus\"",
        "routing.direction_order.half_ring = \"random\"",
        "routing.direction_order.dateline = true",
        "routing.angara.algorithm = \"balanced\"",
        "routing.angara.algorithm = \"sssp\"",
        "routing.angara = { algorithm = \"sssp\", sssp_unique = \"paths\", sssp_ties = \"reached\" }",
        "routing.angara.algorithm = \"bfs\"",
        "routing.angara.algorithm = \"genetic\"",
        "routing.angara.algorithm = \"exact\"",
        "routing.angara.algorithm = \"sgr\"",
        "routing.angara.algorithm = \"traffic-balancing\"",
        "routing.angara.algorithm = \"direction-order\"",
        "routing.angara.first_and_last_steps = false",
        "routing.angara.relaxation = false",
        "routing.adaptive = {}",
        "routing.pick_orthant.rule = \"profit\"",
        "routing.pick_orthant.rule = \"goal\"",
        "routing.pick_orthant.rule = \"cqr\"",
        "routing.outflank.steps = 1",
        "routing.outflank.steps_percent = 50",
        "routing.outflank.full_weight_factor = 0.3",
        "routing.two_phase.rule = \"valiant\"",
        "routing.two_phase.rule = \"romm\"",
        "routing.two_phase.rule = \"rlb\"",
    ];
    all.extend(each("routing", &on_tori).map(|piece| piece.among(&["torus"])));
    let order = "routing.direction_order.order = [\"+y\", \"-x\", \"-y\", \"+x\"]";
    all.push(Piece::new("routing", order).among(&["torus"]));
    let file = Piece::new("routing", "routing.file.path = \"torus4x4.routes\"").among(&["torus"]);
    all.push(file.rarely(&["fabric", "failures", "node set"]));
    let of_any = [
        "routing.agnostic.algorithm = \"min-hop\"",
        "routing.agnostic.algorithm = \"up-down\"",
        "routing.agnostic.algorithm = \"udwm\"",
        "routing.agnostic.algorithm = \"left-right\"",
        "routing.agnostic.algorithm = \"sssp\"",
        "routing.agnostic.algorithm = \"p2-sssp\"",
        "routing.agnostic.algorithm = \"dfsssp\"",
        "routing.agnostic.algorithm = \"dfsssp-fewest\"",
        "routing.agnostic.algorithm = \"dfsssp-opensm\"",
        "routing.agnostic.algorithm = \"dfsssp-balanced\"",
        "routing.agnostic.algorithm = \"lash\"",
        "routing.agnostic.algorithm = \"lash-tor\"",
        "routing.agnostic.algorithm = \"mud\"",
        "routing.agnostic.algorithm = \"segments\"",
        "routing.agnostic.algorithm = \"smart\"",
        "routing.agnostic.algorithm = \"nue\"",
        "routing.agnostic.algorithm = \"nue-balanced\"",
        "routing.agnostic.algorithm = \"nue-spread\"",
        "routing.agnostic.partition = \"in-turn\"",
        "routing.relation.rule = \"up-down\"",
        "routing.relation.rule = \"udwm\"",
        "routing.relation.rule = \"left-right\"",
        "routing.relation.rule = \"minimal-up-down\"",
        "routing.relation.rule = \"minimal-nue\"",
        "routing.relation.rule = \"two-orders\"",
        "routing.relation.rule = \"parted\"",
        "routing.relation.rule = \"bubble-colouring\"",
        "routing.relation.rule = \"auto\"",
        "routing.relation.rule = \"minimal\"\nrouting.relation.unproved = true",
    ];
    all.extend(each("routing", &of_any).map(|piece| {
        let falls_back = ["minimal-", "bubble-colouring"];
        let falls_back = falls_back.iter().any(|name| piece.lines[0].contains(name));
        if falls_back { piece.rarely(&["selection"]) } else { piece }
    }));
    let in_order = "routing.agnostic.algorithm = \"dimension-order\"";
    all.push(Piece::new("routing", in_order).among(&["torus", "switched_torus", "hyperx"]));
    let meshes = "topology.torus.open = [\"x\", \"y\"]\nrouting.relation.rule = \"negative-first\"";
    all.push(Piece::new("routing", meshes).among(&["torus"]));
    let datelines = "routing.agnostic.algorithm = \"torus-2qos\"";
    all.push(Piece::new("routing", datelines).among(&["torus", "switched_torus"]));
    let of_trees = "routing.agnostic.algorithm = \"d-mod-k\"";
    all.push(Piece::new("routing", of_trees).among(&["tree", "xgft"]));
    phased(all);
    let dumps = [
        "topology.netlist.path = \"../../fabrics/ring5.net\"\n\
         routing.opensm.tables = \"../../fabrics/ring5-safe.lfts\"",
        "topology.netlist.path = \"../../fabrics/ring5.net\"\n\
         routing.opensm.tables = \"../../fabrics/ring5-safe.lfts\"\n\
         routing.opensm.paths = \"../../fabrics/ring5.paths\"\n\
         routing.opensm.map = \"../../fabrics/ring5.sl2vl\"",
    ];
    all.extend(each("routing", &dumps));
    let selections = [
        "routing.{adaptive|pick_orthant|outflank|two_phase}.selection = \"first\"",
        "routing.{adaptive|pick_orthant|outflank|two_phase}.selection = \"straight\"",
        "routing.{adaptive|pick_orthant|outflank|two_phase}.selection = \"random\"",
        "routing.{adaptive|pick_orthant|outflank|two_phase}.selection = \"lru\"",
        "routing.relation.selection = { random = { paths = 3, choice = \"round-robin\" } }",
        "routing.relation.selection = { random = { paths = 3, choice = \"hash\" } }",
        "routing.relation.selection = \"random\"",
        "routing.relation.selection = \"random-port-order\"",
        "routing.relation.selection = \"low-port\"",
        "routing.relation.selection = \"by-destination\"",
        "routing.relation.selection = \"traffic-balancing\"",
        "routing.relation.selection = \"high-physical\"",
        "routing.relation.selection = \"low-virtual\"",
        "routing.relation.selection = \"low-physical\"",
        "routing.relation.selection = \"balanced\"",
    ];
    let choosing = ["ties", "preference", "injection bubble", "injection lanes", "services"];
    all.extend(each("selection", &selections).map(|piece| {
        let whole = piece.lines[0].starts_with("routing.relation");
        if whole { piece.rarely(&choosing) } else { piece }
    }));
    let ties = [
        "routing.{adaptive|pick_orthant|outflank|two_phase}.tie = \"plus\"",
        "routing.{adaptive|pick_orthant|outflank|two_phase}.tie = \"random\"",
        "routing.relation.ties = \"random\"",
        "routing.relation.ties = \"first\"",
    ];
    all.extend(each("ties", &ties));
    let preferences = [
        "routing.relation.preference = \"random\"",
        "routing.relation.preference = \"least-queued\"",
        "routing.relation.preference = \"lru\"",
        "routing.relation.preference = \"mmlru\"",
    ];
    all.extend(each("preference", &preferences));
    let throttles = [
        "routing.{adaptive|pick_orthant|outflank|two_phase|relation}.injection_bubble = 1",
        "routing.{adaptive|pick_orthant|outflank|two_phase|relation}.injection_bubble = 3",
    ];
    all.extend(each("injection bubble", &throttles).map(|piece| piece.rarely(&["outputs"])));
    let escapes = [
        "routing.{adaptive|pick_orthant|outflank|two_phase}.escape = \"up-down\"",
        "routing.{adaptive|pick_orthant|outflank|two_phase}.escape = \"nue\"",
        "routing.{adaptive|pick_orthant|outflank|two_phase}.escape = \"dateline\"",
    ];
    all.extend(each("escape", &escapes));
    let channels =
        "routing.{adaptive|pick_orthant}.virtual_channels = { adaptive = 3, escape = 0 }";
    all.push(Piece::new("channels", channels));
    let vcs = [
        "routing.{agnostic|relation}.lanes = 1",
        "routing.{agnostic|relation}.lanes = 2",
        "routing.{agnostic|relation}.lanes = 3",
    ];
    all.extend(each("lanes", &vcs));
    let spreads =
        ["routing.agnostic.spread = \"by-destination\"", "routing.agnostic.spread = \"by-pair\""];
    all.extend(each("spread", &spreads));
    let many = [
        "routing.{agnostic|relation}.lanes = 6",
        "routing.{agnostic|relation}.lanes = 16\nrouter.virtual_channels = 16",
    ];
    all.extend(each("many lanes", &many).map(|piece| piece.rarely(&["lanes"])));
    let injected = ["routing.relation.injection_lanes = 1", "routing.relation.injection_lanes = 2"];
    all.extend(each("injection lanes", &injected));
    let trees = ["routing.relation.tree = \"depth-first\"", "routing.relation.root = 3"];
    all.extend(each("tree", &trees));
}

/// Axes that have nothing for rules with phases, or too few virtual channels.
const NOT_PHASED: [&str; 5] = ["selection", "tree", "services", "lanes", "interruption"];

/// The rules whose packets pass through phases: they choose their hops, and have no tree.
fn phased(all: &mut Vec<Piece>) {
    let mut rules = |texts: &[&'static str], topologies: &[&str]| {
        let pieces =
            each("routing", texts).map(|piece| piece.among(topologies).rarely(&NOT_PHASED));
        all.extend(pieces.map(|piece| {
            let again = piece.lines.iter().any(|line| line.contains("decides_again"));
            if again { piece.rarely(&["flits"]) } else { piece }
        }));
    };
    let of_any = [
        "routing.relation.rule = \"minimal-by-hop\"\nrouting.relation.unproved = true",
        "routing.relation.rule = \"valiant\"",
        "routing.relation.rule.valiant.via = \"router\"",
        "routing.relation.rule.valiant.via = \"router-or-end\"\nrouting.relation.unproved = true",
        "routing.relation.rule = \"ugal\"",
        "routing.relation.rule.ugal = { candidates = 2, equal = \"drawn\", threshold = 0 }\nrouting.relation.unproved = true",
        "routing.relation.rule.ugal = { weights = \"hops\", queues = \"vc\", minimal_channels = \"shared\" }",
        "routing.relation.rule.ugal = { weights = \"equal\", queues = \"vc-if-shared\", threshold = 7, via = \"router\" }",
        "routing.relation.rule.ugal.sees = \"way\"\nrouting.relation.unproved = true",
        "routing.relation.rule.ugal = { sees = \"way\", age = \"70 ns\", candidates = 3 }",
        "routing.relation.rule = \"ugal\"\nrouting.relation.decides_again = \"20 ns\"\nrouting.relation.unproved = true",
        "routing.relation.rule = \"ugal\"\nrouting.relation.decides_again = \"90 ns\"\n\
         routing.relation.decides_until = \"room\"\nrouter.output_buffer = \"300 flits\"",
        "routing.relation.rule = \"polarized\"\nrouting.relation.unproved = true",
        "routing.relation.rule.polarized.penalty = 5",
    ];
    rules(&of_any, TABLES[0]);
    let of_groups = [
        "routing.relation.rule = \"dragonfly-minimal\"\nrouting.relation.unproved = true",
        "routing.relation.rule.valiant.via = \"group\"",
        "routing.relation.rule.valiant.via = \"router-elsewhere\"",
        "routing.relation.rule.ugal = { sees = \"group\", via = \"group\" }",
        "routing.relation.rule = \"par\"",
        "routing.relation.rule.par = { weights = \"hops\", candidates = 3, via = \"router-elsewhere\" }",
        "routing.relation.rule.par = { sees = \"group\", threshold = 4, equal = \"drawn\" }",
        "routing.relation.rule.par.queues = \"vc-if-shared\"\nrouting.relation.decides_again = \"30 ns\"",
    ];
    rules(&of_groups, &OF_GROUPS);
    let held = "routing.relation.rule.ugal.credits = \"delayed\"\nrouting.relation.unproved = true\n\
                link.sharing.flit.output_buffer = 20";
    rules(&[held], &["dragonfly"]);
    let of_rows = [
        "routing.relation.rule.omniwar.weights = \"product\"\nrouting.relation.unproved = true",
        "routing.relation.rule.omniwar = { deroutes = 1, penalty = 5 }",
        "routing.relation.rule.omniwar.deroutes = 0\nrouting.relation.decides_again = \"40 ns\"",
        "routing.relation.rule = \"dimwar\"",
        "routing.relation.rule.dimwar = { channels = \"by-hop\", penalty = 8 }\nrouting.relation.unproved = true",
        "routing.relation.rule.dimwar.weights = \"product\"",
        "routing.relation.rule = \"hyperx-order\"",
        "routing.relation.rule.hyperx-order.order = \"adaptive\"\nrouting.relation.unproved = true",
        "routing.relation.rule.dal.penalty = 0",
        "routing.relation.rule.dal.weights = \"product\"",
    ];
    rules(&of_rows, &["hyperx"]);
    let of_trees = [
        "routing.relation.rule = \"nearest-ancestor\"",
        "routing.relation.rule.nearest-ancestor.up = \"random\"",
        "routing.relation.rule.nearest-ancestor.up = \"two\"",
        "routing.relation.rule.nearest-ancestor.up = \"hash\"",
    ];
    rules(&of_trees, &["tree"]);
}

fn links(all: &mut Vec<Piece>) {
    let errors = [
        "link.errors.bit_error_rate = 0.0",
        "link.errors.bit_error_rate = 3e-5",
        "link.errors.bit_error_rate = 1e-4",
        "link.errors.bursts = { interval = \"3 us\", length = \"30 ns\" }",
    ];
    all.extend(each("errors", &errors).map(|piece| piece.rarely(&["outputs"])));
    let err = "link.errors.bit_error_rate = 1e-5";
    all.push(
        Piece::new("errors: retry", "link.errors.retry = \"store\"").among(&["packets"]).with(err),
    );
    let mut of_errors = |axis, texts: &[&'static str]| {
        all.extend(each(axis, texts).map(|piece| piece.with(err).rarely(&["outputs"])));
    };
    of_errors("errors: resend", &["link.errors.resend = \"selective\""]);
    of_errors("errors: acknowledgements", &["link.errors.acknowledgements = \"free\""]);
    of_errors(
        "errors: numbers",
        &["link.errors.sequence_bits = 1", "link.errors.sequence_bits = 3"],
    );
    of_errors("errors: replay", &["link.errors.replay_buffer = \"80 flits\""]);
    of_errors("errors: time-out", &["link.errors.time_out = \"9 us\""]);
    let cables = "link.errors.cables = [{ switch = 0, port = 1 }]";
    all.push(Piece::new("errors: cables", cables).with(err).rarely(&["outputs"]));
    let sharing = [
        (
            "sharing: latencies",
            "link.sharing.flit.virtual_channel_allocation_latency = \"5 ns\"\n\
             link.sharing.flit.switch_allocation_latency = \"3 ns\"",
        ),
        ("sharing: allocation", "link.sharing.flit.virtual_channel_allocation = \"atomic\""),
        ("sharing: iterations", "link.sharing.flit.iterations = 3"),
        ("sharing: routing", "link.sharing.flit.routing = \"at-head\""),
        ("sharing: queues", "link.sharing.flit.queues = \"virtual-output\""),
        ("sharing: output buffer", "link.sharing.flit.output_buffer = 1"),
        ("sharing: output buffer", "link.sharing.flit.output_buffer = 20"),
        ("sharing: stall times", "link.sharing.flit.stall_times = true"),
    ];
    all.extend(sharing.into_iter().map(|(axis, text)| {
        let piece = Piece::new(axis, text);
        if axis == "sharing: stall times" { piece.rarely(&["errors"]) } else { piece }
    }));
    let weighted = "router.arbitration = \"weighted\"";
    let weights = ["link.sharing.flit.weights = [3]", "link.sharing.flit.weights = [2, 1]"];
    all.extend(each("sharing: weights", &weights).map(|piece| piece.with(weighted)));
    let priorities = [
        "link.sharing.flit.high_priority = [1]",
        "link.sharing.flit.high_priority = [2]\nlink.sharing.flit.high_priority_limit = 4",
    ];
    all.extend(each("sharing: priority", &priorities).map(|piece| piece.with(weighted)));
    let cables = ["link.rate = \"10 Gb/s\"", "link.rate = \"75 Gb/s\""];
    all.extend(each("link rate", &cables).map(|piece| piece.with("link.latency = \"70 ns\"")));
    all.extend(each("link latency", &["link.latency = \"1 us\"", "link.latency = \"17 ns\""]));
}

fn routers(all: &mut Vec<Piece>) {
    all.push(Piece::new("switching", "router.switching = \"store-and-forward\""));
    let worms = "router.switching = \"wormhole\"";
    let short = "router.buffer = \"6 flits\"\nadapter.injection_buffer = \"6 flits\"";
    all.push(Piece::new("switching", worms).among(&["flits"]).with(short));
    let behind = ["router.output_buffer = \"34 flits\"", "router.output_buffer = \"100 flits\""];
    all.extend(each("output buffer", &behind));
    all.push(Piece::new("arbitration", "router.arbitration = \"transit-first\""));
    all.push(Piece::new("arbitration", "router.arbitration = \"random\""));
    all.push(Piece::new("arbitration", "router.arbitration = \"oldest-first\"").among(&["flits"]));
    all.push(Piece::new("arbitration", "router.arbitration = \"weighted\"").among(&["flits"]));
    let presets = [
        "router.preset = \"infiniband-4xqdr\"",
        "router.preset = \"omni-path-100\"",
        "router.preset = \"angara\"",
        "router.preset = \"noc-mesh\"",
    ];
    all.extend(each("preset", &presets));
    let paper = "router.preset = \"outflank-paper\"\nmeasure.messages = 5";
    let adaptive = ["adaptive", "pick_orthant", "outflank"];
    let paper = Piece::new("preset", paper).among(&["torus"]).among(&adaptive).among(&["traffic"]);
    all.push(paper.among(&["packets"]));
    all.extend(each("bubble", &["router.bubble = false"]));
    let speedups = ["router.crossbar_speedup = 2", "router.crossbar_speedup = 3"];
    all.extend(each("speed-up", &speedups));
    let latencies = [
        "router.routing_latency = \"0 ps\"\nrouter.crossbar_latency = \"0 ps\"",
        "router.routing_latency = \"300 ns\"",
    ];
    all.extend(each("router latencies", &latencies));
    all.extend(each("flit", &["router.flit = \"8 B\"", "router.flit = \"100 B\""]));
    let around = ["router.header_flits = 0", "router.header_flits = 3\nrouter.checksum_flits = 2"];
    all.extend(each("header", &around));
    let payloads = ["router.maximum_payload = \"60 B\"", "router.maximum_payload = \"1000 B\""];
    all.extend(each("payload", &payloads));
    let buffers = ["router.buffer = \"40 flits\"", "router.buffer = \"600 flits\""];
    all.extend(each("buffer", &buffers));
    let channels = ["router.virtual_channels = 7", "router.virtual_channels = 16"];
    let few = "router.virtual_channels = 2";
    all.push(Piece::new("virtual channels", few).among(&["flits"]));
    all.extend(each("virtual channels", &channels));
    let injections = [
        "adapter.injection_channels = 1",
        "adapter.injection_channels = 3",
        "adapter.injection_choice = \"by-destination\"",
    ];
    all.extend(each("injection channels", &injections));
    let ejections = ["adapter.ejection_channels = 1", "adapter.ejection_channels = 3"];
    all.extend(each("ejection channels", &ejections));
    let adapters = [
        "adapter.injection_rate = \"200 Gb/s\"\nadapter.ejection_rate = \"200 Gb/s\"",
        "adapter.injection_rate = \"30 Gb/s\"",
        "adapter.ejection_rate = \"20 Gb/s\"",
    ];
    all.extend(each("adapter rates", &adapters));
    all.extend(each("injection buffer", &["adapter.injection_buffer = \"70 flits\""]));
    let hosts = [
        "adapter.send_overhead = \"0 ps\"\nadapter.receive_overhead = \"0 ps\"\n\
         adapter.service_time = \"0 ps\"",
        "adapter.send_overhead = \"2 us\"",
    ];
    all.extend(each("hosts", &hosts));
    let limit = "adapter.responder_resources = 1\n{traffic|exchange}.read = {}";
    let limited = |piece: Piece| piece.rarely(&["outputs", "flits"]);
    all.extend(each("responder resources", &[limit]).map(limited));
    let limit = "adapter.responder_resources = 3";
    all.push(limited(Piece::new("responder resources", limit).among(&["remote_memory"])));
    let lifetimes = [
        "router.head_of_queue_lifetime = \"300 ns\"\nexchange.between_steps = \"nothing\"",
        "router.head_of_queue_lifetime = \"2 us\"\ntraffic.pattern = \"uniform\"",
    ];
    all.extend(each("head-of-queue lifetime", &lifetimes).map(limited));
    let classes = Piece::new("message classes", "router.message_classes = 1");
    all.push(classes.rarely(&["agnostic", "relation", "opensm"]));
    let measures = ["measure.window = \"auto\"", "measure.precision = 0.5", "measure.growth = 0.5"];
    all.extend(each("measure", &measures).map(|piece| piece.among(&["traffic"])));
}
