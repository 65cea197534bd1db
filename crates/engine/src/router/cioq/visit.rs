//! A visit: the loop over the instants of a router's window, and the heads of its buffers.

use super::{CioqRouters, Hops, InputVc};
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::network::ports::{RouterLayout, place};
use crate::next_hop::answer::{Head, NextHop};
use crate::router::Routers;
use flitlab_base::narrow::fitted;

/// The router that is visited, at an instant of its window.
pub(super) struct Visited {
    pub router: RouterLayout,
    /// Its number in the part, and in the whole network.
    pub number: u32,
    pub name: u32,
    pub now: Tick,
}

impl CioqRouters {
    /// Simulates a router before `until`, or until its terminals have something to do that cannot
    /// wait. Returns a lower bound of the time of its next event.
    pub(super) fn visit(&mut self, common: &mut Common<'_>, number: u32, until: Tick) -> Tick {
        let router = self.ports.routers[number as usize];
        let name = number + common.context.cut.first_router(common.schedule.part);
        let mut at = Visited { router, number, name, now: 0 };
        loop {
            at.now = self.next_event(number);
            if at.now >= until || common.to_hosts.is_urgent() {
                return at.now;
            }
            debug_assert!(
                at.now >= common.schedule.window.start,
                "a router does not go back in time"
            );
            if self.state.decide_at[number as usize] <= at.now {
                self.decide_all_again(common, &at);
            }
            self.let_heads_ask(common, &at);
            self.grant_all(common, &at);
            self.send_all(common, &at);
            if self.rules.again.is_some() {
                self.set_next_decision(common, &at);
            }
        }
    }

    /// Lets the heads that are due ask: looks for their hops, if they ask for the first time, and
    /// notes their requests, or when they are due next.
    fn let_heads_ask(&mut self, common: &mut Common<'_>, at: &Visited) {
        let inputs = self.inputs_of(&at.router);
        let mut due = std::mem::take(&mut self.due);
        let wake = &self.state.wake[inputs.clone()];
        due.extend(
            (fitted!(inputs.start, u32)..).zip(wake).filter(|it| *it.1 <= at.now).map(|it| it.0),
        );
        // All that decide at an instant do so before any requests.
        for &input_vc in &due {
            self.state.wake[input_vc as usize] = NEVER;
            if self.state.inputs[input_vc as usize].hops == Hops::Unknown {
                self.find_hops(common, at, input_vc);
            }
        }
        for &input_vc in &due {
            self.request(common, at, input_vc);
        }
        due.clear();
        self.due = due;
    }

    /// Looks for the hops of a head. If it has to decide, it does, and keeps to that if it settles.
    pub(super) fn find_hops(&mut self, common: &mut Common<'_>, at: &Visited, input_vc: u32) {
        let Visited { router, name, .. } = at;
        let InputVc { first: slot, .. } = self.state.inputs[input_vc as usize];
        let (input, vc) = place(input_vc, self.rules.shift);
        let input = fitted!(input, u32);
        let head = Head { slot, router: *name, input, vc, came: self.ports.input(input).came() };
        let next_hop =
            |common: &Common<'_>| common.routing.next_hop(&common.context, &common.packets, head);
        let mut next = next_hop(common);
        let decides = next == NextHop::Undecided;
        if decides {
            self.decide(common, at, slot);
            next = next_hop(common);
        }
        let network = usize::from(router.outputs)
            - usize::from(router.terminals) * common.context.parameters.ejection_channels as usize;
        self.state.inputs[input_vc as usize].hops = match next {
            // Where routers choose hops, packets can overtake each other anyway. Others leave the
            // network in the virtual channel in which they came, and so in order.
            NextHop::Output { output, .. } if usize::from(output) >= network => {
                if common.routing.is_by_relation() {
                    Hops::Ejection(output)
                } else {
                    Hops::One { output, vc }
                }
            }
            NextHop::Output { output, vc: out_vc, .. } => {
                let in_ring = self.ports.output_of(router, output.into()).in_ring;
                Hops::One { output, vc: out_vc.of_packet(vc, in_ring) }
            }
            NextHop::Hops(list) => Hops::List(list),
            NextHop::AnyOf { .. } | NextHop::Undecided => {
                unreachable!("packets do not choose on a torus, and have decided")
            }
        };
        if decides {
            self.settle(common, at, input_vc);
        }
    }
}
