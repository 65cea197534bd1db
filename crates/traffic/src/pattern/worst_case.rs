//! The permutation that loads some channel most under the scenario's routing (\[towles-dally\]). The
//! routing finds it: a pattern on its own does not know which ways packets take.

use std::fmt;
use std::sync::{Arc, OnceLock};

use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;

use super::{Live, Partners, PatternError, PatternKind, PatternRule, no_keys};

pub(super) const WORST_CASE: Row<PatternKind> = Row::new(
    "worst-case",
    "the permutation that loads a channel most under the routing; of packets that choose their ways, \
     under minimal routing.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            no_keys(|nodes| {
                let live: Vec<u32> = nodes.live.iter().collect();
                Ok(Box::new(Permutation(nodes.worst_case()?.of(nodes.fabric(), &live)?)))
            })
        },
    },
);

/// By node: its partner, or itself if it has none.
struct Permutation(Arc<[u32]>);

impl PatternRule for Permutation {
    fn partner(&self, source: u32, _: u32, _: &Live) -> u32 {
        self.0[source as usize]
    }

    fn memory(&self) -> usize {
        self.0.len() * size_of::<u32>()
    }
}

/// Finds the worst permutation of some terminals of a fabric, by terminal, or says why there is
/// none.
type Find = dyn Fn(&Fabric, &[u32]) -> Result<Vec<u32>, String> + Send + Sync;

/// A routing's worst case, found when it is first asked for.
#[derive(Clone)]
pub struct WorstCase {
    find: Arc<Find>,
    found: Arc<OnceLock<Result<Arc<[u32]>, String>>>,
}

impl WorstCase {
    /// What finds the permutation, of one fabric.
    pub fn new(
        find: impl Fn(&Fabric, &[u32]) -> Result<Vec<u32>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { find: Arc::new(find), found: Arc::default() }
    }

    fn of(&self, fabric: &Fabric, live: &[u32]) -> Result<Arc<[u32]>, PatternError> {
        let found = self.found.get_or_init(|| (self.find)(fabric, live).map(Arc::from));
        found.clone().map_err(|reason| {
            PatternError::Refused(format!("{} is not known: {reason}", WORST_CASE.name))
        })
    }
}

impl fmt::Debug for WorstCase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("as the routing has it")
    }
}
