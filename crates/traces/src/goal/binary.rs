//! GOAL binary, in and out. All numbers are little endian, nothing is aligned.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the cookie, 4223 |
//! | 4, 1, 1 | ranks, largest stream, largest adapter |
//! | 8, 8 for each rank | where its part begins and ends, counted from behind the cookie |
//!
//! A rank's part is the number of its operations and of those that wait for nothing (4, 4), the
//! places of the latter (4 each), the operations (39 each), and a list of places (4 each) of which
//! every operation has two pieces: the operations that wait for its end, and those that wait for
//! its begin.

use std::fmt::{self, Display};
use std::io::{self, BufRead, Read, Write};

use super::COOKIE;
use flitlab_application::{ANY, Action, Operation, Schedule, ScheduleBuilder, Until};
use flitlab_base::narrow::narrow;

/// Bytes of the header up to the table of ranks, without the cookie.
const HEADER: u64 = 6;

/// Bytes of a rank in that table.
const ROW: u64 = 16;

/// Bytes of an operation.
const NODE: usize = 39;

/// Bytes of an operation in LogGOPSim2, which adds a byte, six numbers of four bytes and five of
/// eight (its `Parser.hpp`).
const EXTENDED_NODE: u64 = 104;

/// A mistake, and its byte in the file.
#[derive(Debug)]
pub(super) struct Flaw {
    at: u64,
    message: String,
    /// Whether operations are as long as those of LogGOPSim2.
    is_extended: bool,
}

impl Flaw {
    fn new(at: u64, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), is_extended: false }
    }

    pub(super) fn is_extended(&self) -> bool {
        self.is_extended
    }
}

impl Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "at byte {} {}", self.at, self.message)
    }
}

/// Input that counts the bytes read, the cookie included.
struct Counted<'i, R> {
    input: &'i mut R,
    at: u64,
}

impl<R: BufRead> Counted<'_, R> {
    /// Takes `length` bytes. Memory grows with the bytes that are there, not with the promised
    /// length.
    fn take(&mut self, length: u64, what: &str) -> Result<Vec<u8>, Flaw> {
        let mut bytes = Vec::new();
        self.input
            .by_ref()
            .take(length)
            .read_to_end(&mut bytes)
            .map_err(|error| Flaw::new(self.at, error.to_string()))?;
        self.at += bytes.len() as u64;
        if bytes.len() as u64 == length {
            return Ok(bytes);
        }
        let missing = length - bytes.len() as u64;
        Err(Flaw::new(self.at, format!("the file ends within {what}, {missing} bytes are missing")))
    }

    /// Passes over bytes up to a place.
    fn pass(&mut self, to: u64) -> Result<(), Flaw> {
        let length = to - self.at;
        let passed = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())
            .map_err(|error| Flaw::new(self.at, error.to_string()))?;
        self.at += passed;
        if passed == length {
            return Ok(());
        }
        Err(Flaw::new(self.at, format!("the file ends; a rank should begin at byte {to}")))
    }
}

/// A number of four bytes.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// A number of eight bytes.
fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Reads a file from behind its cookie.
pub(super) fn read(input: &mut impl BufRead) -> Result<Schedule, Flaw> {
    let cookie = size_of_val(&COOKIE) as u64;
    let mut input = Counted { input, at: cookie };
    let header = input.take(HEADER, "the header")?;
    let ranks = word(&header, 0);
    if ranks == 0 || ranks == ANY {
        return Err(Flaw::new(cookie, format!("stands {ranks} as the number of ranks")));
    }
    let table = input.take(u64::from(ranks) * ROW, "the table of ranks")?;
    let mut builder = ScheduleBuilder::new();
    for (rank, row) in (0..).zip(table.chunks_exact(narrow(ROW))) {
        let at = cookie + HEADER + u64::from(rank) * ROW;
        let (start, end) = (long(row, 0), long(row, 8));
        let (Some(start), Some(end)) = (start.checked_add(cookie), end.checked_add(cookie)) else {
            return Err(Flaw::new(at, format!("rank {rank} is said to lie beyond all files")));
        };
        if start < input.at {
            let message = format!("rank {rank} is said to begin within what comes before it");
            return Err(Flaw::new(at, message));
        }
        if end < start {
            return Err(Flaw::new(at, format!("rank {rank} is said to end before it begins")));
        }
        input.pass(start)?;
        let bytes = input.take(end - start, &format!("rank {rank}"))?;
        let part = Part { bytes: &bytes, start, rank, ranks };
        if part.is_extended() {
            let flaw = part.flaw(0, "operations have 104 bytes");
            return Err(Flaw { is_extended: true, ..flaw });
        }
        part.read(&mut builder)?;
    }
    Ok(builder.finish())
}

