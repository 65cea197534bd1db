//! What is wrong in a line of a table or netlist that was read.

/// What is wrong in a line, and which one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct InvalidLine {
    /// From 1.
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
