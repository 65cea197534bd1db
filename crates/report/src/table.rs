//! Columns of result files: name, unit, title, meaning, role and value.
//!
//! A kind of row is declared once, with [`table!`]: the structure, its cells in CSV and JSON, the
//! titles of the page, the values that can be compared, means, and the reference of the files are
//! all made from that declaration.
//!
//! The unit is in the column's name and the value is a plain number. Times are whole picoseconds in
//! memory and decimal nanoseconds or microseconds in files, without loss up to 10^15 ps (1000 s).
//! Fractions and rates are rounded to six decimals, so that a file has the same bytes wherever it
//! is written. A value that does not exist is an empty cell, and null in JSON.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::num::{ParseFloatError, ParseIntError};
use std::str::FromStr;

use serde::Serialize;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use super::spreadsheet::harmless;
use flitlab_base::narrow::{rounded, try_rounded};
use flitlab_base::units::Picoseconds;

/// The purpose of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Tells which point a row belongs to, or how it ended.
    Label,
    /// How much was offered: what curves are drawn over.
    Load,
    /// A measured time of packets or messages. Past saturation it depends on how long was
    /// simulated.
    Latency,
    /// A measured rate, or another value that holds past saturation, too.
    Throughput,
    /// Of workloads that end, or of what happened once in a run.
    Completion,
    /// The half width of the 95% confidence interval of the value that has the same name without
    /// `ci95`.
    Interval,
    /// How much was simulated, or a number of things in it.
    Count,
}

impl Role {
    /// Whether it is a measured value, which can be compared and averaged.
    pub fn is_measured(self) -> bool {
        matches!(self, Self::Latency | Self::Throughput | Self::Completion)
    }
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Count,
    /// Numbers, of which a file may have some without a fraction.
    Number,
    Text,
}

/// A column of the rows `R`.
#[derive(Debug)]
pub struct Column<R> {
    /// In files.
    pub name: &'static str,
    /// For people, without its unit.
    pub title: &'static str,
    /// In one sentence or two; starts with a space for each line that it is written in.
    pub(super) meaning: &'static str,
    /// Empty if it has none.
    pub unit: &'static str,
    /// The end of the name, which tells the unit.
    pub(super) suffix: &'static str,
    /// Decimals that are worth reading.
    pub decimals: usize,
    pub role: Role,
    /// What its values are.
    pub kind: Kind,
    /// Whether it is shown without being asked for.
    pub usual: bool,
    /// Whether each row must have a value.
    pub(super) given: bool,
    /// The value in a row.
    pub cell: fn(&R) -> Cell,
    /// Puts the value of a cell's text into a row, or tells what is wrong with the text.
    pub(super) read: fn(&mut R, &str) -> Result<(), String>,
}

impl<R> Column<R> {
    /// A plain number that stands in no file.
    pub(super) const fn of_no_row(
        name: &'static str,
        title: &'static str,
        role: Role,
        cell: fn(&R) -> Cell,
    ) -> Self {
        let Unit { text: unit, suffix, decimals } = Number::UNIT;
        let (kind, meaning, usual, given) = (Kind::Number, title, true, false);
        let read = |_: &mut R, _: &str| Ok(());
        Self { name, title, meaning, unit, suffix, decimals, role, kind, usual, given, cell, read }
    }

    /// The value in a row that is written.
    pub(super) fn written<E: serde::ser::Error>(&self, row: &R) -> Result<Cell, E> {
        match (self.cell)(row) {
            Cell::Empty if self.given => {
                Err(E::custom(format!("`{}` is not a finite number", self.name)))
            }
            cell => Ok(cell),
        }
    }

    /// Returns the meaning of its values, in a sentence or two.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim()
    }

    /// The name without its unit.
    pub fn stem(&self) -> &'static str {
        self.name.strip_suffix(self.suffix).unwrap_or(self.name)
    }

    /// The title with its unit.
    pub fn full_title(&self) -> String {
        if self.unit.is_empty() {
            self.title.into()
        } else {
            format!("{} ({})", self.title, self.unit)
        }
    }

    /// The name of the column that holds the half width of its confidence interval, if there is
    /// one.
    pub fn interval(&self) -> String {
        format!("{}_ci95{}", self.stem(), self.suffix)
    }
}

/// The contents of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Empty,
    Whole(i128),
    Number(f64),
    Text(String),
}

