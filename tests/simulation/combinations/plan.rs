//! Which pieces meet in which scenario: every pair that can stand beside each other does in one of
//! the first scenarios, with some others beside it. Those from [`DRAWN`] on have four to seven
//! pieces, drawn by their seeds: by axis, as [`WEIGHTS`] has it, and seldom beside what refuses them.

use rand::{RngExt, SeedableRng, seq::IndexedRandom, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::pieces::{BASES, Piece, TABLES, WEIGHTS, bits, key, known, pieces, possible, seldom};

/// Pieces of a scenario of the plan, if so many can stand beside each other.
const PLANNED: usize = 4;

/// Candidates for the next piece of a scenario of the plan, and axes for that of one that is drawn.
const TRIED: usize = 40;

/// The first seed of scenarios that are drawn.
pub const DRAWN: u64 = 1_000_000;

/// Of so many pieces that are drawn beside one that refuses them, one is taken.
const SELDOM: u32 = 6;

pub struct Plan {
    pub pieces: Vec<Piece>,
    /// The weight of each axis, and its pieces.
    axes: Vec<(u32, Vec<usize>)>,
    /// By pair of pieces.
    beside: Vec<Vec<bool>>,
    /// The scenarios that cover all pairs.
    pub scenarios: Vec<Vec<usize>>,
}

impl Plan {
    pub fn new() -> Self {
        let pieces = pieces();
        let beside = pieces
            .iter()
            .map(|one| pieces.iter().map(|other| one.stands_beside(other)).collect::<Vec<bool>>());
        let beside: Vec<_> = beside.collect();
        let mut axes: Vec<(&str, Vec<usize>)> = Vec::new();
        for (place, piece) in pieces.iter().enumerate() {
            match axes.iter_mut().find(|(name, _)| *name == piece.axis) {
                Some((_, its)) => its.push(place),
                None => axes.push((piece.axis, vec![place])),
            }
        }
        let weight = |axis: &str| {
            WEIGHTS.iter().find(|(name, _)| *name == axis).map_or(1, |&(_, weight)| weight)
        };
        let axes = axes.into_iter().map(|(name, its)| (weight(name), its)).collect();
        let mut plan = Self { pieces, axes, beside, scenarios: Vec::new() };
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut pairs = plan.pairs();
        pairs.shuffle(&mut random);
        let mut met = vec![vec![false; plan.pieces.len()]; plan.pieces.len()];
        for (one, other) in pairs {
            if met[one][other] {
                continue;
            }
            let mut drawn = vec![one, other];
            while drawn.len() < PLANNED {
                let new = |next: &usize| drawn.iter().filter(|&&it| !met[*next][it]).count();
                match plan.nexts(&mut random, &drawn).into_iter().max_by_key(new) {
                    Some(next) => drawn.push(next),
                    None => break,
                }
            }
            for &one in &drawn {
                for &other in &drawn {
                    met[one][other] = true;
                }
            }
            plan.scenarios.push(drawn);
        }
        plan
    }

    /// All pairs of pieces that can stand beside each other, the lower one first.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let all = 0..self.pieces.len();
        let pairs = all.flat_map(|one| (one + 1..self.pieces.len()).map(move |other| (one, other)));
        pairs.filter(|&(one, other)| self.beside[one][other]).collect()
    }

    /// Whether a piece can stand beside all of these.
    fn fits(&self, piece: usize, drawn: &[usize]) -> bool {
        let mut tables = self.pieces[piece].tables;
        for &other in drawn {
            let other = self.pieces[other].tables;
            tables.iter_mut().zip(other).for_each(|(left, other)| *left &= other);
        }
        possible(&tables) && drawn.iter().all(|&it| self.beside[piece][it])
    }

    /// Whether a piece is refused beside one of these, or means nothing there.
    fn is_seldom(&self, piece: usize, drawn: &[usize]) -> bool {
        drawn.iter().any(|&it| seldom(&self.pieces[piece], &self.pieces[it]))
    }

    /// Some pieces that can stand beside all of these.
    fn nexts(&self, random: &mut ChaCha8Rng, drawn: &[usize]) -> Vec<usize> {
        let fits = |next: &usize| self.fits(*next, drawn) && !self.is_seldom(*next, drawn);
        let tried = (0..TRIED).map(|_| random.random_range(0..self.pieces.len()));
        tried.filter(fits).collect()
    }

    /// A piece of an axis, by the weights of both, that can stand beside these; `None` if the axis
    /// has none.
    fn next(&self, random: &mut ChaCha8Rng, drawn: &[usize]) -> Option<usize> {
        let (_, axis) = weighted(random, &self.axes, |(weight, _)| *weight)?;
        let fitting = axis.iter().copied().filter(|&piece| self.fits(piece, drawn));
        let fitting: Vec<usize> = fitting.collect();
        let next = *weighted(random, &fitting, |&piece| self.pieces[piece].weight)?;
        let taken = !self.is_seldom(next, drawn) || random.random_ratio(1, SELDOM);
        taken.then_some(next)
    }

    /// The pieces of a scenario.
    pub fn drawn(&self, seed: u64) -> Vec<usize> {
        if let Some(planned) = self.scenarios.get(seed as usize) {
            return planned.clone();
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut drawn = Vec::new();
        let wanted = random.random_range(4..=7);
        for _ in 0..TRIED {
            if drawn.len() < wanted {
                drawn.extend(self.next(&mut random, &drawn));
            }
        }
        drawn
    }

    /// A scenario's text.
    pub fn text(&self, seed: u64) -> String {
        self.text_of(&self.drawn(seed), seed)
    }

    /// The text of a scenario with these pieces; the seed decides what they leave open.
    pub fn text_of(&self, drawn: &[usize], seed: u64) -> String {
        let drawn: Vec<&Piece> = drawn.iter().map(|&it| &self.pieces[it]).collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        let tables = tables(&drawn, &mut random);
        let mut lines: Vec<String> = Vec::new();
        let own: Vec<String> =
            drawn.iter().flat_map(|piece| &piece.lines).map(|line| placed(line, &tables)).collect();
        for table in tables.iter().flatten() {
            let base = BASES.iter().find(|base| base.0 == *table);
            base.into_iter().flat_map(|base| base.1).for_each(|line| set(&mut lines, line));
        }
        if tables[2] == Some("traffic") {
            // Half of them full; a torus of switches with one injection channel takes less.
            let any_fabric = matches!(tables[1], Some("agnostic" | "relation"));
            let full = if any_fabric && tables[0] == Some("torus") { 0.45 } else { 0.8 };
            let load = if seed.is_multiple_of(2) { 0.3 } else { full };
            set(&mut lines, &format!("traffic.load = {load}"));
        }
        if own.iter().any(|line| line.starts_with("application.file")) {
            lines.retain(|line| !line.starts_with("application.schedule"));
        }
        if own.iter().any(|line| line.contains("outflank-paper")) {
            lines.retain(|line| !line.starts_with("measure."));
        }
        let of_tori = !matches!(tables[1], Some("agnostic" | "relation" | "opensm"));
        let sized = ["router.flit", "router.header", "router.maximum", "router.preset"];
        let sized = own.iter().any(|line| sized.iter().any(|key| line.starts_with(key)));
        if seed.is_multiple_of(3) && of_tori && tables[0] == Some("torus") && !sized {
            // Room for two packets, so that they wait for each other.
            set(&mut lines, "router.buffer = \"36 flits\"");
        }
        for line in drawn.iter().flat_map(|piece| &piece.with) {
            if wanted(line, &own, &tables) {
                set(&mut lines, line);
            }
        }
        own.iter().for_each(|line| set(&mut lines, line));
        // A table that is written key by key is not written whole as well.
        let parts: Vec<String> = lines.iter().map(|line| key(line).to_owned()).collect();
        lines.retain(|line| {
            let inner = format!("{}.", key(line));
            !line.ends_with("= {}") || !parts.iter().any(|part| part.starts_with(&inner))
        });
        if let Some(routing) = tables[1] {
            let table = format!("routing.{routing}");
            if !lines.iter().any(|line| line.starts_with(&table)) {
                lines.push(format!("{table} = {{}}"));
            }
        }
        let payload = "collective.operation = \"barrier\"";
        if tables[2] == Some("collective")
            && !lines.iter().any(|line| line == payload || line.starts_with("collective.message"))
        {
            lines.push("collective.message = \"256 B\"".into());
        }
        let writes = ["put", "get"].map(|name| format!("remote_memory.operation = \"{name}\""));
        if lines.iter().any(|line| writes.contains(line))
            && !lines.iter().any(|line| line.starts_with("remote_memory.message"))
        {
            lines.push("remote_memory.message = \"256 B\"".into());
        }
        if let Some(table) = tables[2]
            && lines.iter().any(|line| line.starts_with("workloads."))
        {
            nest(&mut lines, table);
        }
        format!("seed = {seed}\n{}\n", lines.join("\n"))
    }
}

/// One of these, by weight; `None` if there is none.
fn weighted<'a, T>(
    random: &mut ChaCha8Rng,
    all: &'a [T],
    weight: impl Fn(&T) -> u32,
) -> Option<&'a T> {
    let sum: u32 = all.iter().map(&weight).sum();
    let mut left = (sum > 0).then(|| random.random_range(0..sum))?;
    all.iter().find(|one| {
        let weight = weight(one);
        let here = left < weight;
        left = left.wrapping_sub(weight);
        here
    })
}

