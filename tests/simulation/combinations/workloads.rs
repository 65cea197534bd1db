//! The pieces of what is sent: patterns, loads, exchanges, operations, applications.

use super::pieces::{OF_COORDINATES, OF_GROUPS, Piece, each};

/// Workloads that come to an end.
const ENDING: [&str; 4] = ["exchange", "remote_memory", "collective", "application"];

/// Adds the pieces of workloads.
pub fn add(all: &mut Vec<Piece>) {
    let workloads = ["exchange.rounds = 1", "remote_memory.operation = \"put\""];
    all.extend(each("workload", &workloads));
    let patterns = [
        "{traffic|exchange|remote_memory}.pattern = \"transpose-linear\"",
        "{traffic|exchange|remote_memory}.pattern = \"bit-reverse\"",
        "{traffic|exchange|remote_memory}.pattern = \"rank-transpose\"",
        "{traffic|exchange|remote_memory}.pattern = \"rank-neighbor\"",
        "{traffic|exchange|remote_memory}.pattern = \"rank-tornado\"",
        "{traffic|exchange|remote_memory}.pattern = \"bit-complement\"",
        "{traffic|exchange|remote_memory}.pattern = \"butterfly\"",
        "{traffic|exchange|remote_memory}.pattern = \"shuffle\"",
        "{traffic|exchange|remote_memory}.pattern = \"random-permutation\"",
        "{traffic|exchange|remote_memory}.pattern = \"all-to-all\"",
        "{traffic|exchange|remote_memory}.pattern = { rank-transpose = { rows = 2 } }",
        "{traffic|exchange|remote_memory}.pattern = { router-shift = { by = 3 } }",
        "{traffic|exchange|remote_memory}.pattern = { shift = { by = 5 } }",
        "{traffic|exchange|remote_memory}.pattern = { pairs = { list = [[0, 5], [0, 6], [7, 0], [1, 0]] } }",
        "{traffic|exchange|remote_memory}.pattern = \"incast\"",
        "{traffic|exchange|remote_memory}.pattern = { incast = { source_count = 3, target_count = 2 } }",
        "{traffic|exchange|remote_memory}.pattern = { incast = { sources = [0, 1, 5], targets = [5, 4] } }",
        "{traffic|exchange|remote_memory}.pattern = { outcast = { source_count = 2 } }",
        "{traffic|exchange|remote_memory}.pattern = \"broadcast\"",
        "traffic.pattern = { hot-region = { size = 3, share = 0.4 } }",
        "traffic.pattern = { uniform = { include_self = true } }",
        "traffic.pattern = { hotspot = { nodes = [2], share = 0.2 } }",
        "traffic.pattern = { hotspot = { share = 0.3, at_once = 2, moves_every = \"700 ns\" } }",
        "traffic.pattern = { hotspot = { nodes = [0, 5, 2], share = 0.3, moves_every = \"2 us\" } }",
        "traffic.pattern = { mixture = { patterns = [{ weight = 9, pattern = \"uniform\" }, { weight = 1, pattern = { \
         hotspot = { share = 0.5, moves_every = \"1 us\" } } }, { weight = 3, pattern = \"bit-complement\" }] } }",
        "traffic.pattern = { matrix = { list = [[0, 5, 2], [5, 0, 1], [1, 7, 4]] } }",
    ];
    all.extend(each("pattern", &patterns));
    let worst = "{traffic|exchange|remote_memory}.pattern = \"worst-case\"";
    all.push(Piece::new("pattern", worst).often(5));
    let of_groups = [
        "traffic.pattern = \"group-shift\"",
        "traffic.pattern = { group-shift = { by = 2 } }",
        "traffic.pattern = { mixture = { patterns = [{ weight = 1, pattern = \"worst-case\" }, { weight = 2, \
         pattern = \"group-shift\" }] } }",
    ];
    all.extend(each("pattern", &of_groups).map(|piece| piece.among(&OF_GROUPS).often(3)));
    let of_coordinates = [
        "{traffic|exchange|remote_memory}.pattern = \"dimension-complement\"",
        "{traffic|exchange|remote_memory}.pattern = { dimension-shift = { dimension = 1 } }",
        "{traffic|exchange|remote_memory}.pattern = { dimension-shift = { dimension = 2, by = 2 } }",
    ];
    all.extend(each("pattern", &of_coordinates).map(|piece| piece.among(&OF_COORDINATES)));
    let of_coordinates = [
        "{traffic|exchange|remote_memory}.pattern = \"transpose\"",
        "{traffic|exchange|remote_memory}.pattern = \"neighbor\"",
        "{traffic|exchange|remote_memory}.pattern = \"tornado\"",
    ];
    all.extend(each("pattern", &of_coordinates).map(|piece| piece.among(&["torus"])));
    let transpose = "{traffic|exchange|remote_memory}.pattern = \"transpose-3d\"";
    let cube = "topology.torus.dimensions = [2, 2, 2]";
    all.push(Piece::new("pattern", transpose).with(cube).among(&["torus"]));
    let loads = ["traffic.load = 1.05", "traffic.load = 0.01", "traffic.load = \"500 MB/s\""];
    all.extend(each("load", &loads));
    let processes = [
        "traffic.process = \"periodic\"",
        "traffic.process = { periodic = { in_step = true } }",
        "traffic.process = { burst = { packets = 5 } }",
        "traffic.process = { on-off = { on = \"1 us\", off = \"300 ns\" } }",
        "traffic.process = { markov-modulated = { high = \"1 us\", low = \"2 us\", ratio = 5.0 } }",
    ];
    all.extend(each("process", &processes));
    let messages = [
        "{traffic|exchange|remote_memory|collective}.message = \"0 B\"",
        "{traffic|exchange|remote_memory|collective}.message = \"8 B\"",
        "{traffic|exchange|remote_memory|collective}.message = \"300 B\"",
        "{traffic|exchange|remote_memory|collective}.message = \"5000 B\"",
    ];
    all.extend(each("message", &messages));
    let sizes = [
        "traffic.sizes = { list = [[\"8 B\", 3], [\"5000 B\", 1]] }",
        "traffic.sizes = { cumulative = [[\"0 B\", 0], [\"100 B\", 0.8], [\"4 KiB\", 1]] }",
    ];
    all.extend(each("message", &sizes));
    let reads =
        ["{traffic|exchange}.read = {}", "{traffic|exchange}.read = { request = \"700 B\" }"];
    all.extend(each("read", &reads));
    let steps = [
        "exchange.between_steps = \"nothing\"",
        "exchange.between_steps = { barrier = { latency = \"400 ns\" } }",
        "exchange.between_steps = \"barrier\"",
    ];
    all.extend(each("between steps", &steps));
    all.extend(each("rounds", &["{exchange|collective}.rounds = 4"]));
    let operations = [
        "remote_memory.operation = \"get\"",
        "remote_memory.operation = \"add\"",
        "remote_memory.operation = \"xor\"",
        "remote_memory.operation = \"compare-and-swap\"",
    ];
    all.extend(each("operation", &operations));
    let outstanding = [
        "remote_memory.outstanding = 4\nremote_memory.flush_every = 3",
        "collective.outstanding = 2",
    ];
    all.extend(each("outstanding", &outstanding));
    let processes = [
        "remote_memory.processes = 3",
        "remote_memory.adapter_outstanding = 1\nremote_memory.processes = 2",
    ];
    all.extend(each("processes", &processes));
    all.extend(each("trace", &["flows.file = \"../../../scenarios/studies/flows.csv\""]));
    collectives(all);
    applications(all);
    several(all);
}

