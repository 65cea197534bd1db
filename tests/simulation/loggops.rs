//! The LogGOPS model beside a plain reading of its rules, and beside the times that the programs
//! themselves print.

use std::collections::{BTreeMap, BTreeSet};

use flitlab::application::loggops::{Dialect, LogGops, simulate};
use flitlab::application::{
    ANY, Action, Operation, RemoteOperation, Schedule, ScheduleBuilder, Until,
};
use flitlab::traces::goal;
use flitlab::units::Picoseconds;
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

pub const ATLAHS: LogGops = LogGops { dialect: Dialect::Atlahs, ..LogGops::CLASSIC };

/// Times in nanoseconds that LogGOPSim and the version of it in ATLAHS print for the files in
/// `tests/goal`.
pub const PRINTED: [(&str, u64, u64); 3] = [
    ("bcast_binomial_32", 27_500, 41_500),
    ("dissemination_16", 22_000, 26_000),
    ("reduce_binomial_8_1024", 34_914, 37_914),
];

/// So many nanoseconds.
fn ns(nanoseconds: u64) -> Picoseconds {
    Picoseconds::NANOSECOND * nanoseconds
}

#[test]
fn schedules_of_loggopsim_take_as_long_as_it_prints() {
    for (name, classic, atlahs) in PRINTED {
        let path = format!("{}/tests/goal/{name}.goal", env!("CARGO_MANIFEST_DIR"));
        let schedule = goal::read(path.as_ref()).unwrap();
        assert_eq!(simulate(&schedule, &LogGops::CLASSIC).unwrap().time(), ns(classic), "{name}");
        assert_eq!(simulate(&schedule, &ATLAHS).unwrap().time(), ns(atlahs), "{name}");
    }
}

