//! A pattern's name, meaning, keys, and how it is bound to the nodes of a fabric.

use std::fmt;
use std::sync::Arc;

use super::worst_case::WORST_CASE;
use super::{Nodes, PATTERNS, PatternError, PatternRule, WorstCase};
use flitlab_base::document::Reader;
use flitlab_base::registry::{Component, Row};
use flitlab_fabric::Places;

/// When it is decided who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partners {
    /// The nodes and the keys alone decide.
    Fixed,
    /// The scenario's seed decides too, once for the whole run.
    FixedBySeed,
    /// Each message draws its destination. Such a pattern has no steps, so it can't make an
    /// exchange.
    Drawn,
}

/// Makes the rule of a pattern for the nodes of a fabric, or says why it has none there.
pub type Bind = Arc<dyn Fn(&Nodes<'_>) -> Result<Box<dyn PatternRule>, PatternError> + Send + Sync>;

/// A traffic pattern.
///
/// ```
/// use flitlab_base::document::Count;
/// use flitlab_base::registry::Row;
/// use flitlab_traffic::{Bind, Partners, PatternKind};
///
/// /// Every node sends to the one that is so many further on.
/// static SHIFT: Row<PatternKind> = Row::new(
///     "shift",
///     "to the node whose number is larger by `by`, mod the number of nodes.",
///     PatternKind {
///         partners: Partners::Fixed,
///         read: |reader, _| {
///             let by = reader.required("by", &Count { example: 4 }, "How much larger.")?;
///             let bind: Bind = std::sync::Arc::new(move |nodes| {
///                 let count = nodes.count();
///                 Ok(Box::new(move |source| (source + by) % count))
///             });
///             Some(bind)
///         },
///     },
/// );
/// ```
#[derive(Clone, Copy)]
pub struct PatternKind {
    /// When it is decided who sends to whom.
    pub partners: Partners,
    /// Reads the keys of the pattern, if it has any. What the nodes are called is not known where
    /// the topology is wrong. `None` if a key is missing or wrong; the reader has reported it.
    pub read: fn(&mut Reader<'_>, Option<Places<'_>>) -> Option<Bind>,
}

impl Component for PatternKind {
    const NOUN: &'static str = "pattern";

    fn built_in() -> &'static [Row<Self>] {
        &PATTERNS
    }
}

/// The `read` of a pattern without keys.
pub(super) fn no_keys(
    bind: fn(&Nodes<'_>) -> Result<Box<dyn PatternRule>, PatternError>,
) -> Option<Bind> {
    Some(Arc::new(bind))
}

/// A pattern with its keys, as a scenario asks for it, not yet bound to a fabric.
#[derive(Clone)]
pub struct PatternSpec {
    kind: &'static Row<PatternKind>,
    /// The keys with their values as TOML; with the name they say which pattern it is.
    keys: Arc<str>,
    bind: Bind,
    /// The nodes that take part, ascending; all if there is no list.
    nodes: Option<Arc<[u32]>>,
    /// What finds the worst case of the routing beside it, if there is one.
    worst_case: Option<WorstCase>,
}

impl PatternSpec {
    /// Reads the keys of a pattern.
    pub fn read(
        kind: &'static Row<PatternKind>,
        reader: &mut Reader<'_>,
        places: Option<Places<'_>>,
    ) -> Option<Self> {
        let start = reader.resolved.len();
        let bind = (kind.read)(reader, places)?;
        let keys = reader.keys_since(start).into();
        Some(Self { kind, keys, bind, nodes: None, worst_case: None })
    }

    /// The built-in pattern of this name with these keys, as TOML: `PatternSpec::new("hotspot",
    /// "nodes = [1, 2]\nshare = 0.5")`. Nodes are given by their numbers.
    ///
    /// # Panics
    /// If there is no such pattern, or the keys are wrong; scenarios are read without panicking.
    pub fn new(name: &str, keys: &str) -> Self {
        let kind = PatternKind::named(name);
        let kind = kind.unwrap_or_else(|| panic!("there is no pattern {name}"));
        Reader::read_alone(name, keys, |reader| Self::read(kind, reader, None))
    }

    /// Returns the pattern among these nodes: all others neither send nor receive, as if they had
    /// failed.
    #[must_use]
    pub fn among(self, mut nodes: Vec<u32>) -> Self {
        nodes.sort_unstable();
        nodes.dedup();
        Self { nodes: Some(nodes.into()), ..self }
    }

    /// Returns the pattern beside a routing, whose worst case it may be.
    #[must_use]
    pub fn beside(self, worst_case: WorstCase) -> Self {
        Self { worst_case: Some(worst_case), ..self }
    }

    pub(super) fn worst_case(&self) -> Option<&WorstCase> {
        self.worst_case.as_ref()
    }

    /// The nodes that take part, ascending; `None` if all do.
    pub(super) fn nodes(&self) -> Option<&[u32]> {
        self.nodes.as_deref()
    }

    /// The name of the pattern in scenarios.
    pub fn name(&self) -> &'static str {
        self.kind.name
    }

    /// When it is decided who sends to whom.
    pub fn partners(&self) -> Partners {
        self.kind.partners
    }

    /// Whether another routing makes another pattern of it: a worst case does, and what has one among
    /// its parts.
    pub fn depends_on_routing(&self) -> bool {
        self.name() == WORST_CASE.name || self.keys.contains(WORST_CASE.name)
    }

    pub(super) fn bind(&self, nodes: &Nodes<'_>) -> Result<Box<dyn PatternRule>, PatternError> {
        (self.bind)(nodes)
    }
}

impl PartialEq for PatternSpec {
    fn eq(&self, other: &Self) -> bool {
        (self.kind.name, &self.keys, &self.nodes) == (other.kind.name, &other.keys, &other.nodes)
    }
}

impl fmt::Debug for PatternSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {{ {} }}", self.kind.name, self.keys)?;
        self.nodes.as_ref().map_or(Ok(()), |nodes| write!(formatter, " among {nodes:?}"))
    }
}
