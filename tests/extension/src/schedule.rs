//! A token that goes round all ranks.

use flitlab::application::generate::{Generator, program};
use flitlab::document::{Count, Whole};
use flitlab::registry::Row;

/// The generator.
pub static TOKEN_RING: Row<Generator> = Row::new(
    "token-ring",
    "a token that goes round all ranks, one after the other.",
    Generator::Reads(|reader| {
        let ranks = Whole { range: 2..=1 << 20 };
        let ranks = reader.required("ranks", &ranks, "How many ranks there are.");
        let rounds = reader.value("rounds", &Count { example: 3 }, 1, "How often it goes round.");
        let bytes = reader.value("bytes", &Count { example: 64 }, 8, "Bytes of the token.");
        let ranks = u32::try_from(ranks?).ok()?;
        Some(Box::new(move |_ranks_per_node| {
            program::of_ranks(ranks, |program, rank| {
                let (before, after) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
                for round in 0..rounds {
                    // The first rank starts a round, and ends it.
                    if rank > 0 {
                        program.receive(bytes.into(), before, round);
                    }
                    program.send(bytes.into(), after, round);
                    if rank == 0 {
                        program.receive(bytes.into(), before, round);
                    }
                }
            })
        }))
    }),
);
