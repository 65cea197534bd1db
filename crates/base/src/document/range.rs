//! Ranges of numbers in decimal arithmetic: 0.1, 0.2, 0.3 and not 0.30000000000000004.

use super::{Diagnostic, Location, Node, Table, Value, quoted};

/// The most values of a range.
const MAX_VALUES: i128 = 100_000;

/// The most digits of a number, and the most of them behind the point.
const MOST_DIGITS: u32 = 18;

/// The keys that a table with a range has, all required.
pub const KEYS: [&str; 3] = ["from", "to", "step"];

/// mantissa / 10^scale, with a unit that may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decimal {
    mantissa: i128,
    scale: u32,
    unit: String,
}

/// Why a value can't be an end or the step of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    /// It is no number.
    NoNumber,
    /// It has more digits than decimal arithmetic has room for.
    TooLong,
}

impl Decimal {
    /// A number, or text that is a number and a unit.
    fn read(node: &Node) -> Result<Self, Unread> {
        match &node.value {
            Value::Integer(Some(number)) => Self::parse(&number.to_string(), ""),
            Value::Integer(None) => Err(Unread::TooLong),
            Value::Float(_, text) => Self::parse(text, ""),
            Value::Text(text) => {
                let text = text.trim();
                let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')));
                let split = split.ok_or(Unread::NoNumber)?;
                Self::parse(&text[..split].replace('_', ""), text[split..].trim())
            }
            _ => Err(Unread::NoNumber),
        }
    }

    fn parse(text: &str, unit: &str) -> Result<Self, Unread> {
        let lower = text.to_ascii_lowercase();
        let (digits, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa = format!("{whole}{fraction}");
        if ![&mantissa, exponent].into_iter().all(is_whole) {
            return Err(Unread::NoNumber);
        }
        Self::scaled((&mantissa, fraction.len()), exponent, unit).ok_or(Unread::TooLong)
    }

    /// The number with these digits, `decimals` of them behind the point, times ten to the exponent;
    /// `None` if there is no room for it.
    fn scaled((digits, decimals): (&str, usize), exponent: &str, unit: &str) -> Option<Self> {
        let mantissa: i128 = digits.parse().ok()?;
        let scale = i32::try_from(decimals).ok()?.checked_sub(exponent.parse().ok()?)?;
        if scale.unsigned_abs() > MOST_DIGITS {
            return None;
        }
        let mantissa = mantissa.checked_mul(10i128.pow(scale.min(0).unsigned_abs()))?;
        // Leaves room for 18 more decimals.
        let fits = mantissa.unsigned_abs() <= 10u128.pow(MOST_DIGITS);
        fits.then(|| Self { mantissa, scale: scale.max(0).unsigned_abs(), unit: unit.into() })
    }

    fn at_scale(&self, scale: u32) -> i128 {
        self.mantissa * 10i128.pow(scale - self.scale)
    }

    /// Without zeros at the end.
    fn text(&self) -> String {
        let (mut mantissa, mut scale) = (self.mantissa, self.scale);
        while scale > 0 && mantissa % 10 == 0 {
            (mantissa, scale) = (mantissa / 10, scale - 1);
        }
        let sign = if mantissa < 0 { "-" } else { "" };
        let width = scale as usize + 1;
        let digits = format!("{:0width$}", mantissa.abs());
        let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
        let point = if fraction.is_empty() { "" } else { "." };
        let space = if self.unit.is_empty() { "" } else { " " };
        format!("{sign}{whole}{point}{fraction}{space}{}", self.unit)
    }
}

/// Whether a text is a whole number, perhaps with a sign.
fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// The values of `{ from = 0.1, to = 0.9, step = 0.1 }`, each as text and as a value at the range's
/// place. `to` is included if it is a whole number of steps away.
pub fn values(
    key: &str,
    table: &Table,
    place: &Location,
) -> Result<Vec<(String, Node)>, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for entry in table.entries.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        problems.push(
            Diagnostic::new(&entry.key_place, format!("unknown key `{}` in a range", entry.key))
                .help("a range is { from = 0.1, to = 0.9, step = 0.1 }"),
        );
    }
    let missing: Vec<String> =
        KEYS.iter().filter(|key| table.get(key).is_none()).map(|key| format!("`{key}`")).collect();
    if !missing.is_empty() && problems.is_empty() {
        problems.push(
            Diagnostic::new(place, format!("the range of `{key}` needs {}", missing.join(" and ")))
                .help("a range is { from = 0.1, to = 0.9, step = 0.1 }"),
        );
    }
    let mut read = |key: &str| {
        let node = table.get(key)?;
        let unread = match Decimal::read(node) {
            Ok(decimal) => return Some((decimal, node)),
            Err(_) if matches!(node.value, Value::Broken) => return None,
            Err(unread) => unread,
        };
        problems.push(match unread {
            Unread::NoNumber => {
                Diagnostic::new(&node.place, format!("`{key}` of a range needs a number"))
                    .label(format!("this is {}", node.what()))
                    .help("with a unit where the key has one, as in \"100 ns\"")
            }
            Unread::TooLong => {
                Diagnostic::new(&node.place, format!("`{key}` of a range has too many digits"))
                    .label(format!(
                        "at most {MOST_DIGITS} digits, and {MOST_DIGITS} behind the point"
                    ))
                    .help("round it, or write the values themselves as a list: [0.1, 0.2, 0.3]")
            }
        });
        None
    };
    let (from, to, step) = (read("from"), read("to"), read("step"));
    let (Some((from, _)), Some((to, to_node)), Some((step, step_node))) = (from, to, step) else {
        return Err(problems);
    };
    for (decimal, node) in [(&to, to_node), (&step, step_node)] {
        if decimal.unit != from.unit {
            problems.push(
                Diagnostic::new(&node.place, "the numbers of a range need the same unit").label(
                    match from.unit.as_str() {
                        "" => "`from` has no unit".into(),
                        unit => format!("`from` is in {unit}"),
                    },
                ),
            );
        }
    }
    let scale = from.scale.max(to.scale).max(step.scale);
    let (first, last, width) = (from.at_scale(scale), to.at_scale(scale), step.at_scale(scale));
    if width <= 0 {
        problems.push(Diagnostic::new(&step_node.place, "`step` must be above 0"));
    } else if last < first {
        problems.push(
            Diagnostic::new(&to_node.place, "the range is empty: `to` is below `from`")
                .label(format!("below {}", from.text())),
        );
    } else if (last - first) / width >= MAX_VALUES {
        problems.push(
            Diagnostic::new(&step_node.place, "the range has more than 100000 values")
                .help("choose a larger `step`"),
        );
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let value = |mantissa: i128| {
        let text = Decimal { mantissa, scale, unit: from.unit.clone() }.text();
        let value = if !from.unit.is_empty() {
            Value::Text(text.clone())
        } else if let Ok(number) = text.parse() {
            Value::Integer(Some(number))
        } else {
            Value::Float(text.parse().unwrap_or(f64::NAN), text.clone())
        };
        let written = if from.unit.is_empty() { text } else { quoted(&text) };
        (written, Node { value, place: place.clone() })
    };
    let count = (last - first) / width + 1;
    Ok((0..count).map(|at| value(first + at * width)).collect())
}

