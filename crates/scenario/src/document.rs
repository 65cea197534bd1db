//! A scenario as it is written, and what it may name.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::Features;
use flitlab_base::document::{Diagnostic, Diagnostics, Toml};
use flitlab_routing::{agnostic, angara};
use flitlab_workload::traffic::PatternKind;

/// A scenario's text, with the values set on top of it, and the names that it may use besides those
/// that are built in.
///
/// Syntax errors do not make it fail: they are kept and reported, with all others, by
/// [`Scenario::read`](super::Scenario::read). Sweeps hand the features on to their points.
#[derive(Clone, Debug)]
pub struct Document {
    toml: Toml,
    pub(super) features: Features,
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
        Self { toml, features: Features::default() }
    }

    /// Returns this document, which may name this pattern too. A name that another pattern has is
    /// reported when the scenario is read.
    #[must_use]
    pub fn with_pattern(mut self, pattern: &'static PatternKind) -> Self {
        let added = self.features.add_pattern(pattern);
        self.note(added)
    }

    /// Returns this document, whose `[routing.agnostic]` may name this algorithm too. A name that
    /// another algorithm has is reported when the scenario is read.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: agnostic::Algorithm) -> Self {
        let added = self.features.add_algorithm(algorithm);
        self.note(added)
    }

    /// Returns this document, whose `[routing.angara]` may name this algorithm too. A name that
    /// another algorithm has is reported when the scenario is read.
    #[must_use]
    pub fn with_angara_algorithm(mut self, algorithm: angara::Algorithm) -> Self {
        let added = self.features.add_angara(algorithm);
        self.note(added)
    }

    /// Keeps what is wrong with a feature, to be reported with all other mistakes.
    fn note(mut self, added: Result<(), String>) -> Self {
        if let Err(message) = added {
            let problem = Diagnostic { message, label: String::new(), place: None, help: None };
            self.toml.problems.push(problem);
        }
        self
    }

    /// Whether the document has a `[sweep]`.
    pub fn has_sweep(&self) -> bool {
        self.get("sweep").is_some()
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
