//! The loads of the points of a sweep.

/// Which loads the points of a sweep have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loads {
    /// Those that are written. A series ends after so many loads in a row that do not reach a steady
    /// state; none does if `None`.
    Written { past_saturation: Option<usize> },
    /// Each series finds those that its curve needs (`"auto"`), the same ones in all repetitions.
    Curve(CurvePrecision),
    /// Each point finds the highest that it sustains, by bisection to this width in load.
    Saturation { tolerance: f64 },
}

/// How exactly a curve is drawn that finds its loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePrecision {
    /// Between the highest load that is sustained and the lowest that is not, as a share of the
    /// load.
    pub load: f64,
    /// By which share of the latency a straight line between two points may be off the curve.
    pub latency: f64,
}

impl CurvePrecision {
    /// If nothing is said.
    pub(crate) const USUAL: Self = Self { load: 0.01, latency: 0.05 };
}
