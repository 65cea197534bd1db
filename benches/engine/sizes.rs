//! Cost over the size of the network, from 4x4x4 to 100x100x100, under uniform traffic at load 0.2.

use std::path::Path;

use flitlab::report::figure::{Medium, Scale, Series, Style, xy_figure};
use serde::Serialize;

use crate::sample::Sample;
use crate::workload;

#[derive(Serialize)]
struct Row {
    torus: String,
    nodes: u32,
    cpu_ns_per_packet_hop: f64,
    cpu_ns_per_grant: f64,
    set_up_us_per_node: f64,
    bytes_per_node_before_traffic: f64,
    peak_bytes_per_node: f64,
    cpu_s_per_simulated_us: f64,
}

/// What is plotted: its label and its value.
type Quantity = (&'static str, fn(&Row) -> f64);

/// Runs all sizes once, one after the other on one thread, and writes the table and its plots to
/// `results/scale`.
pub fn run() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/results/scale"));
    std::fs::create_dir_all(folder).expect("results/scale can be written");
    let mut table = csv::Writer::from_path(folder.join("sizes.csv")).expect("it can be written");
    let mut rows = Vec::new();
    for (size, workload) in workload::sizes() {
        let sample = Sample::of_child(&workload.name);
        let nodes = f64::from(sample.nodes);
        let each = |count| sample.nanoseconds_each(count).expect("something has happened");
        let row = Row {
            torus: format!("{size}x{size}x{size}"),
            nodes: sample.nodes,
            cpu_ns_per_packet_hop: each(sample.packet_hops),
            cpu_ns_per_grant: each(sample.grants),
            set_up_us_per_node: sample.set_up_seconds * 1e6 / nodes,
            bytes_per_node_before_traffic: sample.bytes_a_node,
            peak_bytes_per_node: sample.peak_bytes as f64 / nodes,
            cpu_s_per_simulated_us: sample.cpu_seconds / sample.simulated_microseconds,
        };
        println!(
            "{:<14}{:>9} nodes {:>8.1} ns/grant {:>8.2} us set-up/node {:>8.0} B/node {:>8.0} B/node at most",
            row.torus,
            row.nodes,
            row.cpu_ns_per_grant,
            row.set_up_us_per_node,
            row.bytes_per_node_before_traffic,
            row.peak_bytes_per_node
        );
        table.serialize(&row).and_then(|()| Ok(table.flush()?)).expect("it can be written");
        rows.push(row);
    }
    let plot = |name: &str, title: &str, axis: &str, values: &[Quantity]| {
        let series: Vec<Series> = values
            .iter()
            .map(|(label, value)| Series {
                label: (*label).to_owned(),
                style: Style::Curve,
                points: rows.iter().map(|row| (f64::from(row.nodes), value(row))).collect(),
            })
            .collect();
        xy_figure(title, ("nodes", Scale::Logarithmic), (axis, Scale::Linear), &series)
            .write_to(folder, name, &Medium::default())
            .expect("results/scale can be written");
    };
    plot(
        "time",
        "CPU time over the size of the torus, uniform traffic at load 0.2, one thread",
        "CPU time in ns a grant, in us a node",
        &[
            ("simulating, ns a grant", |row| row.cpu_ns_per_grant),
            ("set-up, us a node", |row| row.set_up_us_per_node),
        ],
    );
    plot(
        "memory",
        "Memory over the size of the torus, uniform traffic at load 0.2",
        "kB a node",
        &[
            ("before traffic", |row| row.bytes_per_node_before_traffic / 1e3),
            ("at most, the whole process", |row| row.peak_bytes_per_node / 1e3),
        ],
    );
}
