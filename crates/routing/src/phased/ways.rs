//! Ways to a target, hop by hop.
//!
//! On a fabric of groups, such as a Dragonfly, a minimal way has one cable between groups: to a
//! router that has a cable to the target's group, over, and to the target (\[dragonfly\]). Two such
//! cables may take fewer hops in all, but load what is scarce twice. Where failures leave no way
//! with one, a minimal way has the fewest such cables, and of these ways the fewest hops: it leads
//! **round**, by other groups. Elsewhere ways have the fewest hops.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::relation::NoRelation;
use flitlab_base::memory::claim;
use flitlab_base::narrow::fitted;
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};

/// Of a router from which no way leads to a target.
const NO_WAY: u8 = u8::MAX;

/// Most hops of a way within groups, so that a packet's phases and steps are numbers of 8 bits.
const MOST_HOPS: u8 = 40;

/// The hops from each router to each target, on ways of one kind.
///
/// A target is a router by its number, or on ways by groups a group: the number of routers and the
/// group's own.
#[derive(Debug)]
pub struct Ways {
    routers: u32,
    /// By router: its group; empty if ways have the fewest hops.
    groups: Vec<u32>,
    /// By target, then router: the hops that are left.
    left: Vec<u8>,
    /// By the same: the cables between groups that are left; empty if one is enough everywhere.
    cables: Vec<u8>,
    /// Most hops of a way with one cable between groups at most, from a router with terminals,
    /// before that cable and after it. On ways with the fewest hops all are before.
    pub(super) before: u8,
    pub(super) after: u8,
    /// Most hops before the cable of a way to a group, which ends behind it, from a router with
    /// terminals.
    pub(super) before_group: u8,
    /// Most hops before the cable from any router, with terminals or not, to a router and to a group.
    pub(super) before_from_any: u8,
    pub(super) before_group_from_any: u8,
    /// Most hops of a way within a group.
    inside: u8,
    /// Of the ways that lead round, between routers with terminals, by the cables between groups
    /// that are behind: most hops within a group before the next one. The last one stands for the
    /// rest of any way. Empty if no way leads round.
    pub(super) round: Vec<u8>,
}

/// Where the hops of a router lead to, on a way to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// Along a group, or on a way with the fewest hops.
    Local,
    /// To another group.
    Global,
}

