//! The description of all keys of a scenario.

use std::sync::OnceLock;

use crate::purpose::Purpose;
use crate::{Document, schema, sweep};
use flitlab_base::document::{Reader, Reference};
use flitlab_base::registry::Registry;

/// The keys that this version reads. Made by the code that reads scenarios, walking without one, so
/// that it says what is read.
pub fn reference() -> &'static Reference {
    static BUILT_IN: OnceLock<Reference> = OnceLock::new();
    BUILT_IN.get_or_init(|| reference_with(&Registry::default()))
}

/// All keys, with the components of a registry.
pub(super) fn reference_with(registry: &Registry) -> Reference {
    let mut reader = Reader::documenting();
    schema::read(&mut reader, registry, Purpose::Run);
    sweep::read_table(&mut reader);
    reader.into_reference()
}

impl Document {
    /// All keys that this document may have.
    pub(super) fn reference(&self) -> &Reference {
        self.reference.get_or_init(|| reference_with(&self.registry))
    }
}
