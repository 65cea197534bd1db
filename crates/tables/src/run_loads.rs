//! Loads of a torus' channels, counted run by run.
//!
//! A run of hops in one direction loads a part of a line of channels, whole rings included. It is
//! noted where it begins and where it ends, and once more at the line's first channel if it goes
//! round there; the loads are the sums along the lines. So a route costs its few runs, not its hops.

use flitlab_fabric::Torus;
use flitlab_routing::Place;
use flitlab_routing::Route;

/// How many more routes each channel carries than the one before it on its line.
pub(super) struct RunLoads<'t> {
    torus: &'t Torus,
    strides: Vec<u32>,
    /// By channel.
    changes: Vec<i64>,
}

impl<'t> RunLoads<'t> {
    pub fn new(torus: &'t Torus) -> Self {
        let strides = (0..torus.dimensions()).map(|at| torus.sizes()[..at].iter().product());
        let slots = torus.nodes() as usize * torus.directions() as usize;
        Self { torus, strides: strides.collect(), changes: vec![0; slots] }
    }

    fn change(&mut self, node: u32, port: u16, by: i64) {
        let slot = node as usize * self.torus.directions() as usize + usize::from(port);
        self.changes[slot] += by;
    }

    /// Adds a route from a node at these coordinates.
    pub fn add(&mut self, source: u32, mut at: Place, route: &Route) {
        let mut node = source;
        for run in route.runs() {
            let (port, hops) = (run.port, u32::from(run.hops));
            let dimension = self.torus.dimension(port.into());
            let (size, stride) = (self.torus.sizes()[dimension], self.strides[dimension]);
            let from = at[dimension];
            let origin = node - from * stride;
            self.change(node, port, 1);
            let (to, around, first) = if self.torus.positive(port.into()) {
                let to = from + hops;
                if to < size { (to, false, 0) } else { (to - size, true, 0) }
            } else if hops <= from {
                (from - hops, false, size - 1)
            } else {
                (from + size - hops, true, size - 1)
            };
            if around {
                self.change(origin + first * stride, port, 1);
            }
            node = origin + to * stride;
            self.change(node, port, -1);
            at[dimension] = to;
        }
    }

    /// The routes on each channel.
    pub fn by_channel(mut self) -> Vec<f64> {
        let (nodes, directions) = (self.torus.nodes(), self.torus.directions());
        for direction in 0..directions {
            let dimension = self.torus.dimension(direction);
            let (size, stride) = (self.torus.sizes()[dimension], self.strides[dimension]);
            let slot = |node: u32| node as usize * directions as usize + direction as usize;
            // Lines one after the other, each from its first channel on.
            for origin in (0..nodes).filter(|node| node / stride % size == 0) {
                let mut carried = 0;
                for step in 0..size {
                    let at = if self.torus.positive(direction) { step } else { size - 1 - step };
                    let change = &mut self.changes[slot(origin + at * stride)];
                    carried += *change;
                    *change = carried;
                }
            }
        }
        self.changes.into_iter().map(|load| load as f64).collect()
    }
}
