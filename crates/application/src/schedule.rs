//! Schedules: the operations of an application's ranks, and which of them wait for which.
//!
//! A schedule is what GOAL describes (Group Operation Assembly Language, \[goal-language\]): each
//! rank has operations without an order of their own, and says which of them must have ended, or
//! begun, before another one may begin. It is kept in flat arrays of 36 bytes an operation and up
//! to 6 bytes a dependency, and is never changed while it runs.

use std::ops::Range;

use super::remote::RemoteOperation;
use flitlab_base::memory::{Shortage, claim, grow, reserve};
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::prefetch;
use flitlab_base::units::Picoseconds;

/// Any rank, or any tag.
pub const ANY: u32 = u32::MAX;

/// The most operations of a schedule: their numbers share 32 bits with what else is said of a
/// message.
pub const MAX_OPERATIONS: u32 = 1 << 29;

/// The longest computation, and the longest that a rank can compute, in nanoseconds: 213 days.
pub const MAX_NANOSECONDS: u64 = Picoseconds::LAST.0 / Picoseconds::NANOSECOND.0;

/// The most phases, whose numbers have 8 bits.
const MAX_PHASES: usize = 255;

/// The subject of a message about a shortage of memory.
const THIS: &str = "this schedule";

/// The action of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends a message.
    Send,
    /// Posts a receipt, and takes the message that matches it.
    Receive,
    /// Computes.
    Compute,
    /// Does something to the memory of another rank, which does nothing itself: a one-sided
    /// operation. It ends when the acknowledgement, the data or the old value are back.
    Remote(RemoteOperation),
}

/// One operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Bytes of a message, or that are put, got or changed; nanoseconds of a computation.
    pub amount: u64,
    /// The rank that is sent to, or received from, or whose memory it is; [`ANY`] stands for every
    /// sender. 0 of a computation.
    pub peer: u32,
    /// The tag that a message and its receipt must share; a receipt with [`ANY`] takes any. 0 of
    /// all else.
    pub tag: u32,
    /// The kind of operation.
    pub action: Action,
    /// The stream of the rank that is busy with it: operations of one stream are done one at a
    /// time.
    pub stream: u8,
    /// The adapter of the rank that a message leaves or comes by.
    pub adapter: u8,
    /// The phase that it belongs to, as [`Schedule::phase`] names it; 0 if it belongs to none.
    pub phase: u8,
}

impl Operation {
    /// A message of so many bytes.
    pub const fn send(bytes: u64, to: u32, tag: u32) -> Self {
        Self { amount: bytes, peer: to, tag, action: Action::Send, stream: 0, adapter: 0, phase: 0 }
    }

    /// The receipt of a message of so many bytes.
    pub const fn receive(bytes: u64, from: u32, tag: u32) -> Self {
        Self { action: Action::Receive, ..Self::send(bytes, from, tag) }
    }

    /// Computing for so many nanoseconds.
    pub const fn compute(nanoseconds: u64) -> Self {
        Self { action: Action::Compute, ..Self::send(nanoseconds, 0, 0) }
    }

    /// A one-sided operation upon so many bytes of a rank's memory.
    pub const fn remote(operation: RemoteOperation, bytes: u64, rank: u32) -> Self {
        Self { action: Action::Remote(operation), ..Self::send(bytes, rank, 0) }
    }
}

/// The event of an operation that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// Its end: `requires`.
    Done,
    /// Its beginning: `irequires`.
    Begun,
}

/// A bit beside the number of an operation that waits for the beginning of another.
const BEGUN: u32 = 1 << 31;

/// The mark of an operation without dependants.
const NO_DEPENDANT: u32 = u32::MAX;

/// A bit beside the place in [`Schedule::dependants`] that stands in place of a dependant if there
/// are several.
const SEVERAL: u32 = 1 << 30;

/// An operation, and what is asked along with it, in 32 bytes: a large application has its
/// operations far from the processor, and an array for each would be waited for each. Not aligned
/// to them: growing an aligned array copies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    operation: Operation,
    rank: u32,
    /// The only operation that waits for it, [`NO_DEPENDANT`], or the place of a list with
    /// [`SEVERAL`].
    dependant: u32,
}

