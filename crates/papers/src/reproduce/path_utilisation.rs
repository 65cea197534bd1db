//! \[path-selection\], Figure 7: how much each channel of the 8x8 torus is used at the throughputs
//! of Figure 6, as a map of the torus with the root in the middle, and as a curve from the fullest
//! channel on.
//!
//! The paper's drawing was not at hand, and its text has no number. It says that all selections
//! gather packets around the root, switch (0, 0), and those with a static analysis less. So the mean
//! over the root's own channels is printed beside that over all channels.

use std::fmt::Write;

use super::path_selection::{NAMES, channels_text};
use super::path_throughput::{ChannelUse, PathSelectionFigure, Row};
use super::{Reproduction, json};
use flitlab_report::figure::{Figure, Scale, Series, Style, channel_heat_maps, xy_figure_among};
use flitlab_report::{ChannelRow, rows_text};

/// The names of columns in the text.
const COLUMNS: [&str; 7] =
    ["mean", "highest", "median", "lowest", "deviation", "at root", "root/mean"];

/// Returns the figure from the throughputs, each with the use of its channels.
pub(super) fn utilisation(rows: &[Row], uses: &[Vec<ChannelUse>], quick: bool) -> Reproduction {
    let mut text = String::from(
        "utilisation of the channels between switches at the throughput: share of the time;\n\
         at root: mean of the eight channels of switch (0, 0)\n",
    );
    let mut figures: Vec<(String, Figure)> = Vec::new();
    let network = PathSelectionFigure::Figure7.network(quick);
    for &(rule, vcs) in PathSelectionFigure::Figure7.routings() {
        let _ = write!(text, "\n{rule}, {}\n{:<20}", channels_text(vcs), "");
        COLUMNS.iter().for_each(|name| _ = write!(text, "{name:>11}"));
        text.push('\n');
        let mut curves = Vec::new();
        for (row, uses) in rows.iter().zip(uses).filter(|(row, _)| row.virtual_channels == vcs) {
            let _ = write!(text, "{:<20}", row.selection);
            columns(uses).iter().for_each(|value| _ = write!(text, "{value:>11.4}"));
            text.push('\n');
            curves.push(Series {
                label: row.selection.into(),
                style: Style::Curve,
                points: (1..).map(f64::from).zip(descending(uses)).collect(),
            });
        }
        let x = ("Channels, from the fullest on", Scale::Linear);
        let y = ("Utilisation", Scale::Linear);
        let title = format!("{network}, {rule}, {}", channels_text(vcs));
        let figure = xy_figure_among(&NAMES, &title, x, y, &curves);
        figures.push((format!("utilisation-{vcs}"), figure));
    }
    figures.extend(maps(rows, uses, network));
    let _ = writeln!(text, "\nthe paper: {}", PathSelectionFigure::Figure7.published());
    let all: Vec<&ChannelUse> = uses.iter().flatten().collect();
    Reproduction {
        text,
        tables: vec![("throughput", rows_text(rows)), ("channels", rows_text(&all))],
        figures,
        json: serde_json::json!({ "throughput": json(rows), "channels": json(&all) }),
    }
}

/// The shares of time for which channels are used, the highest first.
fn descending(uses: &[ChannelUse]) -> Vec<f64> {
    let mut shares: Vec<f64> = uses.iter().map(|channel| channel.utilisation).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    shares
}

/// The values of [`COLUMNS`].
fn columns(uses: &[ChannelUse]) -> [f64; COLUMNS.len()] {
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let shares = descending(uses);
    let all = mean(&shares);
    let squares: Vec<f64> = shares.iter().map(|share| (share - all) * (share - all)).collect();
    let is_of_root = |channel: &&ChannelUse| {
        ends(&channel.channel).is_some_and(|(source, _, target)| source == 0 || target == 0)
    };
    let of_root = uses.iter().filter(is_of_root).map(|channel| channel.utilisation);
    let at_root = mean(&of_root.collect::<Vec<_>>());
    [
        all,
        shares.first().copied().unwrap_or(0.0),
        shares.get(shares.len() / 2).copied().unwrap_or(0.0),
        shares.last().copied().unwrap_or(0.0),
        mean(&squares).sqrt(),
        at_root,
        at_root / all,
    ]
}

