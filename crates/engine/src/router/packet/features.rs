//! The features of packet routers beyond sending each packet by the one output that its route has.
//!
//! A visit is compiled for a bundle of features. Those that are not in the bundle cost nothing.
//! Those that are in it, but not in use, have empty state.

use std::marker::PhantomData;

use crate::network::context::NetworkContext;
use crate::next_hop::demands;
use crate::router::packet::vector::{Portable, Vector};

/// A bundle of features for which a visit is compiled.
pub(crate) trait Features {
    /// Comparisons of ticks.
    type Vector: Vector;
    /// Packets may choose among outputs.
    const CHOOSES: bool = false;
    /// Routers may combine and replicate packets.
    const COMBINES: bool = false;
    /// Links may err, and send again what was damaged.
    const RESENDS: bool = false;
}

/// No feature.
pub(crate) struct Plain<V>(PhantomData<V>);

/// Adaptive routing.
pub(crate) struct Choosing<V>(PhantomData<V>);

/// All features.
pub(crate) struct Every;

impl<V: Vector> Features for Plain<V> {
    type Vector = V;
}

impl<V: Vector> Features for Choosing<V> {
    type Vector = V;
    const CHOOSES: bool = true;
}

impl Features for Every {
    type Vector = Portable;
    const CHOOSES: bool = true;
    const COMBINES: bool = true;
    const RESENDS: bool = true;
}

/// The bundle that the routers of a part need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureSet {
    Plain,
    Choosing,
    Every,
}

impl FeatureSet {
    /// The least bundle for a network.
    pub(crate) fn new(context: &NetworkContext<'_>) -> Self {
        if context.parameters.errors.is_some() || !context.trees.is_empty() {
            Self::Every
        } else if demands::is_adaptive(context.routes) {
            Self::Choosing
        } else {
            Self::Plain
        }
    }
}
