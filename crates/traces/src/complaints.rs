//! The mistakes of a file: the first ones in full, of others that there are some.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use flitlab_base::document::{Diagnostic, Diagnostics, Location, Source, nearest};

/// How many are told in full: a file that a program wrote has the same mistake in each line.
const SHOWN: usize = 20;

/// The longest word that is shown, or compared with names.
const WORD: usize = 60;

/// The name that is most like a word, if one is. The time that it takes to look grows with the
/// word's length.
pub(crate) fn near<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if word.len() <= WORD { nearest(&word.to_ascii_lowercase(), names) } else { None }
}

/// A word as messages have it: the begin of one that is too long to be read.
pub(crate) fn shown(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(WORD) {
        None => word.into(),
        Some((end, _)) => format!("{}...", &word[..end]).into(),
    }
}

/// A mistake in a part of a line.
#[derive(Debug)]
pub(crate) struct Flaw {
    /// Bytes of the line.
    pub span: Range<usize>,
    pub message: String,
    /// A few words beside the caret; may be empty.
    pub label: String,
    /// The way out.
    pub help: Option<String>,
}

impl Flaw {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), label: String::new(), help: None }
    }

    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Mistakes found in a file so far.
#[derive(Debug)]
pub(crate) struct Complaints<'n> {
    name: &'n str,
    list: Vec<Diagnostic>,
    /// How many more there are than those in the list.
    hidden: usize,
}

impl<'n> Complaints<'n> {
    pub(crate) fn new(name: &'n str) -> Self {
        Self { name, list: Vec::new(), hidden: 0 }
    }

    pub(crate) fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Whether the next one is told in full.
    pub(crate) fn shows_more(&self) -> bool {
        self.list.len() < SHOWN
    }

    /// Takes a flaw of a line, whose number is counted from 1.
    pub(crate) fn add(&mut self, number: usize, line: &str, flaw: Flaw) {
        if !self.shows_more() {
            self.hidden += 1;
            return;
        }
        let Flaw { span, message, label, help } = flaw;
        let (name, text) = (self.name.to_owned(), line.to_owned());
        let source = Source { name, text, first_line: number, order: number, typed: false };
        let place = Location { source: Arc::new(source), span };
        self.list.push(Diagnostic { message, label, place: Some(place), help });
    }

    /// All of them.
    pub(crate) fn finish(mut self) -> Result<(), Diagnostics> {
        if let (1.., Some(last)) = (self.hidden, self.list.last_mut()) {
            let more = match self.hidden {
                1 => "and one more line of this file is wrong".into(),
                hidden => format!("and {hidden} more lines of this file are wrong"),
            };
            last.help =
                Some(last.help.take().map_or(more.clone(), |help| format!("{help}; {more}")));
        }
        Diagnostics::check(self.list)
    }
}

/// One mistake alone.
pub(crate) fn of_file(problem: Diagnostic) -> Diagnostics {
    Diagnostics::check(vec![problem]).expect_err("there is one")
}
