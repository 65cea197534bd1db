//! Names of a sweep's curves and figures.

/// The key that makes a curve.
pub const LOAD: &str = "traffic.load";

/// A key's value as it is named in a legend.
pub(super) fn part(key: &str, value: &str) -> String {
    if value.starts_with('{') {
        // A choice with its keys: the words say it all.
        let words = value.replace(['{', '}', '=', '"', '\''], " ").replace('_', " ");
        return words.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let says_it_all =
        value.starts_with(|c: char| c.is_alphabetic()) && !matches!(value, "true" | "false");
    let name = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
    if says_it_all { value.to_owned() } else { format!("{name} {value}") }
}
