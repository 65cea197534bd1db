//! Kinds of values: how each is read, checked, described and written back.
//!
//! A kind is the one description of the values that a key takes. Reading, messages, the reference
//! page and the resolved scenario all use it, so they can't contradict each other.

mod description;
mod list;
mod number;
mod quantity;
mod text;
mod word;

pub use description::{Kind, Slot, both, out_of_range, quoted, wrong_type};
pub use list::report_repeated;
pub use list::{List, Listed};
pub use number::{Count, Flag, Number, Whole};
pub use number::{CountIn, LARGEST};
pub use quantity::{Quantity, flits, rate, size, time};
pub use quantity::{WordOr, clock_time, time_to};
pub use text::Text;
pub use word::Word;
