//! The threads on which tables are made.

use super::Failure;

/// Does `work` on this many threads, or one a core. What comes out does not depend on it.
pub(super) fn with<R: Send>(
    threads: Option<u32>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    let threads = threads.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Failure::Run(format!("can't start threads: {error}")))?.install(work)
}
