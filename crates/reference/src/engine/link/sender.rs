//! The end of a link that sends: numbers, the replay buffer, and what is to be sent again.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Acknowledgements, LinkErrors, Resend};

use crate::shared::{links::Verdict, packet::Packet};

/// A packet that has not been acknowledged.
pub struct Unacknowledged {
    pub number: u64,
    /// The numbers from this one on, up to its own, are void: nobody is to wait for them.
    pub void_from: u64,
    /// As it was when the channel was granted to it.
    pub packet: Packet,
    /// Its virtual channel at the far end.
    pub out_vc: usize,
    /// Whether its last flit was sent with the mark of a bad copy.
    pub is_bad: bool,
    /// When it is wanted unless it is acknowledged, from the end of its latest sending on.
    time_out: Option<Picoseconds>,
}

/// The sending end.
pub struct Sender {
    resend: Resend,
    time_out: Option<Picoseconds>,
    /// Flits of the replay buffer, of the largest packet, and the most packets.
    capacity: u32,
    largest: u32,
    most: u64,
    next: u64,
    /// The numbers from this one on, up to the next, are void.
    void_from: u64,
    /// In the order of their numbers.
    replay: Vec<Unacknowledged>,
    /// The numbers of those that are to be sent again, in this order.
    wanted: Vec<u64>,
}

impl Sender {
    pub fn new(errors: &LinkErrors, largest: u32) -> Self {
        let bits = errors.sequence_bits.min(40);
        Self {
            resend: errors.resend,
            time_out: match errors.acknowledgements {
                Acknowledgements::Flits => Some(errors.time_out),
                Acknowledgements::Free => None,
            },
            capacity: errors.replay_buffer,
            largest,
            most: match errors.resend {
                Resend::GoBackN => (1 << bits) - 1,
                Resend::Selective => 1 << (bits - 1),
            },
            next: 0,
            void_from: 0,
            replay: Vec::new(),
            wanted: Vec::new(),
        }
    }

    /// Whether the replay buffer has room for any packet.
    pub fn has_room(&self) -> bool {
        let used: u32 = self.replay.iter().map(|it| it.packet.flits).sum();
        used + self.largest <= self.capacity && (self.replay.len() as u64) < self.most
    }

    /// Whether nothing waits for anything.
    pub fn is_idle(&self) -> bool {
        self.replay.is_empty() && self.wanted.is_empty()
    }

    pub fn has_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Keeps a packet that is granted the channel; its number, and from where on those before it
    /// are void.
    pub fn keep(&mut self, packet: Packet, out_vc: usize) -> (u64, u64) {
        assert!(self.has_room());
        let (number, void_from) = (self.next, self.void_from);
        self.next += 1;
        self.void_from = self.next;
        // The far end discards what comes before those that are wanted.
        if self.resend == Resend::GoBackN && self.has_wanted() {
            self.wanted.push(number);
        }
        let (is_bad, time_out) = (false, None);
        self.replay.push(Unacknowledged { number, void_from, packet, out_vc, is_bad, time_out });
        (number, void_from)
    }

    fn find(&mut self, number: u64) -> Option<&mut Unacknowledged> {
        self.replay.iter_mut().find(|it| it.number == number)
    }

    /// The last flit of a packet is sent with the mark of a bad copy.
    pub fn mark(&mut self, number: u64) {
        self.find(number).expect("it is not acknowledged before its end").is_bad = true;
    }

    /// A packet has been sent; when it is wanted again.
    pub fn sent(&mut self, number: u64, now: Picoseconds) -> Option<Picoseconds> {
        let time_out = now + self.time_out?;
        self.find(number)?.time_out = Some(time_out);
        Some(time_out)
    }

    /// Takes in what the far end has said.
    pub fn learn(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::AllBefore(expected) => self.forget(|number| number < expected),
            Verdict::Accepted(accepted) => self.forget(|number| number == accepted),
            Verdict::Wanted(wanted) => self.want(wanted),
        }
    }

    fn forget(&mut self, acknowledged: impl Fn(u64) -> bool) {
        self.replay.retain(|it| !acknowledged(it.number));
        self.wanted.retain(|&number| !acknowledged(number));
    }

    fn want(&mut self, wanted: u64) {
        if self.find(wanted).is_none() {
            return;
        }
        match self.resend {
            Resend::GoBackN => {
                let behind = self.replay.iter().map(|it| it.number).filter(|&it| it >= wanted);
                self.wanted.extend(behind);
                self.wanted.sort_unstable();
                self.wanted.dedup();
            }
            Resend::Selective => {
                if !self.wanted.contains(&wanted) {
                    self.wanted.push(wanted);
                }
            }
        }
    }

    /// Takes in that time has passed.
    pub fn pass(&mut self, now: Picoseconds) {
        let those = match self.resend {
            Resend::GoBackN => self.replay.len().min(1),
            Resend::Selective => self.replay.len(),
        };
        let mut over = Vec::new();
        for it in &mut self.replay[..those] {
            if it.time_out.is_some_and(|time| time <= now) {
                it.time_out = None;
                over.push(it.number);
            }
        }
        for number in over {
            self.want(number);
        }
    }

    /// The packet that is to be sent again next, if there is one. Bad copies are left out on the
    /// way.
    pub fn send_again(&mut self) -> Option<&Unacknowledged> {
        while !self.wanted.is_empty() {
            let number = self.wanted.remove(0);
            let place = self.replay.iter().position(|it| it.number == number);
            let place = place.expect("what is acknowledged is no longer wanted");
            if !self.replay[place].is_bad {
                self.replay[place].time_out = None;
                return Some(&self.replay[place]);
            }
            let void_from = self.replay.remove(place).void_from;
            match self.replay.get_mut(place) {
                Some(behind) => behind.void_from = void_from,
                None => self.void_from = void_from,
            }
        }
        None
    }
}
