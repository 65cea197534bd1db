//! \[path-selection\], Figures 4 to 7: the throughput of paths fixed by each selection, on ten
//! random networks of 16 switches with one and five virtual channels and on an 8x8 torus, and how
//! evenly its channels are used.
//!
//! Each host sends packets of 128 flits to hosts drawn uniformly. 1,000,000 clocks are simulated,
//! of which the first 50,000 are ignored; a flit takes a clock. Throughput is the most that is
//! accepted at any load, in flits a clock and host. The paper's values are in its figures only;
//! what its text says of them is printed beside ours.
//!
//! Open are the pipeline (here a clock each for routing and for the crossbar, and a clock for a
//! link), buffers (here a packet for each virtual channel), the loads at which throughput was
//! looked for, how hosts are connected (here by channels as fast as links) and which networks were
//! drawn (here those of seeds 1 to 10, as in Tables 2 and 3). Random selection is read in two ways,
//! as in the tables: one draw a hop (`random`), and one order of ports a switch
//! (`random-port-order`). Beyond the paper are our selection (`balanced`) and packets that choose at
//! every switch (`adaptive`).

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::path_selection::{ADAPTIVE, NAMES, channels_text, selections};
use super::path_utilisation::utilisation;
use super::{Extent, Flawed, Progress, Reproduction, all};
use flitlab_base::units::Picoseconds;
use flitlab_engine::ChannelKind;
use flitlab_measure::half_width_95_of_few;
use flitlab_report::Status;
use flitlab_report::figure::{Bars, Figure, bars_figure};
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Document, Scenario};
use flitlab_tables::path_selection::PathSelection;

/// Which figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSelectionFigure {
    /// 16 switches, Up*/Down*, one virtual channel.
    Figure4,
    /// 16 switches, Up*/Down* and UDWM, five virtual channels.
    Figure5,
    /// 8x8 torus, Up*/Down*, one and five virtual channels.
    Figure6,
    /// How the channels of the torus are used at the throughputs of Figure 6.
    Figure7,
}

/// A network, a routing and the number of its virtual channels.
#[derive(Clone, Copy, Debug)]
struct Case {
    rule: &'static str,
    vcs: u8,
    selection: &'static str,
    /// Of a random network; none of the torus.
    seed: Option<u64>,
    quick: bool,
}

/// The throughput of a case.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    routing: &'static str,
    pub virtual_channels: u8,
    pub selection: &'static str,
    /// Which random network.
    network: Option<u64>,
    /// Flits a clock and host.
    throughput: f64,
    /// The load at which that was accepted.
    at_load: f64,
    /// Of packets from injection, at that load, in clocks.
    network_latency: Option<f64>,
    hops_mean: Option<f64>,
    /// The share of packets that were overtaken.
    overtaken: Option<f64>,
    /// Of the event stream at that load.
    digest: String,
}

/// A channel of the torus at the throughput.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ChannelUse {
    virtual_channels: u8,
    selection: &'static str,
    pub channel: String,
    pub utilisation: f64,
}

impl PathSelectionFigure {
    /// Rules with their numbers of virtual channels.
    pub(super) fn routings(self) -> &'static [(&'static str, u8)] {
        match self {
            Self::Figure4 => &[("up-down", 1)],
            Self::Figure5 => &[("up-down", 5), ("udwm", 5)],
            Self::Figure6 | Self::Figure7 => &[("up-down", 1), ("up-down", 5)],
        }
    }

    fn is_of_torus(self) -> bool {
        matches!(self, Self::Figure6 | Self::Figure7)
    }

    /// The network that is simulated, and its size.
    pub(super) fn network(self, quick: bool) -> &'static str {
        match (self.is_of_torus(), quick) {
            (true, false) => "8x8 torus",
            (true, true) => "3x3 torus",
            (false, false) => "Irregular, 16 switches",
            (false, true) => "Irregular, 8 switches",
        }
    }

    fn cases(self, quick: bool) -> Vec<Case> {
        let seeds: Vec<Option<u64>> = match (self.is_of_torus(), quick) {
            (true, _) => vec![None],
            (false, true) => vec![Some(1), Some(2)],
            (false, false) => (1..=10).map(Some).collect(),
        };
        let mut cases = Vec::new();
        for &(rule, vcs) in self.routings() {
            for selection in selections().map(|selection| selection.name).chain([ADAPTIVE]) {
                let case = |&seed: &Option<u64>| Case { rule, vcs, selection, seed, quick };
                cases.extend(seeds.iter().map(case));
            }
        }
        cases
    }

    /// Returns the statement of \[path-selection\] about this figure.
    pub(super) fn published(self) -> &'static str {
        match self {
            Self::Figure4 => "traffic-balancing is a little better than low-virtual",
            Self::Figure5 => {
                "traffic-balancing and high-physical are better than low-physical and low-virtual"
            }
            Self::Figure6 => {
                "traffic-balancing, high-physical, low-virtual and low-physical are better than random and low-port"
            }
            Self::Figure7 => {
                "all gather packets around the root; those with a static analysis less, and use channels more"
            }
        }
    }
}

