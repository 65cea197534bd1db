//! \[path-selection\], Tables 2, 3 and 4: how unevenly the paths of all pairs of switches are
//! spread over the channels, as the standard deviation (of the population of directed channels
//! between switches, one path a pair).
//!
//! The paper leaves open which ten irregular networks were drawn, how paths that differ in their
//! virtual channels alone are counted, which of equal channels and paths comes first, and which
//! virtual channels UDWM's hops may take that are no turns. Networks are drawn here from seeds 1 to
//! 100, with all 32 links that four ports of 16 switches allow, and with two of them fewer, drawn
//! too, as a generator leaves that draws links one by one and comes to an end before all ports are
//! taken. Of each hundred the first ten stand for a table of the paper's kind and all for what it
//! would be on average. What is open otherwise is computed in each [reading](READINGS), and how
//! near each comes is printed too.

use std::cell::OnceCell;
use std::fmt::Write;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Extent, Flawed, Progress, Reproduction, all, json};
use flitlab_base::registry;
use flitlab_fabric::builders::{Irregular, SwitchedTorus};
use flitlab_fabric::{Cabling, Fabric, NONE};
use flitlab_measure::half_width_95;
use flitlab_report::figure::{Bars, Figure, PUBLISHED, bars_figure};
use flitlab_report::rows_text;
use flitlab_routing::relation::{PathSet, Relation};
use flitlab_tables::path_selection::{
    PathSelection, RelationBound, SelectionParameters, Ties, VcChoices,
};
use flitlab_tables::prove_relation;
use flitlab_tables::relation_rules::{RelationParameters, RelationRule, udwm};

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSelectionTable {
    /// 16 switches, Up*/Down*, one virtual channel.
    Table2,
    /// 16 switches, Up*/Down* and UDWM, five virtual channels.
    Table3,
    /// 8x8 torus, Up*/Down*, one and five virtual channels.
    Table4,
}

/// A routing of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Routing {
    UpDown,
    /// Hops that are no turns stay in their virtual channel, or may go to a lower one.
    Udwm {
        may_descend: bool,
    },
}

/// A way to understand what \[path-selection\] leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    name: &'static str,
    choices: VcChoices,
    singly: bool,
    ties: Ties,
}

const fn reading(name: &'static str, choices: VcChoices, singly: bool, ties: Ties) -> Reading {
    Reading { name, choices, singly, ties }
}

/// The first is that of all other commands.
const READINGS: [Reading; 7] = [
    reading("routes, lowest first", VcChoices::Distinct, false, Ties::Lowest),
    reading("routes, highest first", VcChoices::Distinct, false, Ties::Highest),
    reading("routes, drawn", VcChoices::Distinct, false, Ties::Drawn(1)),
    reading("shared, lowest first", VcChoices::Shared, false, Ties::Lowest),
    reading("shared, highest first", VcChoices::Shared, false, Ties::Highest),
    reading("shared, drawn", VcChoices::Shared, false, Ties::Drawn(1)),
    reading("singly, lowest first", VcChoices::Distinct, true, Ties::Lowest),
];

/// Table 2, and of Table 3 Up*/Down* and UDWM.
const TABLE_2: [(registry::Row<PathSelection>, f64); 4] = [
    (PathSelection::RANDOM, 5.63),
    (PathSelection::LOW_PORT, 5.61),
    (PathSelection::TRAFFIC_BALANCING, 5.06),
    (PathSelection::LOW_VIRTUAL, 5.39),
];
const TABLE_3: [(registry::Row<PathSelection>, f64, f64); 6] = [
    (PathSelection::RANDOM, 5.54, 2.87),
    (PathSelection::LOW_PORT, 5.61, 3.04),
    (PathSelection::TRAFFIC_BALANCING, 5.09, 2.27),
    (PathSelection::HIGH_PHYSICAL, 5.07, 2.23),
    (PathSelection::LOW_VIRTUAL, 5.38, 2.70),
    (PathSelection::LOW_PHYSICAL, 5.52, 2.75),
];

