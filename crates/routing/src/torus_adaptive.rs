//! Routings on a torus whose packets choose their way hop by hop.
//!
//! The adaptive bubble router (\[abr\]) lets a packet take any direction of a shortest way on an
//! adaptive virtual channel. On an escape channel packets keep the direction order, and the bubble
//! rule keeps each of its rings from filling up. A packet may leave the escape at any router. Pick
//! Orthant Routing binds new packets to directions, and OutFlank Routing sends them by a detour
//! ([`adaptive`](crate::adaptive)). Decisions that depend on a router's state are the engine's.
//!
//! With failures, the escape follows a table. A packet that has entered it stays on it until its
//! present leg ends (docs/model.md, "Adaptive routing with failures").

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::escape::EscapeTable;
use super::{DirectionOrder, ForwardingTable, HalfRing, Route};
use crate::adaptive::{
    AtInjection, AtRouter, BoundRule, ByDetours, Compass, Heading, Intermediate, Live, Misroute,
    NonMinimalRule, Outputs, Selection, Tie, TwoPhase, When, drawn_at,
};
use flitlab_base::narrow::fitted;
use flitlab_base::registry::{Component, Row};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric};

/// What packets follow on the escape channels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum EscapeRule {
    /// Direction order with the bubble rule; where something has failed, a table.
    #[default]
    Auto,
    /// Direction order in two classes. A packet is in class 1 of a ring as long as it has to pass
    /// the dateline there, the cable between the last coordinate and the first. Each class has a
    /// virtual channel: that of [`AdaptiveChannels`] is of class 0, and the next one of class 1.
    /// Packets without a choice have such pairs too.
    Dateline,
    /// A table.
    Table,
}

/// The virtual channels that adaptive packets use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptiveChannels {
    /// Virtual channel for all directions that lead on.
    pub adaptive: u8,
    /// Virtual channel for direction order to the destination.
    pub escape: u8,
    /// Virtual channel for direction order to an intermediate node.
    pub escape_to_intermediate: u8,
}

impl Default for AdaptiveChannels {
    /// Angara's: the adaptive channel, with the response channel as the escape. The escape to
    /// intermediate nodes is the request channel.
    fn default() -> Self {
        Self { adaptive: 2, escape: 1, escape_to_intermediate: 0 }
    }
}

impl EscapeRule {
    /// The virtual channels of each kind of packets in direction order: one for each class.
    #[must_use]
    pub fn width(self) -> u8 {
        if matches!(self, Self::Dateline) { 2 } else { 1 }
    }

    /// The usual virtual channels: the escapes are those of responses and of requests, and the
    /// adaptive one is behind these.
    #[must_use]
    pub fn usual_channels(self) -> AdaptiveChannels {
        let AdaptiveChannels { adaptive, escape, escape_to_intermediate } =
            AdaptiveChannels::default();
        let [adaptive, escape, escape_to_intermediate] =
            [adaptive, escape, escape_to_intermediate].map(|channel| channel * self.width());
        AdaptiveChannels { adaptive, escape, escape_to_intermediate }
    }

    /// The lowest virtual channels of read requests and of responses.
    #[must_use]
    pub fn reads(self) -> [u8; 2] {
        [0, self.width()]
    }
}

/// The rules of an adaptive routing.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveRules {
    /// The detours that a packet may be sent on.
    pub non_minimal: NonMinimalRule,
    /// The choice among ports that lead on.
    pub selection: &'static Row<Selection>,
    /// The way round a half ring; `None` if both ways lead on.
    pub tie: Option<Tie>,
    /// Number of largest packets for which a new packet leaves room in the adaptive channel's
    /// buffer that it enters.
    pub injection_bubble: u8,
    /// The virtual channels of adaptive packets.
    pub channels: AdaptiveChannels,
    /// What packets follow on the escape channels.
    pub escape: EscapeRule,
}

impl Default for AdaptiveRules {
    /// The adaptive bubble router.
    fn default() -> Self {
        Self {
            non_minimal: NonMinimalRule::default(),
            selection: &Selection::built_in()[0],
            tie: None,
            injection_bubble: 0,
            channels: AdaptiveChannels::default(),
            escape: EscapeRule::Auto,
        }
    }
}

