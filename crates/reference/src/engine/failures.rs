//! Channels and routers that fail where links are granted to whole packets, and the new routes
//! (docs/model.md, "Failures during operation"). Links that err are left out.

use std::collections::BTreeSet;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Log, Parameters};
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_workload::traffic::Message;

use crate::failure::{Effects, Failure, Failures, Losses, made};

use super::{Simulator, channel::ChannelKind, classes, terminal::Entry};

/// Like [`run`](super::run), and some things fail, in the order of time.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    failures: &[Failure],
) -> (Log, Losses) {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages);
    simulator.failures = Failures::new(failures);
    for failure in made(failures) {
        let later = classes::set_size(parameters, &failure.routes);
        simulator.terminals.set_size = simulator.terminals.set_size.max(later);
    }
    simulator.due.extend(failures.iter().flat_map(|failure| [failure.at, failure.ready]));
    simulator.go_through_all(false);
    assert_eq!(simulator.terminals.undelivered, 0, "no routes deadlock");
    simulator.check_empty();
    (simulator.terminals.log, simulator.losses)
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
        self.due.insert(now + Picoseconds(1));
        self.routes = &failure.routes;
        self.drop_waiting(|_, destination| failure.takes(destination));
        self.terminals.change_routes(&failure.left, self.routes);
        for queue in self.adapters.iter().flatten().flat_map(|it| &it.waiting) {
            for &packet in queue {
                self.terminals.renew(&mut self.packets[packet], self.routes);
            }
        }
        for (router, port, channel) in self.ports() {
            let slot = self.fabric.outputs(router).start + u32::from(port);
            self.channels[channel].ring = failure.left.ring(slot);
        }
    }

    /// Packets that have been injected and have neither been delivered nor lost.
    fn packets_under_way(&self) -> u64 {
        let begun: u64 = self.terminals.begun.iter().map(|&begun| u64::from(begun)).sum();
        begun - self.terminals.log.packets.len() as u64 - self.losses.packets
    }

    /// The ports of all routers that have a channel, and the channel.
    fn ports(&self) -> Vec<(u32, u16, usize)> {
        let all = (0u32..).zip(&self.routers).flat_map(|(router, it)| {
            let ports = it.outputs.iter();
            ports.filter_map(move |it| Some((router, it.name.port()?, it.channel)))
        });
        all.collect()
    }

    /// Something fails of what was left `before`.
    fn fail(&mut self, failure: &Failure, before: &Fabric) {
        let under_way = self.packets_under_way();
        self.losses.by_failure.push(Effects { under_way, ..Effects::default() });
        let terminals = 0..self.fabric.terminals();
        let routers: BTreeSet<u32> = terminals
            .filter(|&terminal| failure.takes(terminal))
            .filter_map(|terminal| before.terminal_router(terminal))
            .collect();
        for router in routers {
            let router = &self.routers[router as usize];
            let mut lost: Vec<usize> = Vec::new();
            for &input in &router.inputs {
                let buffers = self.channels[input].buffers.iter();
                lost.extend(buffers.flat_map(|it| &it.flits).map(|(_, flit)| flit.packet));
                if self.channels[input].kind == ChannelKind::Injection {
                    lost.extend(self.on_channel(input));
                }
            }
            for output in router.outputs.iter().filter(|it| it.name.port().is_none()) {
                lost.extend(self.on_channel(output.channel));
            }
            self.lost.extend(lost);
        }
        for (router, port, channel) in self.ports() {
            let slot = self.fabric.outputs(router).start + u32::from(port);
            if before.target(slot) != failure.left.target(slot) {
                let cut = self.on_channel(channel);
                self.lost.extend(cut);
                self.channels[channel].failed = true;
            }
        }
        self.drop_waiting(|source, _| failure.takes(source));
    }

    /// The packets that have been given a channel and are not whole at its end.
    fn on_channel(&self, channel: usize) -> Vec<usize> {
        let channel = &self.channels[channel];
        let sending = channel.sending.iter();
        let sending = sending.filter(|it| it.started < self.packets[it.packet].flits);
        let flits = channel.flits.iter().map(|flit| flit.content.packet);
        sending.map(|it| it.packet).chain(flits).collect()
    }

    /// Whether a channel swallows a packet.
    pub fn swallows(&self, channel: usize, packet: usize) -> bool {
        self.swallowed.get(&packet) == Some(&channel)
    }

    /// Drops packets that wait in source queues, by their sources and destinations.
    fn drop_waiting(&mut self, drops: impl Fn(u32, u32) -> bool) {
        for queue in self.adapters.iter_mut().flatten().flat_map(|it| &mut it.waiting) {
            queue.retain(|&number| {
                let packet = &self.packets[number];
                let drop = drops(packet.source, packet.destination);
                if drop {
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
        self.failures.cut_off((message.source, message.destination), now)
    }
}
