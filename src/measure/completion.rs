//! How soon an exchange can be over at best: the busiest channel carries all that has to pass it.
//!
//! Whatever the flow control does, a channel is busy for a flit time for each of its flits, and the hosts'
//! overheads lie before the first one and behind the last one. Under adaptive routing, the mean of all network
//! channels stands for the busiest one, as in [`outlook`](super::outlook). Of packets whose half rings are drawn it is not
//! known which way they go: they count in that mean only, and the busiest channel is that of the others.

use crate::engine::Parameters;
use crate::narrow::narrow;
use crate::routing::Routes;
use crate::topology::Fabric;
use crate::traffic::{Access, ExchangeSpec, Pattern, RemoteMemorySpec};
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

/// The steps of a pattern, unless they have too many messages to look at.
fn steps_to_look_at(fabric: &Fabric, pattern: &Pattern) -> Option<u32> {
    let live = fabric.live_terminals().count() as u64;
    pattern.steps().filter(|&steps| u64::from(steps) * live <= MOST_MESSAGES)
}

/// What all of an exchange takes at least; `None` if a round has too many messages to look at.
pub fn completion_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    pattern: &Pattern,
    spec: &ExchangeSpec,
) -> Option<CompletionBound> {
    let steps = steps_to_look_at(fabric, pattern)?;
    let (forward, backward) = match spec.access {
        Access::Write => (parameters.message_flits(spec.message.0), 0),
        Access::Read { request } => {
            (parameters.message_flits(request.0), parameters.message_flits(spec.message.0))
        }
    };
    let messages = fabric.live_terminals().flat_map(|source| {
        let partners = (0..steps).filter_map(move |step| pattern.partner(source, step));
        partners.flat_map(move |to| [(source, to, forward), (to, source, backward)])
    });
    busiest(fabric, routes, parameters, messages, spec.rounds.into())
}

/// What all of a node's remote memory operations take at least; `None` if they are upon too many partners to look at.
pub fn remote_memory_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    pattern: &Pattern,
    spec: &RemoteMemorySpec,
) -> Option<CompletionBound> {
    let steps = steps_to_look_at(fabric, pattern)?;
    let (request, response) = spec.payloads();
    let (forward, backward) =
        (parameters.message_flits(request), parameters.message_flits(response));
    let messages = fabric.live_terminals().flat_map(|source| {
        let partners: Vec<u32> =
            (0..steps).filter_map(|step| pattern.partner(source, step)).collect();
        let shares: Vec<u64> = spec.shares(narrow(partners.len())).collect();
        partners.into_iter().zip(shares).flat_map(move |(to, operations)| {
            [(source, to, operations * forward), (to, source, operations * backward)]
        })
    });
    busiest(fabric, routes, parameters, messages, 1)
}

/// What all messages of an application take at least, which are given as source, destination and bytes; `None` if they
/// are too many to look at.
pub fn application_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[(u32, u32, u64)],
) -> Option<CompletionBound> {
    if messages.len() as u64 > MOST_MESSAGES {
        return None;
    }
    let flits =
        messages.iter().map(|&(from, to, bytes)| (from, to, parameters.message_flits(bytes)));
    busiest(fabric, routes, parameters, flits, 1)
}

/// How long the busiest channel is busy with so many rounds of these messages: source, destination and flits.
fn busiest(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: impl Iterator<Item = (u32, u32, u64)>,
    rounds: u128,
) -> Option<CompletionBound> {
    // By channel the time that it is busy; by class of cable the flits whose channels are drawn.
    let mut channels = vec![0u128; fabric.channel_slots() as usize];
    let (mut injected, mut ejected) =
        (vec![0u128; fabric.terminals() as usize], vec![0u128; fabric.terminals() as usize]);
    let classes = fabric.cable_classes();
    let mut flits_of_classes = vec![0u128; classes.len()];
    let flit_times: Vec<u64> = classes.iter().map(|&it| parameters.flit_time_of(it)).collect();
    for (from, to, flits) in messages {
        let flits = u128::from(flits);
        injected[from as usize] += flits;
        ejected[to as usize] += flits;
        if flits == 0 {
            continue;
        }
        let is_drawn = routes.draws_between(fabric, from, to);
        routes.for_each_channel(fabric, from, to, |channel| {
            let class = usize::from(fabric.cable_class(channel));
            flits_of_classes[class] += flits;
            if !is_drawn {
                channels[channel as usize] += flits * u128::from(flit_times[class]);
            }
        });
    }
    let most = |times: &[u128]| {
        let largest =
            (0u32..).zip(times).max_by_key(|&(place, &time)| (time, std::cmp::Reverse(place)));
        largest.map_or((0, 0), |(place, &time)| (place, time))
    };
    let even = evenly(fabric, &flits_of_classes, &flit_times);
    let (channel, busiest) = most(&channels);
    let is_even = match routes {
        Routes::Adaptive(_) | Routes::Relation(_) => true,
        _ => routes.draws() && even > busiest,
    };
    let (name, network) = if is_even {
        ("all channels, evenly loaded".into(), even)
    } else {
        let name = || format!("channel {}", fabric.channel_name(channel));
        (if busiest > 0 { name() } else { String::new() }, busiest)
    };
    let shared = |flits: &mut [u128], among: u32, flit_times: Vec<u64>| {
        for (terminal, flits) in (0..).zip(flits.iter_mut()) {
            let time = flit_times[usize::from(fabric.terminal_class(terminal))];
            *flits = flits.div_ceil(u128::from(among.max(1))) * u128::from(time);
        }
        most(flits).1
    };
    let injections = classes.iter().map(|&it| parameters.injection_flit_time_of(it)).collect();
    let ejections = classes.iter().map(|&it| parameters.ejection_flit_time_of(it)).collect();
    let candidates = [
        (name, network),
        (
            "an injection channel".into(),
            shared(&mut injected, parameters.injection_channels, injections),
        ),
        (
            "an ejection channel".into(),
            shared(&mut ejected, parameters.ejection_channels, ejections),
        ),
    ];
    let (bottleneck, busy) = candidates.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let hosts = parameters.send_overhead + parameters.receive_overhead;
    let time = busy * rounds + u128::from(hosts);
    Some(CompletionBound {
        time: Picoseconds::try_from(time).unwrap_or(Picoseconds::MAX),
        bottleneck,
    })
}

/// How long channels are busy that share flits evenly: those of each class on a torus, where every
/// way has as many hops at least in each dimension; all of them otherwise, each as its rate is.
fn evenly(fabric: &Fabric, flits: &[u128], flit_times: &[u64]) -> u128 {
    let mut counts = vec![0u128; flits.len()];
    for channel in (0..fabric.channel_slots()).filter(|&it| fabric.target(it).is_some()) {
        counts[usize::from(fabric.cable_class(channel))] += 1;
    }
    if fabric.torus().is_some() || flits.len() == 1 {
        let each = flits.iter().zip(&counts).zip(flit_times);
        let busy = each.map(|((flits, &count), &time)| flits / count.max(1) * u128::from(time));
        return busy.max().unwrap_or(0);
    }
    // In units of which so many are a flit of the slowest channels; rounded so that no bound is too
    // high.
    let slowest = flit_times.iter().copied().max().map_or(1, u128::from);
    let carries = |time: u64| (slowest << 32).div_ceil(u128::from(time));
    let rates: u128 =
        counts.iter().zip(flit_times).map(|(&count, &time)| count * carries(time)).sum();
    ((flits.iter().sum::<u128>() * slowest) << 32) / rates.max(1)
}
