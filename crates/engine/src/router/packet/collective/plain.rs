//! A plain computation, flit by flit from docs/model.md, of what one tree does with packets one
//! after the other in an empty network. It is for tests, and independent of the engine.

use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Fabric, SpanningTree};
use flitlab_model::{Parameters, Switching};
use flitlab_workload::traffic::CollectiveKind;

/// A place whose flits come at known times, and that holds a packet until the whole packet has
/// left.
#[derive(Clone, Default)]
struct Buffer {
    /// By packet: the time at which its last flit had left.
    released: Vec<Picoseconds>,
}

/// One tree that handles packets one after the other in an empty network, flit by flit.
pub(super) struct Plain<'p> {
    fabric: &'p Fabric,
    tree: SpanningTree,
    kind: CollectiveKind,
    p: &'p Parameters,
    /// Flits of each packet so far.
    flits: Vec<u32>,
    /// By router, then terminal or port: buffers up and down, and the times at which outputs are
    /// free.
    injected: Vec<Buffer>,
    up: Vec<Vec<Buffer>>,
    down: Vec<Buffer>,
    source_free: Vec<Picoseconds>,
    output_free: Vec<Vec<Picoseconds>>,
    unit_free: Vec<Picoseconds>,
    result_left: Vec<Vec<Picoseconds>>,
    down_free: Vec<Picoseconds>,
}

impl<'p> Plain<'p> {
    pub(super) fn new(
        fabric: &'p Fabric,
        kind: CollectiveKind,
        root: u32,
        members: &[u32],
        p: &'p Parameters,
    ) -> Self {
        let routers = fabric.routers() as usize;
        let ports = fabric.torus().unwrap().directions() as usize + 1;
        Self {
            fabric,
            tree: SpanningTree::new(fabric, root, members).unwrap(),
            kind,
            p,
            flits: Vec::new(),
            injected: vec![Buffer::default(); routers],
            up: vec![vec![Buffer::default(); ports]; routers],
            down: vec![Buffer::default(); routers],
            source_free: vec![Picoseconds(0); routers],
            output_free: vec![vec![Picoseconds(0); ports]; routers],
            unit_free: vec![Picoseconds(0); routers],
            result_left: vec![Vec::new(); routers],
            down_free: vec![Picoseconds(0); routers],
        }
    }

    /// The time at which a buffer of this many flits has room for packet `number`, with credits
    /// `back` under way.
    fn room(&self, buffer: &Buffer, size: u32, number: usize, back: Picoseconds) -> Picoseconds {
        let mut held = 0;
        for before in (0..=number).rev() {
            held += self.flits[before];
            if held > size {
                return buffer.released[before] + back;
            }
        }
        Picoseconds(0)
    }

    /// The starts of flits on a channel, the first of which starts at `first`; each takes `flit`.
    fn starts(first: Picoseconds, there: &[Picoseconds], flit: Picoseconds) -> Vec<Picoseconds> {
        let mut starts: Vec<Picoseconds> = Vec::new();
        for (place, &there) in there.iter().enumerate() {
            starts.push(match place {
                0 => first.max(there),
                _ => there.max(starts[place - 1] + flit),
            });
        }
        starts
    }

    /// Injects a terminal's packet that enters its queue at `at`. Returns the times at which its
    /// flits are in the router.
    fn inject(&mut self, router: usize, at: Picoseconds, number: usize) -> Vec<Picoseconds> {
        let (p, flits) = (self.p, self.flits[number] as usize);
        let room =
            self.room(&self.injected[router], p.injection_buffer, number, p.injection_latency);
        let first = at.max(self.source_free[router]).max(room);
        let starts = Self::starts(first, &vec![at; flits], p.injection_flit_time());
        self.source_free[router] = starts[flits - 1] + p.injection_flit_time();
        starts.iter().map(|&start| start + p.injection_latency).collect()
    }

    /// The time of a flit on a router's cable, and its latency, in either direction.
    fn link(&self, router: u32, port: u32) -> (Picoseconds, Picoseconds) {
        let cable = self.fabric.cable(self.fabric.outputs(router).start + port);
        (self.p.flit_time_of(cable), self.p.latency_of(cable))
    }

    /// The time at which flits in a buffer may go on.
    fn routed(&self, flits: &[Picoseconds]) -> Picoseconds {
        let header = match self.p.switching {
            Switching::StoreAndForward => *flits.last().unwrap(),
            _ => flits[0],
        };
        header + self.p.routing_latency
    }

