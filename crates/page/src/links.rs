//! Loads of channels, reduced to the part that the page shows: the links of the torus, or of blocks
//! of others, at some of the points.

use serde::Serialize;

use super::blocks::{Axes, Blocks};
use super::torus::{Shape, number, torus_of};
use flitlab_base::narrow::{narrow, try_rounded};
use flitlab_fabric::Torus;
use flitlab_model::ChannelKind;
use flitlab_report::{ChannelRow, GroupRow, Point};

/// Numbers for pictures that a page holds at most; about two and a half characters each.
const MAX_NUMBERS: usize = 720_000;

/// Points whose busiest channels a page holds at most.
const MAX_POINTS: usize = 200;

/// Nodes of a torus that is drawn.
const MAX_NODES: u32 = 4_096;

/// Channels that are listed of a point.
const BUSIEST: usize = 20;

/// Utilisation, stalls by reason, and packets that waited.
const QUANTITIES: usize = 6;

/// The channels of some points of a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Links {
    /// Points that have channels.
    pub of: usize,
    pub points: Vec<PointLinks>,
}

/// A point's channels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PointLinks {
    /// The point's place among the result's rows.
    pub row: usize,
    pub torus: Option<Shape>,
    /// Of other fabrics, what their matrix shows.
    pub matrix: Option<Axes>,
    /// Of each channel number of the torus (node times directions plus direction), or of each cell
    /// of the matrix as the mean of its channels, in thousandths: how long it was used, and stalled
    /// for want of credits, for the bubble, for the output, for the input; and how many packets waited,
    /// in thousandths of one. -1 where there is no such
    /// channel, or it isn't listed. Nothing if the picture is left out.
    pub loads: Option<[Vec<i32>; QUANTITIES]>,
    /// Of each cell of the matrix the most of any of its channels, in the same way, and last how long
    /// one was stalled for any reason.
    pub most: Option<[Vec<i32>; QUANTITIES + 1]>,
    /// Why there is no picture.
    pub no_picture: Option<String>,
    pub groups: Vec<Group>,
    pub busiest: Vec<Busy>,
}

/// The channels of a direction, or those into and out of the network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Group {
    pub name: String,
    pub channels: usize,
    /// Means, and the most of any, of what was measured.
    pub mean: [Option<f64>; QUANTITIES],
    pub most: [Option<f64>; QUANTITIES],
}

/// A channel that was used for much of the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Busy {
    pub channel: String,
    pub flits: u64,
    /// What was measured.
    pub values: [Option<f64>; QUANTITIES],
    /// Flits by virtual channel.
    pub virtual_channels: Vec<u64>,
}

/// Takes points until the budget is spent, of each series in turn: those at which the network works
/// hardest and is still steady first.
pub(super) struct Budget {
    numbers: usize,
    points: usize,
}

impl Budget {
    /// Returns the limit of a page, or a result's share of it.
    pub(super) fn of(results: usize) -> Self {
        let share = results.max(1);
        Self { numbers: MAX_NUMBERS / share, points: (MAX_POINTS / share).max(1) }
    }

    /// The links of points on the scenario's torus, or in its blocks.
    pub(super) fn links(
        mut self,
        points: &[Point],
        drawn: (Option<&Torus>, Option<&Blocks>),
    ) -> Links {
        let mut taken = Vec::new();
        let order = order(points, |place| !points[place].channels.is_empty());
        for &row in &order {
            let links = PointLinks::new(row, &points[row].channels, drawn);
            let of_loads = links.loads.iter().flatten().map(Vec::len).sum::<usize>();
            let size = of_loads + links.most.iter().flatten().map(Vec::len).sum::<usize>();
            if self.points == 0 || !taken.is_empty() && size > self.numbers {
                break;
            }
            self.points -= 1;
            self.numbers = self.numbers.saturating_sub(size);
            taken.push(links);
        }
        taken.sort_by_key(|links| links.row);
        Links { of: order.len(), points: taken }
    }
}

