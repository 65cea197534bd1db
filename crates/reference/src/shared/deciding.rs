//! How packets decide, and which way they prefer, by what is out behind a router's outputs.

use flitlab_base::units::Picoseconds;
use flitlab_routing::Routes;

use super::{
    channel::OutputName,
    network::{HasOutlet, Outlet},
    simulation::{Routers, Simulation},
};

impl<R: Routers> Simulation<'_, R> {
    /// The time at whose multiples packets that wait decide again.
    pub fn again(&self) -> Option<Picoseconds> {
        let Routes::Relation(routes) = self.routes else { return None };
        routes.again
    }

    pub fn is_time_again(&self, now: Picoseconds) -> bool {
        self.again().is_some_and(|again| now.0.is_multiple_of(again.0))
    }

    /// Whether a router's port has failed.
    pub fn has_failed(&self, router: usize, port: u16) -> bool {
        let router = &self.routers[router];
        let output = router.output_named(OutputName::Port(port)).map(|it| &router.outputs[it]);
        output.is_some_and(|it| R::has_failed(&self.channels[it.outlet().channel]))
    }

    /// Lets packets that ask at a router decide how they go on.
    pub fn decide_all(&mut self, router: usize, asking: &[usize], now: Picoseconds) {
        let named = |it: &Self, port| it.routers[router].output_named(OutputName::Port(port));
        if let Some(phased) = &self.terminals.phased {
            for &packet in asking {
                let used = |port, vcs: &[u8]| {
                    let output = named(self, port).expect("it is live");
                    let out = |&vc: &u8| R::out(self, (router, output), vc.into(), now);
                    vcs.iter().map(out).sum()
                };
                let mut decided = self.packets[packet].clone();
                if self.is_time_again(now) && !decided.settled {
                    decided.progress = decided.before.or(decided.progress);
                }
                phased.decide(&mut decided, router as u32, used, |channel| self.seen.of(channel));
                self.packets[packet] = decided;
            }
        }
        let Some(adaptive) = &self.terminals.adaptive else { return };
        for &packet in asking {
            if !self.packets[packet].undecided {
                continue;
            }
            let out_vc = usize::from(adaptive.rules.channels.adaptive);
            let ports = self.fabric.outputs(router as u32).len() as u16;
            let used = (0..ports).map(|port| {
                let output = named(self, port)?;
                let is_live = !self.has_failed(router, port);
                is_live.then(|| R::out(self, (router, output), out_vc, now))
            });
            let used: Vec<Option<u32>> = used.collect();
            let packet = &mut self.packets[packet];
            adaptive.decide_at(packet, router as u32, &used, self.parameters.buffer);
        }
    }

    /// Of the open ways of a packet that chooses by an adaptive routing, virtual channels of outputs,
    /// the one that it likes best; it has come to the router by a channel.
    pub fn liked(
        &self,
        (router, input): (usize, usize),
        packet: usize,
        open: &[(usize, usize)],
    ) -> Option<(usize, usize)> {
        let adaptive = self.terminals.adaptive.as_ref().expect("only its packets choose");
        let outlet = |way: &(usize, usize)| self.routers[router].outputs[way.0].outlet();
        let port = |way: &(usize, usize)| {
            outlet(way).name.port().expect("a packet that chooses is under way")
        };
        let mut all = self.routers.iter().flat_map(|it| &it.outputs).map(HasOutlet::outlet);
        let came = all.find(|it| it.channel == input).and_then(|it| it.name.port());
        let drawn = self.packets[packet].course.as_ref().map_or(0, |course| course.drawn);
        let seen = |way: &(usize, usize)| {
            let Outlet { channel, granted, .. } = outlet(way);
            (port(way), R::credits(&self.channels[channel])[way.1], granted)
        };
        let seen: Vec<_> = open.iter().map(seen).collect();
        let best = adaptive.liked(&seen, came, (router as u32, drawn))?;
        open.iter().copied().find(|way| port(way) == best)
    }
}
