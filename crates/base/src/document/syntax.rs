//! Parsing of TOML text into the tree, with syntax errors in words that help.
//!
//! The parser recovers from mistakes. After a mistake inside a single value the rest of the tree is
//! sound, and is checked too. After a mistake in the structure (a bracket that is never closed) the
//! parser can only guess. Then the errors of the structure are shown alone.

use std::{ops::Range, sync::Arc};

use toml::{
    Spanned,
    de::{DeTable, DeValue, Error},
};

use super::{Diagnostic, Entry, Location, Node, Source, Table, Value};

pub(crate) struct Parsed {
    pub root: Table,
    pub problems: Vec<Diagnostic>,
    pub intact: bool,
}

/// Parses a whole file.
pub(crate) fn parse(source: &Arc<Source>) -> Parsed {
    let (tree, errors) = DeTable::parse_recoverable(&source.text);
    let mut root = table(tree.get_ref(), &Origin { source, offset: 0 });
    let mut intact = true;
    let mut problems = Vec::new();
    let mut unclosed: Vec<Range<usize>> = Vec::new();
    for error in errors.iter().filter(|error| error.message().starts_with("unclosed")) {
        let end = error.span().map_or(0, |span| span.end);
        let mut innermost = None;
        visit(&mut root, &mut |node| {
            if matches!(node.value, Value::List(_) | Value::Table(_)) && node.place.span.end == end
            {
                innermost = Some(node.place.span.clone());
            }
        });
        if let Some(span) = innermost {
            unclosed.push(span.clone());
            let place = Location { source: source.clone(), span: span.start..span.start + 1 };
            problems.push(unclosed_bracket(&place));
            intact = false;
        }
    }
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        if unclosed.iter().any(|open| open.start <= span.start && span.end <= open.end) {
            continue;
        }
        let place = Location { source: source.clone(), span: span.clone() };
        intact &= error.message() == "duplicate key" || mark_broken(&mut root, &span);
        problems.push(explain(error, &place));
    }
    problems.dedup_by(|next, first| {
        // The parser may report one mistake of a line twice.
        let line = |one: &Diagnostic| one.place.as_ref().map(Location::line);
        !intact && line(next) == line(first)
    });
    Parsed { root, problems, intact }
}

/// Parses the value of an assignment on the command line. Text that is not TOML is taken as a
/// string. If it begins like a list, a table or quoted text, it is a mistake instead.
pub(crate) fn parse_value(place: &Location) -> Result<Node, Diagnostic> {
    let written = place.text();
    match DeValue::parse(written) {
        Ok(value) => {
            let origin = Origin { source: &place.source, offset: place.span.start };
            Ok(node(value.get_ref(), &value.span(), &origin))
        }
        Err(error) if written.starts_with(['[', '{', '"', '\'']) => {
            let span = error.span().unwrap_or(0..written.len());
            let at = place.span.start;
            let place =
                Location { source: place.source.clone(), span: at + span.start..at + span.end };
            Err(explain(&error, &place))
        }
        Err(_) if written.is_empty() => Err(Diagnostic::new(place, "there is no value after `=`")
            .help("write --set KEY=VALUE, for example --set traffic.load=0.3")),
        Err(_) => Ok(Node { value: Value::Text(written.into()), place: place.clone() }),
    }
}

struct Origin<'s> {
    source: &'s Arc<Source>,
    offset: usize,
}

impl Origin<'_> {
    fn place(&self, span: &Range<usize>) -> Location {
        let span = self.offset + span.start..self.offset + span.end;
        Location { source: self.source.clone(), span }
    }
}

fn table(parsed: &DeTable<'_>, origin: &Origin<'_>) -> Table {
    let mut entries: Vec<Entry> = parsed
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: origin.place(&key.span()),
            node: node(value.get_ref(), &value.span(), origin),
        })
        .collect();
    // The parser sorts by name.
    entries.sort_by_key(|entry| entry.key_place.span.start);
    Table { entries }
}

fn node(value: &DeValue<'_>, span: &Range<usize>, origin: &Origin<'_>) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => {
            Value::Integer(i64::from_str_radix(digits.as_str(), digits.radix()).ok())
        }
        DeValue::Float(digits) => match digits.as_str().parse() {
            Ok(number) => Value::Float(number, digits.as_str().into()),
            Err(_) => Value::Broken,
        },
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(array) => {
            let element = |item: &Spanned<DeValue<'_>>| node(item.get_ref(), &item.span(), origin);
            Value::List(array.iter().map(element).collect())
        }
        DeValue::Table(inner) => Value::Table(table(inner, origin)),
    };
    Node { value, place: origin.place(span) }
}

