//! Atomic operations at their targets: each terminal performs one after the other, in the order in
//! which their requests have come; those that have come at one instant in the order of their
//! ejection channels.

use std::collections::BTreeMap;

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;

/// The request of an atomic operation that has come.
struct Request {
    terminal: u32,
    ejection_channel: u32,
    transfer: usize,
    injection_channel: u8,
}

/// What targets have to perform.
#[derive(Default)]
pub struct Atomics {
    /// What has come at this instant.
    come: Vec<Request>,
    busy_until: BTreeMap<u32, Picoseconds>,
}

impl Atomics {
    /// The last packet of a request is there.
    pub fn come(
        &mut self,
        terminal: u32,
        transfer: usize,
        injection_channel: u8,
        parameters: &Parameters,
    ) {
        let ejection_channel = u32::from(injection_channel) % parameters.ejection_channels;
        self.come.push(Request { terminal, ejection_channel, transfer, injection_channel });
    }

    /// When the responses to what has come at this instant enter their queues: times, transfers,
    /// injection channels.
    pub fn perform(
        &mut self,
        now: Picoseconds,
        parameters: &Parameters,
    ) -> Vec<(Picoseconds, usize, u8)> {
        self.come.sort_by_key(|request| (request.terminal, request.ejection_channel));
        let mut responses = Vec::new();
        for request in self.come.drain(..) {
            let busy_until = self.busy_until.entry(request.terminal).or_insert(Picoseconds::ZERO);
            let begins = if *busy_until > now { *busy_until } else { now };
            *busy_until = begins + parameters.atomic_time;
            let created = *busy_until + parameters.service_time;
            responses.push((created, request.transfer, request.injection_channel));
        }
        responses
    }
}
