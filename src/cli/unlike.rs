//! Differences between the series of a figure, and between two results, in virtual channels,
//! buffers, rates and packets, in words.

use std::time::Duration;

use flitlab::scenario::{Document, Resource, Scenario, Sweep, Unlike, UnlikeGroup};

/// How long routes are made only to know how many virtual channels they take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The most names of a list.
const NAMED: usize = 4;

/// Describes the differences, a sentence each.
pub(super) fn texts(found: &[Unlike]) -> Vec<String> {
    found.iter().map(text).collect()
}

fn text(unlike: &Unlike) -> String {
    let groups: Vec<String> = unlike.groups.iter().map(group).collect();
    let names: Vec<&str> =
        unlike.figures.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    let place = match names[..] {
        [] => String::new(),
        _ => format!(" in {}", list(&names)),
    };
    let mut text = format!("{} differ{place}: {}", unlike.resource.title(), groups.join("; "));
    if unlike.resource == Resource::VirtualChannels {
        text += "; packets with more of them have more buffers, and pass each other more easily";
    }
    if let Some(key) = &unlike.advice {
        text += &format!("; {key} spreads the packets of a table over all that it may take");
    }
    text
}

fn group(group: &UnlikeGroup) -> String {
    format!("{} ({})", group.has, list(&group.series))
}

/// The first names of series or figures, and how many more there are. Commas part names, so a name
/// that has one is quoted.
pub(super) fn list(names: &[impl AsRef<str>]) -> String {
    let one = |name: &str| match name {
        "" => "the scenario".to_owned(),
        name if name.contains(',') => format!("`{name}`"),
        name => name.to_owned(),
    };
    let mut listed: Vec<String> = names.iter().take(NAMED).map(|it| one(it.as_ref())).collect();
    if listed.len() < names.len() {
        listed.push(format!("{} more", names.len() - listed.len()));
    }
    listed.join(", ")
}

/// The virtual channels that the packets of a result's scenario take, of those that there are; of a
/// sweep each different number once, in its order. `None` if the scenario can't be read any more,
/// or if its virtual channels have a purpose each.
pub(super) fn vcs_used(document: &Document) -> Option<String> {
    let begun = std::time::Instant::now();
    let scenarios: Vec<Scenario> = if document.has_sweep() {
        let sweep = Sweep::read_without_tables(document).ok()?;
        sweep.points.into_iter().map(|point| point.scenario).collect()
    } else {
        vec![Scenario::read(document).ok()?]
    };
    let mut used: Vec<String> = Vec::new();
    for scenario in &scenarios {
        if begun.elapsed() > PATIENCE {
            return None;
        }
        let vcs = scenario.vc_use()?;
        let text = format!("{} of {}", vcs.used, vcs.all);
        if !used.contains(&text) {
            used.push(text);
        }
    }
    Some(used.join(", "))
}
