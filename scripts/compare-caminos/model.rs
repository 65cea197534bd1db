//! CAMINOS's router with buffers at inputs and outputs, cycle by cycle, in which single rules can
//! be flitlab's. So it shows what each rule moves: `scripts/compare-caminos.sh rules` builds and
//! runs it.
//!
//! Its arguments are KEY=VALUE. It prints the flits accepted a node and cycle, the mean latency in
//! cycles, and the mean hops. The first values are CAMINOS's.
//!
//! | key | values |
//! |---|---|
//! | network | dragonfly-72, hyperx-4x4, hyperx-4x4x4, slim-fly-50, tree-4-3 |
//! | routing | min, val, ugal, par, omni, dimwar, pol, updown-occ, updown-rnd |
//! | pattern | as flitlab's of that name, or the file of a permutation |
//! | load, seed, warm_up, measured | flits a node and cycle, a number, cycles |
//! | vcs, width, threshold | virtual channels, how many a hop has, UGAL's threshold |
//! | queues | port or vc: which virtual channels of a port UGAL counts |
//! | link | packets or flits: whether a link sends a packet on before others begin |
//! | speedup | 1 or more: flits that a virtual channel passes through the crossbar in a cycle |
//! | injection | 1 or more: queues of a terminal, of which the destination's number gives one |
//! | penalty | of omni, dimwar and pol: flits that a detour costs, or a hop that gains less |
//! | deroutes | of omni: how many detours a packet may make |
//! | channels | of dimwar: each-hop has its own; or two: one after a detour, one for others |
//! | decides | each-cycle, until a request is granted (ugal: until it has room); or once a router |
//! | via | own: any router, on a Dragonfly of neither end's group; others: any but the two ends |
//! | apart | 0 or 1: whether UGAL's minimal ways have the virtual channels of second halves |
//! | ties | drawn or minimal: where UGAL goes if both ways cost the same |
//! | selection | drawn or least: which shortest hop packets take; UGAL's first is the least |
//! | output | shared by virtual channels; or whole: one packet at a time, credits at once |
//! | output_buffer | 32 flits of each virtual channel behind the crossbar |

use std::collections::{HashMap, VecDeque};

/// Flits of a packet, and of an input buffer.
const PACKET: usize = 16;
const BUFFER: usize = 64;
const NONE: usize = usize::MAX;

/// Random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Self(0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_mul(0xD1B5_4A32_D192_ED03));
        for _ in 0..20 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, count: usize) -> usize {
        (((self.next() >> 32) * count as u64) >> 32) as usize
    }

    fn happens(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }
}

struct Network {
    /// Terminals of a router, and how many routers have any: the first of them.
    terminals: usize,
    hosts: usize,
    /// By router and port: the router there, and the port by which it sees this one.
    neighbours: Vec<Vec<usize>>,
    back: Vec<Vec<usize>>,
    /// By router: its group; empty without groups.
    groups: Vec<usize>,
    distances: Vec<Vec<usize>>,
}

impl Network {
    fn named(name: &str) -> Self {
        match name {
            "dragonfly-72" => Self::dragonfly(4, 2, 2),
            "hyperx-4x4" => Self::hyperx(2),
            "hyperx-4x4x4" => Self::hyperx(3),
            "slim-fly-50" => Self::slim_fly(),
            "tree-4-3" => Self::tree(),
            _ => panic!("there is no network {name}"),
        }
    }

    fn dragonfly(routers: usize, global: usize, terminals: usize) -> Self {
        let groups = routers * global + 1;
        let neighbours = (0..groups * routers).map(|router| {
            let (group, own) = (router / routers, router % routers);
            let local = (0..routers).filter(|&other| other != own);
            let local = local.map(|other| group * routers + other);
            let cables = (0..global).map(|cable| own * global + cable + 1);
            let cables =
                cables.map(|on| (group + on) % groups * routers + (groups - on - 1) / global);
            local.chain(cables).collect()
        });
        let group_of = (0..groups * routers).map(|router| router / routers).collect();
        Self::new(neighbours.collect(), group_of, terminals)
    }

