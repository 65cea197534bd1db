//! Stall times: how long packets waited for an output of which none could start a flit, and why
//! (docs/model.md, "Measurement").
//!
//! The causes of a stall change only when the router acts. So stall time is attributed lazily: at
//! each action, for the interval since the last one. For each packet it is known when it began to
//! wait, when it has room, and when its ports are free.

use serde::{Deserialize, Serialize};

use super::FlitState;
use super::flit_queue::FlitQueue;
use super::router_view::FlitRouterView;
use super::states::VcState;
use crate::frame::tick::{NEVER, Tick, rebased};
use crate::next_hop::Routing;
use crate::set::{bits, members};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::Stall;

/// The state that is needed to count stalls.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Waits {
    /// By queue: time since which its head asks for a virtual channel or, once active, its flits
    /// for the switch.
    since: Vec<Tick>,
    /// By output: the queue of the packet that has sent the latest flit; [`NONE`] if that was the
    /// packet's last.
    sender: Vec<u32>,
    /// By router: time until which stalls have been counted.
    counted: Vec<Tick>,
    /// Packets that wait at a router's outputs; kept to reuse its memory.
    #[serde(skip)]
    waiting: Vec<(u16, Wait)>,
    /// Queues whose flits ask for the switch at an instant; kept to reuse its memory.
    #[serde(skip)]
    due: Vec<u32>,
}

/// The wait of a packet at an output.
#[derive(Clone, Copy, Debug)]
struct Wait {
    from: Tick,
    /// Whether the latest flit there was its own.
    is_sender: bool,
    /// Time until which it waits for another allocation, after it has lost one.
    lost_until: Tick,
    /// Time from which a virtual channel with room for it is free; if it holds one, from which
    /// there is a credit.
    room_from: Tick,
    /// The reason that keeps it from going on then.
    then: Stall,
}

impl Waits {
    pub(super) fn new(queues: usize, outputs: usize, routers: usize) -> Self {
        Self {
            since: vec![0; queues],
            sender: vec![NONE; outputs],
            counted: vec![0; routers],
            ..Self::default()
        }
    }

    /// Notes that the head of a queue waits from a time on.
    pub(super) fn waits_from(&mut self, queue: usize, time: Tick) {
        self.since[queue] = time;
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        let times = self.since.iter_mut().chain(&mut self.counted);
        times.for_each(|time| *time = rebased(*time, by));
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.since) + size_of_val(&*self.sender) + size_of_val(&*self.counted)
    }
}

impl Wait {
    /// The reason for which the packet waits at a time for an output that takes no flit before
    /// `soonest`, if it does; and the time until which that does not change.
    fn at(&self, time: Tick, soonest: Tick) -> (Option<Stall>, Tick) {
        if time < self.from {
            (None, self.from)
        } else if time < soonest {
            ((!self.is_sender).then_some(Stall::OutputBusy), soonest)
        } else if time < self.lost_until {
            (Some(Stall::InputBusy), self.lost_until)
        } else if time < self.room_from {
            (Some(Stall::NoCredit), self.room_from)
        } else {
            (Some(self.then), NEVER)
        }
    }
}

impl FlitRouterView<'_, '_> {
    /// Counts the time for which packets have waited for the router's outputs until `now`, before
    /// the events at `now`.
    #[cold]
    pub(super) fn count_stalls(&mut self, now: Tick) {
        let Some(mut waits) = self.state.waits.take() else { return };
        let counted = &mut waits.counted[self.number as usize];
        let since = *counted;
        *counted = now.max(since);
        if since < now {
            let mut waiting = std::mem::take(&mut waits.waiting);
            self.find_senders(&waits, &mut waiting);
            self.find_requesters(&waits, &mut waiting);
            waiting.sort_unstable_by_key(|&(output, _)| output);
            for own in waiting.chunk_by(|one, other| one.0 == other.0) {
                self.count_stalls_of(own, (since, now));
            }
            waiting.clear();
            waits.waiting = waiting;
        }
        self.state.waits = Some(waits);
    }

    /// Notes the flits that ask for the switch at an instant.
    #[cold]
    pub(super) fn note_due(&mut self, now: Tick) {
        let range = self.active_vcs();
        let FlitState { request_times, active_vcs, waits, .. } = &mut *self.state;
        let Some(waits) = waits else { return };
        let due = range.filter(|&place| request_times[place] == now);
        waits.due.clear();
        waits.due.extend(due.map(|place| active_vcs[place]));
    }

