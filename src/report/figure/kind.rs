//! The kinds of figures that a result can have.

use std::path::Path;

/// What a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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
}

impl Kind {
    pub const ALL: [Self; 10] = [
        Self::Latency,
        Self::Percentiles,
        Self::Distribution,
        Self::Accepted,
        Self::Saturation,
        Self::Scaling,
        Self::Completion,
        Self::Channels,
        Self::ChannelMap,
        Self::Time,
    ];

    /// What its files' names begin with.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Percentiles => "percentiles",
            Self::Distribution => "cdf",
            Self::Accepted => "accepted",
            Self::Saturation => "saturation",
            Self::Scaling => "scaling",
            Self::Completion => "completion",
            Self::Channels => "channels",
            Self::ChannelMap => "channel-map",
            Self::Time => "time",
        }
    }

    /// What results must have for it to be drawn.
    #[must_use]
    pub fn needs(self) -> &'static str {
        match self {
            Self::Latency | Self::Percentiles => "a series with two loads, one of them steady",
            Self::Distribution => "packets that were measured",
            Self::Accepted => "a series with two loads",
            Self::Saturation => "two series, one of which saturates",
            Self::Scaling => "a key of the sweep that has two or more numbers as values",
            Self::Completion => "two series of finite exchanges",
            Self::Channels => "channels that were measured",
            Self::ChannelMap => "channels of a torus or mesh of two dimensions or more",
            Self::Time => "windows of a load",
        }
    }

    /// Whether a file has the name of a figure, by what it begins with and ends with.
    #[must_use]
    pub fn names_file(path: &Path) -> bool {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let of = |kind: &Self| {
            let rest = stem.strip_prefix(kind.name());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let drawn = path.extension().is_some_and(|it| it == "svg" || it == "pdf" || it == "png");
        drawn && Self::ALL.iter().any(of)
    }
}
