//! Listing the physical routes that a relation offers.

use super::candidates::{Bundle, BundleHop, Candidates, Follows, NoCandidates, bits};
use flitlab_base::memory::claim;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::relation::Relation;

/// A walk through all physical routes to one destination.
pub(super) struct Listing<'a> {
    pub fabric: &'a Fabric,
    pub relation: &'a Relation,
    pub destination: u32,
    pub found: Candidates,
    pub way: Vec<BundleHop>,
    /// Hops for which there is memory.
    pub claimed: usize,
}

impl Listing<'_> {
    /// Lists the routes of a packet that was injected at a router.
    pub(super) fn list(&mut self, source: u32, state: u32) -> Result<(), NoCandidates> {
        let hops = self.relation.hops(state, self.destination).to_vec();
        for port in hops.chunk_by(|one, other| one.port == other.port) {
            let channel = self.fabric.outputs(source).start + u32::from(port[0].port);
            let vcs = port.iter().fold(0, |vcs, hop| vcs | 1 << hop.vc);
            self.way.push(BundleHop { channel, vcs, follows: 0 });
            if self.found.follows.is_empty() {
                self.found.follows.push([0; 16]);
            }
            self.go_on(channel, vcs)?;
            self.way.pop();
        }
        Ok(())
    }

    /// Lists the routes that begin like the present way, which came through a channel in one of
    /// these virtual channels.
    fn go_on(&mut self, channel: Channel, vcs: u16) -> Result<(), NoCandidates> {
        let router = self.fabric.target(channel).expect("a relation without flaw");
        if router == self.destination {
            return self.keep();
        }
        // By port, which virtual channels may follow which.
        let mut next: Vec<(u16, Follows)> = Vec::new();
        for vc in bits(vcs) {
            let state = self.relation.arrived(channel, vc);
            for hop in self.relation.hops(state, self.destination) {
                let place = next.iter().position(|(port, _)| *port == hop.port);
                let place = place.unwrap_or_else(|| {
                    next.push((hop.port, [0; 16]));
                    next.len() - 1
                });
                next[place].1[usize::from(vc)] |= 1 << hop.vc;
            }
        }
        next.sort_unstable_by_key(|(port, _)| *port);
        for (port, follows) in next {
            let vcs = follows.iter().fold(0, |all, vcs| all | vcs);
            let known = self.found.follows.iter().position(|known| *known == follows);
            let known = known.unwrap_or_else(|| {
                self.found.follows.push(follows);
                self.found.follows.len() - 1
            });
            let channel = self.fabric.outputs(router).start + u32::from(port);
            self.way.push(BundleHop { channel, vcs, follows: narrow(known) });
            self.go_on(channel, vcs)?;
            self.way.pop();
        }
        Ok(())
    }

    fn keep(&mut self) -> Result<(), NoCandidates> {
        let start = self.found.hops.len();
        if start + self.way.len() > self.claimed {
            // The capacity that a vector doubles to, and the memory of the heaps of a selection.
            self.claimed = (2 * self.claimed).max(1 << 16);
            claim("the list of all routes", self.claimed as u64 * 64)?;
        }
        self.found.hops.extend_from_slice(&self.way);
        let pair = narrow(self.found.pairs.len());
        let length = narrow(self.way.len());
        self.found.bundles.push(Bundle { pair, start: narrow(start), length });
        Ok(())
    }
}