    /// Notes the flits that were granted the switch.
    #[cold]
    pub(super) fn note_senders(&mut self, now: Tick) {
        let FlitState { queues, waits, .. } = &mut *self.state;
        let Some(waits) = waits else { return };
        for &queue in &waits.due {
            let FlitQueue { output_port, left, again, .. } = queues[queue as usize];
            // A flit that was not granted it asks again later.
            if again <= now {
                waits.sender[output_port as usize] = if left > 0 { queue } else { NONE };
            }
        }
    }

    /// Counts the stalls of an output, for which these packets wait, in an interval of time.
    fn count_stalls_of(&mut self, waiting: &[(u16, Wait)], (since, now): (Tick, Tick)) {
        let output = waiting[0].0;
        let soonest = self.output(output.into()).soonest;
        let channel = (self.router.first_output + u32::from(output)) as usize;
        let mut time = since;
        while time < now {
            let (mut stall, mut until) = (None, now);
            for (_, wait) in waiting {
                let (reason, end) = wait.at(time, soonest);
                stall = stall.max(reason);
                until = until.min(end);
            }
            if let Some(stall) = stall {
                self.common.statistics.stalled[channel][stall as usize] +=
                    Picoseconds::from(until - time);
            }
            time = until;
        }
    }

    /// Finds packets that hold a virtual channel and have a flit, or will have one.
    fn find_senders(&self, waits: &Waits, waiting: &mut Vec<(u16, Wait)>) {
        let FlitState { active_vcs, queues, vcs, times, .. } = &*self.state;
        for place in self.active_vcs() {
            let queue = active_vcs[place];
            let FlitQueue { flits, output, output_port, held, needs_room, .. } =
                queues[queue as usize];
            if flits.is_empty() {
                continue;
            }
            let room_from = if needs_room { vcs[held.place()].room_from(1, times) } else { 0 };
            let wait = Wait {
                from: waits.since[queue as usize].max(flits.front(times)),
                is_sender: waits.sender[output_port as usize] == queue,
                lost_until: 0,
                room_from,
                then: Stall::InputBusy,
            };
            waiting.push((output, wait));
        }
    }

    /// Finds packets that ask for virtual channels.
    fn find_requesters(&self, waits: &Waits, waiting: &mut Vec<(u16, Wait)>) {
        let (words, outputs) = (self.rules.words, usize::from(self.router.outputs));
        let first = self.router.first_output as usize;
        let requests = self.state.requests[first * words..][..outputs * words].chunks_exact(words);
        for (output, requests) in (0..).zip(requests) {
            for queue in members(requests) {
                let wait = self.wait_of_requester(waits, output, self.first_queue + queue);
                waiting.push((output, wait));
            }
        }
    }

    /// The wait of the head of a queue, which asks for virtual channels of an output.
    fn wait_of_requester(&self, waits: &Waits, output: u16, queue: usize) -> Wait {
        let state = &self.state.queues[queue];
        debug_assert!(state.vc_state == VcState::VcAlloc);
        let needs_room = self.output_port(output.into()).needs_room;
        let flits = if needs_room { self.rules.needed(state.left, 0).into() } else { 0 };
        let number = self.router.first_output as usize + usize::from(output);
        let first = self.state.outputs[number].vcs as usize;
        let room_from = bits(self.vcs_requested(state, output)).map(|vc| {
            let vc = &self.state.vcs[first + vc];
            vc.free_at.max(vc.room_from(flits, &self.state.times))
        });
        let from = waits.since[queue];
        Wait {
            from,
            is_sender: false,
            lost_until: if state.again > from { state.again } else { 0 },
            room_from: room_from.min().unwrap_or(NEVER),
            then: Stall::Bubble,
        }
    }

    /// The virtual channels of an output that the head of a queue asks for, a bit each.
    fn vcs_requested(&self, queue: &FlitQueue, output: u16) -> u16 {
        if !queue.chooses {
            return queue.vcs;
        }
        if let Routing::Relation(relation) = &self.common.routing {
            let hops = relation.hops_of_list(queue.held.list()).iter();
            return hops.filter(|hop| hop.port == output).fold(0, |set, hop| set | 1 << hop.vc);
        }
        let nearer = queue.options >> output & 1;
        let escape = u16::from(queue.output == output);
        nearer << self.common.context.channels.adaptive | escape << queue.vc
    }
}
