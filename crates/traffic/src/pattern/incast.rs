//! From some nodes to some others: an incast has few targets, an outcast few sources, and a
//! broadcast one source and all others for targets.
//!
//! Each source sends to each target in turn. The first source begins with the first target, the second
//! one with the second, and so on, so that several targets are busy alike.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::hotspot::draw_ranks;
use super::{Bind, Live, Nodes, Partners, PatternError, PatternKind, PatternRule};
use flitlab_base::document::{CountIn, Diagnostic, List, Listed, Reader, report_repeated};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{NodeName, Places};

pub(super) const INCAST: Row<PatternKind> = Row::new(
    "incast",
    "many to few: from each source to each target in turn.",
    PatternKind {
        partners: Partners::FixedBySeed,
        read: |reader, places| read("incast", reader, places, [Who::Others, Who::Drawn(1)]),
    },
);

pub(super) const OUTCAST: Row<PatternKind> = Row::new(
    "outcast",
    "few to many: from each source to each target in turn.",
    PatternKind {
        partners: Partners::FixedBySeed,
        read: |reader, places| read("outcast", reader, places, [Who::Drawn(1), Who::Others]),
    },
);

pub(super) const BROADCAST: Row<PatternKind> = Row::new(
    "broadcast",
    "one to all others in turn, as without a tree in the network.",
    PatternKind {
        partners: Partners::FixedBySeed,
        read: |reader, places| {
            let doc = "The node that sends. The seed draws it if it is absent.";
            let root = reader.optional("root", &NodeName { places }, doc);
            let root = match root {
                Some(root) => Who::Given(vec![root]),
                None if reader.has("root") => return None,
                None => Who::Drawn(1),
            };
            Some(bind("broadcast", [root, Who::Others]))
        },
    },
);

/// What the sides are called.
const NAMES: [&str; 2] = ["sources", "targets"];

/// The most nodes that are drawn.
const MAX_DRAWN: u64 = 1 << 20;

/// The random streams of sources and of targets, behind those of terminals and permutations, and before
/// those of the hot nodes of each period.
const STREAMS: [u64; 2] = [(1 << 35) - 2, (1 << 35) - 1];

/// The nodes of one side.
#[derive(Clone)]
enum Who {
    /// These, in this order.
    Given(Vec<u32>),
    /// So many that the seed draws, none of the other side.
    Drawn(u32),
    /// All that are not on the other side.
    Others,
}

/// Reads sources and targets, either of which may be given, counted or left out.
fn read(
    pattern: &'static str,
    reader: &mut Reader<'_>,
    places: Option<Places<'_>>,
    [sources, targets]: [Who; 2],
) -> Option<Bind> {
    let sources = Side {
        list: "sources",
        list_doc: "The nodes that send. With neither this nor `source_count`, of an incast all others do, of an \
                   outcast one that the seed draws.",
        count: "source_count",
        count_doc: "How many nodes send, which the seed draws.",
    }
    .read(reader, places, sources);
    let targets = Side {
        list: "targets",
        list_doc: "The nodes that receive, in the order in which a source sends to them. With neither this nor \
                   `target_count`, of an incast one that the seed draws does, of an outcast all others.",
        count: "target_count",
        count_doc: "How many nodes receive, which the seed draws.",
    }
    .read(reader, places, targets);
    Some(bind(pattern, [sources?, targets?]))
}

/// The keys of a side.
struct Side {
    list: &'static str,
    list_doc: &'static str,
    count: &'static str,
    count_doc: &'static str,
}

impl Side {
    /// Reads which nodes are on the side: a list, or how many are drawn.
    fn read(self, reader: &mut Reader<'_>, places: Option<Places<'_>>, usual: Who) -> Option<Who> {
        let Self { list, count, .. } = self;
        let name = NodeName { places };
        let kind = List { kind: name, noun: "nodes", length: 1..=usize::MAX, example: None };
        let nodes = reader.optional(list, &kind, self.list_doc);
        let whole = CountIn { range: 1..=MAX_DRAWN, example: 32 };
        let drawn = reader.optional(count, &whole, self.count_doc);
        if let (true, true, Some(place)) =
            (reader.has(list), reader.has(count), reader.key_place(count))
        {
            let message = format!("`{list}` are given, so that none are drawn");
            let help = format!("leave `{count}` out, or `{list}`");
            reader.problems.push(Diagnostic::new(&place, message).help(help));
            return None;
        }
        match (nodes, drawn) {
            (Some(nodes), _) => {
                report_repeated(reader, list, &nodes, "node", |&node| {
                    places.map_or_else(String::new, |places| places.name(node))
                });
                Some(Who::Given(Listed::values(nodes)))
            }
            (None, Some(count)) => Some(Who::Drawn(count)),
            (None, None) => (!reader.has(list) && !reader.has(count)).then_some(usual),
        }
    }
}

