//! The frame of a plot with two number axes: title, axes, ticks, legend, and where data lies in it.

use super::axis::Axis;
use super::font;
use super::legend::{Legend, SLACK};
use super::palette::{BLACK, GRID};
use super::scene::{Anchor, Place, Scene};
use super::{AXIS_LINE, AXIS_SIZE, TICK_SIZE, TITLE_SIZE, WIDTH};

/// Height of the plot's frame.
const HEIGHT: f64 = 150.0;

/// Free space at the sheet's edges.
pub(super) const MARGIN: f64 = 5.0;

/// Length of a tick.
pub(super) const TICK: f64 = 3.0;

/// A scene with a plot in it.
pub(super) struct Plot {
    pub scene: Scene,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
}

impl Plot {
    /// An empty plot: all but the data.
    pub fn new(title: &str, x: Axis, y: Axis, legend: &Legend) -> Self {
        let widest = |ticks: &[(f64, String)]| {
            ticks.iter().map(|tick| font::width(&tick.1, TICK_SIZE)).fold(0.0, f64::max) * SLACK
        };
        let labels = widest(&y.ticks);
        let left = MARGIN + AXIS_SIZE + 4.0 + labels + TICK + 2.0;
        let right = f64::from(WIDTH) - MARGIN - widest(&x.ticks) / 2.0;
        let mut scene = Scene { width: WIDTH, height: 0, shapes: Vec::new() };
        let top = title_lines(&mut scene, title) + 5.0;
        let bottom = top + HEIGHT;
        let x_title = bottom + TICK + 2.0 + TICK_SIZE + 3.0 + AXIS_SIZE;
        let legend_top = x_title + 6.0;
        let sheet = f64::from(WIDTH) - 2.0 * MARGIN;
        scene.height = (legend_top + legend.height(sheet) + MARGIN).ceil() as u32;

        let mut plot = Self { scene, left, top, right, bottom, x, y };
        plot.titles(x_title);
        plot.grid();
        legend.draw(&mut plot.scene, MARGIN, legend_top, sheet);
        plot
    }

    fn titles(&mut self, x_title: f64) {
        let middle = f64::midpoint(self.left, self.right);
        let room = self.right - MARGIN;
        let text = font::shorten(&self.x.title, AXIS_SIZE, room);
        self.scene.text(&text, (middle, x_title), AXIS_SIZE, Anchor::Middle, BLACK);
        let room = (self.bottom - MARGIN) / SLACK;
        let text = font::shorten(&self.y.title, AXIS_SIZE, room);
        let height = font::width(&text, AXIS_SIZE) * SLACK;
        let centre = f64::midpoint(self.top, self.bottom).max(MARGIN + height / 2.0);
        self.scene.upwards(&text, (MARGIN + AXIS_SIZE * 0.8, centre), AXIS_SIZE, BLACK);
    }

    fn grid(&mut self) {
        for (value, label) in self.y.ticks.clone() {
            let y = self.place(0.0, value).1;
            if value > 0.0 {
                self.scene.line(&[(self.left, y), (self.right, y)], AXIS_LINE, GRID);
            }
            self.scene.line(&[(self.left - TICK, y), (self.left, y)], AXIS_LINE, BLACK);
            let place = (self.left - TICK - 2.0, y + TICK_SIZE * 0.36);
            self.scene.text(&label, place, TICK_SIZE, Anchor::End, BLACK);
        }
        for (value, label) in self.x.ticks.clone() {
            let x = self.place(value, 0.0).0;
            self.scene.line(&[(x, self.bottom), (x, self.bottom + TICK)], AXIS_LINE, BLACK);
            let place = (x, self.bottom + TICK + 2.0 + TICK_SIZE * 0.8);
            self.scene.text(&label, place, TICK_SIZE, Anchor::Middle, BLACK);
        }
    }

    /// Draws the frame over the data and hands out the scene.
    pub fn finish(mut self) -> Scene {
        let (left, top, right, bottom) = (self.left, self.top, self.right, self.bottom);
        let corners = [(left, top), (left, bottom), (right, bottom)];
        self.scene.line(&corners, AXIS_LINE, BLACK);
        self.scene
    }

    /// Where a value lies, which may be outside the frame.
    pub fn place(&self, x: f64, y: f64) -> Place {
        (
            self.left + self.x.share(x) * (self.right - self.left),
            self.bottom - self.y.share(y) * (self.bottom - self.top),
        )
    }

    /// The place at the frame's upper edge.
    pub fn upper_edge(&self, x: f64) -> Place {
        (self.place(x, 0.0).0, self.top)
    }

    /// Whether a place is in the frame.
    pub fn holds(&self, (x, y): Place) -> bool {
        const ROUNDING: f64 = 1e-6;
        (self.left - ROUNDING..=self.right + ROUNDING).contains(&x)
            && (self.top - ROUNDING..=self.bottom + ROUNDING).contains(&y)
    }

    /// The parts of a line that are in the frame, between its upper and lower edge.
    pub fn clip(&self, points: &[Place]) -> Vec<Vec<Place>> {
        let mut parts: Vec<Vec<Place>> = Vec::new();
        for pair in points.windows(2) {
            let Some((start, end)) = self.clip_segment(pair[0], pair[1]) else { continue };
            match parts.last_mut() {
                Some(part) if part.last() == Some(&start) => part.push(end),
                _ => parts.push(vec![start, end]),
            }
        }
        parts
    }

    fn clip_segment(&self, from: Place, to: Place) -> Option<(Place, Place)> {
        let crossing = |y: f64| (from.0 + (to.0 - from.0) * (y - from.1) / (to.1 - from.1), y);
        let (mut start, mut end) = (from, to);
        for (edge, y) in [(f64::lt as fn(&f64, &f64) -> bool, self.top), (f64::gt, self.bottom)] {
            match (edge(&from.1, &y), edge(&to.1, &y)) {
                (true, true) => return None,
                (true, false) => start = crossing(y),
                (false, true) => end = crossing(y),
                (false, false) => {}
            }
        }
        Some((start, end))
    }
}

/// Puts the title at the top of the sheet and returns where the space below it begins.
pub(super) fn title_lines(scene: &mut Scene, title: &str) -> f64 {
    let mut bottom = MARGIN;
    let room = (f64::from(WIDTH) - 2.0 * MARGIN) / SLACK;
    for line in font::two_lines(title, TITLE_SIZE, room) {
        let place = (f64::from(WIDTH) / 2.0, bottom + TITLE_SIZE * 0.85);
        scene.text(&line, place, TITLE_SIZE, Anchor::Middle, BLACK);
        bottom += TITLE_SIZE + 2.0;
    }
    bottom
}
