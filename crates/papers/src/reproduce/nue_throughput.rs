//! Figure 10 of the slides of \[nue\]: throughput of an all-to-all exchange of 2 KiB messages on
//! seven fabrics of InfiniBand with 4xQDR links and 8 virtual channels, under Nue with 1 to 8 of
//! them and under the algorithms of OpenSM that have a table free of deadlock.
//!
//! The slides say: Nue gives between 83.5% (10-ary 3-tree) and 121.4% (Cascade) of the best other
//! algorithm, and more virtual channels give more throughput. Open is how messages follow each
//! other: here all are queued at the start, in the order of a shift, so that the network alone
//! decides. Which random graph theirs was is open too.
//!
//! Beyond the slides: `nue-spread`, which never fares worse with more virtual channels by the static
//! figure that it goes by, and `nue-balanced`; packets that choose among the hops of the relations `two-orders`,
//! `bubble-colouring` and, where it is another one than `two-orders`, `parted` with 1, 2, 4 and 8
//! virtual channels, and all the same when every terminal offers as much as it can to terminals
//! drawn alike, and when each sends all that it has to one.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::nue_tables::{FABRICS, VCS};
use super::{Extent, Flawed, Progress, Reproduction, all};
use flitlab_base::units::Picoseconds;
use flitlab_report::Status;
use flitlab_report::figure::{Figure, NotedBar, Scale, Series, Style, noted_figure, xy_figure};
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Diagnostics, Document, Scenario};
use flitlab_tables::ForwardingProof;

/// Small ones of the same kinds.
const SMALL: [(&str, &str); 2] = [
    ("3x3x3", "switched_torus = { dimensions = [3, 3, 3], terminals = 2 }"),
    ("2-ary 3-tree", "tree = { arity = 2, levels = 3 }"),
];

/// The algorithms that Nue is measured by. DFSSSP takes as few virtual channels as it needs: so both
/// published values come out.
const OTHERS: [&str; 5] = ["up-down", "lash", "dfsssp-fewest", "torus-2qos", "d-mod-k"];

/// DFSSSP over all virtual channels, by destinations that are near each other and as OpenSM spreads
/// it, which are beside them and no measure of Nue.
const SPREAD_OUT: [&str; 2] = ["dfsssp", "dfsssp-opensm"];

/// The routing relations beside them.
const RELATIONS: [&str; 2] = ["two-orders", "bubble-colouring"];

/// The relation that is another one on two fabrics alone, and these fabrics.
const PARTED: &str = "parted";
const PARTS: [&str; 2] = ["tsubame2.5", "2-ary 3-tree"];

/// Numbers of virtual channels for those that are not tried with all numbers from 1 to 8.
const SOME_VCS: [u8; 4] = [1, 2, 4, VCS];

/// The traffic in the slides of \[nue\].
const ALL_TO_ALL: &str = "all-to-all";

/// Kinds of traffic, with their lines of a scenario: 2 KiB from each terminal to each other one;
/// messages of 2 KiB to terminals drawn alike, as many as the adapters can send, of which those
/// count that come in 0.1 ms, after 0.1 ms; 128 KiB from each terminal to another one, drawn so
/// that each receives from one.
const TRAFFIC: [(&str, &str); 3] = [
    (
        ALL_TO_ALL,
        "exchange = { pattern = \"all-to-all\", message = \"2 KiB\", between_steps = \"nothing\" }\n",
    ),
    (
        "uniform",
        "traffic = { pattern = \"uniform\", message = \"2 KiB\", load = 1.0 }\n\
         measure = { window = \"10 us\", warm_up_windows = 10, minimum_windows = 10, maximum_windows = 10 }\n",
    ),
    ("permutation", "exchange = { pattern = \"random-permutation\", message = \"128 KiB\" }\n"),
];

/// The least and the most of Nue's throughput beside the best other's, in percent.
const PUBLISHED: [(&str, f64); 2] = [("10-ary 3-tree", 83.5), ("cascade", 121.4)];

/// A simulation.
#[derive(Clone, Copy, Debug)]
struct Case {
    fabric: &'static str,
    topology: &'static str,
    traffic: (&'static str, &'static str),
    algorithm: &'static str,
    vcs: u8,
}

