//! Channels and routers that fail, and the new tables (docs/model.md, "Failures during operation").

use std::collections::BTreeSet;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Digest, Log, Parameters};
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_workload::traffic::Message;

use crate::engine::{channel::ChannelKind, classes, terminal::Entry};
use crate::failure::{Effects, Failure, Failures, Losses, made};

use super::Simulator;

/// Like [`run`](super::run), and some things fail, in the order of time.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    failures: &[Failure],
) -> (Log, Digest, Losses) {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages, None);
    simulator.failures = Failures::new(failures);
    for failure in made(failures) {
        let later = classes::set_size(parameters, &failure.routes);
        simulator.terminals.set_size = simulator.terminals.set_size.max(later);
    }
    simulator.due.extend(failures.iter().flat_map(|failure| [failure.at, failure.ready]));
    simulator.go_through_all(false);
    assert_eq!(simulator.terminals.undelivered, 0, "no table deadlocks");
    simulator.check_idle();
    (simulator.terminals.log, simulator.digest, simulator.losses)
}

impl<'a> Simulator<'a> {
    /// Goes on with what fails, after all else that happens now.
    pub fn go_on_with_failures(&mut self, now: Picoseconds) {
        if let Some((failure, before)) = self.failures.happens(now) {
            self.fail(failure, before.map_or(self.fabric, |before| &before.left));
            self.due.insert(now + Picoseconds(1));
        }
        self.paused = self.failures.pause(now);
        while self.failures.looks(now) {
            if self.packets_under_way() > 0 {
                let again = self.failures.look_later(now);
                self.due.insert(again);
                return;
            }
            let failure = self.failures.change();
            self.change_routes(failure, now);
            // Others may be ready already.
            self.paused = self.failures.pause(now);
        }
    }

    /// Sources and routers go by the routes made after a failure.
    fn change_routes(&mut self, failure: &'a Failure, now: Picoseconds) {
        self.losses.resume(self.failures.known(), now);
        self.routes = &failure.routes;
        self.drop_waiting(|_, destination| failure.takes(destination));
        self.terminals.change_routes(&failure.left, self.routes);
        for queue in self.adapters.iter().flatten().flat_map(|it| &it.queues) {
            for &packet in &queue.waiting {
                self.terminals.renew(&mut self.packets[packet], self.routes);
            }
        }
        for router in 0..self.routers.len() {
            for output in &self.routers[router].outputs {
                if let Some(port) = output.name.port() {
                    let slot = self.fabric.outputs(router as u32).start + u32::from(port);
                    self.channels[output.channel].ring = failure.left.ring(slot);
                }
            }
        }
        self.due.insert(now + Picoseconds(1));
    }

    /// Packets of which a flit has been sent and that have neither been delivered nor lost.
    fn packets_under_way(&self) -> u64 {
        let begun: u64 = self.terminals.begun.iter().map(|&begun| u64::from(begun)).sum();
        begun - self.terminals.log.packets.len() as u64 - self.losses.packets
    }

    /// Something fails of what was left `before`.
    fn fail(&mut self, failure: &Failure, before: &Fabric) {
        let under_way = self.packets_under_way();
        self.losses.by_failure.push(Effects { under_way, ..Effects::default() });
        let dead: BTreeSet<usize> = (0..self.fabric.terminals())
            .filter(|&terminal| failure.takes(terminal))
            .filter_map(|terminal| before.terminal_router(terminal))
            .map(|router| router as usize)
            .collect();
        self.lose_what_is_in(&dead);
        let mut number = 0;
        for router in 0..self.routers.len() {
            for slot in self.fabric.outputs(router as u32) {
                let channel = self.channels.iter().position(|it| it.number == number);
                number += 1;
                let fails = before.target(slot) != failure.left.target(slot);
                if let Some(channel) = channel.filter(|_| fails) {
                    self.fail_channel(router, channel);
                }
            }
            let ejections = self.routers[router].outputs.iter();
            let ejections = ejections
                .filter(|output| self.channels[output.channel].kind == ChannelKind::Ejection);
            number += ejections.count() as u32;
        }
        self.drop_waiting(|source, _| failure.takes(source));
    }

    /// Packets with flits on a channel, or whose headers have been sent on it, are cut; others that
    /// would be sent on it are swallowed.
    fn fail_channel(&mut self, router: usize, channel: usize) {
        self.channels[channel].failed = true;
        for place in 0..self.channels[channel].flits.len() {
            let packet = self.channels[channel].flits[place].content.packet;
            self.lost.insert(packet);
        }
        let queues = self.routers[router].inputs.iter().flat_map(|input| &input.queues);
        let outputs = &self.routers[router].outputs;
        let ways: Vec<(usize, bool)> = queues
            .filter_map(|queue| {
                let way = queue.way.filter(|way| outputs[way.output].channel == channel)?;
                Some((way.packet, queue.flits.front().is_some_and(|(_, flit)| flit.index == 0)))
            })
            .collect();
        for (packet, waits) in ways {
            if waits {
                self.swallow(packet, channel);
            } else {
                self.lost.insert(packet);
            }
        }
    }

    /// A packet is sent on a channel that has failed.
    pub fn swallow(&mut self, packet: usize, channel: usize) {
        self.lost.insert(packet);
        self.swallowed.insert(packet, channel);
    }

    /// Loses packets that are in some routers, or on their way between these and their terminals.
    fn lose_what_is_in(&mut self, routers: &BTreeSet<usize>) {
        let mut lost = Vec::new();
        for &router in routers {
            let router = &self.routers[router];
            for input in &router.inputs {
                for queue in &input.queues {
                    lost.extend(queue.way.map(|way| way.packet));
                    lost.extend(queue.flits.iter().map(|(_, flit)| flit.packet));
                }
            }
            let inputs = router.inputs.iter().map(|input| input.channel);
            let outputs = router.outputs.iter().map(|output| output.channel);
            for channel in inputs.chain(outputs).map(|channel| &self.channels[channel]) {
                if channel.kind != ChannelKind::Network {
                    lost.extend(channel.flits.iter().map(|flit| flit.content.packet));
                }
            }
        }
        self.lost.extend(lost);
    }

    /// Drops packets that wait in source queues, by their sources and destinations.
    fn drop_waiting(&mut self, drops: impl Fn(u32, u32) -> bool) {
        for queue in self.adapters.iter_mut().flatten().flat_map(|it| &mut it.queues) {
            queue.waiting.retain(|&number| {
                let packet = &self.packets[number];
                let drop = drops(packet.source, packet.destination);
                if drop {
                    self.lost.insert(number);
                    self.terminals.settle(packet.transfer);
                    self.losses.end(packet.transfer);
                }
                !drop
            });
        }
    }

    /// The last flit of a packet that is lost has come to a sink, or to the end of the channel that
    /// swallows it.
    pub fn lose(&mut self, packet: usize) {
        let transfer = self.packets[packet].transfer;
        self.losses.packet(transfer);
        if self.terminals.settle(transfer) {
            self.losses.end(transfer);
        }
    }

    /// Whether what enters its queue now is a message that is lost.
    pub fn is_cut_off(&self, entry: Entry, now: Picoseconds) -> bool {
        let message = self.terminals.transfers[entry.transfer].message;
        let ends = (message.source, message.destination);
        entry.response_on.is_none() && self.failures.cut_off(ends, now)
    }
}