/// Table 4: one virtual channel, and five.
const TABLE_4: [(registry::Row<PathSelection>, Option<f64>, f64); 6] = [
    (PathSelection::RANDOM, Some(69.0), 65.3),
    (PathSelection::LOW_PORT, Some(71.7), 71.7),
    (PathSelection::TRAFFIC_BALANCING, Some(54.1), 54.1),
    (PathSelection::HIGH_PHYSICAL, None, 53.8),
    (PathSelection::LOW_VIRTUAL, Some(61.0), 64.0),
    (PathSelection::LOW_PHYSICAL, None, 65.7),
];

/// The selections of the paper, and the best of ours.
pub(super) const SELECTIONS: [registry::Row<PathSelection>; 7] = [
    PathSelection::RANDOM,
    PathSelection::LOW_PORT,
    PathSelection::TRAFFIC_BALANCING,
    PathSelection::HIGH_PHYSICAL,
    PathSelection::LOW_VIRTUAL,
    PathSelection::LOW_PHYSICAL,
    PathSelection::BALANCED,
];

/// These, and the other reading of random selection.
pub(super) fn selections() -> impl Iterator<Item = registry::Row<PathSelection>> {
    SELECTIONS.into_iter().chain([PathSelection::PORT_ORDER])
}

/// The names that colours follow from, in all figures of this paper.
pub(super) const NAMES: [&str; SELECTIONS.len() + 2] = {
    let mut names = [ADAPTIVE; SELECTIONS.len() + 2];
    let mut at = 0;
    while at < SELECTIONS.len() {
        names[at] = SELECTIONS[at].name;
        at += 1;
    }
    names[at + 1] = PathSelection::PORT_ORDER.name;
    names
};

/// Where packets choose.
pub(super) const ADAPTIVE: &str = "adaptive";

pub(super) fn channels_text(vcs: u8) -> String {
    if vcs == 1 { "1 virtual channel".into() } else { format!("{vcs} virtual channels") }
}

/// As many networks as \[path-selection\] has, and as many as all means are taken over.
const PAPERS: usize = 10;
const NETWORKS: u64 = 100;
const QUICK: u64 = 6;
/// Links between switches of the networks.
const LINKS: [usize; 2] = [32, 30];

impl Routing {
    fn name(self) -> &'static str {
        match self {
            Self::UpDown => "up-down",
            Self::Udwm { may_descend: true } => "udwm",
            Self::Udwm { may_descend: false } => "udwm, no descent",
        }
    }

    fn published(
        self,
        table: PathSelectionTable,
        vcs: u8,
        selection: registry::Row<PathSelection>,
    ) -> Option<f64> {
        // An order of ports is a reading of random selection.
        let order = selection == PathSelection::PORT_ORDER;
        let selection = if order { PathSelection::RANDOM } else { selection };
        let of_3 = TABLE_3.iter().find(|row| row.0 == selection);
        match (table, self) {
            (PathSelectionTable::Table2, _) => {
                TABLE_2.iter().find(|row| row.0 == selection).map(|row| row.1)
            }
            (PathSelectionTable::Table3, Self::UpDown) => of_3.map(|row| row.1),
            (PathSelectionTable::Table3, Self::Udwm { .. }) => of_3.map(|row| row.2),
            (PathSelectionTable::Table4, _) => {
                let row = TABLE_4.iter().find(|row| row.0 == selection)?;
                if vcs == 1 { row.1 } else { Some(row.2) }
            }
        }
    }

    fn relation(self, fabric: &Fabric, vcs: u8) -> Result<Relation, Flawed> {
        let parameters = RelationParameters { vcs, ..RelationParameters::default() };
        let made = match self {
            Self::UpDown => RelationRule::UP_DOWN.relation(fabric, &parameters),
            Self::Udwm { may_descend } => udwm(fabric, &parameters, may_descend),
        };
        let relation = made.map_err(|none| none.to_string())?;
        match prove_relation(fabric, &relation).flaws.first() {
            Some(flaw) => Err(flaw.describe(fabric)),
            None => Ok(relation),
        }
    }
}

