//! A traffic pattern of one's own, with a key in scenarios: `ahead`.
//!
//!     cargo run --release --example own_pattern
//!
//! docs/extending.md goes through this file. A pattern without random numbers is shorter: its rule
//! is a closure, as in the documentation of `traffic::PatternKind`.

use std::error::Error;
use std::sync::Arc;

use flitlab::document::{Count, Reader};
use flitlab::package;
use flitlab::registry::{Registry, Row};
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::topology::Places;
use flitlab::traffic::{Bind, Live, Partners, PatternError, PatternKind, PatternRule};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// What scenarios and messages call the pattern, and what reads its keys.
pub static AHEAD: Row<PatternKind> = Row::new(
    "ahead",
    "to one of the next `reach` nodes by number, drawn for each message.",
    PatternKind { partners: Partners::Drawn, read },
);

/// Reads the keys. Returns the function that makes the rule once the nodes are known.
fn read(reader: &mut Reader<'_>, _: Option<Places<'_>>) -> Option<Bind> {
    let reach = reader.value("reach", &Count { example: 2 }, 1, "How many nodes ahead.");
    Some(Arc::new(move |nodes| {
        let others = nodes.live.count() - 1;
        if reach > others {
            let reason = format!("ahead reaches {reach} nodes, and each has {others} others");
            return Err(PatternError::Refused(reason));
        }
        Ok(Box::new(Ahead { reach }))
    }))
}

struct Ahead {
    reach: u32,
}

impl Ahead {
    /// The live node that is so many further on. Ranks number the live nodes, and leave out those
    /// that have failed.
    fn further_on(source: u32, by: u32, live: &Live) -> u32 {
        live.at((live.rank(source) + by) % live.count())
    }
}

impl PatternRule for Ahead {
    /// Destinations are drawn, so there are no steps in which each partner gets a message.
    fn steps(&self, _: &Live) -> Option<u32> {
        None
    }

    fn sends(&self, _: u32, _: &Live) -> bool {
        true
    }

    /// Draws a whole number from the source's own generator: the results are equal on every machine
    /// and on any number of threads.
    fn destination(
        &self,
        source: u32,
        _: u64,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        Some(Self::further_on(source, random.random_range(1..=self.reach), live))
    }

    /// The exact shares, from which bounds are computed before anything is simulated.
    fn for_each_share(&self, source: u32, live: &Live, each: &mut dyn FnMut(u32, f64)) {
        for by in 1..=self.reach {
            each(Self::further_on(source, by, live), 1.0 / f64::from(self.reach));
        }
    }
}

/// A ring of eight nodes, each of which sends to the two nodes that follow.
pub const SCENARIO: &str = "
[topology.torus]
dimensions = [8]

[traffic]
pattern = { ahead = { reach = 2 } }
load = 0.3
";

/// Reads a scenario that may name the pattern, as it names those of flitlab.
pub fn read_scenario(text: &str) -> Result<Scenario, Box<dyn Error>> {
    let registry = Registry::default().with(package!(), &AHEAD)?;
    let document = Document::parse("own_pattern.toml", text).with_registry(&registry);
    Ok(Scenario::read(&document)?)
}

/// What the simulation of a scenario measured: mean hops, and the throughput as a load.
pub fn measure(scenario: &Scenario) -> Result<(f64, f64), Box<dyn Error>> {
    let measured = Simulation::new(scenario)?.run(&mut |_| {}).found.measured;
    let hops = measured.hops_mean.ok_or("no packet has arrived")?;
    let throughput = measured.accepted_load.ok_or("no throughput was measured")?;
    Ok((hops, throughput))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (hops, throughput) = measure(&read_scenario(SCENARIO)?)?;
    println!("mean hops {hops:.3}, throughput {throughput:.3} of 0.3 offered");
    Ok(())
}
