//! How soon a finite workload can be over at best, before anything is simulated.
//!
//! Three things take time whatever else happens, and the longest of them is the bound:
//!
//! - **Rates.** A channel is busy for a flit time for each of its flits. The first one gets there no sooner than through
//!   an empty network, and the last one still has its way to go. A message uses one injection channel, and one ejection
//!   channel.
//! - **Credits.** A packet has room in the buffer behind a channel from its grant until its credits are back, which is a
//!   round trip at least. So no more packets than fit the buffer are granted in that time.
//! - **Steps.** Where a step waits for the one before it, its messages begin when those are done.
//!
//! Under adaptive routing, the mean of all network channels stands for the busiest one, as in
//! [`forecast`](super::forecast). Of packets whose half rings are drawn it is not known which way
//! they go: they count in that mean only, and the busiest channel is that of the others.

use crate::network::ChannelTiming;
use crate::next_hop::demands;
use crate::{ChannelKind, Parameters, Switching};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::Routes;
use flitlab_workload::traffic::{Access, Between, ExchangeSpec, Pattern, RemoteMemorySpec};

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

/// A message, or several that are alike.
#[derive(Clone, Copy, Debug)]
struct Flow {
    from: u32,
    to: u32,
    size: Size,
    /// Whether it is a response, which has a virtual channel of its own on some routes.
    is_response: bool,
    /// How often it is sent.
    times: u64,
    /// Which injection channel each of them takes.
    turn: Turn,
}

/// Which injection channels messages take; each takes the ejection channel of the same number,
/// modulo how many there are.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// In each round its terminal sends so many, and it is this one of them, counted from 0.
    Known { place: u64, each_round: u64 },
    /// It depends on what happens.
    Unknown,
}

/// A message's demand on channels.
#[derive(Clone, Copy, Debug)]
struct Size {
    flits: u64,
    /// Packets that credits are counted for, and the flits of each: of a message of several packets
    /// the largest ones.
    packets: u64,
    packet: u32,
}

/// A kind of channel, as far as time goes: in picoseconds, wide enough for any sum.
#[derive(Clone, Copy, Debug)]
struct Timing {
    flit: u128,
    /// From a flit's start on the channel until it is there.
    forward: u128,
    /// Time of a credit on its way back.
    back: u128,
    /// Flits of the buffer behind it, per virtual channel; none behind an ejection channel.
    buffer: Option<u32>,
}

/// The load of a channel, and the least times between it and the ends of the routes over it.
#[derive(Clone, Copy, Debug)]
struct Carried {
    flits: u64,
    /// The most flits of one message.
    largest: u64,
    /// Packets that credits are counted for: of data and requests, and of responses; and of one
    /// message the most.
    packets: [u64; 2],
    most_packets: u64,
    /// The least flits of one of them.
    packet: u32,
    /// The least time from the packets' creation to their start on the channel, and from a flit's
    /// start to its delivery.
    before: u64,
    behind: u64,
    /// The least time from a header's start to its delivery, if it may go on at once everywhere.
    header: u64,
    /// The least time that a flit occupies the next channel.
    next: u64,
    /// Whether all packets enter a ring with it, for which the bubble asks for more room.
    enters: bool,
}

impl Carried {
    const NOTHING: Self = Self {
        flits: 0,
        largest: 0,
        packets: [0; 2],
        most_packets: 0,
        packet: u32::MAX,
        before: u64::MAX,
        behind: u64::MAX,
        header: u64::MAX,
        next: u64::MAX,
        enters: true,
    };

    fn add(&mut self, flow: &Flow, times: u64, place: ChannelPosition) {
        let Size { flits, packets, packet } = flow.size;
        let sum = |all: u64, each: u64| all.saturating_add(each.saturating_mul(times));
        self.flits = sum(self.flits, flits);
        let packets_of_class = &mut self.packets[usize::from(flow.is_response)];
        *packets_of_class = sum(*packets_of_class, packets);
        self.largest = self.largest.max(flits);
        self.most_packets = self.most_packets.max(packets);
        self.packet = self.packet.min(packet);
        let least = |own: u64, other: u128| own.min(u64::try_from(other).unwrap_or(u64::MAX));
        self.before = least(self.before, place.before);
        self.behind = least(self.behind, place.behind);
        self.header = least(self.header, place.header);
        self.next = least(self.next, place.next);
        self.enters &= place.enters;
    }

