//! Requests of heads, and packets that cross from the buffer of an input to that of an output.

use super::visit::Visited;
use super::{CioqRouters, Hops, InputVc, Queued};
use crate::arbitration::{PacketRequests, next_span};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::network::port::AWAY;
use crate::network::ports::{RouterLayout, place};
use crate::next_hop::{HopRank, Routing};
use crate::packet::{Packet, last_start};
use crate::router::cioq::room::Leaving;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_routing::Preference;

/// The request of a head: one of its hops that are open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub input_vc: u32,
    /// The output, by its router's own number.
    pub output: u16,
    pub vc: u8,
}

/// What a head finds among its hops.
struct Found {
    /// The output and the virtual channel of the hop that it prefers among those that are open.
    best: Option<(u16, u8)>,
    /// The ranks of that output, and of that virtual channel of it.
    rank: (HopRank, HopRank),
    preference: Preference,
    /// Whether any hop has room, open or not.
    has_room: bool,
    /// When one of the others may be open, as far as is known.
    until: Tick,
}

impl CioqRouters {
    /// Notes the request of a head that may have one; or else when it is due next.
    pub(super) fn request(&mut self, common: &Common<'_>, at: &Visited, input_vc: u32) {
        let now = at.now;
        let InputVc { first, again, hops, .. } = self.state.inputs[input_vc as usize];
        let port = input_vc >> self.rules.shift;
        let free = if again > now { again } else { self.port_free_at(port, now) };
        if free > now {
            return self.state.lower(input_vc as usize, free);
        }
        let packet = &common.packets.packets[first as usize];
        let flits = u32::from(packet.flits);
        let preference = match &common.routing {
            _ if matches!(hops, Hops::One { .. }) => Preference::Random,
            Routing::Relation(relation) => relation.preference(),
            _ => Preference::LeastQueued,
        };
        let rank = Default::default();
        let mut found = Found { best: None, rank, preference, has_room: false, until: NEVER };
        match hops {
            Hops::Unknown => unreachable!("the head has asked"),
            Hops::One { output, vc } => self.look_at(at, (output, vc), flits, &mut found),
            Hops::Ejection(output) => {
                for vc in 0..fitted!(self.rules.vcs, u8) {
                    self.look_at(at, (output, vc), flits, &mut found);
                }
            }
            Hops::List(list) => {
                let Routing::Relation(relation) = &common.routing else {
                    unreachable!("there are hops of a relation only")
                };
                let hops = relation.hops_of_list(list);
                let first = relation.first(at.name, packet.note, hops.len());
                let (before, from) = hops.split_at(first);
                for falls_back in [false, true] {
                    for hop in from.iter().chain(before) {
                        if hop.is_fallback() == falls_back {
                            self.look_at(at, (hop.port, hop.vc), flits, &mut found);
                        }
                    }
                    if found.has_room {
                        break;
                    }
                }
            }
        }
        match found.best {
            Some((output, vc)) => self.requests.push(Request { input_vc, output, vc }),
            None => self.state.lower(input_vc as usize, found.until),
        }
    }

    /// Looks at a hop of a packet of so many flits, behind others that come before it among equals.
    fn look_at(&mut self, at: &Visited, (output, vc): (u16, u8), flits: u32, found: &mut Found) {
        let now = at.now;
        let number = at.router.first_output as usize + usize::from(output);
        let own = &mut self.state.vcs[number * self.rules.vcs as usize + usize::from(vc)];
        let has_room = own.room.has(flits, now);
        let roomy = if has_room { 0 } else { own.room.foresee(flits) };
        found.has_room |= has_room;
        let until = roomy.max(own.crosses_until).max(self.output_free_at(number, now));
        if until > now {
            found.until = found.until.min(until);
            return;
        }
        let rank = self.rank((number, vc), found.preference, now);
        if found.best.is_none() || rank > found.rank {
            (found.best, found.rank) = (Some((output, vc)), rank);
        }
    }

