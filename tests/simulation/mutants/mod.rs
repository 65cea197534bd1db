//! Three thousand damaged tables, judged by the program and by a checker that shares nothing with
//! it.
//!
//! The checker reads the files itself (`netlist.rs`, `opensm.rs`, `angara.rs`), from their
//! documented forms, follows every pair's packets by itself, and looks for cycles by brute force.
//! It is slow, and meant to be obviously right. What both say must be the same: that a file is
//! refused, or else which pairs are routed, what is wrong with the others, and whether packets can
//! deadlock.

mod angara;
mod cycles;
mod mutate;
mod netlist;
mod opensm;
mod verdict;

use std::collections::BTreeMap;

use flitlab::{
    tables::{
        self, Flaw, ForwardingFlaw, Region, TableFile,
        agnostic::{Algorithm, Parameters},
        angara::{Choices, Freedoms, Reading, balanced, bfs, sssp},
        opensm::PathLevels,
    },
    topology::{
        Cabling, Faults, Torus,
        builders::{RandomRegular, SwitchedTorus, Tree},
        netlist::Netlist,
    },
};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use crate::common::workplace::Workplace;
use mutate::Lines;
use opensm::Dump;
use verdict::{Findings, Verdict};

/// A table of either kind.
#[derive(Clone)]
enum Table {
    Routes(String),
    Dump(Dump),
}

/// Angara's routes on small tori: rings, meshes, failures, a node set.
fn tables_of_routes() -> Vec<Table> {
    let cable = |node, direction| Faults { cables: vec![(node, direction)], ..Faults::default() };
    let cases: [(&[u32], &[usize], Faults); 7] = [
        (&[5], &[], Faults::default()),
        (&[4, 4], &[], Faults::default()),
        (&[4, 4], &[], cable(0, 0)),
        (&[3, 3, 2], &[], Faults::default()),
        (&[3, 4], &[1], Faults { nodes: vec![5], ..Faults::default() }),
        (&[4, 2, 2], &[2], Faults { outside: vec![15, 7], ..cable(0, 0) }),
        (&[2, 3], &[0], Faults::default()),
    ];
    let mut tables = Vec::new();
    for (sizes, open, faults) in cases {
        let torus = Torus::new(sizes, open).unwrap();
        let fabric = torus.fabric(&faults).unwrap();
        let freedoms = Freedoms::default();
        let choices = Choices::new(Region::new(&fabric), freedoms);
        for table in [
            choices.table(&sssp(&choices).selection),
            choices.table(&balanced(&choices).selection),
            bfs(choices.region(), freedoms, Reading::default()),
        ] {
            let file = TableFile::new(torus.clone(), faults.clone(), fabric.clone(), table);
            let mut text = Vec::new();
            file.write(&mut text).unwrap();
            tables.push(Table::Routes(String::from_utf8(text).unwrap()));
        }
    }
    tables
}

/// Adapters of two ports, on three switches with parallel cables.
const TWO_PORTS: &str = "\
Switch 6 \"A\"\n[1] \"B\"[1]\n[2] \"B\"[2]\n[3] \"C\"[1]\n[4] \"a\"[1]\n[5] \"b\"[1]\n\n\
Switch 6 \"B\"\n[1] \"A\"[1]\n[2] \"A\"[2]\n[3] \"C\"[2]\n[4] \"a\"[2]\n[5] \"c\"[1]\n\n\
Switch 6 \"C\"\n[1] \"A\"[3]\n[2] \"B\"[3]\n[4] \"b\"[2]\n[5] \"d\"[1]\n\n\
Hca 2 \"a\"\n[1] \"A\"[4]\n[2] \"B\"[4]\n\nHca 2 \"b\"\n[1] \"A\"[5]\n[2] \"C\"[4]\n\n\
Hca 1 \"c\"\n[1] \"B\"[5]\n\nHca 1 \"d\"\n[1] \"C\"[5]\n";

