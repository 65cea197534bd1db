//! Atomic operations at their targets: an adapter performs one after the other (docs/model.md,
//! "Sink").

use serde::{Deserialize, Serialize};

use super::common::Common;
use super::hosts::Hosts;
use super::message::Queued;
use super::sink::HostEvent;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

/// An atomic operation whose request has come to its target.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Atomic {
    /// The terminal that asked for it.
    pub source: u32,
    /// Payload of the response.
    pub bytes: u64,
    /// The note of the response.
    pub note: u32,
    pub injection_channel: u8,
}

impl Hosts {
    /// Performs the operations whose requests have come to a terminal at this instant, after those
    /// that came before. No two of them came by one ejection channel; they are performed in the
    /// order of these channels.
    pub(super) fn perform(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        mut atomics: Vec<Atomic>,
        now: Picoseconds,
    ) {
        let parameters = &common.context.parameters;
        let (channels, takes) = (parameters.ejection_channels, parameters.atomic_time);
        let service_time = parameters.service_time;
        atomics.sort_by_key(|it| u32::from(it.injection_channel) % channels);
        common.latest = common.latest.max(now);
        let until = &mut self.sink.performing_until;
        if until.len() <= terminal as usize {
            until.resize(terminal as usize + 1, Picoseconds::ZERO);
        }
        for Atomic { source, bytes, note, injection_channel } in atomics {
            let until = &mut self.sink.performing_until[terminal as usize];
            *until = now.max(*until) + takes;
            let created = *until + service_time;
            let message =
                Queued { created, bytes_left: bytes, destination: source, next: NONE, note };
            let event = HostEvent::Respond { message, injection_channel, of_atomic: true };
            self.schedule_host_event(common, terminal, created, event);
        }
    }
}
