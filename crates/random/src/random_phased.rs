//! Random fabrics of groups, of rows and of any shape, some with failures, with rules whose packets
//! pass through phases. Most have fewer virtual channels than the rule needs, so that packets could wait for each
//! other in a cycle.

use std::sync::Arc;

use flitlab_base::units::Picoseconds;
use flitlab_fabric::{
    Amount, Fabric, Failures, RandomFailures,
    builders::{Dragonfly, DragonflyPlus, GlobalCables, GlobalOrder, HyperX},
};
use flitlab_routing::{
    RelationRoutes, Routes,
    phased::{PhasedParameters, PhasedSpec},
};
use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

/// A fabric and the routes of a rule that it has; `other` makes a fabric of any shape.
pub fn routes(
    random: &mut dyn Rng,
    seed: u64,
    other: impl Fn(&mut dyn Rng) -> Fabric,
) -> (Fabric, Routes) {
    bound(random, seed, |random| fabric_and_rule(random, &other))
}

/// A Dragonfly, and the routes of UGAL with this value of `credits`, which changes nothing about
/// what is drawn.
pub fn routes_by_credits(random: &mut dyn Rng, seed: u64, credits: &str) -> (Fabric, Routes) {
    bound(random, seed, |random| {
        let fabric = loop {
            let mut any = |from: u32, to: u32| random.random_range(from..=to);
            let (groups, routers, global, terminals) = (any(3, 6), any(2, 4), any(1, 3), any(1, 2));
            let cables = GlobalCables { order: GlobalOrder::Relative, between: None };
            let cabling = Dragonfly { routers, terminals, global, groups, cables }.cabling();
            if let Some(fabric) = cabling.ok().and_then(|it| it.fabric().ok()) {
                break fabric;
            }
        };
        let queues = *["port", "vc", "vc-if-shared"].choose(random).expect("some");
        let threshold = random.random_range(0..=20);
        let keys =
            format!("queues = \"{queues}\"\nthreshold = {threshold}\ncredits = \"{credits}\"");
        (fabric, PhasedSpec::new("ugal", &keys))
    })
}

/// The first fabric that is drawn with a rule that suits it, and the rule's routes.
fn bound(
    random: &mut dyn Rng,
    seed: u64,
    draw: impl Fn(&mut dyn Rng) -> (Fabric, PhasedSpec),
) -> (Fabric, Routes) {
    loop {
        let (fabric, spec) = draw(random);
        let parameters = PhasedParameters {
            vcs: random.random_range(1..=7),
            largest_packet: random.random_range(1..=40),
            clamps: true,
        };
        let made = spec.relation(&fabric, &parameters);
        let Ok((rule, relation)) = made else { continue };
        let routes = RelationRoutes::new(Arc::new(relation), Some(rule), seed);
        let random_ties = random.random_bool(0.5);
        return (fabric, Routes::Relation(RelationRoutes { random_ties, ..routes }));
    }
}

/// Lets packets that wait decide again, where they decide by what is out at their own router.
pub fn decide_again(random: &mut dyn Rng, routes: &mut Routes) {
    if let Routes::Relation(routes) = routes {
        let sees_others = routes.rule.as_ref().is_some_and(|rule| rule.age().is_some());
        let may = routes.decides() && !sees_others && random.random_bool(0.5);
        let time = random.random_range(1_000..=20_000);
        routes.again = may.then_some(Picoseconds(time));
    }
}

/// A fabric, and a rule that may suit it; `other` makes a fabric of any shape.
pub fn fabric_and_rule(
    random: &mut dyn Rng,
    other: impl Fn(&mut dyn Rng) -> Fabric,
) -> (Fabric, PhasedSpec) {
    let fabric = loop {
        if let Some(fabric) = fabric(random, &other) {
            break fabric;
        }
    };
    let (name, keys) = rule(random);
    // By the fabric and the keys, so that what is drawn besides stays what it is.
    let drawn = keys.bytes().fold(fabric.channels() as u64, |drawn, byte| {
        drawn.wrapping_mul(31).wrapping_add(byte.into())
    });
    // This rule has no way round.
    let fabric = if name == "hyperx-order" { fabric } else { with_failures(drawn, fabric) };
    (fabric, PhasedSpec::new(name, &keys))
}

