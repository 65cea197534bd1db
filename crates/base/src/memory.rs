//! Memory that something will take, compared with what can be had before any of it is asked for.
//!
//! Whatever grows faster than its input (a fabric by its sizes, a table of all pairs, an all-to-all of a million
//! nodes) estimates its bytes and calls [`claim`] first. What does not fit is refused with both figures, instead
//! of an abort, or of a machine that swaps for hours.
//!
//! What can be had is what the system would give to this process: the least of the machine's available memory,
//! of the limit on the process's address space (`ulimit -v`) and of its control group's limit, as Slurm and
//! containers set one. The environment variable [`VARIABLE`] takes the place of all three. So whether a scenario
//! is refused can depend on the machine; what it gives can't.

use std::fs;
use std::path::Path;

use crate::units::{Bytes, memory_text, parse_bytes};

/// Names a size, such as `64 GiB`, up to which the program may grow.
pub const VARIABLE: &str = "FLITLAB_MEMORY";

/// What takes less than this is not worth asking the system about: it has that, or nothing goes any more.
const SMALL: u64 = 16 << 20;

/// Something takes more memory than there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// There is not enough.
    #[error("{what} would take about {} of memory, and {}", memory_text(*.needed), left_text(*.left, *.set))]
    Little {
        /// What the memory is for, such as "the fabric".
        what: String,
        /// Bytes that it takes, about.
        needed: u64,
        /// Bytes that can be had besides those in use.
        left: u64,
        /// Whether [`VARIABLE`] says so, rather than the system.
        set: bool,
    },
    /// [`VARIABLE`] is no size; its value.
    #[error("{VARIABLE}={0} is no size of memory")]
    NoSize(String),
}

/// How much is left, in words.
fn left_text(left: u64, set: bool) -> String {
    match (left, set) {
        (0, true) => format!("all that {VARIABLE} allows is in use already"),
        (_, true) => format!("{} are allowed", memory_text(left)),
        (_, false) => format!("{} are free", memory_text(left)),
    }
}

impl Shortage {
    /// The way out.
    pub fn help(&self) -> String {
        match self {
            Self::Little { set: true, .. } => {
                format!("make it smaller, or raise {VARIABLE}")
            }
            Self::Little { needed, .. } => format!(
                "make it smaller, or take a machine with more; {VARIABLE}=\"{} GiB\" before the command \
                 allows it here all the same",
                needed.div_ceil(1 << 30).saturating_add(1)
            ),
            Self::NoSize(_) => format!("write for example {VARIABLE}=\"64 GiB\""),
        }
    }
}

/// Sees to it that there are so many bytes for something.
///
/// # Errors
/// If there are not. Where the system does not say what it has, there always are.
pub fn claim(what: impl Into<String>, needed: u64) -> Result<(), Shortage> {
    let (left, set) = match std::env::var(VARIABLE) {
        Ok(value) => {
            let Ok(Bytes(all)) = parse_bytes(&value) else { return Err(Shortage::NoSize(value)) };
            (all.saturating_sub(status("VmRSS").unwrap_or(0)), true)
        }
        Err(_) if needed <= SMALL => return Ok(()),
        Err(_) => match free() {
            Some(free) => (free, false),
            None => return Ok(()),
        },
    };
    if needed <= left {
        return Ok(());
    }
    Err(Shortage::Little { what: what.into(), needed, left, set })
}

/// Makes room in a list for one more, if it is full and there are the bytes for twice its size.
///
/// # Errors
/// As [`claim`], and if the system does not give them after all.
#[inline]
pub fn grow<T>(list: &mut Vec<T>, what: &str) -> Result<(), Shortage> {
    reserve(list, 1, what)
}

/// Makes room in a list for so many more, if there are the bytes for them and for twice its size.
///
/// # Errors
/// As [`grow`].
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, more: usize, what: &str) -> Result<(), Shortage> {
    let has_room = list.capacity() - list.len() >= more;
    if has_room { Ok(()) } else { enlarge(list, more, what) }
}

#[cold]
fn enlarge<T>(list: &mut Vec<T>, more: usize, what: &str) -> Result<(), Shortage> {
    // Half a page at least, so that short lists ask seldom.
    let more = more.max(list.len()).max(2048 / size_of::<T>().max(1));
    let needed = (list.len() as u64 + more as u64).saturating_mul(size_of::<T>() as u64);
    claim(what, needed)?;
    list.try_reserve_exact(more).map_err(|_| Shortage::Little {
        what: what.into(),
        needed,
        left: free().unwrap_or(0),
        set: false,
    })
}

/// Bytes that the system would still give to this process; `None` where it does not say.
fn free() -> Option<u64> {
    [available(), address_space(), group()].into_iter().flatten().min()
}

/// Of the machine.
fn available() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")
}

/// Below the limit on this process's address space, if there is one.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(soft.saturating_sub(status("VmSize")?))
}

/// Below the limit of this process's control group (version 2), if it has one.
fn group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Path::new("/sys/fs/cgroup").join(path);
    let most: u64 = fs::read_to_string(folder.join("memory.max")).ok()?.trim().parse().ok()?;
    let statistics = fs::read_to_string(folder.join("memory.stat")).ok()?;
    let used = statistics.lines().find_map(|line| line.strip_prefix("anon "))?;
    Some(most.saturating_sub(used.trim().parse().ok()?))
}

/// A quantity of this process.
fn status(name: &str) -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, name)
}

/// The bytes of a line such as `MemAvailable:   123 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let of_line = |line: &str| {
        let number = line.strip_prefix(name)?.strip_prefix(':')?.trim().strip_suffix("kB")?;
        number.trim().parse::<u64>().ok()
    };
    text.lines().find_map(of_line)?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_an_exbibyte_and_everybody_a_kibibyte() {
        claim("a page", 1 << 10).unwrap();
        let Err(error) = claim("the fabric", 1 << 60) else {
            assert!(free().is_none());
            return;
        };
        let text = error.to_string();
        assert!(text.starts_with("the fabric would take about 1152921504.6 GB of memory, and "));
        assert!(error.help().contains(VARIABLE));
    }

    #[test]
    fn a_list_grows_while_there_is_room() {
        let mut list = Vec::new();
        for number in 0..10_000_u64 {
            grow(&mut list, "a list").unwrap();
            assert!(list.len() < list.capacity());
            list.push(number);
        }
        assert!(list.capacity() <= 20_000 && list.is_sorted());
        // More bytes than any machine has.
        assert!(reserve(&mut list, 1 << 56, "a long list").is_err());
        assert_eq!(list.len(), 10_000);
    }

    #[test]
    fn the_lines_of_the_system_are_understood() {
        let text = "MemTotal:  16 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(kibibytes(text, "MemAvailable"), Some(2 << 20));
        assert_eq!(kibibytes(text, "Mem"), None);
    }
}
