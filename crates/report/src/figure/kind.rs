//! Kinds of figures, a row each: what results they need, and what draws them.

use std::path::Path;

use super::super::{BoundLine, Point, ResultRows, Status, SustainedLoad};
use super::chart::Chart;
use super::choice::Has;
use super::curves::Curves;
use super::drawing::Figure;
use super::figure_style::FigureStyle;
use super::medium::Medium;
use super::style::Pens;
use flitlab_base::registry::{Component, Row};

/// A kind of figure. Names of its files begin with its name.
#[derive(Clone, Copy)]
pub struct FigureKind {
    /// The data that results must have for it to be drawn, without an article or full stop.
    pub needs: &'static str,
    /// Columns of points.csv without which it can't be drawn.
    pub columns: &'static [&'static str],
    /// What draws it.
    pub draw: Draw,
}

/// What draws a kind of figure, by the points that one figure is of. It returns no figure where
/// there is nothing to show.
#[derive(Clone, Copy)]
pub enum Draw {
    /// Points that name one figure (`Label::figure`).
    Group(fn(&FigureTask<'_>) -> Vec<Named>),
    /// All points of a result.
    Result(fn(&FigureTask<'_>) -> Vec<Named>),
    /// A single point of each series that has what is drawn.
    Point {
        /// Whether a point has it.
        has: Has,
        /// With more series than this, it is drawn only if asked for.
        most: usize,
        /// Draws the point under a title.
        draw: fn(&Point, &str, &FigureStyle) -> Figure,
    },
}

/// A figure, and what follows the kind's name in the names of its files: nothing, or `-` and more.
pub type Named = (String, Figure);

/// A kind's only figure.
pub fn only(figure: Figure) -> Vec<Named> {
    vec![(String::new(), figure)]
}

/// A kind's only figure, a chart, if there is something in it.
pub(super) fn chart_if(says_something: bool, chart: impl FnOnce() -> Chart) -> Vec<Named> {
    if says_something { only(Figure::of_chart(chart())) } else { Vec::new() }
}

/// A request for figures of a result: which figures, and how they look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureRequest {
    /// How the titles of the figures begin; what tells one from another follows.
    pub title: String,
    /// Nothing at all stands above the figures, whatever `title` is.
    pub untitled: bool,
    pub medium: Medium,
    /// The kinds that were asked for, built in or not. If empty, all built-in ones and those of
    /// `own` that say something.
    pub kinds: Vec<Row<FigureKind>>,
    /// Kinds that are not built in, which are drawn as those are.
    pub own: Vec<Row<FigureKind>>,
    /// The names of single figures, such as `latency-p99`, or of kinds, for all figures of these;
    /// all figures of the kinds, if empty.
    pub names: Vec<String>,
    /// The load, a fraction of capacity, whose channels, distributions and windows are shown, or
    /// the nearest that was simulated; if `None` the highest steady one.
    pub load: Option<f64>,
    /// The key of the sweep that scaling curves are over; if `None` the only key with three or more
    /// numbers as values.
    pub over: Option<String>,
    pub look: FigureStyle,
}

impl FigureRequest {
    /// Everything in the usual medium.
    pub fn titled(title: &str) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The title of the figure that these words tell from others.
    pub(super) fn title_of(&self, words: &[&str]) -> String {
        if self.untitled {
            return String::new();
        }
        super::names::joined(&[&[self.title.as_str()], words].concat())
    }
}

/// Rows to be drawn.
pub struct FigureTask<'a> {
    /// The points.
    pub points: &'a [Point],
    /// Highest sustained loads; none for a [`Draw::Group`].
    pub saturation: &'a [SustainedLoad],
    /// Bounds of the load; none for a [`Draw::Result`].
    pub bounds: &'a [BoundLine],
    /// The title of the figure.
    pub title: &'a str,
    /// Which loads are shown, and how figures look.
    pub wish: &'a FigureRequest,
    /// Whether this kind was asked for by its name.
    pub asked: bool,
    pub(super) pens: &'a Pens,
}

impl FigureTask<'_> {
    /// The points by series, in ascending load.
    pub(super) fn curves(&self) -> Curves {
        Curves::among(self.points, self.pens, self.wish.look.loads)
    }
}

/// The kinds of figures, in the order in which they are offered.
pub static FIGURES: [Row<FigureKind>; 13] = [
    FigureKind::LATENCY,
    FigureKind::PERCENTILES,
    FigureKind::DISTRIBUTION,
    FigureKind::ACCEPTED,
    FigureKind::SATURATION,
    FigureKind::SCALING,
    FigureKind::COMPLETION,
    FigureKind::EXPOSED,
    FigureKind::WORKLOADS,
    FigureKind::CHANNELS,
    FigureKind::CHANNEL_MAP,
    FigureKind::TIME,
    FigureKind::SPACE_TIME,
];

impl Component for FigureKind {
    const NOUN: &'static str = "figure";

    fn built_in() -> &'static [Row<Self>] {
        &FIGURES
    }
}

impl FigureKind {
    /// A kind that needs no columns that results of earlier versions may lack.
    pub const fn new(needs: &'static str, draw: Draw) -> Self {
        Self { needs, columns: &[], draw }
    }

    /// Returns the columns that it needs and the results lack because an earlier version made them;
    /// none if no point could be drawn with them.
    pub fn absent(kind: &Row<Self>, rows: &ResultRows) -> Vec<&'static str> {
        let finite = *kind == Self::COMPLETION;
        let ends = |point: &Point| point.measured.status == Status::Completed;
        if rows.points.iter().all(|point| ends(point) != finite) {
            return Vec::new();
        }
        let columns = kind.columns.iter().copied();
        columns.filter(|name| rows.absent.iter().any(|absent| absent == name)).collect()
    }

    /// Whether a file has the name of a built-in figure or of one of `own`, by what it begins with
    /// and ends with.
    pub fn names_file(path: &Path, own: &[Row<Self>]) -> bool {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let drawn = path.extension().is_some_and(|it| it == "svg" || it == "pdf" || it == "png");
        drawn && FIGURES.iter().chain(own).any(|kind| Self::names_stem(kind, &stem))
    }

    /// Whether a file's name without its ending is that of a figure of this kind.
    pub fn names_stem(kind: &Row<Self>, stem: &str) -> bool {
        let rest = stem.strip_prefix(kind.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}
