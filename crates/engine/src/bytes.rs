//! How many bytes a value takes beside itself.

/// The bytes of some arrays of a value, by the names of their fields.
macro_rules! bytes_of {
    ($of:expr; $($array:ident),+) => { 0 $(+ size_of_val(&*$of.$array))+ };
}
pub(crate) use bytes_of;
