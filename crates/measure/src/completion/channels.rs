//! How soon channels can be done with what they carry: by their rates, and by credits on their way
//! back.

use flitlab_base::narrow::narrow;
use flitlab_engine::ChannelTiming;
use flitlab_engine::{ChannelKind, Parameters, Switching};
use flitlab_engine::{is_adaptive, keeps_bubble_always, max_vcs_of_source};
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::Routes;

/// A message, or several that are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub from: u32,
    pub to: u32,
    pub size: Size,
    /// Whether it is a response, which has a virtual channel of its own on some routes.
    pub is_response: bool,
    /// How often it is sent.
    pub times: u64,
    /// Which injection channel each of them takes.
    pub turn: Turn,
}

/// Which injection channels messages take; each takes the ejection channel of the same number,
/// modulo how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// In each round its terminal sends so many, and it is this one of them, counted from 0.
    Known { place: u64, each_round: u64 },
    /// It depends on what happens.
    Unknown,
}

/// A message's demand on channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub flits: u64,
    /// Packets that credits are counted for, and the flits of each: of a message of several packets
    /// the largest ones.
    pub packets: u64,
    pub packet: u32,
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
pub(super) struct Times<'a> {
    pub fabric: &'a Fabric,
    routes: &'a Routes,
    pub parameters: &'a Parameters,
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
pub(super) struct Longest {
    pub time: u128,
    pub of: String,
}

impl Longest {
    pub(super) fn add(&mut self, time: u128, of: impl FnOnce() -> String) {
        if time > self.time {
            (self.time, self.of) = (time, of());
        }
    }
}

impl<'a> Times<'a> {
    pub(super) fn new(fabric: &'a Fabric, routes: &'a Routes, parameters: &'a Parameters) -> Self {
        let [allocation, _] = parameters.allocation_latencies();
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
        let virtual_channels = match parameters.kind.grants_flits() {
            true => [all; 2],
            false => max_vcs_of_source(routes, all),
        };
        Self {
            fabric,
            routes,
            parameters,
            injections: timings(ChannelKind::Injection, Some(parameters.injection_buffer)),
            links: timings(ChannelKind::Network, Some(parameters.buffer)),
            ejections: timings(ChannelKind::Ejection, None),
            routing: u128::from(parameters.routing_latency + allocation),
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

    pub(super) fn size(&self, bytes: u64) -> Size {
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
        !is_adaptive(self.routes) && !self.routes.draws_between(self.fabric, from, to)
    }

    /// The channels between routers of a way.
    pub(super) fn way(&self, from: u32, to: u32, into: &mut Vec<Channel>) {
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
            && !self.parameters.kind.grants_flits()
            && keeps_bubble_always(self.routes)
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
        if self.parameters.kind.grants_flits() {
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
        // Room is given back when the last flit has left; with buffers at outputs flit by flit, so
        // that a packet needs as many of them as do not fit in beside whole packets. A header that is
        // sent from there is behind the crossbar.
        let (trip, awaited) = match self.parameters.kind.sends_packets_from_outputs() {
            false => (trip, packet),
            true => (2 * timing.back, packet - u128::from(room) % packet),
        };
        // The header has to be routed, the last of these flits to come.
        let held = match self.parameters.switching {
            Switching::StoreAndForward => tail + self.routing + awaited * next,
            _ => (self.routing + awaited * next).max((awaited - 1) * timing.flit + next),
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
        let after = match self.parameters.kind.grants_flits() {
            true => behind,
            false => (paced.tail + behind).max(header + paced.rest),
        };
        let by_credits = if paced.last > 0 { before + paced.last + after } else { 0 };
        (before + by_rate + behind, by_credits)
    }

    /// Returns lower bounds for one message in an empty network: the time from its packets'
    /// creation to delivery, and the time until its last flit has left the adapter.
    pub(super) fn alone(&self, flow: &Flow, way: &[Channel]) -> (u128, u128) {
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
    pub(super) fn channels(&self, flows: impl Iterator<Item = Flow>) -> (Longest, Longest) {
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
