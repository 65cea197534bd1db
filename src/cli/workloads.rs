//! The workloads of a point that has several, as text for people.

use super::terminal::fact;
use super::text::counted;
use flitlab::report::{PointRow, Status, WorkloadRow};
use flitlab::units::short_time_text;

/// A line a workload, indented to stand below its point; nothing if a point has one workload.
/// Values begin in the same column, not before `column`.
pub(super) fn lines(workloads: &[WorkloadRow], column: usize) -> String {
    let name = |row: &WorkloadRow| format!("  {}", row.name);
    let widest = workloads.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
    // Both the indentation of a fact and the gap after its name are of two columns.
    let column = column.max(widest + 4);
    workloads.iter().map(|row| fact(&name(row), &told(row), column)).collect()
}

/// `traffic, steady, 48 nodes: offered 0.3000, accepted 0.2998; packets' latency mean 700.1 ns, p99
/// 1200.0 ns`.
fn told(row: &WorkloadRow) -> String {
    let WorkloadRow { kind, measured, .. } = row;
    let nodes = measured.nodes.map(|nodes| format!(", {}", counted(nodes as usize, "node")));
    let parts = [progress(measured), slowdown(row), latency(measured)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let rest = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    format!("{kind}, {}{}{rest}", measured.status.name(), nodes.unwrap_or_default())
}

/// How much it got through, or how long it took.
fn progress(row: &PointRow) -> Option<String> {
    if let (Status::Completed, Some(time)) = (row.status, row.completion_time) {
        let rate = row.bandwidth.map(|rate| format!(", {rate:.3} GB/s a node"));
        return Some(format!("{}{}", short_time_text(time), rate.unwrap_or_default()));
    }
    let loads = match row.offered_load.or(row.accepted_load) {
        Some(_) => [row.offered_load, row.accepted_load].map(|it| it.map(|it| format!("{it:.4}"))),
        None => [row.offered_payload, row.accepted_payload]
            .map(|it| it.map(|it| format!("{it:.3} GB/s a node"))),
    };
    let parts = ["offered", "accepted"].into_iter().zip(loads);
    let parts: Vec<String> =
        parts.filter_map(|(what, load)| Some(format!("{what} {}", load?))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How much the others slow it.
fn slowdown(row: &WorkloadRow) -> Option<String> {
    let (slowdown, alone) = (row.slowdown?, row.alone?);
    Some(format!("alone {}, so slowed {slowdown:.3} times", short_time_text(alone)))
}

/// The latency of its packets, or of its messages where packets have none.
fn latency(row: &PointRow) -> Option<String> {
    let of_packets = ("packets", row.packet_latency_mean, row.packet_latency_p99);
    let of_messages = ("messages", row.message_latency_mean, row.message_latency_p99);
    let (of, mean, p99) = if of_packets.1.is_some() { of_packets } else { of_messages };
    let p99 = p99.map(|p99| format!(", p99 {}", short_time_text(p99)));
    Some(format!("{of} take {} in the mean{}", short_time_text(mean?), p99.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab::units::Picoseconds;

    fn row(name: &str, kind: &str, measured: PointRow) -> WorkloadRow {
        let (name, kind) = (name.into(), kind.into());
        WorkloadRow { name, kind, measured, ..WorkloadRow::default() }
    }

    #[test]
    fn each_workload_is_a_line_with_what_is_known_of_it() {
        let load = PointRow {
            nodes: Some(48),
            offered_load: Some(0.3),
            accepted_load: Some(0.2998),
            packet_latency_mean: Some(Picoseconds(700_100)),
            packet_latency_p99: Some(Picoseconds(1_200_000)),
            ..PointRow::default()
        };
        let halo = PointRow {
            status: Status::Completed,
            nodes: Some(1),
            completion_time: Some(Picoseconds(12_345_678)),
            message_latency_mean: Some(Picoseconds(12_000_001)),
            ..PointRow::default()
        };
        let stuck = PointRow { status: Status::Stuck, ..PointRow::default() };
        let told = |kind, measured| told(&row("a", kind, measured));
        assert_eq!(
            told("traffic", load),
            "traffic, steady, 48 nodes: offered 0.3000, accepted 0.2998; packets take 700.1 ns in \
             the mean, p99 1.200 us"
        );
        assert_eq!(
            told("exchange", halo),
            "exchange, completed, 1 node: 12.35 us; messages take 12.00 us in the mean"
        );
        assert_eq!(told("application", stuck), "application, stuck");
    }

    #[test]
    fn values_stand_below_each_other_two_columns_behind_the_longest_name() {
        let rows = ["background", "halo"].map(|name| row(name, "traffic", PointRow::default()));
        let expected = "    background  traffic, steady\n    halo        traffic, steady\n";
        assert_eq!(lines(&rows, 0), expected);
        assert!(lines(&rows, 20).starts_with("    background      traffic, steady\n"));
        assert_eq!(lines(&[], 20), "");
    }

    #[test]
    fn without_a_capacity_loads_are_payload() {
        let measured = PointRow {
            offered_payload: Some(1.25),
            accepted_payload: Some(1.2),
            ..PointRow::default()
        };
        let expected = "pulses, steady: offered 1.250 GB/s a node, accepted 1.200 GB/s a node";
        assert_eq!(told(&row("a", "pulses", measured)), expected);
    }
}
