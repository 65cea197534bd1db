//! Differences between a sweep's series that the sweep does not name, in words.

use super::unlike::list;
use flitlab::scenario::Unasked;

/// Keys that are named, if they differ; of the others the number.
const NAMED: [&str; 2] = ["link.rate", "router.maximum_payload"];

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
    format!("{}: {} ({})", group.preset, list(&group.series), parts.join(", "))
}