    /// The share of one of so many channels, among which messages are divided somehow.
    fn shared(mut self, channels: u32) -> Self {
        let channels = u64::from(channels.max(1));
        self.flits = self.flits.div_ceil(channels).max(self.largest);
        self.packets = self.packets.map(|packets| packets.div_ceil(channels));
        if self.packets[1] == 0 {
            self.packets[0] = self.packets[0].max(self.most_packets);
        }
        self
    }
}

/// Where on a packet's way a channel is; see [`Carried`].
#[derive(Clone, Copy, Debug)]
struct ChannelPosition {
    before: u128,
    behind: u128,
    header: u128,
    next: u128,
    enters: bool,
}

/// When a channel's last packet starts, as far as credits go: after the first one; its last flit
/// after that; and, from its header's delivery on, its last flit's.
#[derive(Clone, Copy, Debug, Default)]
struct Paced {
    last: u128,
    tail: u128,
    rest: u128,
}

/// Everything that the times of flits depend on.
struct Times<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    /// By class of cable; behind those of all cables the best of all, which no way is better than.
    injections: Vec<Timing>,
    links: Vec<Timing>,
    ejections: Vec<Timing>,
    /// From a header's arrival at a router until it may start on the next channel.
    routing: u128,
    /// By kind of channel, on how many virtual channels packets of a class can be: network,
    /// injection.
    virtual_channels: [u32; 2],
}

/// These timings, and behind them one that is as good as the best of them in everything.
fn with_best(timings: impl Iterator<Item = Timing>) -> Vec<Timing> {
    let mut timings: Vec<Timing> = timings.collect();
    let best = timings.iter().copied().reduce(|a, b| Timing {
        flit: a.flit.min(b.flit),
        forward: a.forward.min(b.forward),
        back: a.back.min(b.back),
        buffer: a.buffer,
    });
    timings.extend(best);
    timings
}

/// The one that [`with_best`] has added.
fn best(timings: &[Timing]) -> Timing {
    *timings.last().expect("there is a class of cables")
}

/// The longest of several bounds, and what it is of.
#[derive(Default)]
struct Longest {
    time: u128,
    of: String,
}

impl Longest {
    fn add(&mut self, time: u128, of: impl FnOnce() -> String) {
        if time > self.time {
            (self.time, self.of) = (time, of());
        }
    }
}

