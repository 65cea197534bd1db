//! The replay buffer of a channel: packets that may have to be sent again, and the far end's
//! reaction to each transmission.
//!
//! All knowledge of the far end follows from what was sent to it. So its reaction is computed at
//! the sender, at the start of each transmission. The time at which the sender learns it comes
//! later.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::FarOutput;
use super::damage::Damage;
use crate::frame::tick::{NEVER, Tick, move_back};
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;
use flitlab_model::Parameters;
use flitlab_model::{Acknowledgements, LinkErrors, Resend, Retry};

/// Parameters that all channels have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplayRules {
    pub retry: Retry,
    pub resend: Resend,
    /// Whether acknowledgements take flits of the other direction.
    pub takes_flits: bool,
    pub time_out: Tick,
    pub bits_a_flit: u64,
    /// Maximum number of unacknowledged packets.
    most: usize,
    /// Number of them for which memory is reckoned.
    pub entries: usize,
    /// Maximum number of their flits before the largest packet is granted the channel, or a flit.
    most_before: u32,
}

impl ReplayRules {
    pub(super) fn new(errors: &LinkErrors, parameters: &Parameters) -> Self {
        let takes_flits = errors.acknowledgements == Acknowledgements::Flits;
        let by_flit = parameters.kind.grants_flits();
        let largest = if by_flit { 1 } else { parameters.maximum_packet() };
        let most: usize = narrow(errors.most_packets());
        Self {
            // A flit is checked by itself when it arrives.
            retry: if by_flit { Retry::Store } else { errors.retry },
            resend: errors.resend,
            takes_flits,
            time_out: if takes_flits { narrow(errors.time_out) } else { NEVER },
            bits_a_flit: parameters.flit.0 * 8,
            most,
            // Packets are large, and flits are many.
            entries: if by_flit { most.min(narrow(errors.replay_buffer)) } else { 16 },
            most_before: errors.replay_buffer.saturating_sub(largest),
        }
    }
}

/// The far end's message about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AckMessage {
    /// All packets of lower numbers have been accepted.
    AllBefore(u64),
    /// The packet of this number has been accepted.
    Accepted(u64),
    /// The packet of this number was damaged and is to be sent again.
    Wanted(u64),
}

/// The fate of a packet that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalOutcome {
    /// It enters the buffer, and after it those that wait for it.
    Enters,
    /// A bad copy enters the buffer instead.
    BadCopy,
    /// It waits beside the buffer for those before it.
    Waits,
    /// It is a bad copy that is discarded.
    Discarded,
    /// The far end ignores this transmission.
    Nothing,
}

/// A packet that is not acknowledged yet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReplayEntry {
    pub number: u64,
    /// The slot of the packet; [`NONE`] once it has entered the far buffer, or waits beside it.
    pub slot: u32,
    pub source: u32,
    pub sequence: u32,
    /// Time at which it is sent again for lack of an acknowledgement; [`NEVER`] once it was.
    pub due: Tick,
    pub flits: u16,
    pub vc: u8,
    pub accepted: bool,
    /// Whether it is a bad copy itself.
    pub bad: bool,
}

/// Whether a channel is held for a packet of a collective operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Hold {
    #[default]
    No,
    /// The packet waits for other channels.
    Waits,
    /// It has all of them, and starts at this time. Until then the link begins nothing more.
    Starts(Tick),
}

/// The sending end of a channel that may send again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReplayChannel {
    pub damage: Damage,
    /// Flits that were sent again since the last reset of statistics.
    pub flits_resent: u64,
    /// The output at the channel's far end by which the same cable comes back: messages about the
    /// channel's packets go there, and come from there.
    pub reverse: Option<FarOutput>,
    /// Time at which the last flit of the present transmission has left.
    pub line_free: Tick,
    pub hold: Hold,
    pub entries: VecDeque<ReplayEntry>,
    /// Flits of these packets.
    held: u32,
    next_number: u64,
    /// Packets that have been accepted and wait beside the far buffer for one before them, in the
    /// order of numbers.
    beside: Vec<ReplayEntry>,
    /// The numbers of the packets that are to be sent again.
    again: VecDeque<u64>,
    /// Messages that will be known here, in the order of time.
    pub learned: VecDeque<(Tick, AckMessage)>,
    /// Messages about the other direction's packets that are to be sent, and the times of their
    /// decision.
    pub to_send: VecDeque<(Tick, AckMessage)>,
}

impl ReplayChannel {
    pub(super) fn new(damage: Damage, reverse: Option<FarOutput>) -> Self {
        Self { damage, reverse, ..Self::default() }
    }

    /// Whether the replay buffer has no room for the largest packet, or no sequence number is left.
    pub(crate) fn is_full(&self, rules: &ReplayRules) -> bool {
        self.held > rules.most_before || self.entries.len() >= rules.most
    }

