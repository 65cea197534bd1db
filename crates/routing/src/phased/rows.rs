//! A HyperX's rows: along each dimension all switches are joined with each other.

use super::super::relation::NoRelation;
use flitlab_base::narrow::fitted;
use flitlab_fabric::Fabric;

/// The sizes of a HyperX's dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rows(Vec<u32>);

/// An output of a router along a dimension in which it is not aligned with the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Along {
    pub port: u16,
    pub dimension: usize,
    /// Whether that one is aligned with the target in the dimension.
    pub aligns: bool,
}

impl Rows {
    /// # Errors
    /// If routers are not joined in rows.
    pub(super) fn of(fabric: &Fabric) -> Result<Self, NoRelation> {
        let sizes = fabric.joined_dimensions().to_vec();
        if sizes.is_empty() { Err(NoRelation::NoRows) } else { Ok(Self(sizes)) }
    }

    /// Number of dimensions.
    pub(super) fn dimensions(&self) -> u8 {
        fitted!(self.0.len(), u8)
    }

    /// The dimensions in which two routers are not aligned, ascending.
    pub(super) fn unaligned(&self, one: u32, two: u32) -> impl DoubleEndedIterator<Item = usize> {
        let digits = |mut router: u32| -> Vec<u32> {
            let digit = |&size: &u32| {
                let digit = router % size;
                router /= size;
                digit
            };
            self.0.iter().map(digit).collect()
        };
        let (one, two) = (digits(one), digits(two));
        (0..self.0.len()).filter(move |&dimension| one[dimension] != two[dimension])
    }

    /// The outputs of a router along the dimensions in which it is not aligned with a target.
    pub(super) fn onward(
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
            here.contains(&dimension).then_some(Along { port, dimension, aligns })
        })
    }
}
