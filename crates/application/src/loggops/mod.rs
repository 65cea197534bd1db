//! A schedule's time in the LogGOPS model, which knows latencies, overheads and gaps, but no
//! network.
//!
//! LogGOPS (\[loggopsim\]) gives each message a latency `L`, its hosts an overhead `o` and `O` for
//! each byte, and its adapters a gap `g` and `G` for each byte. Messages of more than `S` bytes
//! wait at their sender until their receipt is there.
//!
//! Two programs of that name give different times for the same schedule, up to eight times as long,
//! as they charge the gap at different ends. Both are here, rule by rule, each as a [`Dialect`]:
//! LogGOPSim (`classic`), and the version of it in ATLAHS (`atlahs`; \[atlahs\]).
//!
//! One-sided operations are in neither program. Here one keeps its stream busy for `o` and its
//! adapter for `g` and `G` for each byte but the first. It ends `o + 2 L` and the same `G` after it
//! was begun, and keeps nobody busy at its target.

mod atlahs;
mod classic;
mod gnu;

use super::matching::Matching;
use super::schedule::{ANY, Schedule, Until};
use super::stuck::Stuck;
use flitlab_base::narrow::try_rounded;
use flitlab_base::units::Picoseconds;

/// Which program's rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// LogGOPSim: a message's gap is charged at its receiver, which must be free when the first
    /// byte comes.
    Classic,
    /// The version in ATLAHS: the gap is charged at its sender, and the receiver is busy from the
    /// match on.
    Atlahs,
}

/// The parameters of the model; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogGops {
    /// The program whose rules are followed.
    pub dialect: Dialect,
    /// `L`: how long a message's first byte travels.
    pub latency: u64,
    /// `o`: how long a host is busy with a message, at either end.
    pub overhead: u64,
    /// `O`: the same for each byte but the first.
    pub overhead_per_byte: u64,
    /// `g`: the time between two messages of an adapter.
    pub gap: u64,
    /// `G`: the same for each byte but the first. Whole under [`Dialect::Classic`].
    pub gap_per_byte: f64,
    /// `S`: messages of more bytes wait for their receipt.
    pub eager_limit: u64,
}

impl LogGops {
    /// The defaults of LogGOPSim.
    pub const CLASSIC: Self = Self {
        dialect: Dialect::Classic,
        latency: 2500,
        overhead: 1500,
        overhead_per_byte: 0,
        gap: 1000,
        gap_per_byte: 6.0,
        eager_limit: 65535,
    };
}

/// When the ranks were done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// By rank: when the last of its streams was free.
    pub ranks: Vec<Picoseconds>,
}

impl Finished {
    /// When the last rank was done; [`Picoseconds::BEYOND`] if that is later than can be told.
    pub fn time(&self) -> Picoseconds {
        self.ranks.iter().copied().max().unwrap_or(Picoseconds::ZERO)
    }
}

/// Runs a schedule to its end. Time and memory in proportion to its operations, whatever the times
/// in it are.
///
/// # Errors
/// If ranks wait for messages that nobody sends, or messages are left that nobody received.
pub fn simulate(schedule: &Schedule, parameters: &LogGops) -> Result<Finished, Stuck> {
    match parameters.dialect {
        Dialect::Classic => classic::simulate(schedule, parameters),
        Dialect::Atlahs => atlahs::simulate(schedule, parameters),
    }
}

/// Carries a schedule out without times, messages of more than so many bytes waiting for their
/// receipt: what can't go on, if it does not come to its end. Which receipt from any rank or of any
/// tag takes which message depends on times; without such receipts the answer is certain.
///
/// Takes time and memory in proportion to its operations.
pub fn hangs(schedule: &Schedule, eager_limit: u64) -> Option<Stuck> {
    let no_times = LogGops {
        latency: 0,
        overhead: 0,
        overhead_per_byte: 0,
        gap: 0,
        gap_per_byte: 0.0,
        eager_limit,
        ..LogGops::CLASSIC
    };
    simulate(schedule, &no_times).err()
}

/// Returns a time of nanoseconds, or the latest time if it is too long.
fn ns(nanoseconds: u64) -> Picoseconds {
    Picoseconds::NANOSECOND * nanoseconds
}

/// When streams and adapters are free, and what waits: the state that both dialects share.
struct Hosts<'s> {
    schedule: &'s Schedule,
    /// How many streams and adapters each rank has.
    streams: usize,
    adapters: usize,
    /// By rank and stream.
    stream_free: Vec<Picoseconds>,
    /// By rank and adapter: when it can send and receive the next message.
    send_free: Vec<Picoseconds>,
    receive_free: Vec<Picoseconds>,
    /// By operation: what it still waits for.
    waits: Vec<u32>,
    receipts: Matching,
    unexpected: Matching,
    /// By message: the receipt that took it.
    taken_by: Vec<u32>,
}

