//! Rules that may lead a new packet off the shortest ways.
//!
//! A rule is an [`AdaptiveRule`] for one of three kinds of detours. The kind is the type of its
//! decisions, so that a rule can't lead a packet where it has not said it would:
//!
//! | decision | detour | escapes of a packet |
//! |---|---|---|
//! | [`Heading`] | bound to one way round some rings | one virtual channel |
//! | [`Intermediate`] | through an intermediate node | one virtual channel for each leg |
//! | [`TwoPhase`] | through an intermediate node, and bound to ways round on both legs | the same |
//!
//! The proofs try all decisions of that kind, from all places where the rule [decides](When).
//! A row of the registry, an [`AdaptiveKind`], has the rule's name and what reads its keys. With
//! the values of these keys it is a [`NonMinimalRule`], and on a torus a [`BoundRule`].

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{CQR, Compass, Detours, GOAL, Heading, Misroute, OUTFLANK, PROFIT, RLB, ROMM, VALIANT};
use flitlab_base::document::Reader;
use flitlab_base::registry::{Component, Row};
use flitlab_fabric::Torus;

/// Where a rule decides on the detour of a packet. Each packet takes one detour at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At its injection, with the random stream of its source ([`AdaptiveRule::draw`]).
    AtInjection,
    /// At the router of its source, as soon as it can ask for an output there
    /// ([`AdaptiveRule::decide`]).
    AtSource,
    /// As [`AtSource`](Self::AtSource), and if it has no detour yet at each further router that it
    /// comes to. A packet that has escaped once goes the shortest way from there.
    OnTheWay,
}

/// A node through which a packet goes on the shortest ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intermediate {
    /// The number of the node; one where packets can end ([`Live::ends`]).
    pub node: u32,
    /// Whether it lies on the other side of rings. Results count these detours apart.
    pub across: bool,
}

/// A node by way of which a packet goes, and the ways round rings that it is bound to on both legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoPhase {
    /// The number of the node; one where packets can end ([`Live::ends`]). If it is one of the
    /// packet's ends, there is one leg.
    pub node: u32,
    /// The ways round.
    pub heading: Heading,
}

/// The live ports and nodes that a decision at a router depends on. By default all are alive.
#[derive(Clone, Copy, Debug)]
pub struct Live<'f> {
    /// The router's live ports, a bit each.
    pub ports: u16,
    /// By node: whether packets can end there; `None` if all nodes can be ends.
    pub ends: Option<&'f [bool]>,
}

impl Default for Live<'_> {
    fn default() -> Self {
        Self { ports: u16::MAX, ends: None }
    }
}

/// A packet that decides at its injection.
#[derive(Clone, Copy, Debug)]
pub struct AtInjection<'a> {
    /// The nodes, and the directions that lead from one to another.
    pub compass: &'a Compass,
    /// The router of its source.
    pub source: u32,
    /// The router of its destination.
    pub destination: u32,
    /// The dimensions whose half rings it goes in the negative direction, a bit each, if they are
    /// told.
    pub negative: u8,
    /// The ports of the source's router and the nodes that are alive.
    pub live: Live<'a>,
}

/// A packet that decides at a router.
#[derive(Clone, Copy, Debug)]
pub struct AtRouter<'a> {
    /// The nodes, and the directions that lead from one to another.
    pub compass: &'a Compass,
    /// The router where the packet is.
    pub router: u32,
    /// The router of its destination.
    pub destination: u32,
    /// The dimensions whose half rings it goes in the negative direction, a bit each.
    pub negative: u8,
    /// The flits used behind each port on the adaptive channel; more than `full` for a port without
    /// a channel.
    pub used: &'a [u32],
    /// From so many used flits on there is no room for the packet.
    pub full: u32,
    /// The ports and nodes that are alive.
    pub live: Live<'a>,
    /// The packet's random number, if the rule [draws](AdaptiveKind::draws) one.
    pub drawn: u16,
}

impl AtRouter<'_> {
    /// Returns a generator of random numbers for this packet at this router.
    pub fn random(&self) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.drawn.into());
        random.set_stream(self.router.into());
        random
    }
}

/// A rule that may lead packets on detours of one kind: [`Heading`], [`Intermediate`] or
/// [`TwoPhase`].
///
/// It is asked at the place that its [row](AdaptiveKind::when) says. `None` leaves a packet on the
/// shortest ways.
pub trait AdaptiveRule<Detour>: Any + fmt::Debug + Send + Sync {
    /// Decides for a packet that is injected. `random` is the stream of its source.
    fn draw(&self, _packet: &AtInjection<'_>, _random: &mut ChaCha8Rng) -> Option<Detour> {
        None
    }

    /// Decides for a packet at a router.
    fn decide(&self, _packet: &AtRouter<'_>) -> Option<Detour> {
        None
    }
}

/// One thing for each kind of detours. `Orthants` is for rules that bind packets to ways round
/// rings, `Nodes` for those that lead them through intermediate nodes, `Phases` for those that do
/// both.
#[derive(Clone, Copy, Debug)]
pub enum ByDetours<Orthants, Nodes, Phases> {
    /// For routing without detours.
    Minimal,
    /// For decisions of type [`Heading`].
    Orthants(Orthants),
    /// For decisions of type [`Intermediate`].
    Nodes(Nodes),
    /// For decisions of type [`TwoPhase`].
    Phases(Phases),
}

