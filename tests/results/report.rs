//! `flitlab report` as a user runs it, and its page in a real browser.

use std::fs;
use std::io::Write;

use flitlab::report::{Packing, ResultFolder};
use serde_json::{Value, json};

use crate::common::browser::Browser;
use crate::common::made_up;
use crate::common::workplace::{SHORT, Workplace, scenario, with};

/// Sweeps two patterns over three loads, the last of them past saturation, into a folder.
fn sweep(place: &Workplace, out: &str, more: &[&str]) {
    let path = scenario("desmos/desmos-loads");
    let grid = [
        "--set",
        "sweep.grid.traffic.pattern=[\"uniform\", \"tornado\"]",
        "--set",
        "sweep.grid.traffic.load=[0.05, 0.1, 0.9]",
    ];
    place.run(&with(&with(&with(&["sweep", &path, "--out", out], &grid), &SHORT), more));
}

/// A browser, or none and a word about it.
pub fn browser(place: &Workplace) -> Option<Browser> {
    let browser = Browser::start(&place.0.join("browser"));
    if browser.is_none() {
        // Past the capture of tests: nobody should take a skipped test for a passed one.
        let word =
            "skipped: there is no Chromium to open the report in (apt-get install chromium)\n";
        std::io::stderr().write_all(word.as_bytes()).unwrap();
    }
    browser
}

