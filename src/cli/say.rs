//! What the program says on standard error. Nothing that happens to that ends anything: whoever reads it may have
//! gone, or its disk may be full, and the work goes on.

use std::io::{Write, stderr};

use flitlab::printable::{printable_lines, without_error_numbers};

/// Prints a line, without control characters.
pub(super) fn say(text: &str) {
    say_as_it_is(&printable_lines(&without_error_numbers(text)));
}

/// Prints a line that may have colours.
pub(super) fn say_as_it_is(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}
