//! Local identifiers (LIDs) of nodes.
//!
//! A switch looks up the output by a packet's LID alone. The identifier (guid) after it in a dump
//! is the one that the writing program knew for the LID. A table is accepted only if both always
//! belong together. A port may have several LIDs (LMC above 0) if the netlist says so: the
//! lowest bits of these are the path bits.

use std::collections::HashMap;

use flitlab_fabric::netlist::Netlist;

/// The highest LID of a single node; those above are multicast groups.
pub(super) const HIGHEST: u16 = 0xbfff;

/// A terminal or a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Terminal(u32),
    Router(u32),
}

impl Node {
    fn name(self, netlist: &Netlist) -> String {
        match self {
            Self::Terminal(terminal) => netlist.fabric.terminal_name(terminal),
            Self::Router(router) => netlist.fabric.router_name(router),
        }
    }
}

/// The LIDs that the netlist and a dump's lines have given so far, with these lines (`None`: the
/// netlist).
pub(super) struct Identities<'n> {
    netlist: &'n Netlist,
    nodes: HashMap<u16, (Node, Option<usize>)>,
    lids: HashMap<Node, (u16, Option<usize>)>,
}

impl<'n> Identities<'n> {
    pub fn new(netlist: &'n Netlist) -> Self {
        let terminals = (0..).map(Node::Terminal);
        let routers = (0..).map(Node::Router);
        let adapters = netlist.adapters.iter().map(|adapter| adapter.lid);
        let switches = netlist.switches.iter().map(|switch| switch.lid);
        let known: Vec<(Node, u16)> = (terminals.zip(adapters).chain(routers.zip(switches)))
            .filter_map(|(node, lid)| Some((node, lid?)))
            .collect();
        let all = known.iter().flat_map(|&(node, first)| {
            let count = match node {
                Node::Terminal(terminal) => netlist.adapters[terminal as usize].lids(),
                Node::Router(_) => 1,
            };
            (first..first + count).map(move |lid| (lid, (node, None)))
        });
        Self {
            netlist,
            nodes: all.collect(),
            lids: known.iter().map(|&(node, lid)| (node, (lid, None))).collect(),
        }
    }

    /// The node that has a LID, as far as is known.
    pub fn node(&self, lid: u16) -> Option<Node> {
        self.nodes.get(&lid).map(|&(node, _)| node)
    }

    /// Notes the LID that a line gives to a node.
    ///
    /// # Errors
    /// If it is none for a node, another node has it, or a terminal has another one.
    pub fn note(&mut self, node: Node, lid: u16, line: usize) -> Result<(), String> {
        if lid == 0 || lid > HIGHEST {
            return Err(format!("{lid:#06x} is no node's LID: these are 0x0001 to {HIGHEST:#06x}"));
        }
        let place = |line: Option<usize>| match line {
            Some(line) => format!("in line {line}"),
            None => "in the netlist".into(),
        };
        let &mut (owner, earlier) = self.nodes.entry(lid).or_insert((node, Some(line)));
        if owner != node {
            let (here, there) = (node.name(self.netlist), owner.name(self.netlist));
            return Err(format!(
                "LID {lid:#06x} is that of {here} here and that of {there} {}",
                place(earlier)
            ));
        }
        let &mut (first, earlier) = self.lids.entry(node).or_insert((lid, Some(line)));
        let is_own = |terminal: u32| {
            let adapter = &self.netlist.adapters[terminal as usize];
            adapter.lid == Some(first) && (first..first + adapter.lids()).contains(&lid)
        };
        if let Node::Terminal(terminal) = node
            && first != lid
            && !is_own(terminal)
        {
            return Err(format!(
                "{} has LID {lid:#06x} here and {first:#06x} {}: that a port has several (LMC above 0), a netlist of \
                 ibnetdiscover says as `lmc`, and this one does not",
                node.name(self.netlist),
                place(earlier)
            ));
        }
        Ok(())
    }

    /// The path bits of one of a terminal's LIDs: by how much it is above the first.
    pub fn path_bits(&self, terminal: u32, lid: u16) -> u16 {
        let first = self.lids.get(&Node::Terminal(terminal)).map_or(lid, |&(first, _)| first);
        lid.saturating_sub(first)
    }

    /// By terminal, of several the first.
    pub fn terminals(&self) -> Vec<Option<u16>> {
        let lid = |terminal| self.lids.get(&Node::Terminal(terminal)).map(|&(lid, _)| lid);
        (0..self.netlist.fabric.terminals()).map(lid).collect()
    }
}
