//! Routing tables for a netlist of switches: each is proved, and their qualities are compared.
//!
//!     cargo run --release --example netlist_table [NETLIST]
//!
//! The netlist is in the form of ibsim or of `ibnetdiscover`. Without one, the example takes a
//! torus of 4x2x2x2 switches.

use std::error::Error;
use std::path::Path;

use flitlab::tables::agnostic::{Algorithm, Parameters};
use flitlab::tables::{ForwardingQuality, prove_forwarding};
use flitlab::topology::netlist::Netlist;

/// What is known of a table without simulating it.
pub struct Assessment {
    pub algorithm: &'static str,
    /// What the proof found wrong, in words.
    pub flaws: Vec<String>,
    /// Hops between switches, mean over all pairs of terminals.
    pub hops_mean: f64,
    /// Pairs of terminals whose path takes the busiest channel. The fewer, the better the table
    /// spreads an all-to-all exchange.
    pub maximum_load: f64,
}

/// Makes, proves and weighs the tables of three algorithms: shortest paths without regard to
/// deadlock; a spanning tree that packets go up, then down; and Nue.
pub fn assess(netlist: &Netlist) -> Result<Vec<Assessment>, Box<dyn Error>> {
    let fabric = &netlist.fabric;
    let mut assessments = Vec::new();
    for algorithm in [Algorithm::MIN_HOP, Algorithm::UP_DOWN, Algorithm::NUE] {
        let table = algorithm.generate(fabric, &Parameters::default())?.table;
        let proof = prove_forwarding(fabric, &table);
        let quality = ForwardingQuality::new(fabric, &table);
        assessments.push(Assessment {
            algorithm: algorithm.name,
            flaws: proof.flaws.iter().map(|flaw| flaw.describe(fabric)).collect(),
            hops_mean: quality.hops_mean,
            maximum_load: quality.load.maximum,
        });
    }
    // `routing::opensm::text(netlist, &table)` is a table as a file that OpenSM reads.
    Ok(assessments)
}

fn main() -> Result<(), Box<dyn Error>> {
    let torus = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/nue/torus4222.net");
    let path = std::env::args_os().nth(1).map_or(torus, Into::into);
    let netlist = Netlist::read(&std::fs::read_to_string(path)?)?;
    for Assessment { algorithm, flaws, hops_mean, maximum_load } in assess(&netlist)? {
        println!("{algorithm}: mean hops {hops_mean:.3}, maximum load {maximum_load}");
        for flaw in flaws {
            println!("  {flaw}");
        }
    }
    Ok(())
}
