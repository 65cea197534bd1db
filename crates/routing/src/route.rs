//! A packet's route as the engine follows it.

use flitlab_fabric::{Channel, Fabric};

/// Most runs of a route: a first step, six dimensions, a last step.
pub const MAXIMUM_RUNS: usize = 8;

/// `hops` hops, each through output port `port` of the router where it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Run {
    /// Number of the output port.
    pub port: u16,
    /// Number of hops; at least 1 in a route.
    pub hops: u16,
}

/// Runs of hops through output ports, from a source router to a destination router. The empty route
/// ends where it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Route {
    runs: [Run; MAXIMUM_RUNS],
    length: u8,
}

impl Route {
    /// Appends `hops` hops through `port`; a run through the same port is made longer.
    ///
    /// # Panics
    /// If the route has [`MAXIMUM_RUNS`] runs already.
    #[inline]
    pub fn push(&mut self, port: u16, hops: u16) {
        if hops == 0 {
            return;
        }
        match self.runs().last() {
            Some(last) if last.port == port => self.runs[self.length as usize - 1].hops += hops,
            _ => {
                self.runs[self.length as usize] = Run { port, hops };
                self.length += 1;
            }
        }
    }

    /// Appends `hops` hops through a port other than that of the last run. If `hops` is 0, the run
    /// that was written is overwritten by the next one.
    #[inline]
    pub(super) fn append(&mut self, port: u16, hops: u16) {
        let some = hops > 0;
        self.runs[self.length as usize] = Run { port: if some { port } else { 0 }, hops };
        self.length += u8::from(some);
    }

    /// The runs, in order.
    pub fn runs(&self) -> &[Run] {
        &self.runs[..self.length as usize]
    }

    /// Number of hops between routers.
    #[inline]
    pub fn hops(&self) -> u32 {
        self.runs().iter().map(|run| u32::from(run.hops)).sum()
    }

    /// Calls `each` with the channels that it takes from a router on.
    ///
    /// # Panics
    /// If it leads over a channel that has failed.
    pub fn for_each_channel(&self, fabric: &Fabric, source: u32, mut each: impl FnMut(Channel)) {
        let mut at = source;
        for port in self.ports() {
            let channel = fabric.outputs(at).start + u32::from(port);
            each(channel);
            at = fabric.target(channel).expect("routes avoid failures");
        }
    }

    /// The output ports, hop by hop.
    pub fn ports(&self) -> impl Iterator<Item = u16> + '_ {
        self.runs().iter().flat_map(|run| std::iter::repeat_n(run.port, usize::from(run.hops)))
    }
}