/// Which points a page shows the channels of, by place, if it is one of so many results: of those that
/// `have` any, as many as there is room for. The others' need not be read.
pub fn points_linked(
    points: &[Point],
    have: &[bool],
    results: usize,
    (torus, blocks): (Option<&Torus>, Option<&Blocks>),
) -> Vec<bool> {
    let size = match (torus, blocks) {
        (Some(torus), _) if torus.nodes() > MAX_NODES => 0,
        (Some(torus), _) => (torus.nodes() * torus.directions()) as usize * QUANTITIES,
        (None, Some(blocks)) => blocks.cells() * (2 * QUANTITIES + 1),
        // What channels' names say of the fabric is not known before they are read.
        (None, None) => return have.to_vec(),
    };
    let budget = Budget::of(results);
    let most = budget.numbers.checked_div(size).unwrap_or(usize::MAX).max(1).min(budget.points);
    let mut shown = vec![false; points.len()];
    for place in order(points, |place| have[place]).into_iter().take(most) {
        shown[place] = true;
    }
    shown
}

/// Places of the points that have channels: the first of each series, then the second of each, and
/// so on; in a series the steady points come first, and of these the highest loads.
fn order(points: &[Point], have: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut series: Vec<(&str, Vec<usize>)> = Vec::new();
    for (place, row) in points.iter().enumerate().filter(|(place, _)| have(*place)) {
        match series.iter_mut().find(|(name, _)| *name == row.label.series) {
            Some((_, places)) => places.push(place),
            None => series.push((&row.label.series, vec![place])),
        }
    }
    for (_, places) in &mut series {
        places.sort_by(|&a, &b| {
            let steady = |place: usize| points[place].measured.status.is_good();
            let load = |place: usize| points[place].measured.offered().unwrap_or(0.0);
            steady(b).cmp(&steady(a)).then(load(b).total_cmp(&load(a)))
        });
    }
    let most = series.iter().map(|(_, places)| places.len()).max().unwrap_or(0);
    (0..most)
        .flat_map(|turn| series.iter().filter_map(move |(_, places)| places.get(turn).copied()))
        .collect()
}

impl PointLinks {
    fn new(
        row: usize,
        channels: &[ChannelRow],
        (scenario, blocks): (Option<&Torus>, Option<&Blocks>),
    ) -> Self {
        if channels.iter().any(|row| row.group().is_some()) {
            return Self::of_groups(row, channels);
        }
        let network: Vec<&ChannelRow> =
            channels.iter().filter(|row| row.kind == ChannelKind::Network).collect();
        let torus = if network.is_empty() { None } else { torus_of(&network, scenario) };
        let matrix = blocks.and_then(|blocks| Some((blocks, blocks.axes_of(&network)?)));
        let matrix = matrix.filter(|_| torus.is_none() && !network.is_empty());
        let most =
            matrix.filter(|_| torus.is_none()).map(|(blocks, axes)| most(blocks, axes, &network));
        let (loads, no_picture) = match (&torus, matrix) {
            (Some(torus), _) if torus.nodes() <= MAX_NODES => (Some(loads(torus, &network)), None),
            (Some(torus), _) => {
                let nodes = torus.nodes();
                let why = format!("a torus of {nodes} nodes is not drawn (at most {MAX_NODES})");
                (None, Some(why))
            }
            (None, Some((blocks, axes))) => (Some(means(blocks, axes, &network)), None),
            (None, None) => {
                let why = "only tori, fabrics of groups and trees are drawn, of up to some thousand channels";
                (None, Some(why.into()))
            }
        };
        let mut busiest: Vec<&ChannelRow> =
            network.iter().copied().filter(|row| row.flits > 0).collect();
        busiest.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
        busiest.truncate(BUSIEST);
        Self {
            row,
            loads,
            most,
            no_picture,
            matrix: matrix.map(|(_, axes)| axes.clone()),
            groups: groups(channels, torus.as_ref()),
            busiest: busiest.into_iter().map(Busy::new).collect(),
            torus: torus.as_ref().map(Shape::of),
        }
    }

    /// Of results that have the mean and the most of groups of channels alone.
    fn of_groups(row: usize, channels: &[ChannelRow]) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for row in channels {
            let Some((name, count, which)) = row.group() else { continue };
            let values = values(row);
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) if which == GroupRow::Most => group.most = values,
                Some(group) => group.mean = values,
                None => groups.push(Group {
                    name: name.to_owned(),
                    channels: count,
                    mean: values,
                    most: values,
                }),
            }
        }
        Self {
            row,
            torus: None,
            matrix: None,
            loads: None,
            most: None,
            no_picture: Some("channels.csv has groups of channels only (results.channels)".into()),
            groups,
            busiest: Vec::new(),
        }
    }
}

