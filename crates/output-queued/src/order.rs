//! In which order the slots of a queue were filled.

/// Most slots of a queue.
pub const MAX_SLOTS: u32 = 16;

/// The slots of a queue, of 4 bits each: those used, oldest first, then those that are free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order(u64);

/// A one in every nibble.
const ONES: u64 = 0x1111_1111_1111_1111;

impl Order {
    /// All slots in the order of their numbers.
    pub(super) const ASCENDING: Self = Self(0xfedc_ba98_7654_3210);

    /// The slot at a place.
    #[inline]
    pub(super) fn slot(self, place: u32) -> u8 {
        (self.0 >> (4 * place) & 15) as u8
    }

    /// The place of a slot.
    #[inline]
    pub(super) fn place(self, slot: u8) -> u32 {
        // The lowest nibble of a number that is zero there; borrows only reach nibbles above it.
        let zero = self.0 ^ (ONES * u64::from(slot));
        (zero.wrapping_sub(ONES) & !zero & ONES << 3).trailing_zeros() / 4
    }

    /// Moves what is at `place` on to `end`, and what lies between one place back.
    #[inline]
    pub(super) fn put_off(&mut self, place: u32, end: u32) {
        let slot = u64::from(self.slot(place));
        let before = (1 << (4 * place)) - 1;
        let between = ((1 << (4 * end)) - 1) & !before;
        let after = !(before | between) << 4;
        self.0 = self.0 & (before | after) | self.0 >> 4 & between | slot << (4 * end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_off_changes_places_with_what_lies_between() {
        let mut order = Order::ASCENDING;
        order.put_off(2, 5);
        assert_eq!(order.0, 0xfedc_ba98_7625_4310);
        order.put_off(0, 15);
        assert_eq!(order.0, 0x0fed_cba9_8762_5431);
        order.put_off(3, 3);
        assert_eq!(order.0, 0x0fed_cba9_8762_5431);
        assert_eq!((order.slot(3), order.place(5)), (5, 3));
    }
}
