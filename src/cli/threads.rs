//! How many threads, and work on them.

use super::Failure;

/// As many as were asked for, or one a core.
pub(super) fn count(threads: Option<u32>) -> usize {
    match threads {
        Some(threads) => threads as usize,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Does `work` on this many threads, or one a core. What comes out does not depend on it.
pub(super) fn with<R: Send>(
    threads: Option<u32>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count(threads)).build();
    pool.map_err(|error| Failure::Run(format!("can't start threads: {error}")))?.install(work)
}
