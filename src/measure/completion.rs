//! How soon an exchange can be over at best: the busiest channel carries all that has to pass it.
//!
//! Whatever the flow control does, a channel is busy for a flit time for each of its flits, and the hosts'
//! overheads lie before the first one and behind the last one. Under adaptive routing, the mean of all network
//! channels stands for the busiest one, as in [`outlook`](super::outlook).

use crate::engine::Parameters;
use crate::routing::Routes;
use crate::topology::Fabric;
use crate::traffic::{Access, ExchangeSpec, Pattern};
use crate::units::Picoseconds;

/// The most messages of a round that are looked at.
const MOST_MESSAGES: u64 = 1 << 23;

/// A lower bound of an exchange's completion time.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionBound {
    pub time: Picoseconds,
    /// The channel, or the kind of channel, that is busy for so long.
    pub bottleneck: String,
}

/// Looks at all messages of a round; `None` if they are too many.
#[must_use]
pub fn completion_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    pattern: &Pattern,
    spec: &ExchangeSpec,
) -> Option<CompletionBound> {
    let steps = pattern.steps()?;
    let live = fabric.live_terminals().count() as u64;
    if u64::from(steps) * live > MOST_MESSAGES {
        return None;
    }
    let (forward, backward) = match spec.access {
        Access::Write => (parameters.message_flits(spec.message.0), 0),
        Access::Read { request } => {
            (parameters.message_flits(request.0), parameters.message_flits(spec.message.0))
        }
    };
    let mut channels = vec![0u128; fabric.channel_slots() as usize];
    let (mut injected, mut ejected) =
        (vec![0u128; fabric.terminals() as usize], vec![0u128; fabric.terminals() as usize]);
    let mut send = |from: u32, to: u32, flits: u64| {
        let flits = u128::from(flits);
        injected[from as usize] += flits;
        ejected[to as usize] += flits;
        if flits > 0 {
            routes
                .for_each_channel(fabric, from, to, |channel| channels[channel as usize] += flits);
        }
    };
    for source in fabric.live_terminals() {
        for partner in (0..steps).filter_map(|step| pattern.partner(source, step)) {
            send(source, partner, forward);
            send(partner, source, backward);
        }
    }
    let most = |flits: &[u128]| {
        let largest =
            (0u32..).zip(flits).max_by_key(|&(place, &flits)| (flits, std::cmp::Reverse(place)));
        largest.map_or((0, 0), |(place, &flits)| (place, flits))
    };
    let (name, network) = if let Routes::Adaptive(_) = routes {
        let all: u128 = channels.iter().sum();
        ("all channels, evenly loaded".into(), all / fabric.channels().max(1) as u128)
    } else {
        let (channel, flits) = most(&channels);
        let name = || format!("channel {}", fabric.channel_name(channel));
        (if flits > 0 { name() } else { String::new() }, flits)
    };
    let shared = |flits: u128, among: u32| flits.div_ceil(u128::from(among.max(1)));
    let candidates = [
        (name, network * u128::from(parameters.link_flit_time())),
        (
            "an injection channel".into(),
            shared(most(&injected).1, parameters.injection_channels)
                * u128::from(parameters.injection_flit_time()),
        ),
        (
            "an ejection channel".into(),
            shared(most(&ejected).1, parameters.ejection_channels)
                * u128::from(parameters.ejection_flit_time()),
        ),
    ];
    let (bottleneck, busy) = candidates.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let hosts = parameters.send_overhead + parameters.receive_overhead;
    let time = busy * u128::from(spec.rounds) + u128::from(hosts);
    Some(CompletionBound {
        time: Picoseconds::try_from(time).unwrap_or(Picoseconds::MAX),
        bottleneck,
    })
}
