//! Shares that are drawn.

/// The whole in units of the shares that are drawn: they are compared as multiples of 2^-53, so that
/// every machine decides alike.
pub(super) const ONE: u64 = 1 << 53;
