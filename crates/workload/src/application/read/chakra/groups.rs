//! Process groups: which ranks take part in a collective operation.
//!
//! Their members stand in a file beside the trace, as ASTRA-sim takes it (`{"1": [0, 1], ...}`), or
//! in a metadata node of the trace itself, as PyTorch writes them. A name that is empty or `0`
//! stands for all ranks unless there are members of `0`.

use std::collections::{BTreeMap, HashSet};

use super::{Mistake, mistake};
use crate::application::complaints::of_file;
use crate::application::generate::communicator::Communicator;
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;

/// Contexts of groups: those of [`Communicator::of`].
const CONTEXTS: std::ops::RangeInclusive<u32> = 2..=254;

/// The number of the group of all ranks.
const ALL: usize = 0;

#[derive(Debug)]
struct Group {
    members: Vec<u32>,
    /// 0 until it is first used.
    context: u32,
}

#[derive(Debug)]
pub(super) struct Groups {
    ranks: u32,
    by_name: BTreeMap<String, usize>,
    /// Groups by name and members: in traces of different ranks a name may stand for others.
    known: BTreeMap<(String, Vec<u32>), usize>,
    groups: Vec<Group>,
    /// By context from 2 on: the ranks that have a group of it.
    used: Vec<HashSet<u32>>,
}

impl Groups {
    /// The groups of a file, given by its name and text.
    pub(super) fn new(ranks: u32, file: Option<&(String, String)>) -> Result<Self, Diagnostics> {
        let all = Group { members: Vec::new(), context: 1 };
        let mut groups = Self {
            ranks,
            by_name: BTreeMap::new(),
            known: BTreeMap::new(),
            groups: vec![all],
            used: Vec::new(),
        };
        let Some((name, text)) = file else { return Ok(groups) };
        let parsed: BTreeMap<String, Vec<u32>> = serde_json::from_str(text).map_err(|error| {
            let problem = Diagnostic::unplaced(format!("{name} has no groups: {error}"));
            of_file(problem.help("write for example {\"1\": [0, 1, 2, 3], \"2\": [4, 5, 6, 7]}"))
        })?;
        for (group, members) in parsed {
            if let Some(rank) = members.iter().find(|rank| **rank >= ranks) {
                let problem =
                    format!("{name}: group {group} has rank {rank}, and there are {ranks}");
                let help = format!("there are files of ranks 0 to {}", ranks - 1);
                return Err(of_file(Diagnostic::unplaced(problem).help(help)));
            }
            groups.add(group, members);
        }
        Ok(groups)
    }

    /// Adds the groups that a metadata node of `PyTorch` names.
    pub(super) fn add_of_metadata(&mut self, values: &str) {
        #[derive(serde::Deserialize)]
        struct Named {
            pg_name: String,
            #[serde(default)]
            ranks: Vec<u32>,
        }
        let (from, to) = (values.find("[{"), values.rfind("}]"));
        let list = from.zip(to).and_then(|(from, to)| values.get(from..to + 2));
        // The text may be quoted once more.
        let parse = |list: &str| serde_json::from_str(list).ok();
        let list: Option<Vec<Named>> =
            list.and_then(|list| parse(list).or_else(|| parse(&list.replace("\\\"", "\""))));
        for Named { pg_name, ranks } in list.into_iter().flatten() {
            if ranks.iter().all(|rank| *rank < self.ranks) {
                self.add(pg_name, ranks);
            }
        }
    }

    /// Without members, it has all ranks.
    fn add(&mut self, name: String, mut members: Vec<u32>) {
        let mut seen = HashSet::new();
        members.retain(|rank| seen.insert(*rank));
        let all = members.is_empty() || members.iter().copied().eq(0..self.ranks);
        let group = match self.known.get(&(name.clone(), members.clone())) {
            Some(group) => *group,
            None if all => ALL,
            None => {
                // Of two names for the same ranks operations are told apart as of two groups.
                self.known.insert((name.clone(), members.clone()), self.groups.len());
                self.groups.push(Group { members, context: 0 });
                self.groups.len() - 1
            }
        };
        self.by_name.insert(name, group);
    }

    /// The group of this name, of which a rank has to be a member, and how many it has.
    pub(super) fn named(&mut self, name: &str, rank: u32) -> Result<(usize, u32), Mistake> {
        let group = match self.by_name.get(name) {
            Some(group) => *group,
            None if name.is_empty() || name == "0" => ALL,
            None => {
                let message = format!("who is in its group `{name}` is not known");
                let help = "`groups` names a JSON file of groups, such as {\"1\": [0, 1], \"2\": [2, 3]}, as \
                            ASTRA-sim's --comm-group-configuration";
                return Err(mistake(message, help));
            }
        };
        if group == ALL {
            return Ok((ALL, self.ranks));
        }
        if self.place(group, rank).is_none() {
            let message = format!("rank {rank} is no member of its group `{name}`");
            return Err(mistake(message, "a collective operation is of the members of its group"));
        }
        if self.groups[group].context == 0 {
            self.groups[group].context = self.context(&self.groups[group].members.clone())?;
        }
        Ok((group, narrow(self.groups[group].members.len())))
    }

    /// A context that no group with one of these members has.
    fn context(&mut self, members: &[u32]) -> Result<u32, Mistake> {
        for (place, context) in CONTEXTS.enumerate() {
            if place == self.used.len() {
                self.used.push(HashSet::new());
            }
            let used = &mut self.used[place];
            if !members.iter().any(|rank| used.contains(rank)) {
                used.extend(members);
                return Ok(context);
            }
        }
        let most = CONTEXTS.count();
        Err(mistake("its ranks are in too many groups", format!("a rank has {most} at the most")))
    }

    /// The place of a rank in a group.
    pub(super) fn place(&self, group: usize, rank: u32) -> Option<u32> {
        if group == ALL {
            return (rank < self.ranks).then_some(rank);
        }
        let place = self.groups[group].members.iter().position(|member| *member == rank);
        place.map(narrow)
    }

    /// The members of a group, seen by one of them.
    pub(super) fn members(&self, group: usize, rank: u32) -> Communicator<'_> {
        match self.place(group, rank).filter(|_| group != ALL) {
            None => Communicator::world(self.ranks, rank),
            Some(place) => {
                let Group { members, context } = &self.groups[group];
                Communicator::of(members.as_slice(), place, *context)
            }
        }
    }
}
