//! The rules of LogGOPSim.
//!
//! Events are taken in the order of their times, of equal times in the order in which they came up
//! first: one that has to wait for its host comes again at the time at which that is free, and
//! keeps its place. Rules that surprise are kept, since they are what its published times follow
//! from:
//!
//! - A computation's dependants are freed when it begins. They wait for the stream if it is the same one; those of
//!   another stream don't.
//! - A message of no bytes is charged the gap and overhead of minus one byte, as `size - 1` wraps round.
//! - A large message is one by its sender's size, also where the receipt says another. (The program goes by the
//!   receipt's where the message came first, and then counts some ends twice.)
//! - Who sends a message that waited for its receipt knows of the receipt in the same instant.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::gnu::sort_by_key;
use super::{Finished, Hosts, LogGops, Stuck, ns};
use crate::schedule::{Action, Schedule, Until};
use flitlab_base::narrow::try_rounded;
use flitlab_base::stop::Stop;
use flitlab_base::units::Picoseconds;

/// An operation that is due, or a message that arrives; ordered by its first two members, which are
/// different for any two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: Picoseconds,
    /// When it came up first, counted in events.
    order: u64,
    operation: u32,
    rank: u32,
    is_message: bool,
}

pub(super) fn simulate(schedule: &Schedule, parameters: &LogGops) -> Result<Finished, Stuck> {
    let eager_limit = parameters.eager_limit;
    let [latency, overhead, overhead_per_byte, gap, gap_per_byte] = [
        parameters.latency,
        parameters.overhead,
        parameters.overhead_per_byte,
        parameters.gap,
        try_rounded(parameters.gap_per_byte).unwrap_or(u64::MAX),
    ]
    .map(ns);
    let mut hosts = Hosts::new(schedule);
    let mut queue = BinaryHeap::new();
    let mut order = 0;
    let mut freed = Vec::new();
    for rank in 0..schedule.ranks() {
        freed.extend(schedule.of_rank(rank).filter(|&number| schedule.waits(number) == 0));
        sort_by_key(&mut freed, |&number| kind(schedule, number));
        for operation in freed.drain(..) {
            queue.push(Reverse(Event {
                time: Picoseconds::ZERO,
                order,
                operation,
                rank,
                is_message: false,
            }));
            order += 1;
        }
    }
    // The operations that an event frees at the rank where it happens, and at its partner.
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let stop = Stop::current();
    while let Some(Reverse(event)) = queue.pop() {
        stop.look();
        let Event { time, operation: number, rank, .. } = event;
        let operation = schedule.operation(number);
        let mut partner = None;
        let mut place = rank;
        let mut wait_until = |time| queue.push(Reverse(Event { time, ..event }));
        if let Action::Remote(_) = operation.action {
            if event.is_message {
                hosts.answer(number, time);
                hosts.free(number, Until::Done, |number| here.push(number));
            } else {
                let free = hosts.one_sided_free(number);
                if free > time {
                    wait_until(free);
                    continue;
                }
                let time = hosts.ask(number, time, parameters);
                hosts.free(number, Until::Begun, |number| here.push(number));
                queue.push(Reverse(Event { time, order, is_message: true, ..event }));
                order += 1;
            }
        } else if event.is_message {
            // A message arrives at the rank that it was sent to.
            place = operation.peer;
            let stream = hosts.stream(place, operation.stream);
            let adapter = hosts.adapter(place, operation.adapter);
            let free = hosts.stream_free[stream].max(hosts.receive_free[adapter]);
            if free > time {
                wait_until(free);
                continue;
            }
            let bytes = operation.amount;
            let slower = slower(bytes, overhead_per_byte, gap_per_byte);
            hosts.stream_free[stream] = charged(time + overhead, bytes, slower);
            hosts.receive_free[adapter] = charged(time + gap, bytes, gap_per_byte);
            match hosts.receipts.take(place, rank, operation.tag) {
                None => {
                    hosts.unexpected.wait(place, rank, operation.tag, number);
                }
                Some(receipt) => {
                    hosts.taken_by[number as usize] = receipt;
                    if operation.amount > eager_limit {
                        let freed = if rank == place { &mut here } else { &mut there };
                        hosts.free(number, Until::Done, |number| freed.push(number));
                        partner = Some(rank);
                        hold(&mut hosts, rank, (operation.stream, operation.adapter), time);
                    }
                    hosts.free(receipt, Until::Done, |number| here.push(number));
                }
            }
        } else {
            let stream = hosts.stream(rank, operation.stream);
            match operation.action {
                Action::Compute => {
                    if hosts.stream_free[stream] > time {
                        wait_until(hosts.stream_free[stream]);
                        continue;
                    }
                    hosts.stream_free[stream] = time + ns(operation.amount);
                    hosts.free(number, Until::Begun, |number| here.push(number));
                    hosts.free(number, Until::Done, |number| here.push(number));
                }
                Action::Send => {
                    let adapter = hosts.adapter(rank, operation.adapter);
                    let free = hosts.stream_free[stream].max(hosts.send_free[adapter]);
                    if free > time {
                        wait_until(free);
                        continue;
                    }
                    hosts.free(number, Until::Begun, |number| here.push(number));
                    let bytes = operation.amount;
                    hosts.stream_free[stream] = charged(time + overhead, bytes, overhead_per_byte);
                    hosts.send_free[adapter] = charged(time + gap, bytes, gap_per_byte);
                    let arrival =
                        Event { time: time + overhead + latency, order, is_message: true, ..event };
                    order += 1;
                    queue.push(Reverse(arrival));
                    if operation.amount <= eager_limit {
                        hosts.free(number, Until::Done, |number| here.push(number));
                    }
                }
                Action::Receive => {
                    hosts.free(number, Until::Begun, |number| here.push(number));
                    match hosts.unexpected.take(rank, operation.peer, operation.tag) {
                        None => hosts.receipts.wait(rank, operation.peer, operation.tag, number),
                        Some(message) => {
                            hosts.taken_by[message as usize] = number;
                            if schedule.operation(message).amount > eager_limit {
                                let sender = schedule.rank_of(message);
                                let freed = if sender == rank { &mut here } else { &mut there };
                                hosts.free(message, Until::Done, |number| freed.push(number));
                                partner = Some(sender);
                                let (stream, adapter) = (operation.stream, operation.adapter);
                                hold(&mut hosts, sender, (stream, adapter), time);
                            }
                            hosts.free(number, Until::Done, |number| here.push(number));
                        }
                    }
                }
                Action::Remote(_) => unreachable!("they were looked at above"),
            }
        }
        // Freed operations come up by ranks, then kinds.
        let mut both = [(place, &mut here), (partner.unwrap_or(place), &mut there)];
        both.sort_by_key(|it| it.0);
        for (rank, freed) in both {
            sort_by_key(freed, |&number| kind(schedule, number));
            for operation in freed.drain(..) {
                let time = free_at(&hosts, rank, operation);
                queue.push(Reverse(Event { time, order, operation, rank, is_message: false }));
                order += 1;
            }
        }
    }
    hosts.finish(|bytes| bytes > eager_limit)
}

