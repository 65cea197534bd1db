//! A scenario as it is written, and what it may name.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use flitlab_base::document::{Diagnostic, Diagnostics, Reference, ShortForm, Toml, Value, quoted};
use flitlab_base::registry::Registry;

/// `[routing] rule = "ugal"` is the short form of a relation.
const RULE: ShortForm = ShortForm { table: "routing", key: "rule", inside: "relation" };

/// A scenario's text, with the values set on top of it, and the components that it may name.
///
/// Syntax errors do not make it fail: they are kept and reported, with all others, by
/// [`Scenario::read`](super::Scenario::read). Sweeps hand the registry on to their points.
#[derive(Clone, Debug)]
pub struct Document {
    toml: Toml,
    pub(super) registry: Registry,
    /// All keys that it may have, made when they are first asked for.
    pub(super) reference: Arc<OnceLock<Reference>>,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file can't be read, is no text, or is larger than any scenario.
    pub fn open(path: &Path) -> Result<Self, Diagnostics> {
        Toml::open(path).map(Self::of)
    }

    /// Takes a scenario's text. `path` is what messages call it; files that it names are looked for
    /// beside it, and its stem is the scenario's default name.
    pub fn parse(path: &str, text: &str) -> Self {
        Self::of(Toml::parse(path, text))
    }

    fn of(toml: Toml) -> Self {
        let mut toml = toml.with_short_form(RULE);
        name_each(&mut toml);
        Self { toml, registry: Registry::default(), reference: Arc::default() }
    }

    /// Returns this document, which may name the components of `registry`.
    #[must_use]
    pub fn with_registry(self, registry: &Registry) -> Self {
        Self { toml: self.toml, registry: registry.clone(), reference: Arc::default() }
    }

    /// Whether the document has a `[sweep]`.
    pub fn has_sweep(&self) -> bool {
        self.get("sweep").is_some()
    }
}

/// Says how `figures` and `[sweep.figures]` go together where a text has both: TOML allows one, and
/// the table has a key for what the other says.
fn name_each(toml: &mut Toml) {
    let Some(figures) = toml.get("sweep.figures") else { return };
    let each = match &figures.value {
        Value::Text(key) => quoted(key),
        _ => quoted("traffic.pattern"),
    };
    let is_of_figures = |problem: &&mut Diagnostic| {
        problem.message.ends_with("is given twice")
            && problem.place.as_ref().is_some_and(|place| place.text() == "figures")
    };
    for problem in toml.problems.iter_mut().filter(is_of_figures) {
        problem.help =
            Some(format!("keep the table [sweep.figures], and write there `each = {each}`"));
    }
}

impl Deref for Document {
    type Target = Toml;

    fn deref(&self) -> &Toml {
        &self.toml
    }
}

impl DerefMut for Document {
    fn deref_mut(&mut self) -> &mut Toml {
        &mut self.toml
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, Sweep, reference};
    use flitlab_base::package;
    use flitlab_base::registry::Row;
    use flitlab_traffic::{Bind, Partners, PatternKind};

    const TEXT: &str = "[topology.torus]\ndimensions = [8]\n[traffic]\nload = 0.1\n";

    static OPPOSITE: Row<PatternKind> = Row::new(
        "opposite",
        "to the other side.",
        PatternKind {
            partners: Partners::Fixed,
            read: |_, _| {
                let bind: Bind = Arc::new(|nodes| {
                    let half = nodes.count() / 2;
                    Ok(Box::new(move |node: u32| (node + half) % (2 * half)))
                });
                Some(bind)
            },
        },
    )
    .known_as(&["antipode"]);

    fn registry() -> Registry {
        Registry::default().with(package!(), &OPPOSITE).unwrap()
    }

    #[test]
    fn a_pattern_from_outside_is_read_swept_and_suggested() {
        let read = |text: String| Document::parse("a.toml", &text).with_registry(&registry());
        let document = read(format!("{TEXT}pattern = 'opposite'\n"));
        assert!(Scenario::read(&document).is_ok());
        let sweep = format!(
            "{TEXT}pattern = 'uniform'\n[sweep.grid]\ntraffic.pattern = ['uniform', 'opposite']\n"
        );
        assert_eq!(Sweep::read(&read(sweep)).unwrap().points.len(), 2);
        for wrong in ["oposite", "Antipode"] {
            let said = Scenario::read(&read(format!("{TEXT}pattern = '{wrong}'\n"))).unwrap_err();
            assert!(said.plain().contains("did you mean `opposite`?"), "{said}");
        }
        assert!(document.reference().to_string().contains("\"opposite\": to the other side."));
        assert!(!reference().to_string().contains("opposite"));
    }

    #[test]
    fn a_scenario_says_which_components_are_not_built_in_and_whose_they_are() {
        let text = format!("{TEXT}pattern = 'opposite'\n");
        let document = Document::parse("a.toml", &text).with_registry(&registry());
        let (_, resolved) = Scenario::read_resolved(&document).unwrap();
        let from = concat!("it comes from flitlab-scenario ", env!("CARGO_PKG_VERSION"));
        let comment = format!("# traffic.pattern.opposite is not built in: {from}\n");
        assert!(resolved.starts_with(&comment), "{resolved}");
        // Another version of the crate may send elsewhere.
        let later = flitlab_base::registry::Package { name: "flitlab-scenario", version: "99" };
        let later = Registry::default().with(later, &OPPOSITE).unwrap();
        let later = Document::parse("a.toml", &text).with_registry(&later);
        assert_ne!(Scenario::identity(&document), Scenario::identity(&later));
    }
}
