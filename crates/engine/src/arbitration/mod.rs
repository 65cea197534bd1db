//! Arbitration: which of several requests an output serves (docs/model.md, "Arbitration" and
//! "Switch allocation").
//!
//! | arbitration | file | routers that have it |
//! |---|---|---|
//! | in turn | `round_robin` | both |
//! | network channels before injection channels | `transit_first` | both |
//! | drawn for each output and instant | `random` | both |
//! | by the packets' ages | `oldest_first` | the flit-by-flit router |
//! | virtual channels in turn by their weights | `weighted` | the flit-by-flit router |
//!
//! The two routers ask different questions:
//!
//! - A router that grants whole packets tries the requests for an output one after the other, until
//!   it can grant one. It asks for their order, span by span ([`next_span`]).
//! - The flit-by-flit router has flits that can all go. It asks which of two an output is offered
//!   to, and which of two offers an input port accepts ([`Switch`]).
//!
//! A new arbitration is a file with an [`Arbiter`], its `mod` line, and its row in `by_arbiter`.

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
pub(crate) use switch::{InputTurn, OutputTurn, Switch, SwitchCandidate};
pub(crate) use weighted::{Priority, SentFlit};

use flitlab_model::{Arbitration, FlitSharing};

/// An order in which outputs serve requests.
trait Arbiter {
    /// Whether only the flit-by-flit router has it.
    const NEEDS_SHARED_LINKS: bool = false;

    /// Whether its order of a packet router's requests is the cyclic one from the pointer on, so
    /// that the requests of one word are one span.
    const IS_CYCLIC: bool = false;

    /// Whether it compares the ages of packets.
    const BY_AGE: bool = false;

    /// Whether it counts flits that are granted the switch, rather than to move an output's pointer
    /// behind their input port.
    const COUNTS_FLITS: bool = false;

    /// The next span of a packet router's requests that is not empty, and the step behind it. The
    /// first step is 0; the meaning of others is the arbitration's own.
    fn next_span(requests: &PacketRequests<'_>, step: u32) -> Option<(Span, u32)> {
        round_robin::next_span(requests, step)
    }

    /// Whether an output is offered to one flit rather than to another.
    fn is_offered(switch: &Switch<'_>, one: &SwitchCandidate, other: &SwitchCandidate) -> bool;

    /// Whether an input port accepts the offer to one of its flits rather than that to another.
    #[inline(always)]
    fn is_accepted(switch: &Switch<'_>, one: &SwitchCandidate, other: &SwitchCandidate) -> bool {
        round_robin::is_accepted(switch, one, other)
    }

    /// Counts a flit that was granted the switch.
    fn count_flit(
        _turns: (&mut OutputTurn, Option<&mut Priority>),
        _sharing: &FlitSharing,
        _flit: SentFlit,
    ) {
    }
}

/// The value of an expression in which the second argument names an arbitration's [`Arbiter`].
macro_rules! by_arbiter {
    ($arbitration:expr, $arbiter:ident => $value:expr) => {
        by_arbiter! { $arbitration, $arbiter => $value,
            RoundRobin => round_robin::RoundRobin,
            TransitFirst => transit_first::TransitFirst,
            Random => random::Random,
            OldestFirst => oldest_first::OldestFirst,
            Weighted => weighted::Weighted,
        }
    };
    ($arbitration:expr, $arbiter:ident => $value:expr, $($name:ident => $row:ty,)*) => {
        match $arbitration {
            $(Arbitration::$name => {
                type $arbiter = $row;
                $value
            })*
        }
    };
}

/// Whether only routers that share links flit by flit have an arbitration.
pub fn needs_shared_links(arbitration: Arbitration) -> bool {
    by_arbiter!(arbitration, A => A::NEEDS_SHARED_LINKS)
}

/// Whether an arbitration is [cyclic](Arbiter::IS_CYCLIC).
#[inline(always)]
pub(crate) fn is_cyclic(arbitration: Arbitration) -> bool {
    by_arbiter!(arbitration, A => A::IS_CYCLIC)
}

/// Whether an arbitration compares the ages of packets.
#[inline(always)]
pub(crate) fn by_age(arbitration: Arbitration) -> bool {
    by_arbiter!(arbitration, A => A::BY_AGE)
}

/// Whether an arbitration [counts flits](Arbiter::COUNTS_FLITS).
#[inline(always)]
pub(crate) fn counts_flits(arbitration: Arbitration) -> bool {
    by_arbiter!(arbitration, A => A::COUNTS_FLITS)
}

/// The next span of a packet router's requests that is not empty, and the step behind it. The first
/// step is 0. Where the arbitration [`is_cyclic`], and the set has one word, all of it is one span.
#[inline(never)]
pub(crate) fn next_span(
    arbitration: Arbitration,
    requests: &PacketRequests<'_>,
    step: u32,
) -> Option<(Span, u32)> {
    by_arbiter!(arbitration, A => A::next_span(requests, step))
}

/// Whether an output is offered to one flit rather than to another.
#[inline(always)]
pub(crate) fn is_offered(
    arbitration: Arbitration,
    switch: &Switch<'_>,
    (one, other): (&SwitchCandidate, &SwitchCandidate),
) -> bool {
    by_arbiter!(arbitration, A => A::is_offered(switch, one, other))
}

/// Whether an input port accepts the offer to one of its flits rather than that to another.
#[inline(always)]
pub(crate) fn is_accepted(
    arbitration: Arbitration,
    switch: &Switch<'_>,
    (one, other): (&SwitchCandidate, &SwitchCandidate),
) -> bool {
    by_arbiter!(arbitration, A => A::is_accepted(switch, one, other))
}

/// Counts a flit that was granted the switch, if the arbitration [counts flits](counts_flits).
#[inline(always)]
pub(crate) fn count_flit(
    arbitration: Arbitration,
    turns: (&mut OutputTurn, Option<&mut Priority>),
    sharing: &FlitSharing,
    flit: SentFlit,
) {
    by_arbiter!(arbitration, A => A::count_flit(turns, sharing, flit));
}
