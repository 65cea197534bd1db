//! Gathers what is measured of a run, packet by packet.

use std::collections::HashMap;

use super::event::Femtoseconds;
use super::observer::{InjectedPacket, Observer};
use super::traffic::Numbers;
use super::{Parameters, RunTotals, Settings, SimulationError, growth, network};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{CompletedMessage, DeliveredPacket, Observer as _};
use flitlab_fabric::Torus;
use flitlab_measure::{Collector, Delivered, LogFilter, Logged, Phase, Progress};

/// The nearest whole picosecond.
pub fn picoseconds(time: Femtoseconds) -> Picoseconds {
    Picoseconds((time + 500) / 1000)
}

/// An instant at which all nodes created a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Creation {
    /// When it was.
    pub time: Femtoseconds,
    /// Packets under way just before.
    pub under_way: u64,
}

/// What was measured of a run that has come to its end.
#[derive(Debug)]
pub struct Measurement {
    /// Totals over all packets.
    pub totals: RunTotals,
    /// All packets and messages, with times in whole picoseconds.
    pub collector: Collector,
    /// The packets and messages that were asked for.
    pub logged: Logged,
    /// When messages were created.
    pub creations: Vec<Creation>,
    /// What was delivered from each creation of messages until the next one, or until the end.
    pub windows: Vec<Delivered>,
    /// Bytes of each source that were delivered from the end of the first quarter of the messages
    /// until the last ones were created.
    pub payload: Vec<u64>,
    /// By node, then by direction: packets and answers that the link has sent.
    pub sent: Vec<[u64; 2]>,
    message_packets: u32,
}

impl Measurement {
    /// By how much the packets under way [grow](super::simulate_with_growth); `None` of fewer than four
    /// messages.
    pub fn growth(&self) -> Option<f64> {
        let backlogs: Vec<u64> = self.creations.iter().map(|it| it.under_way).collect();
        let nodes = narrow(self.payload.len());
        (backlogs.len() >= 4).then(|| growth(&backlogs, nodes, self.message_packets))
    }

    /// Packets that each node created from the end of the first quarter of the messages until the
    /// last ones were created; 0 of a single message.
    pub fn created_of_each(&self) -> u64 {
        let messages = self.creations.len() - 1 - self.creations.len() / 4;
        messages as u64 * u64::from(self.message_packets)
    }

    /// Packets that were delivered meanwhile, over those that were created; `None` of a single
    /// message.
    pub fn accepted_share(&self) -> Option<f64> {
        let created = self.created_of_each() * self.payload.len() as u64;
        let [from, to] = [self.creations.len() / 4, self.creations.len() - 1]
            .map(|creation| self.creations[creation].under_way);
        (created > 0).then(|| (created + from - to) as f64 / created as f64)
    }
}

/// What a measurement is to keep beside its sums.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// Whether it is followed in which order packets come.
    pub order: bool,
    /// The packets and messages that are logged.
    pub log: Option<LogFilter>,
}

/// Simulates and measures. `progress` is told of each creation of messages.
///
/// # Errors
/// As [`simulate`](super::simulate).
pub fn measure(
    torus: &Torus,
    parameters: &Parameters,
    settings: &Settings,
    keep: Keep,
    progress: &mut dyn FnMut(Progress),
) -> Result<Measurement, SimulationError> {
    let mut recorder = Recorder::new(torus, parameters, keep, progress);
    let totals = network(torus, parameters, settings, &mut recorder)?.run(u128::MAX)?;
    let last = recorder.collector.end_window();
    recorder.windows.push(last);
    let logged = recorder.collector.logged();
    let Recorder { collector, creations, windows, payload: [_, payload], sent, .. } = recorder;
    Ok(Measurement {
        totals: totals.expect("no run exceeds the highest limit"),
        collector,
        logged,
        creations,
        windows,
        payload,
        sent,
        message_packets: parameters.message_packets,
    })
}

/// Simulates for as long as it is said to go on, and counts the packets that arrive in that time.
///
/// # Errors
/// As [`simulate`](super::simulate).
pub fn rehearse(
    torus: &Torus,
    parameters: &Parameters,
    settings: &Settings,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<u64, SimulationError> {
    let mut rehearsal = Rehearsal { goes_on, delivered: 0 };
    network(torus, parameters, settings, &mut rehearsal)?.run(u128::MAX)?;
    Ok(rehearsal.delivered)
}

struct Rehearsal<'g> {
    goes_on: &'g mut dyn FnMut() -> bool,
    delivered: u64,
}

