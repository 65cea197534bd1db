//! Adapters of a netlist that are no terminals.

/// The adapter inside a switch that does collective operations (SHARP), as `ibnetdiscover` calls
/// it. Applications neither run there nor send to it.
pub const AGGREGATION_NODE: &str = "Mellanox Technologies Aggregation Node";

/// Names of adapters that are left out, with a `*` for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaveOut(Vec<String>);

impl Default for LeaveOut {
    /// Leaves out [`AGGREGATION_NODE`]s.
    fn default() -> Self {
        Self(vec![AGGREGATION_NODE.into()])
    }
}

impl LeaveOut {
    /// Leaves out adapters whose description, or name in other lines, is one of these.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().collect())
    }

    /// Whether an adapter with one of these names is left out.
    pub(super) fn has<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> bool {
        names.into_iter().any(|name| self.0.iter().any(|pattern| is_like(name, pattern)))
    }

    /// The names that no adapter that was left out has.
    pub fn unmatched<'l>(&'l self, left_out: &[LeftOut]) -> Vec<&'l str> {
        let matches = |pattern: &str| {
            left_out.iter().any(|it| is_like(&it.name, pattern) || is_like(&it.id, pattern))
        };
        self.0.iter().map(String::as_str).filter(|pattern| !matches(pattern)).collect()
    }
}

/// A connected port of an adapter that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The adapter's description, or its name if it has none.
    pub name: String,
    /// The name by which other lines refer to it.
    pub id: String,
    /// Globally unique identifier of the adapter.
    pub guid: u64,
    /// Globally unique identifier of the port.
    pub port_guid: u64,
    /// Its local identifier; `None` if the netlist has none.
    pub lid: Option<u16>,
    /// The switch that it is plugged into.
    pub router: u32,
    /// The switch's port.
    pub router_port: u16,
}

/// Whether a name is as a pattern has it, in which a `*` stands for any text.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut name) = name.strip_prefix(begin) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        // The first place is the best one: it leaves the most for what follows.
        let Some((_, behind)) = name.split_once(part) else { return false };
        name = behind;
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (name, pattern, is) in [
            ("node1 HCA-1", "node1 HCA-1", true),
            ("node1 HCA-1", "node1", false),
            ("node1 HCA-1", "*HCA-1", true),
            ("node1 HCA-1", "node*", true),
            ("node1 HCA-1", "*1*1", true),
            ("node1 HCA-2", "*1*1", false),
            ("node1", "*1*1", false),
            ("ab", "*ab*b", false),
            ("aab", "a*ab", true),
            ("", "*", true),
            ("x", "**", true),
        ] {
            assert_eq!(is_like(name, pattern), is, "{name} {pattern}");
        }
    }
}
