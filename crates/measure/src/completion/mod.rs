//! How soon a finite workload can be over at best, before anything is simulated.
//!
//! Three things take time whatever else happens, and the longest of them is the bound:
//!
//! - **Rates.** A channel is busy for a flit time for each of its flits. The first one gets there
//!   no sooner than through an empty network, and the last one still has its way to go. A message
//!   uses one injection channel, and one ejection channel.
//! - **Credits.** A packet has room in the buffer behind a channel from its grant until its credits
//!   are back, which is a round trip at least. So no more packets than fit the buffer are granted
//!   in that time.
//! - **Steps.** Where a step waits for the one before it, its messages begin when those are done.
//!
//! Under adaptive routing, the mean of all network channels stands for the busiest one, as in
//! [`forecast`](super::forecast). Of packets whose half rings are drawn it is not known which way
//! they go: they count in that mean only, and the busiest channel is that of the others.

mod channels;

use channels::{Flow, Longest, Size, Times, Turn};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_traffic::{Access, Between, ExchangeSpec, Pattern, RemoteMemorySpec, Transfer};

/// The most messages of a round that are looked at.
const MAX_MESSAGES: u64 = 1 << 23;

/// A lower bound of a finite workload's completion time.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionBound {
    /// The bound: the workload cannot complete earlier.
    pub time: Picoseconds,
    /// The reason for this bound: a channel or kind of channel, its credits, or the steps.
    pub bottleneck: String,
    /// The bound from the rates of channels; 0 if none is known.
    pub by_rates: Picoseconds,
    /// The bound from credits on their way back; 0 if none is known.
    pub by_credits: Picoseconds,
    /// The bound from steps that wait for each other; 0 if none is known.
    pub by_steps: Picoseconds,
}

/// When each step of an exchange can begin at the soonest, if each waits for the one before it:
/// when the last node has everything. `None` if steps don't wait.
fn by_steps(times: &Times<'_>, pattern: &Pattern, spec: &ExchangeSpec, steps: u32) -> Option<u128> {
    let barrier = match spec.between {
        Between::Nothing => return None,
        Between::Exchange => None,
        Between::Barrier { latency } => Some(u128::from(latency)),
    };
    let live: Vec<u32> = times.fabric.live_terminals().collect();
    let parameters = times.parameters;
    let (send, receive) =
        (u128::from(parameters.send_overhead), u128::from(parameters.receive_overhead));
    let mut begins = vec![0u128; times.fabric.terminals() as usize];
    let mut next = begins.clone();
    let mut way = Vec::new();
    let messages = u64::from(steps) * live.len() as u64;
    let rounds = u64::from(spec.rounds);
    let looked_at = rounds.min(MAX_MESSAGES / messages.max(1)).max(1);
    let mut last = 0;
    for _ in 0..looked_at {
        for step in 0..steps {
            next.copy_from_slice(&begins);
            let mut any = false;
            for &source in &live {
                let Some(to) = pattern.partner(source, step) else { continue };
                any = true;
                let begin = begins[source as usize];
                let mut alone = |from, to, bytes, is_response| {
                    let (size, turn) = (times.size(bytes), Turn::Unknown);
                    times.way(from, to, &mut way);
                    times.alone(&Flow { from, to, size, is_response, times: 1, turn }, &way)
                };
                let (own, theirs) = match spec.access {
                    Access::Write => {
                        let (delivered, left) = alone(source, to, spec.message.0, false);
                        (begin + send + left, begin + send + delivered + receive)
                    }
                    Access::Read { request } => {
                        let asked = alone(source, to, request.0, false).0;
                        let answered = alone(to, source, spec.message.0, true).0;
                        let service = u128::from(parameters.service_time);
                        (begin + send + asked + service + answered + receive, 0)
                    }
                };
                for (node, time) in [(source, own), (to, theirs)] {
                    let next = &mut next[node as usize];
                    *next = (*next).max(time);
                }
            }
            // Nobody waits for a barrier behind which nothing is sent.
            if !any {
                continue;
            }
            last = next.iter().copied().max().unwrap_or(0);
            if let Some(latency) = barrier {
                next.fill(last + latency);
            }
            std::mem::swap(&mut begins, &mut next);
        }
    }
    // As much time again passes at the node that began the next rounds first.
    let first = live.iter().map(|&node| begins[node as usize]).min().unwrap_or(0);
    Some(u128::from(rounds / looked_at - 1) * first + last)
}