impl Cell {
    /// Its number, if it has one.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Whole(whole) => Some(whole as f64),
            Self::Number(number) => Some(number),
            Self::Empty | Self::Text(_) => None,
        }
    }

    /// Marks a text that a spreadsheet would take for a formula.
    pub(super) fn make_harmless(&mut self) {
        if let Self::Text(text) = self
            && let Cow::Owned(marked) = harmless(text)
        {
            *text = marked;
        }
    }

    /// A number to six decimals; empty if there is none, or it is not finite.
    pub(super) fn number_or_empty(value: Option<f64>) -> Self {
        value.filter(|value| value.is_finite()).map_or(Self::Empty, Self::rounded)
    }

    /// A number to six decimals, as a whole one where it is one.
    fn rounded(value: f64) -> Self {
        let value = to_six_decimals(value);
        if value == value.trunc() && value.abs() < 1e15 {
            Self::Whole(rounded::<i64>(value).into())
        } else {
            Self::Number(value)
        }
    }
}

/// Decimals that are kept of fractions and rates.
const SCALE: f64 = 1e6;

/// To six decimals; a number so large that it has no such decimals stays as it is.
fn to_six_decimals(value: f64) -> f64 {
    const EXACT: f64 = (1u64 << 52) as f64;
    let scaled = value * SCALE;
    if scaled.abs() < EXACT { scaled.round() / SCALE } else { value }
}

/// The value of a text that is not empty.
fn unless_empty<T>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some) }
}

fn finite(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|error: ParseFloatError| error.to_string())?;
    if value.is_finite() { Ok(value) } else { Err("not a finite number".into()) }
}

/// How values of a column become cells, and cells values.
pub(super) trait CellKind {
    type Value;
    const KIND: Kind = Kind::Number;
    const UNIT: Unit = Unit::NONE;
    /// Whether each row must have a value.
    const GIVEN: bool = false;

    fn cell(value: &Self::Value) -> Cell;

    /// The value of a cell's text, or what is wrong with it.
    fn read(text: &str) -> Result<Self::Value, String>;
}

/// A unit for people, the end of names that tells it, and the decimals that are worth reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub text: &'static str,
    pub suffix: &'static str,
    pub decimals: usize,
}

impl Unit {
    pub const NONE: Self = Self { text: "", suffix: "", decimals: 0 };
}

/// A time that may be missing, in a unit of so many picoseconds.
pub(super) enum Time<const UNIT: u64> {}

pub(super) type Nanoseconds = Time<1_000>;
pub(super) type Microseconds = Time<1_000_000>;

impl<const UNIT: u64> CellKind for Time<UNIT> {
    type Value = Option<Picoseconds>;
    const UNIT: Unit = match UNIT {
        1_000 => Unit { text: "ns", suffix: "_ns", decimals: 1 },
        _ => Unit { text: "us", suffix: "_us", decimals: 3 },
    };

    fn cell(value: &Option<Picoseconds>) -> Cell {
        match *value {
            None => Cell::Empty,
            Some(time) if time.0.is_multiple_of(UNIT) => Cell::Whole((time.0 / UNIT).into()),
            Some(time) => Cell::Number(time.0 as f64 / UNIT as f64),
        }
    }

    fn read(text: &str) -> Result<Self::Value, String> {
        unless_empty(text, |text| match finite(text)? {
            value if value < 0.0 => Err("a time can't be negative".into()),
            value => try_rounded(value * UNIT as f64)
                .ok_or_else(|| "a time of 2^64 ps or more".to_owned()),
        })
    }
}

/// A fraction, or another number without a unit, that may be missing; so counts what is not a
/// finite number.
pub(super) enum Number {}

/// Payload in 10^9 bytes a second, of a node.
pub(super) enum RateOfNode {}

/// Payload in 10^9 bytes a second, of one source.
pub(super) enum RateOfSource {}

/// Payload in 10^9 bytes a second, of all nodes.
pub(super) enum RateOfAll {}

/// Operations in millions a second, of a node.
pub(super) enum OperationsOfNode {}

/// Operations in millions a second, of all nodes.
pub(super) enum OperationsOfAll {}

macro_rules! numbers {
    ($($CellKind:ident: $text:literal, $suffix:literal, $decimals:literal;)*) => {$(
        impl CellKind for $CellKind {
            type Value = Option<f64>;
            const UNIT: Unit = Unit { text: $text, suffix: $suffix, decimals: $decimals };

            fn cell(value: &Option<f64>) -> Cell {
                Cell::number_or_empty(*value)
            }

            fn read(text: &str) -> Result<Self::Value, String> {
                unless_empty(text, finite)
            }
        }
    )*};
}

numbers! {
    Number: "", "", 4;
    RateOfNode: "GB/s a node", "_GB_per_s_per_node", 3;
    RateOfSource: "GB/s", "_GB_per_s", 3;
    RateOfAll: "GB/s", "_GB_per_s", 3;
    OperationsOfNode: "M/s a node", "_million_per_s_per_node", 3;
    OperationsOfAll: "M/s", "_million_per_s", 3;
}

