//! Physical quantities: time, rate and size, with their units as people write them.
//!
//! Time is whole picoseconds everywhere in flitlab, so that sums are exact and equal on every
//! machine. Text without a unit is refused: `"200"` could be anything.

use serde::{Deserialize, Serialize};

use crate::narrow::narrow;

mod picoseconds;

pub use picoseconds::Picoseconds;

/// A number of things: `1 point`, `3 points`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bytes(pub u64);

/// A time on the clock, such as a job's limit, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClockTime(pub u64);

/// Why a text is not a quantity: a message that names the allowed units.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(pub String);

const TIME_UNITS: [(&str, u64); 5] =
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

const CLOCK_UNITS: [(&str, u64); 4] = [("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)];

const RATE_UNITS: [(&str, u64); 8] = [
    ("b/s", 1),
    ("kb/s", 1_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("B/s", 8),
    ("kB/s", 8_000),
    ("MB/s", 8_000_000),
    ("GB/s", 8_000_000_000),
];

const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Reads a time such as `200 ns`, `2.5us` or `1 ms`.
///
/// # Errors
/// If the number or the unit is missing or unknown, or the value is no whole number of picoseconds
/// or exceeds `u64`.
pub fn parse_time(text: &str) -> Result<Picoseconds, UnitError> {
    parse(text, &TIME_UNITS, "a time", "picosecond", "200 ns").map(Picoseconds)
}

/// Reads a rate such as `60 Gb/s` or `7.5 GB/s` (b is bits, B is bytes).
///
/// # Errors
/// As [`parse_time`]; a rate of zero is refused too.
pub fn parse_rate(text: &str) -> Result<Rate, UnitError> {
    match parse(text, &RATE_UNITS, "a rate", "bit a second", "60 Gb/s")? {
        0 => Err(UnitError("a rate must be above zero".into())),
        bits => Ok(Rate(bits)),
    }
}

/// Reads a size such as `256 B` or `1 MiB`.
///
/// # Errors
/// As [`parse_time`].
pub fn parse_bytes(text: &str) -> Result<Bytes, UnitError> {
    parse(text, &SIZE_UNITS, "a size", "byte", "256 B").map(Bytes)
}

/// Reads a time on the clock, such as `90 min`, `2h` or `1.5 d`, or as Slurm writes it: `02:00:00`,
/// `1-12:00:00`.
///
/// # Errors
/// As [`parse_time`]; `2:00`, since it could be hours or minutes.
pub fn parse_clock_time(text: &str) -> Result<ClockTime, UnitError> {
    let text = text.trim();
    if !text.contains(':') {
        return parse(text, &CLOCK_UNITS, "a time on the clock", "second", "2 h").map(ClockTime);
    }
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let parts: Option<Vec<u64>> = [days].into_iter().chain(rest.split(':')).map(digits).collect();
    match parts.as_deref() {
        Some(&[days, hours, minutes, seconds]) if days < 1_000_000 && hours < 1_000_000 => {
            Ok(ClockTime(((days * 24 + hours) * 60 + minutes) * 60 + seconds))
        }
        Some(&[_, first, second]) => Err(UnitError(format!(
            "`{text}` could be hours or minutes: write \"{first}:{second:02}:00\" or \"0:{first:02}:{second:02}\""
        ))),
        _ => Err(UnitError(format!(
            "`{text}` is not a time on the clock: write for example \"2 h\" or \"02:00:00\""
        ))),
    }
}

fn digits(text: &str) -> Option<u64> {
    let plain = text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn parse(
    text: &str,
    units: &[(&str, u64)],
    what: &str,
    smallest: &str,
    example: &str,
) -> Result<u64, UnitError> {
    let names = || units.iter().map(|unit| unit.0).collect::<Vec<_>>().join(", ");
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+')))
        .unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), text[split..].trim());
    if number.is_empty() {
        return Err(UnitError(format!("`{text}` is not {what}: write for example \"{example}\"")));
    }
    if unit.is_empty() {
        return Err(UnitError(format!("`{text}` has no unit: {what} needs one of {}", names())));
    }
    let Some(&(_, factor)) = units.iter().find(|candidate| candidate.0 == unit) else {
        return Err(UnitError(format!("`{unit}` is not a unit of {what}: use one of {}", names())));
    };
    let (value, exact) = scale(number, factor)
        .ok_or_else(|| UnitError(format!("`{number}` is not a number that {what} can have")))?;
    if !exact {
        return Err(UnitError(format!("`{text}` is no whole number of {smallest}s")));
    }
    Ok(value)
}

/// The product of `number` (decimal digits, at most one point) and `factor`. The flag is false if
/// digits were cut off.
fn scale(number: &str, factor: u64) -> Option<(u64, bool)> {
    let digits: String = number.chars().filter(|&c| c != '_').collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() && fraction.is_empty()
        || !whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit())
        || fraction.len() > 18
    {
        return None;
    }
    let power = 10u128.pow(narrow(fraction.len()));
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let scaled =
        whole.checked_mul(power)?.checked_add(fraction)?.checked_mul(u128::from(factor))?;
    Some((u64::try_from(scaled / power).ok()?, scaled % power == 0))
}

/// Time that one flit occupies a channel, rounded to the nearest picosecond, and the relative error
/// of that rounding.
///
/// ```
/// use flitlab_base::units::{Bytes, Picoseconds, Rate, flit_time};
/// assert_eq!(flit_time(Bytes(16), Rate(64_000_000_000)), (Picoseconds(2000), 0.0));
/// let (time, error) = flit_time(Bytes(16), Rate(60_000_000_000));
/// assert_eq!(time, Picoseconds(2133));
/// assert!(error < 0.0 && error > -2e-4);
/// ```
#[inline]
pub fn flit_time(flit: Bytes, rate: Rate) -> (Picoseconds, f64) {
    let exact = u128::from(flit.0) * 8 * 1_000_000_000_000;
    let rate_bits = u128::from(rate.0);
    let rounded = ((exact + rate_bits / 2) / rate_bits).max(1);
    let error = rounded as f64 * rate.0 as f64 / exact as f64 - 1.0;
    let error = if rounded * rate_bits == exact { 0.0 } else { error };
    (Picoseconds::from_wide(rounded), error)
}

/// A time as text that [`parse_time`] reads back, in the largest unit that stays exact.
pub fn time_text(time: Picoseconds) -> String {
    if !time.is_told() {
        return "later than 213 days".into();
    }
    decimal_text(time.0, &TIME_UNITS[..4], 1_000)
}

/// A time to four digits, for people, in the unit in which one to three of them stand before the
/// point.
///
/// ```
/// use flitlab_base::units::{Picoseconds, short_time_text};
/// assert_eq!(short_time_text(Picoseconds(585_770_123_456)), "585.8 ms");
/// assert_eq!(short_time_text(Picoseconds(999_960)), "1.000 us");
/// assert_eq!(short_time_text(Picoseconds(17)), "17 ps");
/// ```
pub fn short_time_text(time: Picoseconds) -> String {
    short_time_text_like(time, time)
}

/// A time with as many decimals as another one, and in its unit: half of that one's confidence
/// interval.
pub fn short_time_text_like(time: Picoseconds, like: Picoseconds) -> String {
    if !time.is_told() {
        return "later than 213 days".into();
    }
    // In steps of a thousandth of the largest digit.
    let digits = like.0.max(1).ilog10();
    let step = 10_u64.pow(digits.saturating_sub(3));
    let rounded = |time: Picoseconds| (time.0 / step + u64::from(time.0 % step * 2 >= step)) * step;
    let (value, like) = (rounded(time), rounded(like));
    if like == 0 {
        return "0 ns".into();
    }
    let fits = |unit: &&(&str, u64)| like >= unit.1;
    let (name, size) = TIME_UNITS.iter().rev().find(fits).unwrap_or(&TIME_UNITS[0]);
    let decimals = match (size, like / size) {
        (1, _) => 0,
        (_, ..10) => 3,
        (_, ..100) => 2,
        (_, ..1000) => 1,
        _ => 0,
    };
    format!("{:.decimals$} {name}", value as f64 / *size as f64)
}

/// A time on the clock as text that [`parse_clock_time`] reads back.
pub fn clock_time_text(ClockTime(seconds): ClockTime) -> String {
    let fits = |unit: &&(&str, u64)| seconds >= unit.1 && seconds.is_multiple_of(unit.1);
    let (name, factor) = CLOCK_UNITS.iter().rev().find(fits).unwrap_or(&CLOCK_UNITS[0]);
    format!("{} {name}", seconds / factor)
}

/// A rate as text that [`parse_rate`] reads back.
pub fn rate_text(rate: Rate) -> String {
    decimal_text(rate.0, &RATE_UNITS[..4], 1_000)
}

/// A size as text that [`parse_bytes`] reads back.
pub fn bytes_text(size: Bytes) -> String {
    let binary = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match binary.iter().find(|unit| size.0 != 0 && size.0.is_multiple_of(unit.1)) {
        Some((name, factor)) => format!("{} {name}", size.0 / factor),
        None => format!("{} B", size.0),
    }
}

/// Memory in decimal units, rounded for people: `1.7 GB`, `12 MB`.
pub fn memory_text(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

fn decimal_text(value: u64, units: &[(&str, u64)], least: u64) -> String {
    let unit = units.iter().rev().find(|unit| value >= unit.1.max(least)).unwrap_or(&units[0]);
    let (whole, rest) = (value / unit.1, value % unit.1);
    if rest == 0 {
        return format!("{whole} {}", unit.0);
    }
    let width = unit.1.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{} {}", fraction.trim_end_matches('0'), unit.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!(parse_time("200 ns"), Ok(Picoseconds(200_000)));
        assert_eq!(parse_time("2.133ns"), Ok(Picoseconds(2_133)));
        assert_eq!(parse_time(" 1_000 us "), Ok(Picoseconds(1_000_000_000)));
        assert_eq!(parse_rate("7.5 GB/s"), Ok(Rate(60_000_000_000)));
        assert_eq!(parse_bytes("1 MiB"), Ok(Bytes(1 << 20)));
    }

    #[test]
    fn a_missing_unit_is_named() {
        let error = parse_time("200").unwrap_err().0;
        assert_eq!(error, "`200` has no unit: a time needs one of ps, ns, us, ms, s");
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "ns", "1.2.3 ns", "-5 ns", "5 lightyears", "0.5 ps", "99999999999 s"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        assert!(parse_rate("0 Gb/s").is_err());
        assert!(parse_bytes("1.5 B").is_err());
    }

    #[test]
    fn times_on_the_clock_are_read_as_people_and_slurm_write_them() {
        for (text, seconds) in [
            ("2h", 7_200),
            ("90 min", 5_400),
            ("1.5 d", 129_600),
            ("02:00:00", 7_200),
            ("1-12:00:05", 129_605),
        ] {
            assert_eq!(parse_clock_time(text), Ok(ClockTime(seconds)), "{text}");
        }
        let error = parse_clock_time("2:30").unwrap_err().0;
        assert_eq!(error, "`2:30` could be hours or minutes: write \"2:30:00\" or \"0:02:30\"");
        for text in ["120", "2 hours", "::", "1-2", "1:2:3:4", "-1:00:00", "99999999999:00:00"] {
            assert!(parse_clock_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn text_reads_back() {
        for seconds in [0, 1, 60, 90, 3_600, 5_400, 7_200, 86_400, 259_200] {
            let time = ClockTime(seconds);
            assert_eq!(parse_clock_time(&clock_time_text(time)), Ok(time));
        }
        for time in [0, 1, 999, 1_000, 1_234_567, 200_000, 5_000_000_000_000] {
            assert_eq!(parse_time(&time_text(Picoseconds(time))), Ok(Picoseconds(time)));
        }
        for rate in [1, 60_000_000_000, 1_500] {
            assert_eq!(parse_rate(&rate_text(Rate(rate))), Ok(Rate(rate)));
        }
        for size in [0, 1, 256, 1 << 20, 3 << 10] {
            assert_eq!(parse_bytes(&bytes_text(Bytes(size))), Ok(Bytes(size)));
        }
    }
}