/// Makes a rule for a torus, or says why it has none there.
pub type Bind<Detour> =
    Arc<dyn Fn(&Torus) -> Result<Arc<dyn AdaptiveRule<Detour>>, String> + Send + Sync>;

/// Reads the keys of a rule; `None` if one is wrong, which the reader has reported.
pub type Read<Detour> = fn(&mut Reader<'_>) -> Option<Bind<Detour>>;

/// A rule on a torus.
pub type BoundRule = ByDetours<
    Arc<dyn AdaptiveRule<Heading>>,
    Arc<dyn AdaptiveRule<Intermediate>>,
    Arc<dyn AdaptiveRule<TwoPhase>>,
>;

/// An adaptive rule as scenarios name it. Those of orthants are the values of `rule` in
/// `[routing.pick_orthant]`, those of two phases in `[routing.two_phase]`. The others have a table
/// of their own, with their keys.
///
/// ```
/// use std::sync::Arc;
/// use flitlab_base::registry::Row;
/// use flitlab_routing::adaptive::{AdaptiveKind, AdaptiveRule, AtInjection, Heading, When};
/// use rand_chacha::ChaCha8Rng;
///
/// /// Every ring of the first dimension is a ring of one direction.
/// #[derive(Debug)]
/// struct OneWay;
///
/// impl AdaptiveRule<Heading> for OneWay {
///     fn draw(&self, _: &AtInjection<'_>, _: &mut ChaCha8Rng) -> Option<Heading> {
///         Some(Heading { negative: 0, bound: 1 })
///     }
/// }
///
/// static ONE_WAY: Row<AdaptiveKind> = Row::new(
///     "one-way",
///     "always in the positive direction of the first dimension.",
///     AdaptiveKind::orthants("one-way", When::AtInjection, |_| {
///         Some(Arc::new(|_| Ok(Arc::new(OneWay))))
///     }),
/// );
/// ```
#[derive(Clone, Copy)]
pub struct AdaptiveKind {
    /// The name of a routing with this rule in sentences.
    pub title: &'static str,
    /// Where packets decide.
    pub when: When,
    /// Whether decisions at routers use random numbers. If so each packet draws one of 16 bits.
    pub draws: bool,
    /// Estimates the bytes that the rule takes on a torus.
    pub memory: fn(&Torus) -> u64,
    /// Reads the keys of the rule.
    pub read: ByDetours<Read<Heading>, Read<Intermediate>, Read<TwoPhase>>,
}

impl AdaptiveKind {
    /// A rule that binds packets to ways round rings. It has no large tables, and draws nothing at
    /// routers.
    pub const fn orthants(title: &'static str, when: When, read: Read<Heading>) -> Self {
        Self { title, when, draws: false, memory: |_| 0, read: ByDetours::Orthants(read) }
    }

    /// A rule that leads packets through intermediate nodes. It has no large tables, and draws
    /// nothing at routers.
    pub const fn nodes(title: &'static str, when: When, read: Read<Intermediate>) -> Self {
        Self { title, when, draws: false, memory: |_| 0, read: ByDetours::Nodes(read) }
    }

    /// A rule that draws a node when a packet is injected. It has no large tables.
    pub const fn two_phase(title: &'static str, read: Read<TwoPhase>) -> Self {
        let when = When::AtInjection;
        Self { title, when, draws: false, memory: |_| 0, read: ByDetours::Phases(read) }
    }
}

impl Component for AdaptiveKind {
    const NOUN: &'static str = "adaptive rule";

    /// Other routings, whose tables stand beside those of rules.
    const RESERVED: &'static [&'static str] = &[
        "direction_order",
        "angara",
        "file",
        "pick_orthant",
        "two_phase",
        "agnostic",
        "opensm",
        "relation",
    ];

    fn built_in() -> &'static [Row<Self>] {
        static RULES: [Row<AdaptiveKind>; 8] =
            [ABR, PROFIT, GOAL, CQR, OUTFLANK, VALIANT, ROMM, RLB];
        &RULES
    }
}

/// The adaptive bubble router (\[abr\]).
const ABR: Row<AdaptiveKind> = Row::new(
    "adaptive",
    "Every packet may take any direction of a shortest way, hop by hop, on an adaptive virtual \
     channel; where none has room it falls back into another one, which keeps direction order and \
     the bubble rule (the adaptive bubble router, ABR), or, where something has failed, follows a \
     table.",
    AdaptiveKind {
        title: "adaptive routing",
        when: When::AtInjection,
        draws: false,
        memory: |_| 0,
        read: ByDetours::Minimal,
    },
)
.known_as(&["abr"]);

/// An adaptive rule with its keys, as a scenario asks for it, not yet bound to a torus.
#[derive(Clone)]
pub struct NonMinimalRule {
    row: &'static Row<AdaptiveKind>,
    /// The keys with their values as TOML; with the name they say which rule it is.
    keys: Arc<str>,
    bind: ByDetours<Bind<Heading>, Bind<Intermediate>, Bind<TwoPhase>>,
}

