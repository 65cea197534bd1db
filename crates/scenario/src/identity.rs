//! The identity of a point's result.

use std::fmt;

use sha2::{Digest, Sha256};

use flitlab_traffic::OfferedLoad;

use super::load;
use crate::resolved::Resolved;
use flitlab_base::document::hexadecimal;

/// The version of what the simulator computes. To be raised whenever an unchanged scenario gives
/// other numbers than before, or more of them, so that results of an earlier version are not taken
/// for this one's; a test notices (`tests/simulation/identity.rs`).
pub const RESULTS_VERSION: u32 = 25;

/// Keys that name results, or say how files are written, and decide nothing about results.
const NAMES: [&str; 3] = ["name", "title", "results.compressed"];

/// The key that a search for saturation varies.
const LOAD: &str = "traffic.load";

/// Equal for scenarios whose results are equal to the last bit: the hash of the resolved scenario
/// without its name and title, of the files that it reads, of the crates whose components it names,
/// and of [`RESULTS_VERSION`]. The order in which keys are written, units, and values that are given but are the defaults make no
/// difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Of all keys but the load.
    rest: [u8; 32],
    /// The load in TOML; empty if there is none.
    load: String,
}

impl Identity {
    pub(super) fn new(resolved: &Resolved) -> Self {
        let Resolved { keys, contents, packages } = resolved;
        // What is in a file counts instead of the file's name.
        let keys = keys
            .iter()
            .map(|(path, text)| (path.as_str(), contents.get(path).unwrap_or(text).as_str()))
            .filter(|(path, _)| !NAMES.contains(path));
        let packages: Vec<_> =
            packages.iter().map(|(path, package)| (path, package.to_string())).collect();
        let packages = packages.iter().map(|(path, package)| (path.as_str(), package.as_str()));
        let mut keys: Vec<(&str, &str)> = keys.chain(packages).collect();
        // Keys that belong together are read together, but a later version may read in another
        // order.
        keys.sort_unstable();
        let mut hash = Sha256::new();
        hash.update(RESULTS_VERSION.to_le_bytes());
        let mut load = String::new();
        for (path, text) in keys {
            if path == LOAD {
                text.clone_into(&mut load);
            } else {
                add(&mut hash, path);
                add(&mut hash, text);
            }
        }
        Self { rest: hash.finalize().into(), load }
    }

    /// Returns the identity of this scenario at another load, a fraction of the fabric's capacity.
    #[must_use]
    pub fn at_load(&self, load: f64) -> Self {
        Self { rest: self.rest, load: load::text(&OfferedLoad::Fraction(load)) }
    }

    /// The beginning of the text of all identities that differ in the load only.
    pub fn family(&self) -> String {
        hexadecimal(&self.rest[..8])
    }
}

impl fmt::Display for Identity {
    /// Twice 16 hexadecimal digits: of everything but the load, and of all.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hash = Sha256::new();
        hash.update(self.rest);
        hash.update(&self.load);
        write!(formatter, "{}-{}", self.family(), hexadecimal(&hash.finalize()[..8]))
    }
}

/// With its length, so that no two lists of texts run together into the same bytes.
fn add(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}
