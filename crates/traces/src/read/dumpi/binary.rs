//! The binaries of DUMPI, from version 0.6.9 on: one record a call, whose arguments have the layout
//! of its function (`dumpi/common/dumpiio.c`, `iodefs.h` \[dumpi\]).
//!
//! `layouts.txt` has a line for each function: its number, its name, and its arguments in order, of
//! which those that are used have a name. `i`, `h`, `b` and `q` are numbers of 4, 2, 1 and 8 bytes;
//! `I`, `H` and `B` arrays of them, behind a count of 4 bytes; `s` statuses, `c` a text and `C`
//! texts. What stands behind `?` is there at the root alone.

use std::fmt::Write;

use super::Call;

const LAYOUTS: &str = include_str!("layouts.txt");

/// The first and the last bytes of which a binary is known.
pub(super) const MAGIC: [u8; 8] = [0xff, 0xaa, 0xdd, b'D', b'U', b'M', b'P', b'I'];

/// The number in place of a function behind the last call.
const END: u16 = 293;
const FINALIZE: &str = "Finalize";

/// Bits of what is recorded of a call.
const STATUSES: u8 = 3;
const CPU_TIME: u8 = 4;
const WALL_TIME: u8 = 8;
const THREAD: u8 = 64;
const COUNTERS: u8 = 128;

/// A number of seconds has 16 bits, and begins anew after so many.
const AROUND: i128 = 1 << 16;
const SECOND: i128 = 1_000_000_000;

/// The layout of a function's arguments.
struct Layout {
    name: &'static str,
    arguments: Vec<Argument>,
}

struct Argument {
    kind: u8,
    at_root: bool,
    /// Empty if it is not used.
    name: &'static str,
}

/// The layouts of functions by their numbers; `None` of those that can't be read.
fn layouts() -> Vec<Option<Layout>> {
    let mut layouts: Vec<Option<Layout>> = (0..END).map(|_| None).collect();
    for line in LAYOUTS.lines() {
        let mut words = line.split_ascii_whitespace();
        let number = words.next().and_then(|number| number.parse::<usize>().ok());
        let (Some(number), Some(name)) = (number, words.next()) else { continue };
        let arguments = words.map(|word| {
            let (kind, name) = word.split_once(':').unwrap_or((word, ""));
            let kind_only = kind.trim_start_matches('?');
            Argument { kind: kind_only.as_bytes()[0], at_root: kind != kind_only, name }
        });
        layouts[number] = Some(Layout { name, arguments: arguments.collect() });
    }
    layouts
}

/// A flaw of a binary: a byte of it, and what is wrong.
pub(super) type Flaw = (usize, String);

/// Reads numbers one after the other, the highest byte first.
struct Bytes<'b> {
    all: &'b [u8],
    at: usize,
}

impl Bytes<'_> {
    fn take(&mut self, count: usize) -> Result<&[u8], Flaw> {
        let at = self.at;
        let end = at.checked_add(count).filter(|end| *end <= self.all.len());
        let end = end.ok_or_else(|| (at, "the file ends within a call".to_owned()))?;
        self.at = end;
        Ok(&self.all[at..end])
    }

    fn number(&mut self, bytes: usize) -> Result<u64, Flaw> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number of 4 bytes, which may be below zero.
    fn int(&mut self) -> Result<i64, Flaw> {
        let number = self.number(4)?;
        Ok(i64::from(u32::try_from(number).unwrap_or_default().cast_signed()))
    }

    /// How many elements of so many bytes follow.
    fn count(&mut self, each: usize) -> Result<usize, Flaw> {
        let at = self.at;
        let count = usize::try_from(self.int()?).unwrap_or(0);
        match count.saturating_mul(each) <= self.all.len() - self.at {
            true => Ok(count),
            false => Err((at, format!("{count} elements are more than the file has"))),
        }
    }

    /// The time of a call's begin and end, in nanoseconds from the first second on.
    fn time(&mut self) -> Result<i128, Flaw> {
        let (seconds, nanoseconds) = (self.number(2)?, self.number(4)?);
        Ok(i128::from(seconds) * SECOND + i128::from(nanoseconds))
    }

    /// An argument as text, as `dumpi2ascii` prints it.
    fn argument(&mut self, kind: u8, mask: u8) -> Result<String, Flaw> {
        let list = |bytes: &mut Self, each: usize| -> Result<String, Flaw> {
            let mut text = String::from("[");
            for place in 0..bytes.count(each)? {
                let number = match each {
                    4 => bytes.int()?,
                    _ => i64::try_from(bytes.number(each)?).unwrap_or(i64::MAX),
                };
                let separator = if place == 0 { "" } else { "," };
                let _ = write!(text, "{separator}{number}");
            }
            Ok(text + "]")
        };
        Ok(match kind {
            b'i' => self.int()?.to_string(),
            b'h' => self.number(2)?.to_string(),
            b'b' => self.number(1)?.to_string(),
            b'q' => self.number(8)?.to_string(),
            b'I' => list(self, 4)?,
            b'H' => list(self, 2)?,
            b'B' => list(self, 1)?,
            b's' => {
                if mask & STATUSES != 0 {
                    let count = self.count(14)?;
                    self.take(14 * count)?;
                }
                String::new()
            }
            b'c' => {
                let length = self.count(1)?;
                self.take(length)?;
                String::new()
            }
            _ => {
                for _ in 0..self.count(4)? {
                    let length = self.count(1)?;
                    self.take(length)?;
                }
                String::new()
            }
        })
    }
}

