//! What links do at an instant.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Acknowledgements, Retry};

use crate::shared::channel::{Moving, arrived};

use super::{
    super::{
        Simulator,
        network::{Channel, CreditMessage, Flit, Hold, Sending, Source},
    },
    Link,
    far_end::Fate,
};

impl Channel {
    fn err(&mut self) -> &mut Link {
        self.link.as_mut().expect("it errs")
    }

    /// Whether nothing is being sent on it.
    fn is_free(&self) -> bool {
        let acknowledging = self.link.as_ref().and_then(|link| link.acknowledging);
        self.sending.is_none() && acknowledging.is_none() && self.hold != Hold::Starts
    }

    /// Whether a packet can be granted the channel.
    pub fn can_be_granted(&self) -> bool {
        self.is_free()
            && self.hold == Hold::No
            && self.link.as_ref().is_none_or(|link| link.sender.has_room())
    }
}

impl Simulator<'_> {
    /// Takes in a flit at the far end of a channel that errs.
    pub fn take_in(&mut self, channel: usize, flit: Flit, now: Picoseconds) {
        let stomp = self.channels[channel].err().errors.retry == Retry::Stomp
            && !self.is_on_tree(flit.virtual_channel);
        let far_end = &mut self.channels[channel].err().far_end;
        if flit.index == 0 {
            assert!(far_end.coming.is_empty());
            far_end.damaged = false;
            far_end.enters = far_end.would_be_next(&flit) && stomp;
        }
        far_end.damaged |= flit.is_damaged;
        let is_last = flit.index + 1 == self.packets[flit.packet].flits;
        if !far_end.enters {
            far_end.coming.push(flit);
        }
        let enters = far_end.enters;
        let fate = is_last.then(|| far_end.judge(&flit));
        if enters {
            let is_bad_here = fate == Some(Fate::Damaged);
            let is_bad_copy = flit.is_bad_copy || is_bad_here;
            self.enter(channel, Flit { is_bad_copy, is_bad_here, ..flit }, now);
        }
        if let Some(fate) = fate {
            self.conclude(channel, flit, fate, now);
        }
    }

    /// A flit is in the buffer from now on.
    fn enter(&mut self, channel: usize, flit: Flit, now: Picoseconds) {
        self.channels[channel].buffers[flit.virtual_channel].flits.push_back((now, flit));
        self.due.insert(now + self.parameters.routing_latency);
    }

    /// Does what follows from the verdict.
    fn conclude(&mut self, channel: usize, last: Flit, fate: Fate, now: Picoseconds) {
        let link = self.channels[channel].err();
        let came = std::mem::take(&mut link.far_end.coming);
        let entered = link.far_end.enters;
        link.counts.bad_copies += u64::from(last.is_bad_copy);
        if link.far_end.damaged && !last.is_bad_copy {
            link.counts.damaged += 1;
        }
        if link.errors.acknowledgements == Acknowledgements::Free {
            self.tell(channel, now);
        }
        match fate {
            Fate::Damaged => {}
            Fate::Discarded => {
                assert!(!entered);
                if last.is_bad_copy {
                    self.return_room(channel, last, now);
                }
            }
            Fate::Beside => {
                self.channels[channel].err().far_end.beside.insert(last.number, came);
            }
            Fate::Next => {
                for flit in came {
                    self.enter(channel, flit, now);
                }
                let virtual_channel = last.virtual_channel;
                let far_end =
                    |it: &mut Self| it.channels[channel].err().far_end.next_beside(virtual_channel);
                while let Some(flits) = far_end(self) {
                    for flit in flits {
                        self.enter(channel, flit, now);
                    }
                }
            }
        }
    }

    /// Sends back the room of a packet whose last flit this is, unless it is still its packet's.
    pub fn return_room(&mut self, channel: usize, last: Flit, now: Picoseconds) {
        if last.is_bad_here {
            return;
        }
        let virtual_channel = last.virtual_channel;
        let flits = self.packets[last.packet].flits;
        let channel = &mut self.channels[channel];
        if let Some(link) = &mut channel.link {
            let room = link.rooms.remove(&last.number);
            assert_eq!(room, Some((virtual_channel, flits)), "a packet has room once");
        }
        let arrives = now + channel.credit_delay;
        channel
            .returning
            .push_back(Moving { arrives, content: CreditMessage { virtual_channel, flits } });
        self.due.insert(arrives);
    }

    /// What the far end has to say is on its way from now on.
    fn tell(&mut self, channel: usize, now: Picoseconds) {
        let arrives = now + self.channels[channel].credit_delay;
        let link = self.channels[channel].err();
        let content = std::mem::take(&mut link.far_end.unsaid);
        if !content.is_empty() {
            link.replies.push_back(Moving { arrives, content });
            self.due.insert(arrives);
        }
    }

    /// Frees channels that have sent an acknowledgement, takes in acknowledgements, then time-outs.
    pub fn receive_verdicts(&mut self, now: Picoseconds) {
        for link in self.channels.iter_mut().filter_map(|channel| channel.link.as_mut()) {
            if link.acknowledging.is_some_and(|until| until <= now) {
                link.acknowledging = None;
            }
            while let Some(verdicts) = arrived(&mut link.replies, now) {
                for verdict in verdicts {
                    link.sender.learn(verdict);
                }
            }
            link.sender.pass(now);
        }
    }

    /// Removes bad copies that are there whole, except those that are being sent on.
    pub fn discard_bad_copies(&mut self, now: Picoseconds) {
        let sending = self.channels.iter().filter_map(|channel| channel.sending.as_ref());
        let sent: Vec<usize> = sending.map(|sending| sending.packet).collect();
        for channel in 0..self.channels.len() {
            for virtual_channel in 0..self.virtual_channels() {
                loop {
                    let flits = &mut self.channels[channel].buffers[virtual_channel].flits;
                    let mut all = flits.iter().map(|(_, flit)| flit);
                    let is_last = |it: &Flit| it.is_bad_copy && !sent.contains(&it.packet);
                    let Some(place) = all.position(is_last) else { break };
                    let (_, last) = flits[place];
                    let from = place + 1 - self.packets[last.packet].flits as usize;
                    let mut copy = flits.drain(from..=place);
                    assert!(copy.all(|(_, flit)| flit.packet == last.packet));
                    drop(copy);
                    self.return_room(channel, last, now);
                }
            }
        }
    }

    /// Sends what far ends have to say, each on the other channel of its cable.
    pub fn send_acknowledgements(&mut self, now: Picoseconds) {
        for channel in 0..self.channels.len() {
            let Some(link) = &self.channels[channel].link else { continue };
            let back = link.back;
            if link.far_end.unsaid.is_empty() || !self.channels[back].is_free() {
                continue;
            }
            let until = now + self.channels[back].flit_time;
            let bits = 8 * self.parameters.flit.0;
            let carrier = self.channels[back].err();
            carrier.acknowledging = Some(until);
            carrier.flits[0] += 1;
            let lost = carrier.damage.send(bits) | carrier.damage.has_burst(now, until);
            carrier.counts.acknowledgements += 1;
            carrier.counts.lost += u64::from(lost);
            self.due.insert(until);
            if lost {
                self.channels[channel].err().far_end.unsaid.clear();
            } else {
                self.tell(channel, now);
            }
        }
    }

    /// Begins to send again what is wanted.
    pub fn send_again(&mut self, now: Picoseconds) {
        for channel in &mut self.channels {
            if !channel.is_free() {
                continue;
            }
            let Some(link) = &mut channel.link else { continue };
            let Some(wanted) = link.sender.send_again() else { continue };
            let packet = self.packets.len();
            self.packets.push(wanted.packet.clone());
            link.counts.sent_again += u64::from(wanted.packet.flits);
            channel.sending = Some(Sending {
                packet,
                out_vc: wanted.out_vc,
                from: Source::Whole,
                started: 0,
                began: now,
                latest_start: now,
                number: wanted.number,
                void_from: wanted.void_from,
            });
        }
    }
}
