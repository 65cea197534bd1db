//! The plain reference engine: docs/model.md, one flit and one picosecond at a time.
//!
//! It is the second, independent implementation of that page and exists to hold the fast engine to
//! it. It shares nothing with the fast engine but plain data types. Each flit is an object that
//! sits in a queue or on a wire, each return of credits is a message on its way, and no time is
//! computed ahead of what makes it happen; where that costs speed, it costs speed.
//!
//! A tick takes in what arrives (flits, credits, releases, messages), then grants, then starts
//! flits. Flits and credits need at least a picosecond, so the places of the network can't see what
//! the others do in the same tick, and their order within a phase doesn't matter. Granting twice in
//! a row grants nothing the second time, because grants only take: so it does no harm to try at
//! every tick, and it loses nothing to leave out the ticks at which nothing is due.

mod collective;
mod conservation;
mod expiry;
mod failures;
mod injection;
mod link;
mod network;
mod router;

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Log, Parameters};
use flitlab_fabric::Fabric;
use flitlab_model::workload::{CollectiveSpec, Message};
use flitlab_routing::Routes;

use crate::shared::{
    adapter::{self, InjectionQueues},
    channel::{ChannelKind, Moving, arrived},
    links::Counts,
    network::Place,
    packet::Packet,
    simulation::{Routers, Simulation},
};

pub use crate::shared::simulation::Deadlock;
use collective::Unit;
use network::{Channel, Flit, Source};
use router::Output;

/// Sends all messages, and runs until everything has been delivered and all credits are back.
///
/// # Errors
/// If the network deadlocks.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<Log, Deadlock> {
    simulator(fabric, routes, parameters, messages, None).run(false).log()
}

/// A simulation of messages, and of collective operations beside them if there are any.
pub fn simulator<'a>(
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    messages: &[Message],
    collective: Option<&CollectiveSpec>,
) -> Simulator<'a> {
    let network = network::network(fabric, parameters);
    let pointers = vec![0; network.routers.len()];
    let own = PacketRouters { pointers, decided_by: Vec::new() };
    Simulation::new((fabric, routes, parameters), messages, collective, network, own)
}

type Simulator<'a> = Simulation<'a, PacketRouters>;

/// Routers that grant channels to whole packets.
pub struct PacketRouters {
    /// By router: the output that is looked at first.
    pointers: Vec<usize>,
    /// The credits by which packets decided again last, by channel, then virtual channel.
    decided_by: Vec<Vec<u32>>,
}

impl Routers for PacketRouters {
    type Channel = Channel;
    type Input = usize;
    type Output = Output;
    type Injection = InjectionQueues;
    type Unit = Unit;

    fn simulate(simulation: &mut Simulator<'_>, now: Picoseconds) {
        simulation.tick(now);
    }

    fn check_conservation(simulation: &Simulator<'_>, _: Picoseconds) {
        simulation.check_conservation();
    }

    fn check_empty(simulation: &Simulator<'_>) {
        simulation.check_empty();
    }

    fn source_queue<'q>(
        simulation: &'q mut Simulator<'_>,
        packet: &Packet,
        on_tree: Option<usize>,
    ) -> &'q mut VecDeque<usize> {
        adapter::source_queue(simulation, packet, on_tree)
    }

    fn source_queues(queues: &mut InjectionQueues) -> impl Iterator<Item = &mut VecDeque<usize>> {
        queues.waiting.iter_mut()
    }

    fn credits(channel: &Channel) -> &[u32] {
        &channel.credits
    }

    fn counts(channel: &Channel) -> Option<(Counts, &[u64])> {
        channel.link.as_ref().map(|link| (link.counts, &*link.flits))
    }

    fn has_failed(channel: &Channel) -> bool {
        channel.failed
    }

    fn lose_router(simulation: &mut Simulator<'_>, router: usize) {
        simulation.lose_what_is_in(router);
    }

    fn fail_channel(simulation: &mut Simulator<'_>, _: usize, channel: usize) {
        let cut = simulation.on_channel(channel);
        simulation.lost.extend(cut);
        simulation.channels[channel].failed = true;
    }

    fn set_ring(channel: &mut Channel, ring: Option<u32>) {
        channel.ring = ring;
    }
}

