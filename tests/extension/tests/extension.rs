//! Each component from outside, through scenarios, as a user of that crate has it.

use std::error::Error;

use flitlab::adaptive::AdaptiveKind;
use flitlab::package;
use flitlab::registry::{Component, Registry, Row};
use flitlab::report::figure::{FigureRequest, Format, Medium, draw_all};
use flitlab::report::{Label, Point, PointRow, ResultRows, Status};
use flitlab::routing::phased::PhasedKind;
use flitlab::scenario::{Document, Scenario, Sweep, WorkloadKind};
use flitlab::simulation::Simulation;
use flitlab::sweep::label_of;
use flitlab::tables::path_selection::PathSelection;
use flitlab::tables::relation_rules::RelationRule;
use flitlab::topology::builders::BuilderKind;
use flitlab_extension::adaptive_rule::RELAY;
use flitlab_extension::figure::HOPS;
use flitlab_extension::path_selection::LAST_OFFERED;
use flitlab_extension::phased_rule::BEST_OF;
use flitlab_extension::registry;
use flitlab_extension::relation_rule::HOP_VCS;
use flitlab_extension::topology::LEAF_SPINE;
use flitlab_extension::workload::KIND;

type Test = Result<(), Box<dyn Error>>;

const TORUS: &str = "[topology.torus]\ndimensions = [4, 4]\n";
const LOAD: &str = "[traffic]\npattern = 'uniform'\nload = 0.2\n";

fn document(text: &str) -> Result<Document, Box<dyn Error>> {
    Ok(Document::parse("extension.toml", text).with_registry(&registry()?))
}

/// What is measured of a scenario on one thread, which has to be the same on two.
fn measure(text: &str) -> Result<PointRow, Box<dyn Error>> {
    let scenario = Scenario::read(&document(text)?)?;
    let run = |threads| -> Result<_, Box<dyn Error>> {
        let found = Simulation::new(&scenario)?.on_threads(threads).run(&mut |_| {}).found;
        Ok((found.measured.digest, found.measured))
    };
    let (one, two) = (run(1)?, run(2)?);
    assert_eq!(one.0, two.0);
    Ok(one.1)
}

/// What the points of a sweep have in the column of the one key of its grid.
fn cells(sweep: &str, key: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let points = Sweep::read(&document(sweep)?)?.points;
    let labels = points.iter().map(|point| label_of(point, 0));
    Ok(labels.filter_map(|label| label.setting(key).map(str::to_owned)).collect())
}

fn refused(text: &str) -> Result<String, Box<dyn Error>> {
    Ok(Scenario::read(&document(text)?).err().ok_or("it was read")?.plain())
}

#[test]
fn a_pattern() -> Test {
    let traffic = "[traffic]\npattern = { stride = { by = 4 } }\nload = 0.2\n";
    let measured = measure(&format!("{TORUS}{traffic}"))?;
    // Node n + 4 is the next one along y.
    assert_eq!(measured.hops_mean, Some(1.0));
    let said = refused(&format!("{TORUS}[traffic]\npattern = 'stride'\nload = 0.2\n"))?;
    assert!(said.contains("`stride` needs `by`"), "{said}");
    Ok(())
}

#[test]
fn a_table_algorithm() -> Test {
    let routing = "[routing.agnostic]\nalgorithm = 'one-root'\n";
    let load = LOAD.replace("0.2", "0.01");
    let measured = measure(&format!("{TORUS}{routing}{load}"))?;
    assert_eq!(measured.status, Status::Steady);
    // Shortest paths of 16 nodes have 32 / 15 hops.
    assert!(measured.hops_mean.is_some_and(|hops| hops > 2.2));
    Ok(())
}

#[test]
fn a_relation_rule_and_a_path_selection() -> Test {
    let routing = "[routing.relation]\nrule = 'hop-vcs'\n";
    let shortest = 32.0 / 15.0;
    for selection in ["none", "last-offered", "balanced"] {
        let routing = format!("{routing}selection = '{selection}'\n");
        let measured = measure(&format!("{TORUS}{routing}{LOAD}"))?;
        assert_eq!(measured.status, Status::Steady, "{selection}");
        assert!(measured.hops_mean.is_some_and(|hops| (hops - shortest).abs() < 0.02));
    }
    let router = "[router]\nvirtual_channels = 3\n";
    let said = refused(&format!("{TORUS}{router}{routing}{LOAD}"))?;
    assert!(said.contains("4 virtual channels"), "{said}");
    Ok(())
}

