//! Process groups: which ranks take part in a collective operation.
//!
//! Their members stand in a file beside the trace, as ASTRA-sim takes it (`{"1": [0, 1], ...}`), or
//! in a metadata node of the trace itself, as PyTorch writes them. A name that is empty or `0`
//! stands for all ranks unless there are members of `0`.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Mistake, mistake};
use crate::complaints::{of_file, shown};
use crate::read::contexts::{Contexts, MOST};
use crate::read::mpi::no_file;
use flitlab_application::generate::communicator::Communicator;
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;

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
    used: Contexts,
    /// Groups with a rank of which there is no file, by name; the first such rank.
    beyond: BTreeMap<String, u32>,
    /// The name of the file of groups, and those of its groups.
    file: Option<(String, BTreeSet<String>)>,
    /// Whether a node has named one of them.
    file_is_used: bool,
    /// Metadata nodes whose groups can't be read.
    pub(super) unreadable: usize,
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
            used: Contexts::default(),
            beyond: BTreeMap::new(),
            file: None,
            file_is_used: false,
            unreadable: 0,
        };
        let Some((name, text)) = file else { return Ok(groups) };
        let parsed: BTreeMap<String, Vec<u32>> = serde_json::from_str(text).map_err(|error| {
            let problem = Diagnostic::unplaced(format!("{name} has no groups: {error}"));
            of_file(problem.help("write for example {\"1\": [0, 1, 2, 3], \"2\": [4, 5, 6, 7]}"))
        })?;
        let names = parsed.keys().cloned().collect();
        groups.file = Some((name.clone(), names));
        for (group, members) in parsed {
            if let Some(rank) = members.iter().find(|rank| **rank >= ranks) {
                let problem =
                    format!("{name}: group {group} has rank {rank}: {}", no_file(*rank, ranks));
                let help = "put the files of all ranks into one folder; ranks are counted from 0";
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
        if list.is_none() && values.contains("pg_name") {
            self.unreadable += 1;
        }
        for Named { pg_name, ranks } in list.into_iter().flatten() {
            match ranks.iter().find(|rank| **rank >= self.ranks) {
                Some(rank) => {
                    self.by_name.remove(&pg_name);
                    self.beyond.insert(pg_name, *rank);
                }
                None => {
                    self.beyond.remove(&pg_name);
                    self.add(pg_name, ranks);
                }
            }
        }
    }

    /// The name of the file of groups, if no node is of one of them.
    pub(super) fn unused_file(&self) -> Option<&str> {
        self.file.as_ref().filter(|_| !self.file_is_used).map(|it| it.0.as_str())
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
        self.file_is_used |= self.file.as_ref().is_some_and(|(_, names)| names.contains(name));
        let group = match self.by_name.get(name) {
            Some(group) => *group,
            None if self.beyond.contains_key(name) => {
                let rank = self.beyond[name];
                let missing = no_file(rank, self.ranks);
                let message = format!("its group `{}` has rank {rank}: {missing}", shown(name));
                let help = "put the files of all ranks into one folder";
                return Err(mistake(message, help));
            }
            None if name.is_empty() || name == "0" => ALL,
            None => {
                let message = format!("who is in its group `{}` is not known", shown(name));
                let help = "`groups` names a JSON file of groups, such as {\"1\": [0, 1], \"2\": [2, 3]}, as \
                            ASTRA-sim's --comm-group-configuration";
                return Err(mistake(message, help));
            }
        };
        if group == ALL {
            return Ok((ALL, self.ranks));
        }
        if self.place(group, rank).is_none() {
            let name = shown(name);
            let message = format!("rank {rank} is no member of its group `{name}`");
            return Err(mistake(message, "a collective operation is of the members of its group"));
        }
        if self.groups[group].context == 0 {
            let context = self.used.take(&self.groups[group].members);
            self.groups[group].context = context.ok_or_else(|| {
                mistake(
                    "its ranks are in too many groups",
                    format!("a rank has {MOST} at the most"),
                )
            })?;
        }
        Ok((group, narrow(self.groups[group].members.len())))
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