/// A whole number that may be missing.
pub(super) struct Count<T>(PhantomData<T>);

impl<T: Copy + Into<i128> + FromStr<Err = ParseIntError>> CellKind for Count<T> {
    type Value = Option<T>;
    const KIND: Kind = Kind::Count;

    fn cell(value: &Option<T>) -> Cell {
        value.map_or(Cell::Empty, |count| Cell::Whole(count.into()))
    }

    fn read(text: &str) -> Result<Self::Value, String> {
        unless_empty(text, |text| text.parse().map_err(|error: ParseIntError| error.to_string()))
    }
}

/// A fingerprint as 16 hexadecimal digits; it may be missing.
pub(super) enum Hexadecimal {}

impl CellKind for Hexadecimal {
    type Value = Option<u64>;
    const KIND: Kind = Kind::Text;

    fn cell(value: &Option<u64>) -> Cell {
        value.map_or(Cell::Empty, |digest| Cell::Text(format!("{digest:016x}")))
    }

    fn read(text: &str) -> Result<Self::Value, String> {
        unless_empty(text, |text| match (text.len() == 16).then(|| u64::from_str_radix(text, 16)) {
            Some(Ok(digest)) => Ok(digest),
            _ => Err(format!("`{text}` is not 16 hexadecimal digits")),
        })
    }
}

/// A value that is always there: a cell must not be empty.
pub(super) struct Given<K>(PhantomData<K>);

impl<T: Copy, K: CellKind<Value = Option<T>>> CellKind for Given<K> {
    type Value = T;
    const KIND: Kind = K::KIND;
    const UNIT: Unit = K::UNIT;
    const GIVEN: bool = true;

    fn cell(value: &T) -> Cell {
        K::cell(&Some(*value))
    }

    fn read(text: &str) -> Result<T, String> {
        K::read(text)?.ok_or_else(|| "the cell is empty".into())
    }
}

/// A value that is always there, in a column that files of earlier versions may lack.
pub(super) struct Later<K>(PhantomData<K>);

impl<K: CellKind> CellKind for Later<K> {
    type Value = K::Value;
    const KIND: Kind = K::KIND;
    const UNIT: Unit = K::UNIT;

    fn cell(value: &K::Value) -> Cell {
        K::cell(value)
    }

    fn read(text: &str) -> Result<K::Value, String> {
        K::read(text)
    }
}

/// A text, or one of some words.
pub(super) struct Text<T>(PhantomData<T>);

impl<T: Serialize + DeserializeOwned> CellKind for Text<T> {
    type Value = T;
    const KIND: Kind = Kind::Text;
    const GIVEN: bool = true;

    fn cell(value: &T) -> Cell {
        match serde_json::to_value(value) {
            Ok(serde_json::Value::String(text)) => Cell::Text(text),
            _ => Cell::Empty,
        }
    }

    fn read(text: &str) -> Result<T, String> {
        T::deserialize(text.into_deserializer()).map_err(|error: Error| error.to_string())
    }
}

/// A text that may be absent.
pub(super) struct Name;

impl CellKind for Name {
    type Value = Option<String>;
    const KIND: Kind = Kind::Text;

    fn cell(value: &Option<String>) -> Cell {
        value.as_ref().map_or(Cell::Empty, |text| Cell::Text(text.clone()))
    }

    fn read(text: &str) -> Result<Option<String>, String> {
        Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
    }
}

