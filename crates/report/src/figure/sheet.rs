//! How large a figure is: its width, and that of its letters.

use std::fmt;
use std::str::FromStr;

/// Free space at the sheet's edges.
pub(super) const MARGIN: f64 = 5.0;

/// Length of a tick.
pub(super) const TICK: f64 = 3.0;

/// A length in points, 72 an inch, as papers give column widths and letter sizes.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Length(pub f64);

impl FromStr for Length {
    type Err = String;

    /// Reads `3.5in`, `89mm`, `8.9cm` or `252pt`.
    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, f64); 4] =
            [("pt", 1.0), ("in", 72.0), ("mm", 72.0 / 25.4), ("cm", 72.0 / 2.54)];
        let text = text.trim();
        let parts = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)));
        let Some((number, size)) = parts else {
            return Err("a length needs a unit: 3.5in, 89mm, 8.9cm or 252pt".into());
        };
        match number.trim().parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(Self(value * size)),
            _ => Err(format!("`{}` is no length: write for example 3.5in or 89mm", number.trim())),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.1}pt", self.0)
    }
}

/// The size of a figure. Its height follows from what is in it, unless it is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheet {
    width: f64,
    font_size: f64,
    height: Option<f64>,
}

impl Default for Sheet {
    /// A column of a two-column paper, 3.5 inches, with axis titles of 8 points.
    fn default() -> Self {
        Self { width: 252.0, font_size: 8.0, height: None }
    }
}

impl Sheet {
    /// A sheet so wide, with axis titles of this size; titles are a little larger, all else is a
    /// little smaller.
    ///
    /// # Errors
    /// If the width is not between 1 and 20 inches, or the letters not between 4 and 24 points.
    pub fn new(width: Length, font_size: Length) -> Result<Self, String> {
        if !(72.0..=1440.0).contains(&width.0) {
            return Err(format!("a figure can be 1 to 20 inches wide, not {width}"));
        }
        if !(4.0..=24.0).contains(&font_size.0) {
            return Err(format!("letters can have 4pt to 24pt, not {font_size}"));
        }
        Ok(Self { width: width.0, font_size: font_size.0, height: None })
    }

    /// Returns this sheet with another width.
    ///
    /// # Errors
    /// As [`Sheet::new`].
    pub fn with_width(self, width: Length) -> Result<Self, String> {
        Self::new(width, Length(self.font_size))?;
        Ok(Self { width: width.0, ..self })
    }

    /// Returns this sheet with letters of another size.
    ///
    /// # Errors
    /// As [`Sheet::new`].
    pub fn with_font_size(self, size: Length) -> Result<Self, String> {
        Self::new(Length(self.width), size)?;
        Ok(Self { font_size: size.0, ..self })
    }

    /// Returns this sheet with a fixed height of plots, title and legend included. The height of
    /// bars and maps follows from their contents.
    ///
    /// # Errors
    /// If the height is not between half an inch and 20 inches.
    pub fn with_height(self, height: Length) -> Result<Self, String> {
        if !(36.0..=1440.0).contains(&height.0) {
            return Err(format!("a figure can be 0.5 to 20 inches high, not {height}"));
        }
        Ok(Self { height: Some(height.0), ..self })
    }

    pub(super) fn height(&self) -> Option<f64> {
        self.height
    }

    pub(super) fn width(&self) -> f64 {
        self.width
    }

    pub(super) fn title_size(&self) -> f64 {
        self.font_size * 1.0625
    }

    pub(super) fn axis_size(&self) -> f64 {
        self.font_size
    }

    /// Size of ticks' labels and of legends.
    pub(super) fn small_size(&self) -> f64 {
        self.font_size * 0.875
    }

    /// Height of a plot's frame: wide sheets are flatter.
    pub(super) fn frame_height(&self) -> f64 {
        if self.width <= 252.0 {
            self.width * 150.0 / 252.0
        } else {
            150.0 + 0.35 * (self.width - 252.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_in_the_units_of_papers() {
        for (text, points) in
            [("3.5in", 252.0), ("89mm", 252.283), ("8.9 cm", 252.283), ("252pt", 252.0)]
        {
            assert!((text.parse::<Length>().unwrap().0 - points).abs() < 1e-3, "{text}");
        }
        for wrong in ["3.5", "in", "-2in", "3,5in", "NaNpt", "12px"] {
            assert!(wrong.parse::<Length>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sheets_have_sensible_sizes() {
        let sheet = |width: f64, font: f64| Sheet::new(Length(width), Length(font));
        assert_eq!(sheet(252.0, 8.0), Ok(Sheet::default()));
        assert!(sheet(71.0, 8.0).is_err() && sheet(2000.0, 8.0).is_err());
        assert!(sheet(252.0, 3.0).is_err() && sheet(252.0, 30.0).is_err());
    }
}
