//! Random permutations, whose flows saturate one by one: the verdict against the bound of channel
//! loads, and against runs thirty times as long.

use std::collections::BTreeMap;

use flitlab::report::Status;
use flitlab::simulation::Simulation;
use rayon::prelude::*;

use super::{bound, run, scenario};
use crate::common::slice::is_in_slice;

const FABRICS: [&str; 21] = [
    "[topology.torus]\ndimensions = [8]\n",
    "[topology.torus]\ndimensions = [4, 4]\n",
    "[topology.torus]\ndimensions = [8, 4]\n",
    "[topology.torus]\ndimensions = [3, 3, 3]\n",
    "[topology.torus]\ndimensions = [4, 2, 2, 2]\n",
    "[topology.torus]\ndimensions = [4, 4]\n[routing.angara]\n",
    "[topology.torus]\ndimensions = [5, 3]\n[routing.angara]\nalgorithm = \"sssp\"\n",
    "[topology.torus]\ndimensions = [6, 6]\nopen = [\"x\", \"y\"]\n",
    "[topology.switched_torus]\ndimensions = [3, 3]\nterminals = 2\n",
    "[topology.tree]\narity = 4\nlevels = 2\nterminals = 4\n",
    "[topology.tree]\narity = 3\nlevels = 3\nterminals = 3\n[routing.agnostic]\nalgorithm = \"dfsssp\"\n",
    "[topology.kautz]\ndegree = 3\nlength = 2\nterminals = 2\n",
    "[topology.kautz]\ndegree = 2\nlength = 3\nterminals = 2\n[routing.agnostic]\nalgorithm = \"lash\"\n",
    "[topology.dragonfly]\ngroups = 5\ngroup_size = 2\nglobal_cables = 2\nterminals = 2\n",
    "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\n[routing.agnostic]\nalgorithm = \"dfsssp\"\n",
    "[topology.dragonfly_plus]\ngroups = 3\nleaves = 2\nspines = 2\nglobal_cables = 2\n",
    "[topology.hyperx]\ndimensions = [4, 4]\nterminals = 2\n",
    "[topology.hyperx]\ndimensions = [3, 3]\nterminals = 3\n[routing.agnostic]\nalgorithm = \"nue-balanced\"\n",
    "[topology.random_regular]\nswitches = 16\ndegree = 4\nterminals = 2\nseed = 1\n",
    "[topology.random_regular]\nswitches = 24\ndegree = 5\nterminals = 2\nseed = 2\n[routing.agnostic]\nalgorithm = \"dfsssp\"\n",
    "[topology.slim_fly]\nprime = 5\nterminals = 1\n",
];

/// A fabric with a permutation; buffers hold 32 of its packets.
fn text(fabric: &str) -> String {
    // Packets of 18 flits of 16 B, or of 5 of 64 B.
    let buffer = if fabric.contains("topology.torus") { 32 * 18 } else { 32 * 5 };
    format!(
        "{fabric}[router]\nmaximum_payload = \"256 B\"\nbuffer = \"{buffer} flits\"\n[adapter]\n\
         injection_buffer = \"{buffer} flits\"\n[traffic]\npattern = \"random-permutation\"\nmessage = \"256 B\"\n\
         load = 0.1\n"
    )
}

/// Whether no flow meets others on more than one channel.
fn meets_once(text: &str, seed: &str) -> bool {
    let simulation = Simulation::new(&scenario(text, &[seed])).unwrap();
    let routes = simulation.scenario().network.routes().unwrap();
    let mut flows: Vec<Vec<u32>> = Vec::new();
    for source in simulation.senders() {
        simulation.shares().next().unwrap().pattern().for_each_share(source, |destination, _| {
            let mut way = Vec::new();
            routes.for_each_channel(simulation.fabric(), source, destination, |it| way.push(it));
            flows.push(way);
        });
    }
    let mut users: BTreeMap<u32, usize> = BTreeMap::new();
    flows.iter().flatten().for_each(|channel| *users.entry(*channel).or_default() += 1);
    flows.iter().all(|way| way.iter().filter(|channel| users[*channel] > 1).count() <= 1)
}

struct Tried {
    name: String,
    share: f64,
    meets_once: bool,
    verdict: Status,
    long: Option<Status>,
}