impl PathSelectionTable {
    /// Routings with their numbers of virtual channels.
    fn routings(self) -> Vec<(Routing, u8)> {
        let udwm = |may_descend| (Routing::Udwm { may_descend }, 5);
        match self {
            Self::Table2 => vec![(Routing::UpDown, 1)],
            Self::Table3 => vec![(Routing::UpDown, 5), udwm(true), udwm(false)],
            Self::Table4 => vec![(Routing::UpDown, 1), (Routing::UpDown, 5)],
        }
    }

    /// Readings that make a difference, and can be computed.
    fn readings(self, routing: Routing, vcs: u8) -> impl Iterator<Item = Reading> {
        // Up*/Down* in five virtual channels has too many paths to take them away singly on each
        // network: 43,620 on the first, of 356 physical routes.
        let makes_sense = move |reading: &Reading| {
            vcs > 1 && !(routing == Routing::UpDown && reading.singly)
                || reading.choices == VcChoices::Distinct && !reading.singly
        };
        READINGS.into_iter().filter(makes_sense)
    }

    fn title(self, quick: bool) -> &'static str {
        match self {
            Self::Table2 => "Table 2: irregular networks of 16 switches, 1 virtual channel",
            Self::Table3 => "Table 3: irregular networks of 16 switches, 5 virtual channels",
            Self::Table4 if quick => {
                "A sample of Table 4: 4x4 torus in place of 8x8, 1 and 5 virtual channels"
            }
            Self::Table4 => "Table 4: 8x8 torus, 1 and 5 virtual channels",
        }
    }
}

/// The paths across a channel, over all channels.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Crossing {
    deviation: f64,
    maximum: u64,
    mean: f64,
}

impl Crossing {
    fn of(loads: &[u64]) -> Self {
        let mean = loads.iter().sum::<u64>() as f64 / loads.len() as f64;
        let squares: f64 = loads.iter().map(|&load| (load as f64 - mean).powi(2)).sum();
        let deviation = (squares / loads.len() as f64).sqrt();
        Self { deviation, maximum: loads.iter().copied().max().unwrap_or(0), mean }
    }
}

/// The result of one selection on one network.
#[derive(Clone, Debug, Serialize)]
struct SelectionRow {
    network: String,
    /// Links between switches.
    links: usize,
    routing: &'static str,
    #[serde(rename = "lanes")]
    vcs: u8,
    selection: &'static str,
    reading: &'static str,
    /// Of the pairs of switches across a channel.
    deviation: f64,
    maximum: u64,
    mean: f64,
    /// The maximum of no selection can be lower.
    bound: u64,
    #[serde(skip)]
    published: Option<f64>,
}

/// The result of a selection on all networks.
#[derive(Clone, Debug, Serialize)]
struct Row {
    links: usize,
    routing: &'static str,
    #[serde(rename = "lanes")]
    vcs: u8,
    selection: &'static str,
    reading: &'static str,
    published: Option<f64>,
    /// Over as many networks as \[path-selection\] has.
    deviation_10: f64,
    deviation_10_half_width_95: Option<f64>,
    /// Over all networks.
    deviation: f64,
    deviation_half_width_95: Option<f64>,
    difference: Option<f64>,
    /// Mean over all networks of the deviation less that of low-port selection on the same network, which
    /// has most of what networks differ by; and the same of the published means.
    over_low_port: f64,
    published_over_low_port: Option<f64>,
    /// The standard deviation that the former has in the mean of as many networks as \[path-selection\]
    /// has; none of a single network.
    over_low_port_deviation_10: Option<f64>,
    networks: usize,
    maximum_mean: f64,
    bound_mean: f64,
    load_mean: f64,
}