#[test]
fn a_topology() -> Test {
    let topology = "[topology.leaf_spine]\nleaves = 4\nspines = 2\n";
    let measured = measure(&format!("{topology}{LOAD}"))?;
    // 3 of 15 destinations are at the same leaf, all others two hops away.
    assert!(measured.hops_mean.is_some_and(|hops| (hops - 1.6).abs() < 0.02));
    // Of 4 GB/s of a cable: 8 cables to the spines for the 12 flits of 16 terminals that leave.
    assert!(measured.capacity.is_some_and(|it| (it - 4.0 * 8.0 / 12.0).abs() < 1e-3));
    // Leaves are groups, which patterns can use.
    let shift = LOAD.replace("uniform", "group-shift");
    assert_eq!(measure(&format!("{topology}{shift}"))?.hops_mean, Some(2.0));
    let said = refused(&format!("[topology.clos]\nleaves = 4\nspines = 2\n{LOAD}"))?;
    assert!(said.contains("did you mean `leaf_spine`?"), "{said}");
    Ok(())
}

#[test]
fn a_schedule() -> Test {
    let time = |rounds: u32| -> Result<_, Box<dyn Error>> {
        let schedule = format!("{{ token-ring = {{ ranks = 16, rounds = {rounds} }} }}");
        let measured = measure(&format!("{TORUS}[application]\nschedule = {schedule}\n"))?;
        assert_eq!(measured.status, Status::Completed);
        Ok(measured.completion_time.ok_or("it has ended")?.0)
    };
    let (once, thrice) = (time(1)?, time(3)?);
    assert!((thrice as f64 / once as f64 - 3.0).abs() < 0.01, "{once} {thrice}");
    Ok(())
}

#[test]
fn a_figure() -> Test {
    let point = |load, hops| Point {
        label: Label { series: "ABR".into(), ..Label::default() },
        measured: PointRow {
            status: Status::Steady,
            offered_load: Some(load),
            hops_mean: Some(hops),
            ..PointRow::default()
        },
        ..Point::default()
    };
    let rows = ResultRows { points: vec![point(0.1, 2.1), point(0.3, 2.4)], ..Default::default() };
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figure");
    let medium = Medium { formats: vec![Format::Svg], ..Medium::default() };
    let wish = FigureRequest { own: vec![HOPS], medium, ..FigureRequest::titled("Detours") };
    let files = draw_all(&rows, &folder, &wish)?;
    let drawn = files.written.iter().find(|path| path.ends_with("hops.svg")).ok_or("no figure")?;
    let svg = std::fs::read_to_string(drawn)?;
    assert!(svg.contains("Mean hops") && svg.contains("ABR"));
    Ok(())
}

#[test]
fn components_are_swept_and_told_apart_from_built_in_ones() -> Test {
    let sweep =
        format!("{TORUS}{LOAD}[sweep.grid]\nrouting.relation.rule = ['hop-vcs', 'up-down']\n");
    assert_eq!(Sweep::read(&document(&sweep)?)?.points.len(), 2);
    let topologies =
        "{ torus = { dimensions = [2, 2] } }, { leaf_spine = { leaves = 4, spines = 2 } }";
    let sweep = format!("{LOAD}[sweep.grid]\ntopology = [{topologies}]\n");
    assert_eq!(cells(&sweep, "topology")?, ["torus", "leaf_spine"]);
    let text = format!("{TORUS}[routing.relation]\nrule = 'hop-vcs'\n{LOAD}");
    let (_, resolved) = Scenario::read_resolved(&document(&text)?)?;
    let from =
        "# routing.relation.rule.hop-vcs is not built in: it comes from flitlab-extension 0.3.1";
    assert!(resolved.starts_with(from), "{resolved}");
    let misspelt = refused(&text.replace("hop-vcs", "hop-vc"))?;
    assert!(misspelt.contains("did you mean `hop-vcs`?"), "{misspelt}");
    Ok(())
}

