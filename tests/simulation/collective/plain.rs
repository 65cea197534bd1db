//! A plain computation, flit by flit from docs/model.md, of what one tree does with packets one
//! after the other in an empty network. It is for tests, and independent of the engine.

use flitlab::engine::{Parameters, Switching};
use flitlab::narrow::narrow;
use flitlab::topology::{Fabric, SpanningTree};
use flitlab::traffic::CollectiveKind;
use flitlab::units::Picoseconds;

/// A place whose flits come at known times, and that holds a packet until the whole packet has
/// left. By packet: the time at which its last flit had left.
type Buffer = Vec<Picoseconds>;

/// The times at which flits are somewhere.
type Flits = Vec<Picoseconds>;

/// A router with its one terminal. Ports are those of cables, then the ejection channel.
#[derive(Clone, Default)]
struct Router {
    injected: Buffer,
    /// By port.
    up: Vec<Buffer>,
    down: Buffer,
    /// The times at which the source, the outputs and the reduction unit are free.
    source_free: Picoseconds,
    output_free: Vec<Picoseconds>,
    unit_free: Picoseconds,
    /// By result: the time at which it had left.
    result_left: Vec<Picoseconds>,
    down_free: Picoseconds,
}

/// One tree that handles packets one after the other in an empty network, flit by flit.
pub(super) struct Plain<'p> {
    fabric: &'p Fabric,
    tree: SpanningTree,
    kind: CollectiveKind,
    p: &'p Parameters,
    /// Flits of each packet so far.
    flits: Vec<u32>,
    routers: Vec<Router>,
}

/// Sends flits on a channel that is free at `free`. They are `there` at these times, and each takes
/// `flit`. Returns their starts, and the time at which the last one has left.
fn send(free: Picoseconds, there: &Flits, flit: Picoseconds) -> (Flits, Picoseconds) {
    let mut end = free;
    let start = |&there: &Picoseconds| {
        let start = end.max(there);
        end = start + flit;
        start
    };
    let starts = there.iter().map(start).collect();
    (starts, end)
}

/// The times of flits that go on, each `time` later.
fn later(flits: &Flits, time: Picoseconds) -> Flits {
    flits.iter().map(|&it| it + time).collect()
}

impl<'p> Plain<'p> {
    pub(super) fn new(
        fabric: &'p Fabric,
        kind: CollectiveKind,
        root: u32,
        members: &[u32],
        p: &'p Parameters,
    ) -> Self {
        let ports = fabric.torus().unwrap().directions() as usize + 1;
        let router = Router {
            up: vec![Buffer::new(); ports],
            output_free: vec![Picoseconds(0); ports],
            ..Router::default()
        };
        let tree = SpanningTree::new(fabric, root, members).unwrap();
        let routers = vec![router; fabric.routers() as usize];
        Self { fabric, tree, kind, p, flits: Vec::new(), routers }
    }

    /// The time at which a buffer of this many flits has room for packet `number`, with credits
    /// `back` under way.
    fn room(&self, buffer: &Buffer, size: u32, number: usize, back: Picoseconds) -> Picoseconds {
        let mut held = 0;
        for before in (0..=number).rev() {
            held += self.flits[before];
            if held > size {
                return buffer[before] + back;
            }
        }
        Picoseconds(0)
    }

    /// Injects a terminal's packet that enters its queue at `at`. Returns the times at which its
    /// flits are in the router.
    fn inject(&mut self, place: usize, at: Picoseconds, number: usize) -> Flits {
        let p = self.p;
        let Router { injected, source_free, .. } = &self.routers[place];
        let room = self.room(injected, p.injection_buffer, number, p.injection_latency);
        let there = vec![at; self.flits[number] as usize];
        let (starts, end) = send((*source_free).max(room), &there, p.injection_flit_time());
        self.routers[place].source_free = end;
        later(&starts, p.injection_latency)
    }

    /// The router at the other end of a router's cable, and the time of a flit on the cable, and
    /// its latency, in either direction.
    fn link(&self, router: u32, port: u32) -> (u32, Picoseconds, Picoseconds) {
        let channel = self.fabric.outputs(router).start + port;
        let cable = self.fabric.cable(channel);
        let far = self.fabric.target(channel).unwrap();
        (far, self.p.flit_time_of(cable), self.p.latency_of(cable))
    }

    /// The flit that decides when a packet may go on.
    fn header(&self, flits: &Flits) -> Picoseconds {
        let whole = self.p.switching == Switching::StoreAndForward;
        if whole { *flits.last().unwrap() } else { flits[0] }
    }

    /// The time at which flits in a buffer may go on.
    fn routed(&self, flits: &Flits) -> Picoseconds {
        self.header(flits) + self.p.routing_latency
    }

