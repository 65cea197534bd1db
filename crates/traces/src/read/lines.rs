//! Text line by line, and the words of a line.

use std::io::{BufRead, Read};

use crate::complaints::{Complaints, Flaw, of_file};
use flitlab_base::document::{Diagnostic, Diagnostics};

/// The longest line: an all-to-all-v names two numbers for each rank.
const LONGEST: u64 = 1 << 26;

/// Whether one of the lines of a file's beginning is like this, whatever else is in it: the first one
/// may be damaged.
pub(super) fn any(beginning: &[u8], is: impl Fn(&str) -> bool) -> bool {
    String::from_utf8_lossy(beginning).lines().any(|line| is(line.trim()))
}

/// Reads a text up to its end. `take` gets each line with its number, from 1, and may find a flaw
/// in it. Up to twenty flaws are reported.
///
/// # Errors
/// The flaws; or if it can't be read.
pub(super) fn read_lines(
    name: &str,
    input: &mut dyn BufRead,
    mut take: impl FnMut(usize, &str) -> Result<(), Flaw>,
) -> Result<(), Diagnostics> {
    let mut lines = Lines::new(name);
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let length = input.take(LONGEST).read_until(b'\n', &mut bytes).map_err(|error| {
            of_file(Diagnostic::unplaced(format!("can't read {name}: {error}")))
        })?;
        if length == 0 || !lines.complaints.shows_more() {
            break;
        }
        lines.take(number, &bytes, |line| take(number, line));
    }
    lines.finish()
}

/// Lines of a file, and the flaws in them.
pub(super) struct Lines<'n> {
    complaints: Complaints<'n>,
}

impl<'n> Lines<'n> {
    pub(super) fn new(name: &'n str) -> Self {
        Self { complaints: Complaints::new(name) }
    }

    /// Takes a line with its number, from 1.
    pub(super) fn take(
        &mut self,
        number: usize,
        bytes: &[u8],
        take: impl FnOnce(&str) -> Result<(), Flaw>,
    ) {
        let (line, flaw) = match std::str::from_utf8(bytes) {
            _ if bytes.len() as u64 >= LONGEST => {
                let message = format!("this line has more than {LONGEST} bytes");
                (String::new(), Flaw::new(0..0, message))
            }
            Ok(line) => {
                let line = line.trim_end();
                let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
                let Err(flaw) = take(line) else { return };
                (line.to_owned(), flaw)
            }
            Err(_) => {
                let line = String::from_utf8_lossy(bytes).trim_end().to_owned();
                let flaw = Flaw::new(0..line.len(), "this line is no text");
                (line, flaw.help("was the file cut off, or is it a binary one?"))
            }
        };
        let (line, span) = short(&line, flaw.span.clone());
        self.complaints.add(number, &line, Flaw { span, ..flaw });
    }

    /// The flaws.
    pub(super) fn finish(self) -> Result<(), Diagnostics> {
        self.complaints.finish()
    }
}

/// The part of a long line in which a span is, and where it is there.
fn short(line: &str, span: std::ops::Range<usize>) -> (String, std::ops::Range<usize>) {
    const SHOWN: usize = 200;
    if line.len() <= SHOWN {
        return (line.to_owned(), span);
    }
    let boundary =
        |at: usize| (at.min(line.len())..=line.len()).find(|&it| line.is_char_boundary(it));
    let from = boundary(span.start.saturating_sub(SHOWN / 2)).unwrap_or(0);
    let to = boundary(from + SHOWN).unwrap_or(line.len());
    let shown = &line[from..to];
    (shown.to_owned(), span.start - from..(span.end - from).min(shown.len()))
}

/// The words of a line, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Words<'l> {
    line: &'l str,
    words: std::str::SplitAsciiWhitespace<'l>,
}

/// A word, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'l> {
    pub text: &'l str,
    start: usize,
}

impl<'l> Words<'l> {
    pub(super) fn of(line: &'l str) -> Self {
        Self { line, words: line.split_ascii_whitespace() }
    }

    pub(super) fn next(&mut self) -> Option<Word<'l>> {
        let text = self.words.next()?;
        Some(Word { text, start: text.as_ptr() as usize - self.line.as_ptr() as usize })
    }

    /// How many words are left.
    pub(super) fn count(self) -> usize {
        self.words.count()
    }

    /// The next word, which has to be there.
    pub(super) fn required(&mut self, what: &str) -> Result<Word<'l>, Flaw> {
        let end = self.line.len();
        self.next().ok_or_else(|| Flaw::new(end..end, format!("{what} is missing")))
    }
}

impl Word<'_> {
    /// A flaw of this word.
    pub(super) fn flaw(&self, message: impl Into<String>) -> Flaw {
        Flaw::new(self.start..self.start + self.text.len(), message)
    }

    /// A number of any kind, such as `1e6`.
    pub(super) fn number(&self, what: &str) -> Result<f64, Flaw> {
        let number = self.text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.flaw(format!("{what} has to be a number")))
    }

    /// A number that is not below zero.
    pub(super) fn amount(&self, what: &str) -> Result<f64, Flaw> {
        match self.number(what)? {
            ..0.0 => Err(self.flaw(format!("{what} can't be below zero"))),
            number => Ok(number),
        }
    }

    /// A whole number; what stands behind its point is left out.
    pub(super) fn whole(&self, what: &str) -> Result<i64, Flaw> {
        if let Ok(number) = self.text.parse() {
            return Ok(number);
        }
        let number = self.number(what)?;
        flitlab_base::narrow::try_rounded(number.trunc())
            .ok_or_else(|| self.flaw(format!("{what} is too large")))
    }

    /// A whole number that is not below zero.
    pub(super) fn count(&self, what: &str) -> Result<u64, Flaw> {
        u64::try_from(self.whole(what)?)
            .map_err(|_| self.flaw(format!("{what} can't be below zero")))
    }
}

/// Whether a word consists of digits.
pub(super) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit())
}
