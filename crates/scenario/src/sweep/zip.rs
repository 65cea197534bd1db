//! `sweep.zip`: keys of the grid that take their values together.

use super::grid::Key;
use flitlab_base::document::{
    Diagnostic, Kind, Location, Node, Slot, Value, nearest, quoted, wrong_type,
};

/// Groups of keys, each with its place.
pub(super) struct Zip;

/// A group's keys, each with its place.
pub(super) type Group = Vec<(String, Location)>;

impl Kind for Zip {
    type Value = Vec<Group>;

    fn describe(&self) -> String {
        "a list of keys of the grid, or a list of such lists".into()
    }

    fn example(&self) -> String {
        "[\"router.buffer\", \"router.maximum_payload\"]".into()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Vec<Group>, Vec<Diagnostic>> {
        let Value::List(list) = &node.value else { return Err(wrong_type(self, slot, node)) };
        let nested = list.iter().any(|element| matches!(element.value, Value::List(_)));
        let groups = if nested { list.iter().collect() } else { vec![node] };
        groups.into_iter().map(|group| self.group(slot, group)).collect()
    }

    fn show(&self, groups: &Vec<Group>) -> String {
        let group = |group: &Group| {
            let keys: Vec<String> = group.iter().map(|(key, _)| quoted(key)).collect();
            format!("[{}]", keys.join(", "))
        };
        format!("[{}]", groups.iter().map(group).collect::<Vec<_>>().join(", "))
    }
}

impl Zip {
    fn group(&self, slot: Slot<'_>, node: &Node) -> Result<Group, Vec<Diagnostic>> {
        let Value::List(list) = &node.value else { return Err(wrong_type(self, slot, node)) };
        if list.len() < 2 {
            let problem = Diagnostic::new(&node.place, "zipping takes two keys or more");
            return Err(vec![problem.help(format!("write for example zip = {}", self.example()))]);
        }
        let key = |element: &Node| match &element.value {
            Value::Text(text) => Ok((text.trim().to_owned(), element.place.clone())),
            _ => Err(wrong_type(self, slot, element)),
        };
        list.iter().map(key).collect()
    }
}

/// Returns the mistakes between the groups and the grid.
pub(super) fn check(groups: &[Group], grid: &[Key]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for group in groups {
        let mut first: Option<&Key> = None;
        for (path, place) in group {
            if seen.contains(&path.as_str()) {
                problems.push(
                    Diagnostic::new(place, format!("`{path}` is zipped twice"))
                        .label("the second time"),
                );
                continue;
            }
            seen.push(path);
            let Some(key) = grid.iter().find(|key| key.path == *path) else {
                problems.push(unknown(path, place, grid));
                continue;
            };
            match first {
                None => first = Some(key),
                Some(first) if first.values.len() != key.values.len() => {
                    let counts = format!(
                        "`{}` has {} values and `{path}` {}",
                        first.path,
                        first.values.len(),
                        key.values.len()
                    );
                    problems.push(
                        Diagnostic::new(place, format!("{counts}: they can't be zipped"))
                            .help("zipped keys have as many values as each other"),
                    );
                }
                Some(_) => {}
            }
        }
    }
    problems
}

fn unknown(path: &str, place: &Location, grid: &[Key]) -> Diagnostic {
    let keys: Vec<&str> = grid.iter().map(|key| key.path.as_str()).collect();
    let problem = Diagnostic::new(place, format!("`{path}` is no key of [sweep.grid]"));
    match nearest(path, keys.iter().copied()) {
        Some(near) => problem.label(format!("did you mean `{near}`?")),
        None => problem.help(format!("[sweep.grid] has {}", keys.join(", "))),
    }
}