impl<'s> Hosts<'s> {
    fn new(schedule: &'s Schedule) -> Self {
        let all = || schedule.operations();
        let most = |of: fn(&super::Operation) -> u8| all().map(of).max().unwrap_or(0);
        let streams = usize::from(most(|it| it.stream)) + 1;
        let adapters = usize::from(most(|it| it.adapter)) + 1;
        let ranks = schedule.ranks() as usize;
        let receipts = Matching::new(schedule, false);
        Self {
            schedule,
            streams,
            adapters,
            stream_free: vec![Picoseconds::ZERO; ranks * streams],
            send_free: vec![Picoseconds::ZERO; ranks * adapters],
            receive_free: vec![Picoseconds::ZERO; ranks * adapters],
            waits: (0..).zip(all()).map(|(number, _)| schedule.waits(number)).collect(),
            unexpected: receipts.clone(),
            receipts,
            taken_by: vec![ANY; schedule.operations().len()],
        }
    }

    fn stream(&self, rank: u32, stream: u8) -> usize {
        rank as usize * self.streams + usize::from(stream)
    }

    fn adapter(&self, rank: u32, adapter: u8) -> usize {
        rank as usize * self.adapters + usize::from(adapter)
    }

    /// When a one-sided operation can begin, as far as its stream and adapter are concerned.
    fn one_sided_free(&self, number: u32) -> Picoseconds {
        let (rank, it) = (self.schedule.rank_of(number), self.schedule.operation(number));
        let stream = self.stream_free[self.stream(rank, it.stream)];
        stream.max(self.send_free[self.adapter(rank, it.adapter)])
    }

    /// Begins a one-sided operation at `time`. Returns when it ends: `o`, there and back by `L`, and
    /// `G` for each byte but the first. Its adapter is busy for `g` and these bytes.
    fn ask(&mut self, number: u32, time: Picoseconds, parameters: &LogGops) -> Picoseconds {
        let (rank, it) = (self.schedule.rank_of(number), *self.schedule.operation(number));
        let more = it.amount.max(1) - 1;
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
        let of_bytes = (more as f64 * parameters.gap_per_byte).floor();
        let of_bytes = ns(try_rounded(of_bytes).unwrap_or(u64::MAX));
        let (stream, adapter) = (self.stream(rank, it.stream), self.adapter(rank, it.adapter));
        self.stream_free[stream] = time + ns(parameters.overhead);
        self.send_free[adapter] = time + ns(parameters.gap) + of_bytes;
        self.stream_free[stream] + ns(parameters.latency) * 2 + of_bytes
    }

    /// A one-sided operation ends: its rank is not done before.
    fn answer(&mut self, number: u32, time: Picoseconds) {
        let (rank, it) = (self.schedule.rank_of(number), self.schedule.operation(number));
        let stream = self.stream(rank, it.stream);
        self.stream_free[stream] = self.stream_free[stream].max(time);
    }

    /// Frees the operations that wait for an operation's beginning or end, and for nothing else.
    fn free(&mut self, number: u32, happened: Until, mut freed: impl FnMut(u32)) {
        for (dependant, until) in self.schedule.dependants(number) {
            if until == happened {
                let waits = &mut self.waits[dependant as usize];
                *waits -= 1;
                if *waits == 0 {
                    freed(dependant);
                }
            }
        }
    }

    /// The end; messages of which `is_large` holds are sent when they are received.
    fn finish(self, is_large: impl Fn(u64) -> bool) -> Result<Finished, Stuck> {
        let items =
            |matching: &Matching| matching.left().into_iter().map(|it| it.1).collect::<Vec<u32>>();
        let (receipts, messages) = (items(&self.receipts), items(&self.unexpected));
        let is_left = self.waits.iter().any(|&waits| waits > 0);
        if is_left || !receipts.is_empty() || !messages.is_empty() {
            let time = self.stream_free.iter().copied().max().unwrap_or(Picoseconds::ZERO);
            let is_unsent = |&it: &u32| is_large(self.schedule.operation(it).amount);
            let unsent = messages.iter().copied().filter(is_unsent).collect();
            let (waits, taken_by) = (self.waits.into(), self.taken_by.into());
            return Err(Stuck { time, receipts, messages, unsent, waits, taken_by });
        }
        let ranks = self.stream_free.chunks(self.streams);
        let ranks = ranks
            .map(|streams| streams.iter().copied().max().unwrap_or(Picoseconds::ZERO))
            .collect();
        Ok(Finished { ranks })
    }
}
