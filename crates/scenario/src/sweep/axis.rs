//! The nesting of a sweep: axes, each a list of steps, each some keys set to values.

use std::collections::BTreeSet;

use super::{cell, grid::Key, named};
use crate::{
    Document,
    series::{self, LOAD},
};
use flitlab_base::document::{Location, Node, Value};

/// A key set to a value.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub path: String,
    pub key_place: Location,
    /// The value as TOML, as written.
    pub text: String,
    pub node: Node,
    /// What points.csv calls the value, if not as it is written.
    pub name: Option<String>,
}

impl Setting {
    /// The value as written, texts without quotes.
    fn plain(&self) -> String {
        match &self.node.value {
            Value::Text(text) => text.clone(),
            _ => self.text.clone(),
        }
    }

    pub fn assign(&self, document: &mut Document) {
        let path: Vec<&str> = self.path.split('.').collect();
        document.assign(&path, &self.key_place, self.node.clone());
    }
}

/// One stop of an axis.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The part of a series' name that comes from it, if one was given.
    pub name: Option<String>,
    pub settings: Vec<Setting>,
}

/// Keys that change together.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub steps: Vec<Step>,
}

/// The values of one point.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Key and value, in the order of nesting.
    pub assignments: Vec<(String, String)>,
    /// Settings of the grid alone, values as points.csv calls them.
    pub of_grid: Vec<(String, String)>,
    pub series: String,
}

impl Axis {
    fn has(&self, path: &str) -> bool {
        self.steps.iter().any(|step| step.settings.iter().any(|setting| setting.path == path))
    }

    /// Whether its steps are told apart in curves' names: they are not if they make the curve.
    pub fn names_series(&self) -> bool {
        !self.has(LOAD)
    }
}

/// The axes of a grid in which groups of keys are zipped, the loads last. Each group has as many
/// values of each key.
pub(super) fn of_grid(keys: &[Key], groups: &[Vec<String>]) -> Vec<Axis> {
    let mut done = BTreeSet::new();
    let mut axes = Vec::new();
    for key in keys {
        let group = groups.iter().find(|group| group.contains(&key.path));
        let member = |other: &&Key| match group {
            Some(group) => group.contains(&other.path),
            None => other.path == key.path,
        };
        let members: Vec<&Key> = keys.iter().filter(member).collect();
        if !done.insert(members[0].path.as_str()) {
            continue;
        }
        let names: Vec<_> = members.iter().map(|key| cell::names(key)).collect();
        let step = |number: usize| {
            let settings = members.iter().zip(&names).map(|(key, names)| {
                let (text, node) = &key.values[number];
                Setting {
                    path: key.path.clone(),
                    key_place: key.key_place.clone(),
                    text: text.clone(),
                    node: node.clone(),
                    name: names.as_ref().map(|names| names[number].clone()),
                }
            });
            Step { name: None, settings: settings.collect() }
        };
        axes.push(Axis { steps: (0..key.values.len()).map(step).collect() });
    }
    axes.sort_by_key(|axis| !axis.names_series());
    axes
}

/// Sets the values of one point in a document, the last axis fastest.
pub(super) fn choose(axes: &[Axis], number: usize, document: &mut Document) -> Choice {
    let mut choice = Choice::default();
    let mut parts = Vec::new();
    let mut stride: usize = axes.iter().map(|axis| axis.steps.len()).product();
    for axis in axes {
        stride /= axis.steps.len();
        let step = &axis.steps[number / stride % axis.steps.len()];
        if step.name.is_some() {
            named::assign(&step.settings, document);
        } else {
            step.settings.iter().for_each(|setting| setting.assign(document));
        }
        for setting in &step.settings {
            let value = setting.plain();
            if axis.names_series() && step.name.is_none() {
                parts.push(series::part(&setting.path, &value));
            }
            if step.name.is_none() {
                let called = setting.name.as_ref().unwrap_or(&value);
                choice.of_grid.push((setting.path.clone(), called.clone()));
            }
            choice.assignments.push((setting.path.clone(), value));
        }
        parts.extend(step.name.clone());
    }
    choice.series = parts.join(", ");
    choice
}