    /// Dimensions of 4 routers with 4 terminals each.
    fn hyperx(dimensions: u32) -> Self {
        let neighbours = (0..4usize.pow(dimensions)).map(|router| {
            let along = (0..dimensions).flat_map(|dimension| {
                let stride = 4usize.pow(dimension);
                let own = router / stride % 4;
                let others = (0..4).filter(move |&other| other != own);
                others.map(move |other| router + other * stride - own * stride)
            });
            along.collect()
        });
        Self::new(neighbours.collect(), Vec::new(), 4)
    }

    /// The Slim Fly of q = 5, numbered as flitlab does.
    fn slim_fly() -> Self {
        let neighbours = (0..50).map(|router| {
            let (half, x, y) = (router / 25, router / 5 % 5, router % 5);
            let steps = if half == 0 { [1, 4] } else { [2, 3] };
            let within = steps.into_iter().map(|step| router - y + (y + step) % 5);
            let across = (0..5).map(|other| match half {
                0 => (5 + other) * 5 + (y + 25 - other * x) % 5,
                _ => other * 5 + (x * other + y) % 5,
            });
            within.chain(across).collect()
        });
        Self::new(neighbours.collect(), Vec::new(), 4)
    }

    /// The 4-ary tree of three levels, with terminals at those of the lowest.
    fn tree() -> Self {
        let neighbours = (0..48).map(|router| {
            let (level, own) = (router / 16, router % 16);
            // The routers of another level that differ in one digit at most.
            let across = |level: usize, stride: usize| {
                (0..4).map(move |digit| {
                    level * 16 + own / (4 * stride) * 4 * stride + digit * stride + own % stride
                })
            };
            let down = (level > 0).then(|| across(level - 1, 4usize.pow(level as u32 - 1)));
            let up = (level < 2).then(|| across(level + 1, 4usize.pow(level as u32)));
            down.into_iter().flatten().chain(up.into_iter().flatten()).collect()
        });
        Self { hosts: 16, ..Self::new(neighbours.collect(), Vec::new(), 4) }
    }

    fn new(neighbours: Vec<Vec<usize>>, groups: Vec<usize>, terminals: usize) -> Self {
        let distances = (0..neighbours.len()).map(|from| {
            let mut distances = vec![NONE; neighbours.len()];
            distances[from] = 0;
            let mut queue = VecDeque::from([from]);
            while let Some(at) = queue.pop_front() {
                for &next in &neighbours[at] {
                    if distances[next] == NONE {
                        distances[next] = distances[at] + 1;
                        queue.push_back(next);
                    }
                }
            }
            distances
        });
        let distances = distances.collect();
        let back = neighbours.iter().enumerate().map(|(router, ports)| {
            let port = |&next: &usize| neighbours[next].iter().position(|&it| it == router);
            ports.iter().map(|next| port(next).expect("cables lead both ways")).collect()
        });
        let hosts = neighbours.len();
        Self { terminals, hosts, back: back.collect(), neighbours, groups, distances }
    }

    fn routers(&self) -> usize {
        self.neighbours.len()
    }

    fn nodes(&self) -> usize {
        self.hosts * self.terminals
    }

    /// The ports of the minimal ways to a router: the shortest, on a Dragonfly by one global cable
    /// at most. On a HyperX there may be detours, too, within a dimension where the two differ.
    /// Detours have the label 1, others 0.
    fn ports(&self, at: usize, to: usize, deroutes: bool) -> Vec<(usize, usize)> {
        let ports = || self.neighbours[at].iter().enumerate();
        if self.groups.is_empty() {
            let left = self.distances[at][to];
            let on = ports().map(|(port, &next)| (port, self.distances[next][to]));
            let on = on.filter(|&(_, then)| then < left || deroutes && then == left);
            return on.map(|(port, then)| (port, usize::from(then == left))).collect();
        }
        let group = self.groups[to];
        let leads = |next: usize| self.groups[next] == group;
        let own = self.groups[at];
        let port = if own == group {
            ports().find(|&(_, &next)| next == to)
        } else {
            let reaches = |next: usize| {
                self.groups[next] == own && self.neighbours[next].iter().any(|&far| leads(far))
            };
            ports().find(|&(_, &next)| leads(next)).or(ports().find(|&(_, &next)| reaches(next)))
        };
        vec![(port.expect("groups are joined").0, 0)]
    }

