//! InfiniBand's service levels: a number that a packet keeps, from which each router finds the virtual lane.

use crate::topology::Fabric;

/// Number of service levels.
pub const SERVICE_LEVELS: usize = 16;

/// A service level for each path, and a map for each router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceLevels {
    /// By destination terminal times routers plus source router.
    levels: Vec<u8>,
    /// Where each router's map starts; at the end where the last one ends.
    starts: Vec<usize>,
    /// Output ports of each router.
    outputs: Vec<u16>,
    /// By input port (the last one stands for the router's terminals), output port, service level.
    lanes: Vec<u8>,
}

impl ServiceLevels {
    /// Service level 0 for all paths, lane 0 for all.
    #[must_use]
    pub fn new(fabric: &Fabric) -> Self {
        let outputs: Vec<u16> =
            (0..fabric.routers()).map(|router| fabric.outputs(router).len() as u16).collect();
        let mut starts = vec![0];
        let mut end = 0;
        for &ports in &outputs {
            end += (usize::from(ports) + 1) * usize::from(ports) * SERVICE_LEVELS;
            starts.push(end);
        }
        let pairs = fabric.routers() as usize * fabric.terminals() as usize;
        Self { levels: vec![0; pairs], starts, outputs, lanes: vec![0; end] }
    }

    /// Gives the path from a router to a terminal a service level.
    ///
    /// # Panics
    /// If there is no such service level.
    pub fn set_level(&mut self, source: u32, terminal: u32, level: u8) {
        assert!(usize::from(level) < SERVICE_LEVELS, "service levels are numbered from 0 to 15");
        let place = terminal as usize * self.outputs.len() + source as usize;
        self.levels[place] = level;
    }

    /// Gives a router the lane of a service level from one port to another.
    pub fn set_lane(&mut self, router: u32, input: Option<u16>, output: u16, level: u8, lane: u8) {
        let place = self.place(router, input, output, level);
        self.lanes[place] = lane;
    }

    pub(super) fn pairs(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn level(&self, pair: usize) -> u8 {
        self.levels[pair]
    }

    /// The lane in which a packet goes on; `input` is `None` for packets from the router's own terminals.
    #[must_use]
    pub fn lane(&self, router: u32, input: Option<u16>, output: u16, level: u8) -> u8 {
        self.lanes[self.place(router, input, output, level)]
    }

    /// All lanes that stand in the maps.
    pub(super) fn lanes(&self) -> &[u8] {
        &self.lanes
    }

    fn place(&self, router: u32, input: Option<u16>, output: u16, level: u8) -> usize {
        let ports = self.outputs[router as usize];
        let input = usize::from(input.unwrap_or(ports));
        let turn = input * usize::from(ports) + usize::from(output);
        self.starts[router as usize] + turn * SERVICE_LEVELS + usize::from(level)
    }
}
