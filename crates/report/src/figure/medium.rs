//! File formats of figures.

use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::super::ReportError;
use super::sheet::Sheet;
use flitlab_base::FileError;
use flitlab_base::text_file::read_text;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Vectors for screens, text as text.
    Svg,
    /// Vectors for papers, the font embedded.
    Pdf,
    /// Pixels, 300 an inch.
    Png,
    /// LaTeX for the package pgfplots, with the data as a table beside it.
    Pgfplots,
}

/// How figures are written: how large, as what.
#[derive(Clone, Debug, PartialEq)]
pub struct Medium {
    pub sheet: Sheet,
    pub formats: Vec<Format>,
}

impl Default for Medium {
    /// A column wide, as SVG, PDF and PNG.
    fn default() -> Self {
        Self { sheet: Sheet::default(), formats: vec![Format::Svg, Format::Pdf, Format::Png] }
    }
}

impl Format {
    /// To type.
    pub const NAMES: [(Self, &'static str); 4] =
        [(Self::Svg, "svg"), (Self::Pdf, "pdf"), (Self::Png, "png"), (Self::Pgfplots, "pgfplots")];
}

const LAST_LINE: &str = "% Unchanged since flitlab wrote it, if the sum is ";

/// The files of figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// In the order written.
    pub written: Vec<PathBuf>,
    /// LaTeX files that existed already and were edited by hand.
    pub kept: Vec<PathBuf>,
}

impl Files {
    /// Writes a file in place of what was there.
    pub(super) fn write(&mut self, path: PathBuf, content: &[u8]) -> Result<(), ReportError> {
        fs::write(&path, content).map_err(FileError::write(&path))?;
        self.written.push(path);
        Ok(())
    }

    /// Writes LaTeX in place of the file there, unless that was edited by hand.
    pub(super) fn write_text(&mut self, path: PathBuf, text: &str) -> Result<(), ReportError> {
        if read_text(&path).is_ok_and(|old| !is_as_written(&old)) {
            self.kept.push(path);
            return Ok(());
        }
        self.write(path, (text.to_owned() + &last_line(text)).as_bytes())
    }
}

/// The last line of a LaTeX file: it tells whether the lines above it are as they were written.
fn last_line(text: &str) -> String {
    let sum = Sha256::digest(text);
    let digits: String = sum[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{LAST_LINE}{digits}\n")
}

fn is_as_written(text: &str) -> bool {
    text.rfind(LAST_LINE).is_some_and(|at| text[at..] == last_line(&text[..at]))
}
