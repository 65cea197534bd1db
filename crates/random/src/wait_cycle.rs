//! Whether the packets of a deadlock wait for each other.

use flitlab_engine::{Deadlock, Lack};

/// Asserts that each packet of the cycle lacks what only the next one has.
pub fn assert_each_waits_for_the_next(deadlock: &Deadlock) {
    assert!(!deadlock.cycle.is_empty(), "a deadlock without a cycle");
    for (waiting, next) in deadlock.cycle.iter().zip(deadlock.cycle.iter().cycle().skip(1)) {
        let follows = match waiting.lacks {
            Lack::Room { needed, free } => free < needed && next.input == waiting.output,
            // The response is to enter the buffer behind an injection channel there.
            Lack::ResponderResource { .. } => {
                let adapter = format!("{} injection", waiting.destination);
                next.router == waiting.router && next.input.starts_with(&adapter)
            }
            Lack::VirtualChannel => {
                (&next.router, &next.output) == (&waiting.router, &waiting.output)
            }
            Lack::Flits => next.output == waiting.input,
        };
        assert!(follows, "{waiting:?} does not wait for the next: {deadlock}");
    }
}