    /// The result of packet `number` at a router: the time at which it may go on, and the times at
    /// which its flits are in the unit.
    fn result(&mut self, router: u32, at: Picoseconds, number: usize) -> (Picoseconds, Flits) {
        let (p, place) = (self.p, router as usize);
        let flit = p.combining_flit_time();
        let open = p.collective.open_operations as usize;
        let before = number.checked_sub(open);
        let has_place = before.map(|before| self.routers[place].result_left[before]);
        let mut operands: Vec<Flits> = Vec::new();
        let mut take = |this: &mut Self, port: Option<u32>, flits: Flits| {
            let routed = this.routed(&flits);
            let Router { injected, up, .. } = &mut this.routers[place];
            let buffer = port.map_or(injected, |port| &mut up[port as usize]);
            let before = buffer.last().copied().max(has_place);
            let (starts, end) = send(before.max(Some(routed)).unwrap(), &flits, flit);
            buffer.push(end);
            operands.push(starts);
        };
        let fabric = self.fabric;
        let holds = |terminal: &u32| fabric.terminal_router(*terminal) == Some(router);
        if self.tree.members.iter().any(holds) {
            let flits = self.inject(place, at, number);
            take(self, None, flits);
        }
        for port in self.tree.children(router).to_vec() {
            let (child, link_flit, latency) = self.link(router, port);
            let (ready, flits) = self.result(child, at, number);
            let up = &self.routers[place].up[port as usize];
            let room = self.room(up, p.buffer, number, latency);
            let output = self.tree.parent(child).unwrap() as usize;
            let Router { output_free, result_left, .. } = &mut self.routers[child as usize];
            let first = ready.max(output_free[output]).max(room);
            let (starts, end) = send(first, &flits, link_flit);
            output_free[output] = end;
            result_left.push(end);
            take(self, Some(port), later(&starts, p.crossbar_latency + latency));
        }
        if operands.len() == 1 {
            let flits = operands.remove(0);
            return (flits[0], flits);
        }
        let all = (0..self.flits[number] as usize)
            .map(|flit| operands.iter().map(|operand| operand[flit]).max().unwrap())
            .collect();
        let (starts, end) = send(self.routers[place].unit_free, &all, flit);
        self.routers[place].unit_free = end;
        let flits = later(&starts, p.collective.combining_latency);
        (self.header(&flits), flits)
    }

    /// Sends a packet down from a router, whose flits are there at these times and may go on at
    /// `ready`. Returns each delivery as terminal and time.
    fn send_down(
        &mut self,
        router: u32,
        (ready, flits): (Picoseconds, Flits),
        number: usize,
        delivered: &mut Vec<(u32, Picoseconds)>,
    ) -> Picoseconds {
        let (p, place) = (self.p, router as usize);
        let gets = |it: &u32| {
            self.fabric.terminal_router(*it) == Some(router)
                && (self.kind != CollectiveKind::Broadcast || *it != self.tree.root())
        };
        let own = self.tree.members.iter().copied().find(gets);
        let eject = self.routers[place].up.len() - 1;
        let ask = ready.max(self.routers[place].down_free);
        // By output: the time at which it can start, and the router and the cable behind it.
        let mut starts = Vec::new();
        for &port in self.tree.children(router) {
            let (to, flit, latency) = self.link(router, port);
            let room = self.room(&self.routers[to as usize].down, p.buffer, number, latency);
            starts.push((port as usize, room, Some(to), flit, latency));
        }
        if own.is_some() {
            let (flit, latency) = (p.ejection_flit_time(), p.ejection_latency);
            starts.push((eject, Picoseconds::ZERO, None, flit, latency));
        }
        let output_free = &self.routers[place].output_free;
        starts.iter_mut().for_each(|it| it.1 = it.1.max(ask).max(output_free[it.0]));
        if p.collective.together {
            let last = starts.iter().map(|it| it.1).max().unwrap();
            starts.iter_mut().for_each(|it| it.1 = last);
        }
        let mut released = Picoseconds::ZERO;
        let mut arrivals = Vec::new();
        for (port, first, to, flit, latency) in starts {
            let (starts, end) = send(first, &flits, flit);
            self.routers[place].output_free[port] = end;
            released = released.max(end);
            let there = later(&starts, p.crossbar_latency + latency);
            match to {
                Some(to) => arrivals.push((to, there)),
                None => delivered.push((own.unwrap(), *there.last().unwrap())),
            }
        }
        self.routers[place].down_free = released;
        for (to, there) in arrivals {
            let left = self.send_down(to, (self.routed(&there), there), number, delivered);
            self.routers[to as usize].down.push(left);
        }
        released
    }

    /// All deliveries of these messages, which all nodes create at `at`, cut into packets.
    pub(super) fn deliveries(
        &mut self,
        messages: &[u64],
        at: Picoseconds,
    ) -> Vec<(u32, Picoseconds)> {
        let mut delivered = Vec::new();
        let root = self.fabric.terminal_router(self.tree.root()).unwrap();
        for &bytes in messages {
            let (full, rest) = self.p.packets(bytes);
            let full = std::iter::repeat_n(self.p.maximum_packet(), narrow(full));
            for flits in full.chain(rest.map(|rest| self.p.packet_flits(rest))) {
                self.flits.push(flits);
                self.packet(root, at, self.flits.len() - 1, &mut delivered);
            }
        }
        delivered.sort_unstable();
        delivered
    }

    fn packet(
        &mut self,
        root: u32,
        at: Picoseconds,
        number: usize,
        delivered: &mut Vec<(u32, Picoseconds)>,
    ) {
        let (p, place) = (self.p, root as usize);
        if self.kind == CollectiveKind::Broadcast {
            let flits = self.inject(place, at, number);
            let left = self.send_down(root, (self.routed(&flits), flits), number, delivered);
            return self.routers[place].injected.push(left);
        }
        let (ready, flits) = self.result(root, at, number);
        let left = if self.kind == CollectiveKind::Reduce {
            let free = self.routers[place].output_free.last_mut().unwrap();
            let (starts, end) = send(ready.max(*free), &flits, p.ejection_flit_time());
            *free = end;
            let there = *starts.last().unwrap() + p.crossbar_latency + p.ejection_latency;
            delivered.push((self.tree.root(), there));
            end
        } else {
            self.send_down(root, (ready, flits), number, delivered)
        };
        self.routers[place].result_left.push(left);
    }
}
