//! `[topology]`: which fabric, and what has failed in it.

pub(super) mod failures;
mod netlist;
mod switched;
mod torus;

use crate::TopologySpec;
use flitlab_base::document::{Choice, Reader, with_keys};
use flitlab_base::registry::Registry;

/// `None` if it is missing or wrong. What is drawn at random follows from the scenario's seed,
/// unless it has one of its own.
pub(super) fn read(
    reader: &mut Reader<'_>,
    registry: &Registry,
    seed: u64,
) -> Option<TopologySpec> {
    let choice = Choice {
        key: "topology",
        noun: "topology",
        default: Some("torus"),
        doc: "",
        sections: true,
    };
    let doc = "A torus or mesh of Angara's routers, one node each. A dimension of size 2 has one cable, not \
               two, as in Angara. The choice among topologies is the table's name.";
    let open = "a mesh is [topology.torus] with `open`: below `dimensions = [4, 4]` write `open = [\"x\", \"y\"]`";
    let ring = "a ring is [topology.torus] with one size: `dimensions = [8]`";
    let torus = with_keys("torus", doc, torus::read);
    let mut variants = vec![torus.known_as([("mesh", open), ("grid", open), ("ring", ring)])];
    variants.extend(switched::variants(registry, seed));
    variants.push(netlist::variant(seed));
    reader.choice(&choice, variants)
}
