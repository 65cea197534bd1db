//! Cycles of waiting, found the slow way: for each dependency, whether a walk leads from its end to
//! its start.

use std::collections::{BTreeMap, BTreeSet};

/// Who waits for whom.
pub struct Waits<P>(BTreeMap<P, BTreeSet<P>>);

impl<P: Ord + Clone> Waits<P> {
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The first place is held until the second is free.
    pub fn add(&mut self, held: P, wanted: P) {
        self.0.entry(held).or_default().insert(wanted);
    }

    /// Whether there is a cycle with a dependency that counts.
    pub fn close(&self, counts: impl Fn(&P, &P) -> bool) -> bool {
        let pairs = self.0.iter().flat_map(|(held, all)| all.iter().map(move |it| (held, it)));
        pairs.filter(|(held, wanted)| counts(held, wanted)).any(|(held, wanted)| {
            let mut seen = BTreeSet::from([wanted.clone()]);
            let mut open = vec![wanted.clone()];
            while let Some(place) = open.pop() {
                if place == *held {
                    return true;
                }
                for next in self.0.get(&place).into_iter().flatten() {
                    if seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            false
        })
    }
}
