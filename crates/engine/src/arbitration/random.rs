//! Random: the order of requests is drawn anew for each output and instant. So all that can go are
//! equally likely to be the first.

use super::{PacketRequests, Span, Switch, SwitchCandidate, Turns};
use crate::set::members;
use flitlab_base::mix::mixed;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;

/// The next span of requests in the order drawn, and the step behind it. A span is a single
/// request; the step behind it is the number behind its input virtual channel's.
pub(super) fn next_span(requests: &PacketRequests<'_>, step: u32) -> Option<(Span, u32)> {
    let rank = |input_vc: u32| {
        let (input, vc) = (input_vc >> requests.shift, input_vc & ((1 << requests.shift) - 1));
        let number = requests.vc_map.drawn_number(fitted!(vc, u8));
        (random_rank(requests.time, requests.output, (input, number)), input_vc)
    };
    let latest = step.checked_sub(1).map(rank);
    let ranks = members(requests.set).map(|input_vc| rank(fitted!(input_vc, u32)));
    let (_, next) = ranks.filter(|&drawn| Some(drawn) > latest).min()?;
    Some((Span::new(next & !63, 0, 1 << (next % 64)), next + 1))
}

/// The random rank of a flit at an instant.
#[inline(always)]
pub(super) fn flit_rank(switch: &Switch<'_, impl Turns>, candidate: &SwitchCandidate) -> u64 {
    let requester = (candidate.input, switch.vc_map.number(candidate.out_vc));
    random_rank(switch.time, (switch.router, candidate.output as usize), requester)
}

/// The random rank of a request for a router's output at a time, from a port and a virtual channel:
/// the lowest rank is served first (docs/model.md, "Arbitration").
#[inline]
fn random_rank(
    time: Picoseconds,
    (router, output): (u32, usize),
    (port, virtual_channel): (u32, u8),
) -> u64 {
    let output = u64::from(router) << 16 | fitted!(output, u64);
    let requester = u64::from(port) << 8 | u64::from(virtual_channel);
    mixed(mixed(mixed(time.0) ^ output) ^ requester)
}