    /// The ports of Polarized routing from a source to a router, with 2 less what each gains.
    fn polarized(&self, source: usize, at: usize, to: usize) -> Vec<(usize, usize)> {
        let [from, left] = [source, to].map(|end| self.distances[at][end]);
        let ports = self.neighbours[at].iter().enumerate().filter_map(|(port, &next)| {
            let [next_from, next_left] = [source, to].map(|end| self.distances[next][end]);
            // 2 more than the label, so that it is not negative.
            let label = 4 + from + next_left - next_from - left;
            let leads = if from < left { next_from > from } else { next_left < left };
            (label < 4 || label == 4 && leads).then(|| (port, label - 2))
        });
        ports.collect()
    }
}

/// The values of the keys.
struct Rules {
    routing: String,
    vcs: usize,
    width: usize,
    threshold: usize,
    penalty: usize,
    deroutes: usize,
    by_vc: bool,
    link_by_flits: bool,
    speedup: usize,
    injection: usize,
    two_channels: bool,
    whole: bool,
    once: bool,
    via_others: bool,
    apart: bool,
    ties_minimal: bool,
    least: bool,
    output_buffer: usize,
}

impl Rules {
    /// Whether packets take a port of the least cost at each router.
    fn takes_least(&self) -> bool {
        matches!(self.routing.as_str(), "omni" | "dimwar" | "pol" | "updown-occ")
    }

    /// Whether packets choose a port at each router, to which they can be bound.
    fn binds(&self) -> bool {
        self.takes_least() || self.routing == "updown-rnd"
    }
}

/// The way of a packet, as far as it is decided.
#[derive(Clone, Copy, PartialEq)]
enum Course {
    Undecided,
    Minimal,
    /// By way of `via`, and whether that lies behind it.
    Detour(bool),
}

struct Packet {
    /// The router from which it comes.
    source: usize,
    destination: usize,
    created: u64,
    via: usize,
    course: Course,
    /// The port to which it is bound here, and the detours that it has made; under dimwar those
    /// since its last hop to the destination's coordinate.
    port: usize,
    deroutes: usize,
    hops: usize,
    /// Hops between groups, and hops since the last of them.
    global: usize,
    local: usize,
}

/// A packet in a queue, with its flits that have come there and that have gone on.
struct Queued {
    packet: usize,
    come: usize,
    gone: usize,
}

/// Takes a flit of a packet into a queue.
fn take(queue: &mut VecDeque<Queued>, packet: usize) {
    match queue.back_mut() {
        Some(last) if last.packet == packet => last.come += 1,
        _ => queue.push_back(Queued { packet, come: 1, gone: 0 }),
    }
}

#[derive(Default)]
struct Input {
    queue: VecDeque<Queued>,
    /// The port and virtual channel that its first packet has got.
    output: Option<(usize, usize)>,
}

struct Output {
    queue: VecDeque<Queued>,
    is_held: bool,
    /// Flits of room behind the crossbar, and in the buffer that the link leads to.
    room: usize,
    credits: usize,
}

/// A hop that a packet may take, with what it costs.
#[derive(Clone, Copy)]
struct Hop {
    cost: usize,
    port: usize,
    vc: usize,
    course: Course,
}

struct Source {
    packets: VecDeque<usize>,
    sent: usize,
    credits: usize,
}

struct Simulation {
    network: Network,
    rules: Rules,
    random: Random,
    packets: Vec<Packet>,
    free: Vec<usize>,
    /// By router, port and virtual channel. Behind the ports to routers are those of terminals.
    inputs: Vec<Vec<Vec<Input>>>,
    outputs: Vec<Vec<Vec<Output>>>,
    tokens: Vec<Vec<usize>>,
    /// By terminal: its queues, and the one that is served next.
    sources: Vec<(Vec<Source>, usize)>,
    /// What arrives in the next cycle: flits by router, port, virtual channel and packet, credits
    /// by router or terminal.
    flits: Vec<(usize, usize, usize, usize)>,
    credits: Vec<(usize, usize, usize)>,
    source_credits: Vec<(usize, usize)>,
    sunk: Vec<usize>,
    /// Flits of a packet that have been consumed.
    consumed: HashMap<usize, usize>,
}

