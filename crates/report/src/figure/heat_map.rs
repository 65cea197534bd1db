//! A value for each channel of a torus, each at its place: planes of the first two dimensions side
//! by side, a band of planes for each direction.

use serde::{Deserialize, Serialize};

use std::collections::BTreeSet;

use super::super::channel::torus_place;
use super::super::{ChannelRow, LoadRow};
use super::axis::Axis;
use super::drawing::Figure;
use super::figure_style::FigureStyle;
use super::font;
use super::kind::{Draw, FigureKind};
use super::legend::SLACK;
use super::palette::{AXIS_LINE, BLACK, GREY, GRID, THIN_LINE, shade};
use super::scene::{Anchor, Scene};
use super::sheet::{MARGIN, Sheet};
use super::title::title_lines;
use flitlab_base::narrow::rounded_down;
use flitlab_base::registry::Row;

impl FigureKind {
    /// `channel-map`.
    pub const CHANNEL_MAP: Row<Self> = Row::new(
        "channel-map",
        "Utilisation of each channel of a torus.",
        Self::new(
            "channels of a torus or mesh of two dimensions or more, at most 50,000 of them",
            Draw::Point {
                has: |point| has_map(&point.channels),
                most: 1,
                draw: |point, title, _| channel_heat_map(&point.channels, title),
            },
        ),
    );
}

/// Side of a channel's square at most, and how far it is made smaller to keep the sheet within a
/// height.
const LARGEST: f64 = 12.0;
const SMALLEST: f64 = 0.75;
const HEIGHT: f64 = 420.0;

/// With smaller squares there may as well be several rows of planes.
const SMALLEST_IN_A_ROW: f64 = 6.0;

const GAP: f64 = 4.0;
/// The space beside directions' names.
const LABEL: f64 = 4.0;
const SCALE: (f64, f64) = (110.0, 7.0);

/// Steps of the scale's shades.
const STEPS: usize = 44;

const DIMENSIONS: &str = "xyzklm";

/// Values of channels that have coordinates and a direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeatMap {
    pub title: String,
    /// The meaning of the values.
    pub scale: String,
    pub cells: Vec<Cell>,
    /// The lowest and the highest value of all maps that are drawn together; `None` for those of
    /// the cells.
    pub extremes: Option<(f64, f64)>,
}

/// A channel by its coordinates and its direction, such as `+x`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cell {
    pub coordinates: Vec<usize>,
    pub direction: String,
    pub value: f64,
}

/// Where planes lie.
pub(super) struct Layout {
    pub side: f64,
    sizes: Vec<usize>,
    in_a_row: usize,
    rows: usize,
    /// The height of the planes' labels: above all bands if they have one row each, else above each
    /// row.
    header: f64,
    labels: f64,
    /// Whether the labels have room for coordinates alone.
    short: bool,
}

/// The routes through each channel. Draws the rows whose channels are named by coordinates and
/// direction, such as `(0,3,1) +y`.
pub fn load_heat_map(rows: &[LoadRow], title: &str) -> Figure {
    let value = |row: &LoadRow| Cell::new(&row.channel, row.load_routes);
    let cells = rows.iter().filter_map(value).collect();
    Figure::of_map(HeatMap {
        title: title.into(),
        scale: "Routes through the channel".into(),
        cells,
        extremes: None,
    })
}

/// The utilisation of each channel at one point of one series: the rows given. As
/// [`load_heat_map`].
pub fn channel_heat_map(rows: &[ChannelRow], title: &str) -> Figure {
    let value = |row: &ChannelRow| Cell::new(&row.channel, row.utilisation);
    let cells = rows.iter().filter_map(value).collect();
    let scale = "Utilisation (fraction of channel rate)".into();
    Figure::of_map(HeatMap { title: title.into(), scale, cells, extremes: None })
}

/// Maps as [`channel_heat_map`] draws them, of titles with rows, with one scale for all.
pub fn channel_heat_maps(maps: &[(String, Vec<ChannelRow>)]) -> Vec<Figure> {
    let maps: Vec<Figure> =
        maps.iter().map(|(title, rows)| channel_heat_map(rows, title)).collect();
    let extremes = Figure::extremes_of_maps(&maps);
    let look = FigureStyle::default();
    maps.into_iter().map(|map| map.finished(&look, extremes)).collect()
}

/// More channels have squares too small to tell apart, in files of a hundred megabytes; of more than
/// 100,000 not all have rows.
const MOST_CHANNELS: usize = 50_000;