/// The operations of all ranks. Operations have numbers; those of a rank are consecutive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// By rank, and behind the last one.
    first: Vec<u32>,
    steps: Vec<Step>,
    /// By operation: how many dependencies it has.
    waits: Vec<u32>,
    /// The operations that wait for one, if there are several: their count, then what they are.
    dependants: Vec<u32>,
    /// Whether any of them waits for another one's beginning.
    any_begun: bool,
    labels: Labels,
    /// The names of phases: the first one has number 1.
    phases: Vec<String>,
}

/// The names of operations, those that have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Labels {
    text: String,
    /// By operation: where its name ends; shorter than there are operations if the last ones have
    /// none.
    ends: Vec<u64>,
}

impl Labels {
    fn set(&mut self, operation: u32, label: &str) {
        self.ends.resize(operation as usize, self.text.len() as u64);
        self.text.push_str(label);
        self.ends.push(self.text.len() as u64);
    }

    fn get(&self, operation: u32) -> Option<&str> {
        let operation = operation as usize;
        let end = *self.ends.get(operation)?;
        let start = operation.checked_sub(1).map_or(0, |before| self.ends[before]);
        let label = &self.text[narrow(start)..narrow(end)];
        Some(label).filter(|label| !label.is_empty())
    }
}

impl Schedule {
    /// Returns the number of ranks.
    pub fn ranks(&self) -> u32 {
        narrow(self.first.len() - 1)
    }

    /// All operations, in the order of their ranks.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = &Operation> {
        self.steps.iter().map(|step| &step.operation)
    }

    /// The numbers of a rank's operations.
    pub fn of_rank(&self, rank: u32) -> Range<u32> {
        self.first[rank as usize]..self.first[rank as usize + 1]
    }

    /// The operation with this number.
    #[inline]
    pub fn operation(&self, number: u32) -> &Operation {
        &self.steps[number as usize].operation
    }

    /// The rank whose operation has this number.
    #[inline]
    pub fn rank_of(&self, number: u32) -> u32 {
        self.steps[number as usize].rank
    }

    /// Has the memory of an operation fetched.
    #[inline]
    pub fn prefetch(&self, number: u32) {
        prefetch(&self.steps[number as usize]);
    }

    /// On how much an operation waits before it may begin.
    #[inline]
    pub fn waits(&self, number: u32) -> u32 {
        self.waits[number as usize]
    }

    /// Returns the operations that wait for one, each with the event that it waits for.
    #[inline]
    pub fn dependants(&self, number: u32) -> impl ExactSizeIterator<Item = (u32, Until)> + '_ {
        let dependant = &self.steps[number as usize].dependant;
        let dependants = match *dependant {
            NO_DEPENDANT => &[],
            several if several & SEVERAL != 0 => {
                let place = (several & !SEVERAL) as usize;
                &self.dependants[place + 1..][..self.dependants[place] as usize]
            }
            _ => std::slice::from_ref(dependant),
        };
        dependants.iter().map(|&dependant| match dependant & BEGUN {
            0 => (dependant, Until::Done),
            _ => (dependant & !BEGUN, Until::Begun),
        })
    }

    /// Whether any operation waits for another one's beginning.
    #[inline]
    pub fn any_waits_for_begun(&self) -> bool {
        self.any_begun
    }

    /// The names of the phases, which tell what operations are for, such as `all-reduce`. Phase
    /// number 1 comes first.
    pub fn phases(&self) -> &[String] {
        &self.phases
    }

    /// The name of the phase that an operation belongs to, if it belongs to one.
    pub fn phase(&self, number: u32) -> Option<&str> {
        let phase = usize::from(self.operation(number).phase).checked_sub(1)?;
        self.phases.get(phase).map(String::as_str)
    }

    /// The name that an operation was given.
    pub fn label(&self, number: u32) -> Option<&str> {
        self.labels.get(number)
    }

    /// This schedule so many times: a rank begins it anew when all of its operations have ended.
    /// Messages that name their tag are matched as in each alone, since those of two ranks come in
    /// order; a receipt of any tag or sender may take one of a later time.
    ///
    /// # Errors
    /// If there are too many operations, or a rank computes too long or there is no memory.
    pub fn repeated(&self, times: u32) -> Result<Self, ScheduleError> {
        if self.steps.len() as u64 * u64::from(times) > u64::from(MAX_OPERATIONS) {
            return Err(ScheduleError::TooMany);
        }
        let mut builder = ScheduleBuilder::new();
        builder.schedule.phases.clone_from(&self.phases);
        for rank in 0..self.ranks() {
            let numbers = self.of_rank(rank);
            // What all that begins waits for: the end of the time before.
            let mut ended = None;
            for time in 0..times {
                let first = builder.operations_of_rank();
                let place = |number: u32| first + (number - numbers.start);
                for number in numbers.clone() {
                    builder.add(*self.operation(number))?;
                    if let Some(label) = self.label(number) {
                        builder.label(label);
                    }
                }
                let joint = (time + 1 < times && !numbers.is_empty())
                    .then(|| builder.add(Operation::compute(0)))
                    .transpose()?;
                for number in numbers.clone() {
                    let mut is_last = true;
                    for (dependant, until) in self.dependants(number) {
                        builder.wait(place(dependant), until, place(number));
                        is_last &= until == Until::Begun;
                    }
                    if let (Some(joint), true) = (joint, is_last) {
                        builder.wait(joint, Until::Done, place(number));
                    }
                    if let (Some(ended), 0) = (ended, self.waits(number)) {
                        builder.wait(place(number), Until::Done, ended);
                    }
                }
                ended = joint;
            }
            builder.end_rank()?;
        }
        Ok(builder.finish())
    }

    /// Says which operation it is: `` `l7` of rank 3 (send 8 B to rank 4, tag 0) ``.
    pub fn describe(&self, number: u32) -> String {
        let rank = self.rank_of(number);
        let what = match self.label(number) {
            Some(label) => format!("`{label}`"),
            None => format!("operation {}", number - self.first[rank as usize] + 1),
        };
        let Operation { amount, peer, tag, action, .. } = *self.operation(number);
        let peer = if peer == ANY { "any rank".into() } else { format!("rank {peer}") };
        let tag = if tag == ANY { "any tag".into() } else { format!("tag {tag}") };
        match action {
            Action::Send => format!("{what} of rank {rank} (send {amount} B to {peer}, {tag})"),
            Action::Receive => {
                format!("{what} of rank {rank} (receive {amount} B from {peer}, {tag})")
            }
            Action::Compute => format!("{what} of rank {rank} (compute {amount} ns)"),
            Action::Remote(operation) => {
                let name = operation.name();
                let to = if operation == RemoteOperation::Get { "from" } else { "to" };
                format!("{what} of rank {rank} ({name} {amount} B {to} {peer})")
            }
        }
    }
}

