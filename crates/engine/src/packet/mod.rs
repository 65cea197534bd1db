//! Packets under way: 60 bytes each, in flat arrays. A buffer is a chain of packets.
//!
//! [`Packets`] belongs to a part. The rest of the engine names a packet by its slot there.

pub(crate) mod collective;
pub(crate) mod encoded_route;
pub(crate) mod message;

use serde::{Deserialize, Serialize};

use crate::frame::tick::{Tick, move_back};
use crate::packet::encoded_route::{EncodedRoute, MAX_WORDS};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::workload::MAX_WORKLOADS;
use flitlab_routing::adaptive::Misroute;

/// The maximum number of flits of a packet: a packet and its bubble are counted in 16 bits.
pub const MAX_FLITS: u32 = (1 << 15) - 1;

/// The state of a packet that routers need: half a cache line.
///
/// These fields determine the times of all flits. A flit starts at the later of its own arrival and
/// the end of the one before it. So times of arrival are a convex function of the flit's number.
/// The last flit's times follow from those of the first and the last alone (docs/model.md, "Time of
/// a packet's flits").
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Packet {
    /// Time at which it may ask at its next router: its header is there and routed.
    pub ready: Tick,
    /// Time at which its last flit is there.
    pub tail: Tick,
    /// The next packet in its buffer; in a free slot, the next free slot.
    pub next: u32,
    pub source: u32,
    pub sequence: u32,
    pub flits: u16,
    /// By routing: the channels between routers that it has crossed, if routers look up its route;
    /// its random number, if routing is adaptive; else the dimensions in whose rings it passes the
    /// dateline, a bit each. In a collective operation: the number of nodes whose data it contains.
    pub note: u16,
    pub route: EncodedRoute,
}

/// The state of a packet that only its ends need.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(Rust, packed(4))]
pub(crate) struct Origin {
    pub created: Picoseconds,
    pub injected: Picoseconds,
    /// The number under which its message was announced to the sink's part; [`NONE`] if the packet
    /// is the whole message.
    pub arrival: u32,
    pub payload: u32,
    pub hops: u16,
    pub injection_channel: u8,
    flags: u8,
}

const LOST: u8 = 1 << 7;
const BAD: u8 = 1 << 6;
/// Of a bad copy: it is at the end of the link that damaged it.
const FRESH: u8 = 1 << 5;
/// Of a packet that is not bad, in the same bit: it completes a request, so its sink needs room for
/// the response.
const COMPLETES: u8 = FRESH;
/// The bits of the class of its message.
const CLASS: u8 = 0b111 << CLASS_SHIFT;
const CLASS_SHIFT: u32 = 2;
const _: () = assert!(CLASS as usize >> CLASS_SHIFT == MAX_WORKLOADS - 1);
/// The bits of the detour that it takes.
const MISROUTE: u8 = (1 << CLASS_SHIFT) - 1;

impl Origin {
    pub(crate) fn new(
        (created, injected): (Picoseconds, Picoseconds),
        arrival: u32,
        payload: u32,
        hops: u16,
        injection_channel: u8,
        class: u8,
    ) -> Self {
        let flags = class << CLASS_SHIFT & CLASS;
        Self { created, injected, arrival, payload, hops, injection_channel, flags }
    }

    /// The class of its message.
    #[inline]
    pub(crate) fn class(&self) -> u8 {
        (self.flags & CLASS) >> CLASS_SHIFT
    }

    /// Marks it as lost: it is cut or swallowed after a failure.
    pub(crate) fn lose(&mut self) {
        self.flags |= LOST;
    }

    /// Whether it is a bad copy of a packet that a link has damaged.
    pub(crate) fn is_bad(&self) -> bool {
        self.flags & BAD != 0
    }