impl Default for NonMinimalRule {
    /// No detours: the adaptive bubble router.
    fn default() -> Self {
        Self { row: &AdaptiveKind::built_in()[0], keys: "".into(), bind: ByDetours::Minimal }
    }
}

impl NonMinimalRule {
    /// Reads the keys of a rule.
    pub fn read(row: &'static Row<AdaptiveKind>, reader: &mut Reader<'_>) -> Option<Self> {
        let start = reader.resolved.len();
        let bind = match row.read {
            ByDetours::Minimal => ByDetours::Minimal,
            ByDetours::Orthants(read) => ByDetours::Orthants(read(reader)?),
            ByDetours::Nodes(read) => ByDetours::Nodes(read(reader)?),
            ByDetours::Phases(read) => ByDetours::Phases(read(reader)?),
        };
        Some(Self { row, keys: reader.keys_since(start).into(), bind })
    }

    /// The built-in rule of this name with these keys, as TOML: `NonMinimalRule::new("outflank",
    /// "steps = 3")`.
    ///
    /// # Panics
    /// If there is no such rule, or the keys are wrong; scenarios are read without panicking.
    pub fn new(name: &str, keys: &str) -> Self {
        let row = AdaptiveKind::named(name);
        let row = row.unwrap_or_else(|| panic!("there is no adaptive rule {name}"));
        Reader::read_alone(name, keys, |reader| Self::read(row, reader))
    }

    /// The name of a routing with this rule in sentences.
    pub fn title(&self) -> &'static str {
        self.row.title
    }

    /// The name of the table of `[routing]` that has its keys.
    pub fn table(&self) -> &'static str {
        match self.bind {
            ByDetours::Minimal | ByDetours::Nodes(_) => self.row.name,
            ByDetours::Orthants(_) => "pick_orthant",
            ByDetours::Phases(_) => "two_phase",
        }
    }

    /// Where packets decide; `None` if there are no detours.
    pub(crate) fn when(&self) -> Option<When> {
        match self.bind {
            ByDetours::Minimal => None,
            ByDetours::Orthants(_) | ByDetours::Nodes(_) | ByDetours::Phases(_) => {
                Some(self.row.when)
            }
        }
    }

    /// Whether decisions at routers use random numbers.
    pub(crate) fn draws(&self) -> bool {
        self.row.draws
    }

    /// The rule on a torus.
    pub(crate) fn bind(&self, torus: &Torus) -> Result<BoundRule, String> {
        Ok(match &self.bind {
            ByDetours::Minimal => ByDetours::Minimal,
            ByDetours::Orthants(bind) => ByDetours::Orthants(bind(torus)?),
            ByDetours::Nodes(bind) => ByDetours::Nodes(bind(torus)?),
            ByDetours::Phases(bind) => ByDetours::Phases(bind(torus)?),
        })
    }

    /// The detours of OutFlank Routing, or of Pick Orthant Routing, on a torus; `None` if this is
    /// another rule.
    ///
    /// # Errors
    /// If the torus is so large that there is no place for them.
    pub fn detours(&self, torus: &Torus) -> Result<Option<Detours>, String> {
        let found = |rule: &dyn Any| rule.downcast_ref().cloned();
        Ok(match self.bind(torus)? {
            ByDetours::Minimal | ByDetours::Phases(_) => None,
            ByDetours::Orthants(rule) => found(&*rule),
            ByDetours::Nodes(rule) => found(&*rule),
        })
    }

    /// The bytes that it takes on a torus, estimated.
    pub(crate) fn memory_needed(&self, torus: &Torus) -> u64 {
        (self.row.memory)(torus)
    }

    /// The kinds of detours that may occur, at most three.
    pub fn kinds(&self) -> &'static [Misroute] {
        match self.bind {
            ByDetours::Minimal => &[],
            ByDetours::Orthants(_) => &[Misroute::Orthant],
            ByDetours::Nodes(_) => &[Misroute::OutFlank, Misroute::Wraparound],
            ByDetours::Phases(_) => &[Misroute::AtSource],
        }
    }

    /// Whether packets may be bound to ways round rings.
    pub fn binds(&self) -> bool {
        matches!(self.bind, ByDetours::Orthants(_) | ByDetours::Phases(_))
    }

    /// Whether packets choose among orthants, of which there is one where no dimension is a ring.
    pub fn needs_a_ring(&self) -> bool {
        matches!(self.bind, ByDetours::Orthants(_))
    }

    /// Whether packets may go through an intermediate node.
    pub fn goes_via_intermediate(&self) -> bool {
        matches!(self.bind, ByDetours::Nodes(_) | ByDetours::Phases(_))
    }
}

impl PartialEq for NonMinimalRule {
    fn eq(&self, other: &Self) -> bool {
        self.row == other.row && self.keys == other.keys
    }
}

impl fmt::Debug for NonMinimalRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {{ {} }}", self.row.name, self.keys)
    }
}
