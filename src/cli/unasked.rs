//! Differences between a sweep's series that the sweep does not name, in words.

use flitlab::scenario::Unasked;

/// Keys that are named, if they differ; of the others the number.
const NAMED: [&str; 2] = ["link.rate", "router.maximum_payload"];

/// The most series of a group that are named.
const MAX_SERIES: usize = 4;

/// The preset that makes all alike: on any fabric it does, and it has the bubble that keeps rings
/// from deadlock.
const ALIKE: &str = "angara";

/// Describes the differences, and the key that removes them; `None` if there are none.
pub(super) fn text(groups: &[Unasked]) -> Option<String> {
    let texts: Vec<String> = groups.iter().map(group).collect();
    (!texts.is_empty()).then(|| {
        format!(
            "routers and links differ, since their defaults follow from topology and routing: {}; --set \
             router.preset={ALIKE} makes all of them alike, as each key does that the scenario gives",
            texts.join("; ")
        )
    })
}

fn group(group: &Unasked) -> String {
    let named = group.values.iter().filter(|(key, _)| NAMED.contains(&key.as_str()));
    let mut parts: Vec<String> =
        named.map(|(key, value)| format!("{key} {}", value.trim_matches('"'))).collect();
    match group.values.len() - parts.len() {
        0 => {}
        1 => parts.push("one more key".into()),
        more => parts.push(format!("{more} more keys")),
    }
    let named = group.series.iter().filter(|name| !name.is_empty()).take(MAX_SERIES);
    let mut series: Vec<&str> = named.map(String::as_str).collect();
    let more = format!("{} more", group.series.len() - series.len());
    if series.len() < group.series.len() {
        series.push(&more);
    }
    format!("{}: {} ({})", group.preset, series.join(", "), parts.join(", "))
}