/// Why a schedule can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There is no room for another operation.
    #[error("a schedule can have {MAX_OPERATIONS} operations at the most")]
    TooMany,
    /// Operations of a rank that wait for each other: their places in the rank, and what they are
    /// called.
    #[error("in rank {rank} {}: a cycle", cycle_text(operations))]
    Cycle {
        /// The rank.
        rank: u32,
        /// The place of each operation in the rank, and its label, if it has one.
        operations: Vec<(u32, Option<String>)>,
    },
    /// An operation computes for longer than can be told.
    #[error(
        "a computation takes {MAX_NANOSECONDS} ns (213 days) at the most: a later time can't be told"
    )]
    TooLong,
    /// A one-sided operation is upon fewer or more bytes than one may be.
    #[error(
        "one-sided operations of the kind {} are upon {} to {} bytes",
        operation.name(), operation.sizes().start(), operation.sizes().end()
    )]
    RemoteSize {
        /// The kind of operation.
        operation: RemoteOperation,
    },
    /// What a rank computes one after the other takes longer than can be told.
    #[error(
        "rank {rank} computes for more than {MAX_NANOSECONDS} ns (213 days) in all: its end is later than can be told"
    )]
    RankTooLong {
        /// The rank.
        rank: u32,
    },
    /// There is no memory for it.
    #[error("{0}: {help}", help = .0.help())]
    Memory(#[from] Shortage),
}

/// The operations of a cycle one after the other, and the first once more.
fn cycle_text(operations: &[(u32, Option<String>)]) -> String {
    let name = |(place, label): &(u32, Option<String>)| match label {
        Some(label) => format!("`{label}`"),
        None => format!("operation {}", place + 1),
    };
    let again = operations.iter().chain(operations.first());
    again.map(name).collect::<Vec<_>>().join(" requires ")
}