impl Simulator<'_> {
    fn tick(&mut self, now: Picoseconds) {
        self.receive_flits(now);
        self.terminals.perform_atomics(now);
        self.receive_credits(now);
        self.release(now);
        self.receive_verdicts(now);
        self.discard_bad_copies(now);
        self.enter_messages(now);
        self.begin_operations(now);
        self.combine(now);
        self.grant_injection(now);
        self.send_acknowledgements(now);
        self.send_again(now);
        self.start_all_held(now);
        self.drop_expired(now);
        self.look_at_credits(now);
        for router in 0..self.routers.len() {
            self.grant_outputs(router, now);
        }
        self.look_again(now);
        self.start_flits(now);
    }

    /// Puts the flits that are there now, whole, into the buffer or the sink at the channel's end.
    fn receive_flits(&mut self, now: Picoseconds) {
        for channel in 0..self.channels.len() {
            while let Some(flit) = arrived(&mut self.channels[channel].flits, now) {
                if self.channels[channel].ends_in_sink() || self.swallows(channel, flit.packet) {
                    self.sink(flit, now);
                } else if self.channels[channel].link.is_some() {
                    self.take_in(channel, flit, now);
                } else {
                    let buffer = &mut self.channels[channel].buffers[flit.virtual_channel];
                    buffer.flits.push_back((now, flit));
                    self.due.insert(now + self.parameters.routing_latency);
                }
            }
        }
    }

    fn receive_credits(&mut self, now: Picoseconds) {
        for channel in &mut self.channels {
            while let Some(message) = arrived(&mut channel.returning, now) {
                channel.credits[message.virtual_channel] += message.flits;
            }
        }
    }

    /// Frees the channels whose last flit has been sent in full, and the space that the packet had
    /// in the buffer it came from.
    fn release(&mut self, now: Picoseconds) {
        for output in 0..self.channels.len() {
            let channel = &mut self.channels[output];
            let Some(sending) = &channel.sending else { continue };
            let flits = self.packets[sending.packet].flits;
            if sending.started < flits || now < sending.latest_start + channel.flit_time {
                continue;
            }
            assert_eq!(now, sending.latest_start + channel.flit_time);
            let (from, number, packet) = (sending.from, sending.number, sending.packet);
            let out_vc = sending.out_vc;
            channel.sending = None;
            if let Some(link) = &mut channel.link {
                self.due.extend(link.sender.sent(number, now));
            }
            match from {
                Source::Buffer(Place { channel, virtual_channel }) => {
                    let buffer = &mut self.channels[channel].buffers[virtual_channel];
                    assert_eq!(buffer.departed, flits);
                    buffer.departed = 0;
                    buffer.is_sending = false;
                    let last = buffer.latest.expect("it has departed");
                    self.return_room(channel, last, now);
                }
                Source::Tree { router, .. } => self.copy_left(router, out_vc, now),
                Source::Whole if self.channels[output].kind != ChannelKind::Injection => {}
                Source::Whole if self.packets[packet].operation.is_some() => {
                    self.operand_left(packet, now);
                }
                Source::Whole => self.terminals.let_go(&self.packets[packet]),
            }
        }
    }

    /// Starts the next flit of each packet that is being sent, if its channel is free of the flit
    /// before and the flit is here.
    fn start_flits(&mut self, now: Picoseconds) {
        for output in 0..self.channels.len() {
            let channel = &self.channels[output];
            let Some(sending) = &channel.sending else { continue };
            let mut flit = Flit {
                packet: sending.packet,
                index: sending.started,
                virtual_channel: sending.out_vc,
                number: sending.number,
                void_from: sending.void_from,
                is_damaged: false,
                is_bad_copy: false,
                is_bad_here: false,
            };
            let is_first = sending.started == 0;
            if sending.started == self.packets[flit.packet].flits
                || !is_first && now < sending.latest_start + channel.flit_time
            {
                continue;
            }
            if let Source::Tree { router, packet, origin } = sending.from
                && !self.is_there(router, (packet, origin), flit.index, now)
            {
                assert!(!is_first, "a packet asks for an output when its header is there");
                continue;
            }
            if let Source::Buffer(Place { channel, virtual_channel }) = sending.from {
                let buffer = &mut self.channels[channel].buffers[virtual_channel];
                let is_there = |&(_, front): &(Picoseconds, Flit)| {
                    (front.packet, front.index) == (flit.packet, flit.index)
                };
                if !buffer.flits.front().is_some_and(is_there) {
                    assert!(!is_first, "a packet is granted an output when its header is there");
                    continue;
                }
                buffer.latest = buffer.flits.pop_front().map(|(_, flit)| flit);
                buffer.departed += 1;
                flit.is_bad_copy = buffer.latest.is_some_and(|flit| flit.is_bad_copy);
            }
            let channel = &mut self.channels[output];
            let sending = channel.sending.as_mut().expect("checked above");
            sending.started += 1;
            sending.latest_start = now;
            if let Some(link) = &mut channel.link {
                link.flits[flit.virtual_channel] += 1;
                flit.is_damaged = link.damage.send(8 * self.parameters.flit.0);
                if sending.started == self.packets[flit.packet].flits {
                    let until = now + channel.flit_time;
                    flit.is_damaged |= link.damage.has_burst(sending.began, until);
                }
                if flit.is_bad_copy {
                    link.sender.mark(flit.number);
                }
            }
            let arrives = now + channel.delay;
            channel.flits.push_back(Moving { arrives, content: flit });
            self.due.extend([now + channel.flit_time, arrives]);
        }
    }

    /// Takes a flit out of the network; the last one of a packet delivers it.
    fn sink(&mut self, flit: Flit, now: Picoseconds) {
        if flit.index + 1 == self.packets[flit.packet].flits && !flit.is_bad_copy {
            self.arrive(flit.packet, now);
        }
    }
}