fn collectives(all: &mut Vec<Piece>) {
    let operations = [
        "collective.operation = \"broadcast\"",
        "collective.operation = \"reduce\"",
        "collective.operation = \"all-reduce\"",
        "collective.operation = \"barrier\"",
    ];
    all.extend(each("operation", &operations));
    let roots = ["collective.roots = [0, 5]", "collective.members = [0, 1, 2, 5, 6]"];
    all.extend(each("roots", &roots));
    let units = [
        "collective.open_operations = 1",
        "collective.combining_latency = \"100 ns\"\ncollective.combining_rate = \"20 Gb/s\"",
    ];
    all.extend(each("units", &units));
    all.extend(each("replication", &["collective.replication = \"together\""]));
    let load = "traffic.pattern = \"uniform\"\ntraffic.load = 0.4";
    let beside = Piece::new("beside", "collective.start = \"3 us\"").with(load);
    all.push(beside.rarely(&["third", "slowdowns"]));
}

/// Another workload on the same network; what others say of one workload is said of `own`.
fn several(all: &mut Vec<Piece>) {
    let others = [
        "workloads.other = { traffic = { pattern = \"uniform\", load = 0.1 } }",
        "workloads.other = { nodes = [0, 1, 3, 4], exchange = { pattern = \"all-to-all\", message = \"300 B\" } }",
        "workloads.other = { exchange = { pattern = \"all-to-all\", message = \"40 B\", between_steps = \"barrier\" } }",
        "workloads.other = { start = \"1 us\", remote_memory = { operation = \"get\", pattern = \"all-to-all\", message = \"64 B\" } }",
        "workloads.other = { remote_memory = { operation = \"add\", pattern = \"all-to-all\", operations = 3 } }",
        "workloads.other = { application = { schedule = { all-to-all = { ranks = 6, bytes = \"600 B\" } } } }",
    ];
    all.extend(each("beside", &others));
    // Loads alone all begin at once.
    let later = [
        "workloads.other = { start = \"2 us\", traffic = { pattern = \"bit-complement\", load = 0.2 } }",
        "workloads.own.start = \"700 ns\"\n\
         workloads.other = { traffic = { pattern = \"uniform\", load = 0.1, read = {} } }",
    ];
    all.extend(each("beside", &later).map(|piece| piece.among(&ENDING)));
    let on_tori = [
        "workloads.other = { collective = { operation = \"all-reduce\", message = \"100 B\", rounds = 3 } }",
        "workloads.other = { packets = \"response\", traffic = { pattern = \"uniform\", load = 0.1 } }",
        "workloads.own.packets = \"adaptive\"\nworkloads.other = { packets = \"deterministic\", remote_memory = { \
         operation = \"put\", pattern = \"all-to-all\", message = \"64 B\" } }",
        "workloads.own.packets = \"deterministic\"\nworkloads.other = { packets = \"adaptive\", remote_memory = { \
         operation = \"get\", pattern = \"all-to-all\", message = \"64 B\" } }",
        "workloads.own.packets = \"adaptive-responses\"\nworkloads.other = { packets = \"adaptive-responses\", \
         remote_memory = { operation = \"get\", pattern = \"all-to-all\", message = \"64 B\" } }",
    ];
    let adaptive = ["adaptive", "pick_orthant", "outflank", "two_phase"];
    all.extend(each("beside", &on_tori).map(|piece| piece.among(&adaptive)));
    let of_source = "workloads.other = { packets = \"response\", traffic = { pattern = \"uniform\", load = 0.1 } }";
    let of_source = Piece::new("beside", of_source).among(&["torus"]);
    all.push(of_source.among(&["direction_order", "angara", "file"]));
    more(all);
    services(all);
    apart(all);
}