/// Calls a function on every node, outer ones first.
fn visit(table: &mut Table, call: &mut dyn FnMut(&mut Node)) {
    fn one(node: &mut Node, call: &mut dyn FnMut(&mut Node)) {
        call(node);
        match &mut node.value {
            Value::List(list) => list.iter_mut().for_each(|node| one(node, call)),
            Value::Table(table) => visit(table, call),
            _ => {}
        }
    }
    table.entries.iter_mut().for_each(|entry| one(&mut entry.node, call));
}

/// Marks the scalar that contains an error; false if there is none.
fn mark_broken(root: &mut Table, span: &Range<usize>) -> bool {
    let mut found = false;
    visit(root, &mut |node| {
        let inside = node.place.span.start <= span.start && span.end <= node.place.span.end;
        if inside && !matches!(node.value, Value::List(_) | Value::Table(_)) {
            node.value = Value::Broken;
            found = true;
        }
    });
    found
}

fn unclosed_bracket(place: &Location) -> Diagnostic {
    let (open, close) = if place.text() == "{" { ("{", "}") } else { ("[", "]") };
    Diagnostic::new(place, format!("this `{open}` is never closed"))
        .label("opened here")
        .help(format!("add the missing `{close}`; what follows is checked once it is there"))
}

/// The parser's message in plainer words, with the text to type where that is clear.
fn explain(error: &Error, place: &Location) -> Diagnostic {
    let message = error.message();
    let written = place.text();
    let starts = |start: &str| message.starts_with(start);
    let new = |text: &str| Diagnostic::new(place, text);
    if starts("string values must be quoted") {
        return if written.is_empty() {
            new("there is no value after `=`").label("missing here")
        } else if written.contains(',') || written.parse::<f64>().is_ok() {
            new(&format!("`{written}` is no value"))
                .help("a number has a decimal point and no spaces; text needs quotes")
        } else if matches!(written, "on" | "yes" | "True" | "TRUE") {
            new(&format!("`{written}` is no value")).help("write `true`")
        } else if matches!(written, "off" | "no" | "False" | "FALSE") {
            new(&format!("`{written}` is no value")).help("write `false`")
        } else {
            new("text needs quotes").label("no quotes").help(format!("write \"{written}\""))
        };
    }
    if starts("duplicate key") {
        return new(&format!("`{written}` is given twice"))
            .label("the second time")
            .help("keep one of the two; a table's keys all go below one [header]");
    }
    let before = place.source.text[..place.span.start].trim_end();
    if starts("key with no value") && before.ends_with(':') {
        let at = before.len() - 1;
        let place = Location { source: place.source.clone(), span: at..at + 1 };
        return Diagnostic::new(&place, "a key and its value are joined by `=`")
            .label("this is `:`");
    }
    if starts("key with no value") {
        return new("a key needs `=` and a value")
            .label("no `=` here")
            .help("write for example `seed = 1`; a table's header goes in brackets: [traffic]");
    }
    if starts("unclosed table") || starts("unclosed array table") {
        return new("the table's header is never closed").label("`]` is missing here");
    }
    if starts("unclosed array") || starts("unclosed inline table") {
        let close = if starts("unclosed array") { "]" } else { "}" };
        return new(&format!("a `{close}` is missing")).label("expected here");
    }
    if starts("missing comma") {
        return new("a comma is missing").label("expected here");
    }
    let after = &place.source.text[place.span.start..];
    let decimal = |after: &str| after.starts_with(|c: char| c.is_ascii_digit());
    if starts("unexpected key or value") && after.strip_prefix(',').is_some_and(decimal) {
        let place =
            Location { source: place.source.clone(), span: place.span.start..place.span.start + 1 };
        return Diagnostic::new(&place, "a number has a decimal point, not a comma")
            .help("several numbers are a list, in brackets: [4, 2]");
    }
    if starts("unexpected key or value") {
        return new("the line goes on after its value")
            .label("from here")
            .help("one value a line; numbers have a decimal point, lists go in brackets: [4, 2]");
    }
    if starts("invalid boolean") {
        return new("that is neither true nor false")
            .help("write `true` or `false`, in small letters");
    }
    if starts("unexpected leading zero") {
        return new("a number can't begin with 0").help("leave the leading zeros out");
    }
    if starts("invalid mantissa") || starts("invalid fraction") {
        return new("a decimal point needs a digit on both sides")
            .help("write for example 0.5 or 5.0");
    }
    if starts("invalid basic string") || starts("invalid literal string") {
        return new("the text's closing quote is missing").label("missing here");
    }
    if starts("missing escaped value") {
        return new("a backslash in \"text\" begins a special character")
            .help("write \\\\ for a backslash, or put the text in single quotes: '...'");
    }
    new(&format!("this is not TOML: {message}"))
}
