//! `[collective]`: operations of the collective subnetwork, and the units of routers that do them.

use std::sync::Arc;

use super::{
    Bound, BoundWorkload, Checked, Ended, Facts, Given, Hangs, LARGEST_MESSAGE, Room, Share,
    WorkloadKind, WorkloadSpec,
};
use crate::checks::Checks;
use crate::simulation::SetupError;
use crate::{RoutingSpec, Scenario};
use flitlab_base::document::{
    Choice, List, Listed, Reader, Whole, plain, rate, report_repeated, size, time,
};
use flitlab_base::registry::Row;
use flitlab_base::units::{Bytes, Picoseconds, bytes_text, counted, time_text};
use flitlab_engine::{
    CollectiveUnit, DOWN_CHANNEL, MAX_HOP_TIME, Parameters, Switching, UP_CHANNEL, VIRTUAL_CHANNELS,
};
use flitlab_fabric::{Fabric, NodeName, SpanningTree};
use flitlab_report::PointResult;
use flitlab_traffic::{Access, CollectiveKind, CollectiveSpec, Collectives, Pattern, Workload};

pub(super) const COLLECTIVE: Row<WorkloadKind> = Row::new(
    "collective",
    "Operations of the collective subnetwork: routers combine and replicate packets along trees, as \
     docs/model.md says under \"Collective subnetwork\". [traffic] may go on beside them.",
    WorkloadKind { purpose: "for what routers do with trees", beside_load: true, read },
);

fn read(reader: &mut Reader<'_>, given: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let places = given.places;
    let kind = kind(reader);
    let message = match kind {
        Some(CollectiveKind::Barrier) => {
            reader.forbid(
                "message",
                "a barrier carries no payload",
                "leave `message` out, or choose \"all-reduce\"",
            );
            Some(Bytes(0))
        }
        _ => {
            let doc = "Payload of the message that is broadcast, or of each node's operand; a barrier has none.";
            reader.required("message", &size(0, LARGEST_MESSAGE), doc)
        }
    };
    let nodes = |least, example| List {
        kind: NodeName { places },
        noun: "nodes",
        length: least..=usize::MAX,
        example,
    };
    let doc = "The roots of the operations, in turn; each has a tree of its own, breadth first around failures. The \
               first node that takes part if absent.";
    let roots = reader.optional("roots", &nodes(1, None), doc);
    let doc = "The nodes that take part. All if absent.";
    let members = reader.optional("members", &nodes(2, Some("[0, 1]")), doc);
    if let Some(members) = &members {
        report_repeated(reader, "members", members, "node", |&node| {
            places.map_or_else(String::new, |places| places.name(node))
        });
    }
    let (mut rounds, mut outstanding) = (1, 1);
    let many = Whole { range: 1..=1_000_000 };
    reader.set("rounds", &many, &mut rounds, "How many operations there are.");
    let doc = "How many operations a node may have begun that are not done for it: 1 as MPI's blocking operations.";
    reader.set("outstanding", &many, &mut outstanding, doc);
    let doc = "When the first one begins; completion times count from then on.";
    let start = reader.value("start", &time(Picoseconds::ZERO), Picoseconds::ZERO, doc);
    let unit = unit(reader)?;
    let nodes = |list: Option<Vec<Listed<u32>>>| list.map(Listed::values).unwrap_or_default();
    let (roots, mut members) = (nodes(roots), nodes(members));
    if members.is_empty() {
        members = given.nodes.take().unwrap_or_default();
    }
    let (kind, message) = (kind?, message?);
    given.parameters.collective = unit;
    let spec = CollectiveSpec { kind, message, roots, members, rounds, outstanding, start };
    Some(Arc::new(spec))
}

fn kind(reader: &mut Reader<'_>) -> Option<CollectiveKind> {
    let choice = Choice::required("operation", "operation", "What the operations do.");
    let broadcast = "a message of the root goes to all others.";
    let reduce = "the root gets the combination of everybody's operands.";
    let all_reduce = "everybody gets it: reduced up the tree, then broadcast down.";
    let barrier = "the same with operands of no payload.";
    reader.choice(
        &choice,
        vec![
            plain("broadcast", CollectiveKind::Broadcast, broadcast),
            plain("reduce", CollectiveKind::Reduce, reduce),
            plain("all-reduce", CollectiveKind::AllReduce, all_reduce),
            plain("barrier", CollectiveKind::Barrier, barrier),
        ],
    )
}

