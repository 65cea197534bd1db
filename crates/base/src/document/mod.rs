//! TOML texts with places, and the reading of their keys.
//!
//! A [`Toml`] is a text as a tree of values, each with the place where it is written. A [`Reader`]
//! walks its tables key by key; a [`Kind`] describes the values that a key takes. Each mistake
//! becomes a [`Diagnostic`] with a caret below its place.
//!
//! The module itself has no keys. The code that reads a key gives its name, its kind and its
//! purpose. The [`Reference`], the page that describes all keys, is made from the same words.

mod choice;
mod complaints;
mod diagnostic;
mod file;
mod kind;
mod nearest;
pub mod range;
mod reader;
mod reference;
mod short_form;
mod syntax;
mod tables;
mod tree;
mod value;

pub use choice::{Choice, Variant, plain, plain_row, row_with_keys, with_keys};
pub use diagnostic::{Diagnostic, Diagnostics, Location, Source};
pub use file::{InputFile, beside, hexadecimal, read_other};
pub use kind::{
    Count, Flag, Kind, List, Listed, Number, Quantity, Slot, Text, Whole, flits, rate, size, time,
};
pub use kind::{
    CountIn, LARGEST, Word, WordOr, both, clock_time, out_of_range, quoted, report_repeated,
    time_to, wrong_type,
};
pub use nearest::nearest;
pub use reader::Reader;
pub use reader::{Hints, Missed, Scope, join};
pub(crate) use reference::Presence;
pub use reference::{Item, comment, describe, write_items};
pub use reference::{KeyDoc, Reference, ReferencePart, VariantDoc};
pub use short_form::ShortForm;
pub use tree::Toml;
pub use value::{Entry, Node, Table, Value};