/// The result of a simulation, or why there is none.
#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    fabric: &'static str,
    traffic: &'static str,
    algorithm: &'static str,
    /// Virtual channels that the algorithm may use.
    #[serde(rename = "lanes")]
    vcs: u8,
    /// Virtual channels in which packets can be between routers.
    #[serde(rename = "lanes_used")]
    vcs_used: Option<u32>,
    /// Payload that a terminal receives.
    #[serde(rename = "throughput_GB_per_s_per_node")]
    throughput: Option<f64>,
    /// Beside the best of OpenSM's other algorithms on the fabric under this traffic.
    of_best_other: Option<f64>,
    #[serde(rename = "completion_time_us")]
    completion_time: Option<f64>,
    #[serde(rename = "packet_latency_mean_ns")]
    packet_latency_mean: Option<f64>,
    hops_mean: Option<f64>,
    reason: Option<String>,
    /// Of the event stream.
    digest: Option<String>,
}

/// All fabrics under all algorithms.
///
/// # Errors
/// If packets deadlock in spite of a proof.
pub fn nue_throughput(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    let mut rows: Vec<Row> =
        all(&cases(extent.quick), extent, |case| run(case, extent), note, progress)
            .into_iter()
            .collect::<Result<_, _>>()?;
    relate(&mut rows);
    let mut figures = Vec::new();
    let of_slides: Vec<Row> =
        rows.iter().filter(|row| row.traffic == ALL_TO_ALL).cloned().collect();
    for algorithm in ["nue", "nue-spread", "nue-balanced"].into_iter().chain(RELATIONS) {
        figures.push((format!("{algorithm}-over-lanes"), over_vcs(&of_slides, algorithm)));
    }
    for of_fabric in of_slides.chunk_by(|one, other| one.fabric == other.fabric) {
        let name = of_fabric[0].fabric;
        figures.push((format!("throughput-{}", name.replace([' ', '.'], "-")), bars(of_fabric)));
    }
    Ok(Reproduction::of_rows("throughput", &rows, text(&rows, &of_slides), figures))
}

fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for &(fabric, topology) in if quick { &SMALL[..] } else { &FABRICS[..] } {
        for traffic in TRAFFIC {
            let mut case = |algorithm, vcs| {
                cases.push(Case { fabric, topology, traffic, algorithm, vcs });
            };
            OTHERS.into_iter().chain(SPREAD_OUT).for_each(|algorithm| case(algorithm, VCS));
            for algorithm in ["nue", "nue-spread"] {
                if traffic.0 == ALL_TO_ALL {
                    (1..=VCS).for_each(|vcs| case(algorithm, vcs));
                } else {
                    SOME_VCS.into_iter().for_each(|vcs| case(algorithm, vcs));
                }
            }
            let parted = Some(PARTED).filter(|_| PARTS.contains(&fabric));
            for algorithm in ["nue-balanced"].into_iter().chain(RELATIONS).chain(parted) {
                SOME_VCS.into_iter().for_each(|vcs| case(algorithm, vcs));
            }
        }
    }
    cases
}

/// Simulates a case.
fn run(case: &Case, extent: Extent<'_>) -> Result<Row, Flawed> {
    let Case { fabric, topology, traffic: (traffic, sent), algorithm, vcs } = *case;
    let routing = if is_relation(algorithm) {
        format!("routing.relation = {{ rule = \"{algorithm}\", lanes = {vcs} }}")
    } else {
        format!("routing.agnostic = {{ algorithm = \"{algorithm}\", lanes = {vcs} }}")
    };
    let text =
        format!("topology.{topology}\n{routing}\nrouter.preset = \"infiniband-4xqdr\"\n{}", sent);
    let mut row = Row { fabric, traffic, algorithm, vcs, ..Row::default() };
    let found = match extent.simulated(&text, || simulate(&text, vcs)) {
        Ok(found) => found,
        Err(reason) if OTHERS.contains(&algorithm) || SPREAD_OUT.contains(&algorithm) => {
            row.reason = reason.map(|reason| reason.trim_start_matches("error: ").to_owned());
            return Ok(row);
        }
        Err(reason) => {
            return Err(format!("{algorithm} on {fabric}: {}", reason.unwrap_or_default()));
        }
    };
    let Some(found) = found else {
        return Err(format!("{algorithm} with {vcs} virtual channels on {fabric} deadlocks"));
    };
    row.vcs_used = Some(found.vcs_used);
    row.throughput = found.throughput;
    row.completion_time = found.completion_time.map(|time| time.0 as f64 / 1e6);
    row.packet_latency_mean = found.packet_latency_mean.map(|time| time.0 as f64 / 1e3);
    row.hops_mean = found.hops_mean;
    row.digest = found.digest.map(|digest| format!("{digest:016x}"));
    Ok(row)
}

