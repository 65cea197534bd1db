//! What must hold at every instant: no space is lost, made up or used twice, and nothing is held by
//! two.

use std::collections::BTreeSet;

use flitlab_base::units::Picoseconds;

use super::{
    Simulator,
    collective::Unit,
    network::{Channel, Router},
    queue::Way,
};

impl Simulator<'_> {
    /// Panics if the room of a virtual channel doesn't add up, or what packets have been allocated
    /// doesn't fit.
    pub fn check_conservation(&self, now: Picoseconds) {
        for (number, channel) in self.channels.iter().enumerate() {
            if channel.leads_to.is_some() {
                self.check_room(number, channel);
            }
            assert!(channel.flits.iter().all(|moving| moving.arrives > now));
            assert!(channel.returning.iter().all(|moving| moving.arrives > now));
        }
        for router in &self.routers {
            check_holders(router);
            self.check_queues(router);
        }
    }

    /// Panics if anything is left anywhere.
    pub fn check_empty(&self) {
        for channel in &self.channels {
            assert!(channel.flits.is_empty() && channel.returning.is_empty());
            assert!(channel.credits.iter().all(|&credits| credits == channel.capacity));
            assert!(channel.link.as_ref().is_none_or(|link| link.is_idle()));
        }
        for output in self.routers.iter().flat_map(|router| &router.outputs) {
            assert!(output.virtual_channels.iter().all(|channel| channel.held_by.is_none()));
        }
        for queue in self.adapters.iter().flatten().flat_map(|it| &it.queues) {
            assert!(queue.waiting.is_empty() && queue.sending.is_none());
        }
        self.collective.iter().flat_map(|it| &it.units).for_each(Unit::check_empty);
    }

    /// Credits, flits on the wire, flits in queues and credits on their way back are all of a
    /// virtual channel's room.
    fn check_room(&self, number: usize, channel: &Channel) {
        let (router, port) = channel.leads_to.expect("it ends in a router");
        let input = &self.routers[router].inputs[port];
        for virtual_channel in 0..self.virtual_channels() {
            let is_coming = |flit: &super::Flit| {
                flit.virtual_channel == virtual_channel && !self.swallows(number, flit.packet)
            };
            let coming = match &channel.link {
                None => channel.flits.iter().filter(|it| is_coming(&it.content)).count(),
                Some(link) => link.missing(virtual_channel),
            };
            let queues = input.queues.iter();
            let queues = queues.filter(|queue| queue.virtual_channel == virtual_channel);
            let used: usize = queues.map(|queue| queue.flits.len()).sum();
            let returning = channel.returning.iter();
            let returning = returning.filter(|it| it.content == virtual_channel).count();
            let credits = channel.credits[virtual_channel];
            let all = credits + (coming + used + returning) as u32;
            assert_eq!(all, channel.capacity, "space is conserved");
        }
    }

    /// In each queue the flits of a packet follow each other in order, and packets are not mixed.
    fn check_queues(&self, router: &Router) {
        for queue in router.inputs.iter().flat_map(|input| &input.queues) {
            let mut before: Option<super::Flit> = None;
            for &(_, flit) in &queue.flits {
                assert_eq!(flit.virtual_channel, queue.virtual_channel);
                if let Some(before) = before {
                    let is_last = before.index + 1 == self.packets[before.packet].flits;
                    let follows = flit.packet == before.packet && flit.index == before.index + 1;
                    assert!(follows || is_last && flit.index == 0, "packets are not mixed");
                }
                before = Some(flit);
            }
        }
    }
}

/// What queues have been allocated and what outputs think is held is the same, and nothing twice.
fn check_holders(router: &Router) {
    let queues = router.inputs.iter().flat_map(|input| &input.queues);
    let ways: Vec<Way> = queues.filter_map(|queue| queue.way).collect();
    let taken: BTreeSet<_> = ways.iter().map(|way| (way.output, way.virtual_channel)).collect();
    assert_eq!(taken.len(), ways.len(), "no virtual channel is held by two packets");
    for way in &ways {
        let held = &router.outputs[way.output].virtual_channels[way.virtual_channel];
        assert_eq!(held.held_by, Some(way.packet));
    }
    let held = router.outputs.iter().flat_map(|output| &output.virtual_channels);
    assert_eq!(held.filter(|channel| channel.held_by.is_some()).count(), ways.len());
}
