//! The timeline of applications on the page, and their phases, in a real browser.

use serde_json::{Value, json};

use crate::common::browser::Browser;
use crate::common::workplace::Workplace;
use crate::report::browser;

/// Two jobs, of which one begins later, and a load beside them.
const JOBS: &str = "[topology.torus]\ndimensions = [4, 4]\n\
    [workloads.first]\nnodes = 4\n[workloads.first.application]\n\
    schedule = { all-to-all = { ranks = 4, bytes = \"8 KiB\" } }\n\
    [workloads.later]\nnodes = 6\nstart = \"20 us\"\n[workloads.later.application]\n\
    schedule = { halo3d = { ranks = 6, points = [12, 12, 12], iterations = 2, flops_per_second = 1e10 } }\n\
    [workloads.load]\nnodes = 6\n[workloads.load.traffic]\npattern = \"uniform\"\nload = 0.3\n";

const TIP: &str =
    "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText";

/// What the timeline says of itself.
fn told(browser: &mut Browser, name: &str) -> Vec<f64> {
    // It is drawn in the next frame.
    browser.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
    let text =
        browser.evaluate(&format!("document.querySelector('#timeline canvas').dataset.{name}"));
    text.as_str().unwrap().split(' ').map(|it| it.parse().unwrap()).collect()
}

/// The stretch of time that it shows.
fn span(browser: &mut Browser) -> (f64, f64) {
    (told(browser, "from")[0], told(browser, "to")[0])
}

/// Columns of a file of results, as numbers.
fn numbers(place: &Workplace, file: &str, column: &str) -> Vec<f64> {
    let text = place.read(file);
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|name| name == column).unwrap();
    lines.filter_map(|line| line.split(',').nth(at)?.parse().ok()).collect()
}

