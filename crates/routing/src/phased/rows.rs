//! A HyperX's rows: along each dimension all switches are joined with each other.

use super::super::relation::NoRelation;
use super::failures::{self, Harmed};
use flitlab_base::narrow::fitted;
use flitlab_fabric::{Fabric, FailedCable};

/// The rows of a HyperX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// The sizes of its dimensions.
    sizes: Vec<u32>,
    /// Whether nothing has failed.
    is_whole: bool,
}

/// An output of a router along a dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Along {
    pub port: u16,
    /// The router that it leads to.
    pub next: u32,
    pub dimension: usize,
    /// Whether the router that it leaves is not aligned with the target in the dimension.
    pub is_ahead: bool,
    /// Whether that one is aligned with the target in the dimension.
    pub aligns: bool,
}

impl Rows {
    /// # Errors
    /// If routers are not joined in rows.
    pub(super) fn of(fabric: &Fabric) -> Result<Self, NoRelation> {
        let sizes = fabric.joined_dimensions().to_vec();
        let is_whole = fabric.failed_cables().is_empty();
        if sizes.is_empty() { Err(NoRelation::NoRows) } else { Ok(Self { sizes, is_whole }) }
    }

    /// Number of dimensions.
    pub(super) fn dimensions(&self) -> u8 {
        fitted!(self.sizes.len(), u8)
    }

    /// The dimensions in which two routers are not aligned, ascending.
    pub(super) fn unaligned(&self, one: u32, two: u32) -> impl DoubleEndedIterator<Item = usize> {
        let digits = |mut router: u32| -> Vec<u32> {
            let digit = |&size: &u32| {
                let digit = router % size;
                router /= size;
                digit
            };
            self.sizes.iter().map(digit).collect()
        };
        let (one, two) = (digits(one), digits(two));
        (0..self.sizes.len()).filter(move |&dimension| one[dimension] != two[dimension])
    }

    /// The hops between two routers, one for each dimension in which they are not aligned, if nothing
    /// has failed.
    pub(super) fn hops(&self, one: u32, two: u32) -> u8 {
        fitted!(self.unaligned(one, two).count(), u8)
    }

    /// The outputs of a router along the dimensions in which it is not aligned with a target.
    pub(super) fn onward(
        &self,
        fabric: &Fabric,
        router: u32,
        target: u32,
    ) -> impl Iterator<Item = Along> {
        self.outputs(fabric, router, target).filter(|along| along.is_ahead)
    }

    /// The outputs of a router along all dimensions, on the way to a target.
    pub(super) fn outputs(
        &self,
        fabric: &Fabric,
        router: u32,
        target: u32,
    ) -> impl Iterator<Item = Along> {
        let outputs = fabric.outputs(router);
        let here: Vec<usize> = self.unaligned(router, target).collect();
        outputs.clone().filter_map(move |channel| {
            let next = fabric.target(channel)?;
            let dimension = self.unaligned(router, next).next()?;
            let aligns = !self.unaligned(next, target).any(|it| it == dimension);
            let port = fitted!(channel - outputs.start, u16);
            let is_ahead = here.contains(&dimension);
            Some(Along { port, next, dimension, is_ahead, aligns })
        })
    }

    /// The router along a dimension that is aligned with a target there.
    pub(super) fn aligned(&self, router: u32, target: u32, dimension: usize) -> u32 {
        let before: u32 = self.sizes[..dimension].iter().product();
        let coordinate = |router: u32| router / before % self.sizes[dimension];
        router - coordinate(router) * before + coordinate(target) * before
    }

    /// Whether a cable leads along a dimension from a router to the one that is aligned with a target
    /// there.
    pub(super) fn leads_on(
        &self,
        fabric: &Fabric,
        router: u32,
        (target, dimension): (u32, usize),
    ) -> bool {
        if self.is_whole {
            return true;
        }
        let aligned = self.aligned(router, target, dimension);
        fabric.neighbors(router).any(|next| next == aligned)
    }

    /// The names of a pair, and of a failed cable along a dimension in which it is not aligned.
    pub(super) fn harmed(&self, fabric: &Fabric, (from, to): (u32, u32)) -> Option<Harmed> {
        let is_between = |it: &FailedCable| {
            // On some way from dimension to dimension.
            let (one, other) = it.ends;
            let apart = self.unaligned(from, to).count();
            [(one, other), (other, one)].iter().any(|&(one, other)| {
                let hops =
                    self.unaligned(from, one).count() + 1 + self.unaligned(other, to).count();
                hops == apart
            })
        };
        failures::harmed(fabric, (from, to), is_between)
    }
}
