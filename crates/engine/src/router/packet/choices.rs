//! The state of a part's routers for packets that choose among outputs.

use serde::{Deserialize, Serialize};

use crate::bytes::bytes_of;
use crate::frame::tick::{NEVER, Tick, move_back};
use crate::network::ports::Ports;
use crate::next_hop::{HopTimes, PortHops, Routing};
use crate::router::asks::Asks;
use crate::router::packet::cell::Size;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_routing::MAX_VCS;

/// The state of a part's routers for packets that choose among outputs.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct AdaptiveState {
    /// By router, then buffer: what its head asks for; empty unless routing is adaptive.
    pub choices: Vec<Asks>,
    /// By router, then output: the buffers whose heads may leave by it on an escape channel, a bit
    /// each; empty unless routing is adaptive.
    pub escapes: Vec<u64>,
    /// By router: input virtual channels whose heads are new and decide on a detour when they ask.
    pub undecided: Vec<u64>,
    /// By router: the buffers whose heads have a choice, a bit each.
    pub choosing: Vec<u64>,
    /// By router: a lower bound of the time at which the first undecided head asks.
    pub decide_at: Vec<Tick>,
    /// By output: the time at which its adaptive channel was granted last; empty if no packet asks
    /// for it.
    pub granted: Vec<Picoseconds>,
    /// When hops of a relation were taken last.
    pub hop_times: HopTimes,
    /// The outputs of the router that is visited that passed over a packet, since it prefers another
    /// output, a bit each.
    pub passed_over: Vec<u64>,
    /// The rooms of the router that is visited, on a torus.
    #[serde(skip)]
    pub rooms: AdaptiveRooms,
    /// The cache of free room, for routing relations.
    #[serde(skip)]
    pub room_cache: RoomCache,
}

impl AdaptiveState {
    /// The state of idle routers.
    pub(crate) fn new(
        routing: &Routing<'_>,
        ports: &Ports,
        (size, vcs): (Size, usize),
        adaptive: bool,
    ) -> Self {
        let routers = ports.routers.len();
        let decides = routing.decides();
        let that_choose = if adaptive { routers } else { 0 };
        Self {
            choices: vec![Asks::One; that_choose * size.buffers],
            escapes: vec![0; that_choose * size.ports * size.words],
            undecided: vec![0; if decides { routers * size.words } else { 0 }],
            choosing: vec![0; that_choose * size.words],
            decide_at: vec![NEVER; routers],
            granted: routing.grant_times(ports.outputs),
            hop_times: HopTimes::new(routing, ports.outputs, vcs),
            passed_over: vec![0; size.ports.div_ceil(64)],
            ..Self::default()
        }
    }

    pub(crate) fn memory(&self) -> usize {
        bytes_of!(self; choices, escapes, undecided, choosing, decide_at, granted)
            + self.hop_times.memory()
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        move_back(&mut self.decide_at, by);
    }
}

/// The free room on the adaptive channel behind the outputs of the router that is visited, as far
/// as credits have arrived.
#[derive(Debug)]
pub(crate) struct AdaptiveRooms {
    /// By output; 0 if it leads to no router.
    pub room: [u32; TORUS_PORTS],
    /// By output: the time at which the next credits arrive.
    pub collect_at: [Tick; TORUS_PORTS],
}

/// Adaptive routing on a torus knows ports as bits of 16.
pub(super) const TORUS_PORTS: usize = u16::BITS as usize;

impl Default for AdaptiveRooms {
    fn default() -> Self {
        Self { room: [0; TORUS_PORTS], collect_at: [NEVER; TORUS_PORTS] }
    }
}

/// Cache of a router's free room during an allocation. Each output and each head is looked up once.
#[derive(Default)]
pub(crate) struct RoomCache {
    /// The number of the present allocation; entries of earlier ones do not count.
    pub allocation: u64,
    pub outputs: Vec<OutputRoom>,
    /// Cache of "has the head any non-fallback hop with room?", by buffer, with the `state` in
    /// which it was computed. `state` increases at each grant.
    pub state: u64,
    pub heads: Vec<(u64, bool)>,
}

/// Free room behind an output.
#[derive(Clone, Copy, Default)]
pub(crate) struct OutputRoom {
    pub allocation: u64,
    /// Free flits by virtual channel, and their sum.
    pub room: [u16; MAX_VCS as usize],
    pub all: u32,
    /// The virtual channels with room for a packet of this many flits, a bit each.
    pub fits: u16,
    pub flits: u16,
}

impl OutputRoom {
    /// The virtual channels of the set `vcs` with room for this many flits, a bit each.
    #[inline(always)]
    pub(crate) fn open(&self, vcs: u16, flits: u16) -> u16 {
        let has_room = |&vc: &u8| self.room[usize::from(vc)] >= flits;
        vcs_in(vcs).filter(has_room).fold(0, |open, vc| open | 1 << vc)
    }

    /// The virtual channels of hops, fallbacks excluded, that have room for a packet, a bit each.
    #[inline(always)]
    pub(super) fn open_to(&self, hops: &PortHops, [need, entering]: [u16; 2]) -> u16 {
        let open = self.open(hops.vcs & !hops.enters, need);
        match hops.vcs & hops.enters {
            0 => open,
            enters => open | self.open(enters, entering),
        }
    }
}

impl RoomCache {
    /// Begins an allocation of a router with this many outputs and buffers.
    pub(crate) fn begin(&mut self, outputs: u16, buffers: usize) {
        self.allocation += 1;
        self.state += 1;
        if self.outputs.len() < usize::from(outputs) {
            self.outputs.resize(usize::from(outputs), OutputRoom::default());
        }
        if self.heads.len() < buffers {
            self.heads.resize(buffers, (0, false));
        }
    }

    /// Notes that the room behind an output becomes less.
    #[inline(always)]
    pub(super) fn take_room(&mut self, output: usize) {
        self.outputs[output].allocation = 0;
        self.state += 1;
    }
}

/// The virtual channels in a set.
pub(super) fn vcs_in(set: u16) -> impl Iterator<Item = u8> {
    bits(set).map(|vc| fitted!(vc, u8))
}
