//! Each message to a node of the group that is `by` groups further on, all alike: the adversarial
//! pattern of Dragonflies (\[dragonfly\], section 4.2; ADV+N of later papers). All shortest ways
//! of a group's messages lead over the few cables between two groups.

use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Live, Partners, PatternError, PatternKind, PatternRule};
use flitlab_base::document::Count;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(super) const GROUP_SHIFT: Row<PatternKind> = Row::new(
    "group-shift",
    "to the nodes of the group that is `by` groups further on, all alike.",
    PatternKind {
        partners: Partners::Drawn,
        read: |reader, _| {
            let by = reader.value("by", &Count { example: 2 }, 1, "How many groups further on.");
            Some(Arc::new(move |nodes| {
                let shift = GroupShift { group: nodes.groups()?, members: Vec::new(), by };
                Ok(Box::new(shift.with_members(nodes.live)?))
            }))
        },
    },
)
.known_as(&["adv", "adversarial", "worst_case", "bad_dragon"]);

struct GroupShift {
    /// The group of each node.
    group: Vec<u32>,
    /// The live nodes of each group.
    members: Vec<Vec<u32>>,
    by: u32,
}

impl GroupShift {
    fn with_members(mut self, live: &Live) -> Result<Self, PatternError> {
        let groups = self.group.iter().max().map_or(0, |last| last + 1);
        if self.by.is_multiple_of(groups) {
            let text = format!("group-shift by {} of {groups} groups stays in the group", self.by);
            return Err(PatternError::Refused(text));
        }
        self.members = vec![Vec::new(); groups as usize];
        for node in live.iter() {
            self.members[self.group[node as usize] as usize].push(node);
        }
        Ok(self)
    }

    /// The nodes to which `source` sends.
    fn targets(&self, source: u32) -> &[u32] {
        let group = u64::from(self.group[source as usize]) + u64::from(self.by);
        &self.members[narrow::<usize>(group % self.members.len() as u64)]
    }
}

impl PatternRule for GroupShift {
    fn steps(&self, _: &Live) -> Option<u32> {
        None
    }

    /// A source is silent if all nodes of the other group have failed.
    fn sends(&self, source: u32, _: &Live) -> bool {
        !self.targets(source).is_empty()
    }

    fn destination(&self, source: u32, _: u64, _: &Live, random: &mut ChaCha8Rng) -> Option<u32> {
        let targets = self.targets(source);
        let last = narrow::<u32>(targets.len()).checked_sub(1)?;
        Some(targets[random.random_range(0..=last) as usize])
    }

    fn for_each_share(&self, source: u32, _: &Live, each: &mut dyn FnMut(u32, f64)) {
        let targets = self.targets(source);
        targets.iter().for_each(|&node| each(node, 1.0 / targets.len() as f64));
    }

    fn memory(&self) -> usize {
        (self.group.capacity() + self.members.iter().map(Vec::capacity).sum::<usize>())
            * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, PatternSpec};
    use super::*;
    use flitlab_fabric::builders::{Dragonfly, GlobalCables};
    use flitlab_fabric::{Fabric, Torus};
    use rand::SeedableRng;

    fn dragonfly() -> Fabric {
        // Three groups of two switches with two nodes each: nodes 0 to 3, 4 to 7, 8 to 11.
        let dragonfly = Dragonfly {
            routers: 2,
            terminals: 2,
            global: 1,
            groups: 3,
            cables: GlobalCables::default(),
        };
        dragonfly.cabling().unwrap().fabric().unwrap()
    }

    #[test]
    fn a_group_sends_to_all_nodes_of_the_next_one_alike() {
        let pattern = Pattern::new(&PatternSpec::new("group-shift", ""), &dragonfly(), 1).unwrap();
        for (source, targets) in [(0, 4..8), (5, 8..12), (11, 0..4)] {
            let mut shares = Vec::new();
            pattern.for_each_share(source, |node, share| shares.push((node, share)));
            assert_eq!(shares, targets.clone().map(|node| (node, 0.25)).collect::<Vec<_>>());
            let mut random = ChaCha8Rng::seed_from_u64(7);
            let mut seen = std::collections::BTreeSet::new();
            for index in 0..64 {
                seen.insert(pattern.destination(source, index, &mut random).unwrap());
            }
            assert_eq!(seen, targets.collect());
        }
    }

    #[test]
    fn what_has_no_groups_or_stays_in_them_is_refused() {
        let said = |spec: &str, fabric: &Fabric| {
            let spec = PatternSpec::new("group-shift", spec);
            Pattern::new(&spec, fabric, 1).map(|_| ()).unwrap_err().to_string()
        };
        let stays = "group-shift by 3 of 3 groups stays in the group";
        assert_eq!(said("by = 3", &dragonfly()), stays);
        let torus = Torus::new(&[4, 4], &[]).unwrap().fabric(&Default::default()).unwrap();
        assert!(said("", &torus).starts_with("group-shift is defined on groups"));
    }
}
