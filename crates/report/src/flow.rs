//! Flows of a trace by their size, as rows of `flows.csv`.

use super::table::{Count, Given, Microseconds, Number, table};
use flitlab_base::units::Picoseconds;

table! {
    /// Completion times and slowdowns of the flows of a range of sizes. The first row has all flows.
    pub struct FlowRow {
        /// The least size of the range.
        from_bytes: u64 as Given<Count<u64>>, "from_bytes", "from bytes", Label, usual;
        /// The largest size of the range.
        to_bytes: u64 as Given<Count<u64>>, "to_bytes", "to bytes", Label, usual;
        /// Flows of these sizes that were received.
        flows: u64 as Given<Count<u64>>, "flows", "flows", Count, usual;
        /// Completion time, from the beginning of a flow until it is received: the mean.
        completion_mean: Picoseconds as Given<Microseconds>, "completion_mean_us", "mean flow completion time", Completion, usual;
        /// Its median.
        completion_p50: Picoseconds as Given<Microseconds>, "completion_p50_us", "median flow completion time", Completion, usual;
        /// Its 99th percentile.
        completion_p99: Picoseconds as Given<Microseconds>, "completion_p99_us", "99th percentile of flow completion times", Completion, usual;
        /// The longest one.
        completion_max: Picoseconds as Given<Microseconds>, "completion_max_us", "longest flow completion time", Completion, usual;
        /// Slowdown, the completion time over that of the flow alone in the empty network, on a way
        /// with the fewest hops: the mean.
        slowdown_mean: f64 as Given<Number>, "slowdown_mean", "mean slowdown", Throughput, usual;
        /// Its median.
        slowdown_p50: f64 as Given<Number>, "slowdown_p50", "median slowdown", Throughput, usual;
        /// Its 99th percentile.
        slowdown_p99: f64 as Given<Number>, "slowdown_p99", "99th percentile of slowdowns", Throughput, usual;
        /// The largest one.
        slowdown_max: f64 as Given<Number>, "slowdown_max", "largest slowdown", Throughput, usual;
    }
}

/// A flow that was received: its size, its completion time, and that in the empty network.
pub type CompletedFlow = (u64, Picoseconds, Picoseconds);

impl FlowRow {
    /// A row of all flows, and one of each decade of sizes that has any: up to 10 B, 100 B and so
    /// on.
    pub fn of(mut flows: Vec<CompletedFlow>) -> Vec<Self> {
        // Ascending, so that each decade is a piece; equal sizes in any order.
        flows.sort_unstable();
        let decade = |bytes: u64| (bytes.max(2) - 1).ilog10();
        let mut rows: Vec<Self> = Vec::new();
        if !flows.is_empty() {
            rows.push(Self::of_some(&flows));
        }
        let decades = flows.chunk_by(|one, next| decade(one.0) == decade(next.0));
        rows.extend(decades.map(Self::of_some));
        rows
    }

    /// The row of some flows, one at least.
    fn of_some(flows: &[CompletedFlow]) -> Self {
        let mut times: Vec<Picoseconds> = flows.iter().map(|flow| flow.1).collect();
        let slowdown = |flow: &CompletedFlow| flow.1.0 as f64 / flow.2.max(Picoseconds(1)).0 as f64;
        let mut slowdowns: Vec<f64> = flows.iter().map(slowdown).collect();
        times.sort_unstable();
        slowdowns.sort_unstable_by(f64::total_cmp);
        let count = flows.len();
        // The least value that at least this share of the flows do not exceed.
        let place = |percent: usize| (count * percent).div_ceil(100).max(1) - 1;
        let total: u128 = times.iter().map(|time| u128::from(time.0)).sum();
        Self {
            from_bytes: flows[0].0,
            to_bytes: flows[count - 1].0,
            flows: count as u64,
            completion_mean: Picoseconds::from_wide(total / count as u128),
            completion_p50: times[place(50)],
            completion_p99: times[place(99)],
            completion_max: times[count - 1],
            slowdown_mean: slowdowns.iter().sum::<f64>() / count as f64,
            slowdown_p50: slowdowns[place(50)],
            slowdown_p99: slowdowns[place(99)],
            slowdown_max: slowdowns[count - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_of_all_flows_and_of_decades_of_sizes() {
        let flow = |bytes, time| (bytes, Picoseconds(time), Picoseconds(100));
        let mut flows: Vec<CompletedFlow> = (1..=100).map(|it| flow(1_000, it * 100)).collect();
        flows.extend([flow(1_001, 500), flow(1, 200), flow(10, 400)]);
        let rows = FlowRow::of(flows);
        let ranges: Vec<_> =
            rows.iter().map(|row| (row.from_bytes, row.to_bytes, row.flows)).collect();
        assert_eq!(ranges, [(1, 1_001, 103), (1, 10, 2), (1_000, 1_000, 100), (1_001, 1_001, 1)]);
        let of_equal = &rows[2];
        assert_eq!(of_equal.completion_p50, Picoseconds(5_000));
        assert_eq!(
            (of_equal.completion_p99, of_equal.completion_max.0),
            (Picoseconds(9_900), 10_000)
        );
        assert_eq!((of_equal.slowdown_mean, of_equal.slowdown_p99), (50.5, 99.0));
        assert_eq!((rows[1].slowdown_p50, rows[1].slowdown_max), (2.0, 4.0));
        assert!(FlowRow::of(Vec::new()).is_empty());
    }
}
