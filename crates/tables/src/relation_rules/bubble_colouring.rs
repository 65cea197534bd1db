//! All shortest ways in every virtual channel, and in every virtual channel a ring through all
//! routers, on which there is always a bubble.
//!
//! It is Bubble Coloring (\[bubble-colouring\]), read in what others say of it, since the paper
//! itself was not at hand. Packets take shortest ways over any channels, those of the ring among
//! them. Whoever enters the ring, be it on a shortest way, leaves room for one of the largest
//! packets. So there is always such a room somewhere on it, packets on the ring can move on along
//! it, and one virtual channel is enough on any fabric.
//!
//! **The ring** is the tour round a spanning tree: each cable of the tree in both directions once.
//!
//! **Escapes.** A packet that came along the ring can go on along it, another can enter the ring by
//! any channel, each where none of its shortest ways has room. It may leave the ring again at once.
//!
//! **Arriving.** Escapes lead away from the destination too. So that nobody goes round for ever, a
//! packet that has taken [`MAX_FALLBACKS`](super::MAX_FALLBACKS) of them stays on the ring once it
//! is there; the ring leads past every router. These two are this rule's own, as are rings in
//! virtual channels beyond the first, and so is the injection bubble: without it throughput falls
//! to a fraction past saturation (results/nue).
//!
//! **Fat trees.** Where one order of channels is enough for packets there is no need for a ring,
//! which costs room: they go as under `two-orders`.

use super::minimal::{Onward, onward};
use super::ring::Tour;
use super::shortest::FirstHop;
use super::tree::middle;
use super::{RelationParameters, RelationRule, two_orders};
use flitlab_base::registry::Row;
use flitlab_fabric::{Fabric, NONE, breadth_first};
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::RelationBuilder as Builder;
use flitlab_routing::relation::{Hop, NoRelation, Relation, Ring};

impl RelationRule {
    /// `bubble-colouring`.
    pub const BUBBLE_COLOURING: Row<Self> = Row::new(
        "bubble-colouring",
        "all shortest ways in all virtual channels; the escape: rings with a bubble.",
        Self { avoids_deadlock: true, least_vcs: 1, injection_bubble: 3, keeps_bubble: true, make },
    );
}

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let tree = parameters.tree_from(fabric, middle)?;
    if let Some(relation) = two_orders::of_fat_tree(fabric, parameters)? {
        return Ok(relation);
    }
    let tour = Tour::new(fabric, &tree);
    let mut builder = Builder::new(fabric, parameters.vcs)?;
    let (mut hops_left, mut order) = (vec![NONE; fabric.routers() as usize], Vec::new());
    let mut hops = Vec::new();
    for destination in fabric.ends() {
        breadth_first(destination, &mut hops_left, &mut order, |at| fabric.neighbors(at));
        for &router in order.iter().filter(|&&router| router != destination) {
            let nearer = onward(fabric, router, &hops_left, FirstHop::SHORTEST).collect();
            let choice = Choice { fabric, tour: &tour, vcs: parameters.vcs, router, nearer };
            choice.hops(None, &mut hops);
            let state = builder.relation().injected(router);
            builder.set(state, destination, &mut hops);
            for channel in fabric.outputs(router).filter_map(|own| fabric.opposite(own)) {
                for vc in 0..parameters.vcs {
                    choice.hops(Some(VirtualChannel { channel, vc }), &mut hops);
                    let state = builder.relation().arrived(channel, vc);
                    builder.set(state, destination, &mut hops);
                }
            }
        }
    }
    Ok(builder.finish())
}

/// The hops of packets for a destination at a router.
struct Choice<'a> {
    fabric: &'a Fabric,
    tour: &'a Tour,
    vcs: u8,
    router: u32,
    nearer: Vec<Onward>,
}

impl Choice<'_> {
    /// The hops of a packet that came through a channel, or was injected.
    fn hops(&self, came: Option<VirtualChannel>, hops: &mut Vec<Hop>) {
        hops.clear();
        // Where the ring goes on for it.
        let next = came.and_then(|came| {
            let channel = self.tour.after(came.channel)?;
            Some(VirtualChannel { channel, vc: came.vc })
        });
        let back = came.and_then(|came| self.fabric.opposite(came.channel));
        let hop = |port: u16, onto: VirtualChannel| Hop {
            ring: match self.tour.after(onto.channel) {
                None => Ring::Off,
                Some(_) if Some(onto) == next => Ring::Along,
                Some(_) => Ring::Enters,
            },
            ..Hop::new(port, onto.vc)
        };
        for &Onward { port, channel, .. } in &self.nearer {
            let places = (0..self.vcs).map(|vc| VirtualChannel { channel, vc });
            let ways = places.filter(|&onto| Some(channel) != back || Some(onto) == next);
            hops.extend(ways.map(|onto| hop(port, onto)));
        }
        let nearer = hops.len();
        let outputs = (0u16..).zip(self.fabric.outputs(self.router));
        for (port, channel) in outputs.filter(|&(_, channel)| self.tour.after(channel).is_some()) {
            for vc in 0..self.vcs {
                let onto = VirtualChannel { channel, vc };
                let is_nearer = hops[..nearer].iter().any(|hop| (hop.port, hop.vc) == (port, vc));
                if !is_nearer && next.is_none_or(|next| next == onto) {
                    hops.push(Hop { escape: true, ..hop(port, onto) });
                }
            }
        }
    }
}
