//! How long credits are away, and credits that are held back by it (docs/model.md, "Credits that
//! are held back").
//!
//! A sender keeps for each flit how long it waits behind the crossbar. The router that sends the
//! credit knows the rest, and tells it beside the credit: how long the flit waited there, and for
//! how long its credit is held back.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::bytes::bytes_of;
use crate::frame::tick::{MAX_HOP_TIME, Tick, rebased};
use crate::network::context::NetworkContext;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_routing::Routes;

/// The longest delay that is told apart from longer ones.
const LONGEST_DELAY: Picoseconds = MAX_HOP_TIME;

/// A delay that comes with a credit: by how much longer the credit was away than in an idle
/// network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Delay {
    /// When the credit arrives.
    pub time: Tick,
    /// What of the delay came about at the far end; from when the sender gets it on, all of it.
    pub delay: Tick,
}

/// A flit that leaves a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    /// Its input port, by its number in the part, and virtual channel.
    pub input: u32,
    pub vc: u8,
    /// The channel by which it goes; `None` if that leads out of the network.
    pub channel: Option<u32>,
    /// How much longer it waited there than in an idle network.
    pub waited: Tick,
}

/// The delays of a channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OfChannel {
    /// That of the credit that came back last; of credits that came together, the longest.
    known: Tick,
    /// Those under way, in the order in which they arrive, the longest of a time last.
    coming: VecDeque<Delay>,
}

/// The delays of a part's channels between routers; empty if no credits are held back.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RoundTrips {
    /// By channel, in the order of their credits.
    channels: Vec<OfChannel>,
    /// By channel, then virtual channel: how long the flits waited behind the crossbar whose credits
    /// have not been sent back.
    waited: Vec<VecDeque<Tick>>,
    /// By input port: whether its credits are held back.
    holds: Vec<bool>,
    /// By input port, then virtual channel: from when on the room of the latest flit is free.
    freed: Vec<Tick>,
    vcs: u32,
}

impl RoundTrips {
    /// The round trips of an idle part, in which `senders` channels have credits.
    pub(super) fn new(context: &NetworkContext<'_>, part: usize, senders: usize) -> Self {
        let Routes::Relation(routes) = context.routes else { return Self::default() };
        let held = match &routes.rule {
            Some(rule) => rule.held_channels(context.fabric),
            None => Vec::new(),
        };
        if held.is_empty() {
            return Self::default();
        }
        let network = &context.network;
        let routers = context.cut.routers(part);
        let first = |router: u32| network.first_input[router as usize] as usize;
        let inputs = first(routers.start)..first(routers.end);
        let is_held = |&channel: &u32| {
            channel < network.first_injection() && {
                let router = network.router_of_output(channel);
                let port = channel - network.first_output[router as usize];
                held[(context.fabric.outputs(router).start + port) as usize]
            }
        };
        let holds: Vec<bool> = network.channel_of_input[inputs].iter().map(is_held).collect();
        let vcs = context.vc_map.count();
        Self {
            channels: vec![OfChannel::default(); senders],
            waited: vec![VecDeque::new(); senders * vcs],
            freed: vec![0; holds.len() * vcs],
            holds,
            vcs: narrow(vcs),
        }
    }

    /// For how long flits' times of arrival are needed.
    pub(super) fn past_needed(context: &NetworkContext<'_>) -> Picoseconds {
        match context.routes {
            Routes::Relation(routes) if routes.holds_credits(context.fabric) => LONGEST_DELAY,
            _ => Picoseconds::ZERO,
        }
    }

    #[inline(always)]
    pub(super) fn are_measured(&self) -> bool {
        !self.channels.is_empty()
    }

    /// Notes that a flit waits behind the crossbar for the channel of a place of credits.
    pub(super) fn send(&mut self, place: usize, waits: Tick) {
        self.waited[place].push_back(waits);
    }

