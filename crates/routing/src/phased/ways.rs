//! Ways to a target, hop by hop.
//!
//! On a fabric of groups, such as a Dragonfly, a minimal way has one cable between groups: to a
//! router that has a cable to the target's group, over, and to the target (\[dragonfly\]). Two such
//! cables may take fewer hops in all, but load what is scarce twice. Elsewhere ways have the fewest
//! hops.

use super::super::relation::NoRelation;
use flitlab_base::memory::claim;
use flitlab_base::narrow::fitted;
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};

/// Of a router from which no way leads to a target.
const NO_WAY: u8 = u8::MAX;

/// Most hops of a way within groups, so that a packet's phases and steps are numbers of 8 bits.
const MOST_HOPS: u8 = 40;

/// The hops from each router to each target, on ways of one kind.
#[derive(Debug)]
pub(super) struct Ways {
    routers: u32,
    /// By router: its group; empty if ways have the fewest hops.
    groups: Vec<u32>,
    /// By target, then router: the hops that are left. In the target's group they are those within
    /// it.
    left: Vec<u8>,
    /// Most hops of a way from a router with terminals, before its cable between groups and after
    /// it. On ways with the fewest hops all are before.
    pub before: u8,
    pub after: u8,
    /// Most hops before the cable of a way to a group, which ends behind it, from a router with
    /// terminals.
    pub before_group: u8,
    /// Most hops before the cable from any router, with terminals or not, to a router and to a group.
    pub before_from_any: u8,
    pub before_group_from_any: u8,
}

/// Where the hops of a router lead to, on a way to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// Along a group, or on a way with the fewest hops.
    Local,
    /// To the target's group.
    Global,
}

impl Ways {
    /// Ways with the fewest hops.
    pub(super) fn shortest(fabric: &Fabric) -> Result<Self, NoRelation> {
        let mut ways = Self::empty(fabric, Vec::new())?;
        let routers = fabric.routers() as usize;
        let (mut hops, mut order) = (vec![0; routers], Vec::new());
        for target in fabric.ends() {
            // Cables have channels in both directions, so ways there are as long as those back.
            breadth_first(target, &mut hops, &mut order, |at| fabric.neighbors(at));
            let first = target as usize * routers;
            for (left, &hops) in ways.left[first..first + routers].iter_mut().zip(&hops) {
                *left = in_bytes(hops)?;
            }
        }
        ways.measure(fabric)?;
        Ok(ways)
    }

    /// Ways with one cable between groups. The fabric must have groups.
    pub(super) fn by_groups(fabric: &Fabric) -> Result<Self, NoRelation> {
        let groups = fabric.groups().to_vec();
        if groups.is_empty() {
            return Err(NoRelation::NoGroups);
        }
        let mut ways = Self::empty(fabric, groups)?;
        let routers = fabric.routers() as usize;
        let all = ways.left.len() / routers;
        let (mut hops, mut order) = (vec![0; routers], Vec::new());
        for target in 0..fitted!(all, u32) {
            let own = ways.group_of(target);
            let mut left = vec![NO_WAY; routers];
            if target < ways.routers {
                let inside =
                    |at| fabric.neighbors(at).filter(|&to| ways.groups[to as usize] == own);
                breadth_first(target, &mut hops, &mut order, inside);
                for &router in &order {
                    left[router as usize] = in_bytes(hops[router as usize])?;
                }
            } else {
                let members = (0..routers).filter(|&router| ways.groups[router] == own);
                members.for_each(|router| left[router] = 0);
            }
            ways.spread(fabric, own, &mut left);
            let first = target as usize * routers;
            ways.left[first..first + routers].copy_from_slice(&left);
        }
        ways.measure(fabric)?;
        Ok(ways)
    }

    fn empty(fabric: &Fabric, groups: Vec<u32>) -> Result<Self, NoRelation> {
        let routers = fabric.routers();
        let targets = routers + groups.iter().max().map_or(0, |most| most + 1);
        let bytes = u64::from(targets) * u64::from(routers);
        claim("the distances of the routing relation", bytes)?;
        let left = vec![NO_WAY; targets as usize * routers as usize];
        let (before, after, before_group) = (0, 0, 0);
        let (before_from_any, before_group_from_any) = (0, 0);
        Ok(Self {
            routers,
            groups,
            left,
            before,
            after,
            before_group,
            before_from_any,
            before_group_from_any,
        })
    }

    /// Finds the hops left from outside a target's group, where those inside are known.
    fn spread(&self, fabric: &Fabric, own: u32, left: &mut [u8]) {
        let group = |router: u32| self.groups[router as usize];
        let outside = || (0..self.routers).filter(|&router| group(router) != own);
        // Each round finds the ways with a hop more within the source's group.
        for round in 0.. {
            let found: Vec<(u32, u8)> = outside()
                .filter_map(|router| {
                    let onward = |next: &u32| match round {
                        0 => group(*next) == own,
                        _ => group(*next) == group(router),
                    };
                    let nexts = fabric.neighbors(router).filter(onward);
                    let least = nexts.map(|next| left[next as usize]).min()?.saturating_add(1);
                    (least < left[router as usize]).then_some((router, least))
                })
                .collect();
            if found.is_empty() && round > 0 {
                return;
            }
            found.iter().for_each(|&(router, least)| left[router as usize] = least);
        }
    }

