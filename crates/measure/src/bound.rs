//! Facts about a load curve before any simulation: hops, zero-load latency, and the throughput that
//! no flow control can exceed.
//!
//! **Throughput bound.** If every terminal offers one flit a flit time, channel c carries `gamma_c`
//! flits a flit time, its channel load (\[dally-towles\], section 3.3.1). So terminals can't get
//! more than `1 / max gamma_c` through, nor more than their injection and ejection channels carry.
//! Half rings that are drawn count half either way, which is what packets do for ever. A channel
//! that is slower than `link.rate` counts as often as its flits take longer. Under adaptive routing
//! the mean of `gamma_c` stands for its maximum: that of all channels, and of a torus that of the
//! channels of each rate, since every way has as many hops at least in each dimension.
//!
//! **Hops and latencies** are those without load. Where routers choose, or lead packets on detours,
//! [`without_load`](super::without_load) finds them.

use std::collections::BTreeMap;

use super::without_load::{Lists, Sums};
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Picoseconds, rate_text};
use flitlab_engine::is_adaptive;
use flitlab_engine::{EmptyNetwork, Parameters};
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::Routes;
use flitlab_traffic::{Access, MessageSizes, Pattern};

/// The most pairs that are looked at; beyond it every so-manieth source stands for all.
const MAX_PAIRS: u64 = 1 << 23;

/// The channel that bounds the throughput, and its load.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// The channel, or the kind of channel, that saturates first.
    pub name: String,
    /// Its load at one flit a flit time a terminal, relative to its capacity.
    pub load: f64,
}

/// Whether packets take longer ways under load than without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongerWays {
    /// What waits does not matter to the length of their ways.
    No,
    /// They take detours by what waits; the number of hops is not known before.
    Some,
    /// They take detours by what waits, of so many hops in all at most.
    AtMost(u32),
}

/// Facts of a pattern on a fabric with its routes.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Channels between routers that a packet crosses where nothing waits; mean over packets.
    pub hops_mean: f64,
    /// Channels between routers that a packet crosses at most where nothing waits.
    pub hops_maximum: u32,
    /// Whether packets cross more of them under load.
    pub longer_ways: LongerWays,
    /// Zero-load packet latency in picoseconds; mean over packets.
    pub zero_load_mean: f64,
    /// The longest zero-load packet latency.
    pub zero_load_maximum: Picoseconds,
    /// The channel that saturates first; `None` if only a sample of the pairs was looked at.
    pub bottleneck: Option<Bottleneck>,
}

impl Forecast {
    /// The highest throughput that every terminal that sends can have at once, as a mean over them
    /// in flits a flit time.
    pub fn throughput(&self) -> Option<f64> {
        self.bottleneck.as_ref().map(|bottleneck| 1.0 / bottleneck.load)
    }
}

/// Messages of one size between the nodes of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// Who sends to whom.
    pub pattern: &'a Pattern,
    /// The terminals that send something, ascending.
    pub senders: &'a [u32],
    /// Payload of messages; of a read the response's.
    pub sizes: &'a MessageSizes,
    /// How messages are sent.
    pub access: Access,
    /// The number of their class of traffic.
    pub class: u8,
    /// How much a terminal that sends offers in it, relative to what one offers in the mean of all
    /// streams.
    pub weight: f64,
}

impl Stream<'_> {
    /// The packets of a mean message with their flits, both ways: full packets, then the rests.
    pub(super) fn packets(&self, parameters: &Parameters) -> [Vec<(f64, u32)>; 2] {
        let of_sizes = packets(parameters, self.sizes);
        match self.access {
            Access::Write => [of_sizes, Vec::new()],
            Access::Read { request } => [packets(parameters, &request.into()), of_sizes],
        }
    }

    /// To how many others all terminals send together, if all do as the first one.
    fn pairs(&self) -> u64 {
        let mut pairs = 0u64;
        if let Some(&first) = self.senders.first() {
            self.pattern.for_each_share(first, |_, _| pairs += 1);
        }
        pairs * self.senders.len() as u64
    }
}