impl Simulation {
    fn new(network: Network, rules: Rules, random: Random) -> Self {
        let ports = |router: usize| network.neighbours[router].len() + network.terminals;
        let output = || Output {
            queue: VecDeque::new(),
            is_held: false,
            room: rules.output_buffer,
            credits: BUFFER,
        };
        let input_vcs = rules.vcs.max(rules.injection);
        let inputs = |_| (0..input_vcs).map(|_| Input::default()).collect();
        let outputs = |_| (0..rules.vcs).map(|_| output()).collect();
        let source = |_| Source { packets: VecDeque::new(), sent: 0, credits: BUFFER };
        let sources = |_| ((0..rules.injection).map(source).collect(), 0);
        Self {
            inputs: (0..network.routers()).map(|it| (0..ports(it)).map(inputs).collect()).collect(),
            outputs: (0..network.routers())
                .map(|it| (0..ports(it)).map(outputs).collect())
                .collect(),
            tokens: (0..network.routers()).map(|it| vec![0; ports(it)]).collect(),
            sources: (0..network.nodes()).map(sources).collect(),
            network,
            rules,
            random,
            packets: Vec::new(),
            free: Vec::new(),
            flits: Vec::new(),
            credits: Vec::new(),
            source_credits: Vec::new(),
            sunk: Vec::new(),
            consumed: HashMap::new(),
        }
    }

    /// Takes in what arrives. Returns the flits that are consumed, and calls `on_end` for each
    /// packet that is there.
    fn arrive(&mut self, mut on_end: impl FnMut(&Packet)) -> usize {
        for (router, port, vc, packet) in std::mem::take(&mut self.flits) {
            take(&mut self.inputs[router][port][vc].queue, packet);
        }
        for (router, port, vc) in std::mem::take(&mut self.credits) {
            self.outputs[router][port][vc].credits += 1;
        }
        for (terminal, queue) in std::mem::take(&mut self.source_credits) {
            self.sources[terminal].0[queue].credits += 1;
        }
        let sunk = std::mem::take(&mut self.sunk);
        for &packet in &sunk {
            let flits = self.consumed.entry(packet).or_insert(0);
            *flits += 1;
            if *flits == PACKET {
                self.consumed.remove(&packet);
                on_end(&self.packets[packet]);
                self.free.push(packet);
            }
        }
        sunk.len()
    }

    /// The router by way of which a packet goes.
    fn draw_via(&mut self, ends: [usize; 2]) -> usize {
        let groups = &self.network.groups;
        loop {
            let via = self.random.below(self.network.routers());
            let is_end = ends.contains(&via);
            let is_near = !groups.is_empty() && ends.iter().any(|&end| groups[end] == groups[via]);
            if !(if self.rules.via_others { is_end } else { is_near }) {
                return via;
            }
        }
    }

    /// The virtual channels of a packet's next hop.
    fn vcs(
        &self,
        router: usize,
        packet: &Packet,
        port: usize,
        course: Course,
    ) -> std::ops::Range<usize> {
        let is_apart = self.rules.apart && self.rules.routing == "ugal";
        let later = usize::from(is_apart && course == Course::Minimal);
        let groups = &self.network.groups;
        if groups.is_empty() {
            if self.rules.routing.starts_with("updown") {
                return 0..self.rules.vcs;
            }
            let half = self.rules.vcs / self.rules.width / 2;
            let number = if self.rules.two_channels && self.rules.routing == "dimwar" {
                packet.deroutes
            } else {
                packet.hops + later * half
            };
            let first = number * self.rules.width;
            return first..first + self.rules.width;
        }
        let is_global = groups[router] != groups[self.network.neighbours[router][port]];
        let leg = packet.global + later;
        let vc = if is_global { leg } else { 2 * leg + packet.local };
        vc..vc + 1
    }

    /// The ports by which a packet may go on to a router, with their labels.
    fn ways(&self, router: usize, packet: &Packet, to: usize) -> Vec<(usize, usize)> {
        let ports = |deroutes| self.network.ports(router, to, packet.deroutes < deroutes);
        match self.rules.routing.as_str() {
            "pol" => self.network.polarized(packet.source, router, to),
            "omni" => ports(self.rules.deroutes),
            "dimwar" => {
                // Ports are in the order of dimensions, with three in each.
                let mut ways = ports(1);
                let first = ways[0].0 / 3;
                ways.retain(|&(port, _)| port / 3 == first);
                ways
            }
            _ => ports(0),
        }
    }

