//! What the fuzz targets run. The tests of flitlab include [`entries`] as well, and replay the corpus through it.

pub mod common;
pub mod entries;
#[path = "../../reference/mod.rs"]
pub mod reference;