impl Ways {
    /// Ways with the fewest hops, to routers.
    ///
    /// # Errors
    /// If a pair of routers with live terminals is not connected, ways are longer than a rule has
    /// phases for, or memory is short.
    pub fn shortest(fabric: &Fabric) -> Result<Self, NoRelation> {
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

    /// Ways with one cable between groups, where there are any; to routers and to groups.
    ///
    /// # Errors
    /// As [`shortest`](Self::shortest), and [`NoRelation::NoGroups`] if the fabric has no groups.
    pub fn by_groups(fabric: &Fabric) -> Result<Self, NoRelation> {
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
            let is_live = |router: u32| fabric.neighbors(router).next().is_some();
            let lacks = |(router, &left): (u32, &u8)| left == NO_WAY && is_live(router);
            if (0..).zip(&left).any(lacks) {
                ways.lead_round(fabric, target, &mut left)?;
            }
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
            cables: Vec::new(),
            inside: 0,
            round: Vec::new(),
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

    /// Finds the ways to a target with the fewest cables between groups, and with the fewest hops
    /// of those.
    fn lead_round(
        &mut self,
        fabric: &Fabric,
        target: u32,
        left: &mut [u8],
    ) -> Result<(), NoRelation> {
        if self.cables.is_empty() {
            claim("the distances of the routing relation", self.left.len() as u64)?;
            let targets = 0..fitted!(self.left.len(), u32) / self.routers;
            let own = |target| (0..self.routers).map(move |router| (router, target));
            let crosses = |(router, target)| self.group_of(router) != self.group_of(target);
            self.cables = targets.flat_map(own).map(|pair| crosses(pair).into()).collect();
        }
        let routers = self.routers as usize;
        let (mut best, mut heap) = (vec![None; routers], BinaryHeap::new());
        for router in 0..self.routers {
            if router == target || target >= self.routers && left[router as usize] == 0 {
                best[router as usize] = Some((0, 0));
                heap.push(Reverse((0, 0, router)));
            }
        }
        while let Some(Reverse((cables, hops, at))) = heap.pop() {
            if best[at as usize] != Some((cables, hops)) {
                continue;
            }
            for next in fabric.neighbors(at) {
                let crosses = self.groups[at as usize] != self.groups[next as usize];
                let found = (cables + u32::from(crosses), hops + 1);
                if best[next as usize].is_none_or(|known| found < known) {
                    best[next as usize] = Some(found);
                    heap.push(Reverse((found.0, found.1, next)));
                }
            }
        }
        let first = target as usize * routers;
        for (router, best) in best.into_iter().enumerate() {
            let Some((cables, hops)) = best else { continue };
            (self.cables[first + router], left[router]) = (in_bytes(cables)?, in_bytes(hops)?);
        }
        Ok(())
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
            // A group whose routers have all failed has no way to it.
            let lacks = |&&from: &&u32| self.left(from, target).is_none();
            if let Some(&from) = ends.iter().find(lacks).filter(|_| target < self.routers) {
                let [from, to] = [from, target].map(|router| fabric.router_name(router));
                return Err(NoRelation::NoPath(from, to));
            }
            // By router: hops before the cable between groups, the most on any way.
            let mut before = vec![0u8; self.routers as usize];
            order.sort_by_key(|&router| self.left(router, target));
            let of_group = usize::from(target >= self.routers);
            for &router in &order {
                let Some(left) = self.left(router, target).filter(|&left| left > 0) else {
                    continue;
                };
                if self.cables(router, target) > 1 {
                    continue;
                }
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
        self.inside = inside;
        [self.before, self.before_group] = most;
        [self.before_from_any, self.before_group_from_any] = any;
        // Ways within a group take the steps of both halves.
        self.after = self.after.max(inside.saturating_sub(self.before));
        let before = self.before_from_any.max(self.before_group_from_any);
        let mut hops = u32::from(before) + u32::from(self.after);
        if !self.cables.is_empty() {
            self.measure_round(fabric, &ends);
            let round: u32 = self.round.iter().map(|&hops| u32::from(hops)).sum();
            hops = hops.max((round + fitted!(self.round.len(), u32)).saturating_sub(2));
        }
        if hops > u32::from(MOST_HOPS) { Err(NoRelation::TooFar { hops }) } else { Ok(()) }
    }

    /// Finds the most hops of the ways that lead round, by the cables between groups behind.
    fn measure_round(&mut self, fabric: &Fabric, ends: &[u32]) {
        // Of the parts of ways before a cable, and of the last ones.
        let (mut before, mut last) = (Vec::new(), Vec::new());
        let note = |most: &mut Vec<u8>, cables: usize, hops: u8| {
            most.resize(most.len().max(cables + 1), 0);
            most[cables] = most[cables].max(hops);
        };
        for &target in ends {
            let leads_round = |&from: &u32| self.cables(from, target) > 1;
            let mut order: Vec<u32> = (0..self.routers).collect();
            order.retain(|&router| self.left(router, target).is_some());
            order.sort_by_key(|&router| {
                Reverse((self.cables(router, target), self.left(router, target)))
            });
            // By router, then cables behind: the most hops since the last of them.
            let mut come: Vec<Vec<Option<u8>>> = vec![Vec::new(); self.routers as usize];
            for from in ends.iter().copied().filter(leads_round) {
                come[from as usize] = vec![Some(0)];
            }
            for router in order {
                let own = std::mem::take(&mut come[router as usize]);
                let is_last = self.cables(router, target) == 0;
                for (cables, hops) in own.into_iter().enumerate() {
                    let Some(hops) = hops else { continue };
                    note(if is_last { &mut last } else { &mut before }, cables, hops);
                    for next in fabric.neighbors(router) {
                        let (cables, hops) = match self.onward((router, next), target) {
                            Some(Onward::Local) => (cables, hops + 1),
                            Some(Onward::Global) => (cables + 1, 0),
                            None => continue,
                        };
                        let there = &mut come[next as usize];
                        there.resize(there.len().max(cables + 1), None);
                        there[cables] = there[cables].max(Some(hops));
                    }
                }
            }
        }
        let sum =
            |most: &[u8]| -> u8 { most.iter().fold(0, |sum, &hops| sum.saturating_add(hops)) };
        let all =
            (0..).zip(&last).map(|(cables, &hops)| sum(&before[..cables]).saturating_add(hops));
        let rest = all.max().unwrap_or(0).saturating_sub(sum(&before));
        self.round = before;
        if !self.round.is_empty() {
            self.round.push(rest);
        }
    }

    /// Whether ways have one cable between groups.
    pub fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether no packet takes two hops within a group on end, from whichever router it goes on.
    pub(super) fn are_groups_joined(&self) -> bool {
        let hops = [self.before_from_any, self.before_group_from_any, self.after, self.inside];
        hops.iter().chain(&self.round).all(|&hops| hops <= 1)
    }

    /// Whether ways lead from a router to a target with one cable between groups at most.
    pub fn is_direct(&self, router: u32, target: u32) -> bool {
        self.left(router, target).is_some() && self.cables(router, target) <= 1
    }

    /// The cables between groups that are left from a router to a target, if there is a way.
    pub fn cables(&self, router: u32, target: u32) -> u8 {
        if !self.has_groups() {
            return 0;
        }
        match self.cables.get(target as usize * self.routers as usize + router as usize) {
            Some(&cables) => cables,
            None => (self.group_of(router) != self.group_of(target)).into(),
        }
    }

    /// The pair of routers with terminals whose ways have most cables between groups, or else most
    /// hops; the first such pair.
    pub(super) fn farthest(&self, fabric: &Fabric) -> Option<(u32, u32)> {
        let ends = fabric.ends();
        let pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
        pairs.min_by_key(|&(from, to)| Reverse((self.cables(from, to), self.left(from, to))))
    }

    /// Number of routers, behind which the numbers of groups begin as targets.
    pub fn routers(&self) -> u32 {
        self.routers
    }

    /// By router: its group; empty if ways have the fewest hops.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The group of a target. The ways must be by groups.
    pub fn group_of(&self, target: u32) -> u32 {
        match target.checked_sub(self.routers) {
            Some(group) => group,
            None => self.groups[target as usize],
        }
    }

    /// The hops that are left from a router to a target; `None` if there is no way.
    pub fn left(&self, router: u32, target: u32) -> Option<u8> {
        let left = self.left[target as usize * self.routers as usize + router as usize];
        (left != NO_WAY).then_some(left)
    }

    /// Whether a hop from one router to another leads along a way to a target; `None` if not.
    pub fn onward(&self, (router, next): (u32, u32), target: u32) -> Option<Onward> {
        if self.left(next, target)? + 1 != self.left(router, target)? {
            return None;
        }
        let group = |router: u32| self.groups.get(router as usize);
        let crosses = group(router) != group(next);
        if self.cables(next, target) + u8::from(crosses) != self.cables(router, target) {
            return None;
        }
        Some(if crosses { Onward::Global } else { Onward::Local })
    }

    /// The ports of a router that lead along ways to a target, ascending: each with the router
    /// behind it, and where it leads.
    pub fn ports<'w>(
        &'w self,
        fabric: &'w Fabric,
        router: u32,
        target: u32,
    ) -> impl Iterator<Item = (u16, u32, Onward)> + 'w {
        let outputs = fabric.outputs(router);
        outputs.clone().filter_map(move |channel| {
            let next = fabric.target(channel)?;
            let onward = self.onward((router, next), target)?;
            Some((fitted!(channel - outputs.start, u16), next, onward))
        })
    }

    /// The first channel of a router that leads along a way to a target, which is not there.
    ///
    /// # Panics
    /// If no way leads from the router to the target.
    pub fn channel(&self, fabric: &Fabric, router: u32, target: u32) -> Channel {
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