/// The unit of each router, of which nothing is public.
fn unit(reader: &mut Reader<'_>) -> Option<CollectiveUnit> {
    let mut unit = CollectiveUnit::default();
    let doc = "How a router replicates packets on the way down.";
    let each = "each copy starts when its output is free and has room.";
    let together = "all copies start at the same instant; outputs that are free earlier are held.";
    let rules = [("each", false, each), ("together", true, together)];
    let together = reader.one_of("replication", "rule", doc, rules);
    let doc = "How many of the packets that are to leave a router next on the way up it can be combining; operands of \
               later ones wait in their buffers. Assumed.";
    reader.set("open_operations", &Whole { range: 1..=1024 }, &mut unit.open_operations, doc);
    let doc =
        "From the start of a flit of the last operand until the result's flit is there. Assumed.";
    reader.set("combining_latency", &time(Picoseconds::ZERO), &mut unit.combining_latency, doc);
    let doc = "How fast a router takes each operand and makes results, all flits counted. Assumed.";
    reader.set("combining_rate", &rate(), &mut unit.combining_rate, doc);
    Some(CollectiveUnit { together: together?, ..unit })
}

impl WorkloadSpec for CollectiveSpec {
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        if !checked.packets {
            return;
        }
        let parameters = checked.parameters;
        checks.messages(parameters, self.message, Access::Write, "collective");
        if parameters.kind.grants_flits() {
            check_flits(checks, parameters);
        }
        match checked.routing {
            Some(routing) if routing.is_of_any_fabric() || routing.has_dateline() => {
                let message = "the collective subnetwork takes Angara's virtual channels 3 and 4, and this routing has \
                               others";
                let help = "choose [routing.direction_order] without `dateline`, [routing.angara], [routing.file] or an \
                            adaptive routing; or leave out [collective]";
                checks.refuse(&["collective", "routing"], message, help);
            }
            Some(RoutingSpec::Adaptive(rules, ..)) => {
                let channels = &rules.channels;
                let used = [channels.adaptive, channels.escape, channels.escape_to_intermediate];
                if used.iter().any(|it| [UP_CHANNEL, DOWN_CHANNEL].contains(it)) {
                    let message =
                        "the collective subnetwork takes virtual channels 3 and 4 for itself";
                    let help = "leave out `virtual_channels` of the routing, or [collective]";
                    checks.refuse(&["collective", "routing"], message, help);
                }
            }
            _ => {}
        }
        let keys = [
            "collective.combining_rate",
            "collective.combining_latency",
            "collective.open_operations",
        ];
        let CollectiveUnit { open_operations, combining_latency, .. } = parameters.collective;
        // A unit may begin with the operands of all open operations at the same time.
        let packets = u64::from(open_operations) * u64::from(parameters.maximum_packet());
        let takes = parameters.combining_flit_time() * packets + combining_latency;
        if takes > MAX_HOP_TIME {
            let message = format!(
                "combining the largest packets of {} takes {}, and {} is the most",
                counted(open_operations as usize, "open operation"),
                time_text(takes),
                time_text(MAX_HOP_TIME)
            );
            let help = "raise `combining_rate`, shorten `combining_latency`, or have fewer `open_operations`";
            checks.refuse(&keys, message, help);
        }
        if let Some(fabric) = checked.fabric.filter(|_| checks.sound(&["collective", "topology"])) {
            check_trees(self, checks, fabric);
        }
    }

    fn bind(&self, scenario: &Scenario, room: &Room<'_>) -> Result<Bound, SetupError> {
        let fabric = &scenario.network.fabric;
        room(Collectives::memory_needed(fabric.terminals()))?;
        let trees = self.trees(fabric)?;
        let pattern = gathering(self, &trees, fabric)?;
        let workload = Box::new(BoundCollective { trees, spec: self.clone() });
        Ok(Bound { pattern, message: (self.message.into(), Access::Write), workload })
    }

    /// Operations have virtual channels of their own.
    fn for_each_size(&self, _: &mut dyn FnMut(u64, Access)) {}

    fn draws(&self) -> bool {
        false
    }

    fn is_collective(&self) -> bool {
        true
    }
}

