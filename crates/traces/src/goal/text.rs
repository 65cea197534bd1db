//! GOAL text in: line by line, one rank's labels at a time.

use std::io::{BufRead, Read};

use super::labels::Labels;
use super::line::{Cursor, Statement, Word};
use crate::complaints::{Complaints, Flaw, near, of_file};
use flitlab_application::{ANY, Operation, Schedule, ScheduleBuilder, ScheduleError};
use flitlab_base::document::{Diagnostic, Diagnostics};

/// The longest line: whatever has longer ones is no GOAL text.
const LONGEST: usize = 1 << 16;

/// Among how many labels of a rank the nearest is looked for.
const LOOKED_AT: usize = 100_000;

/// Reads a text up to its end; `name` is what messages call it.
pub(super) fn read(name: &str, input: &mut impl BufRead) -> Result<Schedule, Diagnostics> {
    let mut reader = Reader {
        builder: ScheduleBuilder::new(),
        complaints: Complaints::new(name),
        ranks: None,
        open: None,
        next: 0,
        labels: Labels::default(),
        number: 0,
    };
    let mut bytes = Vec::new();
    let mut in_comment = false;
    loop {
        bytes.clear();
        let mut limited = input.by_ref().take(LONGEST as u64);
        let length = limited.read_until(b'\n', &mut bytes).map_err(|error| {
            of_file(Diagnostic::unplaced(format!("can't read {name}: {error}")))
        })?;
        if length == 0 {
            break;
        }
        reader.number += 1;
        let ends = bytes.last() == Some(&b'\n');
        let ending = if ends { 1 + usize::from(bytes.ends_with(b"\r\n")) } else { 0 };
        bytes.truncate(length - ending);
        if !ends && length == LONGEST {
            let flaw = Flaw::new(0..0, format!("a line has {LONGEST} bytes at the most"));
            reader.complaints.add(reader.number, "", flaw.help("is this a GOAL file?"));
            return Err(reader.complaints.finish().expect_err("there is one"));
        }
        match std::str::from_utf8(&bytes) {
            Ok(line) => {
                let line = match reader.number {
                    1 => line.strip_prefix('\u{feff}').unwrap_or(line),
                    _ => line,
                };
                match reader.line(line, in_comment) {
                    Ok(ended) => in_comment = !ended,
                    Err(TooMany) => {
                        return Err(reader.complaints.finish().expect_err("there is one"));
                    }
                }
            }
            Err(_) => {
                let line = String::from_utf8_lossy(&bytes).into_owned();
                let flaw = Flaw::new(0..line.len(), "this line is no text");
                reader.complaints.add(reader.number, &line, flaw.help("is this a GOAL file?"));
            }
        }
    }
    reader.finish(in_comment)
}

/// There is no room for more operations, which was said.
struct TooMany;

struct Reader<'n> {
    builder: ScheduleBuilder,
    complaints: Complaints<'n>,
    /// The number of ranks that `num_ranks` gives.
    ranks: Option<u32>,
    /// The rank whose brace is open, and the line of that.
    open: Option<(u32, usize)>,
    /// The rank that has to come next.
    next: u32,
    /// Of the open rank: the places of operations by their labels.
    labels: Labels,
    /// Of the line, from 1.
    number: usize,
}

