//! The trees of collective operations as routers use them: tables of outputs.

use crate::frame::tick::{NEVER, Tick};
use crate::network::End;
use crate::network::NO_OUTPUT;
use crate::network::vc_map::VcMap;
use crate::packet::collective::parts;
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::{Fabric, SpanningTree};
use flitlab_model::workload::{CollectiveKind, Collectives};
use flitlab_model::{DOWN_CHANNEL, Parameters, UP_CHANNEL};

/// The routers' tables for collective operations.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    pub kind: CollectiveKind,
    /// The class of their messages.
    pub class: u8,
    /// Payload of each operand, and the packets that it is cut into.
    pub bytes: u64,
    pub packets: u64,
    /// Number of messages that an operation causes.
    pub receipts: u64,
    /// The virtual channels up and down. Those behind them are the two queues of a router's
    /// reduction unit, at its first input port.
    pub up: u8,
    pub down: u8,
    pub latency: Tick,
    pub flit: Tick,
    /// Number of results that a unit can be working on.
    pub open: u64,
    /// Whether all copies of a packet start at the same instant.
    pub together: bool,
    /// Number of nodes that take part.
    pub members: usize,
    pub trees: Vec<Tree>,
    /// By router: the number of trees that it is in.
    spans: Vec<u16>,
}

/// One tree.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// The terminal at its root, and that terminal's router.
    pub root: u32,
    pub root_router: u32,
    /// By router: the output towards the root; at the root's router the ejection channel.
    pub towards: Vec<u16>,
    /// By router: the number of operands of a result.
    pub operands: Vec<u16>,
    /// By router: the number of the trees before it that the router is in.
    rank: Vec<u16>,
    /// By router: where its outputs away from the root start.
    first: Vec<u32>,
    outputs: Vec<u16>,
}

impl Tree {
    /// A router's outputs away from the root: children, then its members' ejection channels.
    pub fn outputs(&self, router: u32) -> &[u16] {
        let first = |router: u32| self.first[router as usize] as usize;
        &self.outputs[first(router)..first(router + 1)]
    }
}

impl Trees {
    /// The tables without collective operations: no packet is on their virtual channels.
    pub(crate) const NONE: Self = Self {
        kind: CollectiveKind::Barrier,
        class: 0,
        bytes: 0,
        packets: 0,
        receipts: 0,
        up: u8::MAX,
        down: u8::MAX,
        latency: 0,
        flit: NEVER,
        open: 0,
        together: false,
        members: 0,
        trees: Vec::new(),
        spans: Vec::new(),
    };

    pub fn new(
        collectives: &Collectives,
        class: u8,
        fabric: &Fabric,
        ends: &[End],
        parameters: &Parameters,
        vc_map: &VcMap,
    ) -> Self {
        let (full, rest) = parameters.packets(collectives.bytes);
        let mut spans = vec![0; fabric.routers() as usize];
        let kind = collectives.kind;
        let trees = collectives.trees.iter();
        let trees = trees.map(|tree| table(tree, kind, fabric, ends, &mut spans)).collect();
        Self {
            kind,
            class,
            bytes: collectives.bytes,
            packets: full + u64::from(rest.is_some()),
            receipts: collectives.receipts(),
            up: vc_map.index(UP_CHANNEL),
            down: vc_map.index(DOWN_CHANNEL),
            latency: narrow(parameters.collective.combining_latency),
            flit: narrow(parameters.combining_flit_time()),
            open: parameters.collective.open_operations.into(),
            together: parameters.collective.together,
            members: collectives.members().len(),
            trees,
            spans,
        }
    }

    /// Whether there are no collective operations.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// The number of a packet among all packets of all operations, in 32 bits.
    pub fn sequence(&self, route: u64) -> u32 {
        let (operation, packet) = parts(route);
        let number = u64::from(operation) * self.packets + u64::from(packet);
        fitted!(number & u64::from(u32::MAX), u32)
    }

    /// A packet's tree, and its number among the packets that pass a router.
    #[inline]
    pub fn place(&self, router: u32, route: u64) -> (&Tree, u64) {
        let (operation, packet) = parts(route);
        let trees: u32 = narrow(self.trees.len());
        let tree = &self.trees[(operation % trees) as usize];
        let before = u64::from(operation / trees) * u64::from(self.spans[router as usize])
            + u64::from(tree.rank[router as usize]);
        (tree, before * self.packets + u64::from(packet))
    }
}

/// Makes a tree's tables, and counts it among the trees of its routers.
fn table(
    tree: &SpanningTree,
    kind: CollectiveKind,
    fabric: &Fabric,
    ends: &[End],
    spans: &mut [u16],
) -> Tree {
    let routers = fabric.routers();
    let root_end = ends[tree.root() as usize];
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); routers as usize];
    for &member in &tree.members {
        members[ends[member as usize].router as usize].push(member);
    }
    let mut table = Tree {
        root: tree.root(),
        root_router: root_end.router,
        towards: Vec::new(),
        operands: Vec::new(),
        rank: spans.to_vec(),
        first: vec![0],
        outputs: Vec::new(),
    };
    for router in 0..routers {
        let own = &members[router as usize];
        let children = tree.children(router);
        table.towards.push(match tree.parent(router) {
            Some(port) => narrow(port),
            None if router == root_end.router => root_end.ejection,
            None => NO_OUTPUT,
        });
        table.operands.push(narrow(children.len() + own.len()));
        table.outputs.extend(children.iter().map(|&port| narrow::<u16>(port)));
        // The root has what it sends.
        let gets = |member: &&u32| kind != CollectiveKind::Broadcast || **member != tree.root();
        let gets = own.iter().filter(gets);
        table.outputs.extend(gets.map(|&member| ends[member as usize].ejection));
        table.first.push(narrow(table.outputs.len()));
        spans[router as usize] += u16::from(tree.depth(router).is_some());
    }
    table
}