/// Reads a binary: `call` gets each call with the time at which it ended, and says what is wrong
/// with it.
///
/// # Errors
/// If something is wrong with a call, or with the binary.
pub(super) fn read(
    content: &[u8],
    mut call: impl FnMut(&Call, Option<i128>) -> Result<(), String>,
) -> Result<(), Flaw> {
    let length = content.len();
    if !content.starts_with(&MAGIC) {
        return Err((0, "a binary of DUMPI begins with the bytes ff aa dd and DUMPI".into()));
    }
    // Where the header, the calls and what is behind them begin stands in the last bytes.
    let mut bytes = Bytes { all: content, at: length.saturating_sub(32) };
    let mut offset = || -> Result<usize, Flaw> {
        let at = bytes.at;
        let offset = usize::try_from(bytes.number(8)?).ok().filter(|offset| *offset < length);
        offset.ok_or_else(|| {
            (at, "the file was cut off: its end does not say where its parts are".into())
        })
    };
    let (header, body, footer) = (offset()?, offset()?, offset()?);
    if !(MAGIC.len() <= body && body < header && header < footer) {
        let why = "the file was cut off: its end does not say where its parts are";
        return Err((length.saturating_sub(32), why.into()));
    }
    bytes.at = header;
    let version = [bytes.number(1)?, bytes.number(1)?, bytes.number(1)?];
    if version < [0, 6, 9] {
        let [a, b, c] = version;
        let why =
            format!("version {a}.{b}.{c} is older than 0.6.9, from which on binaries are read");
        return Err((header, why + ": `dumpi2ascii` makes a text of it"));
    }
    // The first second of both clocks; times between calls matter only.
    bytes.at = body + 8;
    let layouts = layouts();
    let (mut turns, mut latest, mut finalized) = (0, 0, false);
    while bytes.at < footer {
        let start = bytes.at;
        let number = u16::try_from(bytes.number(2)?).unwrap_or(END);
        if number == END || (finalized && number == 0) {
            break;
        }
        let known = layouts.get(usize::from(number)).and_then(Option::as_ref);
        let Some(layout) = known else {
            let why =
                format!("function {number} of DUMPI is not read: `dumpi2ascii` says what it is");
            return Err((start, why));
        };
        let mask = u8::try_from(bytes.number(1)?).unwrap_or(0);
        if mask & THREAD != 0 {
            bytes.take(2)?;
        }
        if mask & CPU_TIME != 0 {
            bytes.take(12)?;
        }
        let mut times = [None; 2];
        if mask & WALL_TIME != 0 {
            for time in &mut times {
                let at = bytes.time()?;
                if at + AROUND / 2 * SECOND < latest {
                    turns += AROUND * SECOND;
                }
                latest = at;
                *time = Some(at + turns);
            }
        }
        if mask & COUNTERS != 0 {
            let counters = usize::try_from(bytes.number(1)?).unwrap_or(0);
            bytes.take(16 * counters)?;
        }
        let mut found = Call { name: layout.name.into(), begin: times[0], arguments: Vec::new() };
        for argument in &layout.arguments {
            if argument.at_root && found.number("commrank").ok() != found.number("root").ok() {
                continue;
            }
            let text = bytes.argument(argument.kind, mask)?;
            if !argument.name.is_empty() {
                found.arguments.push((argument.name.into(), text));
            }
        }
        finalized |= layout.name == FINALIZE;
        call(&found, times[1]).map_err(|why| (start, format!("MPI_{}: {why}", layout.name)))?;
    }
    match finalized {
        true => Ok(()),
        false => Err((bytes.at, "the calls end without MPI_Finalize".into())),
    }
}
