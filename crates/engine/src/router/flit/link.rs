//! Links that err where they are shared flit by flit: each flit is numbered, acknowledged and sent
//! again by itself (docs/model.md, "Flits on links that err").
//!
//! As with whole packets ([`replay`](crate::router::link::replay)), the sender knows at the
//! start of a transmission whether it will be damaged, and hands a flit over when it is accepted.

use super::router_view::FlitRouterView;
use super::switch_traversal::Pace;
use super::{FlitOutput, FlitRouters};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::router::link::replay::{AckMessage, ArrivalOutcome, ReplayChannel, ReplayEntry};
use crate::router::link::{FarOutput, Notice, NoticeKind};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::{Digest, REQUEST_CHANNEL};

impl FlitRouters {
    /// Takes in a notice for a router of this part.
    pub(super) fn take_notice(&mut self, common: &mut Common<'_>, notice: &Notice) {
        self.borrow(common, notice.to.router).note(notice);
    }
}

impl FlitRouterView<'_, '_> {
    /// Takes in a notice for a router of this part.
    fn note(&mut self, notice: &Notice) {
        let &Notice { to: FarOutput { router, .. }, time, .. } = notice;
        self.links.take_in(self.ports.routers[router as usize].first_output, notice);
        self.state.wake_times.lower_router(router, time);
        self.common.schedule.active.lower(router, time);
    }

    /// A lower bound of the time of the next event on the router's links.
    pub(super) fn links_due(&self) -> Tick {
        self.links.state.due[self.number as usize]
    }

    fn link(&mut self, output: usize) -> &mut ReplayChannel {
        let number = self.router.first_output as usize + output;
        self.links.state.channels[number].as_deref_mut().expect("a network channel")
    }

    /// By output of the router: a lower bound of the next event on its link.
    fn links_next(&mut self) -> &mut [Tick] {
        let first = self.router.first_output as usize;
        &mut self.links.state.next[first..first + usize::from(self.router.outputs)]
    }

    fn pace(&self, output: usize) -> Pace {
        self.rules.paces[usize::from(self.output_port(output).timing)]
    }

    /// Takes in what links know by now, and sends again what is wanted, before any flit is granted
    /// the switch.
    pub(super) fn serve_links(&mut self, now: Tick) {
        for output in 0..usize::from(self.router.outputs) {
            if self.links_next()[output] > now {
                continue;
            }
            let resend = self.links.rules.resend;
            let link = self.link(output);
            link.learn(now, resend);
            if link.line_free <= now && link.sends_again() {
                self.send_again(output, now);
            }
            self.settle(output, now);
        }
        self.set_links_due();
    }

    /// Sends verdicts that no flit of another packet has taken along, in flits of their own.
    pub(super) fn acknowledge(&mut self, now: Tick) {
        for output in 0..usize::from(self.router.outputs) {
            if self.links_next()[output] > now {
                continue;
            }
            let link = self.link(output);
            let is_due = link.to_send.front().is_some_and(|it| it.0 <= now);
            if is_due && link.line_free <= now {
                let (times, _) = self.occupy(output, now);
                let damaged = self.is_damaged(output, times);
                self.carry(output, now, times, damaged);
                self.count_sent(output, self.common.context.vc_map.index(REQUEST_CHANNEL));
            }
            self.settle(output, now);
        }
        self.set_links_due();
    }

    /// Sends the next flit of a queue over a link for the first time. Its turn on the channel has
    /// been noted, and it arrives at `arrives` if it is sound.
    pub(super) fn transmit(&mut self, queue: usize, now: Tick, arrives: Tick) {
        let own = &mut self.state.queues[queue];
        let (output, vc) = (usize::from(own.output), own.vc);
        let (source, sequence) = (own.source, own.sequence);
        let mut slot = NONE;
        if own.has_header() {
            slot = std::mem::replace(&mut own.slot, NONE);
            self.go_on((output, vc), slot, now);
        }
        let pace = self.pace(output);
        let &mut FlitOutput { line, soonest, .. } = self.output(output);
        let times = (line - pace.flit, line);
        let damaged = self.is_damaged(output, times);
        let rules = self.links.rules;
        let due = line.saturating_add(rules.time_out);
        let (number, accepted, bad) = (0, false, false);
        let flits = 1;
        let entry = ReplayEntry { number, slot, source, sequence, due, flits, vc, accepted, bad };
        let link = self.link(output);
        link.line_free = soonest;
        let place = link.keep(entry, rules.resend);
        self.carry(output, now, times, damaged);
        self.pass_over(output, place, arrives, damaged);
        self.settle(output, now);
        self.set_links_due();
    }

