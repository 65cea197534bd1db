//! One line of a GOAL text: its statement, or what is wrong with it.

use std::ops::Range;

use crate::complaints::{Flaw, near};
use flitlab_application::{ANY, Action, MAX_NANOSECONDS, Operation, RemoteOperation, Until};
use flitlab_base::narrow::narrow;

/// The words that begin a statement.
const FIRST_WORDS: [&str; 10] =
    ["num_ranks", "rank", "send", "recv", "calc", "put", "get", "add", "xor", "cswap"];

/// The word of a one-sided operation, which is flitlab's extension of GOAL.
pub(super) const fn word_of(operation: RemoteOperation) -> &'static str {
    match operation {
        RemoteOperation::CompareAndSwap => "cswap",
        _ => operation.name(),
    }
}

/// The action of which a word begins the statement.
fn action(word: &str) -> Option<Action> {
    match word {
        "send" => Some(Action::Send),
        "recv" => Some(Action::Receive),
        "calc" => Some(Action::Compute),
        _ => {
            let mut all = RemoteOperation::ALL.into_iter();
            all.find(|&it| word_of(it) == word).map(Action::Remote)
        }
    }
}

/// A word and where it stands in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'l> {
    pub text: &'l str,
    pub at: usize,
}

impl Word<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

/// A statement of a line, or of a part of it: `rank 0 {` may be followed by an operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Statement<'l> {
    /// `num_ranks 8`
    Ranks(u32),
    /// `rank 0 {`
    Open(u32),
    /// `}`
    Close,
    /// `l1: send 8b to 1`, and the span of the rank that is named.
    Operation { label: Option<Word<'l>>, operation: Operation, peer: Range<usize> },
    /// `l2 requires l1`
    Wait { waiting: Word<'l>, until: Until, other: Word<'l> },
}

/// A place in a line, up to which it was read.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'l> {
    line: &'l str,
    at: usize,
}

impl<'l> Cursor<'l> {
    /// At the begin of a line without its end.
    pub(super) fn new(line: &'l str) -> Self {
        Self { line, at: 0 }
    }