impl Reader<'_> {
    fn wrong(&mut self, line: &str, flaw: Flaw) {
        self.complaints.add(self.number, line, flaw);
    }

    /// Takes what a line says. False if it ends within a comment.
    fn line(&mut self, line: &str, in_comment: bool) -> Result<bool, TooMany> {
        let mut cursor = Cursor::new(line);
        let mut ended = cursor.skip_comments(in_comment);
        while !cursor.is_at_end() {
            let begin = cursor.here().start;
            let statement = match cursor.statement() {
                Ok(statement) => statement,
                Err((label, flaw)) => {
                    self.wrong(line, flaw);
                    if label.is_some() {
                        // Later lines may name it all the same.
                        self.operation(line, label, Operation::compute(0))?;
                    }
                    return Ok(true);
                }
            };
            let goes_on =
                matches!(statement, Statement::Open(_) | Statement::Close | Statement::Ranks(_));
            let at = begin..cursor.here().start.max(begin + 1);
            self.statement(line, at, statement)?;
            ended = cursor.skip_comments(false);
            if !goes_on && !cursor.is_at_end() {
                self.wrong(line, cursor.too_much());
                return Ok(true);
            }
        }
        Ok(ended)
    }

    fn statement(
        &mut self,
        line: &str,
        span: std::ops::Range<usize>,
        statement: Statement<'_>,
    ) -> Result<(), TooMany> {
        match statement {
            Statement::Ranks(ranks) => self.take_ranks(line, span, ranks),
            Statement::Open(rank) => self.open(line, span, rank),
            Statement::Close if self.open.is_none() => {
                self.wrong(line, Flaw::new(span, "no rank is open that this brace could close"));
            }
            Statement::Close => self.close(line, span),
            Statement::Operation { .. } | Statement::Wait { .. } if self.open.is_none() => {
                let flaw = Flaw::new(span, "this stands in no rank");
                self.wrong(line, flaw.help("operations stand between `rank 0 {` and `}`"));
            }
            Statement::Operation { label, operation, peer } => {
                let ranks = self.ranks.unwrap_or(ANY);
                if operation.peer != ANY && operation.peer >= ranks {
                    let message = format!("there is no rank {}", operation.peer);
                    let flaw = Flaw::new(peer, message);
                    self.wrong(
                        line,
                        flaw.label(format!("num_ranks is {ranks}: 0 to {}", ranks - 1)),
                    );
                }
                self.operation(line, label, operation)?;
            }
            Statement::Wait { waiting, until, other } => {
                let waiting = self.place(line, &waiting);
                if let (Some(waiting), Some(other)) = (waiting, self.place(line, &other)) {
                    self.builder.wait(waiting, until, other);
                }
            }
        }
        Ok(())
    }

    fn take_ranks(&mut self, line: &str, span: std::ops::Range<usize>, ranks: u32) {
        if self.ranks.is_some() || self.next > 0 || self.open.is_some() {
            let flaw = Flaw::new(span, "`num_ranks` stands once, before all ranks");
            self.wrong(line, flaw);
        }
        self.ranks.get_or_insert(ranks);
    }

    fn open(&mut self, line: &str, span: std::ops::Range<usize>, rank: u32) {
        if let Some((before, number)) = self.open {
            let message = format!("rank {rank} begins before rank {before} has ended");
            let flaw = Flaw::new(span.clone(), message);
            let help = format!("a `}}` is missing; rank {before} begins in line {number}");
            self.wrong(line, flaw.help(help));
            self.end_rank(line, span.clone());
        }
        if self.ranks.is_none() {
            let flaw = Flaw::new(span.clone(), "the number of ranks is not known");
            self.wrong(line, flaw.help("the file begins with a line such as `num_ranks 8`"));
            self.ranks = Some(ANY);
        }
        let ranks = self.ranks.unwrap_or(ANY);
        if rank >= ranks {
            let flaw = Flaw::new(span, format!("there is no rank {rank}"));
            self.wrong(line, flaw.label(format!("num_ranks is {ranks}: 0 to {}", ranks - 1)));
        } else if rank != self.next {
            let message = format!("rank {rank} stands where rank {} has to", self.next);
            let flaw = Flaw::new(span, message);
            self.wrong(line, flaw.help("ranks come in ascending order from 0, each of them once"));
        }
        self.open = Some((rank, self.number));
        self.next = rank.saturating_add(1);
    }

    fn close(&mut self, line: &str, span: std::ops::Range<usize>) {
        self.end_rank(line, span);
        self.open = None;
    }

    fn end_rank(&mut self, line: &str, span: std::ops::Range<usize>) {
        self.labels.clear();
        let Err(error) = self.builder.end_rank() else { return };
        let flaw = Flaw::new(span, error.to_string());
        let flaw = match error {
            ScheduleError::Cycle { .. } => {
                flaw.help("no operation can begin before itself: leave one of them out")
            }
            _ => flaw,
        };
        self.wrong(line, flaw);
    }

    fn operation(
        &mut self,
        line: &str,
        label: Option<Word<'_>>,
        operation: Operation,
    ) -> Result<(), TooMany> {
        let place = match self.builder.add(operation) {
            Ok(place) => place,
            Err(error) => {
                self.wrong(line, Flaw::new(0..line.len(), error.to_string()));
                return Err(TooMany);
            }
        };
        let Some(label) = label else { return Ok(()) };
        match self.labels.get(label.text) {
            None => {
                self.labels.insert(label.text, place);
                self.builder.label(label.text);
            }
            Some(first) => {
                let message = format!("the label `{}` is taken in this rank", label.text);
                let flaw = Flaw::new(label.span(), message);
                let help =
                    format!("operation {} of the rank has it; each needs its own", first + 1);
                self.wrong(line, flaw.help(help));
            }
        }
        Ok(())
    }

    /// The place of the operation with a label.
    fn place(&mut self, line: &str, label: &Word<'_>) -> Option<u32> {
        let place = self.labels.get(label.text);
        if place.is_none() {
            let message = format!("no operation of this rank above has the label `{}`", label.text);
            let mut flaw = Flaw::new(label.span(), message);
            if self.complaints.shows_more() {
                let names = self.labels.some(LOOKED_AT);
                flaw = match near(label.text, names.iter().map(String::as_str)) {
                    Some(near) => flaw.label(format!("did you mean `{near}`?")),
                    None => flaw
                        .help("labels are known in their own rank, below the line that has them"),
                };
            }
            self.wrong(line, flaw);
        }
        place
    }

    fn finish(mut self, in_comment: bool) -> Result<Schedule, Diagnostics> {
        let end = "the end of the file";
        self.number += 1;
        if in_comment {
            let flaw = Flaw::new(0..0, format!("{end} comes before that of a comment"));
            self.wrong("", flaw.help("a comment that begins with `/*` ends with `*/`"));
        }
        if let Some((rank, number)) = self.open {
            let flaw = Flaw::new(0..0, format!("{end} comes before that of rank {rank}"));
            let help = format!("a `}}` is missing; the rank begins in line {number}");
            self.wrong("", flaw.help(help));
            self.end_rank("", 0..0);
        }
        match self.ranks {
            None if !self.complaints.any() => {
                let flaw = Flaw::new(0..0, "there is no schedule in this file");
                self.wrong("", flaw.help("a GOAL text begins with a line such as `num_ranks 8`"));
            }
            Some(ranks) if self.next < ranks && ranks != ANY => {
                let missing = match ranks - self.next {
                    1 => format!("rank {} is missing", self.next),
                    _ => format!("ranks {} to {} are missing", self.next, ranks - 1),
                };
                let flaw = Flaw::new(0..0, missing);
                self.wrong(
                    "",
                    flaw.help("a rank that does nothing is there, too: `rank 3 {` and `}`"),
                );
            }
            _ => {}
        }
        self.complaints.finish()?;
        Ok(self.builder.finish())
    }
}
