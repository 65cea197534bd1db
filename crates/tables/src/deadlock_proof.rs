//! The proof that a routing, of any kind, is free of deadlock.
//!
//! A packet holds room in a virtual channel and asks for the next one of its way. If these
//! dependencies have no cycle, no deadlock is possible (\[dally-seitz\]), with packets of any size
//! that may stretch over any number of buffers. So the graph of all dependencies is examined first.
//! If it has a cycle, one of two rules may still prevent deadlock:
//!
//! - The **bubble** rule, if the cycle lies in one ring of a torus. A packet that enters the ring
//!   leaves room for another one, so some place in it always has room. This holds for packets of
//!   one size that fit whole into a buffer.
//! - **Escapes** of packets with a choice (\[duato\]; choice_proof.rs). Duato assumes of wormhole
//!   switching that a queue is emptied before it takes the next packet (atomic allocation). Without
//!   it, a packet may hold an escape while its head stands behind another packet in an adaptive
//!   virtual channel. So escapes wait for everything that the other packet waits for, and don't
//!   count.
//!
//! In all other cases deadlock is possible, and the cycle is reported.

use super::adaptive_routing::{prove_adaptive, prove_adaptive_without_escapes};
use super::proof::cycle_beyond_rings;
use super::relation_proof::prove_without_escapes;
use super::{ForwardingFlaw, RelationFlaw, RelationProof, cycle, prove_forwarding, prove_relation};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric};
use flitlab_model::{Parameters, Switching};
use flitlab_routing::relation::Relation;
use flitlab_routing::{Adaptive, DirectionOrder, EscapeRule, PathRoutes, Route, Routes};

#[cfg(test)]
mod tests;

/// The rules of routers that matter for deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// Whether a packet that enters a ring of a torus leaves room for another packet there.
    pub bubble: bool,
    /// Whether a buffer may hold a part of a packet, so that packets stretch over several buffers.
    pub wormhole: bool,
    /// Whether a buffer takes a packet only while it is empty.
    pub atomic: bool,
}

impl From<&Parameters> for FlowControl {
    fn from(parameters: &Parameters) -> Self {
        Self {
            bubble: parameters.bubble,
            wormhole: parameters.switching == Switching::Wormhole,
            atomic: parameters.kind.is_atomic(),
        }
    }
}

impl FlowControl {
    /// Whether a packet that has an escape can take it, whatever is in front of it.
    #[must_use]
    pub fn escapes_count(self) -> bool {
        !self.wormhole || self.atomic
    }
}

/// Why deadlock is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// The dependencies have no cycle.
    NoCircle,
    /// Rings keep a bubble, which is sufficient for packets of one size.
    Bubble,
    /// Every packet has an escape at every place, and the escapes have no cycle.
    Escape,
}

/// How a deadlock can arise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Danger {
    /// Each of these channels can wait for the next, and the last for the first.
    Channels(Vec<Channel>),
    /// The flaw that the proof of the forwarding table has found.
    Table(ForwardingFlaw),
    /// The flaw that the proof of packets with a choice has found.
    Choice(RelationFlaw),
    /// Packets turn from each dimension into each other one. The waiting channels are too many to
    /// list.
    Turns,
}