impl AdaptiveRules {
    /// The key of a virtual channel whose use can deadlock, and the reason; `None` if none is.
    /// Whether the legs of a detour can share an escape by a table is left to the proof, which
    /// shows the cycle.
    #[must_use]
    pub fn flaw(&self) -> Option<(&'static str, String)> {
        let AdaptiveChannels { adaptive, escape, escape_to_intermediate } = self.channels;
        let ring = "adaptive packets keep no bubble, so they could fill its rings and stop them";
        let width = self.escape.width();
        let reads = ["read requests", "read responses"];
        if let Some(reads) = reads.get(usize::from(adaptive / width)) {
            let reason =
                format!("virtual channel {adaptive} carries {reads} in direction order; {ring}");
            return Some(("adaptive", reason));
        }
        let legs = if self.non_minimal.goes_via_intermediate() { 2 } else { 1 };
        let escapes = [("escape", escape), ("escape_to_intermediate", escape_to_intermediate)];
        let is_no_pair = |it: &&(_, u8)| it.1 % width != 0 || it.1 / width > 1;
        if let Some(&(key, _)) = escapes[..legs].iter().find(is_no_pair).filter(|_| width > 1) {
            let reason = "with datelines an escape has two virtual channels, a packet's class is one \
                          of them, and the pairs are 0 with 1 and 2 with 3: it is 0 or 2";
            return Some((key, reason.into()));
        }
        let alone = "packets need a way out that no others can block: another virtual channel than \
                     the adaptive one";
        if escape == adaptive {
            return Some(("escape", alone.into()));
        }
        if !self.non_minimal.goes_via_intermediate() {
            return None;
        }
        let theorem = "packets that turn at an intermediate node would close cycles across the \
                       dimensions: each leg needs an escape channel of its own";
        match escape_to_intermediate {
            same if same == adaptive => Some(("escape_to_intermediate", alone.into())),
            same if same == escape && !matches!(self.escape, EscapeRule::Table) => {
                Some(("escape_to_intermediate", theorem.into()))
            }
            _ => None,
        }
    }

    /// Purpose of a virtual channel for adaptive packets; `None` if they don't use it.
    pub fn purpose(&self, virtual_channel: u8) -> Option<&'static str> {
        let AdaptiveChannels { adaptive, escape, escape_to_intermediate } = self.channels;
        let is_of = |first: u8| (first..first + self.escape.width()).contains(&virtual_channel);
        if virtual_channel == adaptive {
            Some("adaptive packets")
        } else if is_of(escape) {
            Some("escape")
        } else if self.non_minimal.goes_via_intermediate() && is_of(escape_to_intermediate) {
            Some("escape to intermediate nodes")
        } else {
            None
        }
    }

    /// Whether the escape on this torus is by a table, for [`Adaptive::with_table`].
    #[must_use]
    pub fn needs_table(&self, fabric: &Fabric) -> bool {
        match self.escape {
            EscapeRule::Table => true,
            EscapeRule::Auto => has_lost(fabric),
            EscapeRule::Dateline => false,
        }
    }

    /// Checks that the escape can be on a torus.
    ///
    /// # Errors
    /// If it has datelines, and something has failed.
    pub fn fit(&self, fabric: &Fabric) -> Result<(), String> {
        if self.escape == EscapeRule::Dateline && has_lost(fabric) {
            return Err("something has failed, and escapes with datelines need whole rings".into());
        }
        Ok(())
    }

    /// Whether packets get random numbers.
    pub fn is_random(&self) -> bool {
        self.tie == Some(Tie::Random)
            || self.non_minimal.when() == Some(When::AtInjection)
            || self.draws_a_number()
    }

    /// Whether each packet gets a random number of its own.
    fn draws_a_number(&self) -> bool {
        self.selection.draws() || self.non_minimal.draws()
    }
}

/// After so many hops a packet is taken to walk in circles.
const MOST_HOPS_WITHOUT_LOAD: u32 = 10_000;

/// Whether a torus lacks some channel.
fn has_lost(fabric: &Fabric) -> bool {
    let torus = fabric.coordinates();
    let directions = torus.directions();
    (0..fabric.channel_slots())
        .any(|slot| fabric.target(slot) != torus.neighbor(slot / directions, slot % directions))
}

/// A packet's random number and bounds, drawn at its injection, and its decisions at routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// Router at which its present leg ends.
    pub to: u32,
    /// The directions that the packet is bound to.
    pub heading: Heading,
    /// Its random number, for selection functions and rules that draw at routers.
    pub drawn: u16,
    /// The kind of detour; `None` if the packet goes a shortest way.
    pub kind: Option<Misroute>,
}

