//! A hasher of a few small numbers.

use std::hash::Hasher;

/// The standard library's hasher withstands attacks, which nobody makes here, and takes thrice as long.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