/// A third workload, nodes of their own, and what is told of the others' cost.
fn more(all: &mut Vec<Piece>) {
    let thirds = [
        "workloads.third = { traffic = { pattern = \"uniform\", load = 0.05, message = \"900 B\" } }",
        "workloads.third = { start = \"1500 ns\", exchange = { pattern = \"random-permutation\", message = \"1 KiB\" } }",
        "workloads.third = { nodes = [2, 5, 7], exchange = { pattern = \"all-to-all\", message = \"100 B\", \
         between_steps = \"nothing\", read = {} } }",
        "workloads.third = { nodes = 3, remote_memory = { operation = \"add\", pattern = \"all-to-all\", operations = 2 } }",
        "workloads.third = { start = \"300 ns\", application = { schedule = { all-reduce = { ranks = 4, bytes = \"3 KiB\", \
         algorithm = \"ring\" } }, placement = \"random\" } }",
        "workloads.third = { application = { schedule = { sweep3d = { ranks = 8, points = [4, 4, 4], iterations = 1 } } } }",
    ];
    all.extend(each("third", &thirds));
    let nodes = [
        "workloads.own.nodes = 5",
        "workloads.own.nodes = [0, 1, 4, 5]",
        "workloads.own.nodes = 4\nnode_allocation = \"random\"",
    ];
    let of_nodes = ["traffic", "exchange", "remote_memory"];
    all.extend(each("nodes", &nodes).map(|piece| piece.among(&of_nodes)));
    let boxes = "workloads.own.nodes = 4\nnode_allocation = \"boxes\"";
    all.push(Piece::new("nodes", boxes).among(&of_nodes).among(&["torus"]));
    let groups = "workloads.own.nodes = 6\nnode_allocation = \"groups\"";
    all.push(Piece::new("nodes", groups).among(&of_nodes));
    let beside = "workloads.other = { start = \"200 ns\", exchange = { pattern = \"all-to-all\", message = \"200 B\", \
                  between_steps = \"nothing\" } }";
    for told in ["measure.slowdowns = \"alone\"", "measure.slowdowns = \"pairs\""] {
        all.push(Piece::new("slowdowns", told).with(beside).among(&ENDING));
    }
}

