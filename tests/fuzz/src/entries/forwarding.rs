//! OpenSM's dumps for a small fabric: forwarding tables, maps of service levels, lists of paths'
//! levels.

use std::sync::LazyLock;

use flitlab::tables::opensm::{self, Dump, PathLevels};
use flitlab::tables::prove_forwarding;
use flitlab::topology::netlist::Netlist;

use super::text;

/// Three switches in a ring, one of its cables twice; an adapter at each, and one with a port at
/// two.
static NETLIST: LazyLock<Netlist> =
    LazyLock::new(|| Netlist::read(include_str!("../../fabric/ring3.net")).expect("a netlist"));

/// Its tables as flitlab wrote them.
const TABLES: &str = include_str!("../../fabric/ring3.lfts");

/// A list of paths with several service levels.
const PATHS: &str = "1 2 1\n2 1 2\n3 1 15\n0x2c 3 4\n";

/// An `opensm-lfts.dump`, or the output of `ibroute`.
pub fn lfts(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(dump) = Dump::read(&NETLIST, text) else { return };
    prove(&dump);
    let written = opensm::text(&NETLIST, &dump.table);
    let again = read(&written);
    assert_eq!(again.table, dump.table, "{written}");
}

/// An `opensm-sl2vl.dump`.
pub fn sl2vl(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    levels(PathLevels { paths: PATHS, map: Some(text) });
}

/// A list of paths with their service levels.
pub fn paths(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    levels(PathLevels { paths: text, map: None });
}

fn read(text: &str) -> Dump {
    Dump::read(&NETLIST, text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Proofs must come to an end with any table; what is wrong with it is told in words.
fn prove(dump: &Dump) {
    for flaw in prove_forwarding(&NETLIST.fabric, &dump.table).flaws {
        assert!(!flaw.describe(&NETLIST.fabric).is_empty());
    }
}

/// Levels that are written are read as the same.
fn levels(levels: PathLevels<'_>) {
    let mut dump = read(TABLES);
    if dump.set_levels(&NETLIST, levels).is_err() {
        return;
    }
    prove(&dump);
    let written = opensm::levels_text(&NETLIST, &dump.table);
    let Some((map, paths)) = &written else { return };
    let mut again = read(TABLES);
    again
        .set_levels(&NETLIST, PathLevels { paths, map: Some(map) })
        .unwrap_or_else(|(file, error)| panic!("{file}: {error}\n{map}\n{paths}"));
    assert_eq!(opensm::levels_text(&NETLIST, &again.table), written);
}
