//! Keeps out scenarios that are right and large: fuzzing is for the reader's mistakes, and a fabric
//! of a million nodes takes its time without being one.

use toml::de::{DeTable, DeValue};

/// The largest product of all numbers that say how large a fabric is.
const NODES: f64 = 256.0;

/// The largest number of points of a sweep.
const POINTS: f64 = 64.0;

/// Builders that are large unless they are told otherwise.
const LARGE: [&str; 2] = ["cascade", "director_tree"];

/// Keys below `[topology]` whose numbers are not sizes.
const NO_SIZES: [&str; 5] = ["open", "failed_", "random_failures", "node_set", "seed"];

/// How much there is to do for some text.
#[derive(Clone, Copy)]
pub struct Size {
    nodes: f64,
    points: f64,
}

impl Size {
    /// Of a scenario, read as flitlab reads it: syntax errors are passed over.
    pub fn of(text: &str) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        let mut size = Self { nodes: 1.0, points: 1.0 };
        for (key, value) in root.get_ref() {
            match key.get_ref().as_ref() {
                "topology" => size.nodes *= nodes(value.get_ref()),
                "sweep" => {
                    size.points *= points(value.get_ref());
                    size.nodes *= swept_nodes(value.get_ref());
                }
                _ => {}
            }
        }
        size
    }

    /// Of two texts that come together.
    pub fn with(self, other: Self) -> Self {
        Self { nodes: self.nodes * other.nodes, points: self.points * other.points }
    }

    pub fn is_small(self) -> bool {
        self.nodes <= NODES && self.points <= POINTS && self.nodes * self.points <= NODES * 4.0
    }
}

/// The product of all whole numbers, each to the power of the others where sizes are powers.
fn nodes(value: &DeValue<'_>) -> f64 {
    match value {
        DeValue::Integer(digits) => i128::from_str_radix(digits.as_str(), digits.radix())
            .map_or(f64::MAX, |number| number as f64)
            .max(1.0),
        DeValue::Array(values) => values.iter().map(|value| nodes(value.get_ref())).product(),
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| match key.get_ref().as_ref() {
                key if LARGE.contains(&key) => f64::MAX,
                key if NO_SIZES.iter().any(|other| key.starts_with(other)) => 1.0,
                "prime" => 2.0 * nodes(value.get_ref()).powi(2),
                "levels" | "length" => nodes(value.get_ref()).exp2().powi(2),
                _ => nodes(value.get_ref()),
            })
            .product(),
        _ => 1.0,
    }
}

/// The same of keys of a sweep that name a topology.
fn swept_nodes(value: &DeValue<'_>) -> f64 {
    match value {
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| match key.get_ref().starts_with("topology") {
                true => nodes(value.get_ref()),
                false => swept_nodes(value.get_ref()),
            })
            .product(),
        DeValue::Array(values) => values.iter().map(|value| swept_nodes(value.get_ref())).product(),
        _ => 1.0,
    }
}

/// How many points a sweep has at most.
fn points(value: &DeValue<'_>) -> f64 {
    match value {
        DeValue::Array(values) => {
            values.len().max(1) as f64
                * values.iter().map(|value| points(value.get_ref())).product::<f64>()
        }
        DeValue::Table(table) if table.contains_key("from") => {
            let number =
                |key: &str| table.get(key).map_or(1.0, |value| leading_number(value.get_ref()));
            ((number("to") - number("from")) / number("step")).abs() + 1.0
        }
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| match (key.get_ref().as_ref(), value.get_ref()) {
                ("repetitions", value) => leading_number(value),
                (_, value) => points(value),
            })
            .product(),
        _ => 1.0,
    }
}

/// The number with which a value begins.
fn leading_number(value: &DeValue<'_>) -> f64 {
    match value {
        DeValue::Integer(digits) => i128::from_str_radix(digits.as_str(), digits.radix())
            .map_or(f64::MAX, |number| number as f64),
        DeValue::Float(digits) => digits.as_str().parse().unwrap_or(f64::MAX),
        DeValue::String(text) => {
            let end = text
                .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
                .unwrap_or(text.len());
            text[..end].parse().unwrap_or(1.0)
        }
        _ => 1.0,
    }
}
