//! Results that are read back: rows in CSV files, and the points that a sweep has kept.

use std::fmt::Debug;
use std::sync::LazyLock;

use flitlab::report::{
    ChannelRow, Label, Labels, LatencyRow, PointResult, PointRow, Row, RowWriter, Sustained,
    WindowRow, WorkloadRow, read,
};
use flitlab::scenario::{Document, Identity, Scenario};
use flitlab::simulation::Simulation;
use flitlab::sweep::Store;
use sha2::{Digest, Sha256};

use super::files::Folder;

/// A `points.csv`, `channels.csv`, `latencies.csv`, `windows.csv`, `workloads.csv` or
/// `saturation.csv`.
pub fn points(bytes: &[u8]) {
    let folder = Folder::of_this_thread();
    folder.write("rows.csv", bytes);
    rows::<PointRow>(&folder, &Labels::All(Vec::new()));
    rows::<Sustained>(&folder, &Labels::All(Vec::new()));
    rows::<ChannelRow>(&folder, &Labels::Place);
    rows::<LatencyRow>(&folder, &Labels::Place);
    rows::<WindowRow>(&folder, &Labels::Place);
    rows::<WorkloadRow>(&folder, &Labels::Place);
}

/// Rows that are read are written and read as the same: texts lose line breaks and numbers decimals
/// at first, and nothing from then on.
fn rows<R: Row + Debug + PartialEq>(folder: &Folder, labels: &Labels) {
    let rows = match read::<R>(&folder.path("rows.csv"), labels) {
        Ok(rows) => rows.rows,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let again = |rows: &[(Label, R)]| -> Vec<(Label, R)> {
        folder.remove("again.csv");
        let path = folder.path("again.csv");
        RowWriter::write_file(&path, labels.clone(), rows.iter().map(|(label, row)| (label, row)))
            .unwrap_or_else(|error| panic!("{error}"));
        let again = read(&path, labels).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.incomplete_line, None);
        again.rows
    };
    let once = again(&rows);
    assert_eq!(once.len(), rows.len());
    assert_eq!(again(&once), once);
}

/// A store's point, whatever it is.
struct Kept {
    identity: Identity,
    name: String,
    /// The beginning of its file, up to the checksum.
    start: String,
}

static KEPT: LazyLock<Kept> = LazyLock::new(|| {
    let text = "[topology.torus]\ndimensions = [4, 2]\n[exchange]\n\
                pattern = { pairs = { list = [[0, 1]] } }\nmessage = \"8 B\"\n";
    let document = Document::parse("ping.toml", text);
    let identity = Scenario::identity(&document).expect("a scenario");
    let scenario = Scenario::read(&document).expect("a scenario");
    let outcome = Simulation::new(&scenario).expect("routes").run(&mut |_| {});
    let folder = Folder::of_this_thread();
    let store = Store::open(folder.root(), "").expect("a store");
    store.keep(&identity, &outcome.found).expect("a store");
    let name = format!("{identity}.point");
    // A line of text, and what is compressed.
    let content = std::fs::read(folder.path("points").join(&name)).expect("a point");
    let line = content.split(|&byte| byte == b'\n').next().expect("a first line");
    let line = std::str::from_utf8(line).expect("a line of text");
    let (first, _) = line.split_once("sha256 ").expect("a checksum");
    Kept { identity, name, start: format!("{first}sha256 ") }
});

/// A stored point: the whole file, if it begins as one, else what follows its first line.
pub fn stored(bytes: &[u8]) {
    let kept = &*KEPT;
    let folder = Folder::of_this_thread();
    std::fs::create_dir_all(folder.path("points")).expect("a temporary folder");
    let place = format!("points/{}", kept.name);
    if bytes.starts_with(kept.start.as_bytes()) {
        folder.write(&place, bytes);
    } else {
        let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let first = format!("{}{sum}\n", kept.start);
        folder.write(&place, &[first.as_bytes(), bytes].concat());
    }
    let found = Store::look_up(folder.root(), &kept.identity).expect("a file that can be read");
    let Some(point) = found else { return };
    let PointResult { measured, channels, latencies, windows, workloads, .. } = point;
    let json = |row| {
        let text = serde_json::to_string(row).expect("rows are plain data");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let once = json(&measured);
    assert_eq!(json(&once), once);
    csv(&channels);
    csv(&latencies);
    csv(&windows);
    csv(&workloads);
}

fn csv<R: Row + Debug + PartialEq>(rows: &[R]) {
    let again = |rows: &[R]| -> Vec<R> {
        let text = R::text(rows);
        R::of_text(&text).unwrap_or_else(|| panic!("{text}"))
    };
    let once = again(rows);
    assert_eq!(again(&once), once);
}
