//! The ways of chosen packets, channel by channel.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use super::packet::Packet;
use super::tick::{Tick, time};
use crate::mix::Mix;
use crate::units::Picoseconds;

/// Notes a grant at a tick after the epoch, if the packet is one of those that are followed.
#[cold]
#[inline(never)]
pub(super) fn note(
    trace: &mut Option<Box<Trace>>,
    packet: &Packet,
    (epoch, now): (Picoseconds, Tick),
    channel: u32,
) {
    let Some(trace) = trace else { return };
    let (time, waited) = (time(epoch, now), Picoseconds::from(now - packet.ready));
    trace.add((time, waited), channel, packet.source, packet.sequence);
}

/// What is noted down of some packets.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub wanted: HashSet<(u32, u32), BuildHasherDefault<Mix>>,
    /// Time, how long it waited, channel, source and number.
    pub grants: Vec<(Picoseconds, Picoseconds, u32, u32, u32)>,
    /// By packet: when it was granted its latest channel here, and which that is.
    latest: HashMap<(u32, u32), (Picoseconds, u32), BuildHasherDefault<Mix>>,
}

impl Trace {
    /// Of these packets, by source and number; nothing has happened.
    pub(super) fn of(wanted: HashSet<(u32, u32), BuildHasherDefault<Mix>>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// When a packet, by source and number, was granted the latest of its channels here, and which.
    pub(super) fn latest(&self, packet: (u32, u32)) -> Option<(Picoseconds, u32)> {
        self.latest.get(&packet).copied()
    }

    /// Notes a grant if the packet is one of those.
    #[inline]
    pub(super) fn add(
        &mut self,
        (time, waited): (Picoseconds, Picoseconds),
        channel: u32,
        source: u32,
        sequence: u32,
    ) {
        if self.wanted.contains(&(source, sequence)) {
            self.grants.push((time, waited, channel, source, sequence));
            self.latest.insert((source, sequence), (time, channel));
        }
    }
}