    fn bytes(&self) -> &'l [u8] {
        &self.line.as_bytes()[self.at..]
    }

    /// Where the next thing begins: behind blanks and tabs.
    fn skip_blanks(&mut self) {
        let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t');
        self.at += self.bytes().iter().take_while(blank).count();
    }

    /// Goes over blanks and comments. False if a comment that began, or was `open` before, does not
    /// end in this line.
    pub(super) fn skip_comments(&mut self, open: bool) -> bool {
        let mut open = open;
        loop {
            if open {
                match self.line[self.at..].find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        self.at = self.line.len();
                        return false;
                    }
                }
            }
            self.skip_blanks();
            if self.bytes().starts_with(b"//") {
                self.at = self.line.len();
            }
            open = self.bytes().starts_with(b"/*");
            if !open {
                return true;
            }
            self.at += 2;
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.line.len()
    }

    /// From here to the end of what stands here without a blank.
    pub(super) fn here(&self) -> Range<usize> {
        let end =
            self.line[self.at..].find([' ', '\t']).map_or(self.line.len(), |end| self.at + end);
        self.at..end
    }

    /// A keyword or a label, if one begins here.
    fn word(&mut self) -> Option<Word<'l>> {
        self.skip_blanks();
        let bytes = self.bytes();
        if !bytes.first().is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
        let part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = bytes.iter().take_while(part).count();
        let word = Word { text: &self.line[self.at..self.at + length], at: self.at };
        self.at += length;
        Some(word)
    }

    /// Goes over a keyword if it stands here. As in the converter, what follows need not be parted
    /// from it.
    fn takes(&mut self, keyword: &str) -> bool {
        self.skip_blanks();
        let there = self.bytes().starts_with(keyword.as_bytes());
        self.at += if there { keyword.len() } else { 0 };
        there
    }

    fn expect(&mut self, keyword: &str, behind: &str, example: &str) -> Result<(), Flaw> {
        if self.takes(keyword) {
            return Ok(());
        }
        Err(self.missing(&format!("`{keyword}` is missing behind {behind}"), example))
    }

    /// Something else was expected here.
    fn missing(&self, message: &str, example: &str) -> Flaw {
        Flaw::new(self.here(), message).help(format!("write for example `{example}`"))
    }

    /// A number up to `most`, and where it stands.
    fn number(
        &mut self,
        what: &str,
        most: u64,
        example: &str,
    ) -> Result<(u64, Range<usize>), Flaw> {
        self.skip_blanks();
        let digits = self.bytes().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let span = self.at..self.at + digits;
        if digits == 0 {
            let message = match self.bytes().first() {
                Some(b'-') => format!("{what} can't be negative"),
                _ => format!("{what} is a whole number"),
            };
            return Err(self.missing(&message, example));
        }
        self.at += digits;
        let value = self.line[span.clone()].parse().ok().filter(|&value| value <= most);
        match value {
            Some(value) => Ok((value, span)),
            None => Err(Flaw::new(span, format!("{what} is too large"))
                .label(format!("{most} at the most"))),
        }
    }

    /// `-1` for any.
    fn any(&mut self) -> Option<Range<usize>> {
        let start = {
            self.skip_blanks();
            self.at
        };
        let follows = self.bytes().get(2).is_some_and(u8::is_ascii_digit);
        (!follows && self.takes("-1")).then_some(start..self.at)
    }

    /// The statement that begins here; the line is not at its end, blanks and comments are behind.
    pub(super) fn statement(&mut self) -> Result<Statement<'l>, (Option<Word<'l>>, Flaw)> {
        if self.takes("}") {
            return Ok(Statement::Close);
        }
        let Some(word) = self.word() else {
            let flaw = Flaw::new(self.here(), "no statement begins like this").help(
                "a line is an operation, such as `l1: send 8b to 1`, or `l2 requires l1`, or `}`",
            );
            return Err((None, flaw));
        };
        match word.text {
            "num_ranks" => self.ranks().map_err(|flaw| (None, flaw)),
            "rank" => self.open().map_err(|flaw| (None, flaw)),
            _ => match action(word.text).filter(|_| !self.follows_label(&word)) {
                Some(action) => self.operation((word, action), None).map_err(|flaw| (None, flaw)),
                None => self.labelled(word),
            },
        }
    }

    /// Whether a word is a label, though it may begin a statement: GOAL has no one-sided operations
    /// of its own, so its files may use their words.
    fn follows_label(&mut self, word: &Word<'_>) -> bool {
        self.skip_blanks();
        let behind = |what: &&[u8]| self.bytes().starts_with(what);
        !matches!(word.text, "send" | "recv" | "calc")
            && [&b":"[..], b"requires", b"irequires"].iter().any(behind)
    }

    fn ranks(&mut self) -> Result<Statement<'l>, Flaw> {
        let (ranks, span) =
            self.number("the number of ranks", u64::from(ANY - 1), "num_ranks 8")?;
        if ranks == 0 {
            return Err(Flaw::new(span, "a schedule has at least one rank"));
        }
        Ok(Statement::Ranks(narrow(ranks)))
    }

    fn open(&mut self) -> Result<Statement<'l>, Flaw> {
        let (rank, _) = self.number("a rank", u64::from(ANY - 1), "rank 0 {")?;
        self.expect("{", "the rank", "rank 0 {")?;
        Ok(Statement::Open(narrow(rank)))
    }

    /// Reads the statement that follows a label.
    fn labelled(&mut self, label: Word<'l>) -> Result<Statement<'l>, (Option<Word<'l>>, Flaw)> {
        if self.takes(":") {
            let word = self.word();
            let begun = word.clone().and_then(|word| Some((action(word.text)?, word)));
            let Some((action, word)) = begun else {
                let span = word.as_ref().map_or_else(|| self.here(), Word::span);
                if word.as_ref().is_some_and(|word| word.text == "coll") {
                    let flaw = Flaw::new(span, "collective operations in GOAL are not read");
                    let help = "`flitlab schedule all-reduce --algorithm ...` and the like write out their messages";
                    return Err((Some(label), flaw.help(help)));
                }
                let flaw = Flaw::new(
                    span,
                    "behind a label stands `send`, `recv`, `calc`, `put`, `get`, `add`, `xor` or `cswap`",
                );
                let is_coll = word.as_ref().is_some_and(|word| word.text == "coll");
                let near = word.and_then(|word| near(word.text, FIRST_WORDS));
                let flaw = match near {
                    _ if is_coll => flaw.help(
                        "collective operations are in GOAL as the messages that they are of: `flitlab schedule all-reduce \
                         --ranks 16 --bytes 4KiB` writes them for one operation",
                    ),
                    Some(near) => flaw.label(format!("did you mean `{near}`?")),
                    None => flaw.help("write for example `l1: send 8b to 1`"),
                };
                return Err((Some(label), flaw));
            };
            return match self.operation((word, action), Some(label.clone())) {
                Ok(statement) => Ok(statement),
                Err(flaw) => Err((Some(label), flaw)),
            };
        }
        let until = if self.takes("requires") {
            Until::Done
        } else if self.takes("irequires") {
            Until::Begun
        } else {
            let flaw = Flaw::new(label.span(), format!("`{}` is no statement", label.text));
            let flaw = match near(label.text, FIRST_WORDS) {
                Some(near) => flaw.label(format!("did you mean `{near}`?")),
                None => flaw.help("behind a label stands `:`, `requires` or `irequires`"),
            };
            return Err((None, flaw));
        };
        match self.word() {
            Some(other) => Ok(Statement::Wait { waiting: label, until, other }),
            None => {
                Err((None, self.missing("the label that is required is missing", "l2 requires l1")))
            }
        }
    }

    fn operation(
        &mut self,
        (word, action): (Word<'l>, Action),
        label: Option<Word<'l>>,
    ) -> Result<Statement<'l>, Flaw> {
        let word = word.text;
        if action == Action::Compute {
            let (time, _) = self.number("a time in nanoseconds", MAX_NANOSECONDS, "calc 1500")?;
            let mut operation = Operation::compute(time);
            self.stream(&mut operation)?;
            return Ok(Statement::Operation { label, operation, peer: 0..0 });
        }
        let direction = match action {
            Action::Receive | Action::Remote(RemoteOperation::Get) => "from",
            _ => "to",
        };
        let example = &*format!("{word} 8b {direction} 1");
        let (bytes, size) = self.number("a size in bytes", u64::MAX, example)?;
        if let Action::Remote(operation) = action
            && !operation.sizes().contains(&bytes)
        {
            let (least, most) = operation.sizes().into_inner();
            return Err(Flaw::new(size, format!("`{word}` is of {least} to {most} bytes")));
        }
        self.expect("b", "the size", example)?;
        self.expect(direction, "the size", example)?;
        let (rank, peer) = match self.any() {
            Some(span) if action == Action::Receive => (ANY, span),
            Some(span) => {
                let message = match action {
                    Action::Send => "a message is sent to one rank",
                    _ => "a one-sided operation is upon the memory of one rank",
                };
                return Err(Flaw::new(span, message).label("only `recv` can be from any rank, -1"));
            }
            None => {
                let (rank, span) = self.number("a rank", u64::from(ANY - 1), example)?;
                (narrow(rank), span)
            }
        };
        let mut operation = Operation { action, ..Operation::send(bytes, rank, 0) };
        let is_matched = !matches!(action, Action::Remote(_));
        if is_matched && self.takes("tag") {
            operation.tag = match self.any() {
                Some(_) => ANY,
                None => narrow(self.number("a tag", u64::from(ANY - 1), "tag 7")?.0),
            };
        }
        self.stream(&mut operation)?;
        if self.takes("nic") {
            operation.adapter = narrow(self.number("an adapter", 255, "nic 1")?.0);
        }
        Ok(Statement::Operation { label, operation, peer })
    }

    fn stream(&mut self, operation: &mut Operation) -> Result<(), Flaw> {
        if self.takes("cpu") {
            operation.stream = narrow(self.number("a stream", 255, "cpu 1")?.0);
        }
        Ok(())
    }

    /// For what is left of a line behind its statement, beyond comments.
    pub(super) fn too_much(&self) -> Flaw {
        let span = self.here();
        let rest = &self.line[span.clone()];
        let flaw = Flaw::new(span, "a statement ends with its line");
        let options = ["tag", "cpu", "nic"];
        if options.iter().any(|option| rest.starts_with(option)) {
            return flaw.help(
                "the options of a message come in this order: `tag 7 cpu 1 nic 0`; `calc` takes `cpu` alone, and \
                 one-sided operations have no tag, since nothing is matched",
            );
        }
        match near(rest, options) {
            Some(near) => flaw.label(format!("did you mean `{near}`?")),
            None => flaw.help("write what follows in a line of its own"),
        }
    }
}
