//! Prefetching: memory is fetched into the caches some time before it is used.
//!
//! In a large network most of the memory of a router and its hosts is outside the caches. While one
//! router is simulated, the memory of the next ones can be fetched.

/// Distance in time between a prefetch and the use of the value. Each stage finds its addresses in
/// memory that the stage before has fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Some steps ahead: nothing of the value is in the caches yet.
    Far,
    /// Nearer: what the first stage fetched is there.
    Near,
    /// Nearer still: what the second stage fetched is there.
    Next,
    /// Immediately before the use.
    Last,
}

/// Prefetches the cache lines of a value, on processors that have an instruction for it.
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "a hint to the processor, of which the program notices nothing but time"
)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(64) {
            // SAFETY: every x86-64 processor has the instruction, and it has no effect but on time,
            // whatever the address; this one lies within a value.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64 * line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_stays_as_it_is() {
        let values = vec![[7u8; 100]; 3];
        values.iter().for_each(prefetch);
        prefetch(&values);
        prefetch(&());
        assert!(values.as_flattened().iter().all(|&value| value == 7));
    }
}