/// Makes a schedule, rank by rank in ascending order.
#[derive(Debug)]
pub struct ScheduleBuilder {
    schedule: Schedule,
    /// Dependencies of the rank that is being made: an operation, the event that it waits for, and
    /// the operation waited for. Numbers are places in the rank.
    dependencies: Vec<(u32, Until, u32)>,
    /// Why some of them could not be kept.
    shortage: Option<Shortage>,
    /// The phase of operations that are added.
    phase: u8,
}

impl Default for ScheduleBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ScheduleBuilder {
    /// Without any rank; what is added belongs to rank 0 until [`end_rank`](Self::end_rank) is
    /// called.
    pub fn new() -> Self {
        let schedule = Schedule {
            first: vec![0],
            steps: Vec::new(),
            waits: Vec::new(),
            dependants: Vec::new(),
            any_begun: false,
            labels: Labels::default(),
            phases: Vec::new(),
        };
        Self { schedule, dependencies: Vec::new(), shortage: None, phase: 0 }
    }

    /// The rank that is being made.
    pub fn rank(&self) -> u32 {
        self.schedule.ranks()
    }

    fn first_of_rank(&self) -> u32 {
        *self.schedule.first.last().expect("there is always one")
    }

    /// How many operations the rank that is being made has.
    pub fn operations_of_rank(&self) -> u32 {
        narrow::<u32>(self.schedule.steps.len()) - self.first_of_rank()
    }

    /// How many operations all ranks have so far.
    pub fn operations(&self) -> u64 {
        self.schedule.steps.len() as u64
    }

    /// The operation of the rank that is being made at this place, to be changed.
    pub fn operation(&mut self, place: u32) -> &mut Operation {
        let place = self.first_of_rank() + place;
        &mut self.schedule.steps[place as usize].operation
    }

    /// Gives the rank another operation. Its place in the rank.
    ///
    /// # Errors
    /// If there are [`MAX_OPERATIONS`] of them, it computes for more than [`MAX_NANOSECONDS`], is a
    /// one-sided operation of another [size](RemoteOperation::sizes) than it may have, or
    /// there is no memory.
    pub fn add(&mut self, operation: Operation) -> Result<u32, ScheduleError> {
        if self.schedule.steps.len() >= MAX_OPERATIONS as usize {
            return Err(ScheduleError::TooMany);
        }
        if operation.action == Action::Compute && operation.amount > MAX_NANOSECONDS {
            return Err(ScheduleError::TooLong);
        }
        if let Action::Remote(remote) = operation.action
            && !remote.sizes().contains(&operation.amount)
        {
            return Err(ScheduleError::RemoteSize { operation: remote });
        }
        self.shortage()?;
        grow(&mut self.schedule.steps, THIS)?;
        let phase = if self.phase == 0 { operation.phase } else { self.phase };
        let operation = Operation { phase, ..operation };
        let step = Step { operation, rank: self.rank(), dependant: NO_DEPENDANT };
        self.schedule.steps.push(step);
        Ok(self.operations_of_rank() - 1)
    }

    /// Returns an error if there was no memory for an earlier addition.
    fn shortage(&self) -> Result<(), Shortage> {
        self.shortage.clone().map_or(Ok(()), Err)
    }

    /// Has the operations that are added from now on belong to the phase of this name, if they
    /// belong to none yet: an inner phase is part of the outer one. Returns the phase so far, for
    /// [`leave_phase`](Self::leave_phase). Of more than 255 names the later ones share the last.
    pub fn enter_phase(&mut self, name: &str) -> u8 {
        let outer = self.phase;
        if outer == 0 {
            let phases = &mut self.schedule.phases;
            let known = phases.iter().position(|known| known == name);
            let place = known.unwrap_or_else(|| {
                if phases.len() < MAX_PHASES {
                    phases.push(name.into());
                }
                phases.len() - 1
            });
            self.phase = narrow(place + 1);
        }
        outer
    }

    /// Goes back to the phase before [`enter_phase`](Self::enter_phase), which returned it.
    pub fn leave_phase(&mut self, outer: u8) {
        self.phase = outer;
    }

    /// Names the latest operation.
    pub fn label(&mut self, label: &str) {
        let latest = narrow::<u32>(self.schedule.steps.len()) - 1;
        self.schedule.labels.set(latest, label);
    }