fn is_relation(algorithm: &str) -> bool {
    RELATIONS.contains(&algorithm) || algorithm == PARTED
}

/// The result of a simulation, as it is kept.
#[derive(Serialize, Deserialize)]
struct SimulationResult {
    vcs_used: u32,
    throughput: Option<f64>,
    completion_time: Option<Picoseconds>,
    packet_latency_mean: Option<Picoseconds>,
    hops_mean: Option<f64>,
    digest: Option<u64>,
}

/// Simulates a scenario whose routing may use so many virtual channels; `None` if it deadlocks.
/// Otherwise why it is refused.
fn simulate(text: &str, vcs: u8) -> Result<Option<SimulationResult>, Option<String>> {
    let document = Document::parse("nue-throughput", text);
    // An algorithm that is not for this fabric is refused at once, one that lacks virtual channels
    // when it has tried.
    let refused = |error: Diagnostics| error.to_string().lines().next().map(str::to_owned);
    let scenario = Scenario::read(&document).map_err(refused)?;
    let simulation = Simulation::new(&scenario).map_err(|error| Some(error.to_string()))?;
    let network = &simulation.scenario().network;
    // Of a relation every packet may take all of its virtual channels.
    let vcs_used = network.forwarding_proof().map_or(vcs.into(), ForwardingProof::vcs_used);
    let measured = simulation.run(&mut |_| {}).found.measured;
    Ok((measured.status != Status::Deadlock).then_some(SimulationResult {
        vcs_used,
        throughput: measured.bandwidth.or(measured.accepted_payload),
        completion_time: measured.completion_time,
        packet_latency_mean: measured.packet_latency_mean,
        hops_mean: measured.hops_mean,
        digest: measured.digest,
    }))
}

/// Fills in throughputs beside the best other algorithm's.
fn relate(rows: &mut [Row]) {
    for of_fabric in
        rows.chunk_by_mut(|one, other| (one.fabric, one.traffic) == (other.fabric, other.traffic))
    {
        let best = best_other(of_fabric);
        for row in of_fabric {
            row.of_best_other = row.throughput.filter(|_| best > 0.0).map(|own| own / best);
        }
    }
}

/// The highest throughput of OpenSM's other algorithms; 0 if none has a table.
fn best_other(rows: &[Row]) -> f64 {
    let others = rows.iter().filter(|row| OTHERS.contains(&row.algorithm));
    others.filter_map(|row| row.throughput).fold(0.0, f64::max)
}

fn note(row: &Result<Row, Flawed>) -> String {
    let Ok(row) = row else { return String::new() };
    let found = match (row.throughput, &row.reason) {
        (Some(throughput), _) => format!("{throughput:.3} GB/s"),
        (None, reason) => reason.clone().unwrap_or_default(),
    };
    let vcs = vcs_text(row.vcs);
    let Row { fabric, traffic, algorithm, .. } = row;
    format!("{fabric:<14} {traffic:<11} {algorithm:<13} {vcs:<7}  {found}")
}

fn vcs_text(vcs: u8) -> String {
    if vcs == 1 { "1 lane".into() } else { format!("{vcs} lanes") }
}

/// Throughput beside the best other's over the number of virtual channels, a curve a fabric.
fn over_vcs(rows: &[Row], algorithm: &str) -> Figure {
    let own = rows.chunk_by(|one, other| one.fabric == other.fabric).map(|of_fabric| Series {
        label: of_fabric[0].fabric.into(),
        style: Style::Curve,
        points: of_fabric
            .iter()
            .filter(|row| row.algorithm == algorithm)
            .filter_map(|row| Some((f64::from(row.vcs), row.of_best_other?)))
            .collect(),
    });
    // The slides' values are those of the number that suits Nue best, which they do not name.
    let published = PUBLISHED
        .iter()
        .filter(|(fabric, _)| algorithm == "nue" && rows.iter().any(|row| row.fabric == *fabric));
    let published = published.map(|(fabric, percent)| Series {
        label: format!("{fabric}, published"),
        style: Style::Curve,
        points: vec![(1.0, percent / 100.0), (f64::from(VCS), percent / 100.0)],
    });
    let title = format!("{algorithm}, all-to-all of 2 KiB messages");
    let y = ("Throughput / best other algorithm's", Scale::Linear);
    let series: Vec<Series> = own.chain(published).collect();
    xy_figure(&title, ("Virtual lanes", Scale::Linear), y, &series)
}

