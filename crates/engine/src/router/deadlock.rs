//! The search for deadlocks, as opposed to saturation: a cycle of packets that wait for each other.
//!
//! A packet at the head of a buffer is stuck for good under three conditions:
//!
//! 1. the buffer that it wants to enter lacks room;
//! 2. all flits of that buffer belong to packets that are wholly in it: nothing is under way in or
//!    out, and no credit is under way back;
//! 3. the head of that buffer is stuck as well.
//!
//! A head with a choice is stuck if all its buffers are. The search takes away all heads that can
//! move. The heads that remain wait for good, and following them from buffer to buffer gives a
//! cycle.

use crate::router::{AllParts, Buffer, Routers};
use flitlab_base::narrow::narrow;
use flitlab_model::{Deadlock, Lack, Waiting};

impl<R: Routers> AllParts<'_, '_, R> {
    /// Looks for a deadlock in the present state. Takes time linear in buffers and packets, except
    /// for long chains of packets that have a choice.
    pub(crate) fn find_deadlock(&self) -> Option<Deadlock> {
        let packets = self.parts.iter().map(|part| part.common.packets.count).sum();
        if packets == 0 {
            return None;
        }
        let mut firsts = vec![0];
        for part in &self.parts {
            firsts.push(firsts.last().expect("one") + part.routers.buffers());
        }
        let buffers = *firsts.last().expect("one");
        let place = |(part, buffer): Buffer| firsts[part] + buffer as usize;
        let buffer = |place: usize| {
            let part = firsts.partition_point(|&first| first <= place) - 1;
            (part, narrow::<u32>(place - firsts[part]))
        };
        // By buffer: the buffers of which one has to move before its head can; empty if the head
        // may move without.
        let mut waits: Vec<Vec<usize>> = (0..buffers)
            .map(|index| R::waits_for(self, buffer(index)).into_iter().map(place).collect())
            .collect();
        loop {
            let free = |place: &usize| waits[*place].is_empty();
            let freed: Vec<usize> = (0..buffers)
                .filter(|&place| !waits[place].is_empty() && waits[place].iter().any(free))
                .collect();
            if freed.is_empty() {
                break;
            }
            freed.into_iter().for_each(|place| waits[place].clear());
        }
        // All that remain wait for good, so any path along them ends in a cycle.
        let mut at = (0..buffers).find(|&place| !waits[place].is_empty())?;
        let mut passed = vec![false; buffers];
        while !std::mem::replace(&mut passed[at], true) {
            at = waits[at][0];
        }
        let mut cycle = vec![R::waiting(self, buffer(at))];
        let mut next = waits[at][0];
        while next != at {
            cycle.push(R::waiting(self, buffer(next)));
            next = waits[next][0];
        }
        Some(Deadlock { time: self.clock, cycle, packets })
    }

    /// The buffer at the far end of a part's output.
    pub(crate) fn far_end(&self, part: usize, output: u32, vc: u8) -> Buffer {
        let state = self.routers(part).ports().output(output);
        let far = state.far_part as usize;
        let ports = self.routers(far).ports();
        let router = &ports.routers[state.far_router as usize];
        let buffer = ports.queue(router, u32::from(state.far_input_vc) + u32::from(vc));
        (far, narrow::<u32>(buffer))
    }

    /// The description of a packet in an input virtual channel of a part, which waits for an output
    /// of the part.
    pub(crate) fn named(
        &self,
        part: usize,
        (input, vc): (usize, u8),
        (source, destination): (u32, u32),
        output: u32,
        lacks: Lack,
    ) -> Waiting {
        let fabric = self.context.fabric;
        let network = &self.context.network;
        let channel = self.context.vc_map.number(vc);
        let input = input + self.context.cut.first_input(part) as usize;
        let router = network.router_of_input[input];
        let name = |channel: u32| network.channel_name(fabric, channel);
        Waiting {
            router: fabric.router_name(router),
            input: name(network.channel_of_input[input]),
            virtual_channel: channel,
            virtual_channel_name: self.part(part).common.routing.vc_name(self.context, channel),
            source: fabric.terminal_name(source),
            destination: fabric.terminal_name(destination),
            output: name(output + self.context.cut.first_output(part)),
            lacks,
        }
    }
}