/// Forwarding tables of small fabrics, with and without cycles, virtual channels and LIDs in the
/// netlist.
fn dumps() -> Vec<Table> {
    let of = |cabling: Cabling| Netlist::of(cabling.fabric().unwrap());
    let torus = |sizes: &[u32], terminals, redundancy| {
        of(SwitchedTorus { sizes: sizes.to_vec(), terminals, redundancy }.cabling().unwrap())
    };
    let fabrics = [
        torus(&[5], 2, 1),
        torus(&[3, 3], 1, 2),
        torus(&[4, 3], 1, 1),
        of(Tree { arity: 2, levels: 2, terminals: 2 }.cabling().unwrap()),
        of(RandomRegular { routers: 6, degree: 3, terminals: 2, seed: 1 }.cabling().unwrap()),
        Netlist::read(TWO_PORTS).unwrap(),
    ];
    let algorithms = [
        Algorithm::MIN_HOP,
        Algorithm::UP_DOWN,
        Algorithm::TORUS_2QOS,
        Algorithm::LASH,
        Algorithm::DFSSSP,
        Algorithm::DFSSSP_FEWEST,
        Algorithm::DFSSSP_OPENSM,
        Algorithm::NUE_BALANCED,
    ];
    let parameters = Parameters { vcs: 3, ..Parameters::default() };
    let mut tables = Vec::new();
    for netlist in &fabrics {
        for algorithm in algorithms {
            let Ok(made) = algorithm.generate(&netlist.fabric, &parameters) else { continue };
            let levels = tables::opensm::levels_text(netlist, &made.table);
            let (map, paths) = levels.unzip();
            for netlist_text in [netlist.text(), netlist.discovered_text()] {
                tables.push(Table::Dump(Dump {
                    netlist: netlist_text,
                    tables: tables::opensm::text(netlist, &made.table),
                    map: map.clone(),
                    paths: paths.clone(),
                }));
            }
        }
    }
    tables
}

/// A table that is damaged once to three times, always in the same way under the same number.
fn mutant(tables: &[Table], number: u64) -> Table {
    let random = &mut ChaCha8Rng::seed_from_u64(number);
    let mut table = tables.choose(random).unwrap().clone();
    for _ in 0..*[1, 1, 2, 3].choose(random).unwrap() {
        match &mut table {
            Table::Routes(text) => damage(text, random, mutate::routes),
            Table::Dump(dump) => match (random.random_range(0..10), &mut dump.map, &mut dump.paths)
            {
                (0..=3, Some(map), _) => damage(map, random, mutate::map),
                (4 | 5, _, Some(paths)) => damage(paths, random, mutate::paths),
                (6, map, _) if random.random_range(0..4) == 0 => *map = None,
                (6, _, _) => damage(&mut dump.netlist, random, mutate::netlist),
                _ => damage(&mut dump.tables, random, mutate::tables),
            },
        }
    }
    table
}

fn damage(text: &mut String, random: &mut ChaCha8Rng, by: fn(&mut Lines, &mut ChaCha8Rng)) {
    let mut lines = Lines::of(text);
    by(&mut lines, random);
    *text = lines.text();
}

/// What the program says.
fn program(table: &Table) -> Verdict {
    match table {
        Table::Routes(text) => TableFile::parse(text).map_or(Verdict::Refused, |file| {
            let proof = tables::prove(&file.fabric, &file.table);
            let torus = file.fabric.torus().unwrap();
            let mut findings = Findings { routed: proof.routes, ..Findings::default() };
            for flaw in &proof.flaws {
                let kind = match flaw {
                    Flaw::Missing { .. } => "missing",
                    Flaw::LeadsElsewhere { .. } => "elsewhere",
                    Flaw::Idle { .. } => "idle",
                    Flaw::NoChannel { .. } => "channel",
                    Flaw::UnequalHops { .. } => "unequal",
                    Flaw::Cycle(_) => {
                        findings.cycle = true;
                        continue;
                    }
                };
                let (from, to) = flaw.pair().unwrap();
                let (from, to) = (torus.coordinates(from), torus.coordinates(to));
                findings.flaws.insert(format!("{kind} {from:?} {to:?}"));
            }
            Verdict::Judged(findings)
        }),
        Table::Dump(dump) => forwarding(dump).unwrap_or(Verdict::Refused),
    }
}

