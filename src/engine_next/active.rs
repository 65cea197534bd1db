//! Which routers have something to do, so that a window costs nothing for those that have not.

use super::tick::{NEVER, Tick, rebased};

/// Routers of a block.
const BLOCK: usize = 64;

/// Before when nothing happens in each router, and in each block of routers.
#[derive(Debug)]
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

    /// The first router, from `router` on, in which something happens before `end`. What has been visited of the
    /// blocks behind it is known by then.
    #[inline]
    pub(super) fn find(&mut self, mut router: u32, end: Tick) -> Option<u32> {
        loop {
            let block = router as usize / BLOCK;
            if block >= self.blocks.len() {
                return None;
            }
            if !(router as usize).is_multiple_of(BLOCK) || self.blocks[block] < end {
                let last = self.next.len().min((block + 1) * BLOCK);
                let rest = &self.next[router as usize..last];
                if let Some(place) = rest.iter().position(|&next| next < end) {
                    return Some(router + place as u32);
                }
                let all = &self.next[block * BLOCK..last];
                self.blocks[block] = all.iter().copied().min().unwrap_or(NEVER);
            }
            router = (block as u32 + 1) * BLOCK as u32;
        }
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
        let mut at = 0;
        while let Some(router) = active.find(at, 20) {
            found.push(router);
            active.set(router, 100);
            // What it sends wakes others, in blocks before and behind, after the window.
            active.lower(0, 70);
            active.lower(140, 60);
            at = router + 1;
        }
        assert_eq!(found, [63, 149]);
        assert_eq!(active.earliest(), 20);
        assert_eq!(active.find(0, 21), Some(64));
        active.set(64, NEVER);
        assert_eq!(active.find(65, 21), None);
        assert_eq!(active.earliest(), 50);
    }
}