/// Looks at all pairs that streams send between, by so many terminals in all.
pub fn forecast(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    streams: &[Stream<'_>],
    senders: usize,
) -> Forecast {
    let pairs: u64 = streams.iter().map(Stream::pairs).sum();
    let stride = narrow(pairs.div_ceil(MAX_PAIRS).max(1));
    let mut flows = Flows::new(fabric, routes, parameters);
    let mut lists = Lists::of(fabric, routes);
    let total_rate =
        for_each_flow(parameters, streams, stride, |ends, rate, packets, message_flits| {
            flows.add(ends, rate, packets, message_flits);
        });
    if let Some(lists) = &mut lists {
        for stream in streams {
            lists.add(parameters, stream, stride);
        }
    }
    let without_load = lists.map(|lists| lists.sums(parameters));
    flows.forecast(without_load, total_rate / senders.max(1) as f64, stride == 1)
}

/// Calls `each` with the messages between each two terminals: source and destination, their rate,
/// the numbers and flits of the packets that go that way, and the flits of a message both ways.
/// Returns the rates of all sources together.
pub(super) fn for_each_flow(
    parameters: &Parameters,
    streams: &[Stream<'_>],
    stride: usize,
    mut each: impl FnMut((u32, u32), f64, &[(f64, u32)], f64),
) -> f64 {
    let mut total_rate = 0.0;
    for stream @ &Stream { pattern, senders, weight, .. } in streams {
        let [forward, backward] = stream.packets(parameters);
        let message_flits = flits(&forward) + flits(&backward);
        for &source in senders.iter().step_by(stride) {
            let rate = weight * pattern.rate(source);
            total_rate += rate;
            pattern.for_each_share(source, |destination, share| {
                each((source, destination), rate * share, &forward, message_flits);
                each((destination, source), rate * share, &backward, message_flits);
            });
        }
    }
    total_rate
}

/// The flits of packets, given by their numbers and sizes.
pub(super) fn flits(packets: &[(f64, u32)]) -> f64 {
    packets.iter().map(|p| p.0 * f64::from(p.1)).sum()
}

/// Whether the forecast looks at all pairs, and so knows the bound.
pub fn looks_at_all_pairs(streams: &[Stream<'_>]) -> bool {
    streams.iter().map(Stream::pairs).sum::<u64>() <= MAX_PAIRS
}

/// How many packets of how many flits a message has in the mean.
fn packets(parameters: &Parameters, sizes: &MessageSizes) -> Vec<(f64, u32)> {
    let (mut full, mut rests) = (0.0, BTreeMap::new());
    sizes.for_each(|bytes, share| {
        let (packets, rest) = parameters.packets(bytes);
        full += share * packets as f64;
        if let Some(rest) = rest {
            *rests.entry(parameters.packet_flits(rest)).or_insert(0.0) += share;
        }
    });
    let full = (full > 0.0).then(|| (full, parameters.maximum_packet()));
    let rests = rests.into_iter().map(|(flits, packets)| (packets, flits));
    full.into_iter().chain(rests).collect()
}

/// By class of cables: the capacity of a channel, in flits a flit time of one of `link.rate`.
pub(super) fn rates(fabric: &Fabric, parameters: &Parameters) -> Vec<f64> {
    let link = parameters.link_flit_time().0 as f64;
    let rate = |&class| link / parameters.flit_time_of(class).0 as f64;
    fabric.cable_classes().iter().map(rate).collect()
}

/// The place and the value of the largest load; 0 and 0 if all are 0.
fn largest(loads: impl Iterator<Item = f64>) -> (u32, f64) {
    (0..).zip(loads).fold(
        (0, 0.0),
        |best, (place, load)| {
            if load > best.1 { (place, load) } else { best }
        },
    )
}

/// The loads of the fullest terminals' injection and ejection channels, in flits a flit time of a
/// network channel and relative to what these carry. By terminal: what it sends, and what it gets.
pub(super) fn fullest_terminals(
    fabric: &Fabric,
    parameters: &Parameters,
    [injected, ejected]: [&[f64]; 2],
) -> [f64; 2] {
    let link = parameters.link_flit_time().0 as f64;
    let classes = fabric.cable_classes();
    let fullest = |loads: &[f64], channels: u32, flit_times: Vec<Picoseconds>| {
        let carries = |time: Picoseconds| f64::from(channels) * link / time.0 as f64;
        let carries: Vec<f64> = flit_times.into_iter().map(carries).collect();
        let of = |terminal| carries[usize::from(fabric.terminal_class(terminal))];
        largest((0..).zip(loads).map(|(terminal, &load)| load / of(terminal))).1
    };
    let injections = classes.iter().map(|&it| parameters.injection_flit_time_of(it)).collect();
    let ejections = classes.iter().map(|&it| parameters.ejection_flit_time_of(it)).collect();
    [
        fullest(injected, parameters.injection_channels, injections),
        fullest(ejected, parameters.ejection_channels, ejections),
    ]
}

struct Flows<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    empty: EmptyNetwork,
    channels: Vec<f64>,
    injected: Vec<f64>,
    ejected: Vec<f64>,
    packets: f64,
    hops: f64,
    latency: f64,
    hops_maximum: u32,
    latency_maximum: Picoseconds,
    /// The channels of the ways between the pair at hand, way by way; and of each way the end among
    /// them, and the share of the packets.
    steps: Vec<Channel>,
    ways: Vec<(usize, f64)>,
}

impl<'a> Flows<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes, parameters: &'a Parameters) -> Self {
        Self {
            fabric,
            routes,
            parameters,
            empty: EmptyNetwork::new(parameters, fabric.cable_classes()),
            channels: vec![0.0; fabric.channel_slots() as usize],
            injected: vec![0.0; fabric.terminals() as usize],
            ejected: vec![0.0; fabric.terminals() as usize],
            packets: 0.0,
            hops: 0.0,
            latency: 0.0,
            hops_maximum: 0,
            latency_maximum: Picoseconds::ZERO,
            steps: Vec::new(),
            ways: Vec::new(),
        }
    }

    /// Adds `rate` messages, of which these packets go from one terminal to another, in units in
    /// which a message has `message_flits` flits.
    fn add(
        &mut self,
        (source, destination): (u32, u32),
        rate: f64,
        packets: &[(f64, u32)],
        message_flits: f64,
    ) {
        let (steps, ways) = (&mut self.steps, &mut self.ways);
        steps.clear();
        ways.clear();
        let mut end = 0;
        self.routes.for_each_way(self.fabric, source, destination, steps, |way, share| {
            end += way.len();
            ways.push((end, share));
        });
        let mut hops = 0.0;
        let mut first = 0;
        for &(end, share) in &self.ways {
            let length: u32 = narrow(end - first);
            self.hops_maximum = self.hops_maximum.max(length);
            hops += share * f64::from(length);
            first = end;
        }
        if self.are_alike() {
            hops = self.ways[0].0 as f64;
        }
        let mut load = 0.0;
        for &(count, flits) in packets {
            let (mean, maximum) = self.latencies(source, destination, flits);
            self.latency_maximum = self.latency_maximum.max(maximum);
            self.latency += rate * count * mean;
            self.hops += rate * count * hops;
            self.packets += rate * count;
            load += rate * count * f64::from(flits) / message_flits;
        }
        self.injected[source as usize] += load;
        self.ejected[destination as usize] += load;
        let mut first = 0;
        for &(end, share) in &self.ways {
            for &channel in &self.steps[first..end] {
                self.channels[channel as usize] += load * share;
            }
            first = end;
        }
    }

    /// Whether all ways have as many hops.
    fn are_alike(&self) -> bool {
        let length = self.ways[0].0;
        (1..).zip(&self.ways).all(|(number, &(end, _))| end == number * length)
    }

    /// Returns a packet's latency without load on the current ways: the mean, and the longest.
    fn latencies(&self, source: u32, destination: u32, flits: u32) -> (f64, Picoseconds) {
        let ends = [source, destination].map(|terminal| self.fabric.terminal_class(terminal));
        let latency = |steps: &[Channel]| {
            let classes = steps.iter().map(|&channel| self.fabric.cable_class(channel));
            self.empty.latency(ends, classes, flits)
        };
        // Where cables are alike, ways of as many hops take as long.
        if self.are_alike() && (self.steps.is_empty() || self.fabric.cable_classes().len() == 1) {
            let latency = latency(&self.steps[..self.ways[0].0]);
            return (latency.0 as f64, latency);
        }
        let (mut mean, mut maximum, mut first) = (0.0, Picoseconds::ZERO, 0);
        for &(end, share) in &self.ways {
            let latency = latency(&self.steps[first..end]);
            mean += share * latency.0 as f64;
            maximum = maximum.max(latency);
            first = end;
        }
        (mean, maximum)
    }

    fn forecast(self, without_load: Option<Sums>, mean_rate: f64, complete: bool) -> Forecast {
        let (fabric, parameters) = (self.fabric, self.parameters);
        let rates = rates(fabric, parameters);
        let rate = |channel| rates[usize::from(fabric.cable_class(channel))];
        let network = if is_adaptive(self.routes) {
            self.evenly_loaded(&rates)
        } else {
            let loads = (0..).zip(&self.channels).map(|(channel, &load)| load / rate(channel));
            let (channel, load) = largest(loads);
            // A fabric of one router has no channel between routers.
            let name = || format!("channel {}", fabric.channel_name(channel));
            (if load > 0.0 { name() } else { String::new() }, load)
        };
        let [injection, ejection] =
            fullest_terminals(fabric, parameters, [&self.injected, &self.ejected]);
        let injection = ("the injection channels".into(), injection);
        let ejection = ("the ejection channels".into(), ejection);
        let (name, load) = [network, injection, ejection]
            .into_iter()
            .reduce(|most, next| if next.1 > most.1 { next } else { most })
            .expect("three");
        let bottleneck = Bottleneck { name, load: load / mean_rate };
        let bottleneck = (complete && load > 0.0).then_some(bottleneck);
        let packets = self.packets.max(f64::MIN_POSITIVE);
        let by_pairs = Sums {
            hops_mean: self.hops / packets,
            hops_maximum: self.hops_maximum,
            latency_mean: self.latency / packets,
            latency_maximum: self.latency_maximum,
            longer_ways: LongerWays::No,
        };
        let sums = match without_load {
            // Sums in another order differ by their rounding.
            Some(sums) if sums.is_close_to(&by_pairs) => {
                Sums { hops_mean: by_pairs.hops_mean, latency_mean: by_pairs.latency_mean, ..sums }
            }
            Some(sums) => sums,
            None => by_pairs,
        };
        Forecast {
            hops_mean: sums.hops_mean,
            hops_maximum: sums.hops_maximum,
            longer_ways: sums.longer_ways,
            zero_load_mean: sums.latency_mean,
            zero_load_maximum: sums.latency_maximum,
            bottleneck,
        }
    }

    /// The load of channels if packets choose their ways so that all are equally full.
    fn evenly_loaded(&self, rates: &[f64]) -> (String, f64) {
        let fabric = self.fabric;
        let classes = fabric.cable_classes();
        let by_class = fabric.torus().is_some() && classes.len() > 1;
        let groups = if by_class { classes.len() } else { 1 };
        let (mut loads, mut carry) = (vec![0.0; groups], vec![0.0; groups]);
        for channel in (0..fabric.channel_slots()).filter(|&it| fabric.target(it).is_some()) {
            let class = usize::from(fabric.cable_class(channel));
            let group = if by_class { class } else { 0 };
            loads[group] += self.channels[channel as usize];
            carry[group] += rates[class];
        }
        let load =
            |group: usize| if carry[group] > 0.0 { loads[group] / carry[group] } else { 0.0 };
        let fullest = (0..groups).max_by(|&one, &other| load(one).total_cmp(&load(other)));
        let fullest = fullest.expect("a class at least");
        let name = if by_class {
            let rate = rate_text(self.parameters.rate_of(classes[fullest]));
            format!("all channels of {rate}, evenly loaded")
        } else {
            "all channels, evenly loaded".into()
        };
        (name, load(fullest))
    }
}
