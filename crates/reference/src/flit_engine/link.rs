//! Links that err, flit by flit: docs/model.md, "Flits on links that err".

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Acknowledgements, LinkErrors, Parameters, Resend};

use crate::shared::{
    channel::{Moving, arrived},
    links::{Counts, Damage, Verdict},
};

use super::{Simulator, network::Flit};

/// A flit that has not been acknowledged.
#[derive(Clone, Copy)]
struct Unacknowledged {
    number: u64,
    flit: Flit,
    /// When it is wanted unless it is acknowledged.
    time_out: Option<Picoseconds>,
}

/// Both ends of a channel that errs.
pub struct Link {
    errors: LinkErrors,
    damage: Damage,
    /// The channel back, of the same cable.
    pub back: usize,
    next: u64,
    /// In the order of their numbers.
    replay: Vec<Unacknowledged>,
    /// The numbers of those that are to be sent again, in this order.
    wanted: Vec<u64>,
    /// At the far end: the number that is expected (go-back-n), and those accepted (selective).
    expected: u64,
    accepted: BTreeSet<u64>,
    /// By number: the virtual channel of each flit that has been sent.
    virtual_channels: Vec<usize>,
    /// Accepted flits that wait for one of a lower number.
    beside: BTreeMap<u64, Flit>,
    /// What the far end has not said yet.
    unsaid: Vec<Verdict>,
    /// Verdicts on their way to the sender.
    replies: VecDeque<Moving<Vec<Verdict>>>,
    pub counts: Counts,
    /// Flits sent, by virtual channel.
    pub flits: Vec<u64>,
}

impl Link {
    /// Of this channel of the fabric.
    pub fn new(parameters: &Parameters, number: u32) -> Option<Self> {
        let errors = parameters.errors.clone()?;
        Some(Self {
            damage: Damage::new(&errors, number),
            errors,
            back: usize::MAX,
            next: 0,
            replay: Vec::new(),
            wanted: Vec::new(),
            expected: 0,
            accepted: BTreeSet::new(),
            virtual_channels: Vec::new(),
            beside: BTreeMap::new(),
            unsaid: Vec::new(),
            replies: VecDeque::new(),
            counts: Counts::default(),
            flits: vec![0; parameters.virtual_channels.into()],
        })
    }

    /// Whether another flit can be kept until it is acknowledged.
    pub fn has_room(&self) -> bool {
        let bits = self.errors.sequence_bits;
        let most: u64 = match self.errors.resend {
            Resend::GoBackN => (1 << bits) - 1,
            Resend::Selective => 1 << (bits - 1),
        };
        let kept = self.replay.len() as u64;
        kept < most && kept < u64::from(self.errors.replay_buffer)
    }

    pub fn is_idle(&self) -> bool {
        self.replay.is_empty()
            && self.wanted.is_empty()
            && self.beside.is_empty()
            && self.unsaid.is_empty()
            && self.replies.is_empty()
    }

    fn is_accepted(&self, number: u64) -> bool {
        match self.errors.resend {
            Resend::GoBackN => number < self.expected,
            Resend::Selective => self.accepted.contains(&number),
        }
    }

    /// Flits of a virtual channel that have room at the far end and are not in its queue.
    pub fn missing(&self, virtual_channel: usize) -> usize {
        let missing = self.replay.iter().filter(|it| !self.is_accepted(it.number));
        let flits = missing.map(|it| &it.flit).chain(self.beside.values());
        flits.filter(|flit| flit.virtual_channel == virtual_channel).count()
    }

    fn learn(&mut self, verdict: Verdict) {
        let is_known = |number: u64| match verdict {
            Verdict::AllBefore(expected) => number < expected,
            Verdict::Accepted(accepted) => number == accepted,
            Verdict::Wanted(_) => false,
        };
        self.replay.retain(|it| !is_known(it.number));
        self.wanted.retain(|&number| !is_known(number));
        if let Verdict::Wanted(number) = verdict {
            self.want(number);
        }
    }

