//! The kind of standard output: a terminal of some width, or a pipe that no line is too long for.

use std::io::stdout;

use terminal_size::{Width, terminal_size_of};

/// Columns of the terminal that standard output goes to; `None` if it goes elsewhere.
pub(super) fn width() -> Option<usize> {
    terminal_size_of(stdout()).map(|(Width(columns), _)| usize::from(columns))
}

/// A fact: its name, indented, and its value from a column on. In a terminal long values go on in
/// that column; a pipe gets one line a fact, for grep.
pub(super) fn fact(name: &str, value: &str, column: usize) -> String {
    let name = format!("  {name:<width$}", width = column - 2);
    match width() {
        Some(columns) if columns > 2 * column => {
            let hanging = " ".repeat(column);
            let options =
                textwrap::Options::new(columns).initial_indent(&name).subsequent_indent(&hanging);
            textwrap::fill(value, options) + "\n"
        }
        Some(columns) if columns > 12 && name.len() + value.len() > columns => {
            let options = textwrap::Options::new(columns).initial_indent("    ");
            let options = options.subsequent_indent("    ");
            format!("{}\n{}\n", name.trim_end(), textwrap::fill(value, options))
        }
        _ => format!("{name}{value}\n"),
    }
}
