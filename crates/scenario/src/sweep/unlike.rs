//! Series of one figure that differ in what decides on their results, and that the sweep does not
//! name: virtual channels, buffers, rates, packets.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Point, Sweep};
use crate::resolved::Resolved;

/// What series have more or less of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Virtual channels that packets take.
    VirtualChannels,
    /// Room for flits.
    Buffers,
    /// Flits a time.
    Rates,
    /// Flits of a packet, and bytes of a flit.
    Packets,
}

impl Resource {
    /// In words, as the beginning of a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::VirtualChannels => "virtual channels",
            Self::Buffers => "buffers",
            Self::Rates => "rates",
            Self::Packets => "packets",
        }
    }

    /// The keys that give it; the last part of a path is enough.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::VirtualChannels => &["router.virtual_channels", "lanes"],
            Self::Buffers => &["router.buffer", "output_buffer", "adapter.injection_buffer"],
            Self::Rates => &[
                "link.rate",
                "rates",
                "router.crossbar_speedup",
                "adapter.injection_rate",
                "adapter.ejection_rate",
            ],
            Self::Packets => &[
                "router.flit",
                "router.maximum_payload",
                "router.header_flits",
                "router.checksum_flits",
            ],
        }
    }

    fn is_given_by(self, path: &str) -> bool {
        let is = |key: &&str| {
            path.strip_suffix(*key).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        // Rates of kinds of cables are a table.
        self.keys().iter().any(|key| is(key) || path.contains(&format!(".{key}.")))
    }
}

/// Series of the same figures that differ in one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unlike {
    /// What they differ in.
    pub resource: Resource,
    /// The figures, in the sweep's order; an empty name if all curves are in one.
    pub figures: Vec<String>,
    /// The series by what they have, in the sweep's order.
    pub groups: Vec<UnlikeGroup>,
    /// The key and the value with which a series of tables would take more virtual channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Series that have the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnlikeGroup {
    /// What they have, in words.
    pub has: String,
    /// Their names in the figure.
    pub series: Vec<String>,
}

/// The keys of one series of a figure that give its resources.
#[derive(Clone, Debug)]
pub(super) struct KeysOfSeries {
    figure: String,
    series: String,
    keys: Vec<(String, String)>,
}

impl KeysOfSeries {
    pub fn new(point: &Point, read: &Resolved) -> Self {
        let resources = [Resource::Buffers, Resource::Rates, Resource::Packets];
        // Rates of kinds of cables show in that of the link.
        let is_wanted = |path: &str| {
            !path.starts_with("topology.")
                && resources.iter().any(|resource| resource.is_given_by(path))
        };
        let keys = read.keys.iter().filter(|(path, _)| is_wanted(path)).cloned().collect();
        Self { figure: point.figure.clone(), series: point.series_in_figure(), keys }
    }

    fn is_of(&self, point: &Point) -> bool {
        self.figure == point.figure && self.series == point.series_in_figure()
    }
}

/// Notes the keys of a point's series, if it is the first of its points.
pub(super) fn note(all: &mut Vec<KeysOfSeries>, point: &Point, read: &Resolved) {
    // Points of a series follow each other, or those of one load do.
    if !all.iter().rev().any(|keys| keys.is_of(point)) {
        all.push(KeysOfSeries::new(point, read));
    }
}