/// A figure's simulations.
///
/// # Errors
/// If packets deadlock in spite of a proof.
pub fn path_selection_figure(
    figure: PathSelectionFigure,
    extent: Extent<'_>,
    progress: Progress<'_>,
) -> Result<Reproduction, Flawed> {
    let cases = figure.cases(extent.quick);
    let found = all(&cases, extent, |case| run(case, extent), note, progress);
    let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (rows, uses): (Vec<Row>, Vec<Vec<ChannelUse>>) = found.into_iter().unzip();
    if figure == PathSelectionFigure::Figure7 {
        return Ok(utilisation(&rows, &uses, extent.quick));
    }
    let figures = throughput_figures(figure, &rows, extent.quick);
    let text = text(figure, &rows, extent.quick);
    Ok(Reproduction::of_rows("throughput", &rows, text, figures))
}

fn throughput_figures(
    figure: PathSelectionFigure,
    rows: &[Row],
    quick: bool,
) -> Vec<(String, Figure)> {
    let mut figures = Vec::new();
    for &(rule, vcs) in figure.routings() {
        let own = means(rows, rule, vcs);
        let network = figure.network(quick);
        let title = format!("{network}, {rule}, {}", channels_text(vcs));
        let bars = own.iter().map(|mean| Bars {
            label: mean.selection.into(),
            published: false,
            values: vec![(mean.selection.to_owned(), mean.throughput, mean.half)],
        });
        let (name, axis) =
            (format!("throughput-{rule}-{vcs}"), "Throughput (flits a clock and host)");
        let bars = bars.collect::<Vec<_>>();
        figures.push((name, bars_figure(&NAMES, &title, axis, &bars, "")));
    }
    figures
}

fn note(found: &Result<(Row, Vec<ChannelUse>), Flawed>) -> String {
    let Ok((row, _)) = found else { return String::new() };
    let network = row.network.map_or("torus".into(), |network| format!("network {network}"));
    format!(
        "{:<8} {} {:<18} {network:<11} {:.4}",
        row.routing, row.virtual_channels, row.selection, row.throughput
    )
}

/// The scenario of a case at load 1.
fn scenario(case: &Case) -> String {
    let Case { rule, vcs, selection, seed, quick } = *case;
    let topology = match (seed, quick) {
        (Some(seed), false) => format!("irregular = {{ switches = 16, seed = {seed} }}"),
        (Some(seed), true) => {
            format!("irregular = {{ switches = 8, links = 3, terminals = 2, seed = {seed} }}")
        }
        (None, false) => "switched_torus = { dimensions = [8, 8], terminals = 4 }".into(),
        (None, true) => "switched_torus = { dimensions = [3, 3], terminals = 2 }".into(),
    };
    // A clock is a nanosecond. Windows are as long as what is ignored.
    let (window, windows) = if quick { (2, 4) } else { (50, 19) };
    let (selection, ties) = match (selection, vcs) {
        // What was computed before version 14 of the results, when this was the default, is so
        // computed again. With several virtual channels packets like other outputs since then,
        // whatever this says.
        (ADAPTIVE, 1) => ("none", ", ties = \"first\""),
        (ADAPTIVE, _) => ("none", ""),
        _ => (selection, ""),
    };
    format!(
        r#"
        topology.{topology}
        routing.relation = {{ rule = "{rule}", selection = "{selection}"{ties} }}

        [router]
        flit = "8 B"
        header_flits = 1
        checksum_flits = 0
        maximum_payload = "1016 B"
        virtual_channels = {vcs}
        buffer = "128 flits"
        routing_latency = "1 ns"
        crossbar_latency = "1 ns"

        [link]
        sharing = "flit"
        rate = "64 Gb/s"
        latency = "1 ns"

        [adapter]
        injection_rate = "64 Gb/s"
        injection_latency = "1 ns"
        injection_buffer = "128 flits"
        ejection_rate = "64 Gb/s"
        ejection_latency = "1 ns"

        [traffic]
        pattern = "uniform"
        message = "1016 B"
        load = 1.0

        [measure]
        window = "{window} us"
        warm_up_windows = 1
        minimum_windows = {windows}
        maximum_windows = {windows}
        "#
    )
}

