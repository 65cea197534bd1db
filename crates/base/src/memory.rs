//! Memory needs, compared with the memory that is free before any of it is allocated.
//!
//! Structures that grow faster than their input (a fabric by its sizes, a table of all pairs, an
//! all-to-all of a million nodes) estimate their bytes and call [`claim`] first. A need that does
//! not fit is refused with both figures. Otherwise the process would be killed, or the machine
//! would swap for hours.
//!
//! Free memory is the least of three limits: the machine's available memory, the limit on the
//! process's address space (`ulimit -v`), and the limit of its control group, as Slurm and
//! containers set one. The environment variable [`VARIABLE`] replaces all three. So a scenario may
//! be refused on one machine only, but its results don't depend on the machine.

use std::fs;
use std::path::Path;

use crate::units::{Bytes, memory_text, parse_bytes};

/// The environment variable that sets the size, such as `64 GiB`, up to which the program may grow.
pub const VARIABLE: &str = "FLITLAB_MEMORY";

/// Needs below this number of bytes are granted without asking the system.
const SMALL: u64 = 16 << 20;

/// Why memory for something is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// The need exceeds the free memory.
    #[error("{what} would take about {} of memory, and {}", memory_text(*.needed), left_text(*.left, *.set))]
    Little {
        /// The thing that needs the memory, such as "the fabric".
        what: String,
        /// Bytes that it needs, estimated.
        needed: u64,
        /// Bytes that are free, beyond those in use.
        left: u64,
        /// Whether the limit comes from [`VARIABLE`] rather than from the system.
        set: bool,
    },
    /// The value of [`VARIABLE`], which is not a size.
    #[error("{VARIABLE}={0} is no size of memory")]
    NoSize(String),
}

/// The free memory in words, and the limit that it follows from.
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

/// Checks that `needed` bytes are free for `what`. Allocates nothing.
///
/// # Errors
/// If fewer are free. On systems that don't report their free memory, every need is granted.
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

/// Whether `needed` bytes are free on this machine, as far as it reports that; whatever [`VARIABLE`]
/// says of another one.
pub fn fits(needed: u64) -> bool {
    needed <= SMALL || free().is_none_or(|free| needed <= free)
}

/// Bytes of memory that this process has; `None` where the system does not report it.
pub fn resident() -> Option<u64> {
    status("VmRSS")
}

/// The most bytes of memory that this process has had; `None` where the system does not report it.
pub fn most_resident() -> Option<u64> {
    status("VmHWM")
}

/// Doubles the capacity of a list that is full, so that one more element fits.
///
/// # Errors
/// As [`claim`]; and if the allocation itself fails.
#[inline]
pub fn grow<T>(list: &mut Vec<T>, what: &str) -> Result<(), Shortage> {
    reserve(list, 1, what)
}

/// Makes room in a list for `more` elements, and at least doubles its capacity if it has too
/// little.
///
/// # Errors
/// As [`claim`]; and if the allocation itself fails.
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

/// Bytes that this process can still allocate; `None` where the system does not report them.
fn free() -> Option<u64> {
    [available(), address_space(), group()].into_iter().flatten().min()
}

/// Bytes that are available on the machine; `None` where `/proc/meminfo` is missing.
fn available() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")
}

/// Bytes left below the limit on this process's address space; `None` without a limit.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(soft.saturating_sub(status("VmSize")?))
}

/// Bytes left below the limit of this process's control group (version 2); `None` without a limit.
fn group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Path::new("/sys/fs/cgroup").join(path);
    let most: u64 = fs::read_to_string(folder.join("memory.max")).ok()?.trim().parse().ok()?;
    let statistics = fs::read_to_string(folder.join("memory.stat")).ok()?;
    let used = statistics.lines().find_map(|line| line.strip_prefix("anon "))?;
    Some(most.saturating_sub(used.trim().parse().ok()?))
}

/// A number of bytes that the system reports of this process, by name.
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
