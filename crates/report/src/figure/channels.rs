//! How the load is spread over the channels.

use super::super::{ChannelRow, GroupRow};
use super::axis::Axis;
use super::bars::{BarChart, Group, TICKS, highest};
use super::drawing::Figure;
use super::kind::{Draw, FigureKind};
use super::legend::{Legend, Sample};
use super::palette::{BAR, BLACK, Colour, FEW};
use flitlab_base::registry::Row;
use flitlab_model::ChannelKind;

impl FigureKind {
    /// `channels`.
    pub const CHANNELS: Row<Self> = Row::new(
        "channels",
        "Utilisation of channels by direction, as bars.",
        Self::new(
            "channels that were measured",
            Draw::Point {
                has: |point| !point.channels.is_empty(),
                most: FEW,
                draw: |point, title, _| channel_figure(&point.channels, title),
            },
        ),
    );
}

const TERMINAL: Colour = (190, 190, 190);

/// At most this many channels have a bar of their own.
const BUSIEST: usize = 20;

/// The utilisation of channels at one point of one series: the rows given.
///
/// If the network channels have directions, as in a torus (`(0,0,1) +x`), there is one bar a
/// direction, the mean, with a whisker from the least to the most used channel; injection and
/// ejection follow. Rows of groups have a bar a group, the mean, with a whisker to the most used
/// channel. Else the 20 busiest channels have a bar each.
pub fn channel_figure(rows: &[ChannelRow], title: &str) -> Figure {
    let rows: Vec<&ChannelRow> = rows.iter().filter(|row| row.utilisation.is_finite()).collect();
    let by_group = of_groups(&rows).or_else(|| by_direction(&rows));
    let (groups, legend) = by_group.unwrap_or_else(|| busiest(&rows));
    let axis = Axis::new("Utilisation (fraction of channel rate)", highest(&groups));
    let axis = axis.up_to_a_tick(TICKS);
    Figure::of_bars(BarChart { title: title.into(), axis, groups, legend })
}

/// `None` if the rows are those of channels.
fn of_groups(rows: &[&ChannelRow]) -> Option<(Vec<Group>, Legend)> {
    let mut bars: Vec<(&str, ChannelKind, [f64; 2])> = Vec::new();
    for row in rows {
        let (name, _, which) = row.group()?;
        let at = match bars.iter().position(|bar| bar.0 == name) {
            Some(at) => at,
            None => {
                bars.push((name, row.kind, [row.utilisation; 2]));
                bars.len() - 1
            }
        };
        bars[at].2[usize::from(which == GroupRow::Most)] = row.utilisation;
    }
    let bar = |(name, kind, [mean, most]): (&str, ChannelKind, [f64; 2])| {
        let colour = if kind == ChannelKind::Network { BAR } else { TERMINAL };
        Group::of_one(&name.replace('-', "\u{2212}"), mean, Some((mean, most)), colour)
    };
    let mut legend = Legend::default();
    legend.key(Sample::Bar(BAR), "mean of the channels");
    legend.key(Sample::Whisker(BLACK), "to the most used");
    (!bars.is_empty()).then(|| (bars.into_iter().map(bar).collect(), legend))
}

fn by_direction(rows: &[&ChannelRow]) -> Option<(Vec<Group>, Legend)> {
    let mut groups: Vec<(&str, Vec<f64>)> = Vec::new();
    for row in rows.iter().filter(|row| row.kind == ChannelKind::Network) {
        let direction = direction(&row.channel)?;
        match groups.iter_mut().find(|group| group.0 == direction) {
            Some(group) => group.1.push(row.utilisation),
            None => groups.push((direction, vec![row.utilisation])),
        }
    }
    if groups.is_empty() {
        return None;
    }
    // The two directions of a dimension side by side, plus before minus.
    let dimension = |direction: &str| {
        let name = direction[1..].to_owned();
        ("xyzklm".find(&name).unwrap_or(usize::MAX), name, direction.starts_with('-'))
    };
    groups.sort_by_cached_key(|group| dimension(group.0));

    let mut bars: Vec<Group> = groups
        .iter()
        .map(|(direction, values)| bar(&direction.replace('-', "\u{2212}"), values, BAR))
        .collect();
    for (kind, label) in
        [(ChannelKind::Injection, "injection"), (ChannelKind::Ejection, "ejection")]
    {
        let values: Vec<f64> =
            rows.iter().filter(|row| row.kind == kind).map(|row| row.utilisation).collect();
        if !values.is_empty() {
            bars.push(bar(label, &values, TERMINAL));
        }
    }
    let mut legend = Legend::default();
    legend.key(Sample::Bar(BAR), "mean of the channels");
    legend.key(Sample::Whisker(BLACK), "least to most used");
    Some((bars, legend))
}

/// `+x` of `(0,0,1) +x`.
fn direction(channel: &str) -> Option<&str> {
    let last = channel.rsplit(' ').next()?;
    let name = last.strip_prefix(['+', '-'])?;
    (!name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase())).then_some(last)
}

fn bar(label: &str, values: &[f64], colour: Colour) -> Group {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let value = values.iter().sum::<f64>() / values.len() as f64;
    Group::of_one(label, value, Some((low, high)), colour)
}

fn busiest(rows: &[&ChannelRow]) -> (Vec<Group>, Legend) {
    let mut rows: Vec<&ChannelRow> =
        rows.iter().copied().filter(|row| row.kind == ChannelKind::Network).collect();
    rows.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    let legend = Legend {
        note: (rows.len() > BUSIEST)
            .then(|| format!("The {BUSIEST} most used of {} channels.", rows.len())),
        ..Legend::default()
    };
    let busiest = rows.iter().take(BUSIEST);
    let bars = busiest.map(|row| Group::of_one(&row.channel, row.utilisation, None, BAR));
    (bars.collect(), legend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_read_from_names() {
        assert_eq!(direction("(0,0,1) +x"), Some("+x"));
        assert_eq!(direction("(0,0,1,2) -k"), Some("-k"));
        assert_eq!(direction("leaf 3 to spine 1"), None);
        assert_eq!(direction("+"), None);
        assert_eq!(direction(""), None);
    }
}
