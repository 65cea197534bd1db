//! The nodes of one of several workloads: a list of them, or how many it takes.

use crate::TopologySpec;
use flitlab_base::document::{
    Diagnostic, Kind, List, Listed, Node, Reader, Slot, Value, Whole, report_repeated, wrong_type,
};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{NodeName, Places};
use flitlab_traffic::{Allocation, AllocationError, Free};

/// The table of several workloads.
pub(crate) const SEVERAL: &str = "workloads";

/// The most nodes that can be asked for.
const MOST: u64 = 1 << 27;

/// Nodes of a list, or a number of them.
#[derive(Clone)]
enum NodeSet {
    Listed(Vec<Listed<u32>>),
    Counted(u64),
}

/// A list of nodes, or how many there are.
struct NodeSets<'t> {
    list: List<NodeName<'t>>,
    count: Whole,
}

impl Kind for NodeSets<'_> {
    type Value = NodeSet;

    fn describe(&self) -> String {
        format!("{}, or {}", self.list.describe(), self.count.describe())
    }

    fn example(&self) -> String {
        self.list.example()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<NodeSet, Vec<Diagnostic>> {
        match node.value {
            Value::List(_) => self.list.parse(slot, node).map(NodeSet::Listed),
            Value::Integer(_) => self.count.parse(slot, node).map(NodeSet::Counted),
            _ => Err(wrong_type(self, slot, node)),
        }
    }

    fn show(&self, value: &NodeSet) -> String {
        match value {
            NodeSet::Listed(nodes) => self.list.show(nodes),
            NodeSet::Counted(count) => self.count.show(count),
        }
    }
}

/// Reads the rule by which workloads get nodes that only count them.
pub(crate) fn allocation(reader: &mut Reader<'_>) -> Allocation {
    if !reader.is_documenting() && !reader.has(SEVERAL) {
        let message = "only workloads of [workloads] are given nodes";
        let help = "leave it out, or give each workload a table of [workloads], with `nodes`";
        reader.forbid("node_allocation", message, help);
        return Allocation::Linear;
    }
    let doc = "Which nodes workloads get whose `nodes` is a number: one after the other in the order of the file, of \
               the live nodes that no workload before them has.";
    let linear = "the first of these.";
    let random = "nodes that the seed draws.";
    let boxes = "of a torus the most compact box of which all nodes are free.";
    let groups = "those of as few groups as there can be; without groups, of as few routers.";
    let rules = [
        ("linear", Allocation::Linear, linear),
        ("random", Allocation::Random, random),
        ("boxes", Allocation::Boxes, boxes),
        ("groups", Allocation::Groups, groups),
    ];
    reader.one_of("node_allocation", "allocation", doc, rules).unwrap_or_default()
}

/// Gives nodes to one workload after the other.
pub(crate) struct Allocator<'a> {
    rule: Allocation,
    topology: Option<&'a TopologySpec>,
    seed: u64,
    /// The nodes of the workloads so far.
    taken: Vec<u32>,
    /// Made when a workload first counts its nodes.
    free: Option<Free>,
}

impl<'a> Allocator<'a> {
    pub(crate) fn new(rule: Allocation, topology: Option<&'a TopologySpec>, seed: u64) -> Self {
        Self { rule, topology, seed, taken: Vec::new(), free: None }
    }

    /// Reads the nodes of the next workload; `None` if all take part.
    pub(super) fn read(
        &mut self,
        reader: &mut Reader<'_>,
        places: Option<Places<'_>>,
    ) -> Option<Vec<u32>> {
        let kind = NodeName { places };
        let list = List { kind, noun: "nodes", length: 2..=usize::MAX, example: Some("[0, 1]") };
        let kind = NodeSets { list, count: Whole { range: 2..=MOST } };
        let doc = "The nodes that take part, or how many, which get theirs by `node_allocation`: its pattern is one of \
                   these, as if the others had failed. All if absent.";
        match reader.optional("nodes", &kind, doc)? {
            NodeSet::Listed(nodes) => {
                report_repeated(reader, "nodes", &nodes, "node", |&node| {
                    places.map_or_else(String::new, |places| places.name(node))
                });
                let nodes = Listed::values(nodes);
                self.taken.extend(&nodes);
                if let Some(free) = &mut self.free {
                    free.take(&nodes);
                }
                Some(nodes)
            }
            NodeSet::Counted(count) => match self.allocate(narrow(count))? {
                Ok(nodes) => Some(nodes),
                Err(error) => {
                    let place = reader.place("nodes")?;
                    let help = match error {
                        AllocationError::TooFew { .. } => {
                            "lower `nodes` here or of a workload before"
                        }
                        AllocationError::NoTorus => {
                            "choose another `node_allocation`: \"linear\", \"random\" or \"groups\""
                        }
                        AllocationError::NoBox { .. } => {
                            "put workloads with more nodes first, or choose another `node_allocation`"
                        }
                    };
                    reader.problems.push(Diagnostic::new(&place, error.to_string()).help(help));
                    reader.mark_broken("nodes");
                    None
                }
            },
        }
    }

    /// `None` where the fabric can't be made, which is reported elsewhere.
    fn allocate(&mut self, count: u32) -> Option<Result<Vec<u32>, AllocationError>> {
        if self.free.is_none() {
            let fabric = self.topology?.fabric().ok()?;
            let mut free = Free::of(fabric, self.seed);
            free.take(&self.taken);
            self.free = Some(free);
        }
        Some(self.free.as_mut()?.allocate(self.rule, count))
    }
}