    /// When the room of a flit counts as free that leaves a buffer at `now`, and what is told of the
    /// delay. `outputs` are the channels from the router to others.
    pub(super) fn hold(
        &mut self,
        leaving: Leaving,
        outputs: impl Iterator<Item = u32>,
        now: Tick,
    ) -> (Tick, Tick) {
        let Leaving { input, vc, channel, waited } = leaving;
        let mut until = now;
        if self.holds[input as usize]
            && let Some(own) = channel
        {
            let least = outputs.map(|channel| self.known(channel, now)).min();
            until += self.known(own, now) - least.expect("its own is one");
        }
        let last = &mut self.freed[(input * self.vcs + u32::from(vc)) as usize];
        until = until.max(*last);
        *last = until;
        (until, waited.saturating_add(until - now))
    }

    /// Notes what comes with a credit for a place of credits.
    pub(super) fn tell(&mut self, place: u32, Delay { time, delay }: Delay) {
        let own = self.waited[place as usize].pop_front().expect("a flit was sent");
        let delay = own.saturating_add(delay).min(narrow(LONGEST_DELAY));
        let coming = &mut self.channels[(place / self.vcs) as usize].coming;
        let delay = Delay { time, delay };
        coming.insert(coming.partition_point(|it| *it <= delay), delay);
    }

    /// The delay of the credit that has come back last to a channel by `now`.
    fn known(&mut self, channel: u32, now: Tick) -> Tick {
        let OfChannel { known, coming } = &mut self.channels[channel as usize];
        while let Some(&Delay { time, delay }) = coming.front()
            && time <= now
        {
            *known = delay;
            coming.pop_front();
        }
        *known
    }

    /// Bytes of the arrays before traffic.
    pub(super) fn memory(&self) -> usize {
        bytes_of!(self; channels, waited, holds, freed)
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        let coming = self.channels.iter_mut().flat_map(|it| &mut it.coming);
        coming.for_each(|it| it.time = rebased(it.time, by));
        self.freed.iter_mut().for_each(|it| *it = rebased(*it, by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels with one virtual channel each, and two input ports of which the first one's
    /// credits are held back.
    fn round_trips() -> RoundTrips {
        RoundTrips {
            channels: vec![OfChannel::default(); 2],
            waited: vec![VecDeque::new(); 2],
            holds: vec![true, false],
            freed: vec![0; 2],
            vcs: 1,
        }
    }

    fn leaving(input: u32, channel: Option<u32>, waited: Tick) -> Leaving {
        Leaving { input, vc: 0, channel, waited }
    }

    #[test]
    fn a_credit_is_held_back_by_how_much_longer_its_channel_s_are_away_than_the_least() {
        let mut trips = round_trips();
        // Channel 0's flit waited for 3 behind the crossbar, and for 5 beyond; channel 1's for 2.
        trips.send(0, 3);
        trips.send(1, 2);
        trips.tell(0, Delay { time: 100, delay: 5 });
        trips.tell(1, Delay { time: 110, delay: 0 });
        let mut hold = |leaving, now| trips.hold(leaving, 0..2, now);
        assert_eq!(hold(leaving(0, Some(0), 0), 99), (99, 0), "nothing is known yet");
        assert_eq!(hold(leaving(0, Some(0), 0), 105), (113, 8), "the other one's is 0 yet");
        assert_eq!(hold(leaving(0, Some(1), 1), 112), (113, 2), "room is free in order");
        assert_eq!(hold(leaving(0, Some(0), 4), 200), (206, 10));
        assert_eq!(hold(leaving(0, Some(1), 4), 300), (300, 4), "its own is the least");
        assert_eq!(hold(leaving(0, None, 4), 301), (301, 4), "it leaves the network");
        assert_eq!(hold(leaving(1, Some(0), 4), 302), (302, 4), "nothing is held back here");
    }

    #[test]
    fn of_credits_that_come_together_the_longest_delay_counts() {
        let mut trips = round_trips();
        for (delay, time) in [(7, 50), (1, 40), (4, 50)] {
            trips.send(0, 0);
            trips.tell(0, Delay { time, delay });
        }
        assert_eq!((trips.known(0, 39), trips.known(0, 40)), (0, 1));
        trips.rebase(10);
        assert_eq!((trips.known(0, 39), trips.known(0, 40)), (1, 7));
    }
}