    /// Adds the hops of a packet to a router, with the flits that have left by each port and whose
    /// credits are not back.
    fn add_hops(&self, at: (usize, usize), to: usize, course: Course, hops: &mut Vec<Hop>) {
        let (router, packet) = (at.0, &self.packets[at.1]);
        for (port, label) in self.ways(router, packet, to) {
            let vcs = self.vcs(router, packet, port, course);
            let outputs = &self.outputs[router][port];
            let counted = if self.rules.by_vc { &outputs[vcs.clone()] } else { &outputs[..] };
            let waiting = |output: &Output| {
                let here = output.queue.iter().map(|it| it.come - it.gone);
                // Credits of whole packets are taken before they leave.
                let flits: usize = if self.rules.whole { 0 } else { here.sum() };
                flits + BUFFER - output.credits
            };
            let cost = counted.iter().map(waiting).sum::<usize>() + label * self.rules.penalty;
            hops.extend(vcs.map(|vc| Hop { cost, port, vc, course }));
        }
    }

    /// Fixes the course of a packet. A detour by way of an end leads to the destination.
    fn fix(&mut self, packet: usize, course: Course, ends: [usize; 2]) {
        let packet = &mut self.packets[packet];
        packet.course = match course {
            Course::Detour(_) => Course::Detour(ends.contains(&packet.via)),
            other => other,
        };
    }

    /// The hop that a packet at the head of a queue requests.
    fn request(&mut self, router: usize, number: usize) -> Option<Hop> {
        let destination = self.packets[number].destination;
        let end = destination / self.network.terminals;
        let degree = self.network.neighbours[router].len();
        let whole = self.rules.whole;
        let has_room = |output: &Output| {
            output.room >= PACKET && (!whole || end == router || output.credits >= PACKET)
        };
        if end == router {
            let port = degree + destination % self.network.terminals;
            let outputs = &self.outputs[router][port];
            let vcs: Vec<_> = (0..self.rules.vcs).filter(|&vc| has_room(&outputs[vc])).collect();
            let hop = |vc| Hop { cost: 0, port, vc, course: Course::Minimal };
            return (!vcs.is_empty()).then(|| hop(vcs[self.random.below(vcs.len())]));
        }
        let ends = [router, end];
        if self.packets[number].via == NONE && self.packets[number].course != Course::Minimal {
            self.packets[number].via = self.draw_via(ends);
            if self.rules.routing == "val" {
                self.fix(number, Course::Detour(false), ends);
            }
        }
        if self.packets[number].via == router
            && let Course::Detour(is_behind) = &mut self.packets[number].course
        {
            *is_behind = true;
        }
        let Packet { via, course, port, hops: done, .. } = self.packets[number];
        let mut hops = Vec::new();
        match course {
            Course::Undecided => {
                self.add_hops((router, number), end, Course::Minimal, &mut hops);
                let minimal = hops.len();
                let to = if ends.contains(&via) { end } else { via };
                self.add_hops((router, number), to, Course::Detour(false), &mut hops);
                for hop in &mut hops[minimal..] {
                    hop.cost = 2 * hop.cost + self.rules.threshold;
                }
                keep_least(&mut hops);
                if self.rules.ties_minimal && hops[0].course == Course::Minimal {
                    hops.retain(|hop| hop.course == Course::Minimal);
                }
                if self.rules.once {
                    let course = hops[self.random.below(hops.len())].course;
                    self.fix(number, course, ends);
                    hops.retain(|hop| hop.course == course);
                }
            }
            _ => {
                let to = if course == Course::Detour(false) { via } else { end };
                self.add_hops((router, number), to, course, &mut hops);
                let is_first = self.rules.routing == "ugal" && done == 0;
                let binds = self.rules.binds();
                if self.rules.takes_least() || !binds && (self.rules.least || is_first) {
                    keep_least(&mut hops);
                }
                if binds && self.rules.once {
                    let port =
                        if port == NONE { hops[self.random.below(hops.len())].port } else { port };
                    self.packets[number].port = port;
                    hops.clear();
                    self.add_hops((router, number), to, course, &mut hops);
                    hops.retain(|hop| hop.port == port);
                }
            }
        }
        hops.retain(|hop| has_room(&self.outputs[router][hop.port][hop.vc]));
        if hops.is_empty() {
            return None;
        }
        let hop = hops[self.random.below(hops.len())];
        if course == Course::Undecided && !self.rules.once && self.rules.routing != "par" {
            self.fix(number, hop.course, ends);
        }
        Some(hop)
    }