    /// Has an operation of the rank wait for another one of it. Both are places in the rank. A
    /// shortage of memory is told by the next [`add`](Self::add) or [`end_rank`](Self::end_rank).
    ///
    /// # Panics
    /// If the rank has no such operations.
    pub fn wait(&mut self, operation: u32, until: Until, other: u32) {
        let operations = self.operations_of_rank();
        assert!(operation < operations && other < operations, "no such operation");
        match grow(&mut self.dependencies, THIS) {
            Ok(()) => self.dependencies.push((other, until, operation)),
            Err(shortage) => self.shortage = Some(shortage),
        }
    }

    /// Ends a rank and begins the next one.
    ///
    /// # Errors
    /// If operations of the rank wait for each other, it computes for more than
    /// [`MAX_NANOSECONDS`], or there is no memory.
    pub fn end_rank(&mut self) -> Result<(), ScheduleError> {
        let (first, operations) = (self.first_of_rank(), self.operations_of_rank());
        self.shortage()?;
        grow(&mut self.schedule.first, THIS)?;
        reserve(&mut self.schedule.waits, operations as usize, THIS)?;
        // Beside these, counts and a queue of its operations, and room to sort dependencies.
        let beside = 12 * u64::from(operations) + 8 * self.dependencies.len() as u64;
        if beside > 1 << 20 {
            claim(THIS, beside)?;
        }
        // Stable, so that dependants are woken in the order in which they were named.
        self.dependencies.sort_by_key(|&(other, until, _)| (other, until));
        self.schedule.waits.resize((first + operations) as usize, 0);
        let Schedule { steps, waits, dependants, any_begun, .. } = &mut self.schedule;
        for &(_, _, waiting) in &self.dependencies {
            waits[(first + waiting) as usize] += 1;
        }
        let by_operation = || self.dependencies.chunk_by(|one, next| one.0 == next.0);
        let several = by_operation().map(<[_]>::len).filter(|&dependants| dependants > 1);
        let listed = several.map(|dependants| dependants + 1);
        reserve(dependants, listed.sum(), THIS)?;
        *any_begun |= self.dependencies.iter().any(|it| it.1 == Until::Begun);
        let flagged = |&(_, until, waiting): &(u32, Until, u32)| {
            (first + waiting) | if until == Until::Begun { BEGUN } else { 0 }
        };
        for of_one in by_operation() {
            steps[(first + of_one[0].0) as usize].dependant = if let [only] = of_one {
                flagged(only)
            } else {
                let place = narrow::<u32>(dependants.len());
                assert!(place < SEVERAL, "more dependencies than fit");
                dependants.push(narrow(of_one.len()));
                dependants.extend(of_one.iter().map(flagged));
                place | SEVERAL
            };
        }
        self.dependencies.clear();
        self.schedule.first.push(first + operations);
        match self.cycle() {
            None if self.computes_too_long() => {
                Err(ScheduleError::RankTooLong { rank: self.rank() - 1 })
            }
            None => Ok(()),
            Some(cycle) => {
                let label = |place: u32| self.schedule.label(first + place).map(str::to_owned);
                let operations = cycle.into_iter().map(|place| (place, label(place))).collect();
                Err(ScheduleError::Cycle { rank: self.rank() - 1, operations })
            }
        }
    }

    /// Whether the latest rank computes for so long, in a stream or in operations each of which
    /// waits for the end of the one before, that its end can't be told.
    fn computes_too_long(&self) -> bool {
        let schedule = &self.schedule;
        let range = schedule.of_rank(schedule.ranks() - 1);
        let time = |number: u32| match *schedule.operation(number) {
            Operation { action: Action::Compute, amount, .. } => Picoseconds::NANOSECOND * amount,
            _ => Picoseconds::ZERO,
        };
        let all: Picoseconds = range.clone().map(time).sum();
        if all.is_told() {
            return false;
        }
        let mut of_streams = [Picoseconds::ZERO; 256];
        for number in range.clone() {
            of_streams[usize::from(schedule.operation(number).stream)] += time(number);
        }
        let mut waits: Vec<u32> = range.clone().map(|number| schedule.waits(number)).collect();
        let mut begins = vec![Picoseconds::ZERO; range.len()];
        let mut free: Vec<u32> =
            range.clone().filter(|&number| schedule.waits(number) == 0).collect();
        let mut latest = Picoseconds::ZERO;
        while let Some(number) = free.pop() {
            let begin = begins[(number - range.start) as usize];
            let end = begin + time(number);
            latest = latest.max(end);
            for (dependant, until) in schedule.dependants(number) {
                let place = (dependant - range.start) as usize;
                begins[place] = begins[place].max(if until == Until::Done { end } else { begin });
                waits[place] -= 1;
                if waits[place] == 0 {
                    free.push(dependant);
                }
            }
        }
        !of_streams.into_iter().fold(latest, Picoseconds::max).is_told()
    }

