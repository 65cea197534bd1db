//! How values become cells: the unit is in the column's name, the value is a plain number.
//!
//! Times are whole picoseconds in memory and decimal nanoseconds or microseconds in files, without
//! loss up to 10^15 ps (1000 s). Fractions and rates are rounded to six decimals, so that a file has
//! the same bytes wherever it is written. The functions are named by serde's `with` attribute.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

use crate::narrow::{rounded, try_rounded};
use crate::units::Picoseconds;

/// Decimals that are kept of fractions and rates.
const SCALE: f64 = 1e6;

/// To six decimals; a number so large that it has no such decimals stays as it is.
fn to_six_decimals(value: f64) -> f64 {
    const EXACT: f64 = (1u64 << 52) as f64;
    let scaled = value * SCALE;
    if scaled.abs() < EXACT { scaled.round() / SCALE } else { value }
}

fn number<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value == value.trunc() && value.abs() < 1e15 {
        serializer.serialize_i64(rounded(value))
    } else {
        serializer.serialize_f64(value)
    }
}

fn finite<'de, D: Deserializer<'de>>(value: f64) -> Result<f64, D::Error> {
    if value.is_finite() { Ok(value) } else { Err(D::Error::custom("not a finite number")) }
}

fn time<S: Serializer>(
    time: Option<Picoseconds>,
    unit: Picoseconds,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        None => serializer.serialize_none(),
        Some(time) if time % unit == 0 => serializer.serialize_u64(time / unit),
        Some(time) => serializer.serialize_f64(time as f64 / unit as f64),
    }
}

fn picoseconds<'de, D: Deserializer<'de>>(
    unit: Picoseconds,
    deserializer: D,
) -> Result<Option<Picoseconds>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        None => Ok(None),
        Some(value) if value < 0.0 => Err(D::Error::custom("a time can't be negative")),
        Some(value) => {
            let time = try_rounded(finite::<D>(value)? * unit as f64);
            time.map(Some).ok_or_else(|| D::Error::custom("a time of 2^64 ps or more"))
        }
    }
}

/// A time that must not be missing.
fn given<'de, D: Deserializer<'de>>(
    unit: Picoseconds,
    deserializer: D,
) -> Result<Picoseconds, D::Error> {
    picoseconds(unit, deserializer)?.ok_or_else(|| D::Error::custom("there is no time"))
}

/// A time as nanoseconds; an empty cell for `None`.
pub(super) mod nanoseconds {
    use super::{Deserializer, Picoseconds, Serializer};

    pub fn serialize<S: Serializer>(
        time: &Option<Picoseconds>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::time(*time, 1_000, serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Picoseconds>, D::Error> {
        super::picoseconds(1_000, deserializer)
    }
}

/// A time as microseconds; an empty cell for `None`.
pub(super) mod microseconds {
    use super::{Deserializer, Picoseconds, Serializer};

    pub fn serialize<S: Serializer>(
        time: &Option<Picoseconds>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::time(*time, 1_000_000, serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Picoseconds>, D::Error> {
        super::picoseconds(1_000_000, deserializer)
    }
}

/// Times that are always there.
pub(super) mod time {
    /// A time as nanoseconds.
    pub mod nanoseconds {
        use super::super::{Deserializer, Picoseconds, Serializer};

        pub fn serialize<S: Serializer>(
            time: &Picoseconds,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            super::super::time(Some(*time), 1_000, serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Picoseconds, D::Error> {
            super::super::given(1_000, deserializer)
        }
    }

    /// A time as microseconds.
    pub mod microseconds {
        use super::super::{Deserializer, Picoseconds, Serializer};

        pub fn serialize<S: Serializer>(
            time: &Picoseconds,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            super::super::time(Some(*time), 1_000_000, serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Picoseconds, D::Error> {
            super::super::given(1_000_000, deserializer)
        }
    }
}

/// A fraction or rate that may be missing; what is not a finite number counts as missing.
pub(super) mod optional {
    use super::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value.filter(|value| value.is_finite()) {
            None => serializer.serialize_none(),
            Some(value) => super::number(super::to_six_decimals(value), serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Option::<f64>::deserialize(deserializer)?.map(super::finite::<D>).transpose()
    }
}

/// A fraction that is always there.
pub(super) mod fraction {
    use serde::ser::Error as _;

    use super::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if !value.is_finite() {
            return Err(S::Error::custom("a fraction is not a finite number"));
        }
        super::number(super::to_six_decimals(*value), serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        super::finite::<D>(f64::deserialize(deserializer)?)
    }
}

/// A digest as 16 hexadecimal digits; an empty cell for `None`.
pub(super) mod hexadecimal {
    use super::{Deserialize, Deserializer, Serializer};
    use serde::de::Error as _;

    pub fn serialize<S: Serializer>(
        digest: &Option<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match digest {
            None => serializer.serialize_none(),
            Some(digest) => serializer.serialize_str(&format!("{digest:016x}")),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else {
            return Ok(None);
        };
        let digest = (text.len() == 16).then(|| u64::from_str_radix(&text, 16));
        match digest {
            Some(Ok(digest)) => Ok(Some(digest)),
            _ => Err(D::Error::custom(format!("`{text}` is not 16 hexadecimal digits"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Cell {
        #[serde(with = "time::microseconds")]
        time: Picoseconds,
    }

    fn read(cell: &str) -> Result<Picoseconds, String> {
        let cell = serde_json::from_str(&format!("{{\"time\": {cell}}}"));
        cell.map(|cell: Cell| cell.time).map_err(|error| error.to_string())
    }

    #[test]
    fn a_time_that_no_clock_can_show_is_an_error_and_not_the_latest_time_of_all() {
        assert_eq!(read("1.5"), Ok(1_500_000));
        assert!(read("18446744073709").is_ok());
        for cell in ["18446744073710", "1e300"] {
            assert!(read(cell).unwrap_err().contains("a time of 2^64 ps or more"), "{cell}");
        }
    }
}
