//! Simulates a scenario that may name a pattern and a table algorithm of this program besides those of flitlab.

mod one_tree;
mod shift;

use std::{error::Error, path::Path};

use flitlab::scenario::{Document, Scenario};
use flitlab::sweep::Simulation;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a scenario")?;
    let document = Document::open(Path::new(&path))?;
    let document = document.with_pattern(&shift::SHIFT).with_algorithm(one_tree::ONE_TREE);
    let simulation = Simulation::new(&Scenario::read(&document)?)?;
    let forecast = simulation.forecast();
    println!("mean hops: {}", forecast.hops_mean);
    println!("throughput at most: {}", forecast.throughput().ok_or("there are too many pairs")?);
    let measured = simulation.run(&mut |_| {}).found.measured;
    println!("throughput: {}", measured.accepted_load.ok_or("packets wait for each other")?);
    Ok(())
}