/// The fabric, sometimes without some cables and a router, as far as it stays connected.
fn with_failures(seed: u64, fabric: Fabric) -> Fabric {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    if random.random_bool(0.5) {
        return fabric;
    }
    let cables = Amount::Count(random.random_range(1..=5));
    let routers = Amount::Count(random.random_range(0..=1));
    let failures = RandomFailures { cables, routers, seed: random.random() };
    let failures = Failures { random: Some(failures), ..Failures::default() };
    failures.apply(&fabric).unwrap_or(fabric)
}

fn fabric(random: &mut dyn Rng, other: impl Fn(&mut dyn Rng) -> Fabric) -> Option<Fabric> {
    let mut any = |from: u32, to: u32| random.random_range(from..=to);
    let orders = [GlobalOrder::Relative, GlobalOrder::PalmTree, GlobalOrder::Absolute];
    // More cables than the ports allow make no fabric.
    let cables = GlobalCables {
        order: orders[any(0, 2) as usize],
        between: Some(any(0, 3)).filter(|&cables| cables > 0),
    };
    let cabling = match any(0, 4) {
        0 | 1 => {
            let (groups, routers, global, terminals) = (any(2, 6), any(1, 4), any(1, 3), any(1, 2));
            Dragonfly { routers, terminals, global, groups, cables }.cabling()
        }
        2 => {
            let (groups, leaves, spines) = (any(2, 4), any(1, 3), any(1, 2));
            let (global, terminals) = (any(1, 3), any(1, 2));
            DragonflyPlus { groups, leaves, spines, global, terminals, cables }.cabling()
        }
        3 | 7 => {
            let sizes = vec![any(2, 4), any(1, 3).max(2)];
            let (redundancy, terminals) = (any(1, 2), any(1, 2));
            HyperX { sizes, redundancy, terminals }.cabling()
        }
        _ => return Some(other(random)),
    };
    cabling.ok()?.fabric().ok()
}

fn rule(random: &mut dyn Rng) -> (&'static str, String) {
    let vias = ["auto", "group", "router", "router-elsewhere", "router-or-end"];
    let via = *vias.choose(random).expect("some");
    let cost = |random: &mut dyn Rng| {
        let weights = *["sum", "product"].choose(random).expect("some");
        format!("weights = \"{weights}\"\npenalty = {}", random.random_range(0..=40))
    };
    match random.random_range(0..14) {
        0 => ("minimal-by-hop", String::new()),
        1 => ("dragonfly-minimal", String::new()),
        2 | 13 => ("valiant", format!("via = \"{via}\"")),
        10 => ("polarized", format!("penalty = {}", random.random_range(0..=40))),
        11 | 12 => {
            let up = *["least", "random", "two", "hash"].choose(random).expect("some");
            ("nearest-ancestor", format!("up = \"{up}\""))
        }
        3 | 7 => {
            let order = *["drawn", "adaptive"].choose(random).expect("some");
            ("hyperx-order", format!("order = \"{order}\""))
        }
        4 => {
            let rules = [
                ("dal", ""),
                ("dimwar", "channels = \"two\"\n"),
                ("dimwar", "channels = \"by-hop\"\n"),
            ];
            let (name, channels) = *rules.choose(random).expect("some");
            (name, format!("{channels}{}", cost(random)))
        }
        5 | 6 => {
            let deroutes = random.random_range(0..=3);
            ("omniwar", format!("deroutes = {deroutes}\n{}", cost(random)))
        }
        _ => {
            let weights = *["double", "hops", "equal"].choose(random).expect("some");
            let sees = *["own", "own", "group", "way"].choose(random).expect("some");
            let queues = *["port", "vc", "vc-if-shared"].choose(random).expect("some");
            let more = match sees {
                "own" => format!("queues = \"{queues}\""),
                _ => format!("age = \"{} ps\"", random.random_range(1_000..=100_000)),
            };
            let (threshold, candidates) = (random.random_range(0..=20), random.random_range(1..=3));
            let equal = *["minimal", "drawn"].choose(random).expect("some");
            let keys = format!(
                "via = \"{via}\"\nsees = \"{sees}\"\n{more}\nthreshold = {threshold}\n\
                 weights = \"{weights}\"\ncandidates = {candidates}\nequal = \"{equal}\""
            );
            match random.random_range(0..4) {
                0 | 1 => ("par", keys),
                2 => ("ugal", format!("{keys}\nminimal_channels = \"shared\"")),
                _ => ("ugal", format!("{keys}\nminimal_channels = \"apart\"")),
            }
        }
    }
}