/// The part of one rank.
struct Part<'b> {
    bytes: &'b [u8],
    start: u64,
    rank: u32,
    ranks: u32,
}

impl Part<'_> {
    fn flaw(&self, at: usize, message: impl Display) -> Flaw {
        Flaw::new(self.start + at as u64, format!("(rank {}) {message}", self.rank))
    }

    /// Whether its operations are as long as those of LogGOPSim2, and not as they should be.
    fn is_extended(&self) -> bool {
        self.fits(EXTENDED_NODE) && !self.fits(NODE as u64)
    }

    /// Whether it is as long as with operations of so many bytes: as many dependants are listed
    /// behind them as they say that they wait for.
    fn fits(&self, node: u64) -> bool {
        if self.bytes.len() < 8 {
            return false;
        }
        let (count, roots) = (word(self.bytes, 0), word(self.bytes, 4));
        let first = 8 + 4 * u64::from(roots);
        let list = first + node * u64::from(count);
        let length = self.bytes.len() as u64;
        if list > length {
            return false;
        }
        let waits = (0..u64::from(count))
            .map(|place| u64::from(word(self.bytes, narrow(first + place * node))));
        list + 4 * waits.sum::<u64>() == length
    }

    fn read(&self, builder: &mut ScheduleBuilder) -> Result<(), Flaw> {
        if self.bytes.len() < 8 {
            return Err(self.flaw(0, "there is no room for the number of operations"));
        }
        let (count, roots) = (word(self.bytes, 0), word(self.bytes, 4));
        let first = 8 + 4 * u64::from(roots);
        let list = first + NODE as u64 * u64::from(count);
        if list > self.bytes.len() as u64 {
            let message =
                format!("{count} operations and {roots} that wait for nothing do not fit in");
            return Err(self.flaw(0, format!("{message} {} bytes", self.bytes.len())));
        }
        let (first, list): (usize, usize) = (narrow(first), narrow(list));
        for place in 0..count as usize {
            let operation = self.operation(first + place * NODE)?;
            builder.add(operation).map_err(|error| self.flaw(first, error))?;
        }
        let mut named = vec![0u32; count as usize];
        let mut left = (self.bytes.len() - list) as u64 / 4;
        for place in 0..count {
            let at = first + place as usize * NODE;
            for (until, field) in [(Until::Done, at + 23), (Until::Begun, at + 31)] {
                let (length, begin) = (word(self.bytes, field), word(self.bytes, field + 4));
                if length == 0 {
                    continue;
                }
                let end = list as u64 + 4 * (u64::from(begin) + u64::from(length));
                if end > self.bytes.len() as u64 || u64::from(length) > left {
                    return Err(self.flaw(field, "more dependants are named than are listed"));
                }
                left -= u64::from(length);
                let begin = list + 4 * begin as usize;
                for at in (begin..narrow(end)).step_by(4) {
                    let dependant = word(self.bytes, at);
                    if dependant >= count {
                        let message = format!("operation {dependant} of {count} is named");
                        return Err(self.flaw(at, message));
                    }
                    named[dependant as usize] += 1;
                    builder.wait(dependant, until, place);
                }
            }
        }
        self.compare_waits(&named, first)?;
        builder.end_rank().map_err(|error| self.flaw(0, error))
    }

    /// Sees to it that operations wait for as many others as name them, and those for none that are
    /// said to.
    fn compare_waits(&self, named: &[u32], first: usize) -> Result<(), Flaw> {
        for (place, &named) in named.iter().enumerate() {
            let at = first + place * NODE;
            let waits = word(self.bytes, at);
            if waits != named {
                let message = format!("an operation waits for {waits} others, and {named} name it");
                return Err(self.flaw(at, message));
            }
        }
        let mut free: Vec<bool> = named.iter().map(|&named| named == 0).collect();
        for at in (8..first).step_by(4) {
            let root = word(self.bytes, at) as usize;
            match free.get_mut(root) {
                Some(free) if *free => *free = false,
                _ => {
                    let message = format!("operation {root} is said to wait for nothing, or twice");
                    return Err(self.flaw(at, message));
                }
            }
        }
        match free.iter().position(|&free| free) {
            None => Ok(()),
            Some(place) => {
                let message =
                    format!("operation {place} waits for nothing, which the list does not say");
                Err(self.flaw(4, message))
            }
        }
    }

    fn operation(&self, at: usize) -> Result<Operation, Flaw> {
        let bytes = &self.bytes[at..at + NODE];
        let (peer, amount, tag) = (word(bytes, 5), long(bytes, 9), word(bytes, 17));
        let action = match bytes[4] {
            1 => Action::Send,
            2 => Action::Receive,
            3 => return Ok(Operation { stream: bytes[21], ..Operation::compute(amount) }),
            other => {
                let message =
                    format!("{other} is no kind of operation (1 send, 2 receive, 3 compute)");
                return Err(self.flaw(at + 4, message));
            }
        };
        if peer >= self.ranks && !(peer == ANY && action == Action::Receive) {
            return Err(self.flaw(at + 5, format!("there is no rank {peer}")));
        }
        Ok(Operation { amount, peer, tag, action, stream: bytes[21], adapter: bytes[22], phase: 0 })
    }
}

