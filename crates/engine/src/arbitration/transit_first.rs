//! Transit first: requests from network channels before those from injection channels, each in
//! turn.

use super::round_robin::{RoundRobin, span_between};
use super::{Arbiter, PacketRequests, Span, Switch, SwitchCandidate, span_count};
use flitlab_base::narrow::fitted;

/// The arbitration that serves packets in transit first.
pub(super) struct TransitFirst;

impl Arbiter for TransitFirst {
    /// A step is one of the cyclic order over network channels, or behind these of that over
    /// injection channels.
    fn next_span(requests: &PacketRequests<'_>, step: u32) -> Option<(Span, u32)> {
        let steps = fitted!(span_count(requests.set.len()), u32);
        (step..2 * steps).find_map(|step| {
            let span = if step < steps {
                span_between(requests, step, 0, requests.first_injected)
            } else {
                span_between(requests, step - steps, requests.first_injected, u32::MAX)
            };
            Some((span?, step + 1))
        })
    }

    #[inline(always)]
    fn is_offered(switch: &Switch<'_>, one: &SwitchCandidate, other: &SwitchCandidate) -> bool {
        let [injects, other_injects] = [one, other].map(|it| it.input >= switch.transit);
        if injects == other_injects {
            RoundRobin::is_offered(switch, one, other)
        } else {
            other_injects
        }
    }
}
