//! The rooms of the engine, and what each may use: a line that crosses a wall fails here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the bottom up; each may use those above its row, and those that are named.
///
/// What lies at the root of the crate and is not in this list (`simulator`, `saved`, `memory`) makes
/// the whole of the rooms, and may use all.
const ROOMS: [(&str, &[&str]); 24] = [
    ("bytes", &[]),
    ("set", &[]),
    ("by_class", &[]),
    ("counters", &[]),
    ("observer", &[]),
    ("interruption", &[]),
    // Windows, threads, ticks: knows neither packet nor router.
    ("frame", &["observer"]),
    ("statistics", &["frame", "bytes"]),
    ("packet", &["frame"]),
    ("trace", &["frame", "packet"]),
    ("network", &["frame", "packet", "by_class", "bytes", "interruption"]),
    ("zero_load", &["network"]),
    ("next_hop", &["frame", "packet", "network"]),
    ("arbitration", &["network", "set"]),
    (
        "common",
        &[
            "frame",
            "packet",
            "network",
            "next_hop",
            "counters",
            "interruption",
            "statistics",
            "trace",
        ],
    ),
    (
        "host",
        &[
            "frame",
            "packet",
            "network",
            "next_hop",
            "arbitration",
            "common",
            "by_class",
            "bytes",
            "observer",
        ],
    ),
    // What all routers share.
    ("router/link", &["frame", "network"]),
    ("router/collective", &["frame", "packet", "network", "counters"]),
    (
        "router",
        &[
            "frame",
            "packet",
            "network",
            "next_hop",
            "common",
            "host",
            "interruption",
            "part",
            "set",
        ],
    ),
    ("router/packet", KIND),
    ("router/cioq", KIND),
    ("router/flit", KIND),
    (
        "part",
        &[
            "frame",
            "packet",
            "network",
            "next_hop",
            "common",
            "host",
            "router",
            "counters",
            "interruption",
            "observer",
            "statistics",
        ],
    ),
    ("lib", &[]),
];

/// A kind of routers: everything below, and no other kind.
const KIND: &[&str] = &[
    "frame",
    "packet",
    "network",
    "next_hop",
    "arbitration",
    "common",
    "host",
    "router",
    "router/link",
    "router/collective",
    "part",
    "bytes",
    "counters",
    "interruption",
    "set",
    "statistics",
    "trace",
];

pub fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// The room of a module by its path from the root of the crate, as `["router", "cioq", "room"]`.
fn room(path: &[&str]) -> String {
    match path {
        // What has a folder there has a room of its own.
        ["router", inner, _, ..] => format!("router/{inner}"),
        ["router", inner] if ROOMS.iter().any(|(name, _)| *name == format!("router/{inner}")) => {
            format!("router/{inner}")
        }
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}

/// The rooms that the text of a module names, by paths from the root of the crate or from itself.
fn used(module: &[&str], text: &str) -> BTreeSet<String> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    let code: String = code.flat_map(|line| [line, "\n"]).collect();
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let path = |text| -> Vec<&str> {
        let names = str::split(text, "::");
        names.map(|name| name.split(|c| !is_word(c)).next().unwrap_or("")).take(2).collect()
    };
    let mut rooms = BTreeSet::new();
    for (at, root) in code.match_indices("crate::") {
        rooms.insert(room(&path(&code[at + root.len()..])));
    }
    for (at, outside) in code.match_indices("super::super::") {
        let Some(above) = module.len().checked_sub(2) else { continue };
        let named = path(&code[at + outside.len()..]);
        rooms.insert(room(&[&module[..above], &named].concat()));
    }
    rooms
}

/// The path of a file's module.
pub fn module(path: &Path) -> Vec<&str> {
    let names = path.iter().map(|it| it.to_str().unwrap().trim_end_matches(".rs"));
    names.filter(|name| *name != "mod").collect()
}

/// The uses that cross a wall: the file, and the room that it names.
fn crossings(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        let own = room(&module(path));
        let Some((_, may)) = ROOMS.iter().find(|(name, _)| *name == own) else { continue };
        for other in used(&module(path), text) {
            let is_room = ROOMS.iter().any(|(name, _)| *name == other);
            let above = ["simulator", "saved", "memory"].contains(&&*other);
            if other != own && (is_room || above) && !may.contains(&&*other) {
                found.push(format!("{} uses {other}", path.display()));
            }
        }
    }
    found
}

fn engine() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    // Networks and parts that unit tests are made of.
    let of_tests = |path: &PathBuf| {
        ["tests.rs", "small.rs", "plain.rs"].iter().any(|name| path.ends_with(name))
    };
    let paths = paths.into_iter().filter(|path| !of_tests(path));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&root).unwrap().to_owned(), text)
    };
    paths.map(read).collect()
}

#[test]
fn no_room_of_the_engine_uses_one_that_it_must_not_know() {
    let files = engine();
    assert!(files.len() > 110, "{} files", files.len());
    let rooms: BTreeSet<String> = files.iter().map(|(path, _)| room(&module(path))).collect();
    let unknown: Vec<&String> = rooms
        .iter()
        .filter(|room| !ROOMS.iter().any(|(name, _)| name == room))
        .filter(|room| !["simulator", "saved", "memory"].contains(&&***room))
        .collect();
    assert!(unknown.is_empty(), "without a row: {unknown:?}");
    let found = crossings(&files);
    assert!(found.is_empty(), "{found:#?}");
}

/// Lines that cross a wall, in the forms that `use` has.
#[test]
fn a_line_that_crosses_a_wall_is_found() {
    for (path, line) in [
        ("router/flit/mod.rs", "use crate::router::packet::credits::Credits;"),
        ("router/cioq/visit.rs", "fn f() -> crate::router::flit::FlitQueue {}"),
        ("arbitration/switch.rs", "use crate::router::flit::{FlitInput, FlitOutput};"),
        ("network/context.rs", "use crate::next_hop;\n"),
        ("host/deliver.rs", "use crate::router::collective::COLLECTIVE;"),
        ("frame/mod.rs", "use crate::packet::Packet;"),
        ("zero_load.rs", "use crate::host::Hosts;"),
        ("router/packet/mod.rs", "use crate::saved::Saved;"),
        ("router/flit/link.rs", "use super::super::packet::credits::Credits;"),
    ] {
        let mut files = engine();
        files.push((path.into(), line.to_owned()));
        assert_eq!(crossings(&files).len(), 1, "{path}: {line}");
    }
    // What tests and comments name is no use.
    let harmless =
        "// crate::router::flit\n#[cfg(test)]\nmod tests {\n use crate::router::flit;\n}\n";
    let mut files = engine();
    files.push(("frame/mod.rs".into(), harmless.to_owned()));
    assert_eq!(crossings(&files), Vec::<String>::new());
}
