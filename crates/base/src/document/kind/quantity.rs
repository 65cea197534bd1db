//! Times, rates, sizes and numbers of flits: text with a unit.

use crate::document::{Diagnostic, Node, Value};
use crate::document::{Kind, Slot, nearest, out_of_range, quoted, wrong_type};
use crate::units::{
    Bytes, ClockTime, Picoseconds, Rate, UnitError, bytes_text, clock_time_text, parse_bytes,
    parse_clock_time, parse_rate, parse_time, rate_text, time_text,
};

/// A number with a unit, within a range, ends included.
pub struct Quantity<T> {
    /// The quantity with its article: `a time`.
    what: &'static str,
    units: &'static [&'static str],
    /// The unit that is suggested where it is missing.
    usual: &'static str,
    example: &'static str,
    parse: fn(&str) -> Result<T, UnitError>,
    show: fn(T) -> String,
    least: T,
    most: T,
}

/// A time from `least` to 1 s.
pub fn time(least: Picoseconds) -> Quantity<Picoseconds> {
    time_to(least, Picoseconds(1_000_000_000_000))
}

/// A time within these ends.
pub fn time_to(least: Picoseconds, most: Picoseconds) -> Quantity<Picoseconds> {
    Quantity {
        what: "a time",
        units: &["ps", "ns", "us", "ms", "s"],
        usual: "ns",
        example: "70 ns",
        parse: parse_time,
        show: time_text,
        least,
        most,
    }
}

/// A time on the clock from a second to a year.
pub fn clock_time() -> Quantity<ClockTime> {
    Quantity {
        what: "a time on the clock",
        units: &["s", "min", "h", "d"],
        // The unit of a bare number in sbatch.
        usual: "min",
        example: "2 h",
        parse: parse_clock_time,
        show: clock_time_text,
        least: ClockTime(1),
        most: ClockTime(365 * 86_400),
    }
}

/// A rate from 1 Mb/s to 100000 Gb/s. At lower rates long runs would exceed 64-bit times. At higher
/// rates a flit would take less than a few picoseconds.
pub fn rate() -> Quantity<Rate> {
    Quantity {
        what: "a rate",
        units: &["b/s", "kb/s", "Mb/s", "Gb/s", "B/s", "kB/s", "MB/s", "GB/s"],
        usual: "Gb/s",
        example: "60 Gb/s",
        parse: parse_rate,
        show: rate_text,
        least: Rate(1_000_000),
        most: Rate(100_000_000_000_000),
    }
}

/// A size within these ends, in bytes.
pub fn size(least: u64, most: u64) -> Quantity<Bytes> {
    Quantity {
        what: "a size",
        units: &["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"],
        usual: "B",
        example: "256 B",
        parse: parse_bytes,
        show: bytes_text,
        least: Bytes(least),
        most: Bytes(most),
    }
}

/// A number of flits, at least one. The engine counts credits in 16 bits.
pub fn flits() -> Quantity<u32> {
    Quantity {
        what: "a number of flits",
        units: &["flits"],
        usual: "flits",
        example: "144 flits",
        parse: parse_flits,
        show: |flits| format!("{flits} flit{}", if flits == 1 { "" } else { "s" }),
        least: 1,
        most: 65_535,
    }
}

fn parse_flits(text: &str) -> Result<u32, UnitError> {
    let refuse = |why: &str| Err(UnitError(format!("`{text}` {why}")));
    let Some(number) = text.trim().strip_suffix("flits").or(text.trim().strip_suffix("flit"))
    else {
        return refuse("is not a number of flits: write for example \"144 flits\"");
    };
    let digits: String = number.trim().chars().filter(|&c| c != '_').collect();
    match digits.parse() {
        Ok(flits) => Ok(flits),
        Err(_) => refuse("is no whole number of flits"),
    }
}

impl<T: Copy + PartialOrd> Quantity<T> {
    fn range(&self) -> String {
        // Times are printed in units up to ms.
        let most = (self.show)(self.most).replace("1000 ms", "1 s");
        format!("from {} to {most}", (self.show)(self.least))
    }

    fn parse_text(&self, slot: Slot<'_>, text: &str, node: &Node) -> Result<T, Vec<Diagnostic>> {
        if let Ok(number) = text.trim().replace('_', "").parse::<f64>()
            && number.is_finite()
        {
            return Err(self.no_unit(slot, text.trim(), node));
        }
        match (self.parse)(text) {
            Ok(value) if value >= self.least && value <= self.most => Ok(value),
            Ok(_) => Err(out_of_range(slot, node, &self.range())),
            Err(UnitError(why)) => {
                let (message, rest) = match why.split_once(": ") {
                    Some((message, rest)) => (message.to_owned(), Some(rest.to_owned())),
                    None => (why, None),
                };
                let mut problem = Diagnostic::new(&node.place, message);
                problem.help = match self.corrected(text) {
                    Some(better) => {
                        let written = slot.write(node, &quoted(&better));
                        Some(format!("write {written}{}", self.all_units()))
                    }
                    None => rest,
                };
                Err(vec![problem])
            }
        }
    }

