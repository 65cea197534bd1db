//! Errors in the lines of tables and netlists.

/// A mistake in a text, with the number of its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct InvalidLine {
    /// Number of the line, from 1.
    pub line: usize,
    /// The mistake: a sentence without a full stop.
    pub message: String,
}

impl InvalidLine {
    /// A mistake in a line, counted from 1.
    pub fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
