//! Transit first: requests from network channels before those from injection channels, each in
//! turn.

use super::round_robin::{self, span_between};
use super::{PacketRequests, Span, Switch, SwitchCandidate, Turns, span_count};
use flitlab_base::narrow::fitted;

/// The next span of requests, and the step behind it. A step is one of the cyclic order over
/// network channels, or behind these of that over injection channels.
pub(super) fn next_span(requests: &PacketRequests<'_>, step: u32) -> Option<(Span, u32)> {
    let steps = fitted!(span_count(requests.set.len()), u32);
    (step..2 * steps).find_map(|step| {
        let first_injected = requests.first_injected;
        let (low, high) =
            if step < steps { (0, first_injected) } else { (first_injected, u32::MAX) };
        Some((span_between(requests, step % steps, low, high)?, step + 1))
    })
}

/// Whether an output is offered to one flit rather than to another.
#[inline(always)]
pub(super) fn is_offered(
    switch: &Switch<'_, impl Turns>,
    one: &SwitchCandidate,
    other: &SwitchCandidate,
) -> bool {
    let [injects, other_injects] = [one, other].map(|it| it.input >= switch.transit);
    if injects == other_injects {
        round_robin::is_offered(switch, one, other)
    } else {
        other_injects
    }
}
