//! Whether packets can wait for each other for ever: the one place that says so, whatever the routing.
//!
//! A packet holds room in a (channel, virtual channel) and asks for the next one of its way. If
//! these dependencies close no circle, nothing can deadlock (\[dally-seitz\]), however packets are
//! strung out over buffers, and whatever sizes they have. So the graph of all dependencies is
//! looked at first. Where it has a circle, one of two rules may still break it:
//!
//! - the **bubble** rule, if the circle lies in one ring of a torus: who enters the ring leaves room for another packet, so
//!   there is always room somewhere in it. That holds of packets of one size that fit whole into a buffer.
//! - **escapes** of packets that choose their way (\[duato\]; choice_proof.rs). With wormhole
//!   switching they don't count here. Duato has a queue emptied before it takes the next packet.
//!   Here a packet may stand behind another one in an adaptive virtual channel and hold an escape
//!   meanwhile, so that escapes wait for all that the other one waits for.
//!
//! Everything else can deadlock, and the circle is told.

use super::proof::cycle_beyond_rings;
use super::relation::Relation;
use super::relation_proof::prove_without_escapes;
use super::{
    Adaptive, DirectionOrder, ForwardingFlaw, NonMinimalRule, PathRoutes, RelationFlaw,
    RelationProof, Route, Routes, cycle, prove_forwarding, prove_relation,
};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric};

#[cfg(test)]
mod tests;

/// What routers do about packets that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// Whether who enters a ring of a torus leaves room for another packet there.
    pub bubble: bool,
    /// Whether a buffer may hold a part of a packet, so that packets are strung out over several.
    pub wormhole: bool,
}

/// Why no packets can wait for each other for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// What waits for what leads in no circle.
    NoCircle,
    /// Rings keep a bubble, which is enough for packets of one size.
    Bubble,
    /// Every packet has an escape wherever it can be, and these lead in no circle.
    Escape,
}

/// How packets can wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Danger {
    /// Each of these channels can wait for the next, and the last for the first.
    Channels(Vec<Channel>),
    /// A flaw of the forwarding table, as its own proof has found it.
    Table(ForwardingFlaw),
    /// What packets that choose their way lack.
    Choice(RelationFlaw),
    /// Packets turn from each dimension into each other one, and there are too many to name those that wait.
    Turns,
}

impl Danger {
    /// What can happen, with the names of routers and channels.
    pub fn describe(&self, fabric: &Fabric) -> String {
        match self {
            Self::Channels(channels) => {
                let names = channels.iter().map(|&channel| fabric.channel_name(channel));
                format!(
                    "packets can deadlock: each of these can wait for the next, the last for the first: {}",
                    names.collect::<Vec<_>>().join(", ")
                )
            }
            Self::Table(flaw) => flaw.describe(fabric),
            Self::Choice(flaw) => flaw.describe(fabric),
            Self::Turns => "packets can deadlock: they turn from each dimension into each other one, and nothing keeps them \
                            from waiting for each other in a circle"
                .into(),
        }
    }
}

/// The most pairs whose ways in direction order are followed, and whose choices: a tenth of a second.
const MOST_PAIRS: usize = 1 << 18;
const MOST_CHOICES: usize = 1 << 12;

/// Whether packets can wait for each other for ever on these routes. Of relations, tables and ways that lead nowhere
/// nothing is said: other proofs refuse those.
///
/// # Errors
/// How they can.
pub fn prove_deadlock_free(
    fabric: &Fabric,
    routes: &Routes,
    flow: FlowControl,
) -> Result<Freedom, Danger> {
    match routes {
        Routes::DirectionOrder(order) => direction_order(fabric, order, flow),
        Routes::Table(table) => {
            let waits = by_source(fabric, 1, |source, destination, waits| {
                let route = table.route(fabric, source, destination);
                waits.add_route(fabric, source, &route, |_, _| 0);
            });
            waits.judge(fabric, flow)
        }
        Routes::Adaptive(adaptive) => adaptively(fabric, adaptive, flow),
        Routes::Forwarding(table) => {
            let flaws = prove_forwarding(fabric, table).flaws;
            let cycle = flaws.into_iter().find(|flaw| matches!(flaw, ForwardingFlaw::Cycle(_)));
            cycle.map_or(Ok(Freedom::NoCircle), |flaw| Err(Danger::Table(flaw)))
        }
        Routes::Relation(routes) => by_relation(fabric, &routes.relation, flow),
        Routes::Paths(routes) => {
            by_paths(fabric, routes).judge(fabric, FlowControl { bubble: false, ..flow })
        }
    }
}

