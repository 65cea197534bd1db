//! What is simulated besides several workloads at once.

/// The simulations that tell how much workloads slow each other, besides that of all at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slowdowns {
    /// None.
    #[default]
    Untold,
    /// Each workload that ends alone.
    Alone,
    /// Each workload that ends alone, and each two of which one ends.
    Pairs,
}
