//! Messages on standard error. A failure to write one ends nothing: the reader may have gone, or
//! the disk may be full, and the work goes on.

use std::io::{Write, stderr};

use terminal_size::{Width, terminal_size_of};

use super::{components, program};
use flitlab::printable::{printable_lines, without_error_numbers};

/// Prints a line, without control characters; on a terminal wrapped at words. A program gets it as
/// it is.
pub(super) fn say(text: &str) {
    let text = printable_lines(&without_error_numbers(text)).into_owned();
    let terminal = if program::current().is_some() { None } else { terminal_size_of(stderr()) };
    match terminal {
        Some((Width(columns), _)) => say_as_it_is(&wrapped(&text, usize::from(columns))),
        None => say_as_it_is(&text),
    }
}

/// Wraps what is too long for a terminal. Lines that are indented stay as they are: they are
/// commands, to be copied.
fn wrapped(text: &str, columns: usize) -> String {
    let one = |line: &str| match line.len() > columns && columns > 20 && !line.starts_with(' ') {
        true => {
            let options = textwrap::Options::new(columns).subsequent_indent("  ");
            textwrap::fill(line, options.break_words(false))
        }
        false => line.to_owned(),
    };
    text.split('\n').map(one).collect::<Vec<_>>().join("\n")
}

/// Prints a line that may have colours.
pub(super) fn say_as_it_is(text: &str) {
    let text = &*components::renamed(text);
    match program::current() {
        Some(program) => program.note(text),
        None => _ = writeln!(stderr(), "{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_commands_are_not() {
        let text =
            "warning: one two three four five six\n    flitlab sweep a-long-name.toml --resume";
        assert_eq!(
            wrapped(text, 24),
            "warning: one two three\n  four five six\n    flitlab sweep a-long-name.toml --resume"
        );
        assert_eq!(wrapped(text, 100), text);
    }
}
