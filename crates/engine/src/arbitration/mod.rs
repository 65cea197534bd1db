//! Arbitration: which of several requests an output serves (docs/model.md, "Arbitration" and
//! "Switch allocation").
//!
//! | arbitration | file | routers that have it |
//! |---|---|---|
//! | in turn | `round_robin` | all |
//! | network channels before injection channels | `transit_first` | all |
//! | drawn for each output and instant | `random` | all |
//! | by the packets' ages | `oldest_first` | the flit-by-flit router |
//! | virtual channels in turn by their weights | `weighted` | the flit-by-flit router |
//!
//! Routers ask different questions:
//!
//! - Routers that grant whole packets try the requests for an output one after the other, until
//!   they can grant one, or as many as may cross at once. They ask for their order, span by span
//!   ([`next_span`]).
//! - The flit-by-flit router has flits that can all go. It asks which of two an output is offered
//!   to, and which of two offers an input port accepts ([`Switch`]).
//!
//! A new arbitration is a file with its order, its `mod` line, and its place in the questions below
//! and in those of [`Switch`].

mod oldest_first;
mod order;
mod random;
mod round_robin;
mod switch;
#[cfg(test)]
mod tests;
mod transit_first;
mod weighted;

pub(crate) use order::{PacketRequests, Span};
pub(crate) use round_robin::{BitSpan, cyclic_span, first_from, pass_turn, span_count, turn};
pub(crate) use switch::{InputTurn, OutputTurn, Switch, SwitchCandidate, Turns};
pub(crate) use weighted::{Priority, SentFlit, count_flit};

use flitlab_model::Arbitration;

/// Whether only routers that share links flit by flit have an arbitration.
pub fn needs_shared_links(arbitration: Arbitration) -> bool {
    matches!(arbitration, Arbitration::OldestFirst | Arbitration::Weighted)
}

/// Whether an arbitration's order of a packet router's requests is the cyclic one from the pointer
/// on, so that the requests of one word are one span.
#[inline(always)]
pub(crate) fn is_cyclic(arbitration: Arbitration) -> bool {
    arbitration == Arbitration::RoundRobin
}

/// Whether an arbitration compares the ages of packets.
#[inline(always)]
pub(crate) fn by_age(arbitration: Arbitration) -> bool {
    arbitration == Arbitration::OldestFirst
}

/// Whether an arbitration counts flits that are granted the switch ([`count_flit`]), rather than to
/// move an output's pointer behind their input port.
#[inline(always)]
pub(crate) fn counts_flits(arbitration: Arbitration) -> bool {
    arbitration == Arbitration::Weighted
}

/// The next span of a packet router's requests that is not empty, and the step behind it. The first
/// step is 0; the meaning of others is the arbitration's own. Where the arbitration [`is_cyclic`],
/// and the set has one word, all of it is one span.
#[inline(never)]
pub(crate) fn next_span(
    arbitration: Arbitration,
    requests: &PacketRequests<'_>,
    step: u32,
) -> Option<(Span, u32)> {
    match arbitration {
        Arbitration::TransitFirst => transit_first::next_span(requests, step),
        Arbitration::Random => random::next_span(requests, step),
        // The other two have no packet routers.
        Arbitration::RoundRobin | Arbitration::OldestFirst | Arbitration::Weighted => {
            round_robin::next_span(requests, step)
        }
    }
}