#[test]
fn a_report_is_one_file_and_replaces_nothing() {
    let place = Workplace::new("report");
    sweep(&place, "a", &[]);
    assert_eq!(place.run(&["report", "a"]), "a/report.html\n");
    let page = place.read("a/report.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("tornado"));
    let (code, errors) = place.fail(&["report", "a"]);
    assert_eq!((code, errors.contains("a/report.html exists")), (2, true), "{errors}");
    let made = place.json(&["report", "a", "--force", "--json"]);
    assert_eq!(made["bytes"], page.len());
    assert_eq!(
        (&made["results"][0]["points"], &made["results"][0]["finished"]),
        (&6.into(), &true.into())
    );
    assert_eq!(page, place.read("a/report.html"));
}

#[test]
fn what_can_not_be_reported_is_refused_with_the_way_out() {
    let place = Workplace::new("report_wrong");
    place.run(&["run", &scenario("desmos/ping-neighbour"), "--out", "ping"]);
    let refused = |arguments: &[&str], expected: &str| {
        let (code, errors) = place.fail(&with(&["report"], arguments));
        assert_eq!(code, 2, "{errors}");
        assert!(errors.starts_with("error: ") && errors.contains(expected), "{errors}");
    };
    refused(&["ping", "ping"], "add -o report.html");
    refused(&["ping", "-o", "ping"], "write -o ping/report.html");
    refused(&["nothing"], "nothing does not exist");
    refused(&["ping", "--labels", "a,b"], "2 names for 1 results");
    refused(&["ping", "ping", "--labels", "a,a", "-o", "a.html"], "--labels names a twice");
    let (code, errors) = place.fail(&["report", "ping", "-o", "no/where.html"]);
    assert_eq!(
        (code, errors.starts_with("error: can't write no/where.html")),
        (1, true),
        "{errors}"
    );
}

#[test]
fn a_sweep_that_has_not_ended_is_reported_as_far_as_it_went() {
    let place = Workplace::new("report_unfinished");
    sweep(&place, "a", &[]);
    let rows = place.read("a/points.csv");
    let kept: Vec<&str> = rows.lines().take(3).collect();
    fs::write(place.0.join("a/points.csv"), kept.join("\n") + "\nuniform,,3").unwrap();
    fs::remove_file(place.0.join("a/summary.json")).unwrap();
    let output = place.flitlab(&["report", "a", "--labels", "half"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.contains("a has no summary.json"), "{errors}");
    let page = place.read("a/report.html");
    assert!(page.contains("2 points so far, of 6"), "{errors}");
    assert!(page.contains("half has no summary.json"), "the page names no folder");
    assert!(page.contains("the last line is cut short"));
}

#[test]
fn the_workloads_of_points_have_a_table_that_is_tied_to_the_points() {
    let place = Workplace::new("report_workloads");
    let mut points = made_up::sweep("a", 0.7, 600.0, 0.5);
    points[1].workloads = made_up::workloads();
    let folder = ResultFolder::begin(&place.0, Vec::new(), Packing::Plain).unwrap();
    folder.finish(&points, &[]).unwrap();
    place.run(&["report", "."]);
    assert!(place.read("report.html").contains("\"workload_columns\":[{\"name\":\"workload\""));
    let Some(mut browser) = browser(&place) else { return };
    browser.open(&place.0.join("report.html"), (1200, 900));
    let rows =
        browser.evaluate("document.querySelector('#workloads tbody').innerText.split('\\n')");
    let background = "background\ttraffic\tsteady\t0.3000\t0.2500\t700.1 ns\t1.200 \u{b5}s\t\t48";
    assert_eq!(
        rows,
        json!([background, "halo\texchange\tcompleted\t\t\t900.0 ns\t\t12.35 \u{b5}s\t16"])
    );
    browser.click("#workloads tbody tr");
    let chosen = "document.querySelector('#points tr.chosen').dataset.point";
    assert_eq!(browser.evaluate(chosen), "0/1");
    let part = browser.evaluate("document.querySelector('#contents').innerText");
    assert!(part.as_str().unwrap().contains("Workloads"), "{part}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn the_page_of_what_ends_has_its_course_by_workload_as_the_figure_has() {
    let place = Workplace::new("report_time");
    let scenario = "topology.torus.dimensions = [4, 4]\n\
                    [workloads.background]\nend = \"20 us\"\n\
                    traffic = { pattern = \"uniform\", load = 0.2 }\n\
                    [workloads.halo]\nstart = \"5 us\"\n\
                    exchange = { pattern = \"all-to-all\", message = \"1 KiB\" }\n";
    fs::write(place.0.join("a.toml"), scenario).unwrap();
    place.run(&["run", "a.toml", "--out", "a"]);
    place.run(&["report", "a"]);
    let page = place.read("a/report.html");
    for text in ["start of a workload", "end of a workload", "fullest channel of the window"] {
        assert!(page.contains(text), "{text}");
    }
    // What begins with the simulation has no mark there.
    fs::write(place.0.join("b.toml"), scenario.split("[workloads.halo]").next().unwrap()).unwrap();
    place.run(&["run", "b.toml", "--out", "b"]);
    place.run(&["report", "b"]);
    let page = place.read("b/report.html");
    assert!(page.contains("Flits under way") && !page.contains("start of a workload"));
}

/// The page read workloads.csv, and not slowdowns.csv.
#[test]
fn a_page_has_who_slows_whom() {
    let place = Workplace::new("report_slowdowns");
    let scenario = "topology.torus.dimensions = [4, 4]\nmeasure.slowdowns = \"pairs\"\n\
                    [workloads.background]\nend = \"20 us\"\n\
                    traffic = { pattern = \"uniform\", load = 0.2 }\n\
                    [workloads.halo]\n\
                    exchange = { pattern = \"all-to-all\", message = \"1 KiB\" }\n";
    fs::write(place.0.join("a.toml"), scenario).unwrap();
    place.run(&["run", "a.toml", "--out", "a"]);
    assert_eq!(place.read("a/slowdowns.csv").lines().count(), 1 + 2);
    place.run(&["report", "a"]);
    let page = place.read("a/report.html");
    assert!(page.contains("\"workload\":\"halo\",\"beside\":\"background\""));
}

#[test]
fn the_links_of_a_dragonfly_are_squares_from_group_to_group() {
    let place = Workplace::new("report_groups");
    let dragonfly = "[topology.dragonfly]\ngroups = 3\ngroup_size = 2\nglobal_cables = 1\nterminals = 1\n\
                     [routing.relation]\nrule = \"dragonfly-minimal\"\n[traffic]\n\
                     pattern = { group-shift = { by = 1 } }\nload = 0.1\n";
    fs::write(place.0.join("a.toml"), dragonfly).unwrap();
    place.run(&["run", "a.toml", "--out", "a", "--set", "measure.maximum_windows=10"]);
    place.run(&["report", "a"]);
    let Some(mut browser) = browser(&place) else { return };
    browser.open(&place.0.join("a/report.html"), (1200, 900));
    assert_eq!(browser.evaluate("document.querySelectorAll('#links [data-cell]').length"), 9);
    let cell = browser.middle("#links [data-cell='1']");
    browser.mouse("mouseMoved", cell, json!({}));
    let tip = "document.querySelector('#tip h4').innerText";
    assert_eq!(browser.evaluate(tip), "from group 0, to group 1");
    browser.evaluate("document.querySelector('#links .planes').focus()");
    browser.key("ArrowRight");
    browser.key("ArrowDown");
    assert_eq!(browser.evaluate(tip), "from group 1, to group 0");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn latencies_by_pair_have_a_picture_and_tables() {
    let place = Workplace::new("report_pairs");
    fs::write(
        place.0.join("a.toml"),
        "[topology.torus]\ndimensions = [4, 2]\n[exchange]\npattern = \"all-to-all\"\nmessage = \"256 B\"\n",
    )
    .unwrap();
    place.run(&["run", "a.toml", "--out", "a", "--set", "measure.latency_by=pair"]);
    assert_eq!(place.read("a/pairs.csv").lines().count(), 1 + 8 + 8 + 56);
    place.run(&["report", "a"]);
    let Some(mut browser) = browser(&place) else { return };
    browser.open(&place.0.join("a/report.html"), (1200, 900));
    let count = |browser: &mut Browser, what: &str| {
        browser.evaluate(&format!("document.querySelectorAll('#pairs {what}').length"))
    };
    assert_eq!(count(&mut browser, "[data-pair]"), 56);
    assert_eq!(count(&mut browser, "tbody tr"), 8 + 56);
    let cell = browser.middle("#pairs [data-pair='0']");
    browser.mouse("mouseMoved", cell, json!({}));
    let tip = browser.evaluate("document.getElementById('tip').innerText");
    let tip = tip.as_str().unwrap();
    assert!(tip.starts_with("(0,0) to (1,0)") && tip.contains("mean latency"), "{tip}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_square_is_the_mean_or_the_fullest_of_its_links_and_one_point_is_taken_from_another() {
    let place = Workplace::new("report_differences");
    let dragonfly = "[topology.dragonfly]\ngroups = 3\ngroup_size = 2\nglobal_cables = 1\nterminals = 1\n\
                     [routing]\nrule = \"dragonfly-minimal\"\n[traffic]\n\
                     pattern = { group-shift = { by = 1 } }\n[measure]\nmaximum_windows = 10\n\
                     [sweep]\nrepetitions = 2\n[sweep.grid]\ntraffic.load = [0.1, 0.3]\n";
    fs::write(place.0.join("a.toml"), dragonfly).unwrap();
    place.run(&["sweep", "a.toml", "--out", "a", "--no-figures"]);
    place.run(&["report", "a"]);
    let Some(mut browser) = browser(&place) else { return };
    browser.open(&place.0.join("a/report.html"), (1200, 900));
    let choose = |browser: &mut Browser, label: &str, option: &str| {
        browser.evaluate(&format!(
            "(() => {{ const label = [...document.querySelectorAll('#links label')].find((it) => \
             it.firstChild.textContent === {label:?}); const list = label.querySelector('select'); list.value = \
             [...list.options].find((it) => it.textContent === {option:?}).value; \
             list.dispatchEvent(new Event('change')); }})()"
        ));
    };
    let tip = |browser: &mut Browser| {
        let cell = browser.middle("#links [data-cell='0']");
        browser.mouse("mouseMoved", (0.0, 0.0), json!({}));
        browser.mouse("mouseMoved", cell, json!({}));
        let text = browser.evaluate("document.getElementById('tip').innerText");
        text.as_str().unwrap().to_owned()
    };
    // Within a group one of the two links is idle: half of the fullest is the mean.
    let share = |tip: &str| -> f64 {
        let line = tip.lines().find(|line| line.contains('%')).unwrap_or_else(|| panic!("{tip}"));
        let number = line.split(['%', '\t']).find_map(|it| it.trim().parse().ok());
        number.unwrap_or_else(|| panic!("{tip}"))
    };
    let mean = tip(&mut browser);
    assert!(mean.contains("mean of its links"), "{mean}");
    choose(&mut browser, "a square is", "the fullest of its links");
    let most = tip(&mut browser);
    assert!(most.contains("the fullest of its links"), "{most}");
    assert!(share(&most) >= share(&mean), "{mean}{most}");

    // Points of one load are told apart by their seeds.
    let names = browser.evaluate(
        "[...document.querySelectorAll('#links-point option')].map((it) => it.textContent).join(';')",
    );
    let all = ["load 0.1, seed 1", "load 0.1, seed 2", "load 0.3, seed 1", "load 0.3, seed 2"];
    for name in all {
        assert!(names.as_str().unwrap().contains(name), "{names}");
    }
    choose(&mut browser, "point", "load 0.3, seed 1");
    choose(&mut browser, "less", "load 0.1, seed 1");
    let more = tip(&mut browser);
    assert!(more.contains("+"), "{more}");
    choose(&mut browser, "point", "load 0.1, seed 1");
    choose(&mut browser, "less", "load 0.3, seed 1");
    let fewer = tip(&mut browser);
    assert!(fewer.contains('\u{2212}'), "{fewer}");
    let scale = browser.evaluate("document.querySelector('#links .scale').innerText");
    let scale = scale.as_str().unwrap();
    assert!(scale.contains('\u{2212}') && scale.contains('+'), "{scale}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// How many points the first chart shows.
const MARKERS: &str = "document.querySelector('.chart').querySelectorAll('[data-point]').length";

#[test]
fn the_page_works_in_a_browser() {
    let place = Workplace::new("report_browser");
    let Some(mut browser) = browser(&place) else { return };
    sweep(&place, "a", &["--set", "title=</script><b>\"8\" & <!-- x"]);
    place.run(&["report", "a"]);
    browser.open(&place.0.join("a/report.html"), (1200, 900));
    assert_eq!(browser.evaluate("document.title"), "</script><b>\"8\" & <!-- x");

    let table = "#points tbody tr";
    assert_eq!(browser.evaluate(&format!("document.querySelectorAll('{table}').length")), 6);
    assert_eq!(browser.evaluate(MARKERS), 6);
    hides_and_shows(&mut browser);
    points_say_what_they_are(&mut browser);
    tables_sort(&mut browser);
    zooms(&mut browser);
    links_have_loads(&mut browser);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn hides_and_shows(browser: &mut Browser) {
    let pressed = "document.querySelector('#legend button').getAttribute('aria-pressed')";
    browser.click("#legend button");
    assert_eq!((browser.evaluate(MARKERS), browser.evaluate(pressed)), (3.into(), "false".into()));
    // The button still has the focus.
    browser.key("Enter");
    assert_eq!((browser.evaluate(MARKERS), browser.evaluate(pressed)), (6.into(), "true".into()));
}

fn points_say_what_they_are(browser: &mut Browser) {
    let marker = ".chart [data-point='0/1']";
    let tip =
        "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText";
    let place = browser.middle(marker);
    browser.mouse("mouseMoved", place, json!({}));
    let said = browser.evaluate(tip);
    let said = said.as_str().unwrap();
    let latency = "[...document.querySelectorAll('#points tbody tr[data-point=\"0/1\"] td')].map((cell) => cell.textContent)";
    let cells = browser.evaluate(latency);
    // State, offered load, accepted load, mean packet latency.
    let shown = cells[3].as_str().unwrap();
    assert!(
        said.starts_with("uniform") && said.contains(&format!("mean packet latency\t{shown}")),
        "{said} {cells}"
    );
    assert!(said.contains("offered load\t0.1000"), "{said}");
    browser.press(place, 1);
    browser.release(place, 1);
    let chosen = "document.querySelector('#points tr.chosen').dataset.point";
    assert_eq!(browser.evaluate(chosen), "0/1");
    let links = "document.getElementById('links-point').selectedOptions[0].textContent";
    assert_eq!(browser.evaluate(links), "uniform, load 0.1");
    // By the keyboard, to the curve's next point.
    browser.key("ArrowRight");
    let said = browser.evaluate("document.getElementById('announcements').textContent");
    assert!(said.as_str().unwrap().starts_with("uniform: mean packet latency"), "{said}");
    browser.key("Escape");
    assert_eq!(browser.evaluate(tip), "");
}

fn tables_sort(browser: &mut Browser) {
    let header = "#points th[data-column='packet_latency_mean_ns'] button";
    let column = "[...document.querySelectorAll('#points tbody tr')].map((row) => \
                  { const [time, unit] = row.cells[4].textContent.split(' '); \
                  return Number(time) * { ns: 1, '\u{b5}s': 1e3, ms: 1e6 }[unit]; })";
    let order =
        "document.querySelector(\"#points th[data-column='packet_latency_mean_ns']\").ariaSort";
    for (name, descending) in [("ascending", false), ("descending", true)] {
        browser.click(header);
        assert_eq!(browser.evaluate(order), name);
        let values = browser.evaluate(column);
        let values: Vec<f64> =
            values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        assert!(values.is_sorted_by(|a, b| if descending { a >= b } else { a <= b }), "{values:?}");
    }
    let filtered = "(() => { const search = document.querySelector('#points input[type=search]'); \
                    search.value = 'TORNADO'; search.dispatchEvent(new Event('input')); \
                    return document.querySelectorAll('#points tbody tr').length; })()";
    assert_eq!(browser.evaluate(filtered), 3);
}

fn zooms(browser: &mut Browser) {
    let ticks = "[...document.querySelectorAll('.chart')[1].querySelectorAll('.tick-x')].map((tick) => tick.textContent).join(' ')";
    let whole = browser.evaluate(ticks);
    let (x, y) = browser.middle(".chart:nth-child(2) svg");
    browser.mouse("mouseMoved", (x - 100.0, y), json!({}));
    browser.press((x - 100.0, y), 1);
    browser.mouse("mouseMoved", (x, y + 2.0), json!({ "buttons": 1 }));
    browser.release((x, y + 2.0), 1);
    let narrow = browser.evaluate(ticks);
    assert_ne!(narrow, whole);
    browser.mouse("mouseWheel", (x, y), json!({ "deltaX": 0, "deltaY": -200, "modifiers": 2 }));
    browser.wait_for(&format!("{ticks} !== {narrow}"));
    for clicks in [1, 2] {
        browser.press((x, y), clicks);
        browser.release((x, y), clicks);
    }
    assert_eq!(browser.evaluate(ticks), whole);
}

fn links_have_loads(browser: &mut Browser) {
    assert_eq!(browser.evaluate("document.querySelectorAll('#links figure').length"), 4);
    assert_eq!(browser.evaluate("document.querySelectorAll('#links [data-channel]').length"), 160);
    let place = browser.middle("#links [data-channel='0']");
    browser.mouse("mouseMoved", place, json!({}));
    let tip = browser.evaluate("document.getElementById('tip').innerText");
    let tip = tip.as_str().unwrap();
    assert!(tip.starts_with("(0,0,0,0) +x to (1,0,0,0)") && tip.contains("utilisation"), "{tip}");
}

#[test]
fn several_results_share_a_page_and_it_fits_a_narrow_window() {
    let place = Workplace::new("report_several");
    let Some(mut browser) = browser(&place) else { return };
    sweep(&place, "a", &[]);
    sweep(&place, "b", &["--set", "link.latency=90 ns"]);
    place.run(&["run", &scenario("desmos/ping-neighbour"), "--out", "ping"]);
    let labels = ["--labels", "short,long,ping", "-o", "all.html"];
    place.run(&with(&["report", "a", "b", "ping"], &labels));
    let all = place.0.join("all.html");
    browser.open(&all, (1200, 900));
    assert_eq!(browser.evaluate(MARKERS), 12);
    let legend = browser.evaluate("document.getElementById('legend').innerText.split('\\n')");
    assert_eq!(
        legend,
        json!(["short, uniform", "short, tornado", "long, uniform", "long, tornado"])
    );
    let bars = "document.querySelectorAll('#values .bar').length";
    assert_eq!(browser.evaluate(bars), 1);
    let differs = browser.evaluate("document.querySelector('#scenario table').innerText");
    assert!(differs.as_str().unwrap().contains("link.latency\t70 ns\t90 ns"), "{differs}");

    browser.open(&all, (400, 800));
    let overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.evaluate(overhang), 0);
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.ask("Emulation.setEmulatedMedia", dark);
    let paper = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.evaluate(paper), "rgb(20, 23, 28)");
    assert_eq!(
        browser.ask("Page.printToPDF", json!({}))["data"].as_str().map(|it| it.len() > 10_000),
        Some(true)
    );
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn the_page_is_not_to_name_where_it_was_made() {
    let place = Workplace::new("report_place");
    place.run(&["run", &scenario("desmos/ping-neighbour"), "--out", "ping"]);
    let absolute = place.0.join("ping").display().to_string();
    place.run(&["report", &absolute, "-o", "one.html"]);
    place.run(&["report", "ping", "-o", "other.html"]);
    assert_eq!(place.read("one.html"), place.read("other.html"));
    assert!(!place.read("one.html").contains(&absolute));
    let data: Value = {
        let page = place.read("one.html");
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    };
    assert_eq!(data["results"][0]["commands"], json!(["flitlab run scenario.toml --out ping"]));
}

#[test]
fn the_page_names_the_file_of_a_schedule_and_not_where_it_was() {
    let place = Workplace::new("report_schedule");
    place.write(
        "my.goal",
        "num_ranks 2\nrank 0 {\nsend 4096b to 1\n}\nrank 1 {\nrecv 4096b from 0\n}\n",
    );
    place.write(
        "a.toml",
        "[topology.torus]\ndimensions = [4, 4]\n[application]\nfile = \"my.goal\"\n",
    );
    place.run(&["run", "a.toml", "--out", "a"]);
    place.run(&["report", "a"]);
    let page = place.read("a/report.html");
    assert!(!page.contains(&place.0.display().to_string()), "the folder is on the page");
    assert!(page.contains("\"name\":\"application\",\"value\":\"my.goal\""), "no file is named");
    assert!(page.contains("file = \\\"my.goal\\\""), "the scenario names no file");
}
