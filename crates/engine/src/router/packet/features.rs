//! The features of packet routers beyond sending each packet by the one output that its route has.
//!
//! A visit is compiled for a bundle of features. Those that are not in the bundle cost nothing.
//! Those that are in it, but not in use, have empty state.

use std::marker::PhantomData;

use crate::network::context::NetworkContext;
use crate::network::demands;
use crate::router::packet::vector::{Portable, Vector};
use flitlab_model::Parameters;
use flitlab_routing::Routes;

/// A bundle of features for which a visit is compiled.
pub(crate) trait Features {
    /// Comparisons of ticks.
    type Vector: Vector;
    /// Packets may choose among outputs.
    const CHOOSES: bool = false;
    /// They choose by a routing relation, and not on a torus.
    const RELATES: bool = false;
    /// Routers may combine and replicate packets.
    const COMBINES: bool = false;
    /// Links may err, and send again what was damaged.
    const RESENDS: bool = false;
    /// Adapters may hold a limited number of responses.
    const BOUNDS_RESPONSES: bool = false;
    /// Packets may be dropped that wait at the head of a buffer for too long.
    const DROPS: bool = false;
}

/// No feature.
pub(crate) struct Plain<V>(PhantomData<V>);

/// Adaptive routing, on a torus or by a relation.
pub(crate) struct Choosing<V, const RELATES: bool>(PhantomData<V>);

/// All features, with adaptive routing on a torus or by a relation.
pub(crate) struct Every<const RELATES: bool>;

impl<V: Vector> Features for Plain<V> {
    type Vector = V;
}

impl<V: Vector, const RELATES: bool> Features for Choosing<V, RELATES> {
    type Vector = V;
    const CHOOSES: bool = true;
    const RELATES: bool = RELATES;
}

impl<const RELATES: bool> Features for Every<RELATES> {
    type Vector = Portable;
    const CHOOSES: bool = true;
    const RELATES: bool = RELATES;
    const COMBINES: bool = true;
    const RESENDS: bool = true;
    const BOUNDS_RESPONSES: bool = true;
    const DROPS: bool = true;
}

/// The bundle that the routers of a part need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureSet {
    Plain,
    Choosing { relates: bool },
    Every { relates: bool },
}

impl FeatureSet {
    /// The least bundle for a network.
    pub(crate) fn new(context: &NetworkContext<'_>) -> Self {
        let relates = matches!(context.routes, Routes::Relation(_));
        let Parameters { errors, responder_resources, head_of_queue_lifetime, .. } =
            &context.parameters;
        if errors.is_some()
            || responder_resources.is_some()
            || head_of_queue_lifetime.is_some()
            || !context.trees.is_empty()
        {
            Self::Every { relates }
        } else if demands::is_adaptive(context.routes)
            && !demands::has_single_hops(context.routes, &context.parameters)
        {
            Self::Choosing { relates }
        } else {
            Self::Plain
        }
    }
}