/// Each rank sends to all others and receives from them, as LogGOPSim's generator has a linear
/// all-to-all.
fn all_to_all(ranks: u32, bytes: u64) -> Schedule {
    let mut builder = ScheduleBuilder::new();
    for rank in 0..ranks {
        for step in 1..ranks {
            builder.add(Operation::send(bytes, (rank + step) % ranks, 0)).unwrap();
            builder.add(Operation::receive(bytes, (rank + ranks - step) % ranks, 0)).unwrap();
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

/// Each rank posts receipts from all others and sends to them, unequally many bytes.
fn all_to_all_v(ranks: u32) -> Schedule {
    let bytes = |from: u32, to: u32| u64::from(1 + (from * 7919 + to * 104_729) % 50_000);
    let mut builder = ScheduleBuilder::new();
    for rank in 0..ranks {
        for step in 1..ranks {
            let from = (rank + ranks - step) % ranks;
            builder.add(Operation::receive(bytes(from, rank), from, 3)).unwrap();
        }
        for step in 1..ranks {
            let to = (rank + step) % ranks;
            builder.add(Operation::send(bytes(rank, to), to, 3)).unwrap();
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

/// An all-to-all-v that begins behind a computation, with a computation beside each message.
fn all_to_all_v_behind(ranks: u32) -> Schedule {
    let bytes = |from: u32, to: u32| u64::from(1 + (from * 7919 + to * 104_729) % 50_000);
    let mut builder = ScheduleBuilder::new();
    for rank in 0..ranks {
        let first = builder.add(Operation::compute(u64::from(100 * rank))).unwrap();
        for step in 1..ranks {
            let (from, to) = ((rank + ranks - step) % ranks, (rank + step) % ranks);
            for operation in [
                Operation::receive(bytes(from, rank), from, 3),
                Operation::send(bytes(rank, to), to, 3),
                Operation::compute(u64::from(step)),
            ] {
                let place = builder.add(operation).unwrap();
                builder.wait(place, Until::Done, first);
            }
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

#[test]
fn more_than_sixteen_operations_come_up_in_the_order_in_which_loggopsim_sorts_them() {
    // What LogGOPSim (76451de, GCC 12.2) prints for these schedules.
    let times = [
        (8, 1_864_380, 1_798_908),
        (17, 3_895_368, 3_965_492),
        (20, 4_573_894, 4_447_056),
        (40, 9_035_704, 9_076_702),
    ];
    for (ranks, at_once, behind) in times {
        let time = |schedule| simulate(&schedule, &LogGops::CLASSIC).unwrap().time();
        assert_eq!(time(all_to_all_v(ranks)), ns(at_once), "{ranks}");
        assert_eq!(time(all_to_all_v_behind(ranks)), ns(behind), "{ranks}");
    }
}

#[test]
fn receipts_of_one_tag_that_are_begun_out_of_order_hang_in_atlahs_as_they_do_in_the_program() {
    // A reduce-scatter and an all-gather by halves and doubles, as LogGOPSim's generator writes it:
    // all receipts are free from the start, two of each pair with the same tag. The program prints
    // 3,802,398 and does not look at what is left.
    let mut builder = ScheduleBuilder::new();
    for rank in 0..16u32 {
        let mut before = None;
        for step in [0, 1, 2, 3, 3, 2, 1, 0] {
            let (other, bytes) = (rank ^ 1 << step, 32_768 >> step);
            let place = builder.add(Operation::send(bytes, other, 0)).unwrap();
            if let Some(before) = before {
                builder.wait(place, Until::Done, before);
            }
            before = Some(builder.add(Operation::receive(bytes, other, 0)).unwrap());
        }
        builder.end_rank().unwrap();
    }
    let schedule = builder.finish();
    assert_eq!(simulate(&schedule, &LogGops::CLASSIC).unwrap().time(), ns(781_232));
    let stuck = simulate(&schedule, &ATLAHS).unwrap_err();
    assert_eq!((stuck.time.0, stuck.receipts.len(), stuck.messages.len()), (3_802_398_000, 52, 0));
}

/// The order in which kinds of operations come up that were freed at once.
fn kind(schedule: &Schedule, operation: u32) -> usize {
    match schedule.operation(operation).action {
        Action::Send => 0,
        Action::Receive => 1,
        Action::Compute => 2,
        Action::Remote(_) => 3,
    }
}

/// LogGOPSim's rules once more, with nothing but lists that are searched from the beginning; and
/// those of one-sided operations, which it does not have.
mod plain {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Event {
        time: u64,
        order: u64,
        rank: u32,
        operation: u32,
        arrives: bool,
    }

    struct State<'s> {
        schedule: &'s Schedule,
        stream: BTreeMap<(u32, u8), u64>,
        sending: BTreeMap<(u32, u8), u64>,
        receiving: BTreeMap<(u32, u8), u64>,
        /// By rank: what waits, as peer, tag and operation.
        receipts: Vec<Vec<(u32, u32, u32)>>,
        messages: Vec<Vec<(u32, u32, u32)>>,
        done: BTreeSet<u32>,
        begun: BTreeSet<u32>,
        given: BTreeSet<u32>,
        /// The most operations that came up at once.
        at_once: usize,
    }

    impl State<'_> {
        /// Notes what happened. The operations of a rank that have become free, sends first, then
        /// receipts, then computations; `named` is the order in which those of a kind were freed.
        fn freed(&mut self, rank: u32, by: &[(u32, Until)]) -> Vec<u32> {
            let mut freed = Vec::new();
            for &(operation, happened) in by {
                match happened {
                    Until::Done => self.done.insert(operation),
                    Until::Begun => self.begun.insert(operation),
                };
                let named = self.schedule.dependants(operation).filter(|it| it.1 == happened);
                for (dependant, _) in named {
                    let ready = self.schedule.of_rank(rank).all(|other| {
                        self.schedule.dependants(other).filter(|it| it.0 == dependant).all(|it| {
                            let set = if it.1 == Until::Done { &self.done } else { &self.begun };
                            set.contains(&other)
                        })
                    });
                    if ready && self.given.insert(dependant) {
                        freed.push(dependant);
                    }
                }
            }
            freed.sort_by_key(|&it| kind(self.schedule, it));
            self.at_once = self.at_once.max(freed.len());
            freed
        }
    }

    fn take(list: &mut Vec<(u32, u32, u32)>, peer: u32, tag: u32) -> Option<u32> {
        let alike = |a: u32, b: u32| a == b || a == ANY || b == ANY;
        let place = list.iter().position(|it| alike(it.0, peer) && alike(it.1, tag))?;
        Some(list.remove(place).2)
    }

    /// When each rank is done, how much waits for ever, and how many operations came up at once.
    pub fn simulate(schedule: &Schedule, p: &LogGops) -> (Vec<u64>, usize, usize) {
        let ranks = schedule.ranks() as usize;
        let mut state = State {
            schedule,
            stream: BTreeMap::new(),
            sending: BTreeMap::new(),
            receiving: BTreeMap::new(),
            receipts: vec![Vec::new(); ranks],
            messages: vec![Vec::new(); ranks],
            done: BTreeSet::new(),
            begun: BTreeSet::new(),
            given: BTreeSet::new(),
            at_once: 0,
        };
        let gap_per_byte = p.gap_per_byte as u64;
        let mut events = BTreeSet::new();
        let mut order = 0;
        for rank in 0..schedule.ranks() {
            let mut first: Vec<u32> =
                schedule.of_rank(rank).filter(|&it| schedule.waits(it) == 0).collect();
            first.sort_by_key(|&it| kind(schedule, it));
            state.at_once = state.at_once.max(first.len());
            for operation in first {
                events.insert(Event { time: 0, order, rank, operation, arrives: false });
                order += 1;
            }
        }
        while let Some(event) = events.pop_first() {
            let Event { time, rank, operation, .. } = event;
            let it = *schedule.operation(operation);
            let more = it.amount.wrapping_sub(1);
            let gap = p.gap.wrapping_add(more.wrapping_mul(gap_per_byte));
            // What happened where, in the order in which it frees others.
            let mut happened: Vec<(u32, u32, Until)> = Vec::new();
            let is_remote = matches!(it.action, Action::Remote(_));
            let at = if event.arrives && !is_remote { it.peer } else { rank };
            let stream = *state.stream.get(&(at, it.stream)).unwrap_or(&0);
            let adapters = if event.arrives { &state.receiving } else { &state.sending };
            let adapter = match (event.arrives, it.action) {
                (false, Action::Compute | Action::Receive) => 0,
                _ => *adapters.get(&(at, it.adapter)).unwrap_or(&0),
            };
            let free = stream.max(adapter);
            let answered = event.arrives && is_remote;
            if free > time && !answered && (event.arrives || it.action != Action::Receive) {
                events.insert(Event { time: free, ..event });
                continue;
            }
            let release = |state: &mut State<'_>, sender: u32, time: u64| {
                for (map, key) in [
                    (&mut state.stream, (sender, it.stream)),
                    (&mut state.sending, (sender, it.adapter)),
                ] {
                    let free = map.entry(key).or_default();
                    *free = (*free).max(time);
                }
            };
            if answered {
                state.stream.insert((rank, it.stream), stream.max(time));
                happened.push((rank, operation, Until::Done));
            } else if event.arrives {
                let busy =
                    more.wrapping_mul(p.overhead_per_byte).max(more.wrapping_mul(gap_per_byte));
                state
                    .stream
                    .insert((at, it.stream), time.wrapping_add(p.overhead).wrapping_add(busy));
                state.receiving.insert((at, it.adapter), time.wrapping_add(gap));
                match take(&mut state.receipts[at as usize], rank, it.tag) {
                    None => state.messages[at as usize].push((rank, it.tag, operation)),
                    Some(receipt) => {
                        if it.amount > p.eager_limit {
                            happened.push((rank, operation, Until::Done));
                            release(&mut state, rank, time);
                        }
                        happened.push((at, receipt, Until::Done));
                    }
                }
            } else {
                happened.push((rank, operation, Until::Begun));
                match it.action {
                    Action::Compute => {
                        state.stream.insert((rank, it.stream), time + it.amount);
                        happened.push((rank, operation, Until::Done));
                    }
                    Action::Send => {
                        let busy = p.overhead.wrapping_add(more.wrapping_mul(p.overhead_per_byte));
                        state.stream.insert((rank, it.stream), time.wrapping_add(busy));
                        state.sending.insert((rank, it.adapter), time.wrapping_add(gap));
                        let arrival = time + p.overhead + p.latency;
                        events.insert(Event { time: arrival, order, arrives: true, ..event });
                        order += 1;
                        if it.amount <= p.eager_limit {
                            happened.push((rank, operation, Until::Done));
                        }
                    }
                    Action::Remote(_) => {
                        let of_bytes = it.amount.saturating_sub(1) * gap_per_byte;
                        state.stream.insert((rank, it.stream), time + p.overhead);
                        state.sending.insert((rank, it.adapter), time + p.gap + of_bytes);
                        let time = time + p.overhead + 2 * p.latency + of_bytes;
                        events.insert(Event { time, order, arrives: true, ..event });
                        order += 1;
                    }
                    Action::Receive => {
                        match take(&mut state.messages[rank as usize], it.peer, it.tag) {
                            None => {
                                state.receipts[rank as usize].push((it.peer, it.tag, operation));
                            }
                            Some(message) => {
                                let sender = schedule.rank_of(message);
                                if schedule.operation(message).amount > p.eager_limit {
                                    happened.push((sender, message, Until::Done));
                                    release(&mut state, sender, time);
                                }
                                happened.push((rank, operation, Until::Done));
                            }
                        }
                    }
                }
            }
            let places: BTreeSet<u32> = happened.iter().map(|it| it.0).collect();
            for place in places {
                let by: Vec<(u32, Until)> =
                    happened.iter().filter(|it| it.0 == place).map(|it| (it.1, it.2)).collect();
                for operation in state.freed(place, &by) {
                    let it = schedule.operation(operation);
                    let stream = *state.stream.get(&(place, it.stream)).unwrap_or(&0);
                    let sending = *state.sending.get(&(place, it.adapter)).unwrap_or(&0);
                    let sends = matches!(it.action, Action::Send | Action::Remote(_));
                    let time = if sends { stream.max(sending) } else { stream };
                    events.insert(Event { time, order, rank: place, operation, arrives: false });
                    order += 1;
                }
            }
        }
        let of_rank = |rank: u32| state.stream.range((rank, 0)..=(rank, 255)).map(|it| *it.1).max();
        let waiting = state.receipts.iter().chain(&state.messages).map(Vec::len).sum();
        let ranks = (0..schedule.ranks()).map(|rank| of_rank(rank).unwrap_or(0)).collect();
        (ranks, waiting, state.at_once)
    }
}

/// Anything: messages without receipts, receipts without messages, wildcards, streams, adapters.
fn made_up(random: &mut ChaCha8Rng) -> Schedule {
    let ranks = random.random_range(1..6u32);
    let mut operations: Vec<Vec<Operation>> = vec![Vec::new(); ranks as usize];
    let most = random.random_range(1..60);
    for number in 0..most {
        let (from, to) = (random.random_range(0..ranks), random.random_range(0..ranks));
        let bytes = *[0, 1, 8, 1000, 65535, 65536, 200_000].choose(random).unwrap();
        let tag = if random.random_bool(0.03) { ANY } else { random.random_range(0..2) };
        let mut add = |rank: u32, operation: Operation| {
            let (stream, adapter) = (random.random_range(0..2), random.random_range(0..2));
            operations[rank as usize].push(Operation { stream, adapter, ..operation });
        };
        match bytes % 3 {
            _ if number % 4 == 3 => {
                add(from, Operation::remote(RemoteOperation::ALL[bytes as usize % 2], bytes, to));
            }
            0 => add(from, Operation::compute(bytes)),
            _ => {
                add(from, Operation::send(bytes, to, tag));
                add(to, Operation::receive(bytes, if tag == ANY { ANY } else { from }, tag));
            }
        }
    }
    let mut builder = ScheduleBuilder::new();
    for rank in operations {
        for operation in rank {
            if random.random_bool(0.01) {
                continue;
            }
            let place = builder.add(operation).unwrap();
            for _ in 0..random.random_range(0..3) {
                let other = random.random_range(0..=place);
                if other < place {
                    let until = if random.random_bool(0.7) { Until::Done } else { Until::Begun };
                    builder.wait(place, until, other);
                }
            }
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

#[test]
fn a_thousand_random_schedules_agree_with_the_plain_reading_of_the_rules() {
    let mut random = ChaCha8Rng::seed_from_u64(2010);
    let (mut ended, mut stuck) = (0, 0);
    for number in 0..1000 {
        let schedule = made_up(&mut random);
        let parameters = LogGops {
            latency: random.random_range(0..4000),
            overhead: random.random_range(0..3000),
            overhead_per_byte: random.random_range(0..3),
            gap: random.random_range(0..3000),
            gap_per_byte: f64::from(random.random_range(0..8)),
            ..LogGops::CLASSIC
        };
        let (ranks, waiting, at_once) = plain::simulate(&schedule, &parameters);
        // Up to sixteen operations the program sorts stably, as the plain reading does.
        if at_once > 16 {
            continue;
        }
        match simulate(&schedule, &parameters) {
            Ok(finished) => {
                let ranks: Vec<_> = ranks.into_iter().map(ns).collect();
                assert_eq!((finished.ranks, 0), (ranks, waiting), "schedule {number}");
                ended += 1;
            }
            Err(it) => {
                let found = (it.time.0 / 1000, it.receipts.len() + it.messages.len());
                assert_eq!(found, (ranks.into_iter().max().unwrap(), waiting), "schedule {number}");
                stuck += 1;
            }
        }
    }
    assert!(ended > 100 && stuck > 100, "{ended} ended, {stuck} were stuck");
}

/// `o`, there and back by `L`, and `G` for each byte but the first: by the rules of both programs,
/// which have no one-sided operations.
#[test]
fn a_one_sided_operation_takes_an_overhead_and_a_round_trip() {
    for parameters in [LogGops::CLASSIC, ATLAHS] {
        let time = |text: &str| {
            let text = format!("num_ranks 2\nrank 0 {{\n{text}\n}}\nrank 1 {{\ncalc 90000\n}}\n");
            let schedule = goal::read_from("x.goal", &mut text.as_bytes()).unwrap();
            simulate(&schedule, &parameters).unwrap().ranks[0]
        };
        let alone = 1500 + 2 * 2500 + 7 * 6;
        for operation in ["put 8b to 1", "get 8b from 1", "add 8b to 1", "cswap 8b to 1"] {
            assert_eq!(time(operation), ns(alone), "{operation}");
        }
        assert_eq!(time("put 0b to 1"), ns(alone - 7 * 6));
        // The stream is busy for `o`, longer than the gap, and quiet waits for all.
        let quiet = "a: put 8b to 1\nb: put 8b to 1\nc: put 8b to 1\nq: calc 100\nq requires a\n\
                     q requires b\nq requires c";
        assert_eq!(time(quiet), ns(2 * 1500 + alone + 100));
        // What waits for the beginning alone waits for the stream.
        assert_eq!(time("a: put 8b to 1\nb: calc 9000\nb irequires a"), ns(1500 + 9000));
    }
}

#[test]
fn linear_all_to_alls_take_as_long_as_loggopsim_prints() {
    let times = [(16, 451_050, 396_550), (32, 932_170, 803_170)];
    for (ranks, classic, atlahs) in times {
        let schedule = all_to_all(ranks, 4096);
        assert_eq!(simulate(&schedule, &LogGops::CLASSIC).unwrap().time(), ns(classic));
        assert_eq!(simulate(&schedule, &ATLAHS).unwrap().time(), ns(atlahs));
    }
}

#[test]
#[ignore = "long: a second a million operations; prints how many a second"]
fn two_million_operations_a_second() {
    let mut builder = ScheduleBuilder::new();
    // A ring of 1024 ranks, 1000 times: send to the next, receive from the one before.
    for rank in 0..1024u32 {
        let mut before = None;
        for _ in 0..1000 {
            let out = builder.add(Operation::send(8, (rank + 1) % 1024, 0)).unwrap();
            let back = builder.add(Operation::receive(8, (rank + 1023) % 1024, 0)).unwrap();
            if let Some(before) = before {
                builder.wait(out, Until::Done, before);
                builder.wait(back, Until::Done, before);
            }
            before = Some(back);
        }
        builder.end_rank().unwrap();
    }
    let schedule = builder.finish();
    for parameters in [LogGops::CLASSIC, ATLAHS] {
        let started = cpu_time::ThreadTime::now();
        simulate(&schedule, &parameters).unwrap();
        let rate = schedule.operations().len() as f64 / started.elapsed().as_secs_f64();
        eprintln!("{:?}: {rate:.0} operations a second", parameters.dialect);
        assert!(rate > 500_000.0, "{rate}");
    }
}
