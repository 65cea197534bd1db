//! The description of all keys of a scenario.

use std::sync::OnceLock;

use super::{Purpose, schema, sweep};
use crate::document::{Reader, Reference};

/// The keys that this version reads. Made by the code that reads scenarios, walking without one, so that it says what
/// is read.
#[must_use]
pub fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let mut reader = Reader::documenting();
        schema::read(&mut reader, Purpose::Run);
        sweep::read_table(&mut reader);
        reader.into_reference()
    })
}
