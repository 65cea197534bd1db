//! The description of all keys of a scenario.

use std::sync::OnceLock;

use super::{Features, Purpose, schema, sweep};
use flitlab_base::document::{Reader, Reference};

/// The keys that this version reads. Made by the code that reads scenarios, walking without one, so
/// that it says what is read.
pub fn reference() -> &'static Reference {
    static BUILT_IN: OnceLock<Features> = OnceLock::new();
    BUILT_IN.get_or_init(Features::default).reference()
}

impl Features {
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