    /// The ranks of an output, and of a virtual channel of it. Flits that are queued there count as
    /// room that is taken.
    fn rank(
        &mut self,
        (output, vc): (usize, u8),
        preference: Preference,
        now: Tick,
    ) -> (HopRank, HopRank) {
        let (mut all, mut idle, mut own) = (0, 0, 0);
        if matches!(preference, Preference::LeastQueued | Preference::MinimalMultiplexed) {
            for other in 0..self.rules.vcs {
                let queued = i64::from(self.queued(output, other, (now, now)));
                all += queued;
                idle += i64::from(queued == 0);
                own = if other == u32::from(vc) { queued } else { own };
            }
        }
        let times = &self.state.hop_times;
        let of_output = times.rank_output(preference, output, || -all, || idle);
        (of_output, times.rank_vc(preference, (output, vc), -own))
    }

    /// The time from which another packet may cross from an input port; at most `now` if one may
    /// already.
    fn port_free_at(&self, port: u32, now: Tick) -> Tick {
        let first = (port as usize) << self.rules.shift;
        let vcs = &self.state.inputs[first..first + self.rules.vcs as usize];
        self.free_at(vcs.iter().map(|vc| vc.crosses_until), now)
    }

    /// The time from which another packet may cross to an output; at most `now` if one may already.
    fn output_free_at(&self, output: usize, now: Tick) -> Tick {
        let vcs = &self.state.vcs[output * self.rules.vcs as usize..][..self.rules.vcs as usize];
        self.free_at(vcs.iter().map(|vc| vc.crosses_until), now)
    }

    /// The time from which fewer packets cross than may at once, of which each crosses until one of
    /// these times.
    #[inline]
    fn free_at(&self, until: impl Iterator<Item = Tick> + Clone, now: Tick) -> Tick {
        if self.rules.speedup >= self.rules.vcs {
            return 0;
        }
        let crossing = until.filter(|&until| until > now);
        if crossing.clone().count() < self.rules.speedup as usize {
            0
        } else {
            crossing.min().expect("some cross")
        }
    }

    /// Grants the requests of an instant, output by output.
    pub(super) fn grant_all(&mut self, common: &mut Common<'_>, at: &Visited) {
        let mut requests = std::mem::take(&mut self.requests);
        let start = self.state.next_output[at.number as usize];
        // By output in cyclic order.
        requests.sort_unstable_by_key(|it| (it.output.wrapping_sub(start), it.input_vc));
        for of_output in requests.chunk_by(|one, other| one.output == other.output) {
            if let [request] = of_output {
                self.try_to_grant(common, at, request);
            } else {
                self.grant_some(common, at, of_output);
            }
        }
        requests.clear();
        self.requests = requests;
    }

    /// Grants the requests for an output, in the order of its arbitration.
    fn grant_some(&mut self, common: &mut Common<'_>, at: &Visited, requests: &[Request]) {
        let mut order = std::mem::take(&mut self.due);
        self.order(common, at, requests, &mut order);
        for &input_vc in &order {
            let asks = |request: &&Request| request.input_vc == input_vc;
            let request = requests.iter().find(asks).expect("it is in the order");
            self.try_to_grant(common, at, request);
        }
        order.clear();
        self.due = order;
    }

    /// Puts the requests for an output, as input virtual channels, in the order of its arbitration.
    fn order(
        &mut self,
        common: &Common<'_>,
        at: &Visited,
        requests: &[Request],
        order: &mut Vec<u32>,
    ) {
        let &Visited { ref router, name, now, .. } = at;
        let first = router.first_input << self.rules.shift;
        let inputs = usize::from(router.inputs) << self.rules.shift;
        self.set.clear();
        self.set.resize(inputs.div_ceil(64), 0);
        for request in requests {
            let own = (request.input_vc - first) as usize;
            self.set[own / 64] |= 1 << (own % 64);
        }
        let context = &common.context;
        let output = requests[0].output;
        let place = router.first_output as usize + usize::from(output);
        let of_output = PacketRequests {
            set: &self.set,
            pointer: self.state.outputs[place].first_request.into(),
            first_injected: u32::from(router.transit) << self.rules.shift,
            shift: self.rules.shift,
            vc_map: &context.vc_map,
            time: common.time(now),
            output: (name, output.into()),
        };
        let mut step = 0;
        while let Some((span, next)) = next_span(context.parameters.arbitration, &of_output, step) {
            order.extend(span.map(|own| first + own));
            step = next;
        }
    }

