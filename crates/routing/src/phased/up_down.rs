//! Ways up and then down, which lead between all routers of a connected fabric and in no circle, in
//! one virtual channel (\[autonet\]): for packets that have no other way round what has failed.
//!
//! Routers have an order: by their hops from the first router with terminals, then by number. A hop
//! leads up to a router that comes earlier, down to a later one. A packet takes any of the ways with
//! the fewest hops among those on which no hop down comes before one up.

use super::super::relation::NoRelation;
use flitlab_base::memory::claim;
use flitlab_base::narrow::fitted;
use flitlab_fabric::{Fabric, NONE, breadth_first};

/// Of a router from which no way leads to a target.
const NO_WAY: u16 = u16::MAX;

/// The hops from each router to each other one.
#[derive(Debug)]
pub(super) struct UpDown {
    /// By router: its place in the order, or [`NONE`].
    place: Vec<u32>,
    /// By target, then router: the hops of packets that may still go up, and of those that may not.
    left: Vec<[u16; 2]>,
}

/// A hop of such a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub port: u16,
    /// Whether it leads down, so that none leads up behind it.
    pub leads_down: bool,
    /// The hops that are left behind it.
    pub left: u16,
}

impl UpDown {
    pub(super) fn new(fabric: &Fabric) -> Result<Self, NoRelation> {
        let (ends, routers) = (fabric.ends(), fabric.routers() as usize);
        claim("the ways up and down", (routers * routers) as u64 * 4)?;
        let (mut hops, mut order) = (vec![0; routers], Vec::new());
        let mut own = Self { place: vec![NONE; routers], left: Vec::new() };
        if let Some(&root) = ends.first() {
            breadth_first(root, &mut hops, &mut order, |at| fabric.neighbors(at));
            order.sort_unstable_by_key(|&router| (hops[router as usize], router));
        }
        for (place, &router) in (0..).zip(&order) {
            own.place[router as usize] = place;
        }
        own.left = vec![[NO_WAY; 2]; routers * routers];
        for target in ends {
            let first = target as usize * routers;
            let left = &mut own.left[first..first + routers];
            let place = |router: u32| own.place[router as usize];
            left[target as usize] = [0, 0];
            // Those from which a hop leads down come earlier; of these the last ones first.
            for &router in order.iter().rev().filter(|&&router| router != target) {
                let lower = fabric.neighbors(router).filter(|&next| place(next) > place(router));
                let least = lower.map(|next| left[next as usize][1]).min();
                left[router as usize][1] = least.unwrap_or(NO_WAY).saturating_add(1);
            }
            for &router in order.iter().filter(|&&router| router != target) {
                let upper = fabric.neighbors(router).filter(|&next| place(next) < place(router));
                let least = upper.map(|next| left[next as usize][0]).min();
                let up = least.unwrap_or(NO_WAY).saturating_add(1);
                left[router as usize][0] = up.min(left[router as usize][1]);
            }
        }
        Ok(own)
    }

    /// The hops of a packet at a router, which may still go up, or may not.
    pub(super) fn steps(
        &self,
        fabric: &Fabric,
        (router, target): (u32, u32),
        may_rise: bool,
    ) -> impl Iterator<Item = Step> {
        let outputs = fabric.outputs(router);
        let left = self.left(router, target, may_rise);
        outputs.clone().filter_map(move |channel| {
            let next = fabric.target(channel)?;
            let leads_down = self.place[next as usize] > self.place[router as usize];
            let behind = self.left(next, target, !leads_down);
            let port = fitted!(channel - outputs.start, u16);
            let is_allowed = may_rise || leads_down;
            (is_allowed && left != NO_WAY && behind.checked_add(1) == Some(left)).then_some(Step {
                port,
                leads_down,
                left: behind,
            })
        })
    }

    /// Most hops of a way.
    pub(super) fn longest(&self) -> u32 {
        let left = self.left.iter().map(|left| left[0]).filter(|&left| left != NO_WAY);
        left.max().unwrap_or(0).into()
    }

    /// The hops from a router to a target.
    pub(super) fn left(&self, router: u32, target: u32, may_rise: bool) -> u16 {
        let own = self.left[target as usize * self.place.len() + router as usize];
        own[usize::from(!may_rise)]
    }
}