    /// Operations of the latest rank each of which waits for the next, and the last for the first.
    fn cycle(&self) -> Option<Vec<u32>> {
        let schedule = &self.schedule;
        let range = schedule.of_rank(schedule.ranks() - 1);
        let mut waits = schedule.waits[range.start as usize..range.end as usize].to_vec();
        let mut free: Vec<u32> =
            range.clone().filter(|&number| schedule.waits(number) == 0).collect();
        let mut left = range.len() - free.len();
        while let Some(number) = free.pop() {
            for (dependant, _) in schedule.dependants(number) {
                let waits = &mut waits[(dependant - range.start) as usize];
                *waits -= 1;
                if *waits == 0 {
                    free.push(dependant);
                    left -= 1;
                }
            }
        }
        if left == 0 {
            return None;
        }
        // Each that is left waits for another one that is left: going on, one comes again.
        let mut waits_for = vec![u32::MAX; range.len()];
        let is_left = |number: u32| waits[(number - range.start) as usize] > 0;
        for number in range.clone().filter(|&number| is_left(number)) {
            for (dependant, _) in schedule.dependants(number).filter(|it| is_left(it.0)) {
                waits_for[(dependant - range.start) as usize] = number - range.start;
            }
        }
        let mut at = range.clone().find(|&number| is_left(number))? - range.start;
        let mut seen = vec![false; range.len()];
        while !std::mem::replace(&mut seen[at as usize], true) {
            at = waits_for[at as usize];
        }
        let mut cycle = vec![at];
        let mut next = waits_for[at as usize];
        while next != at {
            cycle.push(next);
            next = waits_for[next as usize];
        }
        Some(cycle)
    }