/// Workloads in virtual channels of their own, by tables and by paths.
fn services(all: &mut Vec<Piece>) {
    let services = [
        "workloads.other = { service = 1, traffic = { pattern = \"uniform\", load = 0.1 } }\n\
         routing.agnostic.lanes = 2\nrouter.virtual_channels = 4",
        "workloads.own.service = 2\nworkloads.other = { exchange = { pattern = \"all-to-all\", message = \"64 B\" } }\n\
         routing.agnostic.lanes = 2\nrouter.virtual_channels = 6",
        "workloads.own.service = 1\nworkloads.other = { service = 3, remote_memory = { operation = \"get\", \
         pattern = \"all-to-all\", message = \"80 B\" } }\nrouting.agnostic.lanes = 4\nrouter.virtual_channels = 16",
        "workloads.other = { service = 1, traffic = { pattern = \"uniform\", load = 0.1 } }\n\
         routing.relation.lanes = 2\nrouter.virtual_channels = 4\nrouting.relation.selection = \"balanced\"",
        "workloads.own.service = 1\nworkloads.other = { exchange = { pattern = \"all-to-all\", message = \"64 B\", \
         between_steps = \"nothing\" } }\nrouting.relation.lanes = 3\nrouter.virtual_channels = 6\n\
         routing.relation.selection = { random = { paths = 2 } }",
    ];
    let choosing = ["ties", "preference", "injection bubble", "injection lanes"];
    all.extend(each("services", &services).map(|piece| piece.rarely(&choosing)));
}

/// Jobs on nodes that are none of the others', most of them in rows of a torus that share no cable.
fn apart(all: &mut Vec<Piece>) {
    let rows = [
        "workloads.own.nodes = [0, 1, 2, 3]\nworkloads.other = { nodes = [8, 9, 10, 11], exchange = { pattern = \
         \"all-to-all\", message = \"600 B\", between_steps = \"nothing\" } }\nmeasure.slowdowns = \"alone\"",
        "workloads.own.nodes = [4, 5, 6, 7]\nworkloads.other = { nodes = [12, 13], remote_memory = { operation = \"get\", \
         pattern = \"all-to-all\", message = \"8 B\", operations = 3 } }\nmeasure.slowdowns = \"pairs\"",
        "workloads.own.nodes = [12, 13, 14, 15]\nworkloads.other = { nodes = [0, 1, 2, 3], packets = \"usual\", \
         application = { schedule = { all-to-all = { ranks = 4, bytes = \"800 B\" } } } }\nmeasure.slowdowns = \"alone\"",
        "workloads.own.nodes = [0, 1]\nworkloads.other = { nodes = [2, 3], traffic = { pattern = \"uniform\", load = 0.3 } }\n\
         measure.slowdowns = \"alone\"",
    ];
    let of_nodes = ["exchange", "remote_memory"];
    let whole = "topology.torus.dimensions = [4, 4]";
    let apart = each("apart", &rows).map(|piece| piece.among(&of_nodes).with(whole));
    all.extend(apart.map(|piece| piece.rarely(&["beside", "nodes", "services", "slowdowns"])));
}

