//! Bars of series that are combinations of two things, such as patterns and routings, in groups.

use super::bars::{Bar, Group};
use super::legend::{Legend, Sample};
use super::names::{self, series_of};
use super::palette::BAR;
use super::style::Pens;

/// A bar with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    /// The figure that the series' curve is in, such as a pattern; may be empty.
    pub figure: String,
    /// The series, without what the figure is called.
    pub series: String,
    pub value: f64,
    pub whisker: Option<(f64, f64)>,
}

/// A group for each figure, else for each first part of the series' names or for all parts but the
/// last, if all combinations with the others are there; otherwise each bar is a group of its own. The members of groups have the
/// colours of their names, and go into the legend.
pub(super) fn groups(values: &[Value], pens: &Pens, legend: &mut Legend) -> Vec<Group> {
    let found = [Split::First, Split::Last]
        .into_iter()
        .find_map(|split| crossed(values, pens, legend, split));
    found.unwrap_or_else(|| {
        let bar = |it: &Value| {
            let name = names::joined(&[&it.figure, &it.series]);
            let name = if name.is_empty() { "unnamed" } else { &name };
            Group::of_one(name, it.value, it.whisker, BAR)
        };
        values.iter().map(bar).collect()
    })
}

/// Which part of names is taken off: the first, or the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    First,
    Last,
}

fn crossed(values: &[Value], pens: &Pens, legend: &mut Legend, split: Split) -> Option<Vec<Group>> {
    let parts: Vec<(String, String)> = if values.iter().all(|it| !it.figure.is_empty()) {
        values.iter().map(|it| (it.figure.clone(), it.series.clone())).collect()
    } else {
        let parts = |it: &Value| {
            let parts = names::parts(&it.series);
            let at = if split == Split::First { 1 } else { parts.len() - 1 };
            (parts.len() > 1).then(|| (names::joined(&parts[..at]), names::joined(&parts[at..])))
        };
        values.iter().map(parts).collect::<Option<_>>()?
    };
    let firsts = series_of(parts.iter().map(|part| part.0.as_str()));
    let members = series_of(parts.iter().map(|part| part.1.as_str()));
    let all = firsts.len() * members.len() == parts.len();
    if !all || firsts.len() < 2 || members.len() < 2 {
        return None;
    }
    let pens = pens.among(members.iter().map(String::as_str));
    let look = |member: &str| pens.of(member).colour;
    // There are fewer colours than there may be members: every other one of a colour is hollow.
    let is_hollow = |member: &str| {
        let before = members.iter().take_while(|it| *it != member);
        before.filter(|it| look(it) == look(member)).count() % 2 == 1
    };
    for member in &members {
        let sample = if is_hollow(member) { Sample::HollowBar } else { Sample::Bar };
        legend.series(sample(look(member)), member.clone());
    }
    let group = |name: &String| {
        let own = parts.iter().zip(values).filter(|(part, _)| part.0 == *name);
        let bar = |(part, it): (&(String, String), &Value)| Bar {
            series: part.1.clone(),
            value: it.value,
            whisker: it.whisker,
            colour: look(&part.1),
            note: String::new(),
            hollow: is_hollow(&part.1),
        };
        Group { label: name.clone(), bars: own.map(bar).collect() }
    };
    Some(firsts.iter().map(group).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_colour_are_told_apart() {
        let names: Vec<String> = (0..9).map(|number| format!("s{number}")).collect();
        let value = |figure: &str, series: &String| Value {
            figure: figure.into(),
            series: series.clone(),
            value: 1.0,
            whisker: None,
        };
        let values: Vec<Value> =
            ["a", "b"].iter().flat_map(|it| names.iter().map(|name| value(it, name))).collect();
        let mut legend = Legend::default();
        let groups = groups(&values, &Pens::new(names.iter().map(String::as_str)), &mut legend);
        for group in &groups {
            let mut looks: Vec<_> = group.bars.iter().map(|bar| (bar.colour, bar.hollow)).collect();
            assert!(looks.iter().filter(|look| look.1).count() == 2, "{looks:?}");
            looks.sort_unstable();
            looks.dedup();
            assert_eq!(looks.len(), 9);
        }
    }
}
