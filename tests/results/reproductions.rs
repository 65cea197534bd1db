//! Committed reproductions are what their commands give today: each row of a quick form is a row of
//! the whole.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::workplace::Workplace;

/// Reproductions whose quick form computes a part of the whole, with their folders and tables.
const HELD: [(&str, &str, &[&str]); 10] = [
    ("angara-table2", "angara/table2", &["table", "readings", "sssp-readings"]),
    ("angara-fig4", "angara/fig4", &["systems"]),
    ("angara-collectives", "angara-collectives", &["completion"]),
    ("nue-faults", "nue/faults", &["tables"]),
    ("path-selection-table2", "path-selection/table2", &["networks"]),
    ("ember-torus", "applications", &["motifs"]),
    ("angara-fig6", "angara/fig6", &["completion"]),
    ("dragonfly-ugal", "dragonfly-ugal", &["claims", "points"]),
    ("slimfly", "slimfly", &["claims", "points"]),
    ("hyperx-omniwar", "hyperx-omniwar", &["claims", "points"]),
];

/// The header of a table without what a clock measured, and where its columns are.
fn columns(header: &csv::StringRecord) -> Vec<(String, usize)> {
    let lasting = |&(name, _): &(&str, usize)| !name.contains("seconds");
    let named = header.iter().zip(0..).filter(lasting);
    named.map(|(name, place)| (name.to_owned(), place)).collect()
}

/// The rows of a table in the columns that have these names.
fn rows(path: &Path, names: Option<&[(String, usize)]>) -> (Vec<(String, usize)>, Vec<String>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let columns = columns(reader.headers().unwrap());
    let place = |name: &str| {
        let found = columns.iter().find(|column| column.0 == name);
        found.unwrap_or_else(|| panic!("{}: no column {name}", path.display())).1
    };
    let places: Vec<usize> =
        names.unwrap_or(&columns).iter().map(|(name, _)| place(name)).collect();
    let text = |row: csv::StringRecord| {
        places.iter().map(|&place| &row[place]).collect::<Vec<_>>().join(" | ")
    };
    let rows = reader.records().map(|row| text(row.unwrap())).collect();
    (columns, rows)
}

/// Rows of the quick form that the committed table has not.
fn stale(place: &Workplace, (name, folder, tables): (&str, &str, &[&str])) -> Vec<String> {
    place.run(&["reproduce", name, "--quick", "--no-figures", "--out", name]);
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(folder);
    let mut stale = Vec::new();
    for table in tables {
        let (columns, found) = rows(&place.0.join(format!("{name}/{table}.csv")), None);
        let (_, kept) = rows(&committed.join(format!("{table}.csv")), Some(&columns));
        assert!(!found.is_empty() && found.len() <= kept.len(), "{name}: {table}");
        let kept: BTreeSet<String> = kept.into_iter().collect();
        let gone = found.into_iter().filter(|row| !kept.contains(row));
        stale.extend(gone.map(|row| format!("{folder}/{table}.csv lacks {row}")));
    }
    stale
}

#[test]
fn committed_reproductions_are_what_their_quick_forms_give() {
    let place = Workplace::new("committed_reproductions");
    let stale: Vec<String> = HELD[..6].iter().flat_map(|&held| stale(&place, held)).collect();
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
#[ignore = "long: ten seconds; more committed reproductions"]
fn committed_exchanges_on_desmos_are_what_their_quick_form_gives() {
    let place = Workplace::new("committed_exchanges");
    let stale = stale(&place, HELD[6]);
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
#[ignore = "long: a minute; load curves under detours"]
fn committed_load_curves_are_what_their_quick_forms_give() {
    let place = Workplace::new("committed_load_curves");
    let stale: Vec<String> = HELD[7..].iter().flat_map(|&held| stale(&place, held)).collect();
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}
