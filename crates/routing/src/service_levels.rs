//! InfiniBand's service levels: a number that a packet keeps, from which each router finds the
//! virtual channel, a virtual lane in its terms.
//!
//! A path's service level belongs to its two terminals. Two terminals of one router may have
//! different levels to the same destination.

use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;

/// Number of service levels.
pub const SERVICE_LEVELS: usize = 16;

/// The virtual lane of management packets. A router discards a data packet whose service level it
/// maps to this lane.
pub const MANAGEMENT_LANE: u8 = 15;

/// A service level for each path, and a map for each router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceLevels {
    /// Levels by destination terminal times rows plus the source's row.
    levels: Vec<u8>,
    /// Number of rows for each destination.
    rows: u32,
    /// The row of each source terminal. Sources whose paths always have equal levels share one.
    row_of: Vec<u32>,
    /// The start of each router's map in `vcs`, and the end of the last one.
    starts: Vec<usize>,
    /// Number of output ports of each router.
    outputs: Vec<u16>,
    /// Virtual channels by input port (the last one stands for the router's terminals), output port
    /// and service level.
    pub(super) vcs: Vec<u8>,
}

impl ServiceLevels {
    /// Levels that all terminals of a router share. At first each path has service level 0, and
    /// each level virtual channel 0.
    pub fn by_router(fabric: &Fabric) -> Self {
        let router = |terminal| fabric.terminal_router(terminal).unwrap_or(0);
        Self::new(fabric, fabric.routers(), (0..fabric.terminals()).map(router).collect())
    }

    /// Levels of each source terminal by itself. At first each path has service level 0, and each
    /// level virtual channel 0.
    pub fn by_terminal(fabric: &Fabric) -> Self {
        Self::new(fabric, fabric.terminals(), (0..fabric.terminals()).collect())
    }

    fn new(fabric: &Fabric, rows: u32, row_of: Vec<u32>) -> Self {
        let outputs: Vec<u16> =
            (0..fabric.routers()).map(|router| narrow(fabric.outputs(router).len())).collect();
        let mut starts = vec![0];
        let mut end = 0;
        for &ports in &outputs {
            end += (usize::from(ports) + 1) * usize::from(ports) * SERVICE_LEVELS;
            starts.push(end);
        }
        let levels = vec![0; rows as usize * fabric.terminals() as usize];
        Self { levels, rows, row_of, starts, outputs, vcs: vec![0; end] }
    }

    /// Sets the service level of paths to a terminal. They start at a source terminal, or at a
    /// router if [its terminals share their levels](Self::by_router).
    ///
    /// # Panics
    /// If there is no such service level.
    pub fn set_level(&mut self, source: u32, terminal: u32, level: u8) {
        assert!(usize::from(level) < SERVICE_LEVELS, "service levels are numbered from 0 to 15");
        let place = self.pair(source, terminal);
        self.levels[place] = level;
    }

    /// Sets the virtual channel of a service level from one port of a router to another; `input` is
    /// `None` for the router's terminals.
    pub fn set_vc(&mut self, router: u32, input: Option<u16>, output: u16, level: u8, vc: u8) {
        let place = self.place(router, input, output, level);
        self.vcs[place] = vc;
    }

    /// Number of routers and of terminals.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.outputs.len(), self.row_of.len())
    }

    /// The service level of the path from one terminal to another.
    pub fn level(&self, source: u32, terminal: u32) -> u8 {
        self.levels[self.pair(self.row_of[source as usize], terminal)]
    }

    fn pair(&self, row: u32, terminal: u32) -> usize {
        terminal as usize * self.rows as usize + row as usize
    }

    /// The virtual channel on which a packet leaves a router; `input` is `None` for packets from
    /// the router's own terminals.
    pub fn vc(&self, router: u32, input: Option<u16>, output: u16, level: u8) -> u8 {
        self.vcs[self.place(router, input, output, level)]
    }

    fn place(&self, router: u32, input: Option<u16>, output: u16, level: u8) -> usize {
        let ports = self.outputs[router as usize];
        let input = usize::from(input.unwrap_or(ports));
        let turn = input * usize::from(ports) + usize::from(output);
        self.starts[router as usize] + turn * SERVICE_LEVELS + usize::from(level)
    }
}
