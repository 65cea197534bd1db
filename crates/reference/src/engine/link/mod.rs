//! Links that err: docs/model.md, "Links that err".
//!
//! Each network channel has an automaton at its sender's end, one at its far end, and what damages
//! its flits. Copies of a packet are packets of their own here, so that a bad one may be further on
//! than the next one; what the far end says is a message on its way.

mod far_end;
mod phases;
mod sender;

use std::collections::{BTreeMap, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{LinkErrors, Parameters};

use crate::shared::{
    channel::Moving,
    links::{Counts, Damage, Verdict},
    packet,
};

use far_end::FarEnd;
use sender::Sender;

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
