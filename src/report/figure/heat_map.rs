//! The loads of a torus' channels, each at its place: planes of the first two dimensions side by side,
//! a band of planes for each direction.

use super::super::LoadRow;
use super::super::channel::torus_place;
use super::Figure;
use super::axis::Axis;
use super::font;
use super::palette::{BLACK, GREY, GRID, shade};
use super::plot::{MARGIN, title_lines};
use super::scene::{Anchor, Scene};
use super::{AXIS_LINE, AXIS_SIZE, THIN_LINE, TICK_SIZE, WIDTH};

/// Side of a channel's square at most, and how far it is made smaller to keep the sheet within a height.
const LARGEST: f64 = 9.0;
const SMALLEST: f64 = 0.75;
const HEIGHT: f64 = 420.0;

const GAP: f64 = 4.0;
const LABEL: f64 = 16.0;
const SCALE: (f64, f64) = (110.0, 7.0);

/// A channel by its coordinates and its direction.
struct Cell<'r> {
    coordinates: Vec<usize>,
    direction: &'r str,
    load: f64,
}

/// Where planes lie.
struct Layout {
    side: f64,
    sizes: Vec<usize>,
    in_a_row: usize,
    rows: usize,
}

/// Draws the rows whose channels are named by coordinates and direction, such as `(0,3,1) +y`.
#[must_use]
pub fn load_heat_map(rows: &[LoadRow], title: &str) -> Figure {
    let cells: Vec<Cell<'_>> = rows.iter().filter_map(cell).collect();
    let mut directions: Vec<&str> = Vec::new();
    for cell in &cells {
        if !directions.contains(&cell.direction) {
            directions.push(cell.direction);
        }
    }
    directions.sort_by_key(|name| (name.starts_with('-'), "xyzklm".find(&name[1..])));
    let layout = Layout::new(&cells, directions.len());
    let highest = cells.iter().map(|cell| cell.load).fold(0.0, f64::max).max(1.0);
    let mut scene = Scene { width: WIDTH, height: 0, shapes: Vec::new() };
    let top = title_lines(&mut scene, title) + 4.0;
    let left = MARGIN + LABEL;
    for (number, direction) in directions.iter().enumerate() {
        let band = top + number as f64 * layout.band();
        let middle = band + layout.band() / 2.0 - GAP / 2.0 + TICK_SIZE * 0.36;
        let label = direction.replace('-', "\u{2212}");
        scene.text(&label, (MARGIN + LABEL - 4.0, middle), TICK_SIZE, Anchor::End, BLACK);
        let (across, up) = layout.plane();
        for plane in 0..layout.planes() {
            let (x, y) = layout.corner(plane);
            let corner = (left + x, band + y);
            scene.rectangle(corner, (corner.0 + across, corner.1 + up), GRID);
        }
        for cell in cells.iter().filter(|cell| cell.direction == *direction) {
            let (x, y) = layout.place(&cell.coordinates);
            let corner = (left + x, band + y);
            let opposite = (corner.0 + layout.side, corner.1 + layout.side);
            scene.rectangle(corner, opposite, shade(cell.load / highest));
        }
    }
    let bottom = top + directions.len() as f64 * layout.band() + 2.0;
    scale(&mut scene, bottom, highest);
    let note = note(&layout.sizes);
    let place = (f64::from(WIDTH) / 2.0, bottom + SCALE.1 + TICK_SIZE + AXIS_SIZE + 18.0);
    scene.text(&note, place, TICK_SIZE, Anchor::Middle, GREY);
    scene.height = (place.1 + MARGIN).ceil() as u32;
    Figure::of(scene)
}

fn cell(row: &LoadRow) -> Option<Cell<'_>> {
    let (coordinates, direction) = torus_place(&row.channel)?;
    let coordinates = coordinates.into_iter().map(|at| at as usize).collect();
    Some(Cell { coordinates, direction, load: f64::from(row.load_routes) })
}

impl Layout {
    /// The largest squares with which the bands stay within the height.
    fn new(cells: &[Cell<'_>], directions: usize) -> Self {
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
        };
        let room = f64::from(WIDTH) - 2.0 * MARGIN - LABEL;
        loop {
            let step = layout.plane().0 + GAP;
            layout.in_a_row = (((room + GAP) / step) as usize).clamp(1, layout.planes());
            layout.rows = layout.planes().div_ceil(layout.in_a_row);
            let fits = layout.plane().0 <= room && layout.band() * directions as f64 <= HEIGHT;
            if fits || layout.side <= SMALLEST {
                return layout;
            }
            layout.side -= 0.25;
        }
    }

