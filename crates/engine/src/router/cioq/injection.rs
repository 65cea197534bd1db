//! Packets that terminals send through their injection channels, one at a time.

use super::CioqRouters;
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::host::Hosts;
use crate::host::source::{Injection, SourceQueue};
use crate::set::bits;
use flitlab_base::narrow::fitted;

impl CioqRouters {
    /// Sends the first packet that has room through an injection channel, if that is free. Returns
    /// the time at which the channel is served next.
    pub(super) fn inject_first(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal): (u32, u32),
        now: Tick,
    ) -> Tick {
        let injection = hosts.sources.injections[number as usize];
        if hosts.sources.paused || injection.waiting == 0 {
            return NEVER;
        }
        if injection.free_at > now {
            return injection.free_at;
        }
        let mut due = NEVER;
        let from_pointer = u16::MAX << injection.pointer;
        for waiting in [injection.waiting & from_pointer, injection.waiting & !from_pointer] {
            for vc in bits(waiting).map(|vc| fitted!(vc, u32)) {
                let SourceQueue { flits, .. } =
                    hosts.sources.queues[(number * self.rules.vcs + vc) as usize];
                let credits = &mut self.state.credits[(injection.room + vc) as usize];
                if !credits.has(flits.into(), now) {
                    due = due.min(credits.foresee(flits.into()));
                    continue;
                }
                credits.take(flits.into());
                hosts.end_wait(common, number, now);
                self.send_packet(common, hosts, (number, terminal), fitted!(vc, u8), now);
                let Injection { waiting, free_at, .. } = hosts.sources.injections[number as usize];
                return if waiting == 0 { NEVER } else { free_at };
            }
        }
        hosts.begin_wait(common, number, now);
        due
    }

    /// Sends the first packet of a source queue through a free injection channel.
    fn send_packet(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal): (u32, u32),
        vc: u8,
        now: Tick,
    ) {
        let new = hosts.next_packet_of(common, number, terminal, vc, now);
        let of_packet = (number, terminal, vc);
        let free_at = hosts.start_packet(common, self.ports.outputs, of_packet, new.slot, now);
        let port = u32::from(hosts.sources.injections[number as usize].port);
        let router = hosts.sources.adapters[terminal as usize].router;
        let first = self.ports.routers[router as usize].first_input;
        let input_vc = ((first + port) << self.rules.shift) + u32::from(vc);
        self.join(common, router, input_vc, new.slot);
        if let Some(tag) = new.departs {
            hosts.message_sent(common, terminal, tag, common.time(free_at));
        }
    }
}
