//! For how long packets wait for each output, and why: what keeps them is looked at after every
//! instant, and stays so until the next one.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{STALLS, Stall};

use super::{
    Simulator,
    network::Router,
    queue::Queue,
    way::{OutputVc, Place},
};

/// By router and output: why packets wait since the latest instant, and for how long they have
/// waited.
pub struct Stalls {
    latest: Picoseconds,
    outputs: Vec<Vec<(Option<Stall>, [Picoseconds; STALLS])>>,
}

impl Stalls {
    pub fn new(routers: &[Router]) -> Self {
        let outputs = routers
            .iter()
            .map(|router| vec![(None, [Picoseconds::ZERO; STALLS]); router.outputs.len()]);
        Self { latest: Picoseconds::ZERO, outputs: outputs.collect() }
    }

    pub fn times(self) -> Vec<[Picoseconds; STALLS]> {
        self.outputs.into_iter().flatten().map(|(_, times)| times).collect()
    }
}

impl Simulator<'_> {
    /// Counts the time since the instant before, and looks at what keeps packets waiting after this
    /// one.
    pub fn count_stalls(&mut self, now: Picoseconds) {
        let Some(mut stalls) = self.own.stalls.take() else { return };
        for (router, outputs) in stalls.outputs.iter_mut().enumerate() {
            for (output, (reason, times)) in outputs.iter_mut().enumerate() {
                if let Some(reason) = *reason {
                    times[reason as usize] += now - stalls.latest;
                }
                *reason = self.stall(router, output, now);
            }
        }
        stalls.latest = now;
        self.own.stalls = Some(stalls);
    }

    /// Why packets wait for an output: of those that wait, what keeps the one that is nearest to
    /// going on.
    fn stall(&self, router: usize, output: usize, now: Picoseconds) -> Option<Stall> {
        let inputs = self.routers[router].inputs.iter().enumerate();
        let queues = inputs.flat_map(|(port, input)| input.queues.iter().map(move |it| (port, it)));
        let reasons = queues.filter(|(_, queue)| !queue.flits.is_empty()).map(|(port, queue)| {
            match queue.way {
                Some(_) => self.stall_of_flit(router, output, queue, now),
                None => {
                    let place = Place { router, port, virtual_channel: queue.virtual_channel };
                    self.stall_of_packet(place, output, queue, now)
                }
            }
        });
        reasons.max().flatten()
    }

    /// What keeps the next flit of a packet that has a virtual channel of an output.
    fn stall_of_flit(
        &self,
        router: usize,
        output: usize,
        queue: &Queue,
        now: Picoseconds,
    ) -> Option<Stall> {
        let way = queue.way.filter(|way| way.output == output && way.asks_from <= now)?;
        queue.flits.front()?;
        if self.is_taken(router, output, now) {
            let is_its_own = self.routers[router].outputs[output].latest == Some(way.packet);
            return (!is_its_own).then_some(Stall::OutputBusy);
        }
        Some(if self.has_credit(router, way) { Stall::InputBusy } else { Stall::NoCredit })
    }

    /// What keeps a packet from a virtual channel of an output.
    fn stall_of_packet(
        &self,
        place: Place,
        output: usize,
        queue: &Queue,
        now: Picoseconds,
    ) -> Option<Stall> {
        let packet = self.waiting(queue, now)?;
        let own: Vec<OutputVc> = self
            .asked_for(place, packet)
            .into_iter()
            .filter(|output_vc| output_vc.0 == output)
            .collect();
        if own.is_empty() {
            return None;
        }
        if self.is_taken(place.router, output, now) {
            return Some(Stall::OutputBusy);
        }
        if queue.packet_asks_again > now {
            return Some(Stall::InputBusy);
        }
        let fits =
            |&output_vc: &OutputVc| self.has_room_for(place.router, packet, output_vc, 0, now);
        Some(if own.iter().any(fits) { Stall::Bubble } else { Stall::NoCredit })
    }
}
