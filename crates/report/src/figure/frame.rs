//! A panel's frame: where values lie in it, and what of lines and areas is seen there.

use super::axis::Axis;
use super::chart::Panel;
use super::scene::Place;
use flitlab_base::narrow::rounded_down;

/// A panel's place on the sheet.
pub(super) struct Frame<'c> {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    pub x: &'c Axis,
    pub y: &'c Axis,
}

impl Frame<'_> {
    /// Where a value lies, which may be outside the frame.
    pub fn place(&self, x: f64, y: f64) -> Place {
        // A logarithmic axis has no 0.
        let x = if self.x.is_logarithmic() { x.max(self.x.low) } else { x };
        let y = if self.y.is_logarithmic() { y.max(self.y.low) } else { y };
        (
            self.left + self.x.share(x) * (self.right - self.left),
            self.bottom - self.y.share(y) * (self.bottom - self.top),
        )
    }

    /// Whether a place is in the frame.
    pub fn holds(&self, (x, y): Place) -> bool {
        const ROUNDING: f64 = 1e-6;
        (self.left - ROUNDING..=self.right + ROUNDING).contains(&x)
            && (self.top - ROUNDING..=self.bottom + ROUNDING).contains(&y)
    }

    /// At how many places data is in a rectangle; lines are looked at point by point.
    pub fn covered(&self, panel: &Panel, corner: Place, opposite: Place) -> usize {
        let is_in = |(x, y): &Place| {
            (corner.0..=opposite.0).contains(x) && (corner.1..=opposite.1).contains(y)
        };
        let rules = panel.rules.iter().map(|rule| rule.places(self.x, self.y));
        let runs = panel.curves.iter().flat_map(|curve| &curve.runs);
        let runs = runs.map(|run| run.iter().map(|sample| (sample.x, sample.y)).collect());
        let marks = panel.marks.iter().filter_map(|mark| Some(vec![(mark.x, mark.y?)]));
        let lines = rules.chain(runs).chain(marks).map(|line: Vec<(f64, f64)>| {
            line.into_iter().map(|(x, y)| self.place(x, y)).collect::<Vec<Place>>()
        });
        let bins = panel.bins.iter().filter(|bin| {
            let (from, to) = (self.place(bin.from, bin.height), self.place(bin.to, 0.0));
            from.0 < opposite.0 && to.0 > corner.0 && from.1 < opposite.1
        });
        let of_line = |line: Vec<Place>| {
            let parts = self.clip(&line).into_iter().flat_map(|part| points_along(&part));
            parts.chain(line.into_iter().filter(|place| self.holds(*place))).filter(is_in).count()
        };
        lines.map(of_line).sum::<usize>() + bins.count()
    }

    /// The parts of a line that are in the frame.
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
        let (mut start, mut end) = (from, to);
        for edge in self.edges() {
            match (edge.beyond(start), edge.beyond(end)) {
                (true, true) => return None,
                (true, false) => start = edge.crossing(start, end),
                (false, true) => end = edge.crossing(start, end),
                (false, false) => {}
            }
        }
        Some((start, end))
    }

    /// The part of a polygon that is in the frame.
    pub fn clip_area(&self, outline: &[Place]) -> Vec<Place> {
        let mut outline = outline.to_vec();
        for edge in self.edges() {
            let mut inside = Vec::new();
            for (number, &corner) in outline.iter().enumerate() {
                let next = outline[(number + 1) % outline.len()];
                if !edge.beyond(corner) {
                    inside.push(corner);
                }
                if edge.beyond(corner) != edge.beyond(next) {
                    inside.push(edge.crossing(corner, next));
                }
            }
            outline = inside;
        }
        outline
    }

    fn edges(&self) -> [Edge; 4] {
        [
            Edge::Across(self.top, f64::lt),
            Edge::Across(self.bottom, f64::gt),
            Edge::Up(self.left, f64::lt),
            Edge::Up(self.right, f64::gt),
        ]
    }
}

/// Places along a line, a point apart.
fn points_along(line: &[Place]) -> Vec<Place> {
    let along = |pair: &[Place]| {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let steps = rounded_down::<u32>((x1 - x0).abs().max((y1 - y0).abs())).saturating_add(1);
        let place = move |step: u32| {
            let share = f64::from(step) / f64::from(steps);
            (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share)
        };
        (0..=steps).map(place).collect::<Vec<Place>>()
    };
    line.windows(2).flat_map(along).collect()
}

/// An edge of a frame: where it is, and what tells that a place is beyond it.
enum Edge {
    /// At a height.
    Across(f64, fn(&f64, &f64) -> bool),
    /// At a distance from the sheet's left edge.
    Up(f64, fn(&f64, &f64) -> bool),
}

impl Edge {
    fn beyond(&self, (x, y): Place) -> bool {
        match self {
            Self::Across(at, beyond) => beyond(&y, at),
            Self::Up(at, beyond) => beyond(&x, at),
        }
    }

    /// Where a line crosses it.
    fn crossing(&self, from: Place, to: Place) -> Place {
        match *self {
            Self::Across(at, _) => (from.0 + (to.0 - from.0) * (at - from.1) / (to.1 - from.1), at),
            Self::Up(at, _) => (at, from.1 + (to.1 - from.1) * (at - from.0) / (to.0 - from.0)),
        }
    }
}