/// All throughputs on a fabric, with the lanes used behind each bar, and the published one beside
/// Nue's: a share of the best other algorithm's here.
fn bars(of_fabric: &[Row]) -> Figure {
    let bar = |row: &Row| {
        let label = match row.algorithm {
            other if OTHERS.contains(&other) || SPREAD_OUT.contains(&other) => other.into(),
            own => format!("{own}, {}", vcs_text(row.vcs)),
        };
        let note = row.vcs_used.map_or(String::new(), |used| used.to_string());
        Some(NotedBar { label, value: row.throughput?, note, published: false })
    };
    let mut bars: Vec<NotedBar> = of_fabric.iter().filter_map(bar).collect();
    let fabric = of_fabric[0].fabric;
    let best = best_other(of_fabric);
    let published = PUBLISHED.iter().filter(|(of, _)| *of == fabric).map(|(_, percent)| NotedBar {
        label: format!("nue, published, {percent}%"),
        value: percent / 100.0 * best,
        note: String::new(),
        published: true,
    });
    let behind = of_fabric.iter().filter(|row| row.throughput.is_some());
    let place = behind.clone().position(|row| row.algorithm == "nue").unwrap_or(0);
    let place = place + behind.filter(|row| row.algorithm == "nue").count();
    bars.splice(place..place, published);
    let title = format!("{fabric}, all-to-all of 2 KiB messages");
    let meaning = "Behind each bar: virtual lanes that packets use";
    noted_figure(&bars, meaning, "Throughput (GB/s of payload a node)", &title)
}

/// What `cell` gives, a column for each algorithm and number of virtual channels.
fn columns(rows: &[Row], columns: &[(&str, u8)], cell: impl Fn(&Row) -> Option<String>) -> String {
    let mut text = format!("{:<14}", "");
    for (algorithm, _) in columns {
        let _ = write!(text, "{algorithm:>15}");
    }
    let _ = write!(text, "\n{:<14}", "lanes");
    for (_, vcs) in columns {
        let _ = write!(text, "{vcs:>15}");
    }
    text.push('\n');
    for of_fabric in rows.chunk_by(|one, other| one.fabric == other.fabric) {
        let _ = write!(text, "{:<14}", of_fabric[0].fabric);
        for column in columns {
            let row = of_fabric.iter().find(|row| (row.algorithm, row.vcs) == *column);
            let cell = row.and_then(&cell).unwrap_or_else(|| "-".into());
            let _ = write!(text, "{cell:>15}");
        }
        text.push('\n');
    }
    text
}

/// A relation beside Nue with as many virtual channels, and with eight beside the best table.
fn beside(rows: &[Row], relation: &str) -> String {
    let mut text = format!("{:<14}{:<13}", "", "traffic");
    for vcs in SOME_VCS {
        let _ = write!(text, "{:>20}", vcs_text(vcs));
    }
    text += "          best table with 8\n";
    for alike in rows
        .chunk_by(|one, other| (one.fabric, one.traffic) == (other.fabric, other.traffic))
        .filter(|alike| alike.iter().any(|row| row.algorithm == relation))
    {
        let throughput = |algorithm: &str, vcs: u8| {
            let mut own = alike.iter().filter(|row| (row.algorithm, row.vcs) == (algorithm, vcs));
            own.next().and_then(|row| row.throughput)
        };
        let _ = write!(text, "{:<14}{:<13}", alike[0].fabric, alike[0].traffic);
        for vcs in SOME_VCS {
            let own = throughput(relation, vcs).zip(throughput("nue", vcs));
            let cell = own.map_or("-".into(), |(own, nue)| format!("{own:.3} ({:.2})", own / nue));
            let _ = write!(text, "{cell:>20}");
        }
        let is_table = |row: &&Row| !is_relation(row.algorithm);
        let tables = alike.iter().filter(is_table).filter(|row| row.vcs == VCS);
        let best = tables
            .filter_map(|row| Some((row.throughput?, row.algorithm)))
            .max_by(|one, other| one.0.total_cmp(&other.0));
        if let (Some(own), Some((table, algorithm))) = (throughput(relation, VCS), best) {
            let _ = write!(text, "    {table:.3} ({:.2}), {algorithm}", own / table);
        }
        text.push('\n');
    }
    text
}