    /// Grants a request unless packets granted at this instant are in the way: then the head
    /// requests again later.
    fn try_to_grant(&mut self, common: &mut Common<'_>, at: &Visited, request: &Request) {
        let (&Request { input_vc, output, vc }, now) = (request, at.now);
        let place = at.router.first_output as usize + usize::from(output);
        let own = place * self.rules.vcs as usize + usize::from(vc);
        let is_free = self.state.vcs[own].crosses_until <= now
            && self.output_free_at(place, now) <= now
            && self.port_free_at(input_vc >> self.rules.shift, now) <= now;
        if is_free {
            return self.cross(common, at, request);
        }
        let timing = self.ports.output_ports[place].timing;
        let again = now + common.context.timing(timing).flit;
        self.state.inputs[input_vc as usize].again = again;
        self.state.lower(input_vc as usize, again);
    }

    /// Lets the head of an input virtual channel cross as it has requested.
    fn cross(&mut self, common: &mut Common<'_>, at: &Visited, request: &Request) {
        let &Visited { ref router, number, name, now } = at;
        let &Request { input_vc, output, vc } = request;
        let channel = router.first_output as usize + usize::from(output);
        self.state.hop_times.note(channel, vc, common.time(now));
        let head = &mut self.state.inputs[input_vc as usize];
        let slot = head.first;
        let flit = common.context.timing(self.ports.output_ports[channel].timing).flit;
        let packet = &mut common.packets.packets[slot as usize];
        let Packet { flits, next, tail, .. } = *packet;
        common.statistics.waited(fitted!(channel, u32), packet.ready, now);
        let last = last_start(now, tail, flits, flit);
        let until = last + flit;
        packet.tail = last + self.rules.crossbar;
        packet.ready += self.rules.crossbar;
        packet.next = NONE;
        if let Hops::List(list) = head.hops {
            let Common { routing, packets, context, .. } = &mut *common;
            routing.relation().take_hop(context, packets, (slot, name), (list, (output, vc)));
        }
        (head.first, head.hops, head.crosses_until) = (next, Hops::Unknown, until);
        head.is_settled = false;
        self.state.wake[input_vc as usize] = match common.packets.packets.get(next as usize) {
            Some(next) => next.ready.max(until),
            None => NEVER,
        };
        let (_, in_vc) = place(input_vc, self.rules.shift);
        let flits = u32::from(flits);
        let own = &mut self.state.vcs[channel * self.rules.vcs as usize + usize::from(vc)];
        own.room.take(flits);
        let ready = now + self.rules.crossbar;
        own.packets.push_back(Queued { slot, in_vc, ready });
        own.flits += flits;
        (own.crosses_until, own.crossing, own.flit) = (until, flits, flit);
        let free_at = self.state.outputs[channel].free_at;
        let due = &mut self.state.due[channel];
        *due = (*due).min(free_at.max(ready));
        let first = router.first_input << self.rules.shift;
        self.state.outputs[channel].first_request = fitted!(input_vc - first, u16) + 1;
        self.state.next_output[number as usize] = output + 1;
        common.latest = common.latest.max(common.time(now));
        self.return_credits(common, router, input_vc, Leaving { last: until, flit, flits });
    }

    /// Returns the credits of a packet whose flits leave the buffer of an input so.
    fn return_credits(
        &mut self,
        common: &mut Common<'_>,
        router: &RouterLayout,
        input_vc: u32,
        leaving: Leaving,
    ) {
        let (input, vc) = place(input_vc, self.rules.shift);
        let port = *self.ports.input(fitted!(input, u32));
        let back = common.context.timing(port.timing).back;
        let credits = Leaving { last: leaving.last + back, ..leaving };
        if port.injects {
            let place = port.upstream + u32::from(vc);
            if self.state.credits[place as usize].leave(credits) {
                let channels = common.context.parameters.injection_channels;
                let own = fitted!(input, u32) - router.first_input - u32::from(router.transit);
                let injection = router.first_terminal * channels + own;
                common.to_hosts.fed.push((injection, credits.from(1)));
            }
        } else if port.upstream & AWAY == 0 {
            self.take_credits(common, port.upstream + u32::from(vc), credits);
        } else {
            let entry = (port.upstream & !AWAY) as usize;
            let remote = self.ports.remote_upstreams[entry];
            let place = remote.room + u32::from(vc);
            self.outgoing[remote.part as usize].credits.push((place, credits));
        }
    }
}
