//! Values that are one of some words.

use crate::document::{Diagnostic, Kind, Node, Slot, Value, nearest, quoted, wrong_type};

/// A value that is one of some words.
pub struct Word<T: 'static> {
    /// The value's meaning, such as `unit`.
    pub what: &'static str,
    /// The values, each with the word for it.
    pub all: &'static [(T, &'static str)],
}

impl<T: Copy> Word<T> {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all.iter().map(|row| row.1)
    }
}

impl<T: Copy + PartialEq> Kind for Word<T> {
    type Value = T;

    fn describe(&self) -> String {
        let names: Vec<String> = self.names().map(quoted).collect();
        format!("one of {}", names.join(", "))
    }

    fn example(&self) -> String {
        self.names().next().map_or_else(String::new, quoted)
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<T, Vec<Diagnostic>> {
        let Value::Text(text) = &node.value else { return Err(wrong_type(self, slot, node)) };
        let found = self.all.iter().find(|row| row.1 == text);
        found.map(|row| row.0).ok_or_else(|| {
            let problem =
                Diagnostic::new(&node.place, format!("there is no {} `{text}`", self.what));
            vec![match nearest(text, self.names()) {
                Some(near) => problem.label(format!("did you mean `{near}`?")),
                None => problem.help(format!("{slot} is {}", self.describe())),
            }]
        })
    }

    fn show(&self, value: &T) -> String {
        self.all.iter().find(|row| row.0 == *value).map_or_else(String::new, |row| quoted(row.1))
    }
}