/// The rule of the escape channels.
#[derive(Clone, Debug)]
enum Escape {
    /// Direction order. Half rings are gone in the positive direction. So wherever a packet enters
    /// the escape, the rest of its route there is in direction order from the next router too.
    DirectionOrder(Box<DirectionOrder>),
    /// Direction order whose channels have failed in part, and by router the ports that have not, a
    /// bit each.
    Failing(Box<DirectionOrder>, Vec<u16>),
    Table(EscapeTable),
}

/// The ways in which a packet may go on from a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Onward {
    /// The output ports that it may take on the adaptive channel, a bit each; 0 if it has to
    /// escape.
    pub options: u16,
    /// The port by which it may escape.
    pub escape: u16,
    /// Its dateline class there; 0 if the escape has one virtual channel.
    pub class: u8,
}

/// An adaptive routing of a fabric.
#[derive(Clone, Debug)]
pub struct Adaptive {
    escape: Escape,
    compass: Compass,
    rule: BoundRule,
    when: Option<When>,
    rules: AdaptiveRules,
    seed: u64,
}

impl Adaptive {
    /// Makes the routing, with an escape in direction order. `seed` is that of the packets' random
    /// numbers, if the rules use any.
    ///
    /// # Errors
    /// If the rules don't [fit](AdaptiveRules::fit) or [need a table](AdaptiveRules::needs_table), or
    /// the rule of detours refuses the torus.
    pub fn new(fabric: &Fabric, rules: AdaptiveRules, seed: u64) -> Result<Self, String> {
        rules.fit(fabric)?;
        if rules.needs_table(fabric) {
            return Err("the escape needs a table".into());
        }
        let order = DirectionOrder::new(fabric, HalfRing::Plus)
            .map_err(|unroutable| unroutable.to_string())?;
        Self::with_escape(fabric, rules, Escape::DirectionOrder(Box::new(order)), seed)
    }

    /// Makes the routing, with an escape by a table of one virtual channel that has a way for every
    /// pair and closes no cycle.
    ///
    /// # Errors
    /// If the rule of detours refuses the torus.
    pub fn with_table(
        fabric: &Fabric,
        rules: AdaptiveRules,
        table: &ForwardingTable,
        seed: u64,
    ) -> Result<Self, String> {
        Self::with_escape(fabric, rules, Escape::Table(EscapeTable::new(fabric, table)), seed)
    }

    fn with_escape(
        fabric: &Fabric,
        rules: AdaptiveRules,
        escape: Escape,
        seed: u64,
    ) -> Result<Self, String> {
        let torus = fabric.coordinates();
        let rule = rules.non_minimal.bind(torus)?;
        let compass = Compass::new(torus, rules.tie.is_none());
        Ok(Self { escape, compass, rule, when: rules.non_minimal.when(), rules, seed })
    }

    /// The routing after some channels have failed, and before a new one is made: packets choose no
    /// failed channel, and escape as they did, by failed channels too.
    #[must_use]
    pub(super) fn avoiding(&self, fabric: &Fabric, failed: &[bool]) -> Self {
        let live = |router| {
            let channels = (0u16..).zip(fabric.outputs(router));
            let live = channels.filter(|&(_, channel)| !failed[channel as usize]);
            live.fold(0, |set, (port, _)| set | 1 << port)
        };
        let live = (0..fabric.routers()).map(live);
        let escape = match &self.escape {
            Escape::DirectionOrder(order) | Escape::Failing(order, _) => {
                Escape::Failing(order.clone(), live.collect())
            }
            Escape::Table(table) => Escape::Table(table.with_ports(live)),
        };
        Self { escape, ..self.clone() }
    }

    /// Bytes that its construction takes, estimated, besides those of a table.
    pub fn memory_needed(fabric: &Fabric, rules: &AdaptiveRules) -> u64 {
        let torus = fabric.coordinates();
        let detours = rules.non_minimal.memory_needed(torus);
        let coordinates = u64::from(torus.nodes()) * torus.dimensions() as u64 * 6;
        let escape = match rules.needs_table(fabric) {
            true => EscapeTable::memory_needed(fabric),
            false => DirectionOrder::memory_needed(fabric),
        };
        escape + coordinates + detours
    }

