//! Values of TOML, each with its place.

use super::Location;

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// What was written.
    pub value: Value,
    /// The piece of the source in which it was written.
    pub place: Location,
}

/// A value of TOML.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer; `None` if it exceeds 64 bits.
    Integer(Option<i64>),
    /// A decimal number, with its digits as written, without underscores.
    Float(f64, String),
    /// `true` or `false`.
    Flag(bool),
    /// A date or a time of day, which no key takes; its parts are not kept.
    Date,
    /// An array.
    List(Vec<Node>),
    /// A table, in brackets of its own, inline or by points in keys.
    Table(Table),
    /// A value with a syntax error, which has been reported. It causes no second message.
    Broken,
}

/// A table's entries, in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// One for each key: none is there twice.
    pub entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key, without the tables that it lies in.
    pub key: String,
    /// The piece of the source in which the key was written.
    pub key_place: Location,
    /// The value with its place.
    pub node: Node,
}

impl Table {
    /// The entry of a key; `None` if the table lacks it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of a key; `None` if the table lacks it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }
}

impl Node {
    /// The type of the value in words, for messages.
    pub fn what(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "text",
            Value::Integer(_) | Value::Float(..) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) | Value::Broken => "a table",
        }
    }
}
