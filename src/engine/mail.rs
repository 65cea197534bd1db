//! What the parts of a network send each other.
//!
//! A thread posts what leaves its part once a window, into one of two sets of boxes by turns: while a
//! slow thread still empties the boxes of the last window, a fast one may fill those of the next.

use std::sync::{Mutex, PoisonError};

use super::credit::Credit;
use super::message::Arrival;
use super::packet::{Packet, PacketOrigin};
use crate::units::Picoseconds;

/// A packet on a cable between two parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// When its header is there and has been routed.
    pub ready: Picoseconds,
    /// The output that it takes there, as in the event that it becomes.
    pub output: u32,
    pub packet: Packet,
    pub origin: PacketOrigin,
}

/// What one part sends another. All numbers are the receiver's.
#[derive(Debug, Default)]
pub(super) struct Mail {
    pub packets: Vec<Crossing>,
    /// Credits for channels.
    pub credits: Vec<(u32, Credit)>,
    /// Messages whose first packet is on its way, under the numbers that the sender has given them.
    pub arrivals: Vec<(u32, Arrival)>,
    /// Numbers that the receiver has given to messages which have arrived.
    pub arrived: Vec<u32>,
}

impl Mail {
    /// Nothing in it happens before this time.
    pub(super) fn earliest(&self) -> Picoseconds {
        let packets = self.packets.iter().map(|crossing| crossing.ready);
        let credits = self.credits.iter().map(|credit| credit.1.time);
        packets.chain(credits).min().unwrap_or(Picoseconds::MAX)
    }
}

/// Boxes for mail from each part to each other part, two sets of them.
#[derive(Debug)]
pub(super) struct Post {
    parts: usize,
    boxes: Vec<Mutex<Mail>>,
}

impl Post {
    pub(super) fn new(parts: usize) -> Self {
        Self { parts, boxes: (0..2 * parts * parts).map(|_| Mutex::default()).collect() }
    }

    /// Changes the contents of a box for those of `mail`.
    pub(super) fn swap(&self, window: usize, from: usize, to: usize, mail: &mut Mail) {
        let place = (window % 2 * self.parts + from) * self.parts + to;
        // Only a thread that has panicked leaves a lock poisoned, and then all stop.
        let mut letter = self.boxes[place].lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *letter, mail);
    }
}
