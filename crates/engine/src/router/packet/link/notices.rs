//! Notices that routers send each other about links.

use serde::{Deserialize, Serialize};

use super::replay::AckMessage;
use super::{LinkState, Links};
use crate::frame::tick::Tick;

/// An output of another router: the router's part, its number there, and the output's number in the
/// router.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FarOutput {
    pub part: u32,
    pub router: u32,
    pub output: u16,
}

/// A notice for a router.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    pub to: FarOutput,
    /// Time at which the notice takes effect.
    pub time: Tick,
    pub kind: NoticeKind,
}

/// The contents of a notice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoticeKind {
    /// An acknowledgement message: about what the output has sent, or else one that is decided
    /// there, for the output to send.
    Message { message: AckMessage, about_sent: bool },
    /// A bad copy whose last flit is there, among an input virtual channel's packets.
    BadCopy(u32),
}

impl Links {
    /// Takes in a notice for a router of the part, whose first output has this number.
    pub(crate) fn take_in(&mut self, first_output: u32, notice: &Notice) {
        let &Notice { to: FarOutput { router, output, .. }, time, kind } = notice;
        let place = (first_output + u32::from(output)) as usize;
        let LinkState { channels, next, due, bad_copies } = &mut self.state;
        match (kind, &mut channels[place]) {
            (NoticeKind::BadCopy(input_vc), _) => {
                bad_copies[router as usize].push((time, input_vc));
            }
            (_, None) => return,
            (NoticeKind::Message { message, about_sent }, Some(channel)) => {
                let list = if about_sent { &mut channel.learned } else { &mut channel.to_send };
                list.push_back((time, message));
                next[place] = next[place].min(time);
            }
        }
        let due = &mut due[router as usize];
        *due = (*due).min(time);
    }
}
