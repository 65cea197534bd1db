//! The end of a link that receives: what it expects, what it has accepted, and what it has to say.

use std::collections::{BTreeMap, BTreeSet};

use flitlab_engine::Resend;

use crate::shared::links::Verdict;

use super::super::network::Flit;

/// What becomes of a packet whose last flit is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is the next one of its virtual channel.
    Next,
    /// It waits beside the buffer until those before it have come.
    Beside,
    /// It is damaged, and comes again.
    Damaged,
    /// It is not to be had now, or has been had.
    Discarded,
}

/// The receiving end.
pub struct FarEnd {
    resend: Resend,
    /// The number that is expected (go-back-n).
    expected: u64,
    /// The virtual channel of each number that has come (selective).
    virtual_channels: Vec<usize>,
    /// Of those the ones that have been accepted.
    accepted: BTreeSet<u64>,
    /// Flits that are there of the packet that is arriving.
    pub coming: Vec<Flit>,
    /// Whether its flits go on into the buffer as they come.
    pub enters: bool,
    /// Whether one of them is damaged.
    pub damaged: bool,
    /// Accepted packets that wait for one of a lower number, by number.
    pub beside: BTreeMap<u64, Vec<Flit>>,
    /// What has not been said yet.
    pub unsaid: Vec<Verdict>,
}

impl FarEnd {
    pub fn new(resend: Resend) -> Self {
        Self {
            resend,
            expected: 0,
            virtual_channels: Vec::new(),
            accepted: BTreeSet::new(),
            coming: Vec::new(),
            enters: false,
            damaged: false,
            beside: BTreeMap::new(),
            unsaid: Vec::new(),
        }
    }

    /// Whether nothing waits for anything.
    pub fn is_idle(&self) -> bool {
        self.coming.is_empty() && self.beside.is_empty() && self.unsaid.is_empty()
    }

    /// Whether a packet would be the next one of its virtual channel, to judge by its first flit.
    pub fn would_be_next(&mut self, header: &Flit) -> bool {
        match self.resend {
            Resend::GoBackN => {
                self.pass_over(header);
                header.number == self.expected
            }
            Resend::Selective => {
                let numbers = self.virtual_channels.len() as u64;
                assert!(header.number <= numbers, "all numbers come at least once, in order");
                if header.number == numbers {
                    self.virtual_channels.push(header.virtual_channel);
                }
                !self.accepted.contains(&header.number) && !self.is_lower_missing(header)
            }
        }
    }

    /// No longer expects numbers that are void.
    fn pass_over(&mut self, flit: &Flit) {
        if (flit.void_from..=flit.number).contains(&self.expected) {
            self.expected = flit.number;
        }
    }

    /// Whether one of a lower number in the same virtual channel has not been accepted.
    fn is_lower_missing(&self, flit: &Flit) -> bool {
        (0..flit.number).any(|lower| {
            self.virtual_channels[lower as usize] == flit.virtual_channel
                && !self.accepted.contains(&lower)
        })
    }

    /// Passes the verdict on a packet whose last flit is there.
    pub fn judge(&mut self, last: &Flit) -> Fate {
        let is_next = self.would_be_next(last);
        let (number, good) = (last.number, last.is_bad_copy || !self.damaged);
        match self.resend {
            Resend::GoBackN if is_next && good => {
                self.expected += 1;
                self.unsaid.push(Verdict::AllBefore(self.expected));
                Fate::Next
            }
            Resend::GoBackN if is_next => {
                self.unsaid.push(Verdict::Wanted(number));
                Fate::Damaged
            }
            Resend::GoBackN => {
                if number < self.expected {
                    assert!(!last.is_bad_copy, "bad copies are not sent again");
                    self.unsaid.push(Verdict::AllBefore(self.expected));
                }
                Fate::Discarded
            }
            Resend::Selective if self.accepted.contains(&number) => {
                assert!(!last.is_bad_copy, "bad copies are not sent again");
                self.unsaid.push(Verdict::Accepted(number));
                Fate::Discarded
            }
            Resend::Selective if good => {
                self.accepted.insert(number);
                self.unsaid.push(Verdict::Accepted(number));
                match (is_next, last.is_bad_copy) {
                    (true, _) => Fate::Next,
                    (false, false) => Fate::Beside,
                    (false, true) => Fate::Discarded,
                }
            }
            Resend::Selective => {
                self.unsaid.push(Verdict::Wanted(number));
                Fate::Damaged
            }
        }
    }

    /// The next packet beside the buffer that may enter it, in a virtual channel.
    pub fn next_beside(&mut self, virtual_channel: usize) -> Option<Vec<Flit>> {
        let mut beside = self.beside.iter();
        let (&number, flits) =
            beside.find(|(_, flits)| flits[0].virtual_channel == virtual_channel)?;
        if self.is_lower_missing(&flits[0]) {
            return None;
        }
        self.beside.remove(&number)
    }
}