/// Declares a kind of row. Of each column it has the field with its meaning as documentation, its
/// type, the [`CellKind`] of its cells, its name in files, its title, its [`Role`], and whether it
/// is `usual` or shown on demand (`more`). Fields behind `..` are no columns.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $Row:ident {
            $($(#[doc = $doc:literal])* $field:ident: $Type:ty as $CellKind:ty, $name:expr, $title:expr, $Role:ident, $shown:ident;)*
            $(.. $($(#[$more_meta:meta])* $more:ident: $More:ty,)*)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $Row {
            $($(#[doc = $doc])* pub $field: $Type,)*
            $($($(#[$more_meta])* pub $more: $More,)*)?
        }

        impl $Row {
            /// Its columns, in the order of files.
            pub const COLUMNS: &'static [crate::table::Column<Self>] = &Self::columns_in();

            /// Its columns as those of a row that has this one in it.
            pub(crate) const fn columns_in<R: crate::table::Holds<Self>>()
            -> [crate::table::Column<R>; [$(stringify!($field)),*].len()] {
                [$(crate::table::column!(
                    concat!($($doc),*),
                    row => row.held().$field, row.held_mut().$field;
                    $CellKind, $name, $title, $Role, $shown
                )),*]
            }
        }

        crate::table::row!($Row, Self::COLUMNS);
    };
}

/// A row with another one in it, or the row itself.
pub(super) trait Holds<R> {
    fn held(&self) -> &R;
    fn held_mut(&mut self) -> &mut R;
}

impl<R> Holds<R> for R {
    fn held(&self) -> &R {
        self
    }

    fn held_mut(&mut self) -> &mut R {
        self
    }
}

/// A [`Column`]: its meaning, where a row has its value (to read, to write), and the rest as in
/// [`table!`].
macro_rules! column {
    (
        $meaning:expr, $row:ident => $value:expr, $place:expr;
        $CellKind:ty, $name:expr, $title:expr, $Role:ident, $shown:ident
    ) => {
        crate::table::Column {
            name: $name,
            title: $title,
            meaning: $meaning,
            unit: <$CellKind as crate::table::CellKind>::UNIT.text,
            suffix: <$CellKind as crate::table::CellKind>::UNIT.suffix,
            decimals: <$CellKind as crate::table::CellKind>::UNIT.decimals,
            role: crate::table::Role::$Role,
            kind: <$CellKind as crate::table::CellKind>::KIND,
            usual: crate::table::column!(@ $shown),
            given: <$CellKind as crate::table::CellKind>::GIVEN,
            cell: |$row| <$CellKind as crate::table::CellKind>::cell(&$value),
            read: |$row, text| {
                $place = <$CellKind as crate::table::CellKind>::read(text)?;
                Ok(())
            },
        }
    };
    (@ usual) => { true };
    (@ more) => { false };
}

/// Makes a type with columns a [`Row`](crate::Row).
macro_rules! row {
    ($Row:ident, $columns:expr) => {
        impl crate::Row for $Row {
            fn columns() -> &'static [crate::table::Column<Self>] {
                $columns
            }

            fn of_text(text: &str) -> Option<Vec<Self>> {
                crate::csv::of_text(text)
            }

            fn text(rows: &[Self]) -> String {
                crate::rows_text(rows)
            }
        }

        impl serde::Serialize for $Row {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;
                let columns = <Self as crate::Row>::columns();
                let mut row = serializer.serialize_struct(stringify!($Row), columns.len())?;
                for column in columns {
                    row.serialize_field(column.name, &column.written(self)?)?;
                }
                row.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $Row {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::csv::of_object(deserializer)
            }
        }
    };
}

pub(super) use {column, row, table};

#[cfg(test)]
mod tests {
    use super::*;

    table! {
        /// A time.
        pub struct Row {
            /// When.
            time: Picoseconds as Given<Microseconds>, "time_us", "time", Latency, usual;
            /// How much of it.
            share: f64 as Given<Number>, "share", "share", Throughput, more;
        }
    }

    fn read(cell: &str) -> Result<Picoseconds, String> {
        let row = serde_json::from_str(&format!("{{\"time_us\": {cell}, \"other\": [1]}}"));
        row.map(|row: Row| row.time).map_err(|error| error.to_string())
    }

    #[test]
    fn a_time_that_no_clock_can_show_is_an_error_and_not_the_latest_time_of_all() {
        assert_eq!(read("1.5"), Ok(Picoseconds(1_500_000)));
        assert!(read("18446744073709").is_ok());
        for cell in ["18446744073710", "1e300"] {
            assert!(read(cell).unwrap_err().contains("a time of 2^64 ps or more"), "{cell}");
        }
        assert!(read("null").unwrap_err().contains("the cell is empty"));
    }

    #[test]
    fn a_column_knows_its_unit_and_its_interval() {
        let [column, _] = Row::COLUMNS else { panic!("two columns") };
        assert_eq!((column.meaning(), column.full_title().as_str()), ("When.", "time (us)"));
        assert_eq!((column.stem(), column.interval().as_str()), ("time", "time_ci95_us"));
        assert_eq!(
            (column.cell)(&Row { time: Picoseconds(1_500_000), share: 0.5 }),
            Cell::Number(1.5)
        );
    }

    #[test]
    fn what_must_be_there_and_is_no_number_is_an_error_and_no_empty_cell() {
        let text = |share| serde_json::to_string(&Row { time: Picoseconds(0), share });
        assert_eq!(text(0.25).unwrap(), "{\"time_us\":0,\"share\":0.25}");
        assert!(text(f64::NAN).unwrap_err().to_string().contains("`share` is not a finite number"));
    }
}