    /// The rules that the routing was made of.
    pub fn rules(&self) -> &AdaptiveRules {
        &self.rules
    }

    /// The rule of detours on this torus.
    pub fn rule(&self) -> &BoundRule {
        &self.rule
    }

    /// The seed of the packets' random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The output ports that lead a packet on, a bit each. Direction order takes the lowest.
    /// Positive directions have lower bits, so they are chosen where both ways round lead on.
    #[inline]
    pub fn ports(&self, router: u32, to: u32, heading: Heading) -> u16 {
        self.compass.ports(router, to, heading)
    }

    /// Whether the escape follows a table. Then there is no bubble, and a packet that has entered
    /// the escape stays on it until its leg ends.
    #[inline]
    pub fn has_table(&self) -> bool {
        matches!(self.escape, Escape::Table(_))
    }

    /// The ways in which a packet goes on from a router where its leg to `to` does not end.
    /// `escaped` says whether it came on the escape channel of this leg.
    #[inline]
    pub fn onward(&self, router: u32, to: u32, heading: Heading, escaped: bool) -> Onward {
        let nearer = self.ports(router, to, heading);
        let (options, escape) = match &self.escape {
            Escape::DirectionOrder(_) => (nearer, fitted!(nearer.trailing_zeros(), u16)),
            Escape::Failing(_, live) => {
                (nearer & live[router as usize], fitted!(nearer.trailing_zeros(), u16))
            }
            Escape::Table(table) => {
                let options = if escaped { 0 } else { nearer & table.ports(router) };
                (options, table.port(router, to))
            }
        };
        let has_classes = matches!(self.rules.escape, EscapeRule::Dateline);
        let class = u8::from(has_classes && self.compass.wraps(router, to, escape));
        Onward { options, escape, class }
    }

    /// The course of a packet at its injection. Random draws come in this order, each only if the
    /// rules use it: a byte for half rings, those of a rule that decides at injection, 16 bits for
    /// the selection and for decisions at routers.
    pub fn inject(&self, source: u32, destination: u32, random: Option<&mut ChaCha8Rng>) -> Course {
        let mut course =
            Course { to: destination, heading: Heading::default(), drawn: 0, kind: None };
        if let Some(random) = random {
            if self.rules.tie == Some(Tie::Random) {
                course.heading.negative = random.random();
            }
            if self.when == Some(When::AtInjection) {
                let (compass, live) = (&self.compass, self.live(source));
                let negative = course.heading.negative;
                let packet = AtInjection { compass, source, destination, negative, live };
                let on_detour = match &self.rule {
                    ByDetours::Minimal => None,
                    ByDetours::Orthants(rule) => rule
                        .draw(&packet, random)
                        .map(|heading| self.bound(source, course, heading)),
                    ByDetours::Nodes(rule) => rule
                        .draw(&packet, random)
                        .and_then(|node| self.through(source, course, node)),
                    ByDetours::Phases(rule) => rule
                        .draw(&packet, random)
                        .map(|drawn| self.in_two_phases(source, course, drawn)),
                };
                course = on_detour.unwrap_or(course);
            }
            if self.rules.draws_a_number() {
                course.drawn = random.random();
            }
        }
        course
    }

    /// Whether packets decide at routers: that of their source, and if they decide on the way also
    /// others.
    pub fn decides(&self) -> bool {
        matches!(self.when, Some(When::AtSource | When::OnTheWay))
    }

    /// Whether packets without a detour decide at each router that they come to.
    #[inline]
    pub fn decides_on_the_way(&self) -> bool {
        self.when == Some(When::OnTheWay)
    }

    /// Decides at a router how a packet goes on; `None` if it goes on without a detour. `used`
    /// counts the flits used behind each port on the adaptive channel. From `full` on there is no
    /// room for the packet. A port without a channel counts as more than full.
    pub fn decide(&self, router: u32, course: Course, used: &[u32], full: u32) -> Option<Course> {
        let packet = AtRouter {
            compass: &self.compass,
            router,
            destination: course.to,
            negative: course.heading.negative,
            used,
            full,
            live: self.live(router),
            drawn: course.drawn,
        };
        match &self.rule {
            ByDetours::Minimal => None,
            ByDetours::Orthants(rule) => {
                rule.decide(&packet).map(|heading| self.bound(router, course, heading))
            }
            ByDetours::Nodes(rule) => {
                rule.decide(&packet).and_then(|node| self.through(router, course, node))
            }
            ByDetours::Phases(rule) => {
                rule.decide(&packet).map(|drawn| self.in_two_phases(router, course, drawn))
            }
        }
    }

