//! How many threads, and work on them.

use clap::Args;

use super::{Failure, program};

/// Two threads simulate a 6x6x6 torus, 108 routers each, faster than one does, but no 5x5x5 torus
/// (benches/runs).
const ROUTERS_A_THREAD: u32 = 128;

/// How often the system is asked how many threads run, a millisecond apart.
const LOOKS: usize = 5;

/// How many threads a command uses.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Threads {
    /// Threads to use; results do not depend on them [default: one an idle core, if that many pay]
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
    /// fewer routers each, threads wait for each other for longer than they work. Nor does a thread
    /// pay that shares its core with other work, since all threads wait for it.
    pub(super) fn of_simulation(self, routers: u32) -> usize {
        match self.threads {
            Some(threads) => threads as usize,
            None => {
                let pay = (routers / ROUTERS_A_THREAD) as usize;
                let most = self.count().min(pay).max(1);
                if most == 1 { 1 } else { most.min(idle_cores()).max(1) }
            }
        }
    }

    /// Does `work` on this many threads.
    pub(super) fn with<R: Send>(
        self,
        work: impl FnOnce() -> Result<R, Failure> + Send,
    ) -> Result<R, Failure> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.count())
            .start_handler(program::for_threads())
            .build();
        pool.map_err(|error| Failure::Run(format!("can't start threads: {error}")))?.install(work)
    }
}

/// How many cores have nothing else to do, where the system says.
fn idle_cores() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    let mut running: Vec<usize> = Vec::new();
    for _ in 0..LOOKS {
        std::thread::sleep(std::time::Duration::from_millis(1));
        let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        running.extend(running_threads(&text));
    }
    let cores = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    running.sort_unstable();
    let usual = running.get(running.len() / 2).copied();
    usual.map_or(allowed, |running| idle_of(allowed, cores_of(&cores), running))
}

/// The threads that run or could run, this one among them, in the text of `/proc/loadavg`.
fn running_threads(text: &str) -> Option<usize> {
    text.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

/// The cores of the machine in the text of `/proc/stat`, a line each.
fn cores_of(text: &str) -> usize {
    let is_core = |line: &&str| {
        line.strip_prefix("cpu")
            .is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_digit()))
    };
    text.lines().filter(is_core).count()
}

/// The idle ones of the cores that are allowed, this thread's own included. A batch system that
/// allows some of a node's cores has others use the rest: then nothing follows from what runs.
fn idle_of(allowed: usize, cores: usize, running: usize) -> usize {
    if allowed < cores {
        return allowed;
    }
    let others = running.saturating_sub(1);
    allowed.saturating_sub(others).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_work_takes_cores() {
        assert_eq!(running_threads("0.50 1.74 2.66 3/812 4711\n"), Some(3));
        assert_eq!(running_threads(""), None);
        assert_eq!(cores_of("cpu  1 2\ncpu0 1 2\ncpu1 1 2\nintr 5\n"), 2);
        assert_eq!([1, 2, 3, 9].map(|running| idle_of(4, 4, running)), [4, 3, 2, 1]);
        assert_eq!(idle_of(4, 128, 100), 4, "a batch job's own cores");
    }
}