#[test]
fn a_workload() -> Test {
    let read = |text: &str| document(&format!("{TORUS}{text}"));
    let said = |text: &str| -> Result<_, Box<dyn Error>> {
        Ok(Scenario::read(&read(text)?).err().ok_or("it was read")?.plain())
    };
    assert!(said("[pass]\nmesage = '8 B'\n")?.contains("did you mean `message`?"));
    assert!(said("[pas]\nmessage = '8 B'\n")?.contains("did you mean `pass`?"));
    assert!(said("")?.contains("nor [flows] nor [pass]"));
    assert!(said("[pass]\nmessage = '8 B'\n[exchange]\n")?.contains("not [exchange] and [pass]"));
    let sweep = "[pass]\nmessage = '8 B'\n[sweep.grid]\npass.message = ['8 B', '1 KiB']\n";
    assert_eq!(Sweep::read(&read(sweep)?)?.points.len(), 2);
    let whole = "[sweep.grid]\npass = [{ message = '8 B' }, { message = '1 KiB' }]\n";
    let expected = ["{ message = '8 B' }", "{ message = '1 KiB' }"];
    assert_eq!(cells(&format!("{TORUS}{whole}"), "pass")?, expected);
    let search = "[pass]\nmessage = '8 B'\n[sweep]\nsaturation = { tolerance = 0.02 }\n";
    let said = Sweep::read(&read(search)?).err().ok_or("it was read")?.plain();
    assert!(said.contains("a [pass] has no load that could saturate"), "{said}");
    let (_, resolved) = Scenario::read_resolved(&read("[pass]\nmessage = '8 B'\n")?)?;
    assert!(resolved.starts_with("# pass is not built in: it comes from flitlab-extension "));
    let time = |text: &str| -> Result<_, Box<dyn Error>> {
        let measured = measure(&format!("{TORUS}{text}"))?;
        assert_eq!((measured.status, measured.nodes), (Status::Completed, Some(16)));
        Ok(measured.completion_time.ok_or("it has ended")?)
    };
    let pairs = "pattern = { pairs = { list = [[[0, 0], [1, 0]]] } }\nmessage = '8 B'\n";
    // Some of the next nodes are one hop away, and some two.
    let (own, one_hop) =
        (time("[pass]\nmessage = '8 B'\n")?, time(&format!("[exchange]\n{pairs}"))?);
    assert!(own > one_hop && own < one_hop * 2, "{own} {one_hop}");
    // Beside a load it is one of several workloads, and begins later.
    let pass = "[workloads.own]\nstart = '5 us'\n[workloads.own.pass]\nmessage = '8 B'\n";
    let load = "[workloads.load.traffic]\npattern = 'uniform'\nload = 0.1\n";
    let both = document(&format!("{TORUS}{pass}{load}"))?;
    let (scenario, resolved) = Scenario::read_resolved(&both)?;
    assert!(resolved.starts_with("# workloads.own.pass is not built in"));
    let found = Simulation::new(&scenario)?.run(&mut |_| {}).found;
    let rows = found.workloads.iter().map(|row| (row.name.as_str(), row.kind.as_str()));
    assert_eq!(rows.collect::<Vec<_>>(), [("own", "pass"), ("load", "traffic")]);
    let beside = found.workloads[0].measured.completion_time.ok_or("it has ended")?;
    assert!(beside >= own && beside < own * 2, "{beside} {own}");
    let some = pass.replace("[workloads.own.pass]", "nodes = [0, 1]\n[workloads.own.pass]");
    assert!(refused(&format!("{TORUS}{some}{load}"))?.contains("which nodes take part"));
    Ok(())
}

#[test]
fn a_name_that_means_something_else_is_refused() {
    fn taken<C: Component>(row: &'static Row<C>) -> bool {
        Registry::default().with(package!(), row).is_err()
    }
    static LINK: Row<WorkloadKind> = Row::new("link", "Another one.", KIND);
    static EXCHANGE: Row<WorkloadKind> = Row::new("exchange", "Another one.", KIND);
    static TORUS: Row<BuilderKind> = Row { name: "torus", ..LEAF_SPINE };
    static RELATION: Row<AdaptiveKind> = Row { name: "relation", ..RELAY };
    static AUTO: Row<RelationRule> = Row { name: "auto", ..HOP_VCS };
    static NONE: Row<PathSelection> = Row { name: "none", ..LAST_OFFERED };
    assert!(taken(&LINK) && taken(&EXCHANGE) && taken(&TORUS));
    static UGAL: Row<RelationRule> = Row { name: "ugal", ..HOP_VCS };
    static UP_DOWN: Row<PhasedKind> = Row { name: "up-down", ..BEST_OF };
    assert!(taken(&RELATION) && taken(&AUTO) && taken(&NONE));
    // Relations by place and rules with phases are named by one key.
    assert!(taken(&UGAL) && taken(&UP_DOWN));
}

/// tests/simulation/own_adaptive.rs compares both with the reference
/// engines, and shows what the proof refuses.
#[test]
fn an_adaptive_rule_and_a_selection_function() -> Test {
    let minimal = measure(&format!("{TORUS}[routing.adaptive]\nselection = 'mru'\n{LOAD}"))?;
    let relayed = measure(&format!("{TORUS}[routing.relay]\n{LOAD}"))?;
    let hops = |measured: &PointRow| measured.hops_mean.ok_or("no packet has arrived");
    assert!((hops(&minimal)? - 32.0 / 15.0).abs() < 0.02);
    // Two legs, each to one of all 16 nodes, which is two hops away in the mean.
    assert!((hops(&relayed)? - 4.0).abs() < 0.05, "{:?}", relayed.hops_mean);
    Ok(())
}