impl Observer for Rehearsal<'_> {
    fn delivered(&mut self, _: u32, _: Femtoseconds, _: Femtoseconds) {
        self.delivered += 1;
    }

    fn goes_on(&mut self) -> bool {
        (self.goes_on)()
    }
}

struct Recorder<'r> {
    nodes: usize,
    directions: u32,
    parameters: &'r Parameters,
    numbers: Numbers,
    collector: Collector,
    /// By number: packets that are in the network.
    injected: HashMap<u32, InjectedPacket>,
    /// By message, then by node: packets that have arrived.
    arrived: Vec<u32>,
    creations: Vec<Creation>,
    windows: Vec<Delivered>,
    /// Bytes of each source that had been delivered at the end of the first quarter of the
    /// messages, and those from then on until the last ones were created.
    payload: [Vec<u64>; 2],
    sent: Vec<[u64; 2]>,
    progress: &'r mut dyn FnMut(Progress),
}

impl<'r> Recorder<'r> {
    fn new(
        torus: &Torus,
        parameters: &'r Parameters,
        keep: Keep,
        progress: &'r mut dyn FnMut(Progress),
    ) -> Self {
        let nodes = torus.nodes() as usize;
        let mut collector = Collector::new(torus.nodes());
        if keep.order {
            collector = collector.following_order();
        }
        if let Some(filter) = keep.log {
            collector = collector.logging(filter);
        }
        collector.start(0);
        Self {
            nodes,
            directions: torus.directions(),
            parameters,
            numbers: Numbers::new(torus.nodes(), parameters.message_packets),
            collector,
            injected: HashMap::new(),
            arrived: vec![0; nodes * parameters.messages as usize],
            creations: Vec::new(),
            windows: Vec::new(),
            payload: [vec![0; nodes], vec![0; nodes]],
            sent: vec![[0; 2]; nodes * torus.directions() as usize],
            progress,
        }
    }
}

impl Observer for Recorder<'_> {
    fn created(&mut self, now: Femtoseconds, under_way: u64) {
        if !self.creations.is_empty() {
            self.windows.push(self.collector.end_window());
        }
        let (done, messages) = (self.creations.len(), self.parameters.messages);
        let delivered = &self.collector.payload_by_source;
        let [before, meanwhile] = &mut self.payload;
        if done == messages as usize / 4 {
            before.clone_from(delivered);
        }
        if done + 1 == messages as usize {
            let since = delivered.iter().zip(before).map(|(now, before)| now - *before);
            *meanwhile = since.collect();
        }
        self.creations.push(Creation { time: now, under_way });
        (self.progress)(Progress {
            phase: Phase::Measuring,
            time: picoseconds(now),
            done: narrow(done),
            most: messages,
        });
    }

    fn injected(&mut self, packet: InjectedPacket) {
        self.injected.insert(packet.number, packet);
    }

    fn sent(&mut self, node: u32, direction: u32, is_packet: bool) {
        let link = (node * self.directions + direction) as usize;
        self.sent[link][usize::from(!is_packet)] += 1;
    }

    fn delivered(&mut self, number: u32, created: Femtoseconds, now: Femtoseconds) {
        let packet = self.injected.remove(&number).expect("it was injected");
        let InjectedPacket { destination, hops, detour: misroute, .. } = packet;
        let source = self.numbers.node(number);
        let (created, delivered) = (picoseconds(created), picoseconds(now));
        let payload = self.parameters.packet.0;
        self.collector.packet_delivered(&DeliveredPacket {
            source,
            destination,
            sequence: self.numbers.sequence(number),
            injection_channel: 0,
            virtual_channel: 0,
            flits: 1,
            payload: narrow(payload),
            hops,
            class: 0,
            misroute,
            created,
            injected: picoseconds(packet.time),
            delivered,
        });
        let message = self.numbers.message(number) as usize;
        let arrived = &mut self.arrived[message * self.nodes + source as usize];
        *arrived += 1;
        if *arrived == self.parameters.message_packets {
            self.collector.message_completed(&CompletedMessage {
                source,
                destination,
                bytes: payload * u64::from(self.parameters.message_packets),
                class: 0,
                is_control: false,
                created,
                completed: delivered,
            });
        }
    }
}