/// Moves the keys of a workload below those of one of several.
fn nest(lines: &mut [String], table: &str) {
    for line in lines.iter_mut() {
        if line.starts_with(&format!("{table}.")) {
            *line = format!("workloads.own.{line}");
        }
    }
}

/// Adds a line, in place of what was said about its key.
fn set(lines: &mut Vec<String>, line: &str) {
    lines.retain(|it| key(it) != key(line));
    lines.push(line.into());
}

/// The table of each group that a scenario has. No routing if no piece is about it.
fn tables(drawn: &[&Piece], random: &mut ChaCha8Rng) -> [Option<&'static str>; 4] {
    let mut left = TABLES.map(|group| (1u32 << group.len()) - 1);
    let all = left;
    for piece in drawn {
        left.iter_mut().zip(piece.tables).for_each(|(left, own)| *left &= own);
    }
    for (piece, group) in drawn.iter().flat_map(|it| (0..TABLES.len()).map(move |of| (it, of))) {
        let mut without = left;
        without[group] &= !bits(group, &piece.rarely);
        left = if possible(&without) { without } else { left };
    }
    let names = |group: usize, bits: u32| {
        let names = TABLES[group].iter().enumerate();
        names.filter(move |(place, _)| bits >> place & 1 == 1).map(|(_, name)| *name)
    };
    let routings: Vec<&str> = names(1, left[1]).filter(|it| known(left[0], it) != 0).collect();
    let routing = (left[1] != all[1]).then(|| *routings.choose(random).expect("possible"));
    let topologies = routing.map_or(left[0], |routing| known(left[0], routing));
    let torus = topologies & 1 != 0 && (topologies == 1 || random.random_bool(0.4));
    let others: Vec<&str> = names(0, topologies & !1).collect();
    let topology = if torus { "torus" } else { others.choose(random).expect("possible") };
    let load = left[2] & 1 != 0 && (left[2] == 1 || random.random_bool(0.5));
    let load = load || left[2] == all[2] && random.random_bool(0.7);
    // Trees of routers are those of Angara's virtual channels.
    let of_tori = torus && !matches!(routing, Some("agnostic" | "relation"));
    let without = left[2] & !bits(2, &["collective"]);
    let ending = if of_tori || without & !1 == 0 { left[2] } else { without };
    let others: Vec<&str> = names(2, ending & !1).collect();
    let workload = if load { "traffic" } else { others.choose(random).expect("possible") };
    let chooses = matches!(routing, Some("adaptive" | "pick_orthant" | "outflank" | "two_phase"));
    let without = left[3] & !bits(3, &["outputs"]);
    if without != 0 && (chooses || workload == "collective") {
        left[3] = without;
    }
    let routers: Vec<&str> = names(3, left[3]).collect();
    let whole = left[3] & 1 != 0 && random.random_bool(0.5);
    let routers = if whole { "packets" } else { routers.choose(random).expect("possible") };
    [Some(topology), routing, Some(workload), Some(routers)]
}

/// A line of the tables that the scenario has.
fn placed(line: &str, tables: &[Option<&str>; 4]) -> String {
    let Some((before, rest)) = line.split_once('{').filter(|(before, _)| !before.contains(' '))
    else {
        return line.into();
    };
    let (names, rest) = rest.split_once('}').expect("it ends");
    let group = match before {
        "topology." => 0,
        "routing." => 1,
        _ => 2,
    };
    let table = tables[group].expect("a piece is about it");
    assert!(names == "switched" || names.split('|').any(|name| name == table), "{line}");
    format!("{before}{table}{rest}")
}

/// Whether nothing else is said about what a line says, and it is about the scenario's topology.
fn wanted(line: &str, own: &[String], tables: &[Option<&str>; 4]) -> bool {
    let same = |one: &str, other: &str| {
        one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let about = |it: &str| same(key(it), key(line)) || same(key(line), key(it));
    if line.starts_with("routing.") && tables[1].is_some() {
        return false;
    }
    match line.strip_prefix("topology.") {
        Some(rest) => {
            rest.split('.').next() == tables[0] && own.iter().all(|it| key(it) != key(line))
        }
        None => !own.iter().any(|it| about(it)),
    }
}
