//! Which algorithms MPICH 3 takes.
//!
//! Thresholds are the defaults of MPICH 3's control variables (`MPIR_CVAR_*_MSG_SIZE`), as
//! \[mpich-collectives\] chose them: for operations that commute, with at least as many elements as
//! ranks, without regard to which ranks share a node.

const KIB: u64 = 1024;

/// Up to 12 KiB, or for up to 7 ranks, binomial; then scatter and all-gather.
pub(super) fn broadcast(ranks: u32, bytes: u64) -> &'static str {
    if bytes < 12 * KIB || ranks < 8 {
        "binomial"
    } else if bytes < 512 * KIB && ranks.is_power_of_two() {
        "scatter-recursive-doubling"
    } else {
        "scatter-ring"
    }
}

/// Up to 2 KiB binomial.
pub(super) fn reduce(_: u32, bytes: u64) -> &'static str {
    if bytes <= 2 * KIB { "binomial" } else { "rabenseifner" }
}

/// Up to 2 KiB recursive doubling.
pub(super) fn all_reduce(_: u32, bytes: u64) -> &'static str {
    if bytes <= 2 * KIB { "recursive-doubling" } else { "rabenseifner" }
}

/// By the bytes that all ranks give.
pub(super) fn all_gather(ranks: u32, bytes: u64) -> &'static str {
    let total = bytes.saturating_mul(u64::from(ranks));
    if total < 512 * KIB && ranks.is_power_of_two() {
        "recursive-doubling"
    } else if total < 80 * KIB {
        "bruck"
    } else {
        "ring"
    }
}

/// Below 512 KiB recursive halving.
pub(super) fn reduce_scatter(_: u32, bytes: u64) -> &'static str {
    if bytes < 512 * KIB { "recursive-halving" } else { "pairwise" }
}

/// Up to 256 B for at least 8 ranks Bruck; up to 32 KiB scattered.
pub(super) fn all_to_all(ranks: u32, bytes: u64) -> &'static str {
    if bytes <= 256 && ranks >= 8 {
        "bruck"
    } else if bytes <= 32 * KIB {
        "scattered"
    } else {
        "pairwise-xor"
    }
}

/// Gathers and scatters are binomial at all sizes.
pub(super) fn binomial(_: u32, _: u64) -> &'static str {
    "binomial"
}

/// Barriers always disseminate.
pub(super) fn barrier(_: u32, _: u64) -> &'static str {
    "dissemination"
}
