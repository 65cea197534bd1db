//! One rank's program as a sequence of calls, as an MPI program makes them, on top of a schedule's
//! dependencies.

use crate::{Operation, Schedule, ScheduleBuilder, Until};
use flitlab_base::narrow::{narrow, try_rounded};

/// An operation that was begun and is to be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    place: u32,
    /// The number of waits before it was begun.
    epoch: u32,
}

/// The end of a sequence of calls; of one without any, and which waits for none, the begin of the
/// rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End(Option<u32>);

/// The program of a rank, call by call. A call begins when all calls that were waited for have
/// ended; a blocking call is waited for at once.
#[derive(Debug)]
pub struct Program {
    builder: ScheduleBuilder,
    /// Operations that the next operation has to wait for.
    after: Vec<u32>,
    /// How often that changed.
    epoch: u32,
    /// Nanoseconds to enter a call, and to leave it.
    call_ns: f64,
    /// Calls within a call take no such time.
    is_in_call: bool,
    /// The stream of operations that are added.
    stream: u8,
    failure: Option<String>,
}

impl Default for Program {
    fn default() -> Self {
        Self::new()
    }
}

impl Program {
    /// At the begin of rank 0.
    pub fn new() -> Self {
        let builder = ScheduleBuilder::new();
        Self {
            builder,
            after: Vec::new(),
            epoch: 0,
            stream: 0,
            call_ns: 0.0,
            is_in_call: false,
            failure: None,
        }
    }

    /// At the begin of rank 0, of a library that takes so many nanoseconds to enter a call, and as
    /// many to leave it.
    pub fn with_calls(call_ns: f64) -> Self {
        Self { call_ns, ..Self::new() }
    }

    /// Enters a call of the library, does what it does, and leaves it.
    pub fn call<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        if self.is_in_call || self.call_ns == 0.0 {
            return body(self);
        }
        self.compute(self.call_ns);
        self.is_in_call = true;
        let result = body(self);
        self.is_in_call = false;
        self.compute(self.call_ns);
        result
    }

    fn begin(&mut self, operation: Operation) -> Request {
        if self.failure.is_some() {
            return Request { place: 0, epoch: self.epoch };
        }
        match self.builder.add(Operation { stream: self.stream, ..operation }) {
            Ok(place) => {
                for &other in &self.after {
                    self.builder.wait(place, Until::Done, other);
                }
                Request { place, epoch: self.epoch }
            }
            Err(error) => {
                self.failure = Some(error.to_string());
                Request { place: 0, epoch: self.epoch }
            }
        }
    }

    /// Begins to send (`MPI_Isend`).
    pub fn begin_send(&mut self, bytes: u64, to: u32, tag: u32) -> Request {
        self.call(|program| program.begin(Operation::send(bytes, to, tag)))
    }

    /// Posts a receive (`MPI_Irecv`).
    pub fn begin_receive(&mut self, bytes: u64, from: u32, tag: u32) -> Request {
        self.call(|program| program.begin(Operation::receive(bytes, from, tag)))
    }

    /// Goes on when all of these have ended (`MPI_Waitall`).
    pub fn wait(&mut self, requests: &[Request]) {
        if requests.is_empty() {
            return;
        }
        self.call(|program| program.wait_for(requests));
    }

    fn wait_for(&mut self, requests: &[Request]) {
        if requests.is_empty() || self.failure.is_some() {
            return;
        }
        // An operation begun since the latest wait has waited for that already.
        if requests.iter().any(|request| request.epoch == self.epoch) {
            self.after.clear();
        }
        self.after.extend(requests.iter().map(|request| request.place));
        self.epoch += 1;
        // Many times many dependencies meet in one operation instead.
        if self.after.len() > 2 {
            let joint = self.begin(Operation::compute(0));
            self.after.clear();
            self.after.push(joint.place);
        }
    }

    /// Sends (`MPI_Send`).
    pub fn send(&mut self, bytes: u64, to: u32, tag: u32) {
        self.call(|program| {
            let request = program.begin_send(bytes, to, tag);
            program.wait(&[request]);
        });
    }

    /// Receives (`MPI_Recv`).
    pub fn receive(&mut self, bytes: u64, from: u32, tag: u32) {
        self.call(|program| {
            let request = program.begin_receive(bytes, from, tag);
            program.wait(&[request]);
        });
    }

    /// Sends and receives at once (`MPI_Sendrecv`); the receive is posted first.
    pub fn exchange(&mut self, (sent, to): (u64, u32), (received, from): (u64, u32), tag: u32) {
        self.call(|program| {
            let receive = program.begin_receive(received, from, tag);
            let send = program.begin_send(sent, to, tag);
            program.wait(&[receive, send]);
        });
    }

    /// Computes for so many nanoseconds, rounded to whole ones; nothing at all if they round to
    /// none.
    pub fn compute(&mut self, nanoseconds: f64) {
        let nanoseconds = try_rounded(nanoseconds.max(0.0)).unwrap_or(u64::MAX);
        if nanoseconds > 0 {
            let request = self.begin(Operation::compute(nanoseconds));
            self.wait_for(&[request]);
        }
    }

    /// Begins calls beside those that follow, as a collective operation that does not block; what is
    /// to be waited for is the end of all of them.
    pub fn begin_beside(&mut self, calls: impl FnOnce(&mut Self)) -> Request {
        let (after, epoch) = (self.after.clone(), self.epoch);
        calls(self);
        let joint = match self.after.as_slice() {
            [place] if self.epoch != epoch => *place,
            _ => self.begin(Operation::compute(0)).place,
        };
        (self.after, self.epoch) = (after, epoch);
        Request { place: joint, epoch }
    }

    /// Begins another sequence of calls on a stream, whose first ones wait for the ends of these
    /// alone.
    pub fn begin_sequence(&mut self, stream: u8, after: &[End]) {
        self.stream = stream;
        self.after.clear();
        self.after.extend(after.iter().filter_map(|end| end.0));
        self.after.sort_unstable();
        self.after.dedup();
        self.epoch += 1;
    }

    /// The end of all calls of the sequence that were waited for.
    pub fn end_sequence(&mut self) -> End {
        if self.after.len() > 1 {
            let joint = self.begin(Operation::compute(0));
            self.after.clear();
            self.after.push(joint.place);
        }
        End(self.after.first().copied())
    }

    /// Makes calls that belong to a phase of this name, unless they belong to another one already.
    pub fn in_phase(&mut self, name: &str, calls: impl FnOnce(&mut Self)) {
        let outer = self.builder.enter_phase(name);
        calls(self);
        self.builder.leave_phase(outer);
    }

    /// Whether there is room for what was added so far: if not, nothing more is kept.
    pub fn goes_on(&self) -> bool {
        self.failure.is_none()
    }

    /// Ends the rank's program and begins that of the next rank. False if there is no room for
    /// more.
    pub fn next_rank(&mut self) -> bool {
        self.after.clear();
        (self.epoch, self.stream) = (0, 0);
        if self.failure.is_none() {
            self.failure = self.builder.end_rank().err().map(|error| error.to_string());
        }
        self.goes_on()
    }

    /// The schedule of all ranks whose programs were ended.
    ///
    /// # Errors
    /// If it has more operations than a schedule can have, or than there is memory for.
    pub fn finish(self) -> Result<Schedule, String> {
        match self.failure {
            None => Ok(self.builder.finish()),
            Some(failure) => Err(failure),
        }
    }
}

