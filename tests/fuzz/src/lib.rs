//! What the fuzz targets run. The tests of flitlab include [`entries`] as well, and replay the
//! corpus through it.

pub mod entries;
