//! Files of Angara's routes.

use flitlab::routing::Routes;
use flitlab::tables::{TableFile, prove};

use super::text;

/// The largest product of sizes; a table has a place for each pair of nodes.
const NODES: u64 = 256;

/// A table that is proved can be used for every pair.
pub fn routes(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if !is_small(text) {
        return;
    }
    let Ok(file) = TableFile::parse(text) else { return };
    let mut written = Vec::new();
    file.write(&mut written).expect("memory");
    let written = String::from_utf8(written).expect("text");
    let again = TableFile::parse(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert!(again == file, "{written}");

    let fabric = &file.fabric;
    let proof = prove(fabric, &file.table);
    for flaw in &proof.flaws {
        assert!(!flaw.describe(fabric).is_empty());
        let _ = file.line(flaw);
    }
    assert_eq!(file.fits(fabric).is_ok(), proof.flaws.is_empty());
    if proof.flaws.is_empty() {
        let routes = Routes::Table(file.table.clone());
        for source in fabric.live_terminals() {
            for destination in fabric.live_terminals() {
                let mut at = source;
                routes.for_each_channel(fabric, source, destination, |channel| {
                    assert_eq!(fabric.source(channel), at);
                    at = fabric.target(channel).expect("a cable that is there");
                });
                assert_eq!(at, destination);
            }
        }
    }
}

fn is_small(text: &str) -> bool {
    let words = text.split_whitespace().skip_while(|word| *word != "torus").skip(1);
    let sizes = words.map_while(|word| word.parse::<u64>().ok());
    sizes.fold(1, |nodes: u64, size| nodes.saturating_mul(size.max(1))) <= NODES
}
