//! What is measured, and for how long.

mod settings;

pub use settings::Settings;