/// Whether routers that share links flit by flit have room for whole packets, on virtual channels of
/// the collective subnetwork.
fn check_flits(checks: &mut Checks<'_>, parameters: &Parameters) {
    if parameters.switching == Switching::Wormhole {
        let message = "routers combine and replicate packets that they hold whole, and worms have room for some of their flits only";
        let help = "choose `switching = \"virtual-cut-through\"`, or leave out [collective]";
        checks.refuse(&["router.switching", "collective"], message, help);
    }
    if usize::from(parameters.virtual_channels) < VIRTUAL_CHANNELS {
        let message = format!(
            "the routers have {}, and the collective subnetwork takes 3 and 4",
            counted(parameters.virtual_channels.into(), "virtual channel")
        );
        let help = "write `virtual_channels = 5` or more, or leave out [collective]";
        checks.refuse(&["router.virtual_channels", "collective"], message, help);
    }
}

/// Whether there are enough nodes, and trees from all roots reach them.
fn check_trees(spec: &CollectiveSpec, checks: &mut Checks<'_>, fabric: &Fabric) {
    let members = spec.members_of(fabric.live_terminals());
    if members.len() < 2 {
        let message = "a collective operation needs two nodes at least";
        return checks.refuse(&["collective.members", "topology"], message, "name more nodes");
    }
    for root in spec.roots_of(&members) {
        if members.binary_search(&root).is_err() && fabric.terminal_router(root).is_some() {
            let name = fabric.terminal_name(root);
            let message = format!("root {name} does not take part");
            let help = "add it to `members`, or choose a root among those";
            return checks.refuse(&["collective.roots", "collective.members"], message, help);
        }
        if let Err(error) = SpanningTree::new(fabric, root, &members) {
            let keys = ["collective.members", "collective.roots", "topology"];
            let help = "leave the node out of [collective], or the failures out of [topology]";
            return checks.refuse(&keys, error.to_string(), help);
        }
    }
}

/// Collective operations, bound to the nodes that take part.
#[derive(Debug)]
struct BoundCollective {
    trees: Vec<SpanningTree>,
    spec: CollectiveSpec,
}

impl BoundWorkload for BoundCollective {
    fn workload(&self, share: Share<'_>) -> Box<dyn Workload> {
        let terminals = share.fabric().terminals();
        Box::new(Collectives::new(&self.spec, self.trees.clone(), terminals))
    }

    fn begins(&self) -> Picoseconds {
        self.spec.start
    }

    fn facts(&self, _: Share<'_>) -> Facts {
        let highest = self.trees.iter().map(SpanningTree::height).max().unwrap_or(0);
        let text = format!(
            "{} of {} nodes with {} each, on {} of at most {highest} hops from the root",
            counted(self.spec.rounds as usize, "operation"),
            self.trees.first().map_or(0, |tree| tree.members.len()),
            bytes_text(self.spec.message),
            counted(self.trees.len(), "tree")
        );
        Facts { lines: vec![("collective", text)], without_bound: None, silent: None }
    }

    fn finish(&self, ended: &Ended<'_, '_>, result: &mut PointResult) -> Result<(), Hangs> {
        let spec = &self.spec;
        match Collectives::outcome(ended.engine.workload_of(ended.share.class())) {
            Ok(done) => {
                let last = done.into_iter().max().unwrap_or(spec.start);
                let time = last - spec.start;
                let bytes = spec.message.0.saturating_mul(spec.rounds.into());
                let row = &mut result.measured;
                row.completion_time = Some(time);
                // The rate at which a node's operands went into them.
                row.bandwidth = Some(bytes as f64 / time.max(Picoseconds(1)).0 as f64 * 1e3);
                Ok(())
            }
            Err((operation, done, members)) => Err(Hangs {
                time: ended.engine.now(),
                warning: format!(
                    "operation {operation} (counted from 0) is done for {done} of {members} nodes, and nothing moves any \
                     more"
                ),
            }),
        }
    }
}

/// Returns the pattern of collective operations: operands go to roots, broadcast messages come from
/// them.
fn gathering(
    spec: &CollectiveSpec,
    trees: &[SpanningTree],
    fabric: &Fabric,
) -> Result<Pattern, SetupError> {
    let mut roots: Vec<u32> = trees.iter().map(SpanningTree::root).collect();
    roots.sort_unstable();
    roots.dedup();
    let pairs = roots.iter().flat_map(|&root| {
        let others = trees[0].members.iter().filter(move |&&member| member != root);
        others.flat_map(move |&member| {
            let up = spec.kind.goes_up().then_some((member, root, 1.0));
            let down = spec.kind.goes_down().then_some((root, member, 1.0));
            up.into_iter().chain(down)
        })
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable_by_key(|pair| (pair.0, pair.1));
    pairs.dedup_by_key(|pair| (pair.0, pair.1));
    Ok(Pattern::of_weights(&pairs, fabric)?)
}