/// A map of each selection with each number of virtual channels, with one scale for all.
fn maps(rows: &[Row], uses: &[Vec<ChannelUse>], network: &str) -> Vec<(String, Figure)> {
    let map = |(row, uses): (&Row, &Vec<ChannelUse>)| {
        let channels = channels_text(row.virtual_channels);
        let title = format!("{network}, {channels}, {}: root in the middle", row.selection);
        // Four channels leave each switch.
        let side = (uses.len() / 4).isqrt();
        let placed = uses.iter().filter_map(|channel| {
            let name = place(&channel.channel, side)?;
            let utilisation = channel.utilisation;
            Some(ChannelRow { channel: name, utilisation, ..ChannelRow::default() })
        });
        (title, placed.collect())
    };
    let maps: Vec<(String, Vec<ChannelRow>)> = rows.iter().zip(uses).map(map).collect();
    let name = |row: &Row| format!("map-{}-{}", row.virtual_channels, row.selection);
    rows.iter().map(name).zip(channel_heat_maps(&maps)).collect()
}

/// The source, the port and the target of a channel such as `S0 port 3 to S8`.
fn ends(channel: &str) -> Option<(usize, usize, usize)> {
    let (source, rest) = channel.strip_prefix('S')?.split_once(" port ")?;
    let (port, target) = rest.split_once(" to S")?;
    Some((source.parse().ok()?, port.parse().ok()?, target.parse().ok()?))
}

/// The name of a channel on a map of a torus with so many switches a side, such as `(4,4) +y`:
/// switch 0, the root, is in the middle.
fn place(channel: &str, side: usize) -> Option<String> {
    let (source, port, _) = ends(channel)?;
    let middle = |at: usize| (at + side / 2) % side;
    let direction = ["+x", "-x", "+y", "-y"].get(port.checked_sub(1)?)?;
    Some(format!("({},{}) {direction}", middle(source % side), middle(source / side)))
}

#[cfg(test)]
mod tests {
    use super::super::path_throughput::path_selection_figure;
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn a_map_has_each_channel_at_its_source_and_the_root_in_the_middle() {
        assert_eq!(place("S0 port 1 to S1", 8).unwrap(), "(4,4) +x");
        assert_eq!(place("S63 port 4 to S55", 8).unwrap(), "(3,3) -y");
        assert_eq!(place("S12 port 2 to S11", 8).unwrap(), "(0,5) -x");
        assert_eq!(place("S12 to S11", 8), None);
    }

    #[test]
    fn the_channels_of_the_torus_carry_what_is_accepted() {
        let figure = PathSelectionFigure::Figure7;
        let found = path_selection_figure(figure, SAMPLE, &mut |_, _, _| {}).unwrap();
        let rows = found.json["throughput"].as_array().unwrap();
        let channels = found.json["channels"].as_array().unwrap();
        for row in rows {
            let own = channels.iter().filter(|it| {
                ["selection", "virtual_channels"].iter().all(|&key| it[key] == row[key])
            });
            let shares: Vec<f64> = own.map(|it| it["utilisation"].as_f64().unwrap()).collect();
            // 18 hosts on nine switches with four channels each, but for the rounding of what is
            // under way.
            assert_eq!(shares.len(), 36);
            let carried: f64 = shares.iter().sum();
            let accepted = row["throughput"].as_f64().unwrap() * 18.0;
            let hops = row["hops_mean"].as_f64().unwrap();
            assert!((carried / (accepted * hops) - 1.0).abs() < 0.1, "{row}: {carried}");
        }
        // Two curves, and a map of each row.
        assert_eq!(found.figures.len(), 2 + rows.len());
    }
}