/// Which (channel, class) wait for which: a vertex a class, those of a channel together.
struct Waits {
    classes: u32,
    after: Vec<Vec<u32>>,
}

impl Waits {
    fn new(fabric: &Fabric, classes: u8) -> Self {
        let classes = u32::from(classes);
        Self { classes, after: vec![Vec::new(); (fabric.channel_slots() * classes) as usize] }
    }

    /// Adds what a packet waits for that takes these one after the other.
    fn add(&mut self, taken: impl Iterator<Item = (Channel, u8)>) {
        let mut before = None;
        for (channel, class) in taken {
            let vertex = channel * self.classes + u32::from(class);
            if let Some(before) = before.replace(vertex) {
                let known: &mut Vec<u32> = &mut self.after[before as usize];
                if !known.contains(&vertex) {
                    known.push(vertex);
                }
            }
        }
    }

    /// Those of a route, in a class by channel and port.
    fn add_route(
        &mut self,
        fabric: &Fabric,
        source: u32,
        route: &Route,
        class: impl Fn(Channel, u16) -> u8,
    ) {
        let mut at = source;
        self.add(route.ports().map(|port| {
            let channel = fabric.outputs(at).start + u32::from(port);
            at = fabric.target(channel).expect("routes avoid failures");
            (channel, class(channel, port))
        }));
    }

    fn successors(&self, vertex: u32) -> impl Iterator<Item = u32> {
        self.after[vertex as usize].iter().copied()
    }

    /// The channels of a circle, if there is one.
    fn circle(&self) -> Option<Vec<Channel>> {
        let vertices = cycle::any(narrow(self.after.len()), &|vertex| self.successors(vertex))?;
        Some(vertices.into_iter().map(|vertex| vertex / self.classes).collect())
    }

    /// Why they can't deadlock; the bubble rule breaks circles of one ring.
    fn judge(&self, fabric: &Fabric, flow: FlowControl) -> Result<Freedom, Danger> {
        let Some(circle) = self.circle() else { return Ok(Freedom::NoCircle) };
        if !flow.bubble || flow.wormhole {
            return Err(Danger::Channels(circle));
        }
        // Packets of all classes take the same room.
        let successors = |channel: Channel| {
            let vertices = channel * self.classes..(channel + 1) * self.classes;
            let after = vertices.flat_map(|vertex| self.successors(vertex));
            after.map(|vertex| vertex / self.classes)
        };
        match cycle_beyond_rings(fabric, successors) {
            None => Ok(Freedom::Bubble),
            Some(circle) => Err(Danger::Channels(circle)),
        }
    }
}

/// Follows routes of the sources, of which `add` tells those of a pair. There are so many classes.
fn by_source(fabric: &Fabric, classes: u8, add: impl Fn(u32, u32, &mut Waits)) -> Waits {
    let mut waits = Waits::new(fabric, classes);
    let ends = fabric.ends();
    for &source in &ends {
        for &destination in ends.iter().filter(|&&end| end != source) {
            add(source, destination, &mut waits);
        }
    }
    waits
}

/// Whether there are at most so many pairs.
fn has_few(fabric: &Fabric, most: usize) -> bool {
    let ends = fabric.ends().len();
    ends.saturating_mul(ends) <= most
}

/// The channels of a whole ring of at least so many routers.
fn ring_of(fabric: &Fabric, least: usize) -> Option<Vec<Channel>> {
    let of_ring = |channel: Channel| fabric.ring(channel).map(|ring| (ring, channel));
    let mut rings: Vec<(u32, Channel)> = (0..fabric.channel_slots()).filter_map(of_ring).collect();
    rings.sort_unstable();
    let own =
        rings.chunk_by(|one, other| one.0 == other.0).find(|channels| channels.len() >= least)?;
    let mut circle = vec![own[0].1];
    while circle.len() < own.len() {
        let target = circle.last().and_then(|&last| fabric.target(last))?;
        let goes_on = |&&(_, channel): &&(u32, Channel)| fabric.outputs(target).contains(&channel);
        circle.push(own.iter().find(goes_on)?.1);
    }
    Some(circle)
}

