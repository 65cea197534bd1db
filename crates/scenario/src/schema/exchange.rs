//! `[exchange]`: a workload that ends.

use super::{
    pattern::{self, Sender, Senders},
    traffic::{LARGEST_MESSAGE, access},
};
use flitlab_base::document::{Choice, Reader, Whole, plain, size, time, with_keys};
use flitlab_base::units::Picoseconds;
use flitlab_workload::traffic::{Between, ExchangeSpec};

pub(super) fn read(reader: &mut Reader<'_>, senders: Senders<'_>) -> Option<ExchangeSpec> {
    let pattern = pattern::read(reader, Sender::Exchange, senders);
    let doc = "Size of the message to each partner.";
    let message = reader.required("message", &size(0, LARGEST_MESSAGE), doc);
    let between = between(reader);
    let mut rounds = 1;
    let doc = "How often the whole exchange is done.";
    reader.set("rounds", &Whole { range: 1..=1_000_000_000 }, &mut rounds, doc);
    let access = access(reader);
    Some(ExchangeSpec { pattern: pattern?, message: message?, access, between: between?, rounds })
}

fn between(reader: &mut Reader<'_>) -> Option<Between> {
    let doc = "What a node waits for before it sends to its next partner.";
    let choice = Choice::usual("between_steps", "rule between steps", "exchange", doc);
    let nothing = "all messages are queued at the start.";
    let exchange = "its own message has left and its partner's has come, as in MPI_Sendrecv.";
    let barrier = "as \"exchange\", for all nodes; then the next step starts everywhere at once.";
    reader.choice(
        &choice,
        vec![
            plain("exchange", Between::Exchange, exchange),
            plain("nothing", Between::Nothing, nothing),
            with_keys("barrier", barrier, |reader| {
                let doc = "Time that the barrier itself takes.";
                let latency =
                    reader.value("latency", &time(Picoseconds::ZERO), Picoseconds::ZERO, doc);
                Some(Between::Barrier { latency })
            }),
        ],
    )
}
