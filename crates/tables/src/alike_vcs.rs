//! Virtual channels that a relation treats alike: the proofs look at one of them in place of all.
//!
//! Which are alike is looked up in the relation, whatever rule made it
//! ([`Relation::alike_vcs`]). Packets reach a channel in all virtual channels of a class or in none, and go on from there
//! by the same hops. Each dependency between two classes stands for those of each virtual channel
//! of the one on each of the other. So the dependencies have a cycle if and only if those of the
//! classes have one.

use super::{RelationFlaw, RelationProof};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::{Hop, Relation};

#[cfg(test)]
pub(super) mod tests;

/// A relation whose virtual channels are classes of those that are alike, numbered in the order of
/// the lowest of each.
pub(super) struct AlikeVcs<'r> {
    relation: &'r Relation,
    /// By class: its virtual channels, a bit each.
    classes: Vec<u16>,
    /// List `n` has the hops `hops[starts[n]..starts[n + 1]]`, one for each class.
    starts: Vec<u32>,
    hops: Vec<Hop>,
}

impl<'r> AlikeVcs<'r> {
    /// Looks for the virtual channels that are alike.
    pub fn new(fabric: &Fabric, relation: &'r Relation) -> Self {
        Self::with(relation, relation.alike_vcs(fabric))
    }

    /// Each virtual channel is a class of its own.
    #[cfg(test)]
    pub fn apart(relation: &'r Relation) -> Self {
        Self::with(relation, (0..relation.vcs()).map(|vc| 1 << vc).collect())
    }

    fn with(relation: &'r Relation, classes: Vec<u16>) -> Self {
        let (mut starts, mut hops) = (vec![0], Vec::new());
        for list in 0..relation.lists() {
            hops.extend(relation.hops_of_list(list).iter().filter_map(|&hop| {
                let number = classes.iter().position(|class| first(*class) == hop.vc);
                match number {
                    Some(number) => Some(Hop { vc: narrow(number), ..hop }),
                    // One that does not exist is left to the proof, which refuses it.
                    None => (hop.vc >= relation.vcs()).then_some(hop),
                }
            }));
            starts.push(narrow(hops.len()));
        }
        Self { relation, classes, starts, hops }
    }

    /// Number of classes.
    pub fn count(&self) -> u8 {
        narrow(self.classes.len())
    }

    /// By class: number of its virtual channels.
    pub fn sizes(&self) -> Vec<u64> {
        self.classes.iter().map(|class| class.count_ones().into()).collect()
    }

    /// The state of a packet that has come through a channel, in a virtual channel of a class.
    pub fn arrived(&self, channel: Channel, class: u8) -> u32 {
        self.relation.arrived(channel, first(self.classes[usize::from(class)]))
    }

    /// The hops of a state to a target, in classes.
    pub fn hops(&self, state: u32, target: u32) -> &[Hop] {
        self.hops_of_list(self.relation.list(state, target))
    }

    /// The hops of a [list](Relation::hops_of_list), in classes.
    pub fn hops_of_list(&self, list: u32) -> &[Hop] {
        let list = list as usize;
        &self.hops[self.starts[list] as usize..self.starts[list + 1] as usize]
    }

    /// The proof of the classes as one of virtual channels: of each class it names the lowest.
    pub fn of_vcs(&self, mut proof: RelationProof) -> RelationProof {
        let vc = |class: u8| self.classes.get(usize::from(class)).map_or(class, |it| first(*it));
        let restore = |place: &mut VirtualChannel| place.vc = vc(place.vc);
        for flaw in &mut proof.flaws {
            match flaw {
                RelationFlaw::DeadEnd { after, .. } | RelationFlaw::NoEscape { after, .. } => {
                    after.iter_mut().for_each(restore);
                }
                RelationFlaw::NoChannel { hop, .. } | RelationFlaw::NoBubble { hop, .. } => {
                    hop.vc = vc(hop.vc);
                }
                RelationFlaw::Loop { places, .. } | RelationFlaw::Cycle(places) => {
                    places.iter_mut().for_each(restore);
                }
                RelationFlaw::Missed { place, .. } => restore(place),
            }
        }
        proof
    }
}

/// The lowest virtual channel of a class.
fn first(class: u16) -> u8 {
    narrow(class.trailing_zeros())
}