    fn no_unit(&self, slot: Slot<'_>, number: &str, node: &Node) -> Vec<Diagnostic> {
        let meant = format!("{number} {}", self.usual);
        let written = slot.write(node, &quoted(&meant));
        let help = format!("for {meant} write {written}{}", self.all_units());
        let problem = Diagnostic::new(&node.place, format!("{slot} has no unit"));
        vec![problem.label(format!("needs {} with its unit", self.what)).help(help)]
    }

    fn all_units(&self) -> String {
        match self.units.len() {
            1 => String::new(),
            _ => format!("; units of {} are {}", self.what, self.units.join(", ")),
        }
    }

    /// The text with the unit that was probably meant.
    fn corrected(&self, text: &str) -> Option<String> {
        let text = text.trim();
        let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')))?;
        let (number, unit) = (&text[..split], text[split..].trim());
        let lower = unit.to_lowercase();
        let known = match lower.as_str() {
            "μs" | "µs" | "usec" | "microseconds" => "us",
            "nsec" | "nanoseconds" | "nanosecond" => "ns",
            "msec" | "milliseconds" => "ms",
            "sec" | "second" | "seconds" => "s",
            "minute" | "minutes" => "min",
            "hour" | "hours" => "h",
            "day" | "days" => "d",
            "byte" | "bytes" => "B",
            "kib" => "KiB",
            "mib" => "MiB",
            "gib" => "GiB",
            "k" | "kb" | "kbyte" | "kbytes" => "kB",
            "m" | "mb" | "mbyte" | "mbytes" => "MB",
            "g" | "gb" | "gbyte" | "gbytes" => "GB",
            "gbps" | "gbit/s" | "gbits/s" | "gb/sec" if !unit.contains("GB") => "Gb/s",
            "gbps" | "gbyte/s" | "gb/sec" => "GB/s",
            "mbps" | "mbit/s" | "mbits/s" if !unit.contains("MB") => "Mb/s",
            "mbps" | "mbyte/s" => "MB/s",
            _ => "",
        };
        let better = if self.units.contains(&known) {
            known
        } else {
            nearest(unit, self.units.iter().copied())?
        };
        let better = format!("{number} {better}");
        (self.parse)(&better).is_ok().then_some(better)
    }
}

impl<T: Copy + PartialOrd> Kind for Quantity<T> {
    type Value = T;

    fn describe(&self) -> String {
        format!("{} {}", self.what, self.range())
    }

    fn example(&self) -> String {
        quoted(self.example)
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<T, Vec<Diagnostic>> {
        match &node.value {
            Value::Text(text) => self.parse_text(slot, text, node),
            // A zero needs its unit too: a rule with an exception is harder to remember.
            Value::Integer(Some(number)) => Err(self.no_unit(slot, &number.to_string(), node)),
            Value::Float(_, text) => Err(self.no_unit(slot, text, node)),
            _ => Err(wrong_type(self, slot, node)),
        }
    }

    fn show(&self, value: &T) -> String {
        quoted(&(self.show)(*value))
    }
}

/// A value, or a word, which is `None`.
pub struct WordOr<K> {
    /// The word.
    pub word: &'static str,
    /// What people write in place of the word.
    pub also: &'static str,
    /// The kind of the value.
    pub kind: K,
}

impl<K: Kind> Kind for WordOr<K> {
    type Value = Option<K::Value>;

    fn describe(&self) -> String {
        format!("{} or {}", quoted(self.word), self.kind.describe())
    }

    fn example(&self) -> String {
        self.kind.example()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Self::Value, Vec<Diagnostic>> {
        match &node.value {
            Value::Text(text) if text == self.word => Ok(None),
            Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                self.kind.parse(slot, node).map(Some)
            }
            Value::Integer(_) | Value::Float(..) => self.kind.parse(slot, node).map(Some),
            _ => {
                let mut problems = wrong_type(self, slot, node);
                if let (Value::Text(text), [problem]) = (&node.value, problems.as_mut_slice())
                    && nearest(text, [self.word, self.also]).is_some()
                {
                    problem.help = Some(format!("write {}", slot.write(node, &quoted(self.word))));
                }
                Err(problems)
            }
        }
    }

    fn show(&self, value: &Self::Value) -> String {
        value.as_ref().map_or_else(|| quoted(self.word), |value| self.kind.show(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_that_was_meant_is_found() {
        assert_eq!(rate().corrected("60 Gbps").as_deref(), Some("60 Gb/s"));
        assert_eq!(rate().corrected("7.5 GBps").as_deref(), Some("7.5 GB/s"));
        assert_eq!(time(Picoseconds(0)).corrected("3µs").as_deref(), Some("3 us"));
        assert_eq!(size(0, 1 << 40).corrected("4 KB").as_deref(), Some("4 kB"));
        assert_eq!(size(0, 1 << 40).corrected("16 bytes").as_deref(), Some("16 B"));
        assert_eq!(time(Picoseconds(0)).corrected("3 parsecs"), None);
    }

    #[test]
    fn flits_are_read_back() {
        for flits in [1, 2, 144] {
            assert_eq!(parse_flits(&(super::flits().show)(flits)), Ok(flits));
        }
        assert!(parse_flits("1.5 flits").is_err());
        assert!(parse_flits("12 packets").is_err());
    }
}
