//! A generator that hands out the fuzzer's bytes.

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;

/// Draws from bytes as long as there are any, then from a fixed generator, so that a changed byte
/// changes one draw and no loop waits for ever.
pub struct Draw<'b> {
    bytes: &'b [u8],
    after: ChaCha8Rng,
}

impl<'b> Draw<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, after: ChaCha8Rng::seed_from_u64(0) }
    }

    /// One byte for each draw, repeated: ranges are drawn from a number's highest bits.
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }
}

impl TryRng for Draw<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.byte().map_or_else(|| self.after.next_u32(), |byte| u32::from_ne_bytes([byte; 4])))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.byte().map_or_else(|| self.after.next_u64(), |byte| u64::from_ne_bytes([byte; 8])))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.after.fill_bytes(bytes);
        Ok(())
    }
}
