//! What is wrong in a line of a table or netlist that was read.

use std::fmt;

/// What is wrong in a line, and which one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLine {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl InvalidLine {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for InvalidLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for InvalidLine {}