    fn want(&mut self, number: u64) {
        if !self.replay.iter().any(|it| it.number == number) {
            return;
        }
        match self.errors.resend {
            Resend::GoBackN => {
                let behind = self.replay.iter().map(|it| it.number).filter(|&it| it >= number);
                let all: BTreeSet<u64> = behind.chain(self.wanted.iter().copied()).collect();
                self.wanted = all.into_iter().collect();
            }
            Resend::Selective if self.wanted.contains(&number) => {}
            Resend::Selective => self.wanted.push(number),
        }
    }

    fn pass_time(&mut self, now: Picoseconds) {
        let those = match self.errors.resend {
            Resend::GoBackN => self.replay.len().min(1),
            Resend::Selective => self.replay.len(),
        };
        let mut over = Vec::new();
        for it in &mut self.replay[..those] {
            if it.time_out.is_some_and(|time| time <= now) {
                it.time_out = None;
                over.push(it.number);
            }
        }
        over.into_iter().for_each(|number| self.want(number));
    }

    /// Whether a flit of a lower number in the same virtual channel has not been accepted.
    fn is_lower_missing(&self, number: u64) -> bool {
        let vcs = &self.virtual_channels;
        let of_same = |&it: &u64| vcs[it as usize] == vcs[number as usize];
        (0..number).filter(of_same).any(|it| !self.accepted.contains(&it))
    }

    /// Passes the verdict on a flit that is there. Returns those that enter the queue now.
    fn judge(&mut self, flit: Flit) -> Vec<Flit> {
        self.counts.damaged += u64::from(flit.is_damaged);
        let number = flit.number;
        match self.errors.resend {
            Resend::GoBackN if number == self.expected && !flit.is_damaged => {
                self.expected += 1;
                self.unsaid.push(Verdict::AllBefore(self.expected));
                vec![flit]
            }
            Resend::GoBackN => {
                if number == self.expected {
                    self.unsaid.push(Verdict::Wanted(number));
                } else if number < self.expected {
                    self.unsaid.push(Verdict::AllBefore(self.expected));
                }
                Vec::new()
            }
            Resend::Selective if self.accepted.contains(&number) => {
                self.unsaid.push(Verdict::Accepted(number));
                Vec::new()
            }
            Resend::Selective if flit.is_damaged => {
                self.unsaid.push(Verdict::Wanted(number));
                Vec::new()
            }
            Resend::Selective => {
                self.accepted.insert(number);
                self.unsaid.push(Verdict::Accepted(number));
                self.beside.insert(number, flit);
                let enter = self.beside.keys().copied();
                let enter: Vec<u64> = enter.filter(|&it| !self.is_lower_missing(it)).collect();
                enter.iter().filter_map(|number| self.beside.remove(number)).collect()
            }
        }
    }
}

