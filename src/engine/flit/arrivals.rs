//! Flits and credits that come to a router from others.

use super::Flits;
use super::queue::Stage;
use crate::engine::credits::Credit;
use crate::engine::model::Model;
use crate::engine::packet::{Origin, Packet};
use crate::engine::ports::{self, AWAY};
use crate::engine::tick::Tick;
use crate::engine::way::MOST_WORDS;
use crate::narrow::fitted;
use crate::topology::NONE;

/// Flits of a packet on their way to another router.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct SentRun {
    /// The router's part, its number there, and the pair of input port and lane among its own.
    pub part: u32,
    pub router: u32,
    pub pair: u32,
    /// The packet, if the first of them is its header.
    pub header: u32,
    /// The place of the first one's time, and how many there are.
    pub first: u32,
    pub count: u16,
}

/// Credits for flits of one lane on their way to another router.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct ReturnedRun {
    /// The input port's feeder.
    pub feeder: u32,
    pub lane: u8,
    /// The place of the first one's time, and how many there are.
    pub first: u32,
    pub count: u16,
}

/// A flit on a cable between two parts.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct FlitCrossing {
    pub router: u32,
    pub pair: u32,
    pub time: Tick,
    /// Whether it is the header of the next of the packets that cross.
    pub is_header: bool,
}

/// A packet whose header is on a cable between two parts.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct PacketCrossing {
    pub packet: Packet,
    pub origin: Origin,
    pub rest: [u64; MOST_WORDS],
}

impl Model<'_> {
    /// Delivers the flits and the credits that visits have sent.
    pub(in crate::engine) fn send_flits(&mut self) {
        let Some(mut flits) = self.flits.take() else { return };
        let mut outbox = std::mem::take(&mut self.outbox);
        for run in outbox.flits.drain(..) {
            let times = &outbox.times[run.first as usize..][..usize::from(run.count)];
            if run.part as usize == self.schedule.part {
                self.join_flits(&mut flits, run.router, run.pair, times, run.header);
            } else {
                self.send_flits_away(&run, times);
            }
        }
        for run in outbox.returned_flits.drain(..) {
            let times = &outbox.backs[run.first as usize..][..usize::from(run.count)];
            if run.feeder & AWAY == 0 {
                self.return_flit_credits(&mut flits, run.feeder + u32::from(run.lane), times);
            } else {
                for &time in times {
                    let credit = Credit { time, flits: 1 };
                    self.send_credit_away(run.feeder & !AWAY, run.lane, credit);
                }
            }
        }
        outbox.times.clear();
        outbox.backs.clear();
        self.outbox = outbox;
        self.flits = Some(flits);
    }

    fn send_flits_away(&mut self, run: &SentRun, times: &[Tick]) {
        let &SentRun { part, router, pair, header, .. } = run;
        if header != NONE {
            let crossing = self.take_away(header);
            self.mail[part as usize].headers.push(crossing);
        }
        for (place, &time) in times.iter().enumerate() {
            let is_header = place == 0 && header != NONE;
            self.mail[part as usize].flits.push(FlitCrossing { router, pair, time, is_header });
        }
    }

    /// Takes what another part has sent.
    pub(in crate::engine) fn read_flits(
        &mut self,
        flits: impl Iterator<Item = FlitCrossing>,
        mut headers: impl Iterator<Item = PacketCrossing>,
    ) {
        let Some(mut flits_here) = self.flits.take() else { return };
        for FlitCrossing { router, pair, time, is_header } in flits {
            let mut header = NONE;
            if is_header {
                let PacketCrossing { packet, origin, rest } =
                    headers.next().expect("a packet for each header");
                header = self.packets.insert(packet, origin);
                let own = self.packets.rest(header);
                own.copy_from_slice(&rest[..own.len()]);
            }
            self.join_flits(&mut flits_here, router, pair, &[time], header);
        }
        self.flits = Some(flits_here);
    }

    /// Flits of a packet are on their way to a router of this part; the first is the header if the packet is given.
    #[inline]
    pub(super) fn join_flits(
        &mut self,
        flits: &mut Flits,
        number: u32,
        pair: u32,
        times: &[Tick],
        header: u32,
    ) {
        let router = &self.ports.routers[number as usize];
        let of_part = (router.first_input << flits.rules.shift) + pair;
        let queue = match flits.rules.outputs {
            1 => of_part as usize,
            outputs => {
                if header != NONE {
                    let output = self.next_output(number, pair, header);
                    flits.state.current[of_part as usize] = output;
                }
                let own = flits.state.current[of_part as usize];
                of_part as usize * outputs as usize + usize::from(own)
            }
        };
        let state = &mut flits.state.queues[queue];
        if header != NONE {
            self.packets.packets[header as usize].next = NONE;
            let tail = std::mem::replace(&mut state.tail, header);
            if state.head == NONE {
                state.head = header;
            } else {
                self.packets.packets[tail as usize].next = header;
            }
            if state.stage == Stage::Idle {
                state.stage = Stage::New;
            }
        }
        let was_empty = state.flits.is_empty();
        for &time in times {
            state.flits.push(time, &mut flits.state.times);
        }
        // Who has all that it waits for is looked at then anyway.
        let awaited = match state.stage {
            Stage::New => true,
            Stage::Sending => was_empty,
            Stage::Idle | Stage::Asking | Stage::Undecided => false,
        };
        if awaited {
            // Who waits for the last flit of all looks at each of them.
            let time = state.flits.front(&flits.state.times).max(times[0]);
            let due = &mut flits.state.due[queue];
            *due = (*due).min(time.max(state.free_at));
            self.schedule.active.lower(number, *due);
        }
    }

    /// The output of a router by which a packet leaves it that comes to one of its pairs.
    fn next_output(&self, number: u32, pair: u32, slot: u32) -> u16 {
        let packet = &self.packets.packets[slot as usize];
        let Some(guide) = self.guide else { return self.whole.code.output(packet.way) };
        let router = &self.ports.routers[number as usize];
        let (input, lane) = ports::place(pair, self.ports.size.shift);
        let entry = self.ports.input(router.first_input + fitted!(input, u32));
        let came = (!entry.injects).then_some(entry.opposite);
        let name = number + self.whole.cut.first_router(self.schedule.part);
        let packet = (packet.source, packet.note, packet.way.into());
        guide.look_up(&self.whole, name, packet, (came, lane)).0
    }

    /// A credit is on its way to a channel's sender of this part.
    pub(in crate::engine) fn return_flit_credit(&mut self, place: u32, time: Tick) {
        let Some(mut flits) = self.flits.take() else { return };
        self.return_flit_credits(&mut flits, place, &[time]);
        self.flits = Some(flits);
    }

    /// Credits are on their way to a channel's sender of this part.
    #[inline]
    fn return_flit_credits(&mut self, flits: &mut Flits, place: u32, times: &[Tick]) {
        for &time in times {
            let state = &mut flits.state;
            if state.lanes[place as usize].give_back(time, &mut state.times) {
                self.wake_flit_sender(flits, place, time);
            }
        }
    }

    /// Has a channel's sender look when a credit is there that it waits for.
    #[cold]
    fn wake_flit_sender(&mut self, flits: &mut Flits, place: u32, time: Tick) {
        let (number, output) = self.ports.senders[place as usize / self.whole.lanes.count()];
        let holder = flits.state.lanes[place as usize].holder;
        let mut visit = self.hold_flits(flits, number);
        if holder != NONE {
            visit.lower(holder as usize, time);
        }
        visit.wake_askers(output as usize, time);
        self.schedule.active.lower(number, time);
    }
}