/// Whether channels have places, those of tori and meshes of two dimensions or more, and are few
/// enough to be looked at.
fn has_map(rows: &[ChannelRow]) -> bool {
    if rows.len() > MOST_CHANNELS {
        return false;
    }
    let cells = rows.iter().filter_map(|row| Cell::new(&row.channel, row.utilisation));
    cells.take(1).any(|cell| cell.coordinates.len() > 1)
}

impl Cell {
    fn new(channel: &str, value: f64) -> Option<Self> {
        let (coordinates, direction) = torus_place(channel)?;
        let coordinates = coordinates.into_iter().map(|at| at as usize).collect();
        let known = value.is_finite();
        known.then(|| Self { coordinates, direction: direction.into(), value })
    }
}

impl HeatMap {
    /// The directions in the order of their bands.
    pub fn directions(&self) -> Vec<&str> {
        let mut directions: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !directions.contains(&cell.direction.as_str()) {
                directions.push(&cell.direction);
            }
        }
        directions.sort_by_key(|name| (name.starts_with('-'), DIMENSIONS.find(&name[1..])));
        directions
    }

    /// The lowest and the highest value of its cells, and of those of the maps drawn with it.
    pub fn extremes(&self) -> (f64, f64) {
        let (low, high) = self.extremes.unwrap_or((f64::INFINITY, 0.0));
        let values = self.cells.iter().map(|cell| cell.value);
        values.fold((low, high), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// The values of the lightest and of the darkest shade. The scale begins at 0, unless that
    /// would leave half of the shades to no value.
    pub fn range(&self) -> (f64, f64) {
        match self.extremes() {
            (_, high) if high <= 0.0 => (0.0, 1.0),
            (low, high) if low > high / 2.0 && low < high => (low, high),
            (_, high) => (0.0, high),
        }
    }

    /// The places that have no channel in a direction.
    pub fn without_channel(&self, direction: &str, layout: &Layout) -> Vec<Vec<usize>> {
        let own = self.cells.iter().filter(|cell| cell.direction == direction);
        let known: BTreeSet<&Vec<usize>> = own.map(|cell| &cell.coordinates).collect();
        let nodes: usize = layout.sizes.iter().product();
        let at = |node: usize| {
            let mut rest = node;
            let along = |&size: &usize| (rest % size, rest /= size).0;
            layout.sizes.iter().map(along).collect::<Vec<usize>>()
        };
        (0..nodes).map(at).filter(|at| !known.contains(at)).collect()
    }
}

pub(super) fn draw(map: &HeatMap, sheet: &Sheet) -> Scene {
    let (directions, (low, high)) = (map.directions(), map.range());
    let layout = Layout::new(map, sheet);
    let size = sheet.small_size();
    let mut scene = Scene::new(sheet.width());
    let top = title_lines(&mut scene, sheet, &map.title) + 4.0;
    let left = label_width(sheet);
    for (number, direction) in directions.iter().enumerate() {
        let band = top + layout.header + number as f64 * layout.band();
        let middle = band + layout.labels + (layout.band() - layout.labels - GAP) / 2.0;
        let label = direction.replace('-', "\u{2212}");
        scene.text(&label, (left - LABEL, middle + size * 0.36), size, Anchor::End, BLACK);
        let (across, up) = layout.plane();
        for plane in 0..layout.planes() {
            let (x, y) = layout.corner(plane);
            let corner = (left + x, band + y);
            scene.rectangle(corner, (corner.0 + across, corner.1 + up), GRID);
            if layout.labels > 0.0 || (layout.header > 0.0 && number == 0) {
                let place = (corner.0 + across / 2.0, corner.1 - 2.0);
                scene.text(&layout.name(plane), place, size, Anchor::Middle, GREY);
            }
        }
        let corner_of = |coordinates: &[usize]| {
            let (x, y) = layout.place(coordinates);
            (left + x, band + y)
        };
        // Where there is no channel, the place is crossed out: it must not look like a channel at
        // rest.
        for (x, y) in map.without_channel(direction, &layout).iter().map(|at| corner_of(at)) {
            let ends = [(x, y + layout.side), (x + layout.side, y)];
            scene.line(&ends, AXIS_LINE, GREY);
        }
        for cell in map.cells.iter().filter(|cell| cell.direction == *direction) {
            let corner = corner_of(&cell.coordinates);
            let opposite = (corner.0 + layout.side, corner.1 + layout.side);
            scene.rectangle(corner, opposite, shade((cell.value - low) / (high - low)));
        }
    }
    let bottom = top + layout.header + directions.len() as f64 * layout.band() + 4.0;
    let mut bottom = scale(&mut scene, sheet, bottom, map) + 3.0;
    let room = (sheet.width() - 2.0 * MARGIN) / SLACK;
    for line in font::two_lines(&note(map, &layout), size, room) {
        bottom += size + 2.0;
        scene.text(&line, (sheet.width() / 2.0, bottom), size, Anchor::Middle, GREY);
    }
    scene.height = (bottom + MARGIN).ceil();
    scene
}

/// The space that directions' names take.
fn label_width(sheet: &Sheet) -> f64 {
    MARGIN + font::width("\u{2212}m", sheet.small_size()) * SLACK + LABEL
}

impl Layout {
    /// The largest squares with which the bands stay within the height.
    pub fn new(map: &HeatMap, sheet: &Sheet) -> Self {
        let cells = &map.cells;
        let dimensions = cells.iter().map(|cell| cell.coordinates.len()).max().unwrap_or(1);
        let size = |dimension: usize| {
            let at = cells.iter().filter_map(|cell| cell.coordinates.get(dimension));
            at.max().map_or(1, |last| last + 1)
        };
        let mut layout = Self {
            side: LARGEST,
            sizes: (0..dimensions.max(2)).map(size).collect(),
            in_a_row: 1,
            rows: 1,
            header: 0.0,
            labels: 0.0,
            short: false,
        };
        let directions = map.directions().len() as f64;
        let widest = [false, true].map(|short| {
            let named = Self { short, sizes: layout.sizes.clone(), ..layout };
            let names = (0..named.planes()).map(|plane| named.name(plane));
            names.map(|name| font::width(&name, sheet.small_size())).fold(0.0, f64::max)
        });
        let room = sheet.width() - MARGIN - label_width(sheet);
        // The largest squares with which all planes are in one row, if they aren't too small for
        // that.
        let row = layout.planes() as f64;
        let side = ((room + GAP) / row - GAP) / layout.sizes[0] as f64;
        layout.side = if side >= SMALLEST_IN_A_ROW { side.min(LARGEST) } else { LARGEST };
        loop {
            layout.arrange(room, widest, sheet);
            let height = layout.header + layout.band() * directions;
            let fits = layout.plane().0 <= room && height <= HEIGHT;
            if fits || layout.side <= SMALLEST {
                return layout;
            }
            layout.side -= 0.25;
        }
    }

    /// Puts planes into rows; `widest` are the widths of their longest whole and short name.
    fn arrange(&mut self, room: f64, widest: [f64; 2], sheet: &Sheet) {
        let step = self.plane().0 + GAP;
        self.in_a_row =
            rounded_down::<usize>(((room + GAP) / step + 1e-9).max(0.0)).clamp(1, self.planes());
        // Rows of several planes of one dimension each.
        let fastest = self.sizes.get(2).copied().unwrap_or(1);
        if self.in_a_row < self.planes() && self.in_a_row > fastest {
            self.in_a_row -= self.in_a_row % fastest;
        }
        self.rows = self.planes().div_ceil(self.in_a_row);
        let fits = widest.map(|widest| widest * SLACK <= self.plane().0 + GAP - 1.0);
        self.short = !fits[0];
        let labelled = self.planes() > 1 && (fits[0] || fits[1]);
        let label = if labelled { sheet.small_size() + 1.0 } else { 0.0 };
        (self.header, self.labels) = if self.rows == 1 { (label, 0.0) } else { (0.0, label) };
    }

    fn planes(&self) -> usize {
        self.sizes[2..].iter().product()
    }

    /// Where a plane lies in the other dimensions: `z 3, k 1`, or `3,1` in short.
    fn name(&self, plane: usize) -> String {
        let mut rest = plane;
        let mut parts = Vec::new();
        for (&size, name) in self.sizes[2..].iter().zip(DIMENSIONS.chars().skip(2)) {
            if size > 1 {
                let at = rest % size;
                parts.push(if self.short { at.to_string() } else { format!("{name} {at}") });
            }
            rest /= size;
        }
        parts.join(if self.short { "," } else { ", " })
    }

    /// The dimensions that tell planes apart.
    fn plane_dimensions(&self) -> Vec<String> {
        let names = self.sizes[2..].iter().zip(DIMENSIONS.chars().skip(2));
        names.filter(|(size, _)| **size > 1).map(|(_, name)| name.to_string()).collect()
    }

    /// Width and height of a plane.
    fn plane(&self) -> (f64, f64) {
        (self.sizes[0] as f64 * self.side, self.sizes[1] as f64 * self.side)
    }

    /// Height of a direction's band.
    pub fn band(&self) -> f64 {
        self.rows as f64 * (self.labels + self.plane().1 + GAP)
    }

    /// The upper left corner of a plane within its band.
    fn corner(&self, plane: usize) -> (f64, f64) {
        let (row, column) = (plane / self.in_a_row, plane % self.in_a_row);
        let (across, up) = self.plane();
        (column as f64 * (across + GAP), row as f64 * (self.labels + up + GAP) + self.labels)
    }

    /// The upper left corner of a channel within its band: x runs right, y up.
    pub fn place(&self, coordinates: &[usize]) -> (f64, f64) {
        let mut plane = 0;
        for dimension in (2..coordinates.len()).rev() {
            plane = plane * self.sizes[dimension] + coordinates[dimension];
        }
        let (x, y) = self.corner(plane);
        let up = self.sizes[1] - 1 - coordinates.get(1).copied().unwrap_or(0);
        (x + coordinates[0] as f64 * self.side, y + up as f64 * self.side)
    }

    /// Where planes have their names, in the middle above the first band, and the names.
    pub fn headings(&self) -> Vec<(f64, String)> {
        let heading = |plane| (self.corner(plane).0 + self.plane().0 / 2.0, self.name(plane));
        if self.header > 0.0 { (0..self.planes()).map(heading).collect() } else { Vec::new() }
    }
}

/// How to read the planes.
pub(super) fn note(map: &HeatMap, layout: &Layout) -> String {
    let mut note = String::from("x to the right, y upwards");
    let names = layout.plane_dimensions();
    let labelled = layout.header > 0.0 || layout.labels > 0.0;
    if labelled && layout.short {
        note += &format!("; above planes: {}", names.join(","));
    } else if !labelled && layout.planes() > 1 {
        note += &format!("; planes in the order of {}", names.join(", "));
        if names.len() > 1 {
            note += &format!(", {} fastest", names[0]);
        }
    }
    let nodes: usize = layout.sizes.iter().product();
    if map.cells.len() < nodes * map.directions().len() {
        note += "; crossed out: no channel";
    }
    note
}

/// The meaning of the shades. Returns where it ends.
fn scale(scene: &mut Scene, sheet: &Sheet, top: f64, map: &HeatMap) -> f64 {
    let (low, high) = map.range();
    let axis = Axis { low, ..Axis::new(map.scale.as_str(), high) };
    let size = sheet.small_size();
    let left = (sheet.width() - SCALE.0) / 2.0;
    let across = |share: f64| left + share * SCALE.0;
    for step in 0..STEPS {
        let (from, to) = (step as f64 / STEPS as f64, (step + 1) as f64 / STEPS as f64);
        let corners = ((across(from), top), (across(to), top + SCALE.1));
        scene.rectangle(corners.0, corners.1, shade(f64::midpoint(from, to)));
    }
    let bottom = top + SCALE.1;
    let frame =
        [(left, top), (left, bottom), (across(1.0), bottom), (across(1.0), top), (left, top)];
    scene.line(&frame, AXIS_LINE, BLACK);
    for (value, label) in axis.ticks(if size > 10.0 { 2 } else { 4 }) {
        let x = across(axis.share(value));
        scene.line(&[(x, bottom), (x, bottom + 2.0)], THIN_LINE, BLACK);
        scene.text(&label, (x, bottom + 3.0 + size), size, Anchor::Middle, BLACK);
    }
    let text = font::shorten(&axis.title, sheet.axis_size(), sheet.width() - 2.0 * MARGIN);
    let place = (sheet.width() / 2.0, bottom + size + sheet.axis_size() + 6.0);
    scene.text(&text, place, sheet.axis_size(), Anchor::Middle, BLACK);
    place.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::scene::Shape;

    fn rows(sizes: [u32; 3]) -> Vec<LoadRow> {
        let mut rows = Vec::new();
        for (x, y, z) in (0..sizes[0])
            .flat_map(|x| (0..sizes[1]).flat_map(move |y| (0..sizes[2]).map(move |z| (x, y, z))))
        {
            for direction in ["-x", "+x", "+y"] {
                let channel = format!("({x},{y},{z}) {direction}");
                rows.push(LoadRow { channel, load_routes: f64::from(x + 10 * y) });
            }
        }
        rows
    }

    #[test]
    fn every_channel_has_a_square_of_its_own_on_the_sheet() {
        for sizes in [[4, 2, 2], [16, 16, 16], [1, 3, 1]] {
            let rows = rows(sizes);
            let scene = load_heat_map(&rows, "title").scene(&Sheet::default());
            let mut corners = Vec::new();
            for shape in &scene.shapes {
                if let Shape::Area { outline, colour, .. } = shape {
                    let inside = |place: &(f64, f64)| {
                        (0.0..=scene.width).contains(&place.0)
                            && (0.0..=scene.height).contains(&place.1)
                    };
                    assert!(outline.iter().all(inside), "{sizes:?}");
                    if *colour != GRID {
                        corners.push((outline[0].0.to_bits(), outline[0].1.to_bits()));
                    }
                }
            }
            corners.sort_unstable();
            corners.dedup();
            assert_eq!(corners.len(), rows.len() + STEPS, "{sizes:?}");
        }
    }

    #[test]
    fn planes_of_four_dimensions_have_labels_in_a_column_and_the_note_is_whole() {
        for sizes in [[4, 4, 4, 2], [4, 4, 4, 4], [3, 3, 3, 3]] {
            let nodes: usize = sizes.iter().product();
            let rest_of = |node: usize| {
                let mut rest = node;
                sizes.map(|size| {
                    let at = rest % size;
                    rest /= size;
                    at
                })
            };
            let rows: Vec<ChannelRow> = (0..nodes)
                .flat_map(|node| {
                    let [x, y, z, k] = rest_of(node);
                    ["+x", "-x", "+y", "-y", "+z", "-z", "+k", "-k"]
                        .map(|it| format!("({x},{y},{z},{k}) {it}"))
                })
                .map(|channel| ChannelRow { channel, utilisation: 0.5, ..ChannelRow::default() })
                .collect();
            // One channel is not there.
            let scene = channel_heat_map(&rows[1..], "").scene(&Sheet::default());
            let texts: Vec<&str> = scene
                .shapes
                .iter()
                .filter_map(|it| {
                    if let Shape::Text { text, .. } = it { Some(text.as_str()) } else { None }
                })
                .collect();
            let plane = ["z 2, k 1", "2,1"].into_iter().find(|name| texts.contains(name));
            let plane = plane.unwrap_or_else(|| panic!("{sizes:?}: {texts:?}"));
            let whole = texts.join(" ");
            assert!(
                whole.contains("crossed out: no channel") && !whole.contains('\u{2026}'),
                "{whole}"
            );
            assert!(plane != "2,1" || whole.contains("above planes: z,k"), "{whole}");
        }
    }

    #[test]
    fn a_scale_begins_at_0_unless_half_of_it_would_be_without_a_value() {
        let map = |values: &[f64], extremes| {
            let rows = values.iter().zip(0..).map(|(&utilisation, at)| ChannelRow {
                channel: format!("({at},0) +x"),
                utilisation,
                ..ChannelRow::default()
            });
            let cells = rows.filter_map(|row| Cell::new(&row.channel, row.utilisation)).collect();
            HeatMap { title: String::new(), scale: String::new(), cells, extremes }.range()
        };
        assert_eq!(map(&[0.4, 0.5], None), (0.4, 0.5));
        assert_eq!(map(&[0.1, 0.5], None), (0.0, 0.5));
        assert_eq!(map(&[0.5, 0.5], None), (0.0, 0.5));
        assert_eq!(map(&[0.4, 0.5], Some((0.3, 0.9))), (0.0, 0.9));
        assert_eq!((map(&[0.0], None), map(&[], None)), ((0.0, 1.0), (0.0, 1.0)));
    }

    #[test]
    fn planes_are_named_by_the_other_dimensions() {
        let cells = (0..2 * 2 * 3 * 2).map(|node: usize| Cell {
            coordinates: vec![node % 2, node / 2 % 2, node / 4 % 3, node / 12],
            direction: "+x".into(),
            value: 1.0,
        });
        let map = HeatMap {
            title: String::new(),
            scale: String::new(),
            cells: cells.collect(),
            extremes: None,
        };
        let layout = Layout::new(&map, &Sheet::default());
        let names: Vec<String> = (0..layout.planes()).map(|plane| layout.name(plane)).collect();
        assert_eq!(names, ["z 0, k 0", "z 1, k 0", "z 2, k 0", "z 0, k 1", "z 1, k 1", "z 2, k 1"]);
    }
}
