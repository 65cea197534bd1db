//! What is wrong in a line of a table or netlist that was read.

/// What is wrong in a line, and which one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct InvalidLine {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl InvalidLine {
    pub fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
