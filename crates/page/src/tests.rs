//! The page without a browser: what is in it, what can't be in it, how large it gets.

use serde_json::Value;

use super::*;
use flitlab_base::units::Picoseconds;
use flitlab_report::{ChannelRow, Label, PointRow, Status, WorkloadRow};

const HOSTILE: &str = "</script><!--<img src=x onerror=alert(1)>{{data}}&amp;\u{2028}";

fn reported(label: &str) -> Reported {
    let point = |point: u32, status, channels| Point {
        label: Label { series: format!("{HOSTILE}, uniform"), point, seed: 1, ..Label::default() },
        measured: PointRow {
            status,
            offered_load: Some(f64::from(point + 1) / 10.0),
            accepted_load: Some(f64::from(point + 1) / 10.0),
            packet_latency_mean: Some(Picoseconds(400_000 + u64::from(point))),
            packet_latency_mean_ci95: Some(Picoseconds(1_000)),
            ..PointRow::default()
        },
        channels,
        ..Point::default()
    };
    let channel = ChannelRow {
        channel: "(1,0) +y".into(),
        utilisation: 0.5,
        flits: 100,
        ..ChannelRow::default()
    };
    Reported {
        label: label.into(),
        facts: vec![Fact { name: "network".into(), value: HOSTILE.into() }],
        points: vec![
            point(0, Status::Steady, vec![channel]),
            point(1, Status::NotSteady, Vec::new()),
        ],
        torus: Torus::new(&[2, 3], &[]).ok(),
        warnings: vec![HOSTILE.into()],
        scenario: Some(format!("title = '{HOSTILE}'\n")),
        ..Reported::default()
    }
}

fn report(labels: &[&str]) -> ReportPage {
    ReportPage {
        title: HOSTILE.into(),
        results: labels.iter().map(|label| reported(label)).collect(),
        command: format!("flitlab report '{HOSTILE}'"),
        ..ReportPage::default()
    }
}

/// The block of data, as a browser takes it from the page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn nothing_in_a_title_breaks_out_of_its_place() {
    let page = page(&report(&["a", HOSTILE]));
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--<"));
    assert!(page.contains("<title>&lt;/script&gt;&lt;!--&lt;img"));
    let data = data(&page);
    assert_eq!(data["title"], HOSTILE);
    assert_eq!(data["results"][1]["label"], HOSTILE);
    assert_eq!(data["results"][0]["scenario"], format!("title = '{HOSTILE}'\n"));
}

#[test]
fn the_data_has_points_curves_and_links() {
    let data = data(&page(&report(&["a"])));
    let result = &data["results"][0];
    let column = |name: &str| {
        data["columns"].as_array().unwrap().iter().position(|column| column["name"] == name)
    };
    let latency = column("packet_latency_mean_ns").unwrap();
    assert_eq!(result["rows"][1][latency], 400.001);
    assert_eq!(column("completion_time_us"), None);
    assert_eq!(result["curves"][0]["points"][1]["rows"], serde_json::json!([1]));
    assert_eq!(result["curves"][0]["points"][0]["halves"]["packet_latency_mean_ns"], 1.0);
    assert_eq!(result["series"][0]["not_steady_from"], 0.2);
    let links = &result["links"];
    assert_eq!((&links["of"], &links["points"][0]["row"]), (&1.into(), &0.into()));
    assert_eq!(links["points"][0]["loads"][0][5], 500);
}

#[test]
fn the_data_has_the_workloads_of_points_with_the_columns_that_one_of_them_has() {
    let mut report = report(&["a", "b"]);
    assert_eq!(data(&page(&report))["results"][0]["workloads"], serde_json::json!([]));
    let workload = |name: &str, measured| WorkloadRow {
        name: name.into(),
        kind: "exchange".into(),
        measured,
        ..WorkloadRow::default()
    };
    let row = PointRow {
        status: Status::Completed,
        nodes: Some(16),
        completion_time: Some(Picoseconds(2_000_000)),
        ..PointRow::default()
    };
    report.results[1].points[1].workloads =
        vec![workload(HOSTILE, row), workload("late", PointRow::default())];
    let data = data(&page(&report));
    let columns = data["workload_columns"].as_array().unwrap();
    let named: Vec<_> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["workload", "kind", "status", "completion_time_us", "nodes"]);
    assert!(columns.iter().all(|column| column["usual"] == true));
    assert_eq!(data["results"][0]["workloads"], serde_json::json!([]));
    assert_eq!(
        data["results"][1]["workloads"],
        serde_json::json!([
            { "point": 1, "cells": [HOSTILE, "exchange", "completed", 2, 16] },
            { "point": 1, "cells": ["late", "exchange", "steady", null, null] },
        ])
    );
}

#[test]
fn the_page_loads_nothing_and_is_the_same_each_time() {
    let report = || page(&ReportPage { title: "8x8".into(), ..report(&["a"]) });
    let text = report();
    assert_eq!(text, report());
    let code = text.split("id=\"data\">").next().unwrap();
    for forbidden in ["http:", "https:", "src=", "url(", "@import", "<link"] {
        assert!(!code.contains(forbidden), "{forbidden}");
    }
    let (_, script) = text.split_once("<script type=\"module\">").unwrap();
    // The one address is the name of SVG.
    assert_eq!(script.replace("http://www.w3.org/2000/svg", "").matches("http").count(), 0);
    for forbidden in ["fetch(", "import ", "XMLHttpRequest", "innerHTML", "eval("] {
        assert!(!script.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn the_page_of_a_large_sweep_stays_small() {
    let torus = Torus::new(&[16, 16, 8], &[]).unwrap();
    let fabric = torus.fabric(&flitlab_fabric::Faults::default()).unwrap();
    let names: Vec<String> =
        (0..fabric.channel_slots()).map(|channel| fabric.channel_name(channel)).collect();
    let mut result = reported("large");
    let row = |name: &String| ChannelRow {
        channel: name.clone(),
        utilisation: 0.123_456,
        stalled_no_credit: Some(0.234_567),
        stalled_output_busy: Some(0.345_678),
        flits: 123_456,
        ..ChannelRow::default()
    };
    let point = |point| Point {
        label: Label { point, ..Label::default() },
        measured: PointRow { offered_load: Some(f64::from(point) / 40.0), ..PointRow::default() },
        channels: names.iter().map(row).collect(),
        ..Point::default()
    };
    result.points = (0..40).map(point).collect();
    result.torus = Some(torus);
    let page = page(&ReportPage { results: vec![result], ..ReportPage::default() });
    assert!(page.len() < 3_000_000, "{}", page.len());
    let data = data(&page);
    let links = &data["results"][0]["links"];
    assert_eq!(links["of"], 40);
    assert_eq!(links["points"].as_array().unwrap().len(), 9);
}
