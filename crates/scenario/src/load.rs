//! Offered loads: a fraction of capacity, or a rate.

use crate::series::LOAD;
use flitlab_base::document::{Diagnostic, Kind, Node, Number, Slot, Value, rate, wrong_type};
use flitlab_traffic::OfferedLoad;

/// What a sweep writes in place of its loads if each curve is to find them.
pub(super) const AUTO: &str = "auto";

/// A number above 0, or a rate.
pub(super) struct Load;

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

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<OfferedLoad, Vec<Diagnostic>> {
        match &node.value {
            Value::Integer(_) | Value::Float(..) => {
                FRACTION.parse(slot, node).map(OfferedLoad::Fraction)
            }
            Value::Text(text) if percent(text).is_some() => {
                let message = format!("{slot} is a fraction, not a percentage");
                let share = percent(text).unwrap_or_default().to_string();
                let help = format!("write {}", slot.write(node, &share));
                Err(vec![Diagnostic::new(&node.place, message).help(help)])
            }
            Value::Text(text) if text.trim().parse::<f64>().is_ok() => {
                let problem =
                    Diagnostic::new(&node.place, format!("{slot} is text without a unit"));
                let help = either(slot, node, text.trim(), &format!("\"{} GB/s\"", text.trim()));
                Err(vec![problem.label("a fraction, or a rate?").help(help)])
            }
            Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                rate().parse(slot, node).map(OfferedLoad::Payload)
            }
            _ => {
                let mut problems = wrong_type(self, slot, node);
                for problem in &mut problems {
                    problem.message = format!("{slot} must be a number or a rate");
                    problem.help = Some(match &node.value {
                        Value::Text(text) if text == AUTO => format!(
                            "a sweep finds its loads: write `{LOAD} = \"{AUTO}\"` in [sweep.grid], and \
                             {} here, or nothing",
                            slot.write(node, "0.3")
                        ),
                        _ => either(slot, node, "0.3", "\"3 GB/s\""),
                    });
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

/// A load as TOML.
pub fn text(load: &OfferedLoad) -> String {
    Load.show(load)
}

fn either(slot: Slot<'_>, node: &Node, fraction: &str, rate: &str) -> String {
    format!(
        "write {} for a fraction of the fabric's capacity, {} for a node's rate",
        slot.write(node, fraction),
        slot.write(node, rate)
    )
}

/// `30%` as `0.3`.
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}