fn bind(pattern: &'static str, sides: [Who; 2]) -> Bind {
    Arc::new(move |nodes| Ok(Box::new(FewToFew::new(pattern, &sides, nodes)?)))
}

/// Live sources and targets.
struct FewToFew {
    /// Ascending.
    sources: Vec<u32>,
    /// In the order in which they are sent to.
    targets: Vec<u32>,
    /// For each source the step in which it would send to itself; the number of targets if it is none.
    own_steps: Vec<u32>,
}

impl FewToFew {
    fn new(
        pattern: &'static str,
        sides: &[Who; 2],
        nodes: &Nodes<'_>,
    ) -> Result<Self, PatternError> {
        let mut found: [Vec<u32>; 2] = [vec![], vec![]];
        for (side, found) in found.iter_mut().enumerate() {
            let Who::Given(given) = &sides[side] else { continue };
            nodes.check(given.iter().copied())?;
            found.extend(given.iter().filter(|&&node| nodes.live.contains(node)));
            if found.is_empty() {
                let reason =
                    format!("all {} of {pattern} have failed, or take no part", NAMES[side]);
                return Err(PatternError::Refused(reason));
            }
        }
        // Of what is drawn targets come first; all others are those that nobody took.
        let drawn = |side: &usize| matches!(sides[*side], Who::Drawn(_));
        let rest = |side: &usize| matches!(sides[*side], Who::Others);
        let order = [1, 0].into_iter().filter(drawn).chain([1, 0].into_iter().filter(rest));
        for side in order {
            let mut other = found[1 - side].clone();
            other.sort_unstable();
            let candidates: Vec<u32> =
                nodes.live.iter().filter(|node| other.binary_search(node).is_err()).collect();
            let all = narrow(candidates.len());
            found[side] = match sides[side] {
                Who::Drawn(count) if count > all => {
                    let [name, others] = [NAMES[side], NAMES[1 - side]];
                    return Err(PatternError::Refused(format!(
                        "{pattern} can't draw {count} {name}: {all} nodes take part besides its {others}, so {all} at \
                         most"
                    )));
                }
                Who::Drawn(count) => {
                    let mut random = ChaCha8Rng::seed_from_u64(nodes.seed);
                    random.set_stream(STREAMS[side]);
                    let ranks = draw_ranks(count, all, &mut random).into_iter();
                    ranks.map(|rank| candidates[rank as usize]).collect()
                }
                Who::Given(_) | Who::Others => candidates,
            };
        }
        let [mut sources, targets] = found;
        sources.sort_unstable();
        let all: u32 = narrow(targets.len());
        let mut own_steps = vec![all; sources.len()];
        for (position, target) in (0..).zip(&targets) {
            if let Ok(place) = sources.binary_search(target) {
                let from: u32 = narrow(place % targets.len());
                own_steps[place] = (position + all - from) % all;
            }
        }
        let rule = Self { sources, targets, own_steps };
        let is_heard = nodes.live.iter().any(|node| rule.sends(node, nodes.live));
        if is_heard { Ok(rule) } else { Err(PatternError::Nobody { pattern }) }
    }

    fn place(&self, source: u32) -> Option<usize> {
        self.sources.binary_search(&source).ok()
    }

    /// The target of a step of the source at this place; the source itself where it is one.
    fn target(&self, place: usize, step: usize) -> u32 {
        self.targets[(place + step) % self.targets.len()]
    }

    /// How many others the source at this place sends to.
    fn others(&self, place: usize) -> usize {
        let all = self.targets.len();
        if (self.own_steps[place] as usize) < all { all - 1 } else { all }
    }
}

impl PatternRule for FewToFew {
    fn steps(&self, _: &Live) -> Option<u32> {
        Some(narrow(self.targets.len()))
    }

