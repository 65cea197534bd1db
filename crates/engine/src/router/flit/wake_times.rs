//! Wake times: the earliest time at which each inactive queue may progress, with minima by input
//! port and by router. [Active](super::active_vc) queues have none here.

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, rebased};
use crate::network::ports::RouterLayout;
use flitlab_base::narrow::fitted;

/// The wake times of all queues of a part. The time of an input port is a lower bound of those of
/// its queues. The time of a router is a lower bound of those of its ports.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WakeTimes {
    /// By queue.
    queues: Vec<Tick>,
    /// By input port, and by router.
    ports: Vec<Tick>,
    routers: Vec<Tick>,
    /// Number of queues of an input port.
    of_port: usize,
}

impl WakeTimes {
    /// Wake times of routers without events, with this many input ports and queues each.
    pub(super) fn new(routers: usize, inputs: usize, of_port: usize) -> Self {
        let never = |count| vec![NEVER; count];
        Self {
            queues: never(inputs * of_port),
            ports: never(inputs),
            routers: never(routers),
            of_port,
        }
    }

    pub(super) fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Sets the time of a queue of a router's input port.
    #[inline(always)]
    pub(super) fn set(&mut self, queue: usize, (router, input): (u32, u32), time: Tick) {
        self.queues[queue] = time;
        let port = &mut self.ports[input as usize];
        *port = (*port).min(time);
        let router = &mut self.routers[router as usize];
        *router = (*router).min(time);
    }

    /// Lowers the time of a queue to at most `time`, and returns it.
    #[inline(always)]
    pub(super) fn lower(&mut self, queue: usize, port: (u32, u32), time: Tick) -> Tick {
        let time = self.queues[queue].min(time);
        self.set(queue, port, time);
        time
    }

    /// Lowers the time of a router to at most `time`.
    pub(super) fn lower_router(&mut self, router: u32, time: Tick) {
        let router = &mut self.routers[router as usize];
        *router = (*router).min(time);
    }

    /// A lower bound of the times of a router's queues.
    #[inline(always)]
    pub(super) fn first(&self, router: u32) -> Tick {
        self.routers[router as usize]
    }

    /// Takes out the router's queues with time `now`, the earliest of all; each of them then needs
    /// a new time. They are put into `due` from its start on, and counted. `due` has one place more
    /// than there are queues.
    #[inline(always)]
    pub(super) fn take_due(
        &mut self,
        now: Tick,
        (number, router): (u32, &RouterLayout),
        due: &mut [u32],
    ) -> usize {
        let first_input = router.first_input as usize;
        let mut count = 0;
        let mut first = NEVER;
        let ports = &mut self.ports[first_input..][..router.inputs.into()];
        for (input, of_port) in ports.iter_mut().enumerate() {
            if *of_port == now {
                let of_router = input * self.of_port;
                let queues = first_input * self.of_port + of_router;
                let mut least = NEVER;
                // No branches, since the outcome cannot be predicted.
                let times = &mut self.queues[queues..][..self.of_port];
                for (queue, time) in (fitted!(of_router, u32)..).zip(times) {
                    let is_due = *time == now;
                    due[count] = queue;
                    count += usize::from(is_due);
                    *time = if is_due { NEVER } else { *time };
                    least = least.min(*time);
                }
                *of_port = least;
            }
            first = first.min(*of_port);
        }
        self.routers[number as usize] = first;
        count
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        let ports = self.ports.iter_mut().chain(&mut self.routers);
        ports.chain(&mut self.queues).for_each(|time| *time = rebased(*time, by));
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.queues) + size_of_val(&*self.ports) + size_of_val(&*self.routers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::NONE;

    #[test]
    fn queues_are_due_at_their_times_and_a_port_and_a_router_at_the_least_of_theirs() {
        // Two routers of two ports with three queues each.
        let mut times = WakeTimes::new(2, 4, 3);
        let second = RouterLayout {
            first_output: 2,
            first_input: 2,
            first_terminal: 1,
            outputs: 2,
            inputs: 2,
            terminals: 1,
            transit: 1,
            unit: 0,
        };
        for (queue, input, time) in [(6, 2, 30), (8, 2, 20), (9, 3, 20), (11, 3, 50)] {
            times.set(queue, (1, input), time);
        }
        assert_eq!((times.first(0), times.first(1)), (NEVER, 20));
        assert_eq!(times.lower(11, (1, 3), 60), 50, "it is as early already");
        assert_eq!(times.lower(11, (1, 3), 40), 40);
        let mut due = [NONE; 7];
        // Queues are numbered within their router.
        let count = times.take_due(20, (1, &second), &mut due);
        assert_eq!((count, &due[..count], times.first(1)), (2, &[2, 3][..], 30));
        assert_eq!(times.take_due(30, (1, &second), &mut due), 1);
        assert_eq!((due[0], times.first(1)), (0, 40));
        // A time may be too early: nothing is due then.
        times.lower_router(1, 35);
        assert_eq!((times.take_due(35, (1, &second), &mut due), times.first(1)), (0, 40));
        times.rebase(10);
        assert_eq!((times.first(0), times.first(1)), (NEVER, 30));
        assert_eq!((times.take_due(30, (1, &second), &mut due), due[0]), (1, 5));
        assert_eq!(times.first(1), NEVER);
    }
}