impl<'a> Times<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes, parameters: &'a Parameters) -> Self {
        let sharing = parameters.sharing.as_ref();
        let timings = |kind, buffer| {
            let timings = ChannelTiming::of_classes(parameters, kind, fabric.cable_classes());
            with_best(timings.into_iter().map(|it| Timing {
                flit: it.flit_time.into(),
                forward: it.forward.into(),
                back: it.back.into(),
                buffer,
            }))
        };
        let all = u32::from(parameters.virtual_channels);
        let virtual_channels = match sharing {
            Some(_) => [all; 2],
            None => demands::max_vcs_of_source(routes, all),
        };
        Self {
            fabric,
            routes,
            parameters,
            injections: timings(ChannelKind::Injection, Some(parameters.injection_buffer)),
            links: timings(ChannelKind::Network, Some(parameters.buffer)),
            ejections: timings(ChannelKind::Ejection, None),
            routing: u128::from(parameters.routing_latency)
                + sharing.map_or(0, |it| it.virtual_channel_allocation.into()),
            virtual_channels,
        }
    }

    /// A channel between routers.
    fn link(&self, channel: Channel) -> Timing {
        self.links[usize::from(self.fabric.cable_class(channel))]
    }

    fn injection(&self, terminal: u32) -> Timing {
        self.injections[usize::from(self.fabric.terminal_class(terminal))]
    }

    fn ejection(&self, terminal: u32) -> Timing {
        self.ejections[usize::from(self.fabric.terminal_class(terminal))]
    }

    fn size(&self, bytes: u64) -> Size {
        let (full, rest) = self.parameters.packets(bytes);
        let flits = self.parameters.message_flits(bytes);
        match (full, rest) {
            (0, Some(rest)) => {
                Size { flits, packets: 1, packet: self.parameters.packet_flits(rest) }
            }
            _ => Size { flits, packets: full, packet: self.parameters.maximum_packet() },
        }
    }

    /// Whether it is known before which channels packets take, and that no way is shorter.
    fn is_known(&self, from: u32, to: u32) -> bool {
        !demands::is_adaptive(self.routes) && !self.routes.draws_between(self.fabric, from, to)
    }

    /// The channels between routers of a way.
    fn way(&self, from: u32, to: u32, into: &mut Vec<Channel>) {
        into.clear();
        self.routes.for_each_channel(self.fabric, from, to, |channel| into.push(channel));
        if !self.is_known(from, to) {
            // Other ways may have fewer hops, but not none.
            into.truncate(1);
        }
    }

    /// Tells of each channel of a way where on it it is: the injection channel, those between
    /// routers, the ejection channel. Where the way is not known, those between routers are as good
    /// as the fabric's best.
    fn places(
        &self,
        (from, to): (u32, u32),
        way: &[Channel],
        mut each: impl FnMut(Option<Channel>, Timing, ChannelPosition),
    ) {
        let is_known = self.is_known(from, to);
        let (injection, ejection) = (self.injection(from), self.ejection(to));
        let link = |channel| if is_known { self.link(channel) } else { best(&self.links) };
        let mut behind = way.iter().map(|&channel| link(channel).forward).sum::<u128>()
            + ejection.forward
            + injection.forward;
        let mut header = behind + (way.len() + 1) as u128 * self.routing;
        let mut before = 0;
        let next_of =
            |number: usize| way.get(number).map_or(ejection.flit, |&channel| link(channel).flit);
        let next = next_of(0);
        each(None, injection, ChannelPosition { before, behind, header, next, enters: false });
        behind -= injection.forward;
        header -= injection.forward + self.routing;
        before += injection.forward + self.routing;
        let mut ring = None;
        for (number, &channel) in way.iter().enumerate() {
            let timing = link(channel);
            let next = next_of(number + 1);
            let own = self.fabric.ring(channel);
            let enters = own.is_some() && own != ring && self.has_bubble();
            ring = own;
            each(Some(channel), timing, ChannelPosition { before, behind, header, next, enters });
            behind -= timing.forward;
            header -= timing.forward + self.routing;
            before += timing.forward + self.routing;
        }
        let next = ejection.flit;
        each(None, ejection, ChannelPosition { before, behind, header, next, enters: false });
    }

    /// Whether it takes room for a packet more to enter a ring.
    fn has_bubble(&self) -> bool {
        self.parameters.bubble
            && self.parameters.sharing.is_none()
            && demands::keeps_bubble_always(self.routes)
    }

    /// From the first flit's start on a channel on: when the last flit can start by the channel's
    /// rate; and when the last packet can by its credits, and its last flit after that.
    fn last_starts(&self, carried: &Carried, timing: Timing, channels: u32) -> (u128, Paced) {
        let by_rate = u128::from(carried.flits.saturating_sub(1)) * timing.flit;
        let Some(buffer) = timing.buffer else { return (by_rate, Paced::default()) };
        let channels = u128::from(channels);
        let trip = timing.forward + timing.back;
        // The last of so many begins, if so many may be under way for so long.
        let paced = |count: u64, at_once: u128, round: u128, each: u128| {
            let last = u128::from(count.saturating_sub(1));
            last / at_once * round + last % at_once * each
        };
        if self.parameters.sharing.is_some() {
            // A flit's credit is its own from when it wins the switch until it has won the next
            // one.
            let last = paced(carried.flits, u128::from(buffer) * channels, trip, timing.flit);
            return (by_rate, Paced { last, tail: 0, rest: 0 });
        }
        let packets = carried.packets[0].max(carried.packets[1]);
        if packets == 0 {
            return (by_rate, Paced::default());
        }
        let packet = u128::from(carried.packet);
        let room = if carried.enters {
            buffer.saturating_sub(self.parameters.maximum_packet())
        } else {
            buffer
        };
        let next = u128::from(carried.next);
        let tail = (packet - 1) * timing.flit;
        // Room is given back when the last flit has left: the header has to be routed, the last
        // flit to come.
        let held = match self.parameters.switching {
            Switching::StoreAndForward => tail + self.routing + packet * next,
            _ => (self.routing + packet * next).max(tail + next),
        };
        let at_once = (u128::from(room) / packet).max(1) * channels;
        let last = paced(packets, at_once, trip + held, packet * timing.flit);
        (by_rate, Paced { last, tail, rest: (packet - 1) * best(&self.ejections).flit })
    }

    /// Returns lower bounds on the time from the creation of a channel's packets to their delivery:
    /// by rate, and by credits.
    fn bounds(&self, carried: &Carried, timing: Timing, channels: u32) -> (u128, u128) {
        let [before, behind, header] =
            [carried.before, carried.behind, carried.header].map(u128::from);
        let (by_rate, paced) = self.last_starts(carried, timing, channels);
        // The last packet's header is routed on its way, and its other flits leave one after the
        // other.
        let after = match self.parameters.sharing {
            Some(_) => behind,
            None => (paced.tail + behind).max(header + paced.rest),
        };
        let by_credits = if paced.last > 0 { before + paced.last + after } else { 0 };
        (before + by_rate + behind, by_credits)
    }

    /// Returns lower bounds for one message in an empty network: the time from its packets'
    /// creation to delivery, and the time until its last flit has left the adapter.
    fn alone(&self, flow: &Flow, way: &[Channel]) -> (u128, u128) {
        let (mut delivered, mut left) = (0, None);
        self.places((flow.from, flow.to), way, |channel, timing, place| {
            let mut carried = Carried::NOTHING;
            carried.add(flow, 1, place);
            let channels = self.virtual_channels[usize::from(channel.is_none())];
            let (by_rate, by_credits) = self.bounds(&carried, timing, channels);
            delivered = delivered.max(by_rate).max(by_credits);
            left.get_or_insert_with(|| {
                let (by_rate, paced) = self.last_starts(&carried, timing, channels);
                by_rate.max(paced.last + paced.tail) + timing.flit
            });
        });
        (delivered, left.unwrap_or(0))
    }

    /// Returns the bounds that rates and credits give for all flows, without hosts' overheads.
    fn channels(&self, flows: impl Iterator<Item = Flow>) -> (Longest, Longest) {
        let load = Load::of(self, flows);
        let (mut rates, mut credits) = (Longest::default(), Longest::default());
        let mut bound = |carried: &Carried, timing, channels, name: &dyn Fn() -> String| {
            if carried.flits > 0 {
                let (by_rate, by_credits) = self.bounds(carried, timing, channels);
                rates.add(by_rate, name);
                credits.add(by_credits, || format!("the credits of {}", name()));
            }
        };
        let [in_network, at_injection] = self.virtual_channels;
        for (channel, carried) in (0..).zip(&load.network) {
            let name = || format!("channel {}", self.fabric.channel_name(channel));
            bound(carried, self.link(channel), in_network, &name);
        }
        let share = |carried: &Carried, channels| {
            if load.is_divided { carried.shared(channels) } else { *carried }
        };
        let Parameters { injection_channels, ejection_channels, .. } = *self.parameters;
        for (place, carried) in (0..).zip(&load.injected) {
            let timing = self.injection(place / injection_channels);
            let carried = share(carried, injection_channels);
            bound(&carried, timing, at_injection, &|| "an injection channel".into());
        }
        for (place, carried) in (0..).zip(&load.ejected) {
            let timing = self.ejection(place / ejection_channels);
            let carried = share(carried, ejection_channels);
            bound(&carried, timing, 1, &|| "an ejection channel".into());
        }
        if load.has_unknown {
            // One of them is busy for the mean of all at least.
            let classes = self.fabric.cable_classes();
            let flit_times = |&class| u64::from(self.parameters.flit_time_of(class));
            let flit_times: Vec<u64> = classes.iter().map(flit_times).collect();
            let busy = evenly(self.fabric, &load.by_class, &flit_times);
            let around =
                best(&self.injections).forward + self.routing + best(&self.ejections).forward;
            let slowest = u128::from(flit_times.into_iter().max().unwrap_or(0));
            let time = around + busy.saturating_sub(slowest);
            rates.add(time, || "all channels, evenly loaded".into());
        }
        (rates, credits)
    }
}

