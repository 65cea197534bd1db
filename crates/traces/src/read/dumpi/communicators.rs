//! Which ranks are in the communicators that programs make.
//!
//! Of `MPI_Comm_split` each rank's trace has what that rank said: a colour and a key. Who is in a
//! part follows from what all members of the parted communicator said, each in its nth split of it.

use std::collections::{BTreeMap, HashMap};

use super::Call;
use crate::read::contexts::{Contexts, MOST};
use flitlab_application::ANY;
use flitlab_application::generate::communicator::Communicator;

/// Who is in a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    All,
    /// The rank alone.
    One,
    /// A part of the ranks, by its number.
    Some(usize),
}

/// How a communicator is made, by the numbers that a rank has for the old one and the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Making {
    Same { old: i64, new: i64 },
    Grid { old: i64, places: i64, new: i64 },
    Split { old: i64, colour: i64, key: i64, new: i64 },
}

impl Making {
    pub(super) const fn is_split(&self) -> bool {
        matches!(self, Self::Split { .. })
    }
}

/// The communicator that a call makes; `None` of other calls.
pub(super) fn made_by(call: &Call) -> Result<Option<Making>, String> {
    let (old, new) = (|| call.number("oldcomm"), || call.number("newcomm"));
    Ok(match call.name.as_str() {
        "Comm_dup" => Some(Making::Same { old: old()?, new: new()? }),
        "Comm_split" => {
            let (colour, key) = (call.number("color")?, call.number("key")?);
            Some(Making::Split { old: old()?, colour, key, new: new()? })
        }
        "Cart_create" => {
            let dimensions = call.numbers("dims")?;
            let places = dimensions.iter().fold(1, |all: i64, it| all.saturating_mul(*it));
            Some(Making::Grid { old: old()?, places, new: new()? })
        }
        _ => None,
    })
}

/// The parts of ranks into which communicators were split.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// By part, its ranks in its order. The first one has all ranks and is never named.
    members: Vec<Vec<u32>>,
    /// By part, the contexts of its collective operations and of its other messages. Those of a
    /// rank that is in too many have none.
    contexts: Vec<Option<[u32; 2]>>,
    /// By rank and split of it: the part that it got.
    got: Vec<Vec<Option<Who>>>,
    used: Contexts,
}

/// A rank while what it made is followed.
struct Rank {
    making: Vec<Making>,
    next: usize,
    communicators: BTreeMap<i64, Who>,
    /// How often it has split a part.
    splits: HashMap<usize, usize>,
}

/// The number of all ranks among the parts.
const ALL: usize = 0;

/// What a rank says in a split: the colour, the key, its place before, itself.
type Said = (i64, i64, usize, u32);

impl Parts {
    /// Of what each rank made.
    pub(super) fn of(made: Vec<Vec<Making>>) -> Self {
        let all: Vec<u32> = (0..).zip(&made).map(|it| it.0).collect();
        let mut parts = Self { got: vec![Vec::new(); made.len()], ..Self::default() };
        parts.members.push(all.clone());
        parts.contexts.push(None);
        let mut known = HashMap::from([(all.clone(), ALL)]);
        let predefined = BTreeMap::from([(super::WORLD, Who::All), (super::SELF, Who::One)]);
        let rank = |making| {
            let (communicators, splits) = (predefined.clone(), HashMap::new());
            Rank { making, next: 0, communicators, splits }
        };
        let mut ranks: Vec<Rank> = made.into_iter().map(rank).collect();
        // By part and how often it was split before.
        let mut said: HashMap<(usize, usize), Vec<Said>> = HashMap::new();
        let mut free = all;
        while let Some(rank) = free.pop() {
            let Some((part, colour, key)) = ranks[rank as usize].advance(&mut parts, rank) else {
                continue;
            };
            let place = parts.members[part].iter().position(|member| *member == rank);
            let turn = ranks[rank as usize].splits.entry(part).or_default();
            let of_turn = said.entry((part, *turn)).or_default();
            *turn += 1;
            of_turn.push((colour, key, place.unwrap_or(0), rank));
            if of_turn.len() == parts.members[part].len() {
                let mut all = std::mem::take(of_turn);
                all.sort_unstable();
                for of_colour in all.chunk_by(|one, next| one.0 == next.0) {
                    let members: Vec<u32> = of_colour.iter().map(|it| it.3).collect();
                    // A colour below zero is none.
                    let who = (of_colour[0].0 >= 0).then(|| parts.add(members, &mut known));
                    for (.., rank) in of_colour {
                        ranks[*rank as usize].got(who);
                        parts.got[*rank as usize].push(who);
                        free.push(*rank);
                    }
                }
            }
        }
        parts
    }

