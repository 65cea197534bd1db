//! How much memory a run takes.

use super::Parameters;
use super::derouting::Ways;
use super::ejection::Ejection;
use super::injection::Generator;
use super::link::Links;
use super::router::{Outlets, Ports};
use flitlab_fabric::Torus;
use rand_chacha::ChaCha8Rng;

/// Estimates the bytes that simulating a torus takes.
pub fn memory_needed(torus: &Torus, parameters: &Parameters) -> u64 {
    let ports = u64::from(Ports::new(torus).count(1));
    let of_port = Links::bytes_of_one(parameters.capacity) + size_of::<u32>();
    let of_node = Ejection::bytes_of_one(parameters.capacity)
        + Ways::bytes_of_one(torus)
        + size_of::<Generator>()
        + size_of::<Outlets>()
        + size_of::<ChaCha8Rng>();
    u64::from(torus.nodes()) * (ports * of_port as u64 + of_node as u64)
}