    /// Whether it is a bad copy at the end of the link that damaged it: its room is that of its
    /// packet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.flags & (BAD | FRESH) == BAD | FRESH
    }

    /// Marks it as the last packet of a request.
    pub(crate) fn complete_request(&mut self) {
        self.flags |= COMPLETES;
    }

    /// Whether it is the last packet of a request.
    #[inline]
    pub(crate) fn completes_request(&self) -> bool {
        self.flags & (BAD | COMPLETES) == COMPLETES
    }

    /// Marks it as damaged by a link.
    pub(crate) fn spoil(&mut self) {
        self.flags |= BAD | FRESH;
    }

    /// Sends a bad copy on; from there on it holds room of its own. Returns whether it has had any
    /// so far.
    pub(crate) fn move_on(&mut self) -> bool {
        let is_fresh = self.is_fresh();
        if is_fresh {
            self.flags &= !FRESH;
        }
        !is_fresh
    }

    /// Whether its sink discards it.
    pub(crate) fn is_useless(&self) -> bool {
        self.flags & (LOST | BAD) != 0
    }

    /// The detour that it takes, of the kinds of its routing.
    pub(crate) fn misroute(&self, kinds: &[Misroute]) -> Option<Misroute> {
        let number = usize::from(self.flags & MISROUTE);
        number.checked_sub(1).map(|number| kinds[number])
    }

    /// Sets the detour that it takes, one of the kinds of its routing, which are three at most.
    pub(crate) fn set_misroute(&mut self, kind: Option<Misroute>, kinds: &[Misroute]) {
        let place = |kind| kinds.iter().position(|&own| own == kind).expect("one of its kinds");
        let number = kind.map_or(0, |kind| fitted!(place(kind) + 1, u8));
        self.flags = self.flags & !MISROUTE | number;
    }
}

/// A packet on a cable between two parts; with links shared flit by flit its header is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketCrossing {
    pub packet: Packet,
    pub origin: Origin,
    pub rest: [u64; MAX_WORDS],
}

/// A packet under way from an ejection channel to its sink.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub time: Picoseconds,
    pub slot: u32,
    /// The part's number of the terminal; [`NONE`] if a failed channel swallows the packet.
    pub terminal: u32,
    /// The virtual channel of the packet.
    pub vc: u8,
}

/// All packets of a part. Slots are reused; their numbers have no meaning in the model.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Packets {
    pub packets: Vec<Packet>,
    pub origins: Vec<Origin>,
    /// By packet: the words of its route beyond the first; most often none.
    rests: Vec<u64>,
    pub words: usize,
    free: u32,
    /// Packets under way.
    pub(crate) count: usize,
}

impl Packets {
    /// No packets; routes take this many words beyond the first.
    pub(crate) fn new(words: usize) -> Self {
        Self {
            packets: Vec::new(),
            origins: Vec::new(),
            rests: Vec::new(),
            words,
            free: NONE,
            count: 0,
        }
    }

    /// Bytes that a packet under way takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Packet>() + size_of::<Origin>() + self.words * size_of::<u64>()
    }

    /// Puts in a new packet, and returns its slot.
    // So the packet is written to its slot at once.
    #[inline(always)]
    pub(crate) fn insert(&mut self, packet: Packet, origin: Origin) -> u32 {
        self.count += 1;
        let slot = self.free;
        if let Some(place) = self.packets.get_mut(slot as usize) {
            self.free = place.next;
            *place = packet;
            self.origins[slot as usize] = origin;
            return slot;
        }
        self.append(packet, origin)
    }

    /// Puts a new packet behind all slots, and returns its slot.
    #[cold]
    fn append(&mut self, packet: Packet, origin: Origin) -> u32 {
        self.packets.push(packet);
        self.origins.push(origin);
        self.rests.resize(self.packets.len() * self.words, 0);
        fitted!(self.packets.len(), u32) - 1
    }

    /// Copies a packet, and returns the slot of the copy.
    pub(crate) fn copy(&mut self, slot: u32) -> u32 {
        let copy = self.insert(self.packets[slot as usize], self.origins[slot as usize]);
        let words = slot as usize * self.words;
        self.rests.copy_within(words..words + self.words, copy as usize * self.words);
        copy
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        self.count -= 1;
        self.packets[slot as usize].next = std::mem::replace(&mut self.free, slot);
    }

    /// The words of a packet's route beyond the first.
    pub(crate) fn rest(&mut self, slot: u32) -> &mut [u64] {
        &mut self.rests[slot as usize * self.words..][..self.words]
    }

    pub(crate) fn rest_of(&self, slot: u32) -> &[u64] {
        &self.rests[slot as usize * self.words..][..self.words]
    }

    /// Takes a packet out of this part.
    pub(crate) fn take_away(&mut self, slot: u32) -> PacketCrossing {
        let mut rest = [0; MAX_WORDS];
        let own = self.rest(slot);
        rest[..own.len()].copy_from_slice(own);
        let (packet, origin) = (self.packets[slot as usize], self.origins[slot as usize]);
        self.remove(slot);
        PacketCrossing { packet, origin, rest }
    }

    /// Puts in a packet of another part, and returns its slot.
    pub(crate) fn take_in(&mut self, crossing: &PacketCrossing) -> u32 {
        let slot = self.insert(crossing.packet, crossing.origin);
        let own = self.rest(slot);
        own.copy_from_slice(&crossing.rest[..own.len()]);
        slot
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        for packet in &mut self.packets {
            move_back([&mut packet.ready, &mut packet.tail], by);
        }
    }
}