    /// Grants virtual channels of outputs to packets, in an order by chance.
    fn grant(&mut self, router: usize) {
        let mut requests = Vec::new();
        for port in 0..self.inputs[router].len() {
            for vc in 0..self.inputs[router][port].len() {
                let input = &self.inputs[router][port][vc];
                let (None, Some(first)) = (input.output, input.queue.front()) else { continue };
                let packet = first.packet;
                if let Some(hop) = self.request(router, packet) {
                    requests.push(((port, vc), packet, hop));
                }
            }
        }
        for place in (1..requests.len()).rev() {
            requests.swap(place, self.random.below(place + 1));
        }
        for ((in_port, in_vc), number, Hop { port, vc, course, .. }) in requests {
            let next = self.network.neighbours[router].get(port);
            let outputs = &mut self.outputs[router][port];
            let is_taken = |it: &Output| it.is_held || !it.queue.is_empty();
            if outputs[vc].is_held || self.rules.whole && outputs.iter().any(is_taken) {
                continue;
            }
            let output = &mut outputs[vc];
            if self.rules.whole && next.is_some() {
                if output.credits < PACKET {
                    continue;
                }
                output.credits -= PACKET;
            }
            output.is_held = true;
            self.inputs[router][in_port][in_vc].output = Some((port, vc));
            let Some(&next) = next else { continue };
            let end = self.packets[number].destination / self.network.terminals;
            if self.packets[number].course == Course::Undecided {
                self.fix(number, course, [router, end]);
            }
            let packet = &mut self.packets[number];
            let groups = &self.network.groups;
            let is_global = !groups.is_empty() && groups[router] != groups[next];
            if self.rules.routing == "par" && course == Course::Minimal {
                // After one hop within the group it decides again.
                let again = packet.hops == 0 && !is_global;
                packet.course = if again { Course::Undecided } else { Course::Minimal };
            }
            let distances = [router, next].map(|at| self.network.distances[at][end]);
            let is_derouted = usize::from(distances[0] == distances[1]);
            let before = if self.rules.routing == "dimwar" { 0 } else { packet.deroutes };
            packet.deroutes = before + is_derouted;
            packet.port = NONE;
            packet.hops += 1;
            packet.local += 1;
            if is_global {
                (packet.global, packet.local) = (packet.global + 1, 0);
            }
        }
    }

    /// Lets each virtual channel of an input pass flits to the output that it has got.
    fn cross(&mut self, router: usize) {
        let degree = self.network.neighbours[router].len();
        for port in 0..self.inputs[router].len() {
            for vc in 0..self.inputs[router][port].len() {
                for _ in 0..self.rules.speedup {
                    let input = &mut self.inputs[router][port][vc];
                    let Some((out_port, out_vc)) = input.output else { break };
                    let output = &mut self.outputs[router][out_port][out_vc];
                    let first = &mut input.queue[0];
                    if first.come == first.gone || output.room == 0 {
                        break;
                    }
                    first.gone += 1;
                    output.room -= 1;
                    take(&mut output.queue, first.packet);
                    let is_last = first.gone == PACKET;
                    if is_last {
                        input.queue.pop_front();
                        input.output = None;
                        output.is_held = false;
                    }
                    let credits = match (self.rules.whole, is_last) {
                        (false, _) => 1,
                        (true, false) => 0,
                        (true, true) => PACKET,
                    };
                    match self.network.neighbours[router].get(port) {
                        Some(&from) => {
                            let back = self.network.back[router][port];
                            self.credits.extend(std::iter::repeat_n((from, back, vc), credits));
                        }
                        None => {
                            let terminal = router * self.network.terminals + port - degree;
                            let credits = std::iter::repeat_n((terminal, vc), credits);
                            self.source_credits.extend(credits);
                        }
                    }
                }
            }
        }
    }

