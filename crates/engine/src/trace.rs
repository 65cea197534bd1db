//! Traces: the routes of chosen packets, channel by channel.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use crate::frame::tick::{Tick, time};
use crate::packet::Packet;
use flitlab_base::mix::Mix;
use flitlab_base::units::Picoseconds;

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

/// The grants of traced packets. Where there are several classes of traffic there is always one,
/// if of no packets: then grants are looked at anyway, and counted by class.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub wanted: HashSet<(u32, u32), BuildHasherDefault<Mix>>,
    /// Time, wait, channel, source and number.
    pub grants: Vec<(Picoseconds, Picoseconds, u32, u32, u32)>,
    /// By packet: the time of its latest grant in this part, and the channel.
    latest: HashMap<(u32, u32), (Picoseconds, u32), BuildHasherDefault<Mix>>,
}

impl Trace {
    /// A trace of these packets, by source and number, without grants.
    pub(super) fn of(wanted: HashSet<(u32, u32), BuildHasherDefault<Mix>>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// The time of a packet's latest grant in this part, and the channel. The packet is given by
    /// source and number.
    pub(super) fn latest(&self, packet: (u32, u32)) -> Option<(Picoseconds, u32)> {
        self.latest.get(&packet).copied()
    }

    /// Notes a grant if the packet is traced.
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
