//! What is said of a table, in words that neither the program nor the checker has to itself.

use std::collections::{BTreeMap, BTreeSet};

/// What is said of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is malformed, or contradicts itself or its fabric.
    Refused,
    Judged(Findings),
}

/// What is found in a table that is understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Ordered pairs whose packets arrive.
    pub routed: u64,
    /// A kind of flaw, and where it is.
    pub flaws: BTreeSet<String>,
    /// Whether packets can wait for each other for ever.
    pub cycle: bool,
}

impl Verdict {
    /// The exit code of `flitlab route --check`.
    pub fn code(&self) -> i32 {
        match self {
            Self::Refused => 2,
            Self::Judged(findings) if findings.flaws.is_empty() && !findings.cycle => 0,
            Self::Judged(_) => 4,
        }
    }

    /// Counts each kind of verdict and of flaw once a table.
    pub fn count(&self, counts: &mut BTreeMap<String, u32>) {
        let kinds: BTreeSet<String> = match self {
            Self::Refused => ["refused".to_owned()].into(),
            Self::Judged(findings) => {
                let word = |flaw: &String| flaw.split(' ').next().unwrap().to_owned();
                let mut kinds: BTreeSet<String> = findings.flaws.iter().map(word).collect();
                if kinds.is_empty() && !findings.cycle {
                    kinds.insert("right".into());
                }
                if findings.cycle {
                    kinds.insert("cycle".into());
                }
                kinds
            }
        };
        kinds.into_iter().for_each(|kind| *counts.entry(kind).or_default() += 1);
    }
}