    /// The result of packet `number` at a router: the time at which it may go on, and the times at
    /// which its flits are in the unit.
    fn result(
        &mut self,
        router: u32,
        at: Picoseconds,
        number: usize,
    ) -> (Picoseconds, Vec<Picoseconds>) {
        let (p, place) = (self.p, router as usize);
        let flit = p.combining_flit_time();
        let open = p.collective.open_operations as usize;
        let has_place = match number.checked_sub(open) {
            Some(before) => self.result_left[place][before],
            None => Picoseconds(0),
        };
        let mut operands: Vec<Vec<Picoseconds>> = Vec::new();
        let mut take = |this: &mut Self, buffer: Option<usize>, flits: Vec<Picoseconds>| {
            let routed = this.routed(&flits);
            let buffer = match buffer {
                Some(port) => &mut this.up[place][port],
                None => &mut this.injected[place],
            };
            let before = buffer.released.last().copied().unwrap_or(Picoseconds(0));
            let starts = Self::starts(routed.max(before).max(has_place), &flits, flit);
            buffer.released.push(*starts.last().unwrap() + flit);
            operands.push(starts);
        };
        let fabric = self.fabric;
        let holds = |terminal: &u32| fabric.terminal_router(*terminal) == Some(router);
        if self.tree.members.iter().any(holds) {
            let flits = self.inject(place, at, number);
            take(self, None, flits);
        }
        for port in self.tree.children(router).to_vec() {
            let child = self.fabric.target(self.fabric.outputs(router).start + port).unwrap();
            let (ready, flits) = self.result(child, at, number);
            let (link_flit, latency) = self.link(router, port);
            let room = self.room(&self.up[place][port as usize], p.buffer, number, latency);
            let output = self.tree.parent(child).unwrap() as usize;
            let first = ready.max(self.output_free[child as usize][output]).max(room);
            let starts = Self::starts(first, &flits, link_flit);
            let released = *starts.last().unwrap() + link_flit;
            self.output_free[child as usize][output] = released;
            self.result_left[child as usize].push(released);
            let forward = p.crossbar_latency + latency;
            take(self, Some(port as usize), starts.iter().map(|&it| it + forward).collect());
        }
        if operands.len() == 1 {
            let flits = operands.remove(0);
            return (flits[0], flits);
        }
        let all: Vec<Picoseconds> = (0..self.flits[number] as usize)
            .map(|flit| operands.iter().map(|operand| operand[flit]).max().unwrap())
            .collect();
        let starts = Self::starts(self.unit_free[place], &all, flit);
        self.unit_free[place] = *starts.last().unwrap() + flit;
        let flits: Vec<_> = starts.iter().map(|&it| it + p.collective.combining_latency).collect();
        let context = p.switching == Switching::StoreAndForward;
        (if context { *flits.last().unwrap() } else { flits[0] }, flits)
    }

    /// Sends a packet down from a router, whose flits are there at these times and may go on at
    /// `ready`. Returns each delivery as terminal and time.
    fn send_down(
        &mut self,
        router: u32,
        (ready, flits): (Picoseconds, Vec<Picoseconds>),
        number: usize,
        delivered: &mut Vec<(u32, Picoseconds)>,
    ) -> Picoseconds {
        let (p, place) = (self.p, router as usize);
        let eject = self.output_free[place].len() - 1;
        let gets = |it: &u32| {
            self.fabric.terminal_router(*it) == Some(router)
                && (self.kind != CollectiveKind::Broadcast || *it != self.tree.root())
        };
        let own = self.tree.members.iter().copied().find(gets);
        let ports: Vec<usize> = self.tree.children(router).iter().map(|&it| it as usize).collect();
        let ask = ready.max(self.down_free[place]);
        let mut firsts = Vec::new();
        for &port in ports.iter().chain(own.map(|_| &eject)) {
            let room = match port {
                port if port == eject => Picoseconds::ZERO,
                port => {
                    let to = self.fabric.target(self.fabric.outputs(router).start + port as u32);
                    let buffer = &self.down[to.unwrap() as usize];
                    self.room(buffer, p.buffer, number, self.link(router, port as u32).1)
                }
            };
            firsts.push((port, ask.max(self.output_free[place][port]).max(room)));
        }
        if p.collective.together {
            let last = firsts.iter().map(|it| it.1).max().unwrap();
            firsts.iter_mut().for_each(|it| it.1 = last);
        }
        let mut released = Picoseconds::ZERO;
        let mut arrivals = Vec::new();
        for (port, first) in firsts {
            let to_sink = port == eject;
            let (flit, latency) = match to_sink {
                true => (p.ejection_flit_time(), p.ejection_latency),
                false => self.link(router, port as u32),
            };
            let starts = Self::starts(first, &flits, flit);
            let end = *starts.last().unwrap() + flit;
            self.output_free[place][port] = end;
            released = released.max(end);
            let there: Vec<_> =
                starts.iter().map(|&it| it + p.crossbar_latency + latency).collect();
            if to_sink {
                delivered.push((own.unwrap(), *there.last().unwrap()));
            } else {
                arrivals.push((port, there));
            }
        }
        self.down_free[place] = released;
        for (port, there) in arrivals {
            let to = self.fabric.target(self.fabric.outputs(router).start + port as u32).unwrap();
            let ready = self.routed(&there);
            let left = self.send_down(to, (ready, there), number, delivered);
            self.down[to as usize].released.push(left);
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
                let number = self.flits.len();
                self.flits.push(flits);
                self.packet(root, at, number, &mut delivered);
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
        let place = root as usize;
        if self.kind == CollectiveKind::Broadcast {
            let flits = self.inject(place, at, number);
            let ready = self.routed(&flits);
            let left = self.send_down(root, (ready, flits), number, delivered);
            return self.injected[place].released.push(left);
        }
        let (ready, flits) = self.result(root, at, number);
        let left = if self.kind == CollectiveKind::Reduce {
            let eject = self.output_free[place].len() - 1;
            let first = ready.max(self.output_free[place][eject]);
            let starts = Self::starts(first, &flits, self.p.ejection_flit_time());
            let last = *starts.last().unwrap();
            self.output_free[place][eject] = last + self.p.ejection_flit_time();
            let latency = self.p.crossbar_latency + self.p.ejection_latency;
            delivered.push((self.tree.root(), last + latency));
            self.output_free[place][eject]
        } else {
            self.send_down(root, (ready, flits), number, delivered)
        };
        self.result_left[place].push(left);
    }
}
