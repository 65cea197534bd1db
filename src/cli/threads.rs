//! How many threads, and work on them.

use clap::Args;

use super::Failure;

/// Two threads simulate a 6x6x6 torus, 108 routers each, faster than one does, but no 5x5x5 torus
/// (benches/runs).
const ROUTERS_A_THREAD: u32 = 128;

/// How many threads a command uses.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Threads {
    /// Threads to use; results do not depend on them [default: one a core, if that many pay]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
}

impl Threads {
    /// Whether it was asked for so many.
    pub(super) fn are_given(self) -> bool {
        self.threads.is_some()
    }

    /// As many as were asked for, or one a core.
    pub(super) fn count(self) -> usize {
        match self.threads {
            Some(threads) => threads as usize,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// As many as were asked for, or as many as pay for one simulation of so many routers: with
    /// fewer routers each, threads wait for each other for longer than they work.
    pub(super) fn of_simulation(self, routers: u32) -> usize {
        match self.threads {
            Some(threads) => threads as usize,
            None => self.count().min((routers / ROUTERS_A_THREAD) as usize).max(1),
        }
    }

    /// Does `work` on this many threads.
    pub(super) fn with<R: Send>(
        self,
        work: impl FnOnce() -> Result<R, Failure> + Send,
    ) -> Result<R, Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.count()).build();
        pool.map_err(|error| Failure::Run(format!("can't start threads: {error}")))?.install(work)
    }
}
