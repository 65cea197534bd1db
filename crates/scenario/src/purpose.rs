//! Why a document is read.

/// The purpose of reading a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Run,
    /// Keys that only the sweep gives are not missed.
    Sweep,
    /// A workload is not missed, and pairs without a route are no mistake.
    Routes,
}
