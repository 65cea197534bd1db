//! Names that scenarios can use: those that are built in, and those of other crates.

use std::sync::{Arc, OnceLock};

use flitlab_base::document::Reference;
use flitlab_routing::{agnostic, angara};
use flitlab_workload::traffic::{PATTERNS, PatternKind};

/// Names that a scenario may use besides those that are built in.
#[derive(Clone, Default)]
pub(super) struct Features {
    patterns: Vec<&'static PatternKind>,
    algorithms: Vec<agnostic::Algorithm>,
    angara: Vec<angara::Algorithm>,
    /// All keys with these features; made when it is first asked for.
    pub reference: Arc<OnceLock<Reference>>,
}

impl Features {
    /// All patterns that can be named, built-in ones first.
    pub fn patterns(&self) -> impl Iterator<Item = &'static PatternKind> + '_ {
        PATTERNS.into_iter().chain(self.patterns.iter().copied())
    }

    /// All algorithms of `[routing.agnostic]`, built-in ones first.
    pub fn algorithms(&self) -> impl Iterator<Item = agnostic::Algorithm> + '_ {
        agnostic::ALGORITHMS.into_iter().chain(self.algorithms.iter().copied())
    }

    /// All algorithms of `[routing.angara]`, built-in ones first.
    pub fn angara(&self) -> impl Iterator<Item = angara::Algorithm> + '_ {
        angara::ALGORITHMS.into_iter().chain(self.angara.iter().copied())
    }

    /// Adds a pattern; an error if its name is taken, as for the others.
    pub fn add_pattern(&mut self, pattern: &'static PatternKind) -> Result<(), String> {
        free("pattern", pattern.name, self.patterns().map(|known| known.name))?;
        self.patterns.push(pattern);
        self.reference = Arc::default();
        Ok(())
    }

    /// Adds an algorithm of `[routing.agnostic]`.
    pub fn add_algorithm(&mut self, algorithm: agnostic::Algorithm) -> Result<(), String> {
        free("algorithm", algorithm.name, self.algorithms().map(|known| known.name))?;
        self.algorithms.push(algorithm);
        self.reference = Arc::default();
        Ok(())
    }

    /// Adds an algorithm of `[routing.angara]`.
    pub fn add_angara(&mut self, algorithm: angara::Algorithm) -> Result<(), String> {
        free("algorithm", algorithm.name, self.angara().map(|known| known.name))?;
        self.angara.push(algorithm);
        self.reference = Arc::default();
        Ok(())
    }
}

impl std::fmt::Debug for Features {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let patterns = self.patterns.iter().map(|pattern| pattern.name);
        let algorithms = self.algorithms.iter().map(|algorithm| algorithm.name);
        let angara = self.angara.iter().map(|algorithm| algorithm.name);
        formatter.debug_list().entries(patterns.chain(algorithms).chain(angara)).finish()
    }
}

/// Refuses a name that another feature has.
fn free<'n>(
    noun: &str,
    name: &str,
    mut known: impl Iterator<Item = &'n str>,
) -> Result<(), String> {
    match known.any(|known| known == name) {
        true => Err(format!("there are two {noun}s called `{name}`: give yours another name")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Document, Scenario, Sweep, reference};
    use flitlab_workload::traffic::{Bind, Partners};

    const TEXT: &str = "[topology.torus]\ndimensions = [8]\n[traffic]\nload = 0.1\n";

    fn opposite(name: &'static str) -> PatternKind {
        PatternKind {
            name,
            doc: "to the other side.",
            known_as: &["antipode"],
            partners: Partners::Fixed,
            read: |_, _| {
                let bind: Bind = Arc::new(|nodes| {
                    let half = nodes.count() / 2;
                    Ok(Box::new(move |node: u32| (node + half) % (2 * half)))
                });
                Some(bind)
            },
        }
    }

    #[test]
    fn a_pattern_from_outside_is_read_swept_and_suggested() {
        let kind: &'static PatternKind = Box::leak(Box::new(opposite("opposite")));
        let read = |text: String| Document::parse("a.toml", &text).with_pattern(kind);
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
        assert!(
            document.features.reference().to_string().contains("\"opposite\": to the other side.")
        );
        assert!(!reference().to_string().contains("opposite"));
    }

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let kind: &'static PatternKind = Box::leak(Box::new(opposite("uniform")));
        let document = Document::parse("a.toml", &format!("{TEXT}pattern = 'uniform'\n"));
        let document = document.with_pattern(kind).with_algorithm(agnostic::Algorithm::NUE);
        let said = Scenario::read(&document.with_angara_algorithm(angara::Algorithm::BFS));
        let said = said.unwrap_err().plain();
        for name in ["two patterns called `uniform`", "algorithms called `nue`", "called `bfs`"] {
            assert!(said.contains(name), "{said}");
        }
    }
}
