//! Lists of one kind.

use std::ops::RangeInclusive;

use crate::document::{Diagnostic, Location, Node, Reader, Value};
use crate::document::{Kind, Slot, wrong_type};

/// A list's element with its place, for rules between elements.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The element's value.
    pub value: T,
    /// Place of the element; `None` if it comes from a default.
    pub place: Option<Location>,
}

impl<T> Listed<T> {
    /// The elements without their places.
    pub fn values(list: Vec<Self>) -> Vec<T> {
        list.into_iter().map(|listed| listed.value).collect()
    }
}

/// A list of values of one kind, its length within a range.
pub struct List<K> {
    /// The kind of the elements.
    pub kind: K,
    /// The elements in messages, in the plural: `sizes`.
    pub noun: &'static str,
    /// Allowed number of elements; up to `usize::MAX` for any number.
    pub length: RangeInclusive<usize>,
    /// An example as TOML; `None` makes one from the kind's.
    pub example: Option<&'static str>,
}

impl<K: Kind> List<K> {
    fn lengths(&self) -> String {
        match (*self.length.start(), *self.length.end()) {
            (0, usize::MAX) => format!("a list of {}", self.noun),
            (1, usize::MAX) => format!("a list of one or more {}", self.noun),
            (least, usize::MAX) => format!("a list of {least} or more {}", self.noun),
            (least, most) if least == most => format!("a list of {least} {}", self.noun),
            (least, most) => format!("a list of {least} to {most} {}", self.noun),
        }
    }
}

/// A text of several numbers, such as `4x4x2`, written as a list.
fn as_list(node: &Node) -> Option<String> {
    let Value::Text(text) = &node.value else { return None };
    let numbers: Result<Vec<u64>, _> = text
        .trim_matches(|c: char| !c.is_ascii_digit())
        .split(['x', 'X', ',', ';', '*'])
        .map(|number| number.trim().parse::<u64>())
        .collect();
    Some(format!("{:?}", numbers.ok()?))
}

impl<K: Kind> Kind for List<K> {
    type Value = Vec<Listed<K::Value>>;

    fn describe(&self) -> String {
        format!("{}, each {}", self.lengths(), self.kind.describe())
    }

    fn example(&self) -> String {
        self.example.map_or_else(|| format!("[{}]", self.kind.example()), Into::into)
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Self::Value, Vec<Diagnostic>> {
        let Value::List(elements) = &node.value else {
            let mut problems = wrong_type(self, slot, node);
            for problem in &mut problems {
                problem.message = format!("{slot} must be {}", self.lengths());
                if let Some(list) = as_list(node) {
                    problem.help = Some(format!("write {}", slot.write(node, &list)));
                }
            }
            return Err(problems);
        };
        let mut problems = Vec::new();
        if !self.length.contains(&elements.len()) {
            problems.push(
                Diagnostic::new(&node.place, format!("{slot} must be {}", self.lengths()))
                    .label(match elements.len() {
                        0 => "this is empty".into(),
                        length => format!("this has {length}"),
                    })
                    .help(format!("write for example {}", slot.write(node, &self.example()))),
            );
        }
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            match self.kind.parse(Slot { element: true, ..slot }, element) {
                Ok(value) => values.push(Listed { value, place: Some(element.place.clone()) }),
                Err(more) => problems.extend(more),
            }
        }
        // A broken element has been reported, but the list is not whole.
        if problems.is_empty() && values.len() == elements.len() {
            Ok(values)
        } else {
            Err(problems)
        }
    }

    fn show(&self, value: &Self::Value) -> String {
        let texts: Vec<String> = value.iter().map(|one| self.kind.show(&one.value)).collect();
        format!("[{}]", texts.join(", "))
    }
}

/// Reports elements that occur more than once.
pub fn report_repeated<T: PartialEq>(
    reader: &mut Reader<'_>,
    key: &'static str,
    list: &[Listed<T>],
    noun: &str,
    name: impl Fn(&T) -> String,
) {
    for (position, listed) in list.iter().enumerate() {
        let repeated = list[..position].iter().any(|earlier| earlier.value == listed.value);
        if let (true, Some(place)) = (repeated, &listed.place) {
            reader.problems.push(
                Diagnostic::new(place, format!("`{key}` has {noun} {} twice", name(&listed.value)))
                    .label("the second time"),
            );
            reader.mark_broken(key);
        }
    }
}