/// Why a schedule has no binary form, if it has none: the operation, and the way out.
pub(super) fn refusal(schedule: &Schedule) -> Option<String> {
    let is_remote = |number: &u32| matches!(schedule.operation(*number).action, Action::Remote(_));
    let remote = (0..narrow(schedule.operations().len())).find(is_remote)?;
    let which = schedule.describe(remote);
    Some(format!("GOAL's binary form has no one-sided operations, as {which} is one: write a text"))
}

/// Writes a file.
pub(super) fn write(schedule: &Schedule, output: &mut impl Write) -> io::Result<()> {
    if let Some(message) = refusal(schedule) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let largest = |of: fn(&Operation) -> u8| schedule.operations().map(of).max().unwrap_or(0);
    output.write_all(&COOKIE.to_le_bytes())?;
    output.write_all(&schedule.ranks().to_le_bytes())?;
    output.write_all(&[largest(|it| it.stream), largest(|it| it.adapter)])?;
    let mut start = HEADER + ROW * u64::from(schedule.ranks());
    for rank in 0..schedule.ranks() {
        let numbers = schedule.of_rank(rank);
        let length: usize = numbers
            .clone()
            .map(|number| {
                let root = usize::from(schedule.waits(number) == 0);
                NODE + 4 * (root + schedule.dependants(number).len())
            })
            .sum();
        let end = start + 8 + length as u64;
        output.write_all(&start.to_le_bytes())?;
        output.write_all(&end.to_le_bytes())?;
        start = end;
    }
    for rank in 0..schedule.ranks() {
        write_rank(schedule, rank, output)?;
    }
    output.flush()
}

fn write_rank(schedule: &Schedule, rank: u32, output: &mut impl Write) -> io::Result<()> {
    let numbers = schedule.of_rank(rank);
    let roots = || numbers.clone().filter(|&number| schedule.waits(number) == 0);
    let place = |number: u32| (number - numbers.start).to_le_bytes();
    output.write_all(&narrow::<u32>(numbers.len()).to_le_bytes())?;
    output.write_all(&narrow::<u32>(roots().count()).to_le_bytes())?;
    for root in roots() {
        output.write_all(&place(root))?;
    }
    let mut listed = 0u32;
    for number in numbers.clone() {
        let Operation { amount, peer, tag, action, stream, adapter, phase: _ } =
            *schedule.operation(number);
        let kind = match action {
            Action::Send => 1,
            Action::Receive => 2,
            Action::Compute => 3,
            Action::Remote(_) => unreachable!("they were refused"),
        };
        output.write_all(&schedule.waits(number).to_le_bytes())?;
        output.write_all(&[kind])?;
        output.write_all(&peer.to_le_bytes())?;
        output.write_all(&amount.to_le_bytes())?;
        output.write_all(&tag.to_le_bytes())?;
        output.write_all(&[stream, adapter])?;
        for until in [Until::Done, Until::Begun] {
            let length = schedule.dependants(number).filter(|it| it.1 == until).count();
            output.write_all(&narrow::<u32>(length).to_le_bytes())?;
            output.write_all(&listed.to_le_bytes())?;
            listed += narrow::<u32>(length);
        }
    }
    for number in numbers.clone() {
        for (dependant, _) in schedule.dependants(number) {
            output.write_all(&place(dependant))?;
        }
    }
    Ok(())
}
