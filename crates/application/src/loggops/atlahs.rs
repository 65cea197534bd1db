//! The rules of the version of LogGOPSim in ATLAHS.
//!
//! Events are taken in the order of their times; which of those of one time comes first is left to
//! its heap ([`super::gnu`]). Rules that surprise are kept, since they are what its published
//! times follow from:
//!
//! - Operations that wait for the beginning of another one may begin at time 0, if their stream is free.
//! - A message of no bytes has one.
//! - A message that finds its receipt while the host is busy comes again when it is free, and the receipt joins the end
//!   of its line.
//! - A receipt that finds its message waits for the adapter's next *sending*.
//! - Receipts that become free together are begun in the order of that heap, which need not be that of the program; of
//!   several with one tag another one than was meant may take a message, and the schedule hangs. The program does not look
//!   whether it does, and prints the time at which nothing moved any more: [`Stuck::time`].
//!
//! Wildcards match as in MPI; the program has none.

use super::gnu::TimeHeap;
use super::{Finished, Hosts, LogGops, Stuck, ns};
use crate::schedule::{Action, Schedule, Until};
use flitlab_base::narrow::try_rounded;
use flitlab_base::stop::Stop;
use flitlab_base::units::Picoseconds;

/// An operation that is due, or a message that arrives.
#[derive(Clone, Copy)]
struct Event {
    operation: u32,
    rank: u32,
    is_message: bool,
}

/// Operations that have become free, and the state of those that may become free.
struct Freed {
    /// By operation: the latest end of those that it required.
    earliest: Vec<Picoseconds>,
    /// In the order of their ranks: operation, rank and the time before which it can't begin.
    here: Vec<(u32, u32, Picoseconds)>,
    there: Vec<(u32, u32, Picoseconds)>,
}

impl Freed {
    /// An operation was begun.
    fn begun(&mut self, hosts: &mut Hosts<'_>, number: u32, rank: u32) {
        hosts.free(number, Until::Begun, |freed| self.here.push((freed, rank, Picoseconds::ZERO)));
    }

    /// An operation ended at `end`, of the rank at which something happens or of its partner.
    fn done(
        &mut self,
        hosts: &mut Hosts<'_>,
        number: u32,
        rank: u32,
        end: Picoseconds,
        is_here: bool,
    ) {
        for (dependant, until) in hosts.schedule.dependants(number) {
            if until == Until::Done {
                let earliest = &mut self.earliest[dependant as usize];
                *earliest = (*earliest).max(end);
            }
        }
        let freed = if is_here { &mut self.here } else { &mut self.there };
        let earliest = &self.earliest;
        hosts.free(number, Until::Done, |number| {
            freed.push((number, rank, earliest[number as usize]));
        });
    }
}