/// The load of all channels.
struct Load {
    /// By channel between routers, of ways that are known.
    network: Vec<Carried>,
    /// By terminal and number; all of a terminal under its first number where they are divided.
    injected: Vec<Carried>,
    ejected: Vec<Carried>,
    /// Whether it is not known which of a terminal's channels messages take.
    is_divided: bool,
    /// By class of cable: flits times channels between routers, of all ways.
    by_class: Vec<u128>,
    /// Whether some ways are not known.
    has_unknown: bool,
}

impl Load {
    fn of(times: &Times<'_>, flows: impl Iterator<Item = Flow>) -> Self {
        let (fabric, routes) = (times.fabric, times.routes);
        let Parameters { injection_channels, ejection_channels, .. } = *times.parameters;
        let nothing = |count: u32| vec![Carried::NOTHING; count as usize];
        let mut load = Self {
            network: nothing(fabric.channel_slots()),
            injected: nothing(fabric.terminals() * injection_channels),
            ejected: nothing(fabric.terminals() * ejection_channels),
            is_divided: false,
            by_class: vec![0; fabric.cable_classes().len()],
            has_unknown: false,
        };
        let mut way = Vec::new();
        for flow in flows.filter(|flow| flow.times > 0) {
            let is_known = times.is_known(flow.from, flow.to);
            times.way(flow.from, flow.to, &mut way);
            let flits = u128::from(flow.size.flits) * u128::from(flow.times);
            let by_class = &mut load.by_class;
            let mut add = |channel| by_class[usize::from(fabric.cable_class(channel))] += flits;
            if is_known {
                way.iter().copied().for_each(add);
            } else {
                load.has_unknown = true;
                routes.for_each_channel(fabric, flow.from, flow.to, &mut add);
            }
            let mut ends = 0;
            times.places((flow.from, flow.to), &way, |channel, _, place| match channel {
                Some(channel) if is_known => {
                    load.network[channel as usize].add(&flow, flow.times, place);
                }
                Some(_) => {}
                None => {
                    load.add_end(&flow, ends > 0, (injection_channels, ejection_channels), place);
                    ends += 1;
                }
            });
        }
        load
    }

