//! What a kind of values is, and what all kinds say of wrong ones.

use std::fmt;

use crate::document::{Diagnostic, Node, Value};

/// Where a value belongs, for messages: a key, or an element of a key's list.
#[derive(Clone, Copy)]
pub struct Slot<'k> {
    /// The name of the key.
    pub key: &'k str,
    /// Whether the value is an element of the key's list.
    pub element: bool,
}

impl fmt::Display for Slot<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.element { "an element of " } else { "" };
        write!(formatter, "{of}`{}`", self.key)
    }
}

impl Slot<'_> {
    /// The text to write for a value, given as TOML: as an element, an assignment, or an option.
    pub fn write(self, node: &Node, value: &str) -> String {
        let source = &node.place.source;
        let before = &source.text[..node.place.span.start];
        if self.element {
            format!("`{value}`")
        } else if source.typed && before.ends_with('=') && !before.contains(['{', '[']) {
            // Quotes of TOML would be eaten by the shell, and are not needed.
            let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
            let assignment = format!("{}{value}", before.trim_start_matches("--set "));
            let safe = |c: char| c.is_ascii_alphanumeric() || "=._-+/".contains(c);
            let quote = if assignment.chars().all(safe) { "" } else { "'" };
            format!("--set {quote}{assignment}{quote}")
        } else {
            format!("`{} = {value}`", self.key)
        }
    }
}

/// The values that a key takes, such as [`Whole`](super::Whole) numbers of a range. One description serves
/// reading, messages, the reference page and the resolved scenario with all its defaults.
pub trait Kind {
    /// The type of the values that are read.
    type Value: Clone;

    /// The values with article and range: `a time from 1 ps to 1 s`.
    fn describe(&self) -> String;

    /// A value as TOML, for help texts.
    fn example(&self) -> String;

    /// Reads a value.
    ///
    /// # Errors
    /// The mistakes in it, for the person who wrote it.
    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Self::Value, Vec<Diagnostic>>;

    /// The value as TOML that [`Kind::parse`] reads back.
    fn show(&self, value: &Self::Value) -> String;
}

/// The message for a value of the wrong type: the allowed values, the type that was found, an
/// example.
pub fn wrong_type(kind: &impl Kind, slot: Slot<'_>, node: &Node) -> Vec<Diagnostic> {
    not_of_kind(&kind.describe(), &kind.example(), slot, node)
}

fn not_of_kind(kind: &str, example: &str, slot: Slot<'_>, node: &Node) -> Vec<Diagnostic> {
    if matches!(node.value, Value::Broken) {
        return Vec::new();
    }
    let problem = Diagnostic::new(&node.place, format!("{slot} must be {kind}"));
    let help = format!("write for example {}", slot.write(node, example));
    vec![problem.label(format!("this is {}", node.what())).help(help)]
}

/// Two values that belong together, or what is wrong with either of them.
pub fn both<A, B>(
    one: Result<A, Vec<Diagnostic>>,
    other: Result<B, Vec<Diagnostic>>,
) -> Result<(A, B), Vec<Diagnostic>> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (one, other) => Err([one.err(), other.err()].into_iter().flatten().flatten().collect()),
    }
}

/// The message for a value of the right type outside its range.
pub fn out_of_range(slot: Slot<'_>, node: &Node, allowed: &str) -> Vec<Diagnostic> {
    let problem = Diagnostic::new(&node.place, format!("{slot} is out of range"));
    vec![problem.label(format!("must be {allowed}"))]
}

/// A text as a TOML string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
