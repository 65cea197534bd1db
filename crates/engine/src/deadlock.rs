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

use super::next_hop::{Routing, escape_bubble};
use super::part::Part;
use super::ports::{RouterLayout, place};
use super::set::bits;
use super::{Engine, Observer};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::{Deadlock, Lack, Waiting};

/// An output that the head of a buffer asks for.
#[derive(Clone, Copy)]
pub(super) struct OutputRequest {
    pub output: u32,
    pub vc: u8,
    pub need: u16,
}

/// A buffer: the part that it is in, and its number there, by input port, then virtual channel.
pub(super) type Buffer = (usize, u32);

impl<O: Observer> Engine<'_, O> {
    /// Looks for a deadlock in the present state. Takes time linear in buffers and packets, except
    /// for long chains of packets that have a choice.
    pub fn find_deadlock(&self) -> Option<Deadlock> {
        if self.packets_under_way() == 0 {
            return None;
        }
        let mut firsts = vec![0];
        for part in &self.parts {
            firsts.push(firsts.last().expect("one") + part.part.buffers());
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
            .map(|index| self.waits_for(buffer(index)).into_iter().map(place).collect())
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
        let mut cycle = vec![self.waiting(buffer(at))];
        let mut next = waits[at][0];
        while next != at {
            cycle.push(self.waiting(buffer(next)));
            next = waits[next][0];
        }
        Some(Deadlock { time: self.clock, cycle, packets: self.packets_under_way() })
    }

    /// The buffers whose lack of room stops the head of this one, if only their own packets can
    /// change that; else none.
    fn waits_for(&self, (part, buffer): Buffer) -> Vec<Buffer> {
        let here = &self.parts[part].part;
        if let Some(flits) = &here.flits {
            return self.flits_wait_for(flits, (part, buffer));
        }
        // Packets of collective operations wait in no cycle.
        let (_, vc) = place(buffer, here.ports.size.shift);
        if self.context.trees.as_ref().is_some_and(|trees| vc >= trees.up) {
            return Vec::new();
        }
        let queue = &here.ports.queues[buffer as usize];
        if queue.head == NONE || here.time(queue.ask) > self.clock {
            return Vec::new();
        }
        let blocked_by = |request| self.blocked_by(here, request);
        let waits: Option<Vec<Buffer>> =
            here.requests_of(buffer).into_iter().map(blocked_by).collect();
        waits.unwrap_or_default()
    }

    /// The buffer whose own packets alone can make room for a request.
    fn blocked_by(&self, here: &Part<'_>, request: OutputRequest) -> Option<Buffer> {
        let output = here.ports.output(request.output);
        if !output.needs_room || here.time(output.free_at) > self.clock {
            return None;
        }
        let due = here.room_due(request.output, request.vc);
        if due >= u32::from(request.need) {
            return None;
        }
        let (far, buffer) = self.far_end(here, request.output, request.vc);
        let there = &self.parts[far].part;
        let arrived = there.packets_in(buffer).filter(|&slot| {
            let ready = there.packets.packets[slot as usize].ready;
            there.time(ready) <= self.clock
        });
        let arrived = arrived.filter(|&slot| !there.is_bad_copy(slot));
        let flits = arrived.map(|slot| u32::from(there.packets.packets[slot as usize].flits));
        (due + flits.sum::<u32>() == self.context.parameters.buffer).then_some((far, buffer))
    }

    /// The buffer at the far end of an output.
    pub(super) fn far_end(&self, here: &Part<'_>, output: u32, vc: u8) -> Buffer {
        let state = here.ports.output(output);
        let far = &self.parts[state.far_part as usize].part;
        let router = &far.ports.routers[state.far_router as usize];
        let queue = far.ports.queue(router, u32::from(state.far_input_vc) + u32::from(vc));
        (far.schedule.part, narrow::<u32>(queue))
    }

    /// Whether flits and credits add up to the capacity of every buffer: flits in it or under way
    /// to it, and credits at the router upstream or under way to it. Always true. Takes time linear
    /// in buffers and packets.
    pub fn credits_are_conserved(&self) -> bool {
        if self.parts[0].part.flits.is_some() {
            return self.flit_credits_are_conserved();
        }
        // A packet that has been granted its next output is leaving. Its room counts as neither
        // used nor free until its credit is sent, which happens at the grant.
        let vcs = narrow::<u8>(self.context.vc_map.count());
        let parameters = &self.context.parameters;
        self.parts.iter().all(|part| {
            let here = &part.part;
            let outputs = (0..).zip(here.ports.outputs()).filter(|(_, it)| it.needs_room);
            let mut network = outputs.flat_map(|(output, _)| (0..vcs).map(move |vc| (output, vc)));
            let held = |(part, buffer): Buffer| {
                let here = &self.parts[part].part;
                let flits = |slot: u32| u32::from(here.packets.packets[slot as usize].flits);
                let own = here.packets_in(buffer).filter(|&slot| !here.holds_no_room(slot));
                own.map(flits).sum::<u32>()
            };
            let mut injections = (0..narrow::<u32>(here.sources.injections.len()))
                .flat_map(|number| (0..vcs).map(move |vc| (number, vc)));
            network.all(|(output, vc)| {
                let held = held(self.far_end(here, output, vc));
                let kept = here.flits_kept(output, vc);
                here.room_due(output, vc) + held + kept == parameters.buffer
            }) && injections.all(|(number, vc)| {
                let buffer = here.buffer_of_injection(number) + u32::from(vc);
                let input = here.ports.input(buffer >> here.ports.size.shift);
                here.credits.due(input.upstream + u32::from(vc))
                    + held((here.schedule.part, buffer))
                    == parameters.injection_buffer
            })
        })
    }

    fn waiting(&self, (part, buffer): Buffer) -> Waiting {
        let here = &self.parts[part].part;
        if let Some(flits) = &here.flits {
            return self.flits_waiting(flits, (part, buffer));
        }
        let input_vc = place(buffer, here.ports.size.shift);
        let queue = &here.ports.queues[buffer as usize];
        let source = here.packets.packets[queue.head as usize].source;
        let input = input_vc.0 + self.context.cut.first_input(part) as usize;
        let router = self.context.network.router_of_input[input];
        let request = here.requests_of(buffer)[0];
        let free = here.room_due(request.output, request.vc);
        let lacks = Lack::Room { needed: request.need.into(), free };
        let at = (router, queue.head);
        let ends = (source, here.routing.destination(&self.context, &here.packets, at));
        self.named(part, input_vc, ends, request.output, lacks)
    }

    /// The description of a packet in an input virtual channel of a part, which waits for an output
    /// of the part.
    pub(super) fn named(
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
            virtual_channel_name: self.parts[part].part.routing.vc_name(&self.context, channel),
            source: fabric.terminal_name(source),
            destination: fabric.terminal_name(destination),
            output: name(output + self.context.cut.first_output(part)),
            lacks,
        }
    }
}