fn loads(torus: &Torus, network: &[&ChannelRow]) -> [Vec<i32>; QUANTITIES] {
    let slots = (torus.nodes() * torus.directions()) as usize;
    let mut loads: [Vec<i32>; QUANTITIES] = std::array::from_fn(|_| vec![-1; slots]);
    for row in network {
        let Some(at) = number(torus, &row.channel) else { continue };
        for (loads, value) in loads.iter_mut().zip(values(row)) {
            // A channel that was not measured stays as if it did not exist.
            if let Some(value) = value {
                loads[at] = try_rounded(value * 1e3).unwrap_or(i32::MAX);
            }
        }
    }
    loads
}

/// The means of each cell's channels.
fn means(blocks: &Blocks, axes: &Axes, network: &[&ChannelRow]) -> [Vec<i32>; QUANTITIES] {
    let mut sums = vec![[(0.0, 0); QUANTITIES]; axes.cells()];
    for row in network {
        let cell = &mut sums[blocks.cell(row)];
        for (own, value) in cell.iter_mut().zip(values(row)) {
            *own = value.map_or(*own, |value| (own.0 + value, own.1 + 1));
        }
    }
    let mean = |(sum, count): (f64, u32)| match count {
        0 => -1,
        count => try_rounded(sum / f64::from(count) * 1e3).unwrap_or(i32::MAX),
    };
    std::array::from_fn(|quantity| sums.iter().map(|cell| mean(cell[quantity])).collect())
}

/// The most of each cell's channels.
fn most(blocks: &Blocks, axes: &Axes, network: &[&ChannelRow]) -> [Vec<i32>; QUANTITIES + 1] {
    let mut most: [Vec<i32>; QUANTITIES + 1] = std::array::from_fn(|_| vec![-1; axes.cells()]);
    for row in network {
        let cell = blocks.cell(row);
        let values = values(row);
        let stalled: Option<f64> = values[1..5].iter().copied().sum();
        for (of_quantity, value) in most.iter_mut().zip(values.into_iter().chain([stalled])) {
            let value = value.map_or(-1, |value| try_rounded(value * 1e3).unwrap_or(i32::MAX));
            of_quantity[cell] = of_quantity[cell].max(value);
        }
    }
    most
}

/// Channels by direction, the two of a dimension side by side; then those of terminals.
fn groups(channels: &[ChannelRow], torus: Option<&Torus>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    if let Some(torus) = torus {
        let dimensions = narrow(torus.dimensions());
        let names = (0..dimensions)
            .flat_map(|dimension| [dimension, torus.opposite(dimension)])
            .map(|direction| torus.direction_name(direction));
        groups.extend(names.filter_map(|name| {
            let end = format!(" {name}");
            let own = channels.iter().filter(|row| row.channel.ends_with(&end));
            Group::new(&name, own.filter(|row| row.kind == ChannelKind::Network))
        }));
    }
    let kinds = [
        ("network", ChannelKind::Network),
        ("injection", ChannelKind::Injection),
        ("ejection", ChannelKind::Ejection),
    ];
    let others = kinds.into_iter().skip(usize::from(torus.is_some()));
    groups.extend(others.filter_map(|(name, kind)| {
        Group::new(name, channels.iter().filter(|row| row.kind == kind))
    }));
    groups
}

impl Group {
    fn new<'r>(name: &str, rows: impl Iterator<Item = &'r ChannelRow>) -> Option<Self> {
        let (mut channels, mut sum, mut most) =
            (0, [Some(0.0); QUANTITIES], [Some(0.0_f64); QUANTITIES]);
        for row in rows {
            channels += 1;
            for (at, value) in values(row).into_iter().enumerate() {
                sum[at] = sum[at].zip(value).map(|(sum, value)| sum + value);
                most[at] = most[at].zip(value).map(|(most, value)| most.max(value));
            }
        }
        let mean = sum.map(|sum| sum.map(|sum: f64| rounded(sum / channels as f64)));
        (channels > 0).then(|| Self { name: name.to_owned(), channels, mean, most })
    }
}

impl Busy {
    fn new(row: &ChannelRow) -> Self {
        Self {
            channel: row.channel.clone(),
            flits: row.flits,
            values: values(row),
            virtual_channels: row.flits_by_virtual_channel(),
        }
    }
}

fn values(row: &ChannelRow) -> [Option<f64>; QUANTITIES] {
    [
        Some(row.utilisation),
        row.stalled_no_credit,
        row.stalled_bubble,
        row.stalled_output_busy,
        row.stalled_input_busy,
        row.queue_mean,
    ]
}

