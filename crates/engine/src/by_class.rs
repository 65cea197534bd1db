//! Values by class of traffic.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use flitlab_base::narrow::fitted;
use flitlab_model::workload::MAX_WORKLOADS;

/// A value for each class that there may be.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ByClass<T>([T; MAX_WORKLOADS]);

impl<T> ByClass<T> {
    /// The value of each class, by its number.
    pub(crate) fn new(mut of: impl FnMut(u8) -> T) -> Self {
        Self(std::array::from_fn(|class| of(fitted!(class, u8))))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

/// The place of a class. All classes are valid, so that looking up needs no check.
#[inline(always)]
fn place(class: u8) -> usize {
    debug_assert!(usize::from(class) < MAX_WORKLOADS, "class {class}");
    usize::from(class) % MAX_WORKLOADS
}

impl<T> Index<u8> for ByClass<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, class: u8) -> &T {
        &self.0[place(class)]
    }
}

impl<T> IndexMut<u8> for ByClass<T> {
    #[inline(always)]
    fn index_mut(&mut self, class: u8) -> &mut T {
        &mut self.0[place(class)]
    }
}
