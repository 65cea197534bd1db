//! Channels and routers that fail, and the new routes (docs/model.md, "Failures during operation").

use std::collections::BTreeSet;

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;

use super::{
    classes,
    failure::{Effects, Failure, Failures, made},
    network::HasOutlet,
    simulation::{Ended, Routers, Simulation},
    terminal::Entry,
};

impl<'a, R: Routers> Simulation<'a, R> {
    /// Runs while some things fail, in the order of time. No routes must deadlock.
    pub fn run_with(mut self, failures: &'a [Failure]) -> Ended<R> {
        self.failures = Failures::new(failures);
        for failure in made(failures) {
            let later = classes::set_size(self.parameters, &failure.routes);
            self.terminals.set_size = self.terminals.set_size.max(later);
        }
        self.due.extend(failures.iter().flat_map(|failure| [failure.at, failure.ready]));
        let ended = self.run(false);
        assert_eq!(ended.stuck, None, "no routes deadlock");
        ended
    }

    /// Goes on with what fails, after all else that happens now.
    pub(super) fn go_on_with_failures(&mut self, now: Picoseconds) {
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
        for queue in self.adapters.iter_mut().flatten().flat_map(R::source_queues) {
            for &packet in &*queue {
                self.terminals.renew(&mut self.packets[packet], self.routes);
            }
        }
        for (_, slot, channel) in self.ports() {
            R::set_ring(&mut self.channels[channel], failure.left.ring(slot));
        }
    }

    /// Packets that have been injected and have neither been delivered nor lost.
    fn packets_under_way(&self) -> u64 {
        let begun: u64 = self.terminals.begun.iter().map(|&begun| u64::from(begun)).sum();
        begun - self.terminals.log.packets.len() as u64 - self.losses.packets
    }

    /// The ports of all routers that have a channel: the router, and the channel by its number in
    /// the fabric and here.
    fn ports(&self) -> Vec<(usize, u32, usize)> {
        let all = self.routers.iter().enumerate().flat_map(|(router, it)| {
            let first = self.fabric.outputs(router as u32).start;
            let outlets = it.outputs.iter().map(HasOutlet::outlet);
            outlets.filter_map(move |it| {
                Some((router, first + u32::from(it.name.port()?), it.channel))
            })
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
        routers.into_iter().for_each(|router| R::lose_router(self, router as usize));
        for (router, slot, channel) in self.ports() {
            if before.target(slot) != failure.left.target(slot) {
                R::fail_channel(self, router, channel);
            }
        }
        self.drop_waiting(|source, _| failure.takes(source));
    }

    /// A packet is sent on a channel that has failed.
    pub fn swallow(&mut self, packet: usize, channel: usize) {
        self.lost.insert(packet);
        self.swallowed.insert(packet, channel);
    }

    /// Whether a channel swallows a packet.
    pub fn swallows(&self, channel: usize, packet: usize) -> bool {
        self.swallowed.get(&packet) == Some(&channel)
    }

    /// Drops packets that wait in source queues, by their sources and destinations.
    fn drop_waiting(&mut self, drops: impl Fn(u32, u32) -> bool) {
        for queue in self.adapters.iter_mut().flatten().flat_map(R::source_queues) {
            queue.retain(|&number| {
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
    /// swallows it, or it has been dropped.
    pub fn lose(&mut self, packet: usize) {
        self.lost.insert(packet);
        let transfer = self.packets[packet].transfer;
        self.losses.packet(transfer);
        if self.terminals.settle(transfer) {
            self.losses.end(transfer);
        }
    }

    /// Whether what enters its queue now is a message that is lost.
    pub(super) fn is_cut_off(&self, entry: Entry, now: Picoseconds) -> bool {
        let message = self.terminals.transfers[entry.transfer].message;
        self.failures.cut_off((message.source, message.destination), now)
    }
}