/// Computes a table.
///
/// # Errors
/// If a relation is wrong.
pub fn path_selection(
    table: PathSelectionTable,
    extent: Extent<'_>,
    progress: Progress<'_>,
) -> Result<Reproduction, Flawed> {
    let seeds: Vec<u64> = match table {
        // Of the torus the seed is that of what is drawn on it.
        PathSelectionTable::Table4 => (1..=if extent.quick { 1 } else { 10 }).collect(),
        _ => (1..=if extent.quick { QUICK } else { NETWORKS }).collect(),
    };
    let work = |&seed: &u64| of_seed(table, seed, extent);
    let found = all(&seeds, extent, work, |_| String::new(), progress);
    let mut found: Vec<Vec<SelectionRow>> = found.into_iter().collect::<Result<_, _>>()?;
    if table == PathSelectionTable::Table4 {
        repeat_first(&mut found);
    }
    let rows = rows(table, &found);
    let first = |found: &&SelectionRow| found.reading == READINGS[0].name;
    let networks: Vec<SelectionRow> = found.iter().flatten().filter(first).cloned().collect();
    Ok(Reproduction {
        text: text(table, extent.quick, &rows),
        tables: vec![("table", rows_text(&rows)), ("networks", rows_text(&networks))],
        figures: figures(table, extent.quick, &rows),
        json: serde_json::json!({ "table": json(&rows), "networks": json(&networks) }),
    })
}

