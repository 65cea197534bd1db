//! Tells deadlock from saturation: the cycle of packets that wait for each other.
//!
//! A packet at the head of a buffer is stuck for good if the buffer it wants to enter lacks room, all
//! of that buffer's flits belong to packets that are wholly in it (nothing is on its way in or out,
//! no credit is on its way back), and that buffer's head is stuck as well. A packet that has a choice is
//! stuck if all its buffers are. What is left when all that can move has been taken away waits for good:
//! following it from buffer to buffer gives a cycle.

use std::fmt;

use super::adaptive::ports;
use super::parameters::{VIRTUAL_CHANNEL_NAMES, VIRTUAL_CHANNELS};
use super::port::Queue;
use super::{ChannelKind, Engine, Observer};
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
                "  router {}, input port from {}, virtual channel {} ({}): packet {} to {} waits for \
                 channel {}, needs {} flits, {} free",
                waiting.router,
                waiting.input,
                waiting.virtual_channel,
                VIRTUAL_CHANNEL_NAMES[usize::from(waiting.virtual_channel)],
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

impl<O: Observer> Engine<'_, O> {
    /// Looks for a deadlock in the present state: time linear in buffers and packets, but for long
    /// chains of packets that have a choice.
    #[must_use]
    pub fn find_deadlock(&self) -> Option<Deadlock> {
        let buffers = (self.inputs.len() * VIRTUAL_CHANNELS) as u32;
        // What each buffer's head waits for; nothing if it may yet move without any of it.
        let mut waits: Vec<Vec<u32>> = (0..buffers).map(|queue| self.waits_for(queue)).collect();
        loop {
            let free = |queue: &u32| waits[*queue as usize].is_empty();
            let freed: Vec<usize> = (0..waits.len())
                .filter(|&queue| !waits[queue].is_empty() && waits[queue].iter().any(free))
                .collect();
            if freed.is_empty() {
                break;
            }
            freed.into_iter().for_each(|queue| waits[queue].clear());
        }
        // All that is left waits for good, so any way along it ends in a cycle.
        let mut at = (0..buffers).find(|&queue| !waits[queue as usize].is_empty())?;
        let mut passed = vec![false; waits.len()];
        while !std::mem::replace(&mut passed[at as usize], true) {
            at = waits[at as usize][0];
        }
        Some(self.describe(at, &waits))
    }

    /// A buffer by number: input port, then virtual channel.
    fn queue(&self, index: u32) -> &Queue {
        &self.inputs[index as usize / VIRTUAL_CHANNELS].queues[index as usize % VIRTUAL_CHANNELS]
    }

    /// The buffers whose lack of room stops the head of this one, if only those buffers' own packets can
    /// change it; else none.
    fn waits_for(&self, index: u32) -> Vec<u32> {
        let waits: Option<Vec<u32>> =
            self.wishes(index).into_iter().map(|wish| self.blocked_by(wish)).collect();
        waits.unwrap_or_default()
    }

    /// What the head of a buffer asks for: output, virtual channel, and the credits that it needs.
    fn wishes(&self, index: u32) -> Vec<Wish> {
        let queue = self.queue(index);
        if queue.output == NONE {
            return Vec::new();
        }
        let virtual_channel = (index as usize % VIRTUAL_CHANNELS) as u8;
        if queue.options == 0 {
            let need = queue.need(self.bubble);
            return vec![Wish { output: queue.output, virtual_channel, need }];
        }
        let input = &self.inputs[index as usize / VIRTUAL_CHANNELS];
        let first = self.routers[input.router as usize].first_output;
        let options = ports(queue.options).map(|port| Wish {
            output: first + port,
            virtual_channel: self.channels.adaptive,
            need: queue.flits() + self.injection_bubble(input),
        });
        let need = queue.flits() + self.escape_bubble(input, virtual_channel);
        let escape = Wish { output: queue.output, virtual_channel: queue.escape, need };
        std::iter::once(escape).chain(options).collect()
    }

    /// The buffer whose own packets alone can make room for a wish.
    fn blocked_by(&self, wish: Wish) -> Option<u32> {
        let output = &self.outputs[wish.output as usize];
        let virtual_channel = usize::from(wish.virtual_channel);
        let credits = self.credits_due(wish.output, virtual_channel);
        if output.free_at > self.clock || output.input == NONE || credits >= wish.need {
            return None;
        }
        let next = output.input * VIRTUAL_CHANNELS as u32 + u32::from(wish.virtual_channel);
        let mut settled = credits;
        let mut packet = self.queue(next).head;
        while packet != NONE {
            let packet_state = &self.packets.packets[packet as usize];
            settled += u32::from(packet_state.flits);
            packet = packet_state.next;
        }
        (settled == self.parameters.buffer).then_some(next)
    }

    /// Whether, for every buffer, the flits that are in it or on their way to it and the credits at, or
    /// on their way to, its feeder add up to its capacity. Always true; time linear in buffers and
    /// packets.
    #[must_use]
    pub fn credits_are_conserved(&self) -> bool {
        let mut flits = vec![[0u32; VIRTUAL_CHANNELS]; self.inputs.len()];
        for packet in &self.packets.packets {
            if let Some(flits) = flits.get_mut(packet.input as usize) {
                flits[usize::from(packet.virtual_channel)] += u32::from(packet.flits);
            }
        }
        (0..).zip(&self.outputs).filter(|(_, output)| output.input != NONE).all(
            |(channel, output)| {
                let injects = output.kind == ChannelKind::Injection as u8;
                let parameters = &self.parameters;
                let capacity =
                    if injects { parameters.injection_buffer } else { parameters.buffer };
                (0..VIRTUAL_CHANNELS).all(|virtual_channel| {
                    let held = flits[output.input as usize][virtual_channel];
                    self.credits_due(channel, virtual_channel) + held == capacity
                })
            },
        )
    }

    /// Credits that a virtual channel has or will get without anything else having to move.
    fn credits_due(&self, channel: u32, virtual_channel: usize) -> u32 {
        u32::from(self.outputs[channel as usize].credits[virtual_channel])
            + self.credits.due(channel, virtual_channel)
    }

    fn describe(&self, start: u32, waits: &[Vec<u32>]) -> Deadlock {
        let mut cycle = Vec::new();
        let mut at = start;
        loop {
            cycle.push(self.waiting(at));
            at = waits[at as usize][0];
            if at == start {
                break;
            }
        }
        Deadlock { time: self.clock, cycle, packets: self.packets.count() }
    }

    fn waiting(&self, index: u32) -> Waiting {
        let queue = self.queue(index);
        let input = index as usize / VIRTUAL_CHANNELS;
        let virtual_channel = index as usize % VIRTUAL_CHANNELS;
        let packet = &self.packets.packets[queue.head as usize];
        let wish = self.wishes(index)[0];
        let terminal_name = |terminal: u32| {
            let router = self.fabric.terminal_router(terminal).expect("live");
            self.fabric.router_name(router)
        };
        let channel_name = |channel: u32| self.network.channel_name(self.fabric, channel);
        let ejection_router = self.network.router_of_output(packet.ejection);
        Waiting {
            router: self.fabric.router_name(self.network.router_of_input[input]),
            input: channel_name(self.network.channel_of_input[input]),
            virtual_channel: virtual_channel as u8,
            source: terminal_name(packet.source),
            destination: self.fabric.router_name(ejection_router),
            output: channel_name(wish.output),
            needed: wish.need,
            free: self.credits_due(wish.output, usize::from(wish.virtual_channel)),
        }
    }
}
