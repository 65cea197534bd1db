//! Links that err: docs/model.md, "Links that err".
//!
//! Each network channel has an automaton at its sender's end, one at its far end, and what damages
//! its flits. Copies of a packet are packets of their own here, so that a bad one may be further on
//! than the next one; what the far end says is a message on its way.

mod damage;
mod far_end;
mod phases;
mod sender;

use std::collections::{BTreeMap, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{LinkErrors, Parameters};

use super::{channel::Moving, packet};
pub use damage::Damage;
use far_end::FarEnd;
use sender::Sender;

/// What the far end says of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of lower numbers have been accepted.
    AllBefore(u64),
    /// This one has been accepted.
    Accepted(u64),
    /// This one is wanted.
    Wanted(u64),
}

/// What a network channel needs to err, and to send again.
pub struct Link {
    pub errors: LinkErrors,
    pub sender: Sender,
    pub far_end: FarEnd,
    pub damage: Damage,
    /// The channel back, of the same cable.
    pub back: usize,
    /// Verdicts on their way to the sender.
    pub replies: VecDeque<Moving<Vec<Verdict>>>,
    /// Until when the channel is taken by an acknowledgement that goes the same way as its packets.
    pub acknowledging: Option<Picoseconds>,
    /// Packets' room at the far end that is not on its way back: virtual channel and flits by
    /// number.
    pub rooms: BTreeMap<u64, (usize, u32)>,
    pub counts: Counts,
    /// Flits sent, by virtual channel.
    pub flits: Vec<u64>,
}

/// What can be told of a link when all is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sendings of packets, bad copies left out, that were damaged.
    pub damaged: u64,
    /// Flits of packets that were sent again.
    pub sent_again: u64,
    /// Acknowledgements that took a flit.
    pub acknowledgements: u64,
    /// Those of them that were damaged.
    pub lost: u64,
    /// Bad copies that came, damaged elsewhere.
    pub bad_copies: u64,
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |one, other| Self {
            damaged: one.damaged + other.damaged,
            sent_again: one.sent_again + other.sent_again,
            acknowledgements: one.acknowledgements + other.acknowledgements,
            lost: one.lost + other.lost,
            bad_copies: one.bad_copies + other.bad_copies,
        })
    }
}

impl Link {
    /// Of this channel of the fabric.
    pub fn new(parameters: &Parameters, number: u32) -> Option<Self> {
        let errors = parameters.errors.clone()?;
        Some(Self {
            sender: Sender::new(&errors, packet::largest(parameters)),
            far_end: FarEnd::new(errors.resend),
            damage: Damage::new(&errors, number),
            errors,
            back: usize::MAX,
            replies: VecDeque::new(),
            acknowledging: None,
            rooms: BTreeMap::new(),
            counts: Counts::default(),
            flits: vec![0; parameters.virtual_channels.into()],
        })
    }
}
