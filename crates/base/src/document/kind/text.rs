//! Texts that are not empty.

use crate::document::{Diagnostic, Node, Value};
use crate::document::{Kind, Slot, quoted, wrong_type};

/// Any text that is not empty.
pub struct Text {
    /// The text's meaning with its article: `a file's path`.
    pub what: &'static str,
    /// An example, without quotes.
    pub example: &'static str,
}

impl Kind for Text {
    type Value = String;

    fn describe(&self) -> String {
        self.what.into()
    }

    fn example(&self) -> String {
        quoted(self.example)
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<String, Vec<Diagnostic>> {
        let refuse = |message, help| Err(vec![Diagnostic::new(&node.place, message).help(help)]);
        match &node.value {
            Value::Text(text) if text.trim().is_empty() => {
                let help = format!("write for example {}", slot.write(node, &self.example()));
                refuse(format!("{slot} is empty"), help)
            }
            Value::Text(text) => match text.chars().find(|letter| letter.is_control()) {
                None => Ok(text.clone()),
                Some(letter) => refuse(
                    format!("{slot} has the character {letter:?} in it"),
                    "it goes into figures, files and terminals as it is: leave it out".into(),
                ),
            },
            // `--set name=2024` means a text.
            Value::Integer(_) | Value::Float(..) | Value::Flag(_) | Value::Date
                if node.place.source.typed =>
            {
                Ok(node.place.text().into())
            }
            _ => Err(wrong_type(self, slot, node)),
        }
    }

    fn show(&self, value: &String) -> String {
        quoted(value)
    }
}
