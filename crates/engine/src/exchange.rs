//! The exchange of data between the parts of a network, and thus between threads.
//!
//! A thread exchanges its part's outgoing data once a window. The two sets of boxes alternate:
//! while a slow thread still empties the boxes of the last window, a fast one may fill those of the
//! next. The frame owns the [`Exchange`]; each part owns its [`Outgoing`] data.

use std::sync::{Mutex, PoisonError};

use super::credits::Credit;
use super::flit::{FlitCrossing, PacketCrossing};
use super::link::Notice;
use super::message::Arrival;
use super::next_hop::MAX_WORDS;
use super::packet::{Origin, Packet, Packets};
use super::part::Part;
use super::ports::RemoteUpstream;
use super::sink::Delivery;
use super::tick::{NEVER, Tick};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

/// A packet on a cable between two parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// The router that it goes to, and the input virtual channel there.
    pub router: u32,
    pub input_vc: u32,
    pub packet: Packet,
    pub origin: Origin,
    pub rest: [u64; MAX_WORDS],
}

/// The data that one part sends another. All numbers are the receiver's.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    pub packets: Vec<Crossing>,
    /// Flits, in the order in which they were sent, and the packets of the headers among them.
    pub flits: Vec<FlitCrossing>,
    pub headers: Vec<PacketCrossing>,
    /// Packets that a failed channel has swallowed, and the time: the part of their destination
    /// counts their messages.
    pub lost: Vec<(PacketCrossing, Picoseconds)>,
    /// Notices about links.
    pub notices: Vec<Notice>,
    /// Credits, with their places.
    pub credits: Vec<(u32, Credit)>,
    /// Messages whose first packet is under way, under the numbers that the sender has given them.
    pub arrivals: Vec<(u32, Arrival)>,
    /// The receiver's own numbers of messages that have arrived.
    pub arrived: Vec<u32>,
}

impl HasEarliest for Outgoing {
    fn earliest(&self) -> Tick {
        let packets = self.packets.iter().map(|crossing| crossing.packet.ready);
        let credits = self.credits.iter().map(|credit| credit.1.time);
        let flits = self.flits.iter().map(|flit| flit.time);
        let notices = self.notices.iter().map(|notice| notice.time);
        packets.chain(credits).chain(flits).chain(notices).min().unwrap_or(NEVER)
    }
}

/// Data of which the frame knows when its first effect happens.
pub(super) trait HasEarliest: Default + Send {
    /// A lower bound of the times at which it has an effect.
    fn earliest(&self) -> Tick;
}

/// Boxes for outgoing data from each part to each other part, in two sets.
#[derive(Debug)]
pub(super) struct Exchange<L> {
    parts: usize,
    boxes: Vec<Mutex<L>>,
}

impl<L: HasEarliest> Exchange<L> {
    pub(super) fn new(parts: usize) -> Self {
        Self { parts, boxes: (0..2 * parts * parts).map(|_| Mutex::default()).collect() }
    }

    /// Swaps the contents of a box with `own`.
    pub(super) fn swap(&self, window: usize, from: usize, to: usize, own: &mut L) {
        let place = (window % 2 * self.parts + from) * self.parts + to;
        // Only a thread that has panicked leaves a lock poisoned, and then all threads stop.
        let mut contents = self.boxes[place].lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *contents, own);
    }
}

impl Packets {
    /// Takes a packet out of this part.
    pub(super) fn take_away(&mut self, slot: u32) -> PacketCrossing {
        let mut rest = [0; MAX_WORDS];
        let own = self.rest(slot);
        rest[..own.len()].copy_from_slice(own);
        let (packet, origin) = (self.packets[slot as usize], self.origins[slot as usize]);
        self.remove(slot);
        PacketCrossing { packet, origin, rest }
    }

    /// Puts in a packet of another part, and returns its slot.
    pub(super) fn take_in(&mut self, crossing: &PacketCrossing) -> u32 {
        let slot = self.insert(crossing.packet, crossing.origin);
        let own = self.rest(slot);
        own.copy_from_slice(&crossing.rest[..own.len()]);
        slot
    }
}

impl Part<'_> {
    /// Sends a packet to a router of another part, and frees its slot.
    pub(super) fn send_away(&mut self, part: u32, router: u32, input_vc: u32, slot: u32) {
        let PacketCrossing { packet, origin, rest } = self.packets.take_away(slot);
        let crossing = Crossing { router, input_vc, packet, origin, rest };
        self.outgoing[part as usize].packets.push(crossing);
    }

    /// Sends credits to the sender in another part that `entry` of `remote_upstreams` names.
    pub(super) fn send_credit_away(&mut self, entry: u32, vc: u8, credit: Credit) {
        let RemoteUpstream { part, room } = self.ports.remote_upstreams[entry as usize];
        self.outgoing[part as usize].credits.push((room + u32::from(vc), credit));
    }

    /// Takes in the data of another part.
    pub(super) fn unpack(&mut self, from: usize, incoming: &mut Outgoing) {
        for (number, arrival) in incoming.arrivals.drain(..) {
            self.sink.expect(from, number, arrival);
        }
        for number in incoming.arrived.drain(..) {
            self.sink.forget(from, number);
        }
        for Crossing { router, input_vc, packet, origin, rest } in incoming.packets.drain(..) {
            let slot = self.packets.take_in(&PacketCrossing { packet, origin, rest });
            self.join(router, input_vc, slot);
        }
        for notice in incoming.notices.drain(..) {
            self.take_notice(&notice);
        }
        for (crossing, time) in incoming.lost.drain(..) {
            let slot = self.packets.take_in(&crossing);
            self.deliver(Delivery { time, slot, terminal: NONE, vc: 0 });
        }
        self.read_flits(incoming.flits.drain(..), incoming.headers.drain(..));
        for (place, credit) in incoming.credits.drain(..) {
            if self.flits.is_some() {
                self.return_flit_credit(place, credit.time);
            } else {
                self.return_credit(place, credit);
            }
        }
    }
}