    /// Adds a flow to its injection channels or its ejection channels, of which each terminal has
    /// so many.
    fn add_end(
        &mut self,
        flow: &Flow,
        is_ejection: bool,
        (injections, ejections): (u32, u32),
        place: ChannelPosition,
    ) {
        let (terminal, of, list) = match is_ejection {
            false => (flow.from, injections, &mut self.injected),
            true => (flow.to, ejections, &mut self.ejected),
        };
        let first = terminal as usize * of as usize;
        let Turn::Known { place: own, each_round } = flow.turn else {
            self.is_divided = true;
            return list[first].add(flow, flow.times, place);
        };
        let period = u64::from(injections);
        for round in 0..period.min(flow.times) {
            let number = (round * each_round + own) % period % u64::from(of);
            let times = flow.times / period + u64::from(round < flow.times % period);
            list[first + narrow::<usize>(number)].add(flow, times, place);
        }
    }
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
            last = next.iter().copied().max().unwrap_or(0);
            if let (Some(latency), true) = (barrier, any) {
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

/// Returns a lower bound on the completion time of an application's messages, given as source,
/// destination and bytes. A host takes the given overheads to send a message and to receive one.
/// `None` if the messages are too many to look at.
pub fn application_bound(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[(u32, u32, u64)],
    hosts: (Picoseconds, Picoseconds),
) -> Option<CompletionBound> {
    if messages.len() as u64 > MAX_MESSAGES {
        return None;
    }
    let times = Times::new(fabric, routes, parameters);
    let flows = messages.iter().map(|&(from, to, bytes)| {
        let (size, turn) = (times.size(bytes), Turn::Unknown);
        Flow { from, to, size, is_response: false, times: 1, turn }
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