/// Returns a time plus the time of all bytes of a message but the first, at `each`; a message
/// without bytes has minus one.
fn charged(time: Picoseconds, bytes: u64, each: Picoseconds) -> Picoseconds {
    match bytes.checked_sub(1) {
        Some(more) => time + each * more,
        None => time.saturating_sub(each),
    }
}

/// By the byte, which of two charges the program takes: the higher one. Of minus one byte that
/// wraps round it is the lower one, unless that is nothing.
fn slower(bytes: u64, one: Picoseconds, other: Picoseconds) -> Picoseconds {
    let (least, most) = (one.min(other), one.max(other));
    if bytes == 0 && least > Picoseconds::ZERO { least } else { most }
}

/// Operations that come up together do so in this order.
fn kind(schedule: &Schedule, number: u32) -> u8 {
    match schedule.operation(number).action {
        Action::Send => 0,
        Action::Receive => 1,
        Action::Compute => 2,
        Action::Remote(_) => 3,
    }
}

/// When a rank can begin an operation that was just freed.
fn free_at(hosts: &Hosts<'_>, rank: u32, number: u32) -> Picoseconds {
    let operation = hosts.schedule.operation(number);
    let stream = hosts.stream_free[hosts.stream(rank, operation.stream)];
    match operation.action {
        Action::Send | Action::Remote(_) => {
            stream.max(hosts.send_free[hosts.adapter(rank, operation.adapter)])
        }
        Action::Receive | Action::Compute => stream,
    }
}

/// Keeps a rank's stream and adapter from anything before `time`.
fn hold(hosts: &mut Hosts<'_>, rank: u32, (stream, adapter): (u8, u8), time: Picoseconds) {
    let (stream, adapter) = (hosts.stream(rank, stream), hosts.adapter(rank, adapter));
    hosts.stream_free[stream] = hosts.stream_free[stream].max(time);
    hosts.send_free[adapter] = hosts.send_free[adapter].max(time);
}
