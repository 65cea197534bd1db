//! Finds messages without a receive, and receives without a message, without carrying a schedule
//! out.

use std::collections::HashMap;

use super::{ANY, Action, Schedule};

/// Messages from one rank to another with a tag, or receives of them, that are more than the
/// others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The kind of operation in excess: sends or receives.
    pub action: Action,
    /// How many at least.
    pub count: u64,
    /// The last of them: [`Schedule::describe`] says which it is.
    pub example: u32,
}

/// A message as its sender sees it, or as its receiver wants it.
#[derive(Clone, Copy, Debug)]
struct Message {
    to: u32,
    from: u32,
    tag: u32,
    receives: bool,
    number: u32,
}

impl Message {
    /// Whether it fits others than those that name the same ranks and the same tag.
    const fn is_wild(&self) -> bool {
        self.from == ANY || self.tag == ANY
    }
}

/// Counts what is sent and received between each two ranks with each tag, and gives what is more
/// than the other.
///
/// Receives from any rank or of any tag, and messages with any tag, excuse as many of the others as
/// they could meet. So what is reported is certain: there is no order of messages in which it would
/// not be left over. What is not reported may be left over all the same.
///
/// Takes time in proportion to n log n for n messages and receives, and 20 bytes for each.
pub fn check(schedule: &Schedule) -> Vec<Unmatched> {
    let mut messages = Vec::new();
    for rank in 0..schedule.ranks() {
        for number in schedule.of_rank(rank) {
            let operation = schedule.operation(number);
            let (peer, tag) = (operation.peer, operation.tag);
            messages.push(match operation.action {
                Action::Compute | Action::Remote(_) => continue,
                Action::Send => Message { to: peer, from: rank, tag, receives: false, number },
                Action::Receive => Message { to: rank, from: peer, tag, receives: true, number },
            });
        }
    }
    messages.sort_unstable_by_key(|it| (it.to, it.from, it.tag, it.receives, it.number));
    let mut found = Vec::new();
    for destination in messages.chunk_by(|a, b| a.to == b.to) {
        check_destination(destination, &mut found);
    }
    found
}

/// Operations with a wildcard, or with a tag of several pairs, at one destination.
#[derive(Default)]
struct Wild {
    /// Receives by what they name; a source or tag that they don't name is [`ANY`].
    receives: HashMap<(u32, u32), u64>,
    /// Messages of any tag, by source.
    sends: HashMap<u32, u64>,
}

impl Wild {
    /// How many could meet a message (or a receive) of this source and tag.
    fn could_meet(&self, of: &Message) -> u64 {
        if of.receives {
            return self.sends.get(&of.from).copied().unwrap_or(0);
        }
        let named = [(ANY, ANY), (ANY, of.tag), (of.from, ANY)];
        named.iter().filter_map(|named| self.receives.get(named)).sum()
    }
}

fn check_destination(messages: &[Message], found: &mut Vec<Unmatched>) {
    let mut wild = Wild::default();
    for message in messages.iter().filter(|message| message.is_wild()) {
        *match message.receives {
            true => wild.receives.entry((message.from, message.tag)).or_default(),
            false => wild.sends.entry(message.from).or_default(),
        } += 1;
    }
    // By what they are: how many there are, and how many of those are reported.
    let (mut all, mut reported) = ([0; 2], [0; 2]);
    let mut report = |example: &Message, count: u64, reported: &mut [u64; 2]| {
        let action = if example.receives { Action::Receive } else { Action::Send };
        reported[usize::from(example.receives)] += count;
        found.push(Unmatched { action, count, example: example.number });
    };
    for group in messages.chunk_by(|a, b| (a.from, a.tag) == (b.from, b.tag)) {
        // Sends come before receives.
        let sends = group.partition_point(|message| !message.receives);
        let receives = group.len() - sends;
        all[0] += sends as u64;
        all[1] += receives as u64;
        if group[0].is_wild() || sends == receives {
            continue;
        }
        let example = if sends > receives { &group[sends - 1] } else { &group[group.len() - 1] };
        let more = sends.abs_diff(receives) as u64;
        let count = more.saturating_sub(wild.could_meet(example));
        if count > 0 {
            report(example, count, &mut reported);
        }
    }
    // Whatever meets whatever, as many are left over as there are more of one kind.
    for kind in [0, 1] {
        let other = 1 - kind;
        let left = (all[kind] + reported[other]).saturating_sub(all[other] + reported[kind]);
        let of_kind = |message: &&Message| usize::from(message.receives) == kind;
        let wild_one = messages.iter().rev().filter(of_kind).find(|message| message.is_wild());
        let example = wild_one.or_else(|| messages.iter().rev().find(of_kind));
        if let (1.., Some(example)) = (left, example) {
            report(example, left, &mut reported);
        }
    }
}
