//! The font of all figures, compiled in: how wide a text is, and how it is shortened to fit.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, PxScaleFont, ScaleFont};

use super::precision::single;

/// The fonts that SVG viewers are asked for, in this order. Arial and Helvetica have the same
/// widths.
pub(super) const FAMILY: &str = "Liberation Sans, Arial, Helvetica, sans-serif";

/// The font's file.
pub(super) const FILE: &[u8] = include_bytes!("../../assets/fonts/LiberationSans-Regular.ttf");

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(FILE).expect("the font that is compiled in can be read")
});

/// The font at `size`: the side of the em square, in whatever unit lengths are wanted in.
pub(super) fn at(size: f64) -> PxScaleFont<&'static FontRef<'static>> {
    let font = &*FONT;
    let em = font.units_per_em().unwrap_or(2048.0);
    font.as_scaled(PxScale::from(single(size) * font.height_unscaled() / em))
}

/// The number of a letter's glyph in the font, and its width in thousandths of the font's size.
pub(super) fn glyph(letter: char) -> (u16, f32) {
    let id = FONT.glyph_id(letter);
    let em = FONT.units_per_em().unwrap_or(2048.0);
    (id.0, FONT.h_advance_unscaled(id) / em * 1000.0)
}

/// Width of the text, in the unit of `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let font = at(size);
    f64::from(text.chars().map(|letter| font.h_advance(font.glyph_id(letter))).sum::<f32>())
}

/// The text, or as much of its beginning and end as fits into `room`: labels of a sweep often
/// differ at the end only.
pub(super) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let advance = |letter: char| width(letter.encode_utf8(&mut [0; 4]), size);
    let (mut head, mut tail, mut used) = (0, 0, advance('…'));
    while head + tail < letters.len() {
        let first = head <= tail;
        let letter = if first { letters[head] } else { letters[letters.len() - 1 - tail] };
        used += advance(letter);
        if used > room {
            break;
        }
        if first { head += 1 } else { tail += 1 }
    }
    if head == 0 {
        return String::new();
    }
    let start: String = letters[..head].iter().collect();
    let end: String = letters[letters.len() - tail..].iter().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// The text in at most two lines, broken between words; what is still too long is shortened.
pub(super) fn two_lines(text: &str, size: f64, room: f64) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let breaks = text.match_indices(' ').map(|found| found.0);
    let last = breaks.take_while(|&at| width(&text[..at], size) <= room).last();
    match last.filter(|_| width(text, size) > room) {
        Some(at) => vec![text[..at].to_owned(), shorten(&text[at + 1..], size, room)],
        None => vec![shorten(text, size, room)],
    }
}

/// The text in as many lines as it needs, broken between words; a word that is too long is
/// shortened.
pub(super) fn lines(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shorten(word, size, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_the_font() {
        // Liberation Sans: "m" is 1706 and "i" 455 of 2048 units wide.
        assert!((width("m", 2048.0) - 1706.0).abs() < 0.5);
        assert!((width("mi", 8.0) - 8.0 * 2161.0 / 2048.0).abs() < 0.01);
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        let short = shorten("direction order, 4 by 4 by 4 by 2, seed 17", 8.0, 80.0);
        assert!(width(&short, 8.0) <= 80.0);
        assert!(short.starts_with("direction") && short.ends_with("17"), "{short}");
        assert_eq!(shorten("short", 8.0, 80.0), "short");
        assert_eq!(shorten("long", 8.0, 0.0), "");
    }

    #[test]
    fn a_title_is_broken_between_words() {
        assert_eq!(two_lines("", 8.0, 80.0), Vec::<String>::new());
        assert_eq!(two_lines("Uniform traffic", 8.0, 80.0), ["Uniform traffic"]);
        assert_eq!(two_lines("Uniform traffic, 4 by 4", 8.0, 55.0), ["Uniform traffic,", "4 by 4"]);
        assert_eq!(two_lines(&"m".repeat(99), 8.0, 60.0).len(), 1);
    }
}