    fn planes(&self) -> usize {
        self.sizes[2..].iter().product()
    }

    /// Width and height of a plane.
    fn plane(&self) -> (f64, f64) {
        (self.sizes[0] as f64 * self.side, self.sizes[1] as f64 * self.side)
    }

    /// Height of a direction's band.
    fn band(&self) -> f64 {
        self.rows as f64 * (self.plane().1 + GAP)
    }

    /// The upper left corner of a plane within its band.
    fn corner(&self, plane: usize) -> (f64, f64) {
        let (row, column) = (plane / self.in_a_row, plane % self.in_a_row);
        let (across, up) = self.plane();
        (column as f64 * (across + GAP), row as f64 * (up + GAP))
    }

    /// The upper left corner of a channel within its band: x runs right, y up.
    fn place(&self, coordinates: &[usize]) -> (f64, f64) {
        let mut plane = 0;
        for dimension in (2..coordinates.len()).rev() {
            plane = plane * self.sizes[dimension] + coordinates[dimension];
        }
        let (x, y) = self.corner(plane);
        let up = self.sizes[1] - 1 - coordinates.get(1).copied().unwrap_or(0);
        (x + coordinates[0] as f64 * self.side, y + up as f64 * self.side)
    }
}

/// The meaning of the shades.
fn scale(scene: &mut Scene, top: f64, highest: f64) {
    const STEPS: usize = 44;
    let axis = Axis::new("Routes through the channel", highest, 4);
    let left = (f64::from(WIDTH) - SCALE.0) / 2.0;
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
    for (value, label) in &axis.ticks {
        let x = across(axis.share(*value));
        scene.line(&[(x, bottom), (x, bottom + 2.0)], THIN_LINE, BLACK);
        let place = (x, bottom + 3.0 + TICK_SIZE);
        scene.text(label, place, TICK_SIZE, Anchor::Middle, BLACK);
    }
    let text = font::shorten(&axis.title, AXIS_SIZE, f64::from(WIDTH) - 2.0 * MARGIN);
    let place = (f64::from(WIDTH) / 2.0, bottom + TICK_SIZE + AXIS_SIZE + 6.0);
    scene.text(&text, place, AXIS_SIZE, Anchor::Middle, BLACK);
}

/// How to read the planes.
fn note(sizes: &[usize]) -> String {
    let names: Vec<&str> = "x y z k l m".split(' ').take(sizes.len()).collect();
    match names[2..] {
        [] => "x to the right, y upwards".into(),
        [only] => format!("x to the right, y upwards; planes in the order of {only}"),
        [fastest, ..] => {
            let all = names[2..].join(", ");
            format!("x to the right, y upwards; planes in the order of {all}, {fastest} fastest")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figure::scene::Shape;

    fn rows(sizes: [u32; 3]) -> Vec<LoadRow> {
        let mut rows = Vec::new();
        for (x, y, z) in (0..sizes[0])
            .flat_map(|x| (0..sizes[1]).flat_map(move |y| (0..sizes[2]).map(move |z| (x, y, z))))
        {
            for direction in ["-x", "+x", "+y"] {
                let channel = format!("({x},{y},{z}) {direction}");
                rows.push(LoadRow { channel, load_routes: x + 10 * y });
            }
        }
        rows
    }

    #[test]
    fn every_channel_has_a_square_of_its_own_on_the_sheet() {
        for sizes in [[4, 2, 2], [16, 16, 16], [1, 3, 1]] {
            let rows = rows(sizes);
            let figure = load_heat_map(&rows, "title");
            let (width, height) = (f64::from(figure.scene.width), f64::from(figure.scene.height));
            let mut corners = Vec::new();
            for shape in &figure.scene.shapes {
                if let Shape::Area { outline, colour } = shape {
                    let inside = |place: &(f64, f64)| {
                        (0.0..=width).contains(&place.0) && (0.0..=height).contains(&place.1)
                    };
                    assert!(outline.iter().all(inside), "{sizes:?}");
                    if *colour != GRID {
                        corners.push((outline[0].0.to_bits(), outline[0].1.to_bits()));
                    }
                }
            }
            corners.sort_unstable();
            corners.dedup();
            // The scale has 44 more.
            assert_eq!(corners.len(), rows.len() + 44, "{sizes:?}");
        }
    }
}
