//! Packets under way, in flat arrays, and the closed form of their flits' times.

use super::network::ChannelTiming;
use crate::adaptive::{Derouting, Heading};
use crate::routing::{MAXIMUM_RUNS, Run};
use crate::topology::NONE;
use crate::units::Picoseconds;

/// The most distinct flit times in one fabric: network, injection and ejection channels have one each.
pub(super) const RATE_CLASSES: usize = 3;

/// What routers need of a packet.
///
/// Its flit `i` arrives at `max over k of (lines[k] + i * flit_time_k)`, one line a distinct flit time:
/// every channel that the packet has crossed since the slowest one left such a line (0: none), and
/// those of faster channels before it are below the slower ones. That is exact, since a flit starts at
/// the later of its own arrival and the end of the one before it (docs/model.md, "Time of a packet's
/// flits").
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Packet {
    pub lines: [Picoseconds; RATE_CLASSES],
    /// The input port at which it is or will be next; [`NONE`] on its way to the sink, and in a slot
    /// that is free.
    pub input: u32,
    /// The output that it takes there; [`NONE`] if it has to choose one.
    pub output: u32,
    /// The packet behind it in its buffer.
    pub next: u32,
    /// The ejection channel at its destination.
    pub ejection: u32,
    pub source: u32,
    pub sequence: u32,
    /// The router that its present leg leads to if routers decide its way; [`NONE`] if its source did.
    pub destination: u32,
    pub flits: u16,
    /// Hops left in the present run of the route; 0 at the end of the route.
    pub hops_left: u16,
    /// Output port of the present run.
    pub port: u16,
    /// Number of the run that follows it, among those behind the first.
    pub run: u8,
    pub virtual_channel: u8,
    /// The virtual channel that it takes through that output, unless it has to choose.
    pub onto: u8,
    /// Of a packet that chooses its way: what it is bound to, and how far it has come.
    pub heading: Heading,
    pub stage: Stage,
}

/// How far a packet has come that chooses its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its source router has yet to decide on a detour.
    New,
    ToIntermediate,
    ToDestination,
}

impl Packet {
    /// Notes the output that it takes at a router, whose first output is given, and gives it.
    #[inline]
    pub(super) fn take_output(&mut self, first_output: u32) -> u32 {
        self.output =
            if self.hops_left == 0 { self.ejection } else { first_output + u32::from(self.port) };
        self.output
    }

    /// Notes the output that a packet takes at a router if it chooses its way hop by hop: [`NONE`] if it
    /// will have to choose one. At its intermediate node it turns to its destination.
    pub(super) fn choose_at(&mut self, router: u32, origin: &PacketOrigin) -> u32 {
        self.output = NONE;
        if self.destination != router {
        } else if self.stage == Stage::ToIntermediate {
            self.stage = Stage::ToDestination;
            self.heading.bound = 0;
            self.destination = origin.router;
        } else {
            self.output = self.ejection;
        }
        self.output
    }

    /// Sends the packet on a channel from `start`: when its last flit starts there. Its lines become
    /// those of its arrival at the far end.
    #[inline]
    pub(super) fn send(
        &mut self,
        start: Picoseconds,
        channel: &ChannelTiming,
        flit_times: &[Picoseconds; RATE_CLASSES],
    ) -> Picoseconds {
        let behind = u64::from(self.flits - 1);
        let class = usize::from(channel.rate_class);
        let mut last = start + behind * channel.flit_time;
        for (place, line) in self.lines.iter_mut().enumerate() {
            if place == class {
                *line = start + channel.forward;
            } else if place < class {
                *line = 0;
            } else if *line > 0 {
                last = last.max(*line + behind * flit_times[place]);
                *line += channel.forward;
            }
        }
        last
    }
}

/// What only the ends need of a packet, and its route.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketOrigin {
    pub created: Picoseconds,
    pub injected: Picoseconds,
    /// The number under which its message was announced to the sink's part; [`NONE`] if the packet is the
    /// whole message.
    pub arrival: u32,
    pub payload: u32,
    /// The terminal, and its router.
    pub destination: u32,
    pub router: u32,
    pub injection_channel: u8,
    pub hops: u16,
    /// What decides a packet's lane by a forwarding table, together with the place.
    pub class: u8,
    /// Whether it was cut or swallowed where something failed.
    pub lost: bool,
    /// Of a packet that chooses its way: its random number, and its detour.
    pub drawn: u16,
    pub derouting: Option<Derouting>,
    /// The runs behind the first one.
    pub runs: [Run; MAXIMUM_RUNS - 1],
}

/// All packets under way. Slots are reused; their numbers have no meaning in the model.
#[derive(Debug, Default)]
pub(super) struct Packets {
    pub packets: Vec<Packet>,
    pub origins: Vec<PacketOrigin>,
    free: Vec<u32>,
}

impl Packets {
    /// Bytes that a packet under way takes.
    pub(super) const BYTES: usize = size_of::<Packet>() + size_of::<PacketOrigin>();

    /// A slot for a new packet.
    pub(super) fn insert(&mut self, packet: Packet, origin: PacketOrigin) -> u32 {
        let Some(slot) = self.free.pop() else {
            self.packets.push(packet);
            self.origins.push(origin);
            return self.packets.len() as u32 - 1;
        };
        self.packets[slot as usize] = packet;
        self.origins[slot as usize] = origin;
        slot
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.packets[slot as usize].input = NONE;
        self.free.push(slot);
    }

    /// Packets under way.
    pub(super) fn count(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_closed_form_equals_the_recursion_over_flits() {
        let flit_times = [2, 3, 11];
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..2_000 {
            let flits = random.random_range(1..30u16);
            let mut packet = Packet {
                lines: [0; RATE_CLASSES],
                input: 0,
                output: 0,
                next: 0,
                ejection: 0,
                source: 0,
                sequence: 0,
                destination: NONE,
                flits,
                hops_left: 0,
                port: 0,
                run: 0,
                virtual_channel: 0,
                onto: 0,
                heading: Heading::default(),
                stage: Stage::ToDestination,
            };
            let mut arrivals = vec![0u64; usize::from(flits)];
            let mut earliest = 0;
            for _ in 0..random.random_range(1..8) {
                let rate_class = random.random_range(0..3u8);
                let timing = ChannelTiming {
                    flit_time: flit_times[usize::from(rate_class)],
                    forward: random.random_range(1..50),
                    back: 1,
                    rate_class,
                };
                let start = earliest + random.random_range(0..40);
                let mut starts = vec![start];
                for flit in 1..usize::from(flits) {
                    starts.push(arrivals[flit].max(starts[flit - 1] + timing.flit_time));
                }
                assert_eq!(packet.send(start, &timing, &flit_times), *starts.last().unwrap());
                arrivals = starts.iter().map(|start| start + timing.forward).collect();
                earliest = arrivals[0];
            }
        }
    }
}
