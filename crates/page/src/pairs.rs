//! Latencies by the nodes that send and receive, as the page shows them.

use std::collections::HashMap;

use serde::Serialize;

use flitlab_report::Point;

/// Sums of nodes and pairs that a page holds at most; about thirty characters each.
const MOST: usize = 60_000;

/// Those of a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PointPairs<'r> {
    /// The point's place among the result's rows.
    row: usize,
    /// The nodes that send or receive, in the order of the fabric.
    names: Vec<&'r str>,
    /// Source and destination as places among the names, -1 for all; packets; mean and longest
    /// latency in nanoseconds.
    sums: Vec<(i32, i32, u64, f64, f64)>,
}

impl<'r> PointPairs<'r> {
    /// Those of the points that have some, as far as there is room.
    pub(super) fn all_of(points: &'r [Point], results: usize) -> Vec<Self> {
        let mut room = MOST / results.max(1);
        let mut taken = Vec::new();
        for (row, point) in points.iter().enumerate().filter(|(_, it)| !it.pairs.is_empty()) {
            if point.pairs.len() > room && !taken.is_empty() {
                break;
            }
            room = room.saturating_sub(point.pairs.len());
            taken.push(Self::new(row, point));
        }
        taken
    }

    fn new(row: usize, point: &'r Point) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut places: HashMap<&str, i32> = HashMap::new();
        // Sources come in the order of the fabric, then destinations; a node may be only one of them.
        for pair in &point.pairs {
            for name in [&pair.source, &pair.destination].into_iter().filter(|it| !it.is_empty()) {
                places.entry(name).or_insert_with(|| {
                    names.push(name);
                    i32::try_from(names.len() - 1).unwrap_or(i32::MAX)
                });
            }
        }
        let place = |name: &str| places.get(name).copied().unwrap_or(-1);
        let ns = |time: flitlab_base::units::Picoseconds| time.0 as f64 / 1e3;
        let sums = point.pairs.iter().map(|pair| {
            let (mean, most) = (ns(pair.packet_latency_mean), ns(pair.packet_latency_max));
            (place(&pair.source), place(&pair.destination), pair.packets, mean, most)
        });
        Self { row, sums: sums.collect(), names }
    }
}