fn forwarding(dump: &Dump) -> Option<Verdict> {
    let netlist = Netlist::read(&dump.netlist).ok()?;
    let mut read = tables::opensm::Dump::read(&netlist, &dump.tables).ok()?;
    if dump.paths.is_some() || dump.map.is_some() {
        let paths = dump.paths.as_deref().unwrap_or_default();
        read.set_levels(&netlist, PathLevels { paths, map: dump.map.as_deref() }).ok()?;
    }
    let proof = tables::prove_forwarding(&netlist.fabric, &read.table);
    let mut findings = Findings { routed: proof.pairs, ..Findings::default() };
    let switch = |router: u32| netlist.switches[router as usize].guid;
    let terminal = |terminal: u32| netlist.adapters[terminal as usize].port_guid;
    for flaw in &proof.flaws {
        findings.flaws.insert(match *flaw {
            ForwardingFlaw::Missing { source, terminal: to, .. } => {
                format!("missing {:x} {:x}", switch(source), terminal(to))
            }
            ForwardingFlaw::Discarded { source, terminal: to, .. } => {
                format!("dropped {:x} {:x}", terminal(source), terminal(to))
            }
            ForwardingFlaw::Loop { terminal: to, .. } => format!("loop {:x}", terminal(to)),
            ForwardingFlaw::NoChannel { .. } => panic!("the reader refuses ports without a cable"),
            ForwardingFlaw::Cycle(_) => {
                findings.cycle = true;
                continue;
            }
        });
    }
    Some(Verdict::Judged(findings))
}

fn checker(table: &Table) -> Verdict {
    match table {
        Table::Routes(text) => angara::judge(text),
        Table::Dump(dump) => opensm::judge(dump),
    }
}

/// The exit code of the command for a table.
fn command(place: &Workplace, table: &Table) -> i32 {
    let call: &[&str] = match table {
        Table::Routes(text) => {
            place.write("table.routes", text);
            &["route", "--check", "table.routes"]
        }
        Table::Dump(dump) => {
            place.write("fabric.net", &dump.netlist);
            place.write("opensm-lfts.dump", &dump.tables);
            let levels = [("opensm-sl2vl.dump", &dump.map), ("paths.txt", &dump.paths)];
            for (name, text) in levels {
                let _ = std::fs::remove_file(place.0.join(name));
                text.iter().for_each(|text| place.write(name, text));
            }
            &["route", "--check", "."]
        }
    };
    place.flitlab(call).status.code().unwrap()
}

/// Judges mutants twice, and some by the command itself. Says how many had which verdict.
fn compare(
    place: &Workplace,
    mutants: impl Iterator<Item = u64>,
    every: u64,
) -> BTreeMap<String, u32> {
    let kinds = [("routes", tables_of_routes()), ("dump", dumps())];
    for table in kinds.iter().flat_map(|(_, tables)| tables) {
        assert_eq!(program(table), checker(table), "an undamaged table");
    }
    let mut counts = BTreeMap::new();
    for number in mutants {
        // One of Angara's, then two dumps, which are of four files.
        let (kind, tables) = &kinds[usize::from(number % 3 > 0)];
        let table = mutant(tables, number);
        let (ours, theirs) = (program(&table), checker(&table));
        if ours != theirs || number % every == 0 && command(place, &table) != ours.code() {
            let code = command(place, &table);
            let files = place.0.with_file_name(format!("mutant-{number}"));
            let _ = std::fs::remove_dir_all(&files);
            std::fs::rename(&place.0, &files).unwrap();
            panic!(
                "mutant {number}, in {files:?}: {ours:?}\nchecker: {theirs:?}\nexit code {code}"
            );
        }
        let mut of_kind = BTreeMap::new();
        ours.count(&mut of_kind);
        for (verdict, count) in of_kind {
            *counts.entry(format!("{kind} {verdict}")).or_default() += count;
        }
    }
    println!("{counts:?}");
    counts
}

/// Every kind of verdict, with the least number of it among 3,000 mutants.
const KINDS: [(&str, u32); 13] = [
    ("dump cycle", 60),
    ("dump dropped", 20),
    ("dump loop", 60),
    ("dump missing", 150),
    ("dump refused", 400),
    ("dump right", 300),
    ("routes channel", 150),
    ("routes cycle", 40),
    ("routes elsewhere", 50),
    ("routes idle", 50),
    ("routes missing", 50),
    ("routes refused", 200),
    ("routes right", 150),
];

#[test]
fn three_hundred_mutants_of_tables_are_judged_as_a_separate_checker_judges_them() {
    let place = Workplace::new("mutants");
    let counts = compare(&place, (0..3_000).step_by(10), 200);
    for (kind, _) in KINDS {
        assert!(counts.contains_key(kind), "{kind}: {counts:?}");
    }
}

#[test]
#[ignore = "long: 15 s; each of 3,000 mutants of tables is judged as a separate checker judges it"]
fn three_thousand_mutants_of_tables_are_judged_as_a_separate_checker_judges_them() {
    let place = Workplace::new("mutants_long");
    let counts = compare(&place, 0..3_000, 20);
    for (kind, least) in KINDS {
        assert!(counts.get(kind) >= Some(&least), "{kind}: {counts:?}");
    }
}