    /// Puts a packet into the replay buffer that is granted the channel. Returns its place there.
    pub(crate) fn keep(&mut self, entry: ReplayEntry, resend: Resend) -> usize {
        if resend == Resend::GoBackN && self.sends_again() {
            // The far end discards it, since it waits for those before it.
            self.again.push_back(self.next_number);
        }
        self.held += u32::from(entry.flits);
        self.entries.push_back(ReplayEntry { number: self.next_number, ..entry });
        self.next_number += 1;
        self.entries.len() - 1
    }

    /// Removes a packet from the replay buffer.
    pub(crate) fn remove(&mut self, place: usize) -> Option<ReplayEntry> {
        let entry = self.entries.remove(place)?;
        self.held -= u32::from(entry.flits);
        Some(entry)
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    /// Whether all packets have been accepted that a packet may not overtake.
    fn in_turn(&self, place: usize, resend: Resend) -> bool {
        let vc = self.entries[place].vc;
        let mut before = self.entries.range(..place);
        before.all(|it| it.accepted || resend == Resend::Selective && it.vc != vc)
    }

    /// The far end's reaction to a packet's transmission: its message, and the fate of the packet.
    pub(crate) fn react(
        &mut self,
        place: usize,
        damaged: bool,
        rules: &ReplayRules,
    ) -> (Option<AckMessage>, ArrivalOutcome) {
        let ReplayEntry { number, accepted, bad, .. } = self.entries[place];
        let in_turn = self.in_turn(place, rules.resend);
        let goes_back = rules.resend == Resend::GoBackN;
        // `expected`: the first packet that has not been accepted.
        let accepts = |expected: u64| match rules.resend {
            Resend::GoBackN => Some(AckMessage::AllBefore(expected)),
            Resend::Selective => Some(AckMessage::Accepted(number)),
        };
        if accepted {
            return (accepts(self.first_missing(|_| true)), ArrivalOutcome::Nothing);
        }
        if goes_back && !in_turn {
            return (None, if bad { ArrivalOutcome::Discarded } else { ArrivalOutcome::Nothing });
        }
        if damaged && !bad {
            let enters = in_turn && rules.retry == Retry::Stomp;
            let outcome = if enters { ArrivalOutcome::BadCopy } else { ArrivalOutcome::Nothing };
            return (Some(AckMessage::Wanted(number)), outcome);
        }
        self.entries[place].accepted = true;
        let outcome = match (in_turn, bad) {
            (true, _) => ArrivalOutcome::Enters,
            (false, true) => ArrivalOutcome::Discarded,
            (false, false) => ArrivalOutcome::Waits,
        };
        (accepts(number + 1), outcome)
    }

    /// The number of the first of some packets that has not been accepted; else of the next one.
    fn first_missing(&self, is_one: impl Fn(&ReplayEntry) -> bool) -> u64 {
        let missing = self.entries.iter().find(|entry| !entry.accepted && is_one(entry));
        missing.map_or(self.next_number, |entry| entry.number)
    }

    /// Lets a packet wait beside the far buffer for missing packets of its virtual channel.
    pub(crate) fn put_beside(&mut self, place: usize) {
        let entry = self.entries[place];
        self.entries[place].slot = NONE;
        let before = self.beside.partition_point(|other| other.number < entry.number);
        self.beside.insert(before, entry);
    }

    /// Takes the packets of a virtual channel that need not wait any longer, in their order.
    pub(crate) fn take_from_beside(&mut self, vc: u8, slots: &mut Vec<u32>) {
        if self.beside.is_empty() {
            return;
        }
        let missing = self.first_missing(|entry| entry.vc == vc);
        self.beside.retain(|beside| {
            let enters = beside.vc == vc && beside.number < missing;
            slots.extend(enters.then_some(beside.slot));
            !enters
        });
    }

    /// Flits of a virtual channel that hold room at the far end without being in the buffer there.
    pub(crate) fn flits_kept(&self, vc: u8) -> u32 {
        let kept = self.entries.iter().chain(&self.beside);
        let kept = kept.filter(|entry| entry.vc == vc && entry.slot != NONE);
        kept.map(|entry| u32::from(entry.flits)).sum()
    }

    /// Flits of a virtual channel that hold room at the far end without being in the queue there,
    /// where flits are sent one by one.
    pub(crate) fn flits_missing(&self, vc: u8) -> u32 {
        let of_vc = |entry: &&ReplayEntry| entry.vc == vc;
        let missing = self.entries.iter().filter(|entry| !entry.accepted).filter(of_vc).count();
        narrow(missing + self.beside.iter().filter(of_vc).count())
    }

    /// Takes in the messages that are known by now, then time-outs.
    pub(crate) fn learn(&mut self, now: Tick, resend: Resend) {
        while let Some(&(time, message)) = self.learned.front()
            && time <= now
        {
            self.learned.pop_front();
            match message {
                AckMessage::AllBefore(number) => {
                    while self.entries.front().is_some_and(|entry| entry.number < number) {
                        self.remove(0);
                    }
                    self.again.retain(|&other| other >= number);
                }
                AckMessage::Accepted(number) => {
                    self.place(number).and_then(|place| self.remove(place));
                    self.again.retain(|&other| other != number);
                }
                AckMessage::Wanted(number) => self.want(number, resend),
            }
        }
        let timed = self.timed(resend);
        let mut place = 0;
        while place < timed.min(self.entries.len()) {
            let entry = &mut self.entries[place];
            place += 1;
            if entry.due <= now {
                entry.due = NEVER;
                let (number, left) = (entry.number, self.entries.len());
                self.want(number, resend);
                place -= usize::from(resend == Resend::Selective && self.entries.len() < left);
            }
        }
    }

    /// Marks a packet to be sent again.
    fn want(&mut self, number: u64, resend: Resend) {
        let Some(place) = self.place(number) else { return };
        match resend {
            Resend::GoBackN => {
                // Packets that wait for a retransmission after a time-out still do.
                let from = self.again.front().map_or(number, |&next| next.min(number));
                self.again.clear();
                let bad = |entry: &ReplayEntry| entry.bad && entry.number >= from;
                let left_out = self.entries.iter().filter(|entry| bad(entry));
                self.held -= left_out.map(|entry| u32::from(entry.flits)).sum::<u32>();
                self.entries.retain(|entry| !bad(entry));
                let behind = self.entries.iter().filter(|entry| entry.number >= from);
                self.again.extend(behind.map(|entry| entry.number));
            }
            Resend::Selective if self.entries[place].bad => {
                self.remove(place);
            }
            Resend::Selective if self.again.contains(&number) => {}
            Resend::Selective => self.again.push_back(number),
        }
    }

    /// How many of the first packets are sent again for lack of an acknowledgement.
    fn timed(&self, resend: Resend) -> usize {
        if resend == Resend::GoBackN { 1 } else { self.entries.len() }
    }

    /// Whether the link can send something else than a packet that is granted the channel.
    pub(crate) fn is_free(&self, now: Tick) -> bool {
        self.line_free <= now && !matches!(self.hold, Hold::Starts(_))
    }

    /// Whether a packet is to be sent again.
    pub(crate) fn sends_again(&self) -> bool {
        !self.again.is_empty()
    }

    /// The place in the replay buffer of the packet that is sent again next.
    pub(crate) fn next_again(&mut self) -> Option<usize> {
        let number = self.again.pop_front()?;
        self.place(number)
    }

    /// A lower bound of the next event.
    pub(crate) fn due(&self, resend: Resend) -> Tick {
        let learned = self.learned.front().map_or(NEVER, |it| it.0);
        let timed = self.entries.iter().take(self.timed(resend)).map(|entry| entry.due);
        let (line_free, starts) = match self.hold {
            Hold::Starts(time) => (NEVER, time),
            Hold::No | Hold::Waits => (self.line_free, NEVER),
        };
        let says = self.to_send.front().map_or(NEVER, |it| it.0.max(line_free));
        let again = if self.sends_again() { line_free } else { NEVER };
        timed.fold(learned.min(says).min(again).min(starts), Tick::min)
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        let messages = self.learned.iter_mut().chain(&mut self.to_send).map(|it| &mut it.0);
        let due = self.entries.iter_mut().map(|entry| &mut entry.due);
        move_back(messages.chain(due).chain([&mut self.line_free]), by);
        if let Hold::Starts(time) = &mut self.hold {
            move_back([time], by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(resend: Resend, retry: Retry) -> ReplayRules {
        ReplayRules {
            retry,
            resend,
            takes_flits: false,
            time_out: NEVER,
            bits_a_flit: 64,
            most: 4,
            entries: 4,
            most_before: 5,
        }
    }

    /// A packet of two flits.
    fn packet(slot: u32, vc: u8) -> ReplayEntry {
        let (source, sequence, due) = (0, slot, NEVER);
        ReplayEntry {
            number: 0,
            slot,
            source,
            sequence,
            due,
            flits: 2,
            vc,
            accepted: false,
            bad: false,
        }
    }

    /// A channel that has sent three packets, of which the second one has a virtual channel of its
    /// own.
    fn channel(resend: Resend) -> ReplayChannel {
        let mut channel = ReplayChannel::default();
        for (slot, vc) in [(10, 0), (11, 1), (12, 0)] {
            channel.keep(packet(slot, vc), resend);
        }
        channel
    }

    /// The slots of the packets that are sent again, in their order.
    fn sent_again(channel: &mut ReplayChannel) -> Vec<u32> {
        let mut slots = Vec::new();
        while let Some(place) = channel.next_again() {
            slots.push(channel.entries[place].slot);
        }
        slots
    }

    #[test]
    fn a_damaged_packet_is_sent_again_with_all_behind_it() {
        let rules = rules(Resend::GoBackN, Retry::Store);
        let mut channel = channel(rules.resend);
        assert!(channel.is_full(&rules), "six flits are more than five");
        let first = channel.react(0, true, &rules);
        assert_eq!(first, (Some(AckMessage::Wanted(0)), ArrivalOutcome::Nothing));
        // The far end waits for the first one, and says nothing of the others.
        assert_eq!(channel.react(1, false, &rules), (None, ArrivalOutcome::Nothing));
        channel.learned.push_back((50, AckMessage::Wanted(0)));
        channel.learn(49, rules.resend);
        assert!(!channel.sends_again());
        channel.learn(50, rules.resend);
        assert_eq!(sent_again(&mut channel), [10, 11, 12]);
        for (place, number) in [(0, 1), (1, 2), (2, 3)] {
            let all_before = Some(AckMessage::AllBefore(number));
            assert_eq!(channel.react(place, false, &rules), (all_before, ArrivalOutcome::Enters));
        }
        // One that comes twice is answered again, and enters once.
        let again = channel.react(0, false, &rules);
        assert_eq!(again, (Some(AckMessage::AllBefore(3)), ArrivalOutcome::Nothing));
        channel.learned.push_back((90, AckMessage::AllBefore(2)));
        channel.learn(90, rules.resend);
        assert_eq!((channel.entries.len(), channel.is_full(&rules)), (1, false));
    }

    #[test]
    fn a_damaged_packet_is_sent_again_alone_and_those_of_its_virtual_channel_wait_beside() {
        let rules = rules(Resend::Selective, Retry::Store);
        let mut channel = channel(rules.resend);
        let first = channel.react(0, true, &rules);
        assert_eq!(first, (Some(AckMessage::Wanted(0)), ArrivalOutcome::Nothing));
        // Another virtual channel need not wait; the same one does.
        let second = channel.react(1, false, &rules);
        assert_eq!(second, (Some(AckMessage::Accepted(1)), ArrivalOutcome::Enters));
        let third = channel.react(2, false, &rules);
        assert_eq!(third, (Some(AckMessage::Accepted(2)), ArrivalOutcome::Waits));
        channel.put_beside(2);
        assert_eq!((channel.flits_kept(0), channel.flits_kept(1)), (4, 2));
        let mut entering = Vec::new();
        channel.take_from_beside(0, &mut entering);
        assert!(entering.is_empty(), "the first one is missing");
        channel.learned.push_back((50, AckMessage::Wanted(0)));
        channel.learned.push_back((60, AckMessage::Accepted(1)));
        channel.learn(60, rules.resend);
        assert_eq!(sent_again(&mut channel), [10]);
        assert_eq!(channel.react(0, false, &rules).1, ArrivalOutcome::Enters);
        channel.take_from_beside(0, &mut entering);
        assert_eq!((entering, channel.entries.len()), (vec![12], 2));
    }

    #[test]
    fn a_packet_without_an_answer_is_sent_again_once_its_time_is_over() {
        for (resend, expected) in
            [(Resend::GoBackN, vec![10, 11, 12]), (Resend::Selective, vec![11])]
        {
            let mut channel = channel(resend);
            // Of packets that go back to the first one, that one's time counts.
            let timed = usize::from(resend == Resend::Selective);
            channel.entries[timed].due = 70;
            assert_eq!(channel.due(resend), 70);
            channel.learn(69, resend);
            assert!(!channel.sends_again());
            channel.learn(70, resend);
            assert_eq!(sent_again(&mut channel), expected);
            channel.learn(1000, resend);
            assert!(!channel.sends_again(), "it has no time any more until it is sent");
        }
    }

    #[test]
    fn a_packet_that_has_begun_to_leave_enters_as_a_bad_copy_where_copies_are_stomped() {
        let rules = rules(Resend::GoBackN, Retry::Stomp);
        let mut channel = channel(rules.resend);
        assert_eq!(channel.react(0, true, &rules).1, ArrivalOutcome::BadCopy);
        // A copy that was bad before is not wanted again.
        channel.entries[0].bad = true;
        assert_eq!(channel.react(0, true, &rules).1, ArrivalOutcome::Enters);
        channel.entries[2].bad = true;
        assert_eq!(channel.react(2, true, &rules), (None, ArrivalOutcome::Discarded));
    }
}