/// The steps of a pattern, unless they have too many messages to look at.
fn steps_to_look_at(fabric: &Fabric, pattern: &Pattern) -> Option<u32> {
    let live = fabric.live_terminals().count() as u64;
    pattern.steps().filter(|&steps| u64::from(steps) * live <= MAX_MESSAGES)
}

/// Returns a lower bound on the completion time of an exchange; `None` if a round has too many
/// messages to look at.
pub fn completion_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    pattern: &Pattern,
    spec: &ExchangeSpec,
) -> Option<CompletionBound> {
    let steps = steps_to_look_at(fabric, pattern)?;
    let times = Times::new(fabric, routes, parameters);
    let (forward, backward) = spec.access.payloads(spec.message.0);
    let (forward, backward) = (times.size(forward), backward.map(|bytes| times.size(bytes)));
    let flows = fabric.live_terminals().flat_map(|source| {
        let partners = move || (0..steps).filter_map(move |step| pattern.partner(source, step));
        let each_round = partners().count() as u64;
        (0..).zip(partners()).flat_map(move |(place, to)| {
            let turn = Turn::Known { place, each_round };
            both_ways((source, to), (forward, backward), spec.rounds.into(), turn)
        })
    });
    let hosts = (parameters.send_overhead, parameters.receive_overhead);
    let in_steps = by_steps(&times, pattern, spec, steps);
    Some(longest(times.channels(flows), hosts, in_steps))
}

/// A message, and its response if it has one.
fn both_ways(
    (from, to): (u32, u32),
    (forward, backward): (Size, Option<Size>),
    times: u64,
    turn: Turn,
) -> impl Iterator<Item = Flow> {
    let there = Flow { from, to, size: forward, is_response: false, times, turn };
    let back = backward.map(|size| Flow { from: to, to: from, size, is_response: true, ..there });
    [Some(there), back].into_iter().flatten()
}

/// Returns a lower bound on the time of all remote memory operations of a node; `None` if they have
/// too many partners to look at.
pub fn remote_memory_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    pattern: &Pattern,
    spec: &RemoteMemorySpec,
) -> Option<CompletionBound> {
    let steps = steps_to_look_at(fabric, pattern)?;
    let times = Times::new(fabric, routes, parameters);
    let (request, response) = spec.payloads();
    let sizes = (times.size(request), Some(times.size(response)));
    let flows = fabric.live_terminals().flat_map(|source| {
        let partners: Vec<u32> =
            (0..steps).filter_map(|step| pattern.partner(source, step)).collect();
        let shares: Vec<u64> = spec.shares(narrow(partners.len())).collect();
        partners.into_iter().zip(shares).flat_map(move |(to, operations)| {
            both_ways((source, to), sizes, operations, Turn::Unknown)
        })
    });
    let hosts = (parameters.send_overhead, parameters.receive_overhead);
    Some(longest(times.channels(flows), hosts, None))
}

/// Returns a lower bound on the completion time of an application's messages. A host takes the given
/// overheads to send a message and to receive one. `None` if the messages are too many to look at.
pub fn application_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Transfer],
    hosts: (Picoseconds, Picoseconds),
) -> Option<CompletionBound> {
    if messages.len() as u64 > MAX_MESSAGES {
        return None;
    }
    let times = Times::new(fabric, routes, parameters);
    let flows = messages.iter().map(|&Transfer { source, destination, bytes, is_response }| {
        let (size, turn) = (times.size(bytes), Turn::Unknown);
        Flow { from: source, to: destination, size, is_response, times: 1, turn }
    });
    Some(longest(times.channels(flows), hosts, None))
}

/// The longest of the bounds.
fn longest(
    (rates, credits): (Longest, Longest),
    (send, receive): (Picoseconds, Picoseconds),
    in_steps: Option<u128>,
) -> CompletionBound {
    let hosts = u128::from(send) + u128::from(receive);
    let with_hosts = |of: &Longest| if of.time > 0 { of.time + hosts } else { 0 };
    let [by_rates, by_credits] = [&rates, &credits].map(with_hosts);
    let by_steps = in_steps.unwrap_or(0);
    let mut all = Longest::default();
    all.add(by_rates, || rates.of);
    all.add(by_credits, || credits.of);
    all.add(by_steps, || "the steps, each of which waits for the one before it".into());
    CompletionBound {
        time: Picoseconds::from_wide(all.time),
        bottleneck: all.of,
        by_rates: Picoseconds::from_wide(by_rates),
        by_credits: Picoseconds::from_wide(by_credits),
        by_steps: Picoseconds::from_wide(by_steps),
    }
}