/// The most that is accepted at any load. The highest load comes first. The others begin with what
/// is accepted then, as lower ones can't give more, and grow by a twentieth each until twice
/// clearly less than offered is accepted.
fn run(case: &Case, extent: Extent<'_>) -> Result<(Row, Vec<ChannelUse>), Flawed> {
    // All have the same network, and with it the paths.
    let text = scenario(case);
    let scenario = Scenario::read(&Document::parse("path-selection", &text))
        .map_err(|error| format!("{case:?}: {error}"))?;
    let at_load = |load: f64| {
        let found = extent
            .simulated(&format!("{text}\nat load {load}"), || simulate(&scenario.at_load(load)));
        let found = found.map_err(|error| format!("{case:?} at load {load}: {error}"))?;
        Ok::<_, Flawed>(of_case(case, load, found))
    };
    let growth = if case.quick { 1.5 } else { 1.05 };
    let mut best = at_load(1.0)?;
    let mut load = best.0.throughput;
    let mut behind = 0;
    while behind < 2 && load < 1.0 {
        let found = at_load(load)?;
        behind += u32::from(found.0.throughput < 0.95 * load);
        if found.0.throughput > best.0.throughput {
            best = found;
        }
        load *= growth;
    }
    Ok(best)
}

/// A simulated load.
#[derive(Debug, Serialize, Deserialize)]
struct LoadResult {
    accepted: f64,
    network_latency_mean: Option<Picoseconds>,
    hops_mean: Option<f64>,
    overtaken: Option<f64>,
    digest: Option<u64>,
    /// The channels between switches, and how much each is used.
    channels: Vec<(String, f64)>,
}

fn simulate(scenario: &Scenario) -> Result<LoadResult, Flawed> {
    let simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    let found = simulation.run(&mut |_| {}).found;
    let measured = found.measured;
    let accepted = measured.accepted_load.filter(|_| measured.status != Status::Deadlock);
    let channels = found.channels.into_iter().filter(|it| it.kind == ChannelKind::Network);
    Ok(LoadResult {
        accepted: accepted.ok_or("a deadlock")?,
        network_latency_mean: measured.network_latency_mean,
        hops_mean: measured.hops_mean,
        overtaken: measured.overtaken,
        digest: measured.digest,
        channels: channels.map(|it| (it.channel, it.utilisation)).collect(),
    })
}

/// Returns the results at a load as rows of a case.
fn of_case(case: &Case, load: f64, found: LoadResult) -> (Row, Vec<ChannelUse>) {
    let Case { rule, vcs, selection, seed, .. } = *case;
    let row = Row {
        routing: rule,
        virtual_channels: vcs,
        selection,
        network: seed,
        throughput: found.accepted,
        at_load: load,
        network_latency: found.network_latency_mean.map(|time| time.0 as f64 / 1e3),
        hops_mean: found.hops_mean,
        overtaken: found.overtaken,
        digest: format!("{:016x}", found.digest.unwrap_or_default()),
    };
    let channels = found.channels.into_iter().map(|(channel, utilisation)| ChannelUse {
        virtual_channels: vcs,
        selection,
        channel,
        utilisation,
    });
    (row, channels.collect())
}

/// A selection's throughput over all networks.
struct Mean {
    selection: &'static str,
    throughput: f64,
    /// Half the 95% confidence interval.
    half: Option<f64>,
    hops: f64,
}

/// By selection, in the order of rows.
fn means(rows: &[Row], rule: &str, vcs: u8) -> Vec<Mean> {
    let own = |row: &&Row| row.routing == rule && row.virtual_channels == vcs;
    let own: Vec<&Row> = rows.iter().filter(own).collect();
    let of_selection = own.chunk_by(|one, other| one.selection == other.selection);
    let mean = |rows: &[&Row]| {
        let values: Vec<f64> = rows.iter().map(|row| row.throughput).collect();
        let count = values.len() as f64;
        Mean {
            selection: rows[0].selection,
            throughput: values.iter().sum::<f64>() / count,
            half: half_width_95_of_few(&values),
            hops: rows.iter().filter_map(|row| row.hops_mean).sum::<f64>() / count,
        }
    };
    of_selection.map(mean).collect()
}