impl Part<'_> {
    /// The packets in a buffer or under way to it.
    pub(super) fn packets_in(&self, buffer: u32) -> impl Iterator<Item = u32> {
        let packets = &self.packets.packets;
        let slot = |slot: u32| (slot != NONE).then_some(slot);
        let head = slot(self.ports.queues[buffer as usize].head);
        std::iter::successors(head, move |&at| slot(packets[at as usize].next))
    }

    /// Flits of room behind an output on a virtual channel, with the credits under way.
    fn room_due(&self, output: u32, vc: u8) -> u32 {
        self.credits.due(self.ports.output(output).room + u32::from(vc))
    }

    /// Flits of room behind an output on a virtual channel at a time.
    pub(super) fn room_now(&self, output: u32, vc: u8, now: Picoseconds) -> u32 {
        self.credits.by(self.ports.output(output).room + u32::from(vc), self.schedule.tick(now))
    }

    pub(super) fn router_of_buffer(&self, buffer: u32) -> RouterLayout {
        let input = buffer >> self.ports.size.shift;
        let place = self.ports.routers.partition_point(|router| router.first_input <= input);
        self.ports.routers[place - 1]
    }

    /// The requests of the head of a buffer: outputs, virtual channels, and the credits that they
    /// need.
    pub(super) fn requests_of(&self, buffer: u32) -> Vec<OutputRequest> {
        let queue = &self.ports.queues[buffer as usize];
        let router = self.router_of_buffer(buffer);
        let (vc, need) = (queue.out_vc, queue.need);
        let output = router.first_output + u32::from(queue.output);
        if queue.options == 0 {
            return vec![OutputRequest { output, vc, need }];
        }
        let (input, vc_here) = place(buffer, self.ports.size.shift);
        if let Routing::Relation(relation) = &self.routing {
            let hops = relation.hops_of_list(queue.hops).iter();
            return hops
                .map(|hop| OutputRequest {
                    output: router.first_output + u32::from(hop.port),
                    vc: hop.vc,
                    need: self.context.need_by(hop, need, queue.flits),
                })
                .collect();
        }
        let input = self.ports.input(narrow::<u32>(input));
        let state = self.ports.output(output);
        let (escape, in_ring) = ((queue.output, vc), state.in_ring);
        let bubble = escape_bubble(self.context.bubble, (input, vc_here), escape, in_ring);
        let escape = queue.flits + bubble;
        let options = bits(queue.options).map(|port| OutputRequest {
            output: router.first_output + narrow::<u32>(port),
            vc: self.context.channels.adaptive,
            need,
        });
        std::iter::once(OutputRequest { output, vc, need: escape }).chain(options).collect()
    }

    /// The buffer of an injection channel, for virtual channel 0.
    fn buffer_of_injection(&self, number: u32) -> u32 {
        let channels = self.context.parameters.injection_channels;
        let adapter = &self.sources.adapters[(number / channels) as usize];
        (adapter.input + number % channels) << self.ports.size.shift
    }

    /// Number of buffers.
    fn buffers(&self) -> usize {
        self.flits.as_ref().map_or(self.ports.queues.len(), |flits| flits.queue_count())
    }
}
