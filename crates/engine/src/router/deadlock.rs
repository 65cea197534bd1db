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
        // Packets that are dropped wait for each other for a while.
        let drops = self.context.parameters.head_of_queue_lifetime.is_some();
        if packets == 0 || drops {
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
        let next = |&place: &usize| Some(waits[place][0]).filter(|&next| next != at);
        let cycle = std::iter::successors(Some(at), next);
        let cycle = cycle.map(|place| R::waiting(self, buffer(place))).collect();
        Some(Deadlock { time: self.clock, cycle, packets })
    }

    /// Whether flits and credits add up to the capacity of every buffer.
    pub(crate) fn credits_are_conserved(&self) -> bool {
        let parameters = &self.context.parameters;
        let vcs = narrow::<u8>(self.context.vc_map.count());
        (0..self.parts.len()).all(|part| {
            let (routers, ports) = (self.routers(part), self.routers(part).ports());
            let sum = |place: u32, vc: u8, buffer: Buffer| {
                routers.room_due(place + u32::from(vc)) + R::flits_held(self, buffer)
            };
            let outputs = 0..narrow::<u32>(ports.outputs);
            let outputs = outputs.map(|number| (number, routers.output(number)));
            let mut network = outputs.filter(|(_, output)| output.needs_room);
            let mut injections = (0..ports.inputs()).filter(|&input| routers.input(input).injects);
            network.all(|(output, state)| {
                (0..vcs).all(|vc| {
                    let sum = sum(state.room, vc, self.far_end(part, output, vc));
                    sum + routers.flits_kept(output, vc) == parameters.buffer
                })
            }) && injections.all(|input| {
                let (first, upstream) = (input << ports.shift, routers.input(input).upstream);
                let holds = |vc: u8| sum(upstream, vc, (part, first + u32::from(vc)));
                (0..vcs).all(|vc| holds(vc) == parameters.injection_buffer)
            })
        })
    }

    /// The buffer at the far end of a part's output.
    pub(crate) fn far_end(&self, part: usize, output: u32, vc: u8) -> Buffer {
        let state = self.routers(part).output(output);
        let far = state.far_part as usize;
        let ports = self.routers(far).ports();
        let router = &ports.routers[state.far_router as usize];
        let input_vc = (u32::from(state.far_input) << ports.shift) + u32::from(vc);
        let buffer = ports.queue(router, input_vc);
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
        let ports = self.routers(part).ports();
        let input = ports.name_of_input(self.context, part, narrow(input)) as usize;
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
