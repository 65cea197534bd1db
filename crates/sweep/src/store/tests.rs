use super::*;
use flitlab_base::units::Picoseconds;
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Document, Scenario};

fn ping(extra: &str) -> (Identity, PointResult) {
    let text = format!(
        "{extra}\n[topology.torus]\ndimensions = [4, 2]\n[exchange]\n\
         pattern = {{ pairs = {{ list = [[0, 1]] }} }}\nmessage = \"8 B\"\n"
    );
    let document = Document::parse("ping.toml", &text);
    let scenario = Scenario::read(&document).unwrap();
    let outcome = Simulation::new(&scenario).unwrap().run(&mut |_| {});
    (Scenario::identity(&document).unwrap(), outcome.found)
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("flitlab-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_point_is_found_as_it_was_kept() {
    let folder = folder("store-kept");
    let store = Store::open(&folder, "").unwrap();
    let (identity, outcome) = ping("");
    assert_eq!(store.find(&identity).unwrap(), None);
    let kept = store.keep(&identity, &outcome).unwrap();
    assert_eq!(kept.measured.completion_time, Some(Picoseconds(850_000)));
    assert_eq!(kept.channels.len(), outcome.channels.len());
    assert_eq!(store.find(&identity).unwrap(), Some(kept));
    assert_eq!(store.find(&ping("seed = 2").0).unwrap(), None);
    store.forget(&identity).unwrap();
    store.forget(&identity).unwrap();
    assert_eq!(store.find(&identity).unwrap(), None);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_point_is_found_with_its_workloads_whatever_they_are_called() {
    let folder = folder("store-workloads");
    let store = Store::open(&folder, "").unwrap();
    let (identity, mut outcome) = ping("");
    let workload = |name: &str, nodes| WorkloadRow {
        name: name.into(),
        kind: "exchange".into(),
        measured: PointRow { nodes: Some(nodes), ..PointRow::default() },
        ..WorkloadRow::default()
    };
    outcome.slowdowns = vec![SlowdownRow {
        workload: "first".into(),
        beside: "of two\n\nparts, \"b\"".into(),
        completion: Picoseconds(12_000_000),
        slowdown: 1.25,
    }];
    let failure =
        FailureRow { time: Picoseconds(5_000_000), packets_lost: 7, ..Default::default() };
    outcome.failures =
        vec![failure.clone(), FailureRow { recovery: Some(Picoseconds(1)), ..failure }];
    outcome.workloads = vec![workload("first", 6), workload("of two\n\nparts, \"b\"", 2)];
    let kept = store.keep(&identity, &outcome).unwrap();
    assert_eq!(kept.workloads, outcome.workloads);
    assert_eq!(kept.slowdowns, outcome.slowdowns);
    assert_eq!(kept.failures, outcome.failures);
    assert_eq!(store.find(&identity).unwrap(), Some(kept));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_store_is_open_once_at_a_time() {
    let folder = folder("store-lock");
    let store = Store::open(&folder, "").unwrap();
    assert!(matches!(Store::open(&folder, ""), Err(StoreError::Busy { .. })));
    assert!(matches!(Store::share(&folder, ""), Err(StoreError::Busy { .. })));
    drop(store);
    Store::open(&folder, "").unwrap();
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_store_is_shared_by_many_and_by_none_that_wants_it_for_itself() {
    let folder = folder("store-shared");
    let stores = [Store::share(&folder, "").unwrap(), Store::share(&folder, "").unwrap()];
    assert!(matches!(Store::open(&folder, ""), Err(StoreError::Busy { .. })));
    // The same point, by chance in both.
    let (identity, outcome) = ping("");
    let kept = stores.each_ref().map(|store| store.keep(&identity, &outcome).unwrap());
    assert_eq!(kept[0], kept[1]);
    assert_eq!(Store::names(&folder).unwrap(), [identity.to_string()]);
    drop(stores);
    Store::open(&folder, "").unwrap();
    fs::remove_dir_all(folder).unwrap();
}