pub(super) fn simulate(schedule: &Schedule, parameters: &LogGops) -> Result<Finished, Stuck> {
    let eager_limit = parameters.eager_limit;
    let [latency, overhead, overhead_per_byte, gap] =
        [parameters.latency, parameters.overhead, parameters.overhead_per_byte, parameters.gap]
            .map(ns);
    let mut hosts = Hosts::new(schedule);
    let mut queue = TimeHeap::new();
    let mut freed = Freed {
        earliest: vec![Picoseconds::ZERO; schedule.operations().len()],
        here: Vec::new(),
        there: Vec::new(),
    };
    for rank in 0..schedule.ranks() {
        for operation in schedule.of_rank(rank).filter(|&number| schedule.waits(number) == 0) {
            queue.push(Picoseconds::ZERO, Event { operation, rank, is_message: false });
        }
    }
    let stop = Stop::current();
    while let Some((time, event)) = queue.pop() {
        stop.look();
        let Event { operation: number, rank, .. } = event;
        let operation = schedule.operation(number);
        let more = operation.amount.max(1) - 1;
        let stream = hosts.stream(rank, operation.stream);
        let adapter = hosts.adapter(rank, operation.adapter);
        let busy = overhead + more * overhead_per_byte;
        let mut sender_first = false;
        if let Action::Remote(_) = operation.action {
            if event.is_message {
                hosts.answer(number, time);
                freed.done(&mut hosts, number, rank, time, true);
            } else {
                let free = hosts.one_sided_free(number);
                if free > time {
                    queue.push(free, event);
                    continue;
                }
                freed.begun(&mut hosts, number, rank);
                let answered = hosts.ask(number, time, parameters);
                queue.push(answered, Event { is_message: true, ..event });
            }
        } else if event.is_message {
            let place = operation.peer;
            let Some(receipt) = hosts.receipts.take(place, rank, operation.tag) else {
                hosts.unexpected.wait(place, rank, operation.tag, number);
                continue;
            };
            let receipts_stream = hosts.stream(place, schedule.operation(receipt).stream);
            let receiving = hosts.adapter(place, operation.adapter);
            let free = hosts.stream_free[receipts_stream].max(hosts.receive_free[receiving]);
            if free > time {
                queue.push(free, event);
                hosts.receipts.wait(place, rank, operation.tag, receipt);
                continue;
            }
            hosts.taken_by[number as usize] = receipt;
            let adapter_free = hosts.receive_free[receiving].max(time) + gap;
            let end = adapter_free + busy;
            hosts.stream_free[receipts_stream] = end;
            hosts.receive_free[receiving] = adapter_free;
            if operation.amount.max(1) > eager_limit {
                freed.done(&mut hosts, number, rank, end, rank == place);
                hosts.stream_free[stream] = hosts.stream_free[stream].max(end);
                hosts.send_free[adapter] = hosts.send_free[adapter].max(adapter_free);
            }
            freed.done(&mut hosts, receipt, place, end, true);
        } else {
            match operation.action {
                Action::Compute => {
                    if hosts.stream_free[stream] > time {
                        queue.push(hosts.stream_free[stream], event);
                        continue;
                    }
                    let end = time + ns(operation.amount);
                    hosts.stream_free[stream] = end;
                    freed.begun(&mut hosts, number, rank);
                    freed.done(&mut hosts, number, rank, end, true);
                }
                Action::Send => {
                    let free = hosts.stream_free[stream].max(hosts.send_free[adapter]);
                    if free > time {
                        queue.push(free, event);
                        continue;
                    }
                    freed.begun(&mut hosts, number, rank);
                    let end = time + busy;
                    #[expect(clippy::cast_precision_loss, reason = "so does the program")]
                    let gap_of_bytes = (more as f64 * parameters.gap_per_byte).floor();
                    let gap_of_bytes = ns(try_rounded(gap_of_bytes).unwrap_or(u64::MAX));
                    hosts.stream_free[stream] = end;
                    hosts.send_free[adapter] = time + gap + gap_of_bytes;
                    let arrival = Event { is_message: true, ..event };
                    queue.push(end + latency + gap_of_bytes, arrival);
                    if operation.amount.max(1) <= eager_limit {
                        freed.done(&mut hosts, number, rank, end, true);
                    }
                }
                Action::Receive => {
                    freed.begun(&mut hosts, number, rank);
                    match hosts.unexpected.take(rank, operation.peer, operation.tag) {
                        None => hosts.receipts.wait(rank, operation.peer, operation.tag, number),
                        Some(message) => {
                            hosts.taken_by[message as usize] = number;
                            let adapter_free = hosts.send_free[adapter].max(time) + gap;
                            let end = adapter_free + busy;
                            hosts.stream_free[stream] = end;
                            hosts.receive_free[adapter] = adapter_free;
                            if schedule.operation(message).amount.max(1) > eager_limit {
                                let sender = schedule.rank_of(message);
                                sender_first = true;
                                freed.done(&mut hosts, message, sender, end, sender == rank);
                                let theirs = hosts.stream(sender, operation.stream);
                                let sending = hosts.adapter(sender, operation.adapter);
                                hosts.stream_free[theirs] = hosts.stream_free[theirs].max(end);
                                hosts.send_free[sending] =
                                    hosts.send_free[sending].max(adapter_free);
                            }
                            freed.done(&mut hosts, number, rank, end, true);
                        }
                    }
                }
                Action::Remote(_) => unreachable!("they were looked at above"),
            }
        }
        // Of two ranks the one that was noted later comes first.
        let mut both = [&mut freed.here, &mut freed.there];
        if sender_first {
            both.reverse();
        }
        for (operation, rank, earliest) in both.into_iter().flat_map(|list| list.drain(..)) {
            let it = schedule.operation(operation);
            let time = match it.action {
                Action::Send | Action::Remote(_) => {
                    earliest.max(hosts.send_free[hosts.adapter(rank, it.adapter)])
                }
                Action::Compute => earliest.max(hosts.stream_free[hosts.stream(rank, it.stream)]),
                Action::Receive => earliest,
            };
            queue.push(time, Event { operation, rank, is_message: false });
        }
    }
    hosts.finish(|bytes| bytes.max(1) > eager_limit)
}
