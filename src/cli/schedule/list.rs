//! `flitlab schedule --list`: what can be made, and what can be read.

use super::super::summary::print_text;
use super::super::{Failure, components, terminal};
use flitlab::application::generate::collective::{self, COLLECTIVES, LIBRARIES};
use flitlab::application::generate::{Generator, npb};
use flitlab::traces::read::FORMATS;

/// Where descriptions begin.
const COLUMN: usize = 32;

pub(super) fn print() -> Result<(), Failure> {
    let mut text = String::new();
    for generator in components::rows::<Generator>() {
        text += &format!("{}: {}\n", generator.name, generator.doc);
        let algorithms = collective::named(generator.name).map_or(&[][..], |it| it.algorithms);
        for algorithm in algorithms {
            text += &terminal::fact(algorithm.name, algorithm.doc, COLUMN);
        }
        if generator.name == "npb" {
            for benchmark in &npb::BENCHMARKS {
                text += &terminal::fact(benchmark.name, benchmark.doc, COLUMN);
            }
        }
    }
    text += &format!("\nIn place of an algorithm of any of the first {}:\n", COLLECTIVES.len());
    for (name, doc) in LIBRARIES {
        text += &terminal::fact(name, doc, COLUMN);
    }
    text += "\nRead by `schedule check`, `schedule read` and `file` of [application]:\n";
    for format in &FORMATS {
        text += &terminal::fact(format.name, format.doc, COLUMN);
    }
    print_text(&text)
}