/// Routers of a ring in which shortest ways take two channels one after the other.
const LONG: usize = 4;

/// Without looking at the pairs: who turns goes on in a later direction, so only whole rings can close a circle, of at
/// least so many routers that packets take two channels. A dateline's classes part them (`DirectionOrder` refuses what
/// goes more than half round).
fn by_rings(
    fabric: &Fabric,
    (least, dateline): (usize, bool),
    flow: FlowControl,
) -> Result<Freedom, Danger> {
    match ring_of(fabric, least) {
        Some(_) if flow.bubble && !flow.wormhole => Ok(Freedom::Bubble),
        Some(ring) if !dateline => Err(Danger::Channels(ring)),
        _ => Ok(Freedom::NoCircle),
    }
}

fn direction_order(
    fabric: &Fabric,
    order: &DirectionOrder,
    flow: FlowControl,
) -> Result<Freedom, Danger> {
    let dateline = order.rules().dateline;
    if !has_few(fabric, MOST_PAIRS) {
        return by_rings(fabric, (LONG, dateline), flow);
    }
    let none = |_: u32, _: &Route| 0;
    let waits = match dateline {
        true => in_order(fabric, order, |source, route| order.datelines(source, route)),
        false => in_order(fabric, order, none),
    };
    waits.judge(fabric, FlowControl { bubble: flow.bubble && !dateline, ..flow })
}

/// What packets in direction order wait for; `datelines` tells the dimensions in which a route is in class 1, a bit each.
fn in_order(
    fabric: &Fabric,
    order: &DirectionOrder,
    datelines: impl Fn(u32, &Route) -> u16,
) -> Waits {
    let dimensions = fabric.coordinates().dimensions();
    by_source(fabric, 2, |source, destination, waits| {
        order.for_each_way(fabric, source, destination, |route, _| {
            let passed = datelines(source, route);
            waits.add_route(fabric, source, route, |channel, port| {
                let passes = passed >> (usize::from(port) % dimensions) & 1 == 1;
                u8::from(passes && fabric.ring(channel).is_some())
            });
        });
    })
}

fn adaptively(fabric: &Fabric, adaptive: &Adaptive, flow: FlowControl) -> Result<Freedom, Danger> {
    // Detours lead round the longer way.
    let least = if adaptive.rules().non_minimal == NonMinimalRule::None { LONG } else { LONG - 1 };
    if flow.wormhole {
        if has_few(fabric, MOST_CHOICES) {
            return judge_choices(adaptive.prove_without_escapes(fabric), Freedom::NoCircle);
        }
        return by_rings(fabric, (least, false), flow).and(Err(Danger::Turns));
    }
    if adaptive.has_table() {
        return judge_choices(adaptive.prove(fabric), Freedom::Escape);
    }
    // In direction order wherever packets enter it, and a packet that leaves it goes on in the same or later directions.
    match by_rings(fabric, (least, false), flow)? {
        Freedom::NoCircle => Ok(Freedom::Escape),
        other => Ok(other),
    }
}

fn by_relation(fabric: &Fabric, relation: &Relation, flow: FlowControl) -> Result<Freedom, Danger> {
    if relation.has_ring() {
        // Scenarios refuse it with worms, for which no room is large enough.
        return judge_choices(prove_relation(fabric, relation), Freedom::Bubble);
    }
    if !relation.has_escape() {
        return judge_choices(prove_relation(fabric, relation), Freedom::NoCircle);
    }
    if flow.wormhole {
        return judge_choices(prove_without_escapes(fabric, relation), Freedom::NoCircle);
    }
    judge_choices(prove_relation(fabric, relation), Freedom::Escape)
}

fn judge_choices(proof: RelationProof, freedom: Freedom) -> Result<Freedom, Danger> {
    let flaw = proof.flaws.into_iter().find(RelationFlaw::is_cycle);
    flaw.map_or(Ok(freedom), |flaw| Err(Danger::Choice(flaw)))
}

fn by_paths(fabric: &Fabric, routes: &PathRoutes) -> Waits {
    by_source(fabric, routes.paths.lanes(), |source, destination, waits| {
        for path in routes.paths.paths(source, destination) {
            let mut at = source;
            waits.add(path.iter().map(|hop| {
                let channel = fabric.outputs(at).start + u32::from(hop.port);
                at = fabric.target(channel).expect("paths avoid failures");
                (channel, hop.lane)
            }));
        }
    })
}
