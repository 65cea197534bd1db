//! The kinds of figures that a result can have.

use std::path::Path;

use super::super::{ResultRows, Status};

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FigureKind {
    /// Mean and 99th percentile of the packet latency over offered load.
    Latency,
    /// Median, 95th, 99th and 99.9th percentile over offered load.
    Percentiles,
    /// Distribution of the packet latency.
    Distribution,
    /// Accepted over offered load.
    Accepted,
    /// Highest sustained loads, as bars.
    Saturation,
    /// Completion time, saturation or accepted load over a key of the sweep.
    Scaling,
    /// Completion times, as bars.
    Completion,
    /// Utilisation of channels by direction, as bars.
    Channels,
    /// Utilisation of each channel of a torus.
    ChannelMap,
    /// Load, latency and utilisation over simulated time.
    Time,
    /// The activity of an application's ranks over time.
    SpaceTime,
}

impl FigureKind {
    /// Each, in the order of the variants: what its files' names begin with, and what results must
    /// have for it to be drawn.
    const TABLE: [(Self, &'static str, &'static str); 11] = [
        (Self::Latency, "latency", "a series with two loads, one of them steady"),
        (Self::Percentiles, "percentiles", "a series with two loads, one of them steady"),
        (Self::Distribution, "cdf", "packets that were measured"),
        (Self::Accepted, "accepted", "a series with two loads"),
        (Self::Saturation, "saturation", "two series, one of which saturates"),
        (Self::Scaling, "scaling", "a key of the sweep that has two or more numbers as values"),
        (Self::Completion, "completion", "two series of finite exchanges"),
        (Self::Channels, "channels", "channels that were measured"),
        (Self::ChannelMap, "channel-map", "channels of a torus or mesh of two dimensions or more"),
        (Self::Time, "time", "windows of a load"),
        (Self::SpaceTime, "space-time", "an application that ran to its end"),
    ];

    /// All of them.
    pub fn all() -> [Self; 11] {
        Self::TABLE.map(|(kind, ..)| kind)
    }

    /// Returns the name, with which names of its files begin.
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// Returns the data that results must have for it to be drawn.
    pub fn needs(self) -> &'static str {
        Self::TABLE[self as usize].2
    }

    /// Columns of points.csv without which it can't be drawn.
    const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Latency => &["packet_latency_mean_ns"],
            Self::Percentiles => &["packet_latency_mean_ns", "packet_latency_p99_ns"],
            Self::Accepted => &["accepted_load"],
            Self::Completion => &["completion_time_us"],
            _ => &[],
        }
    }

    /// Returns the data that it needs and the results lack because an earlier version made them.
    pub fn absent(self, rows: &ResultRows) -> Vec<&'static str> {
        let ends = |point: &super::super::Point| point.measured.status == Status::Completed;
        if rows.points.iter().all(|point| ends(point) != (self == Self::Completion)) {
            return Vec::new();
        }
        let columns = self.columns().iter().copied();
        columns.filter(|name| rows.absent.iter().any(|absent| absent == name)).collect()
    }

    /// Whether a file has the name of a figure, by what it begins with and ends with.
    pub fn names_file(path: &Path) -> bool {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let drawn = path.extension().is_some_and(|it| it == "svg" || it == "pdf" || it == "png");
        drawn && Self::all().iter().any(|kind| kind.names_stem(&stem))
    }

    /// Whether a file's name without its ending is that of such a figure.
    pub fn names_stem(self, stem: &str) -> bool {
        let rest = stem.strip_prefix(self.name());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}