/// Compares the keys of series, where they have one preset of routers. What the sweep gives itself
/// is no surprise.
pub(super) fn of_keys(all: &[KeysOfSeries], given: &[String]) -> Vec<Unlike> {
    let mut found = Vec::new();
    for resource in [Resource::Buffers, Resource::Rates, Resource::Packets] {
        if given.iter().any(|path| resource.is_given_by(path)) {
            continue;
        }
        for figure in figures(all.iter().map(|keys| keys.figure.as_str())) {
            let own: Vec<&KeysOfSeries> = all.iter().filter(|it| it.figure == figure).collect();
            let value = |keys: &KeysOfSeries, path: &str| {
                keys.keys.iter().find(|key| key.0 == path).map(|key| key.1.clone())
            };
            let mut paths: Vec<&str> =
                own.iter().flat_map(|it| &it.keys).map(|key| key.0.as_str()).collect();
            paths.retain(|path| resource.is_given_by(path));
            paths.sort_unstable();
            paths.dedup();
            paths.retain(|path| own.iter().all(|it| value(it, path).is_some()));
            paths.retain(|path| own.iter().any(|it| value(it, path) != value(own[0], path)));
            if paths.is_empty() {
                continue;
            }
            let series = own.iter().map(|keys| {
                let values = paths.iter().filter_map(|path| Some((path, value(keys, path)?)));
                let values = values
                    .map(|(path, value)| format!("{path} {}", value.trim_matches(['"', '\''])));
                (values.collect::<Vec<_>>().join(", "), keys.series.clone())
            });
            push(&mut found, resource, (figure, series, None));
        }
    }
    found
}

impl Sweep {
    /// Series of one figure that differ in virtual channels, buffers, rates or packets, though the
    /// sweep does not say so. Routes are made and looked at as long as there is time, for the
    /// virtual channels of series that have others.
    pub fn unlike(&self, patience: Duration) -> Vec<Unlike> {
        let begun = Instant::now();
        let mut found = Vec::new();
        let is_given = |path: &String| Resource::VirtualChannels.is_given_by(path);
        let is_given = self.given.iter().any(is_given);
        for figure in figures(self.points.iter().map(|point| point.figure.as_str())) {
            let mut firsts: Vec<&Point> = Vec::new();
            for point in self.points.iter().filter(|point| point.figure == figure) {
                if !firsts.iter().rev().any(|first| first.series == point.series) {
                    firsts.push(point);
                }
            }
            // Where the sweep says how many there are, series are compared that have as many.
            let asked = |point: &&Point| {
                let all = point.scenario.parameters.virtual_channels;
                is_given.then_some((all, point.scenario.network.routing.vcs()))
            };
            firsts.sort_by_key(asked);
            for own in firsts.chunk_by(|one, next| asked(one) == asked(next)) {
                let mut series = Vec::new();
                let mut advice = None;
                for point in own.iter().filter(|_| own.len() > 1) {
                    if begun.elapsed() > patience {
                        return found;
                    }
                    let Some(vcs) = point.scenario.vc_use() else { continue };
                    let has = format!("{} of {}", vcs.used, vcs.all);
                    series.push((has, point.series_in_figure()));
                    advice = advice.or(point.scenario.spread_to_advise());
                }
                let advice = advice.map(|value| format!("routing.agnostic.spread = {:?}", value.0));
                let of_figure = (figure, series.into_iter(), advice);
                push(&mut found, Resource::VirtualChannels, of_figure);
            }
        }
        found.extend(self.unlike_keys.iter().cloned());
        found
    }
}

/// Different figures, in their order.
fn figures<'p>(of_points: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    let mut figures: Vec<&str> = Vec::new();
    for figure in of_points {
        if !figures.iter().rev().any(|other| *other == figure) {
            figures.push(figure);
        }
    }
    figures
}

/// Adds what series of a figure have, if it is not the same.
fn push(
    found: &mut Vec<Unlike>,
    resource: Resource,
    (figure, series, advice): (&str, impl Iterator<Item = (String, String)>, Option<String>),
) {
    let mut groups: Vec<UnlikeGroup> = Vec::new();
    for (has, series) in series {
        match groups.iter_mut().find(|group| group.has == has) {
            Some(group) => group.series.push(series),
            None => groups.push(UnlikeGroup { has, series: vec![series] }),
        }
    }
    if groups.len() < 2 {
        return;
    }
    let same = |other: &&mut Unlike| other.resource == resource && other.groups == groups;
    match found.iter_mut().find(same) {
        Some(other) => other.figures.push(figure.to_owned()),
        None => {
            found.push(Unlike { resource, figures: vec![figure.to_owned()], groups, advice });
        }
    }
}