fn applications(all: &mut Vec<Piece>) {
    let schedules = [
        "application.schedule = { broadcast = { ranks = 8, bytes = \"2 KiB\", root = 3 } }",
        "application.schedule = { reduce = { ranks = 8, bytes = \"2 KiB\", combine_ns_per_byte = 0.1 } }",
        "application.schedule = { all-reduce = { ranks = 8, bytes = \"20 KiB\", algorithm = \"ring\" } }",
        "application.schedule = { all-gather = { ranks = 8, bytes = \"2 KiB\" } }",
        "application.schedule = { reduce-scatter = { ranks = 8, bytes = \"2 KiB\" } }",
        "application.schedule = { all-to-all = { ranks = 8, bytes = \"70 KiB\" } }",
        "application.schedule = { gather = { ranks = 8, bytes = \"1 KiB\" } }",
        "application.schedule = { scatter = { ranks = 8, bytes = \"1 KiB\" } }",
        "application.schedule = { barrier = { ranks = 8 } }",
        "application.schedule = { npb = { benchmark = \"is\", class = \"S\", ranks = 4, iterations = 1 } }",
        "application.schedule = { npb = { benchmark = \"lu\", class = \"S\", ranks = 4, iterations = 1, flops_per_second = 1e9 } }",
        "application.schedule = { halo3d = { ranks = 8, points = [4, 4, 4], iterations = 2 } }",
        "application.schedule = { sweep3d = { ranks = 8, points = [4, 4, 4], iterations = 1 } }",
        "application.schedule = { fft3d = { ranks = 8, points = [8, 8, 8], iterations = 1 } }",
        "application.schedule = { ping-pong = { ranks = 8, bytes = \"20 KiB\", iterations = 2 } }",
        "application.schedule = { all-ping-pong = { ranks = 7, bytes = \"100 KiB\", call_ns = 30, fini = true } }",
        "application.schedule = { ring = { ranks = 8, bytes = \"300 B\", compute_ns = 50 } }",
        "application.schedule = { halo3d-26 = { ranks = 8, points = [4, 4, 4], iterations = 2 } }",
        "application.schedule = { all-reduce = { ranks = 8, bytes = \"2 KiB\", algorithm = \"binary\" } }",
        "application.schedule = { all-reduce = { ranks = 8, bytes = \"20 KiB\", algorithm = \"double-binary-tree\", channels = 2, segment = \"4 KiB\" } }",
        "application.schedule = { all-gather = { ranks = 8, bytes = \"2 KiB\", channels = 3, segment = \"512 B\" } }",
        "application.schedule = { training = { layers = 2, hidden = 64, feed_forward = 128, sequence = 16, micro_batches = 2, \
         pipeline = 2, data = 4, expert = 2, experts = 4, flops_per_second = 1e12 } }",
        "application.schedule = { inference = { layers = 2, hidden = 64, feed_forward = 128, prompt = 16, generated = 3, \
         pipeline = 2, tensor = 2, data = 2, flops_per_second = 1e12, memory_bandwidth = \"100 GB/s\" } }",
        "application.file = \"../../goal/dissemination_16.goal\"",
        "application.file = \"../../goal/one_sided_8.goal\"",
    ];
    all.extend(each("schedule", &schedules));
    let placements =
        ["application.placement = \"random\"", "application.placement = \"round-robin\""];
    all.extend(each("placement", &placements));
    all.extend(each("ranks a node", &["application.ranks_per_node = 2"]));
    let protocols = [
        "application.eager_limit = \"0 B\"",
        "application.eager_limit = \"1 KiB\"\napplication.rendezvous = \"processor\"",
        "application.eager_limit = \"1 KiB\"\napplication.rendezvous = { get = { registration = \"1 us\", \
         registration_per_page = \"100 ns\", read = \"200 ns\" } }",
    ];
    all.extend(each("protocol", &protocols));
    let hosts = [
        "application.overhead_per_byte = 0.2\napplication.gap = \"100 ns\"",
        "application.copy_rate = \"10 Gb/s\"",
        "application.control_message = \"0 B\"",
        "application.match_time = \"50 ns\"",
        "application.host_adapter = { bus = \"150 ns\", send = \"50 ns\", receive = \"100 ns\" }",
        "application.host_adapter = { cut_through = true }",
        "application.host_adapter = { bus = \"10 ns\", cut_through = true }\napplication.match_time = \"1 ns\"",
    ];
    all.extend(each("host", &hosts));
    let networks = [
        "application.network = \"loggops\"",
        "application.network = { loggops = { dialect = \"atlahs\" } }",
    ];
    let alone = ["beside", "third", "slowdowns", "services", "outputs", "flits"];
    all.extend(each("network", &networks).map(|piece| piece.rarely(&alone)));
}