impl Simulator<'_> {
    /// Takes in a flit at the far end of a channel that errs. Returns those that enter the queue.
    pub fn take_in(&mut self, channel: usize, flit: Flit, now: Picoseconds) -> Vec<Flit> {
        let latency = self.channels[channel].latency;
        let link = self.channels[channel].link.as_mut().expect("it errs");
        let enter = link.judge(flit);
        if link.errors.acknowledgements == Acknowledgements::Free && !link.unsaid.is_empty() {
            let content = std::mem::take(&mut link.unsaid);
            link.replies.push_back(Moving { arrives: now + latency, content });
            self.due.insert(now + latency);
        }
        enter
    }

    /// Takes in acknowledgements, then time-outs.
    pub fn receive_verdicts(&mut self, now: Picoseconds) {
        for link in self.channels.iter_mut().filter_map(|channel| channel.link.as_mut()) {
            while let Some(verdicts) = arrived(&mut link.replies, now) {
                verdicts.into_iter().for_each(|verdict| link.learn(verdict));
            }
            link.pass_time(now);
        }
    }

    /// Sends a flit on its channel from `starts` on. It takes a number if the channel errs, and
    /// takes verdicts along.
    pub fn start(
        &mut self,
        number: usize,
        mut flit: Flit,
        (now, starts): (Picoseconds, Picoseconds),
    ) {
        if self.channels[number].link.is_some() {
            let link = self.channels[number].link.as_mut().expect("checked");
            flit.number = link.next;
            link.next += 1;
            link.virtual_channels.push(flit.virtual_channel);
            link.replay.push(Unacknowledged { number: flit.number, flit, time_out: None });
            self.send_on_link(number, flit, (now, starts));
        } else {
            let channel = &mut self.channels[number];
            let arrives = starts + channel.latency;
            channel.flits.push_back(Moving { arrives, content: flit });
            self.due.insert(arrives);
        }
    }

    /// Sends a flit on a channel that errs, for the first time or again.
    fn send_on_link(
        &mut self,
        number: usize,
        mut flit: Flit,
        (now, starts): (Picoseconds, Picoseconds),
    ) {
        let damaged = self.carry(number, (now, starts));
        let channel = &mut self.channels[number];
        let until = starts + channel.flit_time;
        let arrives = starts + channel.latency;
        flit.is_damaged = damaged;
        let link = channel.link.as_mut().expect("it errs");
        link.flits[flit.virtual_channel] += 1;
        if link.errors.acknowledgements == Acknowledgements::Flits {
            let time_out = until + link.errors.time_out;
            let own = link.replay.iter_mut().find(|it| it.number == flit.number);
            own.expect("it is kept").time_out = Some(time_out);
            self.due.insert(time_out);
        }
        channel.flits.push_back(Moving { arrives, content: flit });
        self.due.insert(arrives);
    }

    /// Lets a flit that starts on a channel take along what there is to say of the other direction.
    /// Returns whether the flit is damaged.
    fn carry(&mut self, number: usize, (_, starts): (Picoseconds, Picoseconds)) -> bool {
        let bits = 8 * self.parameters.flit.0;
        let channel = &mut self.channels[number];
        let (until, arrives) = (starts + channel.flit_time, starts + channel.latency);
        let link = channel.link.as_mut().expect("it errs");
        let damaged = link.damage.send(bits) | link.damage.has_burst(starts, until);
        let back = link.back;
        let other = self.channels[back].link.as_mut().expect("it errs");
        if other.errors.acknowledgements == Acknowledgements::Flits {
            let content = std::mem::take(&mut other.unsaid);
            if !damaged && !content.is_empty() {
                other.replies.push_back(Moving { arrives, content });
                self.due.insert(arrives);
            }
        }
        damaged
    }

    /// Sends again what is wanted, before the switch is allocated.
    pub fn send_again(&mut self, router: usize, now: Picoseconds) {
        for output in 0..self.routers[router].outputs.len() {
            let number = self.routers[router].outputs[output].channel;
            if self.is_taken(router, output, now) {
                continue;
            }
            let Some(link) = &mut self.channels[number].link else { continue };
            if link.wanted.is_empty() {
                continue;
            }
            let wanted = link.wanted.remove(0);
            let own = link.replay.iter_mut().find(|it| it.number == wanted);
            let own = own.expect("what is acknowledged is no longer wanted");
            own.time_out = None;
            let flit = own.flit;
            link.counts.sent_again += 1;
            let starts = self.occupy(router, output, now);
            let packet = &self.packets[flit.packet];
            let name = self.channels[number].number;
            self.own.digest.add(now, name, packet.source, packet.sequence);
            self.send_on_link(number, flit, (now, starts));
        }
    }

    /// Sends what no other flit has taken along, after the switch has been allocated.
    pub fn acknowledge(&mut self, router: usize, now: Picoseconds) {
        for output in 0..self.routers[router].outputs.len() {
            let number = self.routers[router].outputs[output].channel;
            let Some(link) = &self.channels[number].link else { continue };
            let other = self.channels[link.back].link.as_ref().expect("it errs");
            if other.unsaid.is_empty() || self.is_taken(router, output, now) {
                continue;
            }
            let starts = self.occupy(router, output, now);
            let lost = self.carry(number, (now, starts));
            let link = self.channels[number].link.as_mut().expect("it errs");
            link.flits[0] += 1;
            link.counts.acknowledgements += 1;
            link.counts.lost += u64::from(lost);
        }
    }
}