    fn partner(&self, source: u32, step: u32, _: &Live) -> u32 {
        self.place(source).map_or(source, |place| self.target(place, step as usize))
    }

    /// Without a walk of all steps.
    fn destination(&self, source: u32, index: u64, _: &Live, _: &mut ChaCha8Rng) -> Option<u32> {
        let place = self.place(source)?;
        let step: usize = narrow(index.checked_rem(self.others(place) as u64)?);
        Some(self.target(place, step + usize::from(step >= self.own_steps[place] as usize)))
    }

    fn sends(&self, source: u32, _: &Live) -> bool {
        self.place(source).is_some_and(|place| self.others(place) > 0)
    }

    fn memory(&self) -> usize {
        let lists = [&self.sources, &self.targets, &self.own_steps];
        lists.into_iter().map(|list| list.capacity() * size_of::<u32>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, PatternSpec};
    use flitlab_fabric::{Faults, Torus};

    /// All partners of all sources of a ring of eight nodes, of which node 7 has failed.
    fn partners(name: &str, keys: &str, seed: u64) -> Result<Vec<(u32, Vec<u32>)>, PatternError> {
        let faults = Faults { nodes: vec![7], ..Faults::default() };
        let fabric = Torus::new(&[8], &[]).unwrap().fabric(&faults).unwrap();
        let pattern = Pattern::new(&PatternSpec::new(name, keys), &fabric, seed)?;
        let steps = pattern.steps().unwrap();
        let of = |source| (0..steps).filter_map(|step| pattern.partner(source, step)).collect();
        Ok((0..8).map(|source| (source, of(source))).collect())
    }

    fn senders(found: &[(u32, Vec<u32>)]) -> Vec<u32> {
        found.iter().filter(|it| !it.1.is_empty()).map(|it| it.0).collect()
    }

    #[test]
    fn each_source_sends_to_each_target_and_begins_with_one_of_its_own() {
        let found = partners("incast", "sources = [1, 2, 4, 7]\ntargets = [5, 0, 4]", 1).unwrap();
        assert_eq!(senders(&found), [1, 2, 4]);
        assert_eq!(found[1].1, [5, 0, 4]);
        assert_eq!(found[2].1, [0, 4, 5]);
        // Itself is left out.
        assert_eq!(found[4].1, [5, 0]);
    }

    #[test]
    fn who_is_not_given_is_one_that_the_seed_draws_or_all_others() {
        let found = partners("incast", "targets = [3]", 1).unwrap();
        assert_eq!(senders(&found), [0, 1, 2, 4, 5, 6]);
        let found = partners("outcast", "sources = [3]", 1).unwrap();
        assert_eq!((senders(&found), &found[3].1[..]), (vec![3], &[0, 1, 2, 4, 5, 6][..]));
        let found = partners("broadcast", "root = 2", 1).unwrap();
        assert_eq!((senders(&found), &found[2].1[..]), (vec![2], &[0, 1, 3, 4, 5, 6][..]));
        for name in ["incast", "outcast", "broadcast"] {
            let targets = |seed| partners(name, "", seed).unwrap();
            assert!((0..20).any(|seed| targets(seed) != targets(0)), "{name}");
            let all: usize = targets(0).iter().map(|it| it.1.len()).sum();
            assert_eq!(all, 6, "{name}");
        }
    }

    #[test]
    fn drawn_sources_are_no_targets() {
        for seed in 0..50 {
            let found = partners("incast", "source_count = 3\ntarget_count = 4", seed).unwrap();
            let sources = senders(&found);
            assert_eq!(sources.len(), 3);
            for source in &sources {
                let targets = &found[*source as usize].1;
                assert_eq!(targets.len(), 4);
                assert!(targets.iter().all(|target| *target != 7 && !sources.contains(target)));
            }
        }
    }

    #[test]
    fn more_than_there_are_can_not_be_drawn() {
        let error = |name, keys| partners(name, keys, 1).unwrap_err().to_string();
        let found = error("incast", "source_count = 7");
        assert_eq!(
            found,
            "incast can't draw 7 sources: 6 nodes take part besides its targets, so 6 at most"
        );
        let found = error("incast", "targets = [7]");
        assert_eq!(found, "all targets of incast have failed, or take no part");
        let found = error("outcast", "sources = [3]\ntargets = [3]");
        assert!(found.contains("sends nothing here"), "{found}");
    }
}