    /// The part that has these ranks in this order, the same one each time.
    fn add(&mut self, members: Vec<u32>, known: &mut HashMap<Vec<u32>, usize>) -> Who {
        if members.len() == 1 {
            return Who::One;
        }
        let part = *known.entry(members.clone()).or_insert(self.members.len());
        if part == self.members.len() {
            let two = [self.used.take(&members), self.used.take(&members)];
            self.contexts.push(two[0].zip(two[1]).map(|(one, other)| [one, other]));
            self.members.push(members);
        }
        if part == ALL { Who::All } else { Who::Some(part) }
    }

    /// What a rank got in its nth split, if all took part in it.
    pub(super) fn of_rank(&self, rank: u32, split: usize) -> Option<Who> {
        self.got.get(rank as usize)?.get(split).copied().flatten()
    }

    /// The ranks of a part.
    pub(super) fn members(&self, part: usize) -> &[u32] {
        &self.members[part]
    }

    fn contexts(&self, part: usize) -> Result<[u32; 2], String> {
        let most = MOST / 2;
        self.contexts[part].ok_or_else(|| {
            format!(
                "one of its {} ranks is in more than {most} communicators",
                self.members(part).len()
            )
        })
    }

    /// A part as one of its ranks sees it.
    pub(super) fn communicator(
        &self,
        part: usize,
        rank: u32,
    ) -> Result<Communicator<'static>, String> {
        let members = self.members(part).to_vec();
        let place = members.iter().position(|member| *member == rank).unwrap_or(0);
        let place = u32::try_from(place).map_err(|_| "there are too many ranks")?;
        Ok(Communicator::of(members, place, self.contexts(part)?[0]))
    }

    /// The tag of a message between the ranks of a part.
    pub(super) fn tag(&self, part: usize, tag: u32) -> Result<u32, String> {
        let context = self.contexts(part)?[1];
        Ok(if tag == ANY { ANY } else { context << 24 | tag })
    }
}

impl Rank {
    /// Goes on to the next split of several ranks: its part, the colour and the key. `None` if there
    /// is none.
    fn advance(&mut self, parts: &mut Parts, rank: u32) -> Option<(usize, i64, i64)> {
        while let Some(making) = self.making.get(self.next).copied() {
            self.next += 1;
            let of = |old| self.communicators.get(&old).copied();
            let (new, who) = match making {
                Making::Same { old, new } => (new, of(old)),
                Making::Grid { old, places, new } => {
                    let ranks = |who| match who {
                        Who::All => parts.members[ALL].len(),
                        Who::One => 1,
                        Who::Some(part) => parts.members[part].len(),
                    };
                    (new, of(old).filter(|who| i64::try_from(ranks(*who)) == Ok(places)))
                }
                Making::Split { old, colour, key, new } => match of(old) {
                    Some(Who::All) => return Some((ALL, colour, key)),
                    Some(Who::Some(part)) => return Some((part, colour, key)),
                    found => {
                        let who = found.filter(|_| colour >= 0);
                        parts.got[rank as usize].push(who);
                        (new, who)
                    }
                },
            };
            self.note(new, who);
        }
        None
    }

    /// Takes what it got in the split to which it went on.
    fn got(&mut self, who: Option<Who>) {
        if let Some(Making::Split { new, .. }) = self.making.get(self.next - 1).copied() {
            self.note(new, who);
        }
    }

    fn note(&mut self, new: i64, who: Option<Who>) {
        match who {
            Some(who) => self.communicators.insert(new, who),
            None => self.communicators.remove(&new),
        };
    }
}