    /// Lets each output send a flit.
    fn send(&mut self, router: usize) {
        for port in 0..self.outputs[router].len() {
            let next = self.network.neighbours[router].get(port);
            let outputs = &mut self.outputs[router][port];
            let can_send = |vc: &usize| {
                let output = &outputs[*vc];
                let need = |first: &Queued| if first.gone == 0 { PACKET } else { 1 };
                let has_credits = |first: &Queued| {
                    next.is_none() || self.rules.whole || output.credits >= need(first)
                };
                let can = |first: &Queued| first.come > first.gone && has_credits(first);
                output.queue.front().is_some_and(can)
            };
            let token = self.tokens[router][port];
            let vcs = || (token..token + self.rules.vcs).map(|vc| vc % self.rules.vcs);
            let goes_on = |vc: &usize| !self.rules.link_by_flits && outputs[*vc].queue[0].gone > 0;
            let chosen = vcs().filter(can_send).find(goes_on).or(vcs().find(can_send));
            let Some(vc) = chosen else { continue };
            self.tokens[router][port] = (vc + 1) % self.rules.vcs;
            let output = &mut outputs[vc];
            let first = &mut output.queue[0];
            let packet = first.packet;
            first.gone += 1;
            output.room += 1;
            if first.gone == PACKET {
                output.queue.pop_front();
            }
            match next {
                None => self.sunk.push(packet),
                Some(&next) => {
                    if !self.rules.whole {
                        output.credits -= 1;
                    }
                    self.flits.push((next, self.network.back[router][port], vc, packet));
                }
            }
        }
    }

    fn create(&mut self, terminal: usize, destination: usize, created: u64) {
        let course = match self.rules.routing.as_str() {
            "val" | "ugal" | "par" => Course::Undecided,
            _ => Course::Minimal,
        };
        let packet = Packet {
            source: terminal / self.network.terminals,
            destination,
            created,
            via: NONE,
            course,
            port: NONE,
            deroutes: 0,
            hops: 0,
            global: 0,
            local: 0,
        };
        let number = self.free.pop().unwrap_or(self.packets.len());
        if number == self.packets.len() {
            self.packets.push(packet);
        } else {
            self.packets[number] = packet;
        }
        let queue = destination % self.rules.injection;
        self.sources[terminal].0[queue].packets.push_back(number);
    }

    /// Lets a terminal send a flit into its router.
    fn inject(&mut self, terminal: usize) {
        let router = terminal / self.network.terminals;
        let port = self.network.neighbours[router].len() + terminal % self.network.terminals;
        let (queues, next) = &mut self.sources[terminal];
        let count = queues.len();
        for number in (*next..*next + count).map(|number| number % count) {
            let Source { packets, sent, credits } = &mut queues[number];
            let need = if *sent == 0 { PACKET } else { 1 };
            let Some(&packet) = packets.front() else { continue };
            if *credits < need {
                continue;
            }
            self.flits.push((router, port, number, packet));
            *credits -= 1;
            *sent += 1;
            if *sent == PACKET {
                packets.pop_front();
                *sent = 0;
            }
            *next = (number + 1) % count;
            return;
        }
    }
}

/// Keeps the hops that cost the least.
fn keep_least(hops: &mut Vec<Hop>) {
    let least = hops.iter().map(|hop| hop.cost).min().expect("ways lead on");
    hops.retain(|hop| hop.cost == least);
}

/// The terminal to which a terminal sends.
enum Pattern {
    Uniform,
    /// Nodes of the group after the own one, of so many nodes each.
    GroupShift(usize),
    Fixed(Vec<usize>),
}

