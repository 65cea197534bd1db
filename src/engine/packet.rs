//! Packets under way, in flat arrays, and the closed form of their flits' times.

use super::network::ChannelTiming;
use crate::routing::{MAXIMUM_RUNS, Run};
use crate::topology::NONE;
use crate::units::Picoseconds;

/// What routers need of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// The buffer (input port and virtual channel) in which it is or will be next.
    pub queue: u32,
    /// The packet behind it in that buffer.
    pub next: u32,
    /// The ejection channel at its destination.
    pub ejection: u32,
    pub source: u32,
    pub sequence: u32,
    pub flits: u16,
    /// Hops left in the present run of the route; 0 at the end of the route.
    pub hops_left: u16,
    /// Output port of the present run.
    pub port: u16,
    pub run: u8,
    pub virtual_channel: u8,
}

/// What only the ends need of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketOrigin {
    pub created: Picoseconds,
    pub injected: Picoseconds,
    pub message: u32,
    pub payload: u32,
    pub hops: u16,
    pub runs: [Run; MAXIMUM_RUNS],
}

/// All packets under way. Slots are reused; their numbers have no meaning in the model.
///
/// A packet's flit `i` arrives at `max over k of (line_k + i * flit_time_k)`, one line a distinct flit
/// time: every channel that the packet has crossed since the slowest one left such a line, and faster
/// ones are below the slower. That is exact, since a flit starts at the later of its own arrival and
/// the end of the one before it (docs/model.md, "Time of a packet's flits").
#[derive(Debug)]
pub(super) struct Packets {
    pub packets: Vec<Packet>,
    pub origins: Vec<PacketOrigin>,
    lines: Vec<Picoseconds>,
    flit_times: Vec<Picoseconds>,
    free: Vec<u32>,
}

impl Packets {
    pub(super) fn new(flit_times: &[Picoseconds]) -> Self {
        Self {
            packets: Vec::new(),
            origins: Vec::new(),
            lines: Vec::new(),
            flit_times: flit_times.to_vec(),
            free: Vec::new(),
        }
    }

    /// A slot for a new packet, all of whose flits are there from the start.
    pub(super) fn insert(&mut self, packet: Packet, origin: PacketOrigin) -> u32 {
        let classes = self.flit_times.len();
        let Some(slot) = self.free.pop() else {
            self.packets.push(packet);
            self.origins.push(origin);
            self.lines.extend((0..classes).map(|_| 0));
            return self.packets.len() as u32 - 1;
        };
        self.packets[slot as usize] = packet;
        self.origins[slot as usize] = origin;
        self.lines[slot as usize * classes..][..classes].fill(0);
        slot
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.packets[slot as usize].next = NONE;
        self.free.push(slot);
    }

    /// Bytes that a packet under way takes.
    pub(super) fn bytes_a_packet(&self) -> usize {
        size_of::<Packet>()
            + size_of::<PacketOrigin>()
            + self.flit_times.len() * size_of::<Picoseconds>()
    }

    /// Packets under way.
    pub(super) fn count(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Sends a packet on a channel from `start`: when its last flit starts there. Its lines become
    /// those of its arrival at the far end.
    #[inline]
    pub(super) fn send(
        &mut self,
        slot: u32,
        start: Picoseconds,
        channel: &ChannelTiming,
    ) -> Picoseconds {
        let classes = self.flit_times.len();
        let behind = u64::from(self.packets[slot as usize].flits - 1);
        let class = usize::from(channel.rate_class);
        let lines = &mut self.lines[slot as usize * classes..][..classes];
        let mut last = start + behind * channel.flit_time;
        for line in &mut lines[..class] {
            *line = 0;
        }
        lines[class] = start + channel.forward;
        for (line, flit_time) in lines[class + 1..].iter_mut().zip(&self.flit_times[class + 1..]) {
            if *line > 0 {
                last = last.max(*line + behind * flit_time);
                *line += channel.forward;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_closed_form_equals_the_recursion_over_flits() {
        let flit_times = [2, 3, 5, 11];
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..2_000 {
            let flits = random.random_range(1..30u16);
            let mut packets = Packets::new(&flit_times);
            let packet = Packet {
                queue: 0,
                next: NONE,
                ejection: 0,
                source: 0,
                sequence: 0,
                flits,
                hops_left: 0,
                port: 0,
                run: 0,
                virtual_channel: 0,
            };
            let origin = PacketOrigin {
                created: 0,
                injected: 0,
                message: 0,
                payload: 0,
                hops: 0,
                runs: [Run::default(); MAXIMUM_RUNS],
            };
            let slot = packets.insert(packet, origin);
            let mut arrivals = vec![0u64; usize::from(flits)];
            let mut earliest = 0;
            for _ in 0..random.random_range(1..8) {
                let rate_class = random.random_range(0..4u8);
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
                assert_eq!(packets.send(slot, start, &timing), *starts.last().unwrap());
                arrivals = starts.iter().map(|start| start + timing.forward).collect();
                earliest = arrivals[0];
            }
        }
    }
}
