//! Tells deadlock from saturation: the cycle of packets that wait for each other.
//!
//! A packet at the head of a buffer is stuck for good if the buffer it wants to enter lacks room, all
//! of that buffer's flits belong to packets that are wholly in it (nothing is on its way in or out,
//! no credit is on its way back), and that buffer's head is stuck as well. A packet that has a choice is
//! stuck if all its buffers are. What is left when all that can move has been taken away waits for good:
//! following it from buffer to buffer gives a cycle.

use std::fmt;

use super::adaptive::ports;

use super::Observer;
use super::parameters::VIRTUAL_CHANNEL_NAMES;
use super::part::{Part, Whole};
use super::port::Queue;
use super::simulator::Simulator;
use crate::routing::Routes;
use crate::topology::NONE;
use crate::units::{Picoseconds, time_text};

/// An output that the head of a buffer asks for.
#[derive(Clone, Copy)]
struct Wish {
    output: u32,
    virtual_channel: u8,
    need: u32,
}

/// One packet of a wait-for cycle: it is in a router's buffer and waits for the next one's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub router: String,
    /// The channel that feeds the buffer in which the packet waits.
    pub input: String,
    pub virtual_channel: u8,
    /// What Angara calls it; nothing where virtual channels are the lanes of a forwarding table.
    pub virtual_channel_name: Option<&'static str>,
    /// Source and destination of the packet.
    pub source: String,
    pub destination: String,
    /// The channel it waits for, and the flits that it needs and that are free at its far end.
    pub output: String,
    pub needed: u32,
    pub free: u32,
}

