//! What one algorithm makes of a fabric as a row of `algorithms.csv`.

use super::table::{Count, Number, Text, table};

table! {
    /// A forwarding table, as good as it is; or why an algorithm makes none of this fabric.
    pub struct AlgorithmRow {
        /// The algorithm that makes it.
        algorithm: String as Text<String>, "algorithm", "algorithm", Label, usual;
        /// What the proof found, which follows every path: `no cycle`, `cycle` if packets can wait for
        /// each other for ever, `incomplete` if ways are missing or wrong; empty if there is no table.
        proof: String as Text<String>, "proof", "proof", Label, usual;
        /// Paths on the fullest channel between switches (the edge forwarding index).
        maximum_load: Option<f64> as Number, "maximum_load", "fullest channel", Throughput, usual;
        /// How far that is above the lower bound for any table, as a fraction of it; 0 is the best
        /// possible.
        gap: Option<f64> as Number, "gap", "above the bound", Throughput, usual;
        /// Mean hops between switches.
        hops_mean: Option<f64> as Number, "hops_mean", "mean hops", Throughput, usual;
        /// The most hops of a path.
        hops_maximum: Option<u32> as Count<u32>, "hops_maximum", "most hops", Count, usual;
        /// Virtual channels that packets take between switches.
        lanes_used: Option<u32> as Count<u32>, "lanes_used", "virtual channels", Count, usual;
        /// Processor time of the algorithm, without the proof.
        cpu_seconds: Option<f64> as Number, "cpu_s", "processor time", Completion, usual;
        /// What of the options means nothing to it, or why it makes no table.
        note: String as Text<String>, "note", "note", Label, usual;
    }
}
