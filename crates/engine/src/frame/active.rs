//! The times of routers' next events, so that idle routers cost nothing in a window.
//!
//! [`Active`] belongs to the frame's schedule of a part.

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, rebased};
use flitlab_base::narrow::fitted;

/// Number of routers in a block.
const BLOCK: usize = 64;

/// Lower bounds of the next event, by router and by block of routers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Active {
    /// In whole blocks: a place without a router never has an event.
    next: Vec<Tick>,
    blocks: Vec<Tick>,
}

impl Active {
    /// This many routers, all idle.
    pub(crate) fn new(routers: usize) -> Self {
        let blocks = routers.div_ceil(BLOCK);
        Self { next: vec![NEVER; blocks * BLOCK], blocks: vec![NEVER; blocks] }
    }

    /// Notes that a router has an event at this time or before.
    #[inline]
    pub(crate) fn lower(&mut self, router: u32, time: Tick) {
        let next = &mut self.next[router as usize];
        *next = (*next).min(time);
        let block = &mut self.blocks[router as usize / BLOCK];
        *block = (*block).min(time);
    }

    /// Forgets the events of a router, which is visited now: the visit says when the next ones are.
    #[inline]
    pub(crate) fn clear(&mut self, router: u32) {
        self.next[router as usize] = NEVER;
    }

    /// A lower bound of the next event of all routers.
    pub(crate) fn earliest(&self) -> Tick {
        self.blocks.iter().copied().min().unwrap_or(NEVER)
    }

    /// Adds the routers with an event before `end` to `due`, block by block from `block` on, until
    /// there are `many` or no more blocks. Returns the block to go on with.
    #[inline]
    pub(crate) fn add_due(
        &self,
        mut block: usize,
        end: Tick,
        many: usize,
        due: &mut Vec<u32>,
    ) -> usize {
        while block < self.blocks.len() && due.len() < many {
            if self.blocks[block] < end {
                self.add_due_of(block, end, due);
            }
            block += 1;
        }
        block
    }

    /// Adds the due routers of one block. All times are compared without a branch, so only due
    /// routers cost something.
    #[inline]
    fn add_due_of(&self, block: usize, end: Tick, due: &mut Vec<u32>) {
        let first = fitted!(block * BLOCK, u32);
        let mut is_due = [0; BLOCK];
        for (is_due, &next) in is_due.iter_mut().zip(self.routers_of(block)) {
            *is_due = u8::from(next < end);
        }
        for (eight, bytes) in (0..).zip(is_due.as_chunks().0) {
            let mut bytes = u64::from_le_bytes(*bytes);
            while bytes != 0 {
                due.push(first + 8 * eight + bytes.trailing_zeros() / 8);
                bytes &= bytes - 1;
            }
        }
    }

    /// The times of a block's routers.
    #[inline]
    fn routers_of(&self, block: usize) -> &[Tick] {
        &self.next[block * BLOCK..][..BLOCK]
    }

    /// Updates the blocks of the routers in `visited`, all due routers of which have been visited.
    #[inline]
    pub(crate) fn settle(&mut self, visited: &[u32]) {
        let mut settled = usize::MAX;
        for &router in visited {
            let block = router as usize / BLOCK;
            if block != settled {
                settled = block;
                let routers = self.routers_of(block).iter();
                self.blocks[block] = routers.fold(NEVER, |least, &next| least.min(next));
            }
        }
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        for time in self.next.iter_mut().chain(&mut self.blocks) {
            *time = rebased(*time, by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_router_that_is_due_is_found_once_a_window() {
        let mut active = Active::new(150);
        for (router, time) in [(3, 50), (63, 10), (64, 20), (149, 5)] {
            active.lower(router, time);
        }
        let (mut found, mut block) = (Vec::new(), 0);
        loop {
            let mut due = Vec::new();
            block = active.add_due(block, 20, 1, &mut due);
            if due.is_empty() {
                break;
            }
            due.iter().for_each(|&router| {
                active.clear(router);
                active.lower(router, 100);
            });
            active.settle(&due);
            // A visit's effects wake others after the window, in blocks before and behind.
            active.lower(0, 70);
            active.lower(140, 60);
            found.extend(due);
        }
        assert_eq!(found, [63, 149]);
        assert_eq!(active.earliest(), 20);
        let due = |active: &Active, end| {
            let mut due = Vec::new();
            assert_eq!(active.add_due(0, end, 1_000, &mut due), 3, "no more blocks");
            due
        };
        assert_eq!(due(&active, 21), [64]);
        active.clear(64);
        active.settle(&[64]);
        assert_eq!((due(&active, 51), active.earliest()), (vec![3], 50));
    }
}