    /// Sends again the next flit that is wanted.
    fn send_again(&mut self, output: usize, now: Tick) {
        let Some(place) = self.link(output).next_again() else { return };
        let (times, arrives) = self.occupy(output, now);
        let damaged = self.is_damaged(output, times);
        let time_out = self.links.rules.time_out;
        let entry = &mut self.link(output).entries[place];
        entry.due = times.1.saturating_add(time_out);
        let &mut ReplayEntry { source, sequence, vc, accepted, .. } = entry;
        self.link(output).flits_resent += 1;
        self.common.counters.flits_resent += 1;
        self.common.counters.packets_resent += 1;
        let channel = self.first_channel + self.router.first_output + fitted!(output, u32);
        let mark = Digest::mark(channel, source, sequence);
        let time = self.time(now);
        self.common.digest.add_marked(time, mark);
        self.count_sent(output, vc);
        self.carry(output, now, times, damaged);
        let now_accepted = self.pass_over(output, place, arrives, damaged);
        self.common.counters.resent_accepted += u64::from(accepted || now_accepted);
    }

    /// Takes an output for a flit of the link's own. Returns the time for which the flit has the
    /// channel, and the time of its arrival.
    fn occupy(&mut self, output: usize, now: Tick) -> ((Tick, Tick), Tick) {
        let pace = self.pace(output);
        let own = self.output(output);
        let (_, arrives) = pace.pass(now, own);
        let &mut FlitOutput { line, soonest, .. } = own;
        self.link(output).line_free = soonest;
        let time = self.time(now);
        self.common.latest = self.common.latest.max(time);
        ((line - pace.flit, line), arrives)
    }

    fn count_sent(&mut self, output: usize, vc: u8) {
        let of_output = self.router.first_output as usize + output;
        let place = of_output * self.rules.vcs as usize + usize::from(vc);
        self.common.statistics.flits[place] += 1;
    }

    /// Whether a flit is damaged that has the channel for a stretch of time.
    fn is_damaged(&mut self, output: usize, (from, until): (Tick, Tick)) -> bool {
        let times = (self.time(from), self.time(until));
        let bits = self.links.rules.bits_a_flit;
        self.link(output).damage.hits(bits, times)
    }

    /// Lets a flit that is sent at `now` take along the verdicts on flits of the other direction.
    fn carry(&mut self, output: usize, now: Tick, (starts, _): (Tick, Tick), lost: bool) {
        let timing = self.output_port(output).timing;
        let back = self.common.context.timing(timing).back;
        while let Some(&(time, message)) = self.link(output).to_send.front()
            && time <= now
        {
            let link = self.link(output);
            link.to_send.pop_front();
            if let Some(to) = link.reverse.filter(|_| !lost) {
                self.tell(to, starts + back, message, true);
            }
        }
    }

    fn tell(&mut self, to: FarOutput, time: Tick, message: AckMessage, about_sent: bool) {
        let kind = NoticeKind::Message { message, about_sent };
        let notice = Notice { to, time, kind };
        if to.part == self.part {
            self.note(&notice);
        } else {
            self.outgoing[to.part as usize].notices.push(notice);
        }
    }

    /// Handles the reaction of the far end to a flit that arrives there. Returns whether it accepts
    /// the flit.
    fn pass_over(&mut self, output: usize, place: usize, arrives: Tick, damaged: bool) -> bool {
        let rules = self.links.rules;
        let timing = self.output_port(output).timing;
        let back = self.common.context.timing(timing).back;
        let link = self.link(output);
        let ReplayEntry { slot, vc, .. } = link.entries[place];
        let (message, outcome) = link.react(place, damaged, &rules);
        if let Some(message) = message {
            if !rules.takes_flits {
                link.learned.push_back((arrives + back, message));
            } else if let Some(to) = link.reverse {
                self.tell(to, arrives, message, false);
            }
        }
        self.common.counters.damaged_packets += u64::from(damaged);
        match outcome {
            ArrivalOutcome::Enters => {
                self.link(output).entries[place].slot = NONE;
                self.pass_on(output, vc, &[arrives], slot);
                let mut slots = std::mem::take(&mut self.links.followers);
                self.link(output).take_from_beside(vc, &mut slots);
                for slot in slots.drain(..) {
                    self.pass_on(output, vc, &[arrives], slot);
                }
                self.links.followers = slots;
                true
            }
            ArrivalOutcome::Waits => {
                self.link(output).put_beside(place);
                true
            }
            ArrivalOutcome::Nothing => false,
            ArrivalOutcome::BadCopy | ArrivalOutcome::Discarded => {
                unreachable!("no flit goes on before it is checked")
            }
        }
    }

    /// Sets the times at which an output can be given another flit, and at which its link has its
    /// next event.
    fn settle(&mut self, output: usize, now: Tick) {
        let rules = self.links.rules;
        let link = self.link(output);
        let soonest = if link.is_full(&rules) { NEVER } else { link.line_free.max(now) };
        let next = link.due(rules.resend);
        self.links_next()[output] = next;
        self.output(output).soonest = soonest;
        let output_port = self.router.first_output + fitted!(output, u32);
        for place in self.active_vcs() {
            if self.active_queue(place).output_port == output_port {
                self.state.set_next(place);
            }
        }
    }

    fn set_links_due(&mut self) {
        let next = self.links_next().iter().copied().fold(NEVER, Tick::min);
        self.links.state.due[self.number as usize] = next;
    }
}