/// Six decimals, as in channels.csv.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::builders::Tree;
    use flitlab_report::{Label, PointRow, Status};

    fn point(series: &str, load: f64, status: Status, channels: Vec<ChannelRow>) -> Point {
        Point {
            label: Label { series: series.into(), ..Label::default() },
            measured: PointRow { status, offered_load: Some(load), ..PointRow::default() },
            channels,
            ..Point::default()
        }
    }

    fn channel(name: &str, utilisation: f64) -> ChannelRow {
        ChannelRow {
            channel: name.into(),
            flits: 10,
            utilisation,
            stalled_bubble: Some(0.25),
            ..ChannelRow::default()
        }
    }

    #[test]
    fn steady_points_with_the_highest_loads_come_first_in_each_series() {
        let some = || vec![channel("(0,0) +x", 0.5)];
        let points = [
            point("a", 0.1, Status::Steady, some()),
            point("a", 0.2, Status::Steady, some()),
            point("a", 0.3, Status::NotSteady, some()),
            point("b", 0.1, Status::Steady, Vec::new()),
            point("b", 0.2, Status::Steady, some()),
        ];
        assert_eq!(order(&points, |at| !points[at].channels.is_empty()), [1, 4, 0, 2]);
    }

    #[test]
    fn a_channel_is_at_its_number_in_thousandths() {
        let rows = vec![channel("(0,0) +x", 0.1234), channel("(2,1) -y", 0.5)];
        let points = [point("", 0.1, Status::Steady, rows)];
        let links = Budget::of(1).links(&points, (Some(&Torus::new(&[3, 2], &[]).unwrap()), None));
        let [utilisation, _, bubble, ..] = links.points[0].loads.clone().unwrap();
        assert_eq!(utilisation.len(), 6 * 4);
        assert_eq!((utilisation[0], utilisation[5 * 4 + 3], utilisation[1]), (123, 500, -1));
        assert_eq!(bubble[0], 250);
        let names: Vec<&str> =
            links.points[0].groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["+x", "-y"]);
        assert_eq!(links.points[0].busiest[0].channel, "(2,1) -y");
    }

    #[test]
    fn a_cell_has_the_mean_of_its_channels() {
        let fabric = Tree { arity: 2, levels: 2, terminals: 2 };
        let fabric = fabric.cabling().unwrap().fabric().unwrap();
        let rows = (0..fabric.channel_slots()).map(|one| channel(&fabric.channel_name(one), 0.25));
        let mut rows: Vec<ChannelRow> = rows.collect();
        rows[0].utilisation = 0.75;
        let blocks = Blocks::of(&fabric).unwrap();
        let points = [point("", 0.1, Status::Steady, rows)];
        let links = &Budget::of(1).links(&points, (None, Some(&blocks))).points[0];
        let [utilisation, credits, ..] = links.loads.clone().unwrap();
        assert_eq!(links.matrix.as_ref().unwrap().rows, ["level 1, up", "level 2, down"]);
        assert_eq!((utilisation, credits), (vec![500, 250, 250, 250], vec![-1; 4]));
        // The channels of another fabric.
        let points = [point("", 0.1, Status::Steady, vec![channel("S0 port 9 to S7", 0.5)])];
        let links = &Budget::of(1).links(&points, (None, Some(&blocks))).points[0];
        assert!(links.loads.is_none() && links.no_picture.is_some());
    }

    #[test]
    fn the_budget_bounds_what_is_kept() {
        let torus = Torus::new(&[16, 16, 16], &[]).unwrap();
        let at = |at: u32| {
            point("", f64::from(at) / 20.0, Status::Steady, vec![channel("(0,0,0) +x", 0.5)])
        };
        let points: Vec<Point> = (0..20).map(at).collect();
        let links = Budget::of(1).links(&points, (Some(&torus), None));
        assert_eq!((links.of, links.points.len()), (20, MAX_NUMBERS / (4096 * 6 * QUANTITIES)));
        assert_eq!(links.points.last().unwrap().row, 19);
        let large = Torus::new(&[100, 100, 100], &[]).unwrap();
        let links = Budget::of(1).links(&points, (Some(&large), None));
        assert_eq!((links.points.len(), &links.points[0].loads), (20, &None));
        assert!(links.points[0].no_picture.as_ref().unwrap().contains("1000000 nodes"));
    }
}
