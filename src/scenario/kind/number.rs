//! Plain numbers and switches.

use std::ops::RangeInclusive;

use super::{Kind, Slot, out_of_range, quoted, wrong_type};
use crate::{
    narrow::narrow,
    scenario::{
        diagnostic::Diagnostic,
        document::{Node, Value},
    },
    topology::Amount,
};

/// The largest integer of TOML.
pub(in crate::scenario) const LARGEST: u64 = i64::MAX as u64;

/// A whole number within a range.
pub(in crate::scenario) struct Whole {
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

/// How many of something there are, 1 at least, with an example that makes sense.
pub(in crate::scenario) struct Count {
    pub example: u64,
}

impl Count {
    const RANGE: Whole = Whole { range: 1..=1 << 20 };
}

impl Kind for Count {
    type Value = u32;

    fn describe(&self) -> String {
        Self::RANGE.describe()
    }

    fn example(&self) -> String {
        self.example.to_string()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<u32, Vec<Diagnostic>> {
        Self::RANGE.parse(slot, node).map(narrow)
    }

    fn show(&self, value: &u32) -> String {
        value.to_string()
    }
}

/// A number within a range, each end open or closed.
pub(in crate::scenario) struct Number {
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
        "0.2".into()
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
    vec![
        Diagnostic::new(&node.place, format!("{slot} must be {}", kind.describe()))
            .label("this is text")
            .help(format!("leave the quotes out: {}", slot.write(node, text.trim()))),
    ]
}

/// A count, or a share as text such as `1%`.
pub(in crate::scenario) struct AmountOrShare;

impl AmountOrShare {
    const COUNT: Whole = Whole { range: 0..=u32::MAX as u64 };
}

impl Kind for AmountOrShare {
    type Value = Amount;

    fn describe(&self) -> String {
        "how many, or a share such as \"1%\"".into()
    }

    fn example(&self) -> String {
        quoted("1%")
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Amount, Vec<Diagnostic>> {
        match &node.value {
            Value::Integer(_) => {
                Self::COUNT.parse(slot, node).map(|count| Amount::Count(narrow(count)))
            }
            Value::Float(share, _) => {
                let mut problems = wrong_type(self, slot, node);
                problems[0].label = "this has a fraction".into();
                let share = quoted(&format!("{}%", share * 100.0));
                problems[0].help = Some(format!("for a share write {}", slot.write(node, &share)));
                Err(problems)
            }
            Value::Text(text) => {
                let share = text.trim().strip_suffix('%').and_then(|text| text.trim().parse().ok());
                match share {
                    Some(share @ 0.0..=100.0) => Ok(Amount::Percent(share)),
                    Some(_) => Err(out_of_range(slot, node, "from 0% to 100%")),
                    None => Err(wrong_type(self, slot, node)),
                }
            }
            _ => Err(wrong_type(self, slot, node)),
        }
    }

    fn show(&self, value: &Amount) -> String {
        match value {
            Amount::Count(count) => count.to_string(),
            Amount::Percent(share) => quoted(&format!("{share}%")),
        }
    }
}

/// True or false.
pub(in crate::scenario) struct Flag;

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
