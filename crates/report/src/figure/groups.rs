//! Bars of series that are combinations of two things, such as patterns and routings, in groups.

use super::bars::{Bar, Group};
use super::curves::series_of;
use super::legend::{Legend, Sample};
use super::names;
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

/// A group for each figure, else for each first part of the series' names, if all combinations with
/// the others are there; otherwise each bar is a group of its own. The members of groups have the
/// colours of their names, and go into the legend.
pub(super) fn groups(values: &[Value], pens: &Pens, legend: &mut Legend) -> Vec<Group> {
    crossed(values, pens, legend).unwrap_or_else(|| {
        let bar = |it: &Value| {
            let name = names::joined(&[&it.figure, &it.series]);
            let name = if name.is_empty() { "unnamed" } else { &name };
            Group::of_one(name, it.value, it.whisker, BAR)
        };
        values.iter().map(bar).collect()
    })
}

fn crossed(values: &[Value], pens: &Pens, legend: &mut Legend) -> Option<Vec<Group>> {
    let parts: Vec<(String, String)> = if values.iter().all(|it| !it.figure.is_empty()) {
        values.iter().map(|it| (it.figure.clone(), it.series.clone())).collect()
    } else {
        let split = |it: &Value| {
            let parts = names::parts(&it.series);
            (parts.len() > 1).then(|| (parts[0].to_owned(), names::joined(&parts[1..])))
        };
        values.iter().map(split).collect::<Option<_>>()?
    };
    let firsts = series_of(parts.iter().map(|part| part.0.as_str()));
    let members = series_of(parts.iter().map(|part| part.1.as_str()));
    let all = firsts.len() * members.len() == parts.len();
    if !all || firsts.len() < 2 || members.len() < 2 {
        return None;
    }
    let pens = pens.among(members.iter().map(String::as_str));
    let look = |member: &str| pens.of(member).colour;
    for member in &members {
        legend.series(Sample::Bar(look(member)), member.clone());
    }
    let group = |name: &String| {
        let own = parts.iter().zip(values).filter(|(part, _)| part.0 == *name);
        let bar = |(part, it): (&(String, String), &Value)| Bar {
            series: part.1.clone(),
            value: it.value,
            whisker: it.whisker,
            colour: look(&part.1),
            note: String::new(),
        };
        Group { label: name.clone(), bars: own.map(bar).collect() }
    };
    Some(firsts.iter().map(group).collect())
}
