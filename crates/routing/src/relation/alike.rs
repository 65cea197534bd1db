//! Virtual channels that a relation treats alike.
//!
//! Two virtual channels are alike if the relation stays the same where the two change places:
//!
//! - Each list of hops that has a hop in one of them has the same hop in the other.
//! - Packets that came in one of them have the list of those that came in the other, for each
//!   channel and target.
//!
//! Both are looked up here, hop by hop, whatever rule made the relation. One hop that differs parts
//! the two.

use super::{Hop, Relation};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;

impl Relation {
    /// The classes of virtual channels that are alike, each as a set, a bit each, in the order of the
    /// lowest of each.
    #[must_use]
    pub fn alike_vcs(&self, fabric: &Fabric) -> Vec<u16> {
        let all = u16::MAX >> (16 - self.vcs());
        let mut classes = vec![all];
        for list in 0..self.lists() {
            for of_port in self.hops_of_list(list).chunk_by(|one, next| one.port == next.port) {
                // Hops that differ in more than the virtual channel are different hops.
                let kind = |hop: &Hop| Hop { vc: 0, ..*hop };
                for hop in of_port {
                    if hop.vc >= self.vcs() {
                        return (0..self.vcs()).map(|vc| 1 << vc).collect();
                    }
                    let same = of_port.iter().filter(|other| kind(other) == kind(hop));
                    part(&mut classes, same.fold(0, |set, hop| set | 1 << hop.vc));
                }
            }
        }
        // Where there are phases, hops don't depend on the virtual channel by which a packet came.
        if self.phases().is_none() && classes.len() < usize::from(self.vcs()) {
            for target in fabric.ends() {
                for channel in 0..fabric.channel_slots() {
                    let list = |vc| self.list(self.arrived(channel, vc), target);
                    for vc in (0..self.vcs()).filter(|&vc| list(vc) != list(0)) {
                        let same = (0..self.vcs()).filter(|&other| list(other) == list(vc));
                        part(&mut classes, same.fold(0, |set, vc| set | 1 << vc));
                    }
                }
            }
        }
        classes.sort_by_key(|class| class.trailing_zeros());
        classes
    }

    /// By virtual channel: the lowest that is alike.
    pub(super) fn lowest_alike(&self, fabric: &Fabric) -> Vec<u8> {
        let classes = self.alike_vcs(fabric);
        let of_vc = |vc: u8| classes.iter().find(|&class| class >> vc & 1 == 1);
        let lowest = |class: &u16| narrow(class.trailing_zeros());
        (0..self.vcs()).map(|vc| of_vc(vc).map_or(vc, lowest)).collect()
    }
}

/// Parts the classes that a set of virtual channels has a part of.
fn part(classes: &mut Vec<u16>, set: u16) {
    for number in 0..classes.len() {
        let class = classes[number];
        if class & set != 0 && class & !set != 0 {
            classes[number] = class & set;
            classes.push(class & !set);
        }
    }
}
