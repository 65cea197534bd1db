//! Text without control characters, for terminals and for files that may not hold them.
//!
//! Names come from scenarios, netlists and result files of other people. An escape sequence in one
//! of them must not reach the terminal, and neither must a character that has the letters behind it
//! read from right to left or begins a line: such a name looks like another one. A figure with a
//! control character would not be valid XML.

use std::borrow::Cow;

/// Replaces each control character by its picture, such as `␛` for an escape, or by `\u{fffd}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false)
}

/// Replaces control characters like [`printable`], except line breaks and tabs: for text of several
/// lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| matches!(letter, '\n' | '\t'))
}

/// A text of JSON in which control characters are escaped, so that it is printable and the same.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let stays = |letter| matches!(letter, '\n' | '\t');
    if !json.contains(|letter| is_strange(letter) && !stays(letter)) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if is_strange(letter) && !stays(letter) {
            // Outside of texts JSON has none of them.
            text += &format!("\\u{:04x}", u32::from(letter));
        } else {
            text.push(letter);
        }
    }
    Cow::Owned(text)
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
    let is_marked = |letter: char| matches!(letter, '\u{80}'..='\u{9f}') || changes_order(letter);
    if !text.contains(is_marked) {
        return Cow::Borrowed(text);
    }
    let mark = |letter: char| match letter.len_utf8() {
        _ if !is_marked(letter) => letter,
        2 => '¤',
        _ => char::REPLACEMENT_CHARACTER,
    };
    Cow::Owned(text.chars().map(mark).collect())
}

/// Whether a character is not to be printed.
fn is_strange(letter: char) -> bool {
    letter.is_control() || changes_order(letter) || matches!(letter, '\u{fffe}' | '\u{ffff}')
}

/// Whether a character is a mark of direction, or separates lines or paragraphs: nobody sees it,
/// and what is seen is in another order or place.
fn changes_order(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn replaced(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let strange = |letter: char| is_strange(letter) && !stays(letter);
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

    #[test]
    fn no_text_is_read_in_another_order_or_on_another_line() {
        for mark in
            "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}".chars()
        {
            let name = format!("a{mark}b");
            assert_eq!(printable(&name), "a\u{fffd}b");
            assert_eq!(printable_lines(&name), "a\u{fffd}b");
            assert_eq!(escaped(&name), "a\u{fffd}b");
            assert_eq!(in_place(&name).len(), name.len());
            assert!(!in_place(&name).contains(mark));
        }
        assert_eq!(printable_json("\"a\u{202e}\"\n"), "\"a\\u202e\"\n");
        // Letters of such scripts stay.
        assert_eq!(printable("שלום"), "שלום");
    }
}
