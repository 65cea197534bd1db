//! Figures as LaTeX for the package pgfplots, their data as tables beside them: for those who set
//! their own.
//!
//! A figure `latency` is two files. `latency.tex` is a `tikzpicture` to be taken into a paper with
//! `\input`; `latency.dat` has the data in columns, the same number in columns of one curve.
//! `figures.tex` is a whole document with all figures, to look at, and to copy the preamble from.

mod bars;
mod chart;
mod latex;
mod map;
mod space_time;
mod table;

pub(super) use bars::of_bars;
pub(super) use chart::of_chart;
pub(super) use latex::document;
pub(super) use map::of_map;
pub(super) use space_time::of_space_time;