impl Danger {
    /// The danger in words, with the names of routers and channels.
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

/// Most pairs whose ways in direction order, and whose choices, are followed: this takes a tenth of
/// a second.
const MAX_PAIRS: usize = 1 << 18;
const MAX_CHOICES: usize = 1 << 12;

/// Proves that packets on these routes can't deadlock. Relations, tables and ways that lead nowhere
/// are not its concern: other proofs refuse those.
///
/// # Errors
/// How a deadlock can arise.
pub fn prove_deadlock_free(
    fabric: &Fabric,
    routes: &Routes,
    flow: FlowControl,
) -> Result<Freedom, Danger> {
    match routes {
        Routes::DirectionOrder(order) => direction_order(fabric, order, flow),
        Routes::Table(table) => {
            let waits = by_source(fabric, 1, |source, destination, waits| {
                table.for_each_route(fabric, (source, destination), |route, _| {
                    waits.add_route(fabric, source, route, |_, _| 0);
                });
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

/// Dependencies between channels: each class of a channel is a vertex, and the vertices of a
/// channel follow each other.
struct Waits {
    classes: u32,
    after: Vec<Vec<u32>>,
}

impl Waits {
    fn new(fabric: &Fabric, classes: u8) -> Self {
        let classes = u32::from(classes);
        Self { classes, after: vec![Vec::new(); (fabric.channel_slots() * classes) as usize] }
    }

    /// Adds the dependencies of a packet that takes these channels one after the other, each in a
    /// class.
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

    /// Adds the dependencies of a route. `class` gives the class by channel and port.
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

    /// The channels of a cycle; `None` if there is no cycle.
    fn circle(&self) -> Option<Vec<Channel>> {
        let vertices = cycle::any(narrow(self.after.len()), &|vertex| self.successors(vertex))?;
        Some(vertices.into_iter().map(|vertex| vertex / self.classes).collect())
    }

    /// The reason for freedom from deadlock. The bubble rule breaks cycles of one ring.
    fn judge(&self, fabric: &Fabric, flow: FlowControl) -> Result<Freedom, Danger> {
        let Some(circle) = self.circle() else { return Ok(Freedom::NoCircle) };
        if !flow.bubble || flow.wormhole {
            return Err(Danger::Channels(circle));
        }
        // Packets of all classes share the room of a channel.
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

/// Follows routes of the sources: `add` adds those of a pair. `classes` is the number of classes.
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

/// Whether there are at most `most` pairs.
fn has_few(fabric: &Fabric, most: usize) -> bool {
    let ends = fabric.ends().len();
    ends.saturating_mul(ends) <= most
}

/// The channels of a whole ring of at least `least` routers; `None` if there is none.
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

/// Least length of a ring in which shortest ways take two channels one after the other.
const LONG: usize = 4;

/// Judges a torus by its rings, without a look at the pairs. A packet that turns goes on in a later
/// direction. So only whole rings can close a cycle, and only those of `least` routers or more, in
/// which packets take two channels. The classes of a dateline break them (`DirectionOrder` refuses
/// routes that go more than half round).
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
    if !has_few(fabric, MAX_PAIRS) {
        return by_rings(fabric, (LONG, dateline), flow);
    }
    let none = |_: u32, _: &Route| 0;
    let waits = match dateline {
        true => in_order(fabric, order, |source, route| order.datelines(source, route)),
        false => in_order(fabric, order, none),
    };
    waits.judge(fabric, FlowControl { bubble: flow.bubble && !dateline, ..flow })
}

/// Judges packets in direction order. `datelines` gives the dimensions in which a route is in class
/// 1, a bit each.
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
    // Detours may go the longer way round.
    let least = if adaptive.rules().non_minimal.kinds().is_empty() { LONG } else { LONG - 1 };
    if !flow.escapes_count() {
        if has_few(fabric, MAX_CHOICES) {
            return judge_choices(
                prove_adaptive_without_escapes(fabric, adaptive),
                Freedom::NoCircle,
            );
        }
        return by_rings(fabric, (least, false), flow).and(Err(Danger::Turns));
    }
    let dateline = adaptive.rules().escape == EscapeRule::Dateline;
    if adaptive.has_table() || dateline && has_few(fabric, MAX_CHOICES) {
        return judge_choices(prove_adaptive(fabric, adaptive), Freedom::Escape);
    }
    if dateline {
        // The directions in which a packet still has to go only become fewer, and its escape is the
        // first of them. In the rings of a direction it comes to the dateline and leaves it behind,
        // once. So escapes ascend by direction, class and distance from the dateline.
        return Ok(Freedom::Escape);
    }
    // Packets enter the escape anywhere in direction order, and a packet that leaves it goes on in
    // the same or later directions.
    match by_rings(fabric, (least, false), flow)? {
        Freedom::NoCircle => Ok(Freedom::Escape),
        other => Ok(other),
    }
}

fn by_relation(fabric: &Fabric, relation: &Relation, flow: FlowControl) -> Result<Freedom, Danger> {
    if relation.has_ring() {
        // Scenarios refuse the ring with wormhole switching, for which no room is large enough.
        return judge_choices(prove_relation(fabric, relation), Freedom::Bubble);
    }
    if !relation.has_escape() {
        return judge_choices(prove_relation(fabric, relation), Freedom::NoCircle);
    }
    if !flow.escapes_count() {
        return judge_choices(prove_without_escapes(fabric, relation), Freedom::NoCircle);
    }
    judge_choices(prove_relation(fabric, relation), Freedom::Escape)
}

fn judge_choices(proof: RelationProof, freedom: Freedom) -> Result<Freedom, Danger> {
    let flaw = proof.flaws.into_iter().find(RelationFlaw::is_cycle);
    flaw.map_or(Ok(freedom), |flaw| Err(Danger::Choice(flaw)))
}

fn by_paths(fabric: &Fabric, routes: &PathRoutes) -> Waits {
    by_source(fabric, routes.paths.vcs(), |source, destination, waits| {
        for path in routes.paths.paths(source, destination) {
            let mut at = source;
            waits.add(path.iter().map(|hop| {
                let channel = fabric.outputs(at).start + u32::from(hop.port);
                at = fabric.target(channel).expect("paths avoid failures");
                (channel, hop.vc)
            }));
        }
    })
}