#[cfg(test)]
mod tests {
    use crate::document::Toml;
    use crate::document::range::*;

    fn texts(range: &str) -> Result<Vec<String>, usize> {
        let document = Toml::parse("a.toml", &format!("range = {range}"));
        let node = document.get("range").unwrap();
        let Value::Table(table) = &node.value else { panic!() };
        match values("range", table, &node.place) {
            Ok(values) => Ok(values.into_iter().map(|(text, _)| text).collect()),
            Err(problems) => Err(problems.len()),
        }
    }

    #[test]
    fn an_exponent_at_the_end_of_its_type_is_refused() {
        let range = texts("{ from = 0, to = 1e-2147483648, step = 1 }");
        assert!(range.is_err(), "{range:?}");
    }

    #[test]
    fn ranges_are_exact_and_include_their_ends() {
        let tenths = texts("{ from = 0.1, to = 0.9, step = 0.1 }").unwrap();
        assert_eq!(tenths, ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]);
        let mixed = texts("{ from = 0.50, to = 2, step = 5e-1 }").unwrap();
        assert_eq!(mixed, ["0.5", "1", "1.5", "2"]);
        let missed = texts("{ from = 1, to = 10, step = 4 }").unwrap();
        assert_eq!(missed, ["1", "5", "9"]);
        assert_eq!(texts("{ from = 3, to = 3, step = 1 }").unwrap(), ["3"]);
        let times = texts("{ from = \"50 ns\", to = \"150 ns\", step = \"50 ns\" }").unwrap();
        assert_eq!(times, ["\"50 ns\"", "\"100 ns\"", "\"150 ns\""]);
    }

    #[test]
    fn a_number_with_too_many_digits_is_told_from_what_is_no_number() {
        for (step, message) in [
            ("0.1000000000000000001", "`step` of a range has too many digits"),
            ("1234567890123456789", "`step` of a range has too many digits"),
            ("99999999999999999999", "`step` of a range has too many digits"),
            ("1e-19", "`step` of a range has too many digits"),
            ("\"0.0000000000000000001 ns\"", "`step` of a range has too many digits"),
            ("nan", "`step` of a range needs a number"),
            ("\"some ns\"", "`step` of a range needs a number"),
        ] {
            let text = format!("range = {{ from = 0.1, to = 0.5, step = {step} }}");
            let document = Toml::parse("a.toml", &text);
            let node = document.get("range").unwrap();
            let Value::Table(table) = &node.value else { panic!() };
            let problems = values("range", table, &node.place).unwrap_err();
            assert_eq!(problems[0].message, message, "{step}");
        }
    }

    #[test]
    fn impossible_ranges_are_refused() {
        for (range, mistakes) in [
            ("{ from = 1, to = 0, step = 1 }", 1),
            ("{ from = 1, to = 2, step = 0 }", 1),
            ("{ from = 1, to = 2 }", 1),
            ("{ from = 1, to = 2, steps = 1 }", 1),
            ("{ from = \"1 ns\", to = 2, step = \"1 us\" }", 2),
            ("{ from = 0, to = 1, step = 0.000001 }", 1),
            ("{ from = true, to = [], step = 1 }", 2),
            // Beyond the integers used for counting.
            ("{ from = 1, to = 1e19, step = 1 }", 1),
            ("{ from = 1e17, to = 1e18, step = 1e-18 }", 1),
            ("{ from = 1.0e-2147483648, to = 1, step = 1 }", 1),
            ("{ from = -17014118346046923173168730371588410572.8, to = 1, step = 1 }", 1),
            ("{ from = 1e-2147483649, to = 1, step = 1 }", 1),
        ] {
            assert_eq!(texts(range), Err(mistakes), "{range}");
        }
    }
}