/// `rows` are those of the slides' traffic.
fn text(all: &[Row], rows: &[Row]) -> String {
    let others: Vec<(&str, u8)> =
        OTHERS.into_iter().chain(SPREAD_OUT).map(|algorithm| (algorithm, VCS)).collect();
    let nue = [("nue", 1), ("nue", 4), ("nue", 8), ("nue-spread", 4), ("nue-spread", 8)];
    let balanced = [("nue-balanced", 1), ("nue-balanced", 8)];
    let mut text = String::from("throughput in GB/s of payload a node\n");
    let throughput = |row: &Row| row.throughput.map(|throughput| format!("{throughput:.3}"));
    text += &columns(rows, &others, throughput);
    text.push('\n');
    text += &columns(rows, &[&nue[..], &balanced[..]].concat(), throughput);
    text += "\nlanes used\n";
    text += &columns(rows, &others, |row| row.vcs_used.map(|used| used.to_string()));
    text += "\nbeside the best other algorithm; nue with the lanes that suit it best\n";
    let _ = writeln!(
        text,
        "{:<14}{:>14}{:>10}{:>10}{:>15}{:>15}{:>10}",
        "", "best other", "nue", "(lanes)", "nue-spread", "nue-balanced", "slides"
    );
    for of_fabric in rows.chunk_by(|one, other| one.fabric == other.fabric) {
        let best = |of: &dyn Fn(&&Row) -> bool| {
            let rows = of_fabric.iter().filter(of).filter(|row| row.throughput.is_some());
            rows.max_by(|a, b| a.throughput.partial_cmp(&b.throughput).expect("no NaN"))
        };
        let other = best(&|row| OTHERS.contains(&row.algorithm));
        let nue = best(&|row| row.algorithm == "nue");
        let spread = best(&|row| row.algorithm == "nue-spread");
        let balanced = best(&|row| row.algorithm == "nue-balanced");
        let percent = |row: Option<&Row>| {
            let share = row.and_then(|row| row.of_best_other);
            share.map_or("-".into(), |share| format!("{:.1}%", 100.0 * share))
        };
        let published = PUBLISHED.iter().find(|(fabric, _)| *fabric == of_fabric[0].fabric);
        let _ = writeln!(
            text,
            "{:<14}{:>14}{:>10}{:>10}{:>15}{:>15}{:>10}",
            of_fabric[0].fabric,
            other.map_or("-", |row| row.algorithm),
            percent(nue),
            nue.map_or("-".into(), |row| row.vcs.to_string()),
            percent(spread),
            percent(balanced),
            published.map_or(String::new(), |(_, percent)| format!("{percent}%"))
        );
    }
    for relation in RELATIONS.into_iter().chain([PARTED]) {
        let _ = writeln!(
            text,
            "\n{relation}, and how many times nue's with as many lanes; the best table, and how many times it"
        );
        text += &beside(all, relation);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn the_fabrics_have_the_slides_sizes() {
        let sizes = [125, 150, 300, 150, 180, 192, 243];
        for ((name, topology), switches) in FABRICS.into_iter().zip(sizes) {
            let text = format!(
                "topology.{topology}\n\
                 exchange = {{ pattern = \"all-to-all\", message = \"2 KiB\" }}\n"
            );
            let scenario = Scenario::read(&Document::parse("nue", &text)).unwrap();
            assert_eq!(scenario.network.fabric.routers(), switches, "{name}");
            assert_eq!(scenario.parameters.virtual_channels, VCS);
        }
    }

    /// The slides call the Kautz graph "d = 7, k = 3" and give it 150 switches, 1,050 terminals and
    /// 1,500 cables, two a pair, on switches of 36 ports. A Kautz graph of degree d and diameter k
    /// has (d + 1) d^(k - 1) switches: of all that fit, one alone has the right number.
    #[test]
    fn the_slides_kautz_graph_has_degree_5_and_7_terminals_a_switch() {
        let switches = |degree: u32, diameter: u32| (degree + 1) * degree.pow(diameter - 1);
        let degrees = 2..=9; // Two cables each of as many inputs as outputs, within 36 ports.
        let all = degrees.flat_map(|degree| (1..=6).map(move |diameter| (degree, diameter)));
        let fits: Vec<_> =
            all.filter(|&(degree, diameter)| switches(degree, diameter) == 150).collect();
        assert_eq!(fits, [(5, 3)]);
        let sizes = |degree: u32, length: u32, terminals: u32| {
            let topology = format!(
                "topology.kautz = {{ degree = {degree}, length = {length}, terminals = {terminals}, redundancy = 2 }}"
            );
            let network = flitlab_scenario::Network::read(&Document::parse("kautz", &topology));
            let fabric = &network.unwrap().fabric;
            (fabric.routers(), fabric.terminals(), fabric.channels() / 2)
        };
        assert_eq!(sizes(5, 3, 7), (150, 1050, 1500));
        // The other readings: 7 is the degree, with words of three or two letters, or the diameter.
        assert_eq!(sizes(7, 3, 7), (392, 2744, 5488));
        assert_eq!(sizes(7, 2, 7), (56, 392, 784));
        assert_eq!(switches(3, 7), 2916);
    }

    #[test]
    fn every_algorithm_that_applies_gives_a_throughput() {
        let found = nue_throughput(SAMPLE, &mut |_, _, _| {}).unwrap();
        let rows = found.json.as_array().unwrap();
        assert_eq!(
            rows.len(),
            2 * (3 * (OTHERS.len() + SPREAD_OUT.len() + 12) + 2 * (8 + 2 * 4)) + 3 * 4
        );
        for row in rows {
            let (fabric, algorithm) = (&row["fabric"], row["algorithm"].as_str().unwrap());
            let applies = match algorithm {
                "torus-2qos" => fabric == "3x3x3",
                "d-mod-k" => fabric == "2-ary 3-tree",
                _ => true,
            };
            assert_eq!(row["throughput_GB_per_s_per_node"].is_number(), applies, "{row}");
            assert_eq!(row["reason"].is_string(), !applies, "{row}");
            let used = match algorithm {
                _ if !applies => None,
                "up-down" | "d-mod-k" => Some(1),
                "torus-2qos" => Some(2),
                // As few as it needs: one for shortest paths that close no cycle.
                "lash" => Some(1),
                "dfsssp" => Some(if fabric == "3x3x3" { 8 } else { 1 }),
                // Drawn; the small tree's few paths miss one.
                "dfsssp-opensm" => Some(if fabric == "3x3x3" { 8 } else { 7 }),
                "dfsssp-fewest" => Some(if fabric == "3x3x3" { 2 } else { 1 }),
                // Four switches with terminals have no more than four parts.
                "nue" | "nue-balanced" if fabric == "2-ary 3-tree" => {
                    row["lanes"].as_u64().map(|lanes| lanes.min(4))
                }
                // Fewer where they load no channel more.
                "nue-spread" => {
                    let used = row["lanes_used"].as_u64().unwrap();
                    assert!((1..=row["lanes"].as_u64().unwrap()).contains(&used), "{row}");
                    Some(used)
                }
                _ => row["lanes"].as_u64(),
            };
            assert_eq!(row["lanes_used"].as_u64(), used, "{row}");
        }
        assert!(found.text.contains("3x3x3"), "{}", found.text);
    }

    #[test]
    fn a_published_value_is_a_bar_and_a_line_beside_ours() {
        let row = |algorithm, vcs, throughput| Row {
            fabric: "cascade",
            traffic: ALL_TO_ALL,
            algorithm,
            vcs,
            vcs_used: Some(vcs.into()),
            throughput: Some(throughput),
            ..Row::default()
        };
        let mut rows = vec![
            row("up-down", 1, 0.25),
            row("lash", 3, 0.5),
            row("nue", 1, 0.4),
            row("nue", 2, 0.6),
            row("two-orders", 2, 0.9),
        ];
        relate(&mut rows);
        let bars = serde_json::to_value(bars(&rows)).unwrap();
        let groups = bars["content"]["Bars"]["groups"].as_array().unwrap();
        let drawn = |group: &serde_json::Value| {
            let bar = &group["bars"][0];
            let text = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
            (text(&group["label"]), bar["value"].as_f64().unwrap(), text(&bar["note"]))
        };
        let drawn: Vec<_> = groups.iter().map(drawn).collect();
        let expected = [
            ("up-down", 0.25, "1"),
            ("lash", 0.5, "3"),
            ("nue, 1 lane", 0.4, "1"),
            ("nue, 2 lanes", 0.6, "2"),
            ("nue, published, 121.4%", 1.214 * 0.5, ""),
            ("two-orders, 2 lanes", 0.9, "2"),
        ];
        let expected = expected.map(|(label, value, note)| (label.into(), value, note.into()));
        assert_eq!(drawn, expected);
        let lines = over_vcs(&rows, "nue");
        let lines = serde_json::to_string(&lines).unwrap();
        assert!(lines.contains("cascade, published") && lines.contains("1.214"), "{lines}");
        assert!(!lines.contains("3-tree"), "{lines}");
    }
}