/// Packets that wait for each other in a cycle: none of them will ever move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// When it was found; it may have formed earlier.
    pub time: Picoseconds,
    pub cycle: Vec<Waiting>,
    /// Packets in the network at that time.
    pub packets: usize,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "deadlock at {}: {} packets wait for each other in a cycle ({} packets in the network)",
            time_text(self.time),
            self.cycle.len(),
            self.packets
        )?;
        for waiting in &self.cycle {
            writeln!(
                formatter,
                "  router {}, input port from {}, virtual channel {}{}: packet {} to {} waits for \
                 channel {}, needs {} flits, {} free",
                waiting.router,
                waiting.input,
                waiting.virtual_channel,
                waiting.virtual_channel_name.map_or(String::new(), |name| format!(" ({name})")),
                waiting.source,
                waiting.destination,
                waiting.output,
                waiting.needed,
                waiting.free
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Deadlock {}

/// A buffer: the part that it is in, and its number there, by input port, then virtual channel.
type Buffer = (usize, u32);

impl<O: Observer, const LANES: usize> Simulator<'_, O, LANES> {
    pub(super) fn find_deadlock(&self) -> Option<Deadlock> {
        let mut firsts = vec![0];
        for part in &self.parts {
            firsts.push(firsts.last().expect("one") + part.inputs.len() * LANES);
        }
        let buffers = *firsts.last().expect("one");
        let place = |(part, buffer): Buffer| firsts[part] + buffer as usize;
        let buffer = |place: usize| {
            let part = firsts.partition_point(|&first| first <= place) - 1;
            (part, (place - firsts[part]) as u32)
        };
        // What each buffer's head waits for; nothing if it may yet move without any of it.
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
        // All that is left waits for good, so any way along it ends in a cycle.
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

    /// The buffers whose lack of room stops the head of this one, if only those buffers' own packets can
    /// change it; else none.
    fn waits_for(&self, (number, buffer): Buffer) -> Vec<Buffer> {
        let part = &self.parts[number];
        let blocked_by = |wish| self.blocked_by(part, wish);
        let waits: Option<Vec<Buffer>> = part.wishes(buffer).into_iter().map(blocked_by).collect();
        waits.unwrap_or_default()
    }

    /// The buffer whose own packets alone can make room for a wish.
    fn blocked_by(&self, part: &Part<'_, O, LANES>, wish: Wish) -> Option<Buffer> {
        let output = &part.outputs[wish.output as usize];
        let credits = part.credits_due(wish.output, usize::from(wish.virtual_channel));
        if output.free_at > self.clock || output.input == NONE || credits >= wish.need {
            return None;
        }
        let (far, input) = part.far_end(output.input);
        let buffer = input * LANES as u32 + u32::from(wish.virtual_channel);
        let packets = &self.parts[far].packets.packets;
        let mut settled = credits;
        let mut packet = self.parts[far].queue(buffer).head;
        while packet != NONE {
            settled += u32::from(packets[packet as usize].flits);
            packet = packets[packet as usize].next;
        }
        (settled == self.whole.parameters.buffer).then_some((far, buffer))
    }

    pub(super) fn credits_are_conserved(&self) -> bool {
        let held: Vec<_> = self.parts.iter().map(Part::flits_held).collect();
        let parameters = &self.whole.parameters;
        self.parts.iter().all(|part| {
            (0..).zip(&part.outputs).filter(|(_, output)| output.input != NONE).all(
                |(channel, output)| {
                    let injects = channel >= part.first_injection;
                    let capacity =
                        if injects { parameters.injection_buffer } else { parameters.buffer };
                    let (far, input) = part.far_end(output.input);
                    held[far][input as usize].iter().enumerate().all(|(virtual_channel, held)| {
                        part.credits_due(channel, virtual_channel) + held == capacity
                    })
                },
            )
        })
    }

    fn waiting(&self, (number, buffer): Buffer) -> Waiting {
        let Whole { fabric, network, cut, .. } = &*self.whole;
        let part = &self.parts[number];
        let virtual_channel = (buffer as usize % LANES) as u8;
        let head = part.queue(buffer).head as usize;
        let input = buffer as usize / LANES + cut.first_input(number) as usize;
        let wish = part.wishes(buffer)[0];
        let channel_name = |channel: u32| network.channel_name(fabric, channel);
        Waiting {
            router: fabric.router_name(network.router_of_input[input]),
            input: channel_name(network.channel_of_input[input]),
            virtual_channel,
            virtual_channel_name: match self.whole.routes {
                Routes::Forwarding(_) => None,
                _ => VIRTUAL_CHANNEL_NAMES.get(usize::from(virtual_channel)).copied(),
            },
            source: fabric.terminal_name(part.packets.packets[head].source),
            destination: fabric.terminal_name(part.packets.origins[head].destination),
            output: channel_name(part.in_whole(wish.output)),
            needed: wish.need,
            free: part.credits_due(wish.output, usize::from(wish.virtual_channel)),
        }
    }
}

impl<O: Observer, const LANES: usize> Part<'_, O, LANES> {
    fn queue(&self, buffer: u32) -> &Queue {
        &self.inputs[buffer as usize / LANES].queues[buffer as usize % LANES]
    }

    /// What the head of a buffer asks for: output, virtual channel, and the credits that it needs.
    fn wishes(&self, buffer: u32) -> Vec<Wish> {
        let queue = self.queue(buffer);
        if queue.output == NONE {
            return Vec::new();
        }
        if queue.options == 0 {
            let need = queue.need(self.bubble);
            return vec![Wish { output: queue.output, virtual_channel: queue.onto, need }];
        }
        let virtual_channel = (buffer as usize % LANES) as u8;
        let input = &self.inputs[buffer as usize / LANES];
        let first = self.routers[input.router as usize].first_output;
        let options = ports(queue.options).map(|port| Wish {
            output: first + port,
            virtual_channel: self.channels.adaptive,
            need: queue.flits() + self.injection_bubble(input),
        });
        let need = queue.flits() + self.escape_bubble(input, virtual_channel);
        let escape = Wish { output: queue.output, virtual_channel: queue.onto, need };
        std::iter::once(escape).chain(options).collect()
    }

    /// Flits in, or on their way to, each input port's buffers.
    fn flits_held(&self) -> Vec<[u32; LANES]> {
        let mut held = vec![[0; LANES]; self.inputs.len()];
        for packet in &self.packets.packets {
            if let Some(held) = held.get_mut(packet.input as usize) {
                held[usize::from(packet.virtual_channel)] += u32::from(packet.flits);
            }
        }
        held
    }

    /// Credits that a virtual channel has or will get without anything else having to move.
    fn credits_due(&self, channel: u32, virtual_channel: usize) -> u32 {
        u32::from(self.outputs[channel as usize].credits[virtual_channel])
            + self.credits.due(channel, virtual_channel)
    }

    /// The part that an input port is in, and its number there.
    fn far_end(&self, input: u32) -> (usize, u32) {
        self.exit(input).map_or((self.number, input), |exit| (exit.part as usize, exit.input))
    }
}