#[test]
fn a_timeline_has_a_row_a_rank_and_a_path_as_long_as_the_job() {
    let place = Workplace::new("timeline_page");
    place.write("a.toml", JOBS);
    place.run(&["run", "a.toml", "--out", "a", "--trace-path"]);
    place.run(&["report", "a"]);
    let Some(mut browser) = browser(&place) else { return };
    browser.open(&place.0.join("a/report.html"), (1200, 900));
    assert_eq!(told(&mut browser, "rows"), [10.0]);
    // In picoseconds, and in microseconds with their decimals.
    let completion = numbers(&place, "a/workloads.csv", "completion_time_us");
    let path: Vec<f64> = told(&mut browser, "path").into_iter().map(|it| it / 1e6).collect();
    assert_eq!(path, completion);
    let ends = [completion[0], 20.0 + completion[1]];
    let (from, to) = span(&mut browser);
    assert_eq!((from, to), (0.0, ends[0].max(ends[1]) * 1e6));
    zooms(&mut browser, (from, to));
    says_what_is_pointed_at(&mut browser);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn zooms(browser: &mut Browser, whole: (f64, f64)) {
    let (x, y) = browser.middle("#timeline canvas");
    browser.mouse("mouseMoved", (x - 100.0, y), json!({}));
    browser.press((x - 100.0, y), 1);
    browser.mouse("mouseMoved", (x + 100.0, y), json!({ "buttons": 1 }));
    browser.release((x + 100.0, y), 1);
    let width = browser.evaluate("document.querySelector('#timeline canvas').clientWidth");
    let (from, to) = span(browser);
    let share = (to - from) / (whole.1 - whole.0);
    let dragged = 200.0 / (width.as_f64().unwrap() - 52.0);
    assert!((share - dragged).abs() < 0.01, "{share} of {dragged}");
    // By the wheel, around the pointer.
    browser.mouse("mouseWheel", (x, y), json!({ "deltaX": 0, "deltaY": -60, "modifiers": 2 }));
    let closer = span(browser);
    assert!(closer.0 > from && closer.1 < to, "{closer:?} in {from} to {to}");
    browser.evaluate("document.querySelector('#timeline canvas').focus()");
    browser.key("ArrowRight");
    let later = span(browser);
    assert!(later.0 > closer.0 && ((later.1 - later.0) - (closer.1 - closer.0)).abs() < 1.0);
    browser.key("-");
    let wider = span(browser);
    assert!(wider.1 - wider.0 > later.1 - later.0, "{wider:?}");
    browser.key("+");
    browser.key("0");
    assert_eq!(span(browser), whole);
    for finger in [60.0, 120.0] {
        let points =
            json!([{ "x": x - finger, "y": y, "id": 1 }, { "x": x + finger, "y": y, "id": 2 }]);
        let kind = if finger < 100.0 { "touchStart" } else { "touchMove" };
        let event = json!({ "type": kind, "touchPoints": points });
        browser.ask("Input.dispatchTouchEvent", event);
    }
    browser.ask("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] }));
    let pinched = span(browser);
    let share = (pinched.1 - pinched.0) / (whole.1 - whole.0);
    assert!((share - 0.5).abs() < 0.05, "{share}");
    browser.click("#timeline button[aria-label^='show the whole']");
    assert_eq!(span(browser), whole);
}

fn says_what_is_pointed_at(browser: &mut Browser) {
    // Along the path: its first step is the beginning of the first job.
    browser.evaluate("document.querySelector('#timeline canvas').focus()");
    browser.key(".");
    let said = browser.evaluate(TIP);
    let said = said.as_str().unwrap();
    assert!(
        said.starts_with("first, critical path") && said.contains("phase\tall-to-all"),
        "{said}"
    );
    let mut messages = Vec::new();
    for _ in 0..40 {
        browser.key(".");
        let said = browser.evaluate(TIP).as_str().unwrap().to_owned();
        assert!(said.contains("critical path"), "{said}");
        if said.starts_with("first") && said.contains("queueing") {
            messages.push(said);
        }
    }
    // A message of the all-to-all queued, and the channel that held it up is named.
    let named = |said: &String| said.contains("held up by") && said.contains(" to rank ");
    assert!(messages.iter().any(named), "{messages:?}");
    browser.key("0");
    browser.click("#timeline input[type=checkbox]");
    // The first rank of the later job is in the fifth of ten rows.
    let place = "(() => { const box = document.querySelector('#timeline canvas').getBoundingClientRect(); \
                 return [box.left + 52, box.right - 12, box.top + 4 + 4.5 * (box.height - 30) / 10]; })()";
    let place = browser.evaluate(place);
    let at = |number: usize| place[number].as_f64().unwrap();
    browser.mouse("mouseMoved", (at(0), at(2)), json!({}));
    assert_eq!(browser.evaluate(TIP), "", "it had not begun");
    browser.evaluate("document.querySelector('#timeline canvas').focus()");
    let mut found = String::new();
    for step in 1..60 {
        let x = at(0) + (at(1) - at(0)) * f64::from(step) / 60.0;
        browser.mouse("mouseMoved", (x, at(2)), json!({}));
        let said = browser.evaluate(TIP).as_str().unwrap().to_owned();
        if said.contains("compute") {
            found = said;
            break;
        }
    }
    assert!(found.starts_with("later, rank 0") && found.contains("operation\tcompute"), "{found}");
}

#[test]
fn phases_are_shares_of_the_time_and_the_page_fits_paper_and_a_phone() {
    let place = Workplace::new("timeline_phases");
    place.write("a.toml", JOBS);
    let repeated = ["--set", "sweep.repetitions=2"];
    place.run(&[&["sweep", "a.toml", "--out", "a"], &repeated[..]].concat());
    place.run(&["report", "a"]);
    let Some(mut browser) = browser(&place) else { return };
    browser.open(&place.0.join("a/report.html"), (400, 800));
    let overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.evaluate(overhang), 0);
    // Two jobs of two points, each with a bar of the path and one of ranks.
    let bars = "[...document.querySelectorAll('#phases .shares')].map((bar) => bar.ariaLabel)";
    let bars: Value = browser.evaluate(bars);
    assert_eq!(bars.as_array().unwrap().len(), 8, "{bars}");
    for bar in bars.as_array().unwrap() {
        let shares = bar.as_str().unwrap().split("; ").map(|part| {
            let share = part.rsplit(", ").next().unwrap().trim_end_matches('%');
            share.parse::<f64>().unwrap()
        });
        let all: f64 = shares.sum();
        assert!((all - 100.0).abs() < 0.3, "{bar}");
    }
    let points = "[...document.querySelectorAll('#timeline select')][0].options.length";
    assert_eq!(browser.evaluate(points), 2);
    let chosen = "(() => { const list = document.querySelector('#timeline select'); list.value = '1'; \
                  list.dispatchEvent(new Event('change')); })()";
    browser.evaluate(chosen);
    assert_eq!(told(&mut browser, "rows"), [10.0]);
    assert!(browser.ask("Page.printToPDF", json!({}))["data"].as_str().unwrap().len() > 10_000);
    assert_eq!(browser.complaints, Vec::<String>::new());
}
