//! What scenarios can name: what is built in, and what another crate brings along.

use std::sync::{Arc, OnceLock};

use super::{Purpose, schema, sweep};
use crate::document::{Reader, Reference};
use crate::traffic::{PATTERNS, PatternKind};

/// Patterns that a scenario may name besides the built-in ones.
#[derive(Clone, Default)]
pub(super) struct Features {
    patterns: Vec<&'static PatternKind>,
    /// Made when it is first asked for.
    reference: Arc<OnceLock<Reference>>,
}

impl Features {
    /// All patterns that can be named, built-in ones first.
    pub fn patterns(&self) -> impl Iterator<Item = &'static PatternKind> + '_ {
        PATTERNS.into_iter().chain(self.patterns.iter().copied())
    }

    /// Adds a pattern; why it can't be added, if its name is taken.
    pub fn add_pattern(&mut self, pattern: &'static PatternKind) -> Result<(), String> {
        let name = pattern.name;
        if self.patterns().any(|known| known.name == name) {
            return Err(format!("there are two patterns called `{name}`: give yours another name"));
        }
        self.patterns.push(pattern);
        self.reference = Arc::default();
        Ok(())
    }

    /// All keys, with these features.
    pub fn reference(&self) -> &Reference {
        self.reference.get_or_init(|| {
            let mut reader = Reader::documenting();
            schema::read(&mut reader, self, Purpose::Run);
            sweep::read_table(&mut reader);
            reader.into_reference()
        })
    }
}

impl std::fmt::Debug for Features {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.patterns.iter().map(|pattern| pattern.name)).finish()
    }
}

/// The keys that this version reads. Made by the code that reads scenarios, walking without one, so that it says what
/// is read.
#[must_use]
pub fn reference() -> &'static Reference {
    static BUILT_IN: OnceLock<Features> = OnceLock::new();
    BUILT_IN.get_or_init(Features::default).reference()
}
