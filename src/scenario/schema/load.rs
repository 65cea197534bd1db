//! Offered loads: a fraction of capacity, or a rate.

use crate::{
    scenario::{
        diagnostic::Diagnostic,
        document::{Node, Value},
        kind::{Kind, Number, rate, wrong_type},
    },
    traffic::OfferedLoad,
};

/// A number above 0, or a rate.
pub(in crate::scenario) struct Load;

const FRACTION: Number = Number { above: 0.0, to: f64::INFINITY, inclusive: false };

impl Kind for Load {
    type Value = OfferedLoad;

    fn describe(&self) -> String {
        "a number above 0 (a fraction of the fabric's capacity) or a rate (payload of each node)"
            .into()
    }

    fn example(&self) -> String {
        "0.3".into()
    }

    fn parse(&self, key: &str, node: &Node) -> Result<OfferedLoad, Vec<Diagnostic>> {
        match &node.value {
            Value::Integer(_) | Value::Float(..) => {
                FRACTION.parse(key, node).map(OfferedLoad::Fraction)
            }
            Value::Text(text) if percent(text).is_some() => Err(vec![
                Diagnostic::new(&node.place, format!("`{key}` is a fraction, not a percentage"))
                    .help(format!("write `{key} = {}`", percent(text).unwrap_or_default())),
            ]),
            Value::Text(text) if text.trim().parse::<f64>().is_ok() => Err(vec![
                Diagnostic::new(&node.place, format!("`{key}` is text without a unit"))
                    .label("a fraction, or a rate?")
                    .help(format!(
                        "write `{key} = {0}` for a fraction of the fabric's capacity, \
                         `{key} = \"{0} GB/s\"` for a node's rate",
                        text.trim()
                    )),
            ]),
            Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                rate().parse(key, node).map(OfferedLoad::Payload)
            }
            _ => {
                let mut problems = wrong_type(self, key, node);
                for problem in &mut problems {
                    problem.message = format!("`{key}` needs a number or a rate");
                    problem.help = Some(format!(
                        "write `{key} = 0.3` for a fraction of the fabric's capacity, \
                         `{key} = \"3 GB/s\"` for a node's rate"
                    ));
                }
                Err(problems)
            }
        }
    }

    fn show(&self, value: &OfferedLoad) -> String {
        match value {
            OfferedLoad::Fraction(fraction) => FRACTION.show(fraction),
            OfferedLoad::Payload(payload) => rate().show(payload),
        }
    }
}

/// `30%` as `0.3`.
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}