    /// Finds the most hops, and that all pairs are connected.
    fn measure(&mut self, fabric: &Fabric) -> Result<(), NoRelation> {
        let ends = fabric.ends();
        let mut is_end = vec![false; self.routers as usize];
        ends.iter().for_each(|&end| is_end[end as usize] = true);
        let (mut most, mut any, mut inside) = ([0, 0], [0, 0], 0);
        let mut order: Vec<u32> = (0..self.routers).collect();
        let groups = self.routers..fitted!(self.left.len(), u32) / self.routers;
        for target in ends.iter().copied().chain(groups) {
            if let Some(&from) = ends.iter().find(|&&from| self.left(from, target).is_none()) {
                let to = if target < self.routers { target } else { self.member(target) };
                return Err(NoRelation::NoPath(fabric.router_name(from), fabric.router_name(to)));
            }
            // By router: hops before the cable between groups, the most on any way.
            let mut before = vec![0u8; self.routers as usize];
            order.sort_by_key(|&router| self.left(router, target));
            let of_group = usize::from(target >= self.routers);
            for &router in &order {
                let Some(left) = self.left(router, target).filter(|&left| left > 0) else {
                    continue;
                };
                if !self.groups.is_empty() && self.group_of(router) == self.group_of(target) {
                    inside = inside.max(left);
                    continue;
                }
                let nexts = fabric.neighbors(router);
                let local = nexts
                    .filter(|&next| self.onward((router, next), target) == Some(Onward::Local));
                let own = local.map(|next| before[next as usize] + 1).max().unwrap_or(0);
                before[router as usize] = own;
                any[of_group] = any[of_group].max(own);
                if is_end[router as usize] {
                    most[of_group] = most[of_group].max(own);
                }
                for next in fabric.neighbors(router) {
                    if self.onward((router, next), target) == Some(Onward::Global) {
                        let behind = self.left(next, target).expect("a way leads on");
                        self.after = self.after.max(behind);
                    }
                }
            }
        }
        [self.before, self.before_group] = most;
        [self.before_from_any, self.before_group_from_any] = any;
        // Ways within a group take the steps of both halves.
        self.after = self.after.max(inside.saturating_sub(self.before));
        let before = self.before_from_any.max(self.before_group_from_any);
        let hops = u32::from(before) + u32::from(self.after);
        if hops > u32::from(MOST_HOPS) { Err(NoRelation::TooFar { hops }) } else { Ok(()) }
    }

    /// Whether ways have one cable between groups.
    pub(super) fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether no packet takes two hops within a group on end, from whichever router it goes on.
    pub(super) fn are_groups_joined(&self) -> bool {
        let hops = [self.before_from_any, self.before_group_from_any, self.after];
        hops.iter().all(|&hops| hops <= 1)
    }

    /// Number of routers, behind which the numbers of groups begin as targets.
    pub(super) fn routers(&self) -> u32 {
        self.routers
    }

    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The group of a target. The ways must be by groups.
    pub(super) fn group_of(&self, target: u32) -> u32 {
        match target.checked_sub(self.routers) {
            Some(group) => group,
            None => self.groups[target as usize],
        }
    }

    fn member(&self, target: u32) -> u32 {
        let own = target - self.routers;
        let place = self.groups.iter().position(|&group| group == own);
        fitted!(place.expect("groups have members"), u32)
    }

    /// The hops that are left from a router to a target; `None` if there is no way.
    pub(super) fn left(&self, router: u32, target: u32) -> Option<u8> {
        let left = self.left[target as usize * self.routers as usize + router as usize];
        (left != NO_WAY).then_some(left)
    }

    /// Whether a hop from one router to another leads along a way to a target; `None` if not.
    pub(super) fn onward(&self, (router, next): (u32, u32), target: u32) -> Option<Onward> {
        if self.left(next, target)? + 1 != self.left(router, target)? {
            return None;
        }
        let group = |router: u32| self.groups.get(router as usize);
        if group(router) == group(next) {
            Some(Onward::Local)
        } else {
            // Over a third group it would be a second cable between groups.
            (self.group_of(next) == self.group_of(target)).then_some(Onward::Global)
        }
    }

    /// The first channel of a router that leads along a way to a target.
    pub(super) fn channel(&self, fabric: &Fabric, router: u32, target: u32) -> Channel {
        let leads_on = |&channel: &Channel| {
            let next = fabric.target(channel);
            next.is_some_and(|next| self.onward((router, next), target).is_some())
        };
        fabric.outputs(router).find(leads_on).expect("all pairs are connected")
    }
}

/// A number of hops, which may be none.
fn in_bytes(hops: u32) -> Result<u8, NoRelation> {
    match hops {
        NONE => Ok(NO_WAY),
        hops if hops < u32::from(NO_WAY) => Ok(fitted!(hops, u8)),
        hops => Err(NoRelation::TooFar { hops }),
    }
}