impl Pattern {
    fn named(name: &str, network: &Network) -> Self {
        let (nodes, terminals) = (network.nodes(), network.terminals);
        let by_router = |router: &dyn Fn(usize) -> usize| {
            let fixed =
                (0..nodes).map(|node| router(node / terminals) * terminals + node % terminals);
            Self::Fixed(fixed.collect())
        };
        match name {
            "uniform" => Self::Uniform,
            "group-shift" => {
                let routers = network.groups.iter().filter(|&&group| group == 0).count();
                Self::GroupShift(routers * terminals)
            }
            "dimension-complement" => by_router(&|router| network.routers() - 1 - router),
            "dimension-shift" => by_router(&|router| router / 4 * 4 + (router + 1) % 4),
            "bit-reverse" => {
                let bits = nodes.ilog2();
                let reverse = |node: usize| node.reverse_bits() >> (usize::BITS - bits);
                Self::Fixed((0..nodes).map(reverse).collect())
            }
            "router-shift" => by_router(&|router| (router + 7) % network.routers()),
            file => {
                let text = std::fs::read_to_string(file).expect("a pattern or a file");
                let mut fixed = vec![NONE; nodes];
                for line in text.lines().skip(1) {
                    let ends: Vec<usize> =
                        line.split(',').map(|end| end.parse().expect("a node")).collect();
                    fixed[ends[0]] = ends[1];
                }
                Self::Fixed(fixed)
            }
        }
    }

    fn destination(&self, node: usize, nodes: usize, random: &mut Random) -> usize {
        match self {
            Self::Uniform => (node + 1 + random.below(nodes - 1)) % nodes,
            Self::GroupShift(size) => {
                (node / size + 1) % (nodes / size) * size + random.below(*size)
            }
            Self::Fixed(fixed) => fixed[node],
        }
    }
}

fn main() {
    let arguments: HashMap<String, String> = std::env::args()
        .skip(1)
        .map(|argument| {
            let (key, value) = argument.split_once('=').expect("KEY=VALUE");
            (key.to_string(), value.to_string())
        })
        .collect();
    let text =
        |key: &str| arguments.get(key).unwrap_or_else(|| panic!("{key} is missing")).as_str();
    let is = |key: &str, value: &str| arguments.get(key).is_some_and(|it| it == value);
    let number = |key: &str, default: usize| {
        arguments.get(key).map_or(default, |it| it.parse().expect("a number"))
    };
    let network = Network::named(text("network"));
    let pattern = Pattern::named(text("pattern"), &network);
    let load: f64 = text("load").parse().expect("a number");
    let [warm_up, measured] = ["warm_up", "measured"].map(|key| number(key, 5000) as u64);
    let rules = Rules {
        routing: text("routing").to_string(),
        vcs: number("vcs", 5),
        width: number("width", 1),
        threshold: number("threshold", PACKET),
        penalty: number("penalty", 2 * PACKET),
        deroutes: number("deroutes", 2),
        by_vc: is("queues", "vc"),
        link_by_flits: is("link", "flits"),
        speedup: number("speedup", 1),
        injection: number("injection", 1),
        two_channels: is("channels", "two"),
        whole: is("output", "whole"),
        once: is("decides", "once"),
        via_others: is("via", "others"),
        apart: is("apart", "1"),
        ties_minimal: is("ties", "minimal"),
        least: is("selection", "least"),
        output_buffer: number("output_buffer", 32),
    };
    let random = Random::new(number("seed", 1) as u64);
    let mut simulation = Simulation::new(network, rules, random);
    let nodes = simulation.network.nodes();
    let (mut accepted, mut packets, mut latency, mut hops) = (0, 0, 0, 0);
    for now in 0..warm_up + measured {
        let consumed = simulation.arrive(|packet| {
            if now >= warm_up {
                packets += 1;
                latency += now - packet.created;
                hops += packet.hops;
            }
        });
        if now >= warm_up {
            accepted += consumed;
        }
        for router in 0..simulation.network.routers() {
            simulation.grant(router);
            simulation.cross(router);
            simulation.send(router);
        }
        for node in 0..nodes {
            if simulation.random.happens(load / PACKET as f64) {
                let destination = pattern.destination(node, nodes, &mut simulation.random);
                if destination != node {
                    simulation.create(node, destination, now);
                }
            }
            simulation.inject(node);
        }
    }
    println!(
        "{:.6} {:.4} {:.4}",
        accepted as f64 / measured as f64 / nodes as f64,
        latency as f64 / packets as f64,
        hops as f64 / packets as f64
    );
}
