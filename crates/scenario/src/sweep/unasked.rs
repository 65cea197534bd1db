//! Differences between the points of a sweep that the sweep does not name: defaults that follow
//! from what it varies.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{named, point::Point, table::SweepTable};
use crate::Document;
use crate::resolved::Resolved;

/// The tables whose defaults follow from the topology and the routing, by the preset that goes with
/// them.
const TABLES: [&str; 3] = ["router", "link", "adapter"];

/// The key that all of these defaults follow from.
pub(super) const PRESET: &str = "router.preset";

/// Series that have one preset of routers, links and adapters where others of the sweep have
/// another, unasked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unasked {
    /// The preset that follows from their topology and routing.
    pub preset: &'static str,
    /// The series' names, in the sweep's order: those in their figures if these are enough to tell
    /// which series is meant.
    pub series: Vec<String>,
    /// Path and value of each key in which these differ from the others, the sweep's own keys left
    /// out.
    pub values: Vec<(String, String)>,
}

/// A preset, the series that have it, and the keys of its first point. A series has its name in its
/// figure, and its whole name.
type OfPreset = (&'static str, Vec<[String; 2]>, Vec<(String, String)>);

/// Compares the resolved keys of points.
#[derive(Default)]
pub(super) struct Comparison {
    /// The first point's, in so far as all others have the same.
    common: Option<BTreeMap<String, String>>,
    all: BTreeSet<String>,
    presets: Vec<OfPreset>,
}

impl Comparison {
    pub fn add(&mut self, point: &Point, read: &Resolved) {
        self.all.extend(read.keys.iter().map(|(path, _)| path.clone()));
        match &mut self.common {
            None => self.common = Some(read.keys.iter().cloned().collect()),
            Some(common) => {
                let own: BTreeMap<&str, &str> =
                    read.keys.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
                common.retain(|path, text| own.get(path.as_str()) == Some(&text.as_str()));
            }
        }
        let preset = point.scenario.preset;
        let at = self.presets.iter().position(|(other, ..)| *other == preset);
        let at = at.unwrap_or_else(|| {
            self.presets.push((preset, Vec::new(), read.keys.clone()));
            self.presets.len() - 1
        });
        let series = &mut self.presets[at].1;
        let names = [point.series_in_figure(), point.series.clone()];
        if !series.contains(&names) {
            series.push(names);
        }
    }

    /// The keys that are not the same in all points, though neither the document nor the sweep says
    /// so.
    pub fn implied(&self, document: &Document, sweep: &SweepTable) -> BTreeSet<String> {
        let given = replaced(sweep);
        let chosen =
            |path: &str| named::choice(path).is_some_and(|(it, _)| document.get(it).is_some());
        let common = self.common.iter().flatten().map(|(path, _)| path).collect::<BTreeSet<_>>();
        let varies = |path: &&String| {
            let written = document.get(path).is_some() || chosen(path);
            !common.contains(path) && !written && !is_given(path, &given)
        };
        self.all.iter().filter(varies).cloned().collect()
    }

    /// Whether all points have the same preset.
    pub fn has_one_preset(&self) -> bool {
        self.presets.len() < 2
    }

    /// The groups of series that differ in their presets; none if all have one, or the sweep gives
    /// it.
    pub fn unasked(self, sweep: &SweepTable) -> Vec<Unasked> {
        let given = given(sweep);
        if self.presets.len() < 2 || is_given(PRESET, &given) {
            return Vec::new();
        }
        let common = self.common.unwrap_or_default();
        let has = |(_, series, _): &OfPreset, name: &String| series.iter().any(|it| it[0] == *name);
        let mut names = self.presets.iter().flat_map(|(_, series, _)| series).map(|it| &it[0]);
        let is_of_one = |name| self.presets.iter().filter(|of| has(of, name)).count() == 1;
        let in_figure = names.all(is_of_one);
        let groups = self.presets.into_iter().map(|(preset, series, keys)| {
            let differs = |(path, _): &(String, String)| {
                let table = path.split('.').next().unwrap_or_default();
                TABLES.contains(&table)
                    && path != PRESET
                    && !common.contains_key(path)
                    && !is_given(path, &given)
            };
            let mut named: Vec<String> = Vec::new();
            for [short, whole] in series {
                let name = if in_figure { short } else { whole };
                if !named.contains(&name) {
                    named.push(name);
                }
            }
            Unasked { preset, series: named, values: keys.into_iter().filter(differs).collect() }
        });
        groups.collect()
    }
}

/// The paths that the sweep sets.
pub(super) fn given(sweep: &SweepTable) -> Vec<String> {
    let series = sweep.series.iter().flat_map(|step| &step.settings).map(|it| it.path.clone());
    sweep.grid.iter().map(|key| key.path.clone()).chain(series).collect()
}

/// Whether a path is one of them, or lies below one.
fn is_given(path: &str, given: &[String]) -> bool {
    given.iter().any(|outer| {
        path.strip_prefix(outer.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The paths whose values in the document itself the sweep replaces.
pub(super) fn replaced(sweep: &SweepTable) -> Vec<String> {
    given(sweep).iter().map(|path| named::replaced(path).to_owned()).collect()
}