/// Permutation `seed` of a fabric at a share of its bound, and thirty times as long if that is
/// wanted.
fn attempt(fabric: usize, seed: usize, share: f64, budget: u32, long: bool) -> Tried {
    let text = text(FABRICS[fabric]);
    let seed = format!("seed={}", seed + 1);
    let load = format!("traffic.load={}", share * bound(&text, &[&seed]));
    let outcome = run(&text, &[&seed, &load, &format!("measure.maximum_windows={budget}")]);
    let long = long.then(|| {
        let windows = 30 * outcome.found.measured.windows.unwrap();
        let [fewest, most] =
            ["minimum", "maximum"].map(|it| format!("measure.{it}_windows={windows}"));
        run(&text, &[&seed, &load, &fewest, &most, "measure.warm_up_windows=1000"])
            .found
            .measured
            .status
    });
    Tried {
        name: format!("{:?} {seed} {load}", FABRICS[fabric]),
        share,
        meets_once: meets_once(&text, &seed),
        verdict: outcome.found.measured.status,
        long,
    }
}

/// One permutation of every fabric, above its bound.
#[test]
fn no_permutation_is_steady_above_its_bound() {
    (0..FABRICS.len()).into_par_iter().for_each(|fabric| {
        let tried = attempt(fabric, fabric, 1.03, 10, false);
        assert_eq!(tried.verdict, Status::NotSteady, "{}", tried.name);
    });
}

/// Ten permutations of every fabric. Each is run at a share of its bound that goes from 0.5 to 0.95
/// from one permutation to the next, and compared with a run of thirty times as many windows; and
/// just above the bound. What meets on one channel only is run at 0.97 of it with a budget of 2,000
/// windows.
#[test]
#[ignore = "long: half an hour, 200 permutations and runs thirty times as long, by slices"]
fn verdicts_on_permutations_agree_with_the_bound_and_with_long_runs() {
    let all: Vec<(usize, usize)> =
        (0..FABRICS.len()).flat_map(|fabric| (0..10).map(move |seed| (fabric, seed))).collect();
    // Ten is no multiple of four: a slice has other seeds of each fabric.
    let all: Vec<(usize, usize)> =
        (0..).zip(all).filter(|it| is_in_slice(it.0)).map(|it| it.1).collect();
    let above: Vec<Tried> = all
        .par_iter()
        .flat_map_iter(|&(fabric, seed)| {
            [1.001, 1.03, 1.2].map(|share| attempt(fabric, seed, share, 60, false))
        })
        .collect();
    let wrong: Vec<_> = above.iter().filter(|it| it.verdict != Status::NotSteady).collect();
    assert!(wrong.is_empty(), "{} above the bound: {}", wrong.len(), wrong[0].name);
    println!("{} loads above the bound: none steady", above.len());

    let compared: Vec<Tried> = all
        .par_iter()
        .map(|&(fabric, seed)| attempt(fabric, seed, 0.5 + 0.05 * seed as f64, 60, true))
        .collect();
    let mut table: BTreeMap<String, usize> = BTreeMap::new();
    for tried in &compared {
        *table
            .entry(format!("{:?}, long {:?}", tried.verdict, tried.long.unwrap()))
            .or_default() += 1;
        println!("{:.2} {:?} {:?} {}", tried.share, tried.verdict, tried.long, tried.name);
    }
    println!("{table:#?}");
    let decided = |status| status != Status::Undecided;
    for tried in compared.iter().filter(|it| decided(it.verdict) && decided(it.long.unwrap())) {
        assert_eq!(Some(tried.verdict), tried.long, "{} ({})", tried.name, tried.share);
    }

    let once: Vec<Tried> = all
        .par_iter()
        .filter(|&&(fabric, seed)| {
            meets_once(&text(FABRICS[fabric]), &format!("seed={}", seed + 1))
        })
        .map(|&(fabric, seed)| attempt(fabric, seed, 0.97, 2000, false))
        .collect();
    println!("{} permutations whose flows meet on one channel only", once.len());
    for tried in &once {
        assert!(tried.meets_once);
        assert_eq!(tried.verdict, Status::Steady, "{}", tried.name);
    }
}
