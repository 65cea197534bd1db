//! The label of a row: the point of a result that it belongs to. It is written beside the
//! measurements, which do not know it.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::table::{Cell, Count, Given, Later, Text, table};

table! {
    /// Names a point of a run or a sweep.
    pub struct Label {
        /// What the point's curve is called in a legend; may be empty.
        series: String as Text<String>, "series", "series", Label, usual;
        /// What the figure is called that its curve is drawn in; empty if all curves are in one.
        /// The series has it as one of its parts.
        figure: String as Later<Text<String>>, "figure", "figure", Label, more;
        /// The point's number in its run or sweep, from 0. Of a search for saturation the number of
        /// the load tried.
        point: u32 as Given<Count<u32>>, "point", "point", Label, more;
        /// Which of the point's repetitions it is, from 0.
        repetition: u32 as Later<Given<Count<u32>>>, "repetition", "repetition", Label, more;
        /// The seed of its random numbers.
        seed: u64 as Given<Count<u64>>, "seed", "seed", Label, more;
        ..
        /// The keys that the sweep gives values, and the point's, as text. Each has a column of its
        /// own in points.csv, which is called like the key: `traffic.pattern`, `routing`. No other
        /// column has a dot in its name, and none stands between those of the label and the row.
        settings: Vec<(String, String)>,
    }
}

/// The keys of a scenario that lie in no table.
const WITHOUT_TABLE: [&str; 3] = ["name", "title", "seed"];

/// The column with the name of a row's workload, where there are several.
pub(super) const WORKLOAD: &str = "workload";

/// Whether a key of a sweep's grid has a column of its own, called like it: one within a table, or
/// a whole table, which may be one that another crate adds. The seed is in a column anyhow, and
/// what results are called changes nothing.
pub fn is_setting(key: &str) -> bool {
    !WITHOUT_TABLE.contains(&key)
}

/// Which of a label's columns a file has beside those of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    None,
    /// The name of a workload, of several.
    Workload,
    /// Series, point and repetition: the rest is in points.csv.
    Place,
    /// All, and these keys.
    All(Vec<String>),
}

impl Labels {
    pub(super) fn names(&self) -> Vec<&str> {
        let of = |names: &'static [&'static str]| names.to_vec();
        match self {
            Self::None => Vec::new(),
            Self::Workload => vec![WORKLOAD],
            Self::Place => of(&["series", "point", "repetition"]),
            Self::All(keys) => {
                let own = Label::COLUMNS.iter().map(|column| column.name);
                own.chain(keys.iter().map(String::as_str)).collect()
            }
        }
    }

    pub(super) fn cells(&self, label: &Label) -> Vec<Cell> {
        let cell = |name: &str| match Label::COLUMNS.iter().find(|column| column.name == name) {
            Some(column) => (column.cell)(label),
            None => label.setting(name).map_or(Cell::Empty, |value| Cell::Text(value.into())),
        };
        self.names().into_iter().map(cell).collect()
    }
}

/// A row under its label, one object in JSON: the label, its settings in an object of their own,
/// the row.
#[derive(Serialize)]
pub struct Labelled<'r, R: Serialize> {
    #[serde(flatten)]
    pub label: &'r Label,
    pub settings: Settings<'r>,
    #[serde(flatten)]
    pub row: &'r R,
}

/// The keys of a label with their values.
pub struct Settings<'r>(&'r Label);

impl Serialize for Settings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.settings.len()))?;
        for (key, value) in &self.0.settings {
            object.serialize_entry(key, value)?;
        }
        object.end()
    }
}

impl<'r, R: Serialize> Labelled<'r, R> {
    pub fn new(label: &'r Label, row: &'r R) -> Self {
        Self { label, settings: Settings(label), row }
    }
}

impl Label {
    /// The series' name without the part that names the seed, which a sweep over seeds gives it.
    pub fn series_without_seed(&self) -> String {
        let seed = format!("seed {}", self.seed);
        let parts: Vec<&str> = self.series.split(", ").filter(|part| *part != seed).collect();
        parts.join(", ")
    }

    /// Returns the key that tells a point of a result from the others.
    pub fn place(&self) -> (&str, u32, u32) {
        (&self.series, self.point, self.repetition)
    }

    /// Takes the settings of a record, from the columns of keys.
    pub(super) fn read_settings(
        &mut self,
        keys: &[bool],
        header: &csv::StringRecord,
        record: &csv::StringRecord,
    ) {
        let cells = header.iter().zip(record).zip(keys);
        let own = cells.filter(|((_, cell), is_key)| **is_key && !cell.is_empty());
        self.settings = own.map(|((key, cell), _)| (key.to_owned(), cell.to_owned())).collect();
    }

    /// The value that a key of the sweep has here.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }
}
