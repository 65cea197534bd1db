//! Text without control characters, for terminals and for files that may not hold them.
//!
//! Names come from scenarios, netlists and result files of other people. An escape sequence in one
//! of them must not reach the terminal. A figure with a control character would not be valid XML.

use std::borrow::Cow;

/// Replaces each control character by its picture: `␛` for an escape.
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false)
}

/// Replaces control characters like [`printable`], except line breaks and tabs: for text of several
/// lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| matches!(letter, '\n' | '\t'))
}

/// The text as the content of an element of HTML or XML, printable.
pub fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text without the numbers that the system has for its errors, as in "No such file or
/// directory (os error 2)".
pub fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let start = parts.next().unwrap_or_default().to_owned();
    parts.fold(start, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}

/// Replaces control characters beyond ASCII by characters of equal length in bytes, so that
/// positions in the text stay valid.
pub(crate) fn in_place(text: &str) -> Cow<'_, str> {
    const BEYOND_ASCII: std::ops::RangeInclusive<char> = '\u{80}'..='\u{9f}';
    if !text.contains(|letter| BEYOND_ASCII.contains(&letter)) {
        return Cow::Borrowed(text);
    }
    let mark = |letter| if BEYOND_ASCII.contains(&letter) { '¤' } else { letter };
    Cow::Owned(text.chars().map(mark).collect())
}

fn replaced(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let strange = |letter: char| {
        (letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}')) && !stays(letter)
    };
    if !text.contains(strange) {
        return Cow::Borrowed(text);
    }
    let picture = |letter: char| match u32::from(letter) {
        _ if !strange(letter) => letter,
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    };
    Cow::Owned(text.chars().map(picture).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_pictures() {
        assert_eq!(printable("a\u{1b}[31mb\n\u{7f}\u{9b}\u{ffff}"), "a␛[31mb␊␡\u{fffd}\u{fffd}");
        assert_eq!(printable_lines("a\tb\n\r"), "a\tb\n␍");
        assert_eq!(in_place("a\u{9b}b").len(), "a\u{9b}b".len());
        assert_eq!(in_place("a\u{9b}b"), "a¤b");
        assert_eq!(escaped("<a & b\u{1b}>"), "&lt;a &amp; b␛&gt;");
        assert!(matches!(printable("Ångström, 1 µs"), Cow::Borrowed(_)));
    }
}