/// The slots of a packet and of those behind it in its buffer; `head` may be [`NONE`].
pub(crate) fn chain(packets: &[Packet], head: u32) -> impl Iterator<Item = u32> {
    let next = |&at: &u32| packets.get(at as usize).map(|packet| packet.next);
    std::iter::successors(Some(head), next).take_while(|&at| at != NONE)
}

/// The start of a packet's last flit on a channel whose flits take `flit_time`. The first flit
/// starts at `start`, and the last one has arrived at `tail`.
pub(crate) fn last_start(start: Tick, tail: Tick, flits: u16, flit_time: Tick) -> Tick {
    (start + (Tick::from(flits) - 1) * flit_time).max(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_packet_takes_less_than_a_cache_line() {
        assert_eq!((size_of::<Packet>(), size_of::<Origin>()), (32, 28));
    }

    #[test]
    fn the_last_flit_is_where_the_recursion_over_flits_has_it() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..2_000 {
            let flits = random.random_range(1..30u16);
            let mut arrivals = vec![0; usize::from(flits)];
            for _ in 0..random.random_range(1..8) {
                let flit_time = random.random_range(1..12);
                let forward = random.random_range(1..50);
                let mut starts = vec![arrivals[0] + random.random_range(0..40)];
                for flit in 1..usize::from(flits) {
                    starts.push(arrivals[flit].max(starts[flit - 1] + flit_time));
                }
                let tail = *arrivals.last().unwrap();
                let last = last_start(starts[0], tail, flits, flit_time);
                assert_eq!(last, *starts.last().unwrap());
                arrivals = starts.iter().map(|start| start + forward).collect();
            }
        }
    }

    #[test]
    fn slots_are_used_again() {
        let (ready, tail, source, sequence) = (0, 0, 0, 0);
        let (next, flits, note, route) = (NONE, 1, 0, EncodedRoute::default());
        let packet = Packet { ready, tail, next, source, sequence, flits, note, route };
        let origin = Origin::new((Picoseconds(0), Picoseconds(0)), NONE, 0, 0, 0, 0);
        let mut packets = Packets::new(2);
        let slots: Vec<u32> = (0..3).map(|_| packets.insert(packet, origin)).collect();
        assert_eq!(slots, [0, 1, 2]);
        packets.rest(1)[1] = 7;
        packets.remove(2);
        packets.remove(0);
        assert_eq!((packets.insert(packet, origin), packets.insert(packet, origin)), (0, 2));
        assert_eq!((packets.insert(packet, origin), packets.count), (3, 4));
        assert_eq!(packets.rest(1), [0, 7]);
    }

    #[test]
    fn what_became_of_a_packet_is_kept() {
        for class in 0..narrow::<u8>(MAX_WORKLOADS) {
            let mut origin = Origin::new((Picoseconds(1), Picoseconds(2)), NONE, 3, 4, 5, class);
            let on_tori = [Misroute::OutFlank, Misroute::Wraparound, Misroute::Orthant];
            for kinds in [&on_tori[..], &Misroute::BY_PHASES] {
                for kind in kinds.iter().copied().map(Some).chain([None]) {
                    origin.set_misroute(kind, kinds);
                    assert_eq!((origin.misroute(kinds), origin.is_useless()), (kind, false));
                    assert_eq!(origin.class(), class);
                }
            }
            origin.set_misroute(Some(Misroute::Orthant), &on_tori);
            origin.lose();
            let kind = origin.misroute(&on_tori);
            assert_eq!((kind, origin.is_useless()), (Some(Misroute::Orthant), true));
            origin.spoil();
            assert_eq!((origin.class(), origin.is_fresh()), (class, true));
        }
    }
}