/// The networks of a seed, one after the other.
fn of_seed(
    table: PathSelectionTable,
    seed: u64,
    extent: Extent<'_>,
) -> Result<Vec<SelectionRow>, Flawed> {
    let links = if table == PathSelectionTable::Table4 { &LINKS[..1] } else { &LINKS };
    let found = links.iter().map(|&links| of_network(table, links, seed, extent));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

/// On the one torus only what is drawn differs: everything else is that of the first draw.
fn repeat_first(found: &mut [Vec<SelectionRow>]) {
    let Some((first, others)) = found.split_first_mut() else { return };
    for other in others {
        let drawn = std::mem::replace(other, first.clone());
        for found in drawn {
            let key = |of: &SelectionRow| (of.routing, of.vcs, of.selection, of.reading);
            if let Some(place) = other.iter().position(|of| key(of) == key(&found)) {
                other[place] = found;
            }
        }
    }
}

/// An irregular network of the paper's kind, with so many switches.
pub(super) fn irregular(switches: u32, seed: u64) -> Cabling {
    let graph = Irregular { switches, ports: 8, terminals: 4, links: 4, seed };
    graph.cabling().expect("sizes of a network")
}

/// Up*/Down* with one virtual channel.
///
/// # Errors
/// If it is wrong.
pub(super) fn up_down(fabric: &Fabric) -> Result<Relation, Flawed> {
    Routing::UpDown.relation(fabric, 1)
}

fn fabric(table: PathSelectionTable, links: usize, seed: u64, quick: bool) -> (String, Fabric) {
    let (name, cabling) = match table {
        PathSelectionTable::Table4 => {
            let sizes = if quick { vec![4, 4] } else { vec![8, 8] };
            let name = flitlab_fabric::sizes_text(&sizes);
            let torus = SwitchedTorus { sizes, terminals: 4, redundancy: 1 };
            (format!("{name} torus, draw {seed}"), torus.cabling())
        }
        _ => (format!("irregular, seed {seed}"), Ok(irregular(16, seed))),
    };
    let cabling = cabling.expect("sizes of a fabric");
    let mut order: Vec<usize> = (0..cabling.cables().len()).collect();
    let fewer = if table == PathSelectionTable::Table4 { 0 } else { order.len() - links };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    loop {
        let (removed, _) = order.partial_shuffle(&mut random, fewer);
        let mut rest = cabling.clone();
        rest.remove(removed);
        // Another draw if they part it.
        if let Ok(fabric) = rest.fabric() {
            return (name, fabric);
        }
    }
}

fn of_network(
    table: PathSelectionTable,
    links: usize,
    seed: u64,
    extent: Extent<'_>,
) -> Result<Vec<SelectionRow>, Flawed> {
    let (network, fabric) = fabric(table, links, seed, extent.quick);
    let mut all = Vec::new();
    for (routing, vcs) in table.routings() {
        let of = format!("{network}, {links} links, {}, {vcs}", routing.name());
        let relation = OnceCell::new();
        let relation = || {
            let made: &Result<_, Flawed> = relation.get_or_init(|| routing.relation(&fabric, vcs));
            made.as_ref().map_err(Flawed::clone)
        };
        let bound = extent.simulated(&of, || -> Result<u64, Flawed> {
            let bound = RelationBound::new(&fabric, relation()?);
            // A pair of switches is so many of terminals.
            Ok(bound.map_err(|none| none.to_string())?.rounded().div_ceil(16))
        })?;
        for reading in table.readings(routing, vcs) {
            for selection in selections() {
                let Reading { choices, singly, ties, .. } = reading;
                let by_port = [PathSelection::LOW_PORT, PathSelection::PORT_ORDER];
                let by_port = by_port.contains(&selection);
                let counts = !by_port && selection != PathSelection::BALANCED;
                let draws = selection == PathSelection::RANDOM;
                let again = table == PathSelectionTable::Table4 && seed > 1;
                if again && !draws && !by_port {
                    continue;
                }
                if reading != READINGS[0] && (!counts || draws && (singly || ties != Ties::Lowest))
                {
                    continue;
                }
                let parameters = SelectionParameters { seed, choices, singly, ties };
                let of = format!("{of}: {selection:?}, {parameters:?}");
                let crossing = extent.simulated(&of, || -> Result<Crossing, Flawed> {
                    let paths = selection.paths(&fabric, relation()?, parameters);
                    Ok(Crossing::of(&loads(&fabric, &paths.map_err(|none| none.to_string())?)))
                })?;
                all.push(SelectionRow {
                    network: network.clone(),
                    links: fabric.channels() / 2,
                    routing: routing.name(),
                    vcs,
                    selection: selection.name,
                    reading: reading.name,
                    deviation: crossing.deviation,
                    maximum: crossing.maximum,
                    mean: crossing.mean,
                    bound,
                    published: routing.published(table, vcs, selection),
                });
            }
        }
    }
    Ok(all)
}

/// Pairs of routers across each channel that there is.
fn loads(fabric: &Fabric, paths: &PathSet) -> Vec<u64> {
    let mut loads = vec![0; fabric.channel_slots() as usize];
    for source in 0..fabric.routers() {
        for destination in 0..fabric.routers() {
            for path in paths.paths(source, destination) {
                let mut at = source;
                for hop in path {
                    let channel = fabric.outputs(at).start + u32::from(hop.port);
                    loads[channel as usize] += 1;
                    at = fabric.target(channel).unwrap_or(NONE);
                }
            }
        }
    }
    let live = (0..fabric.channel_slots()).filter(|&channel| fabric.target(channel).is_some());
    live.map(|channel| loads[channel as usize]).collect()
}

fn rows(table: PathSelectionTable, found: &[Vec<SelectionRow>]) -> Vec<Row> {
    let networks = found.len();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let mut rows = Vec::new();
    for (place, first) in found[0].iter().enumerate() {
        let values = |of: fn(&SelectionRow) -> f64| -> Vec<f64> {
            found.iter().map(|network| of(&network[place])).collect()
        };
        let deviations = values(|found| found.deviation);
        let few = &deviations[..networks.min(PAPERS)];
        let low_port = low_port(&found[0], first);
        let over: Vec<f64> = found
            .iter()
            .map(|network| network[place].deviation - network[low_port].deviation)
            .collect();
        let over_low_port = mean(&over);
        let squares = over.iter().map(|it| (it - over_low_port).powi(2)).sum::<f64>();
        let of_several = table != PathSelectionTable::Table4;
        rows.push(Row {
            links: first.links,
            routing: first.routing,
            vcs: first.vcs,
            selection: first.selection,
            reading: first.reading,
            published: first.published,
            deviation_10: mean(few),
            deviation_10_half_width_95: half_width_95(few),
            deviation: mean(&deviations),
            deviation_half_width_95: half_width_95(&deviations),
            difference: first.published.map(|published| mean(&deviations) - published),
            over_low_port,
            published_over_low_port: first
                .published
                .zip(found[0][low_port].published)
                .map(|(own, low_port)| own - low_port),
            over_low_port_deviation_10: of_several
                .then(|| (squares / (networks - 1) as f64 / PAPERS as f64).sqrt()),
            networks,
            maximum_mean: mean(&values(|found| found.maximum as f64)),
            bound_mean: mean(&values(|found| found.bound as f64)),
            load_mean: mean(&values(|found| found.mean)),
        });
    }
    rows
}

/// The place of low-port selection with the routing of a row.
fn low_port(rows: &[SelectionRow], like: &SelectionRow) -> usize {
    let key = |row: &SelectionRow| (row.links, row.routing, row.vcs);
    let is_it =
        |row: &SelectionRow| row.selection == PathSelection::LOW_PORT.name && key(row) == key(like);
    rows.iter().position(is_it).expect("it is one of the selections")
}

/// A figure for each network, routing and number of virtual channels: the deviation under each
/// selection beside the published one.
fn figures(table: PathSelectionTable, quick: bool, rows: &[Row]) -> Vec<(String, Figure)> {
    let of_torus = table == PathSelectionTable::Table4;
    // An order of ports is a reading of random selection, and no selection.
    let shown = |row: &&Row| {
        row.reading == READINGS[0].name && row.selection != PathSelection::PORT_ORDER.name
    };
    let first: Vec<&Row> = rows.iter().filter(shown).collect();
    let key = |row: &Row| (row.links, row.routing, row.vcs);
    let figure = |own: &[&Row]| {
        let (links, routing, vcs) = key(own[0]);
        let bars = own.iter().flat_map(|row| {
            let name = row.selection;
            let ours = (name.to_owned(), row.deviation, row.deviation_half_width_95);
            let ours = Bars { label: name.into(), published: false, values: vec![ours] };
            // A sample of the torus is a smaller one.
            let published = row.published.filter(|_| !(of_torus && quick)).map(|value| Bars {
                label: format!("{name}, {PUBLISHED}"),
                published: true,
                values: vec![(name.to_owned(), value, None)],
            });
            [Some(ours), published].into_iter().flatten()
        });
        let network = match (of_torus, quick) {
            (true, true) => "4x4 torus".into(),
            (true, false) => "8x8 torus".into(),
            (false, _) => format!("Irregular, 16 switches, {links} links"),
        };
        let title = format!("{network}, {routing}, {}", channels_text(vcs));
        let axis = "Standard deviation of the paths a channel";
        let name = routing.replace(", ", "-").replace(' ', "-");
        let name = match of_torus {
            true => format!("deviation-{name}-{vcs}"),
            false => format!("deviation-{name}-{vcs}-{links}"),
        };
        (name, bars_figure(&NAMES, &title, axis, &bars.collect::<Vec<_>>(), ""))
    };
    first.chunk_by(|one, next| key(one) == key(next)).map(figure).collect()
}

fn text(table: PathSelectionTable, quick: bool, rows: &[Row]) -> String {
    let networks = rows[0].networks;
    let few = networks.min(PAPERS);
    let mut text = format!(
        "{}\nstandard deviation of the pairs of switches across a channel, and the fullest channel\n\n\
         {:>5} {:<10} {:>5} {:<18}{:>10}{:>16}{:>16}{:>12}{:>9}{:>9}\n",
        table.title(quick),
        "links",
        "routing",
        "lanes",
        "selection",
        "published",
        format!("ours, {few}"),
        format!("ours, {networks}"),
        "difference",
        "fullest",
        "bound"
    );
    let interval = |mean: f64, half: Option<f64>| match half {
        Some(half) => format!("{mean:.2} +-{half:.2}"),
        None => format!("{mean:.2}"),
    };
    let first = |row: &&Row| {
        row.reading == READINGS[0].name
            && row.routing != Routing::Udwm { may_descend: false }.name()
    };
    for row in rows.iter().filter(first) {
        let _ = writeln!(
            text,
            "{:>5} {:<10} {:>5} {:<18}{:>10}{:>16}{:>16}{:>12}{:>9.2}{:>9.2}",
            row.links,
            row.routing,
            row.vcs,
            row.selection,
            row.published.map_or("-".into(), |value| format!("{value:.2}")),
            interval(row.deviation_10, row.deviation_10_half_width_95),
            interval(row.deviation, row.deviation_half_width_95),
            row.difference.map_or("-".into(), |value| format!("{value:+.2}")),
            row.maximum_mean,
            row.bound_mean
        );
    }
    text + &over_low_port_text(rows) + &readings_text(table, rows)
}

/// What each selection gives beside low-port on the same networks. Networks differ more than
/// selections do, and which ten the paper drew is not known; of differences on a network much less is
/// left to chance.
fn over_low_port_text(rows: &[Row]) -> String {
    let shown = |row: &&Row| {
        row.reading == READINGS[0].name
            && row.selection != PathSelection::LOW_PORT.name
            && row.published_over_low_port.is_some()
            && row.over_low_port_deviation_10.is_some()
    };
    let mut text = String::new();
    for row in rows.iter().filter(shown) {
        if text.is_empty() {
            text = format!(
                "\nless that of low-port on the same networks, and how many deviations of a mean of {PAPERS} \
                 networks the published difference is off\n\
                 {:>5} {:<17} {:>5} {:<18}{:>10}{:>16}{:>7}\n",
                "links", "routing", "lanes", "selection", "published", "ours", "off"
            );
        }
        let (Some(published), Some(deviation)) =
            (row.published_over_low_port, row.over_low_port_deviation_10)
        else {
            continue;
        };
        let _ = writeln!(
            text,
            "{:>5} {:<17} {:>5} {:<18}{published:>+10.2}{:>16}{:>+7.1}",
            row.links,
            row.routing,
            row.vcs,
            row.selection,
            format!("{:+.2} +-{deviation:.2}", row.over_low_port),
            (published - row.over_low_port) / deviation
        );
    }
    text
}

/// How each reading changes what the selections give, and how near that comes to
/// \[path-selection\].
fn readings_text(table: PathSelectionTable, rows: &[Row]) -> String {
    let counting = [
        PathSelection::TRAFFIC_BALANCING,
        PathSelection::HIGH_PHYSICAL,
        PathSelection::LOW_VIRTUAL,
        PathSelection::LOW_PHYSICAL,
    ];
    let mut text = format!(
        "\n{:>5} {:<17} {:>5} {:<22}{:>9}",
        "links", "routing", "lanes", "reading", "random"
    );
    for selection in counting {
        let _ = write!(text, "{:>19}", selection.name);
    }
    text += "  off by\n";
    let mut links: Vec<usize> = rows.iter().map(|row| row.links).collect();
    links.dedup();
    for (links, (routing, vcs)) in
        links.into_iter().flat_map(|links| table.routings().into_iter().map(move |of| (links, of)))
    {
        for reading in table.readings(routing, vcs) {
            let of = |selection: registry::Row<PathSelection>, reading: &str| {
                rows.iter().find(|row| {
                    (row.links, row.routing, row.vcs) == (links, routing.name(), vcs)
                        && (row.selection, row.reading) == (selection.name, reading)
                })
            };
            // Random selection counts no channels: only how virtual channels are counted makes a
            // difference.
            let drawn = match reading.choices {
                VcChoices::Distinct => READINGS[0].name,
                VcChoices::Shared => READINGS[3].name,
            };
            let random = of(PathSelection::RANDOM, drawn);
            let own: Vec<&Row> = random
                .into_iter()
                .chain(counting.iter().filter_map(|at| of(*at, reading.name)))
                .collect();
            let _ = write!(text, "{links:>5} {:<17} {vcs:>5} {:<22}", routing.name(), reading.name);
            for (place, row) in own.iter().enumerate() {
                let width = if place == 0 { 9 } else { 19 };
                let _ = write!(text, "{:>width$.2}", row.deviation);
            }
            let off: Vec<f64> = own.iter().filter_map(|row| row.difference).map(f64::abs).collect();
            if !off.is_empty() {
                let _ = write!(text, "  {:.3}", off.iter().sum::<f64>() / off.len() as f64);
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    fn quick(table: PathSelectionTable) -> Vec<Row> {
        let seeds: Vec<u64> = (1..=2).collect();
        let found: Result<Vec<_>, _> =
            seeds.iter().map(|&seed| of_seed(table, seed, SAMPLE)).collect();
        rows(table, &found.unwrap())
    }

    #[test]
    fn with_one_virtual_channel_virtual_and_physical_channels_are_the_same() {
        let rows = quick(PathSelectionTable::Table2);
        let of = |selection: registry::Row<PathSelection>| {
            let own = rows.iter().filter(move |row| row.selection == selection.name);
            own.map(|row| (row.deviation, row.maximum_mean)).collect::<Vec<_>>()
        };
        assert_eq!(of(PathSelection::TRAFFIC_BALANCING), of(PathSelection::HIGH_PHYSICAL));
        assert_eq!(of(PathSelection::LOW_VIRTUAL), of(PathSelection::LOW_PHYSICAL));
    }

    /// Low-port's own difference is none, and those of the others are the differences of the means.
    #[test]
    fn selections_are_compared_with_low_port_on_the_same_networks() {
        let rows = quick(PathSelectionTable::Table2);
        for row in &rows {
            let of = |it: &&Row| it.selection == "low-port" && it.links == row.links;
            let low_port = rows.iter().find(of).unwrap();
            let difference = row.deviation - low_port.deviation;
            assert!((row.over_low_port - difference).abs() < 1e-9, "{row:?}");
            let deviation = row.over_low_port_deviation_10.unwrap();
            assert_eq!(deviation == 0.0, row.selection == "low-port");
        }
        let published = rows.iter().find(|row| row.selection == "traffic-balancing").unwrap();
        assert!((published.published_over_low_port.unwrap() - (5.06 - 5.61)).abs() < 1e-9);
        assert!(over_low_port_text(&rows).lines().count() > 6);
    }

    #[test]
    fn the_order_of_the_papers_selections_is_found_again() {
        let found = path_selection(PathSelectionTable::Table4, SAMPLE, &mut |_, _, _| {}).unwrap();
        assert!(found.text.contains("traffic-balancing"), "{}", found.text);
        let rows = quick(PathSelectionTable::Table3);
        let of = |routing: &str, selection: registry::Row<PathSelection>| {
            let own = rows.iter().find(|row| {
                (row.routing, row.selection, row.reading)
                    == (routing, selection.name, READINGS[0].name)
            });
            own.unwrap()
        };
        for routing in ["up-down", "udwm"] {
            let drawn = of(routing, PathSelection::RANDOM).deviation;
            for counted in [PathSelection::TRAFFIC_BALANCING, PathSelection::HIGH_PHYSICAL] {
                assert!(of(routing, counted).deviation < drawn, "{routing}");
            }
            let balanced = of(routing, PathSelection::BALANCED);
            assert!(balanced.maximum_mean < balanced.bound_mean + 0.5, "{routing}");
        }
        let halved = of("udwm", PathSelection::RANDOM).deviation;
        assert!(halved < 0.7 * of("up-down", PathSelection::RANDOM).deviation);
    }
}
