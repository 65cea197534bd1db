//! Which routers have something to do, so that a window costs nothing for those that have not.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::tick::{NEVER, Tick, rebased};

/// Routers of a block.
const BLOCK: usize = 64;

/// Before when nothing happens in each router, and in each block of routers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Active {
    next: Vec<Tick>,
    blocks: Vec<Tick>,
}

impl Active {
    /// Of so many routers, all idle.
    pub(super) fn new(routers: usize) -> Self {
        Self { next: vec![NEVER; routers], blocks: vec![NEVER; routers.div_ceil(BLOCK)] }
    }

    /// Something happens in a router at this time, or before.
    #[inline]
    pub(super) fn lower(&mut self, router: u32, time: Tick) {
        let next = &mut self.next[router as usize];
        *next = (*next).min(time);
        let block = &mut self.blocks[router as usize / BLOCK];
        *block = (*block).min(time);
    }

    /// A router has been visited.
    #[inline]
    pub(super) fn set(&mut self, router: u32, time: Tick) {
        self.next[router as usize] = time;
    }

    /// When something happens next, or before.
    pub(super) fn earliest(&self) -> Tick {
        self.blocks.iter().copied().min().unwrap_or(NEVER)
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The routers of a block, if something happens in one of them before `end`.
    #[inline]
    pub(super) fn due(&self, block: usize, end: Tick) -> Option<Range<u32>> {
        let last = self.next.len().min((block + 1) * BLOCK);
        (self.blocks[block] < end).then_some((block * BLOCK) as u32..last as u32)
    }

    /// Before when nothing happens in a router.
    #[inline]
    pub(super) fn next(&self, router: u32) -> Tick {
        self.next[router as usize]
    }

    /// All routers of a block that are due have been visited.
    #[inline]
    pub(super) fn settle(&mut self, block: usize) {
        let last = self.next.len().min((block + 1) * BLOCK);
        let routers = &self.next[block * BLOCK..last];
        self.blocks[block] = routers.iter().fold(NEVER, |least, &next| least.min(next));
    }

    pub(super) fn rebase(&mut self, by: Tick) {
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
        let mut found = Vec::new();
        for block in 0..active.blocks() {
            let Some(routers) = active.due(block, 20) else { continue };
            for router in routers {
                if active.next(router) < 20 {
                    found.push(router);
                    active.set(router, 100);
                    // What it sends wakes others, in blocks before and behind, after the window.
                    active.lower(0, 70);
                    active.lower(140, 60);
                }
            }
            active.settle(block);
        }
        assert_eq!(found, [63, 149]);
        assert_eq!(active.earliest(), 20);
        assert_eq!(active.due(1, 21), Some(64..128));
        active.set(64, NEVER);
        active.settle(1);
        assert_eq!((active.due(1, NEVER), active.earliest()), (None, 50));
    }
}