/// The schedule of so many ranks, each of which does what `rank` adds to the program.
///
/// # Errors
/// As [`Program::finish`].
pub fn of_ranks(ranks: u32, rank: impl FnMut(&mut Program, u32)) -> Result<Schedule, String> {
    of_calls(ranks, 0.0, rank)
}

/// Returns the schedule as [`of_ranks`], of a library that takes so many nanoseconds to enter a
/// call, and as many to leave it.
///
/// # Errors
/// As [`Program::finish`].
pub fn of_calls(
    ranks: u32,
    call_ns: f64,
    mut rank: impl FnMut(&mut Program, u32),
) -> Result<Schedule, String> {
    let mut program = Program::with_calls(call_ns);
    for number in 0..ranks {
        rank(&mut program, number);
        if !program.next_rank() {
            break;
        }
    }
    program.finish()
}

/// Parts of a vector, as equal as whole bytes allow.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Bytes of all of them.
    pub total: u64,
    parts: u32,
}

impl Blocks {
    /// Returns `total` bytes in `parts` parts.
    pub const fn of(total: u64, parts: u32) -> Self {
        Self { total, parts }
    }

    fn start(&self, part: u32) -> u64 {
        narrow(u128::from(self.total) * u128::from(part) / u128::from(self.parts))
    }

    /// Bytes of one.
    pub fn at(&self, part: u32) -> u64 {
        self.start(part + 1) - self.start(part)
    }

    /// Bytes of so many from one on, going on with the first behind the last.
    pub fn span(&self, first: u32, count: u32) -> u64 {
        match (first + count).checked_sub(self.parts) {
            Some(over @ 1..) => self.total - self.start(first) + self.start(over),
            _ => self.start(first + count) - self.start(first),
        }
    }
}