    /// What is alive, as a router sees it.
    fn live(&self, router: u32) -> Live<'_> {
        match &self.escape {
            Escape::DirectionOrder(_) => Live::default(),
            Escape::Failing(_, live) => Live { ports: live[router as usize], ends: None },
            Escape::Table(table) => Live { ports: table.ports(router), ends: Some(&table.ends) },
        }
    }

    /// The course of a packet that is bound to ways round from a router on.
    fn bound(&self, router: u32, course: Course, heading: Heading) -> Course {
        Course { heading, kind: self.orthant(router, course.to, heading), ..course }
    }

    /// The course of a packet that goes through an intermediate node from a router on; `None` if
    /// the node is one of its ends.
    ///
    /// # Panics
    /// If no packet can end at the node.
    fn through(&self, router: u32, course: Course, at: Intermediate) -> Option<Course> {
        let Intermediate { node, across } = at;
        if node == router || node == course.to {
            return None;
        }
        self.assert_end(router, node);
        let kind = if across { Misroute::Wraparound } else { Misroute::OutFlank };
        let heading = Heading { bound: 0, ..course.heading };
        Some(Course { to: node, heading, kind: Some(kind), ..course })
    }

    /// The course of a packet that goes by way of a node from a router on, and is bound to ways
    /// round.
    ///
    /// # Panics
    /// If no packet can end at the node.
    fn in_two_phases(&self, router: u32, course: Course, drawn: TwoPhase) -> Course {
        let TwoPhase { node, mut heading } = drawn;
        self.assert_end(router, node);
        heading.negative |= course.heading.negative & !heading.bound;
        let to = if node == router { course.to } else { node };
        let drawn = Course { to, heading, ..course };
        let shortest = self.compass.distance(router, course.to, Heading::default());
        let longer = self.hops(router, course.to, &drawn) > shortest;
        Course { kind: longer.then_some(Misroute::AtSource), ..drawn }
    }

    /// Checks that packets can end at an intermediate node.
    fn assert_end(&self, router: u32, node: u32) {
        let is_end = |ends: &[bool]| ends[node as usize];
        let ends = node < self.compass.nodes() && self.live(router).ends.is_none_or(is_end);
        let title = self.rules.non_minimal.title();
        assert!(ends, "{title} leads a packet through node {node}, where none can end");
    }

    /// The kind of detour that a heading is; `None` if it is none.
    fn orthant(&self, source: u32, destination: u32, heading: Heading) -> Option<Misroute> {
        let free = Heading::default();
        let distance = |heading| self.compass.distance(source, destination, heading);
        (distance(heading) > distance(free)).then_some(Misroute::Orthant)
    }

    /// Hops of a packet on its course, by its intermediate node if it has one.
    pub fn hops(&self, source: u32, destination: u32, course: &Course) -> u16 {
        let first = self.compass.distance(source, course.to, course.heading);
        let second = match course.to == destination {
            true => 0,
            false => self.compass.distance(course.to, destination, course.heading),
        };
        first + second
    }

    /// The route of a packet that never leaves the escape channel; `None` if the escape has a
    /// table.
    pub(super) fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Option<Route> {
        match &self.escape {
            Escape::DirectionOrder(order) | Escape::Failing(order, _) => {
                Some(order.route(fabric, source, destination))
            }
            Escape::Table(_) => None,
        }
    }

    /// Calls `each` with the channels of a packet that always takes the lowest port that leads on,
    /// or else the escape.
    pub(super) fn for_each_channel(
        &self,
        fabric: &Fabric,
        (mut at, end): (u32, u32),
        mut each: impl FnMut(Channel),
    ) {
        let mut escaped = false;
        while at != end {
            let Onward { options, escape, .. } = self.onward(at, end, Heading::default(), escaped);
            escaped = options == 0;
            let port = if escaped { u32::from(escape) } else { options.trailing_zeros() };
            let channel = fabric.outputs(at).start + port;
            each(channel);
            at = fabric.target(channel).expect("ways avoid failures");
        }
    }

    /// Whether packets may go other ways than the shortest ones of the torus.
    pub fn leaves_shortest_ways(&self) -> bool {
        self.when.is_some() || self.has_table()
    }

    /// Calls `each` with the channels of a packet between two routers that finds all queues empty.
    /// `random` is its source's stream; with `full` used flits there is no room for it.
    pub fn for_each_channel_without_load(
        &self,
        fabric: &Fabric,
        (mut at, end): (u32, u32),
        (random, full): (Option<&mut ChaCha8Rng>, u32),
        mut each: impl FnMut(Channel),
    ) {
        let mut course = self.inject(at, end, random);
        let mut decides = self.decides();
        let (mut escaped, mut straight) = (false, u32::MAX);
        // Rules of other crates may lead a packet in circles.
        for _ in 0..MOST_HOPS_WITHOUT_LOAD {
            if at == course.to && course.to != end {
                (course.to, escaped) = (end, false);
            }
            if at == course.to {
                return;
            }
            let channels = fabric.outputs(at);
            if decides && !escaped {
                let used = |channel| if fabric.target(channel).is_some() { 0 } else { u32::MAX };
                let used: Vec<u32> = channels.clone().map(used).collect();
                let decided = self.decide(at, course, &used, full);
                decides = decided.is_none() && self.decides_on_the_way();
                course = decided.unwrap_or(course);
            }
            let onward = self.onward(at, course.to, course.heading, escaped);
            escaped = onward.options == 0;
            let port = if escaped {
                u32::from(onward.escape)
            } else {
                self.rules.selection.prefers(&Outputs {
                    open: onward.options,
                    straight,
                    drawn: drawn_at(at, course.drawn),
                    room: &[1; u16::BITS as usize],
                    granted: &[Picoseconds::ZERO; u16::BITS as usize],
                })
            };
            // A packet that has escaped decides no more.
            decides = decides && !escaped;
            straight = port;
            each(channels.start + port);
            at = fabric.target(channels.start + port).expect("ways avoid failures");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fabric;

    fn bubble(fabric: &Fabric) -> Adaptive {
        Adaptive::new(fabric, AdaptiveRules::default(), 1).unwrap()
    }

    #[test]
    fn the_lowest_port_is_that_of_direction_order() {
        for sizes in [&[5, 4][..], &[2, 3, 4], &[4, 2, 2, 2], &[3, 1, 6]] {
            let fabric = test_fabric(sizes, &[]);
            let adaptive = bubble(&fabric);
            for source in 0..fabric.routers() {
                for destination in (0..fabric.routers()).filter(|&node| node != source) {
                    let ports = adaptive.ports(source, destination, Heading::default());
                    let route = adaptive.route(&fabric, source, destination).unwrap();
                    assert_eq!(ports.trailing_zeros(), u32::from(route.runs()[0].port));
                    let course = adaptive.inject(source, destination, None);
                    let hops = adaptive.hops(source, destination, &course);
                    assert_eq!(u32::from(hops), route.hops());
                }
            }
        }
    }

    #[test]
    fn a_torus_that_is_not_whole_needs_a_table_and_has_no_datelines() {
        let fabric = test_fabric(&[5, 4], &[(0, 0)]);
        let refusal = |escape| {
            let rules = AdaptiveRules { escape, ..AdaptiveRules::default() };
            Adaptive::new(&fabric, rules, 1).unwrap_err()
        };
        assert_eq!(refusal(EscapeRule::Auto), "the escape needs a table");
        assert!(refusal(EscapeRule::Dateline).contains("datelines need whole rings"));
    }

    /// A packet on the escape channel asks anew at each router; its ways together are one in
    /// direction order, also in an orthant that is not minimal.
    #[test]
    fn escapes_from_router_to_router_keep_the_direction_order() {
        let fabric = test_fabric(&[4, 5, 2, 6], &[]);
        let adaptive = bubble(&fabric);
        for source in (0..fabric.routers()).step_by(7) {
            for destination in 0..fabric.routers() {
                for heading in [
                    Heading::default(),
                    Heading { negative: 0b1011, bound: 0b1011 },
                    Heading { negative: 0b0001, bound: 0b1001 },
                ] {
                    let (mut at, mut latest) = (source, 0);
                    while at != destination {
                        let escape = adaptive.ports(at, destination, heading).trailing_zeros();
                        assert!(escape >= latest);
                        latest = escape;
                        at = fabric.target(fabric.outputs(at).start + escape).unwrap();
                    }
                }
            }
        }
    }
}
