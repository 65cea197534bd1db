//! The font of all figures, compiled in: how wide a text is, and how it is shortened to fit.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, PxScaleFont, ScaleFont};

/// What SVG viewers are asked for, in this order. Arial and Helvetica have the same widths.
pub(super) const FAMILY: &str = "Liberation Sans, Arial, Helvetica, sans-serif";

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../../../assets/fonts/LiberationSans-Regular.ttf"))
        .expect("the font that is compiled in can be read")
});

/// The font at `size`: the side of the em square, in whatever unit lengths are wanted in.
pub(super) fn at(size: f64) -> PxScaleFont<&'static FontRef<'static>> {
    let font = &*FONT;
    let em = font.units_per_em().unwrap_or(2048.0);
    font.as_scaled(PxScale::from(size as f32 * font.height_unscaled() / em))
}

/// Width of the text, in the unit of `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let font = at(size);
    f64::from(text.chars().map(|letter| font.h_advance(font.glyph_id(letter))).sum::<f32>())
}

/// The text, or as much of its beginning and end as fits into `room`: labels of a sweep often differ
/// at the end only.
pub(super) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    (1..letters.len())
        .rev()
        .map(|kept| {
            let (head, tail) = (kept.div_ceil(2), kept / 2);
            let start: String = letters[..head].iter().collect();
            let end: String = letters[letters.len() - tail..].iter().collect();
            format!("{}…{}", start.trim_end(), end.trim_start())
        })
        .find(|short| width(short, size) <= room)
        .unwrap_or_default()
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
}
