//! Files that flitlab reads or writes, recognised by what they begin with.

use std::path::{Path, PathBuf};

use flitlab::tables::TableFile;
use flitlab::traces::formats::{Beginning, Fate, FileFormat, FileKind};

/// The files below a folder with one of these endings.
fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if endings.contains(&ending.as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder}");
    found
}

fn kind(path: &Path) -> Option<FileKind> {
    match FileFormat::of(&Beginning::of_file(path).unwrap())?.fate {
        Fate::Read(kind) => Some(kind),
        Fate::Named { .. } => panic!("{} is not read", path.display()),
    }
}

#[test]
fn every_file_that_is_read_is_recognised_as_what_it_is() {
    for (folder, endings, wanted) in [
        ("tests/traces", &["et", "bin", "txt"][..], FileKind::Application),
        ("tests/goal", &["goal"], FileKind::Application),
        ("scenarios", &["et", "goal", "txt"], FileKind::Application),
        ("tests/fabrics", &["net"], FileKind::Netlist),
        ("scenarios/nue", &["net"], FileKind::Netlist),
        ("tests/fabrics", &["lfts"], FileKind::Tables),
        ("scenarios/nue", &["lfts"], FileKind::Tables),
        ("tests/fabrics", &["sl2vl"], FileKind::Lanes),
    ] {
        for path in files(folder, endings) {
            assert_eq!(kind(&path), Some(wanted), "{}", path.display());
        }
    }
    for (path, wanted) in [
        ("tests/right/matrix.csv", FileKind::Matrix),
        ("tests/right/flows.csv", FileKind::Flows),
        ("scenarios/studies/flows.csv", FileKind::Flows),
        ("scenarios/studies/web-search.csv", FileKind::Sizes),
        ("results/dragonfly-ugal/points.csv", FileKind::Results),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        assert_eq!(kind(&path), Some(wanted), "{}", path.display());
    }
}

#[test]
fn tables_of_routes_are_recognised() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/routes");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables: Vec<PathBuf> = files.filter(|path| TableFile::begins(path)).collect();
    assert!(!tables.is_empty());
    for path in tables {
        let file = Beginning::of_file(&path).unwrap();
        if file.is_text {
            assert_eq!(kind(&path), Some(FileKind::Routes), "{}", path.display());
        }
    }
}

#[test]
fn no_scenario_is_taken_for_anything_else() {
    for folder in ["scenarios", "tests/wrong", "results", "tests/extension"] {
        for path in files(folder, &["toml"]) {
            let kind = kind(&path);
            assert!(
                matches!(kind, None | Some(FileKind::Scenario)),
                "{}: {kind:?}",
                path.display()
            );
        }
    }
}