fn text(figure: PathSelectionFigure, rows: &[Row], quick: bool) -> String {
    let mut text = String::from("throughput in flits a clock and host");
    text += match (figure.is_of_torus(), quick) {
        (_, true) => "; small networks and a hundredth of the time\n",
        (true, false) => "\n",
        (false, false) => ", means of ten networks with 95% intervals\n",
    };
    for &(rule, vcs) in figure.routings() {
        let _ = writeln!(text, "\n{rule}, {}", channels_text(vcs));
        let _ = writeln!(text, "{:<20}{:>10}{:>10}{:>10}", "", "mean", "+-", "hops");
        for mean in means(rows, rule, vcs) {
            let half = mean.half.map_or(String::new(), |half| format!("{half:.4}"));
            let Mean { selection, throughput, hops, .. } = mean;
            let _ = writeln!(text, "{selection:<20}{throughput:>10.4}{half:>10}{hops:>10.3}");
        }
    }
    text += &lead_text(figure, rows);
    let _ = writeln!(text, "\nthe paper: {}", figure.published());
    text
}

/// How far each selection is ahead of those that analyse nothing, network by network: the paper's
/// claims under both readings of random selection.
fn lead_text(figure: PathSelectionFigure, rows: &[Row]) -> String {
    let others = [PathSelection::RANDOM, PathSelection::PORT_ORDER, PathSelection::LOW_PORT];
    let others = others.map(|other| other.name);
    let mut text = String::new();
    for &(rule, vcs) in figure.routings() {
        let title = format!("{rule}, {}, ahead of", channels_text(vcs));
        let _ = write!(text, "\n{title:<40}");
        others.iter().for_each(|other| _ = write!(text, "{other:>24}"));
        text.push('\n');
        let of = |selection: &str| -> Vec<f64> {
            let own = rows.iter().filter(|row| {
                (row.routing, row.virtual_channels, row.selection) == (rule, vcs, selection)
            });
            own.map(|row| row.throughput).collect()
        };
        for selection in selections().map(|selection| selection.name).chain([ADAPTIVE]) {
            let _ = write!(text, "{selection:<40}");
            for other in others {
                let pairs = of(selection).into_iter().zip(of(other));
                let leads: Vec<f64> = pairs.map(|(own, other)| own - other).collect();
                let _ = write!(text, "{:>24}", lead(&leads));
            }
            text.push('\n');
        }
    }
    text
}

/// The mean of leads with half its 95% interval, and on how many networks there is one.
fn lead(leads: &[f64]) -> String {
    let count = leads.len();
    let mean = leads.iter().sum::<f64>() / count as f64;
    let Some(half) = half_width_95_of_few(leads) else { return format!("{mean:+.4}") };
    let ahead = leads.iter().filter(|&&lead| lead > 0.0).count();
    format!("{mean:+.4} +-{half:.4} {ahead}/{count}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    fn rows(figure: PathSelectionFigure) -> (Vec<serde_json::Value>, Reproduction) {
        let found = path_selection_figure(figure, SAMPLE, &mut |_, _, _| {}).unwrap();
        let rows = found.json.get("throughput").unwrap_or(&found.json);
        (rows.as_array().unwrap().clone(), found)
    }

    #[test]
    fn every_selection_has_a_throughput_on_every_network() {
        for (figure, routings) in
            [(PathSelectionFigure::Figure4, 1), (PathSelectionFigure::Figure5, 2)]
        {
            let (rows, found) = rows(figure);
            assert_eq!(rows.len(), routings * 2 * (selections().count() + 1));
            for row in &rows {
                let throughput = row["throughput"].as_f64().unwrap();
                let load = row["at_load"].as_f64().unwrap();
                assert!((0.1..=1.0).contains(&throughput) && throughput <= load + 0.1, "{row}");
                // Packets that choose may overtake each other; along one path they can't.
                let overtaken = row["overtaken"].as_f64().unwrap();
                assert!(row["selection"] == ADAPTIVE || overtaken == 0.0, "{row}");
            }
            assert_eq!(found.figures.len(), routings);
        }
    }
}