    /// The schedule of all ranks that were ended.
    ///
    /// # Panics
    /// If a rank was begun and not ended.
    pub fn finish(self) -> Schedule {
        assert_eq!(self.operations_of_rank(), 0, "rank {} was not ended", self.rank());
        self.schedule
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependants_are_kept_by_rank_with_what_they_wait_for() {
        let mut builder = ScheduleBuilder::new();
        builder.end_rank().unwrap();
        let a = builder.add(Operation::compute(5)).unwrap();
        let b = builder.add(Operation::send(8, 0, 3)).unwrap();
        builder.label("out");
        let c = builder.add(Operation::receive(8, ANY, ANY)).unwrap();
        builder.wait(c, Until::Begun, b);
        builder.wait(b, Until::Done, a);
        builder.wait(c, Until::Done, a);
        builder.end_rank().unwrap();
        let schedule = builder.finish();
        assert_eq!((schedule.ranks(), schedule.of_rank(0), schedule.of_rank(1)), (2, 0..0, 0..3));
        let of = |number| schedule.dependants(number).collect::<Vec<_>>();
        assert_eq!(of(0), [(1, Until::Done), (2, Until::Done)]);
        assert_eq!((of(1), of(2)), (vec![(2, Until::Begun)], vec![]));
        assert_eq!([0, 1, 2].map(|number| schedule.waits(number)), [0, 1, 2]);
        assert_eq!([0, 1, 2].map(|number| schedule.label(number)), [None, Some("out"), None]);
        assert_eq!(schedule.describe(1), "`out` of rank 1 (send 8 B to rank 0, tag 3)");
        let any = "operation 3 of rank 1 (receive 8 B from any rank, any tag)";
        assert_eq!(schedule.describe(2), any);
        assert_eq!(schedule.rank_of(2), 1);
    }

    #[test]
    fn operations_belong_to_the_outermost_phase_around_them() {
        let mut builder = ScheduleBuilder::new();
        let add = |builder: &mut ScheduleBuilder| builder.add(Operation::compute(1)).unwrap();
        add(&mut builder);
        let outer = builder.enter_phase("step");
        let inner = builder.enter_phase("all-reduce");
        add(&mut builder);
        builder.leave_phase(inner);
        add(&mut builder);
        builder.leave_phase(outer);
        add(&mut builder);
        for number in 0..300 {
            let outer = builder.enter_phase(&format!("phase {number}"));
            add(&mut builder);
            builder.leave_phase(outer);
        }
        builder.end_rank().unwrap();
        let schedule = builder.finish();
        let phases = [0, 1, 2, 3, 4, 303].map(|number| schedule.phase(number));
        let last = Some("phase 253");
        assert_eq!(phases, [None, Some("step"), Some("step"), None, Some("phase 0"), last]);
        assert_eq!(schedule.phases().len(), 255);
    }

    #[test]
    fn a_repeated_schedule_begins_anew_when_all_of_a_rank_has_ended() {
        let mut builder = ScheduleBuilder::new();
        // b waits for a, and c for b's beginning: b and c are the last ones, a and d the first.
        for (label, time) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            builder.add(Operation::compute(time)).unwrap();
            builder.label(label);
        }
        builder.wait(1, Until::Done, 0);
        builder.wait(2, Until::Begun, 1);
        builder.end_rank().unwrap();
        builder.end_rank().unwrap();
        let once = builder.finish();
        assert_eq!(once.repeated(1).unwrap(), once);
        let twice = once.repeated(2).unwrap();
        assert_eq!((twice.of_rank(0), twice.of_rank(1)), (0..9, 9..9));
        assert_eq!(
            (0..9).map(|it| twice.waits(it)).collect::<Vec<_>>(),
            [0, 1, 1, 0, 3, 1, 1, 1, 1]
        );
        let of = |number| twice.dependants(number).collect::<Vec<_>>();
        assert_eq!(of(1), [(4, Until::Done), (2, Until::Begun)]);
        assert_eq!((of(2), of(3)), (vec![(4, Until::Done)], vec![(4, Until::Done)]));
        assert_eq!(of(4), [(5, Until::Done), (8, Until::Done)]);
        assert_eq!((twice.label(4), twice.label(8)), (None, Some("d")));
    }

    #[test]
    fn what_a_rank_computes_in_all_must_be_told() {
        let end = |operations: &[(u64, u8)], waits: &[(u32, Until, u32)]| {
            let mut builder = ScheduleBuilder::new();
            for &(nanoseconds, stream) in operations {
                let operation = Operation { stream, ..Operation::compute(nanoseconds) };
                builder.add(operation).unwrap();
            }
            waits.iter().for_each(|&(waiting, until, other)| builder.wait(waiting, until, other));
            builder.end_rank()
        };
        let (most, half) = (MAX_NANOSECONDS, MAX_NANOSECONDS / 2 + 1);
        let long = Err(ScheduleError::RankTooLong { rank: 0 });
        assert_eq!(end(&[(most, 0), (0, 0)], &[]), Ok(()));
        // One after the other, on one stream or by what they wait for; but not side by side.
        assert_eq!(end(&[(half, 0), (half, 0)], &[]), long);
        assert_eq!(end(&[(half, 0), (half, 1)], &[(1, Until::Done, 0)]), long);
        assert_eq!(end(&[(half, 0), (half, 1)], &[(1, Until::Begun, 0)]), Ok(()));
        assert_eq!(end(&[(most, 0), (most, 1), (most, 2)], &[]), Ok(()));
        let mut builder = ScheduleBuilder::new();
        assert_eq!(builder.add(Operation::compute(most + 1)), Err(ScheduleError::TooLong));
        assert_eq!(builder.add(Operation::send(u64::MAX, 0, 0)), Ok(0));
    }

    #[test]
    fn operations_that_wait_for_each_other_are_named() {
        let mut builder = ScheduleBuilder::new();
        for (label, bytes) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            builder.add(Operation::compute(bytes)).unwrap();
            builder.label(label);
        }
        // d waits for a; a for b for c for a: the cycle is a, b, c.
        for (operation, other) in [(3, 0), (0, 1), (1, 2), (2, 0)] {
            builder.wait(operation, Until::Done, other);
        }
        let message = builder.end_rank().unwrap_err().to_string();
        assert_eq!(message, "in rank 0 `a` requires `b` requires `c` requires `a`: a cycle");
    }
}
