//! Plain numbers and switches.

use std::ops::RangeInclusive;

use crate::document::{Diagnostic, Node, Value};
use crate::document::{Kind, Slot, out_of_range, wrong_type};
use crate::narrow::narrow;

/// The largest integer of TOML.
pub const LARGEST: u64 = i64::MAX as u64;

/// A whole number within a range.
pub struct Whole {
    /// The allowed values, both ends included. TOML has no numbers beyond 2^63 - 1.
    pub range: RangeInclusive<u64>,
}

impl Whole {
    fn range_text(&self) -> String {
        let last = match *self.range.end() {
            LARGEST => "2^63 - 1".into(),
            last => last.to_string(),
        };
        format!("from {} to {last}", self.range.start())
    }
}

impl Kind for Whole {
    type Value = u64;

    fn describe(&self) -> String {
        format!("a whole number {}", self.range_text())
    }

    fn example(&self) -> String {
        self.range.start().max(&1).to_string()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<u64, Vec<Diagnostic>> {
        match &node.value {
            Value::Integer(Some(number)) => match u64::try_from(*number) {
                Ok(number) if self.range.contains(&number) => Ok(number),
                _ => Err(out_of_range(slot, node, &self.range_text())),
            },
            Value::Integer(None) => Err(out_of_range(slot, node, &self.range_text())),
            Value::Text(text) if text.trim().parse::<u64>().is_ok() => {
                Err(without_quotes(self, slot, text, node))
            }
            _ => {
                let mut problems = wrong_type(self, slot, node);
                if matches!(node.value, Value::Float(..)) {
                    problems[0].label = "this has a fraction".into();
                }
                Err(problems)
            }
        }
    }

    fn show(&self, value: &u64) -> String {
        value.to_string()
    }
}

/// A number of things, from 1 to 2^20.
pub struct Count {
    /// A sensible number, for messages and the reference page.
    pub example: u64,
}

impl Count {
    /// The largest number allowed.
    const MOST: u64 = 1 << 20;

    fn range(&self) -> CountIn {
        CountIn { range: 1..=Self::MOST, example: self.example }
    }
}

impl Kind for Count {
    type Value = u32;

    fn describe(&self) -> String {
        self.range().describe()
    }

    fn example(&self) -> String {
        self.range().example()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<u32, Vec<Diagnostic>> {
        self.range().parse(slot, node)
    }

    fn show(&self, value: &u32) -> String {
        self.range().show(value)
    }
}

/// A number of things within a range of its own.
pub struct CountIn {
    /// The allowed values, both ends included; within the range of a `u32`.
    pub range: RangeInclusive<u64>,
    /// A number to show as an example, within the range.
    pub example: u64,
}

impl Kind for CountIn {
    type Value = u32;

    fn describe(&self) -> String {
        Whole { range: self.range.clone() }.describe()
    }

    fn example(&self) -> String {
        self.example.to_string()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<u32, Vec<Diagnostic>> {
        Whole { range: self.range.clone() }.parse(slot, node).map(narrow)
    }

    fn show(&self, value: &u32) -> String {
        value.to_string()
    }
}

/// A number within a range, each end open or closed.
pub struct Number {
    /// The lower end, which is not allowed itself.
    pub above: f64,
    /// The upper end.
    pub to: f64,
    /// Whether the upper end is allowed.
    pub inclusive: bool,
}

impl Number {
    fn range_text(&self) -> String {
        let upper = if self.inclusive { "at most" } else { "below" };
        match self.to.is_finite() {
            true => format!("above {} and {upper} {}", self.above, self.to),
            false => format!("above {}", self.above),
        }
    }
}

impl Kind for Number {
    type Value = f64;

    fn describe(&self) -> String {
        format!("a number {}", self.range_text())
    }

    fn example(&self) -> String {
        if self.above < 0.2 { "0.2".into() } else { (2.0 * self.above).to_string() }
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<f64, Vec<Diagnostic>> {
        let number = match &node.value {
            Value::Integer(Some(number)) => *number as f64,
            Value::Float(number, _) => *number,
            Value::Text(text) if text.trim().parse::<f64>().is_ok() => {
                return Err(without_quotes(self, slot, text, node));
            }
            _ => return Err(wrong_type(self, slot, node)),
        };
        let below = number < self.to || self.inclusive && number == self.to;
        if number.is_finite() && number > self.above && below {
            Ok(number)
        } else {
            Err(out_of_range(slot, node, &self.range_text()))
        }
    }

    fn show(&self, value: &f64) -> String {
        value.to_string()
    }
}

fn without_quotes(kind: &impl Kind, slot: Slot<'_>, text: &str, node: &Node) -> Vec<Diagnostic> {
    let problem = Diagnostic::new(&node.place, format!("{slot} must be {}", kind.describe()));
    let help = format!("leave the quotes out: {}", slot.write(node, text.trim()));
    vec![problem.label("this is text").help(help)]
}

/// True or false.
pub struct Flag;

impl Kind for Flag {
    type Value = bool;

    fn describe(&self) -> String {
        "true or false".into()
    }

    fn example(&self) -> String {
        "true".into()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<bool, Vec<Diagnostic>> {
        match &node.value {
            Value::Flag(flag) => Ok(*flag),
            _ => Err(wrong_type(self, slot, node)),
        }
    }

    fn show(&self, value: &bool) -> String {
        value.to_string()
    }
}
