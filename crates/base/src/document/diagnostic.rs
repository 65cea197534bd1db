//! Mistakes in a scenario: what is wrong, where, and what would be right.
//!
//! A [`Diagnostic`] is for the person who wrote the file: one sentence, the place, the allowed
//! values. Reading goes on after a mistake; [`Diagnostics`] holds all of them in the file's order.

use std::{cmp::Ordering, fmt, ops::Range, sync::Arc};

use crate::printable::{in_place, printable, printable_lines};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Most mistakes that are shown. Longer lists hide what the mistakes have in common.
const MAX_SHOWN: usize = 100;

/// A text that values come from: a scenario file, a `--set` argument, a matrix file.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the text in messages: the path as the user gave it, or `command line`.
    pub name: String,
    /// The text itself, whole.
    pub text: String,
    /// The number of its first line: 1, unless it is one line of a long file.
    pub first_line: usize,
    /// Rank among the sources of one document; messages are sorted by it.
    pub order: usize,
    /// Whether the text was typed as an argument, where quotes are easily lost to the shell.
    pub typed: bool,
}

/// A piece of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The text that the piece belongs to.
    pub source: Arc<Source>,
    /// Byte positions in the source's text.
    pub span: Range<usize>,
}

impl Location {
    /// The piece itself.
    pub fn text(&self) -> &str {
        self.source.text.get(self.span.clone()).unwrap_or("")
    }

    /// Line number, from 1.
    pub fn line(&self) -> usize {
        let before = self.source.text.get(..self.span.start).unwrap_or("");
        before.matches('\n').count() + self.source.first_line
    }

    fn order(&self, other: &Self) -> Ordering {
        let key = |place: &Self| (place.source.order, place.span.start, place.span.end);
        key(self).cmp(&key(other)).then_with(|| self.source.name.cmp(&other.source.name))
    }

    /// The part of the span on its first line. A caret under many lines would be no help.
    fn first_line(&self) -> Range<usize> {
        let end = self.text().find('\n').map_or(self.span.end, |length| self.span.start + length);
        self.span.start..end
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The mistake: a sentence without a full stop.
    pub message: String,
    /// A few words beside the caret; may be empty.
    pub label: String,
    /// Place of the mistake; `None` if the file itself can't be read.
    pub place: Option<Location>,
    /// The allowed values, or the text to type; `None` if there is no advice.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a place. `message` is a sentence without a full stop.
    pub fn new(place: &Location, message: impl Into<String>) -> Self {
        Self { place: Some(place.clone()), ..Self::unplaced(message) }
    }

    /// A mistake of a whole file, or of a file without lines.
    pub fn unplaced(message: impl Into<String>) -> Self {
        Self { message: message.into(), label: String::new(), place: None, help: None }
    }

    /// Adds a few words beside the caret.
    #[must_use]
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Adds the allowed values, or the text to type.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    fn render(&self, renderer: &Renderer) -> String {
        let message = printable_lines(&self.message);
        let (label, help) =
            (printable_lines(&self.label), self.help.as_deref().map(printable_lines));
        let name = self.place.as_ref().map(|place| printable(&place.source.name));
        let mut group = Group::with_title(Level::ERROR.primary_title(&*message));
        // The renderer takes care of control characters of ASCII.
        let text = self.place.as_ref().map(|place| in_place(&place.source.text));
        if let (Some(place), Some(name), Some(text)) = (&self.place, &name, &text) {
            let mark = AnnotationKind::Primary.span(place.first_line());
            let mark = if label.is_empty() { mark } else { mark.label(&*label) };
            let source = Snippet::source(&**text).line_start(place.source.first_line);
            group = group.element(source.path(&**name).annotation(mark));
        }
        if let Some(help) = &help {
            group = group.element(Level::HELP.message(&**help));
        }
        renderer.render(&[group])
    }
}

/// All mistakes of a scenario, by position; never empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Sorts by position and drops repetitions; `Ok` if there is nothing to report.
    pub fn check(mut list: Vec<Diagnostic>) -> Result<(), Self> {
        list.sort_by(|a, b| match (&a.place, &b.place) {
            (Some(a), Some(b)) => a.order(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        let mut kept: Vec<Diagnostic> = Vec::new();
        for diagnostic in list {
            // All values of a range have one place: one message stands for all.
            let mut same = kept.iter().rev().take_while(|other| other.place == diagnostic.place);
            if !same.any(|other| other.message == diagnostic.message) {
                kept.push(diagnostic);
            }
        }
        if kept.is_empty() { Ok(()) } else { Err(Self { list: kept }) }
    }

    /// Takes the mistakes out, by position.
    pub fn into_list(self) -> Vec<Diagnostic> {
        self.list
    }

    /// The mistakes, by position.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The mistakes as text without colour, separated by blank lines, without a final line break.
    pub fn plain(&self) -> String {
        self.render(&Renderer::plain())
    }

    /// The mistakes as text with the colour codes of a terminal.
    pub fn colored(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let shown = self.list.iter().take(MAX_SHOWN);
        let mut texts: Vec<String> = shown.map(|one| one.render(renderer)).collect();
        if self.list.len() > MAX_SHOWN {
            texts.push(format!("... and {} mistakes more", self.list.len() - MAX_SHOWN));
        }
        texts.join("\n\n")
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.plain())
    }
}

impl fmt::Debug for Diagnostics {
    /// Prints the text for people, so that a `main` that returns the error shows it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for Diagnostics {}
