//! The allocation of virtual channels: which packet at the head of a queue gets which one of its
//! outputs.

use std::collections::BTreeMap;

use flitlab_base::units::Picoseconds;
use flitlab_routing::Routes;

use super::{
    Simulator,
    queue::Way,
    turns::first_from,
    way::{OutputVc, Place},
};

/// A packet that takes part.
struct Wish {
    packet: usize,
    place: Place,
    /// The virtual channels for which it asks that are open to it.
    open: Vec<OutputVc>,
    /// Whether it accepts by the routing's selection.
    chooses: bool,
    /// The first of the outputs for which it asks.
    output: usize,
}

impl Simulator<'_> {
    /// Offers every virtual channel to a packet, lets every packet accept one, and does so again
    /// with what is left.
    pub fn allocate_virtual_channels(&mut self, router: usize, now: Picoseconds) {
        let mut wishes = self.wishes(router, now);
        if wishes.is_empty() {
            return;
        }
        for round in 0..self.sharing().iterations {
            for (queue, offers) in self.offers_of_virtual_channels(router, &wishes) {
                let wish = wishes.remove(&queue).expect("it was offered something");
                let accepted = self.accepted(queue, &wish, &offers);
                if round == 0 {
                    self.move_pointers(router, queue, accepted);
                }
                self.take_virtual_channel(&wish, queue, accepted, now);
                for other in wishes.values_mut() {
                    other.open.retain(|&open| open != accepted);
                }
            }
        }
        for (queue, wish) in wishes {
            let takes = match self.may_choose(wish.place, wish.packet) {
                true => self.longest_crossbar_time(),
                false => self.crossbar_time(router, wish.output),
            };
            let again = now + takes;
            self.routers[router].queue(queue).packet_asks_again = again;
            self.due.insert(again);
        }
    }

    /// The packets that ask and to which something is open, by their queues' numbers through all
    /// ports.
    fn wishes(&self, router: usize, now: Picoseconds) -> BTreeMap<usize, Wish> {
        let mut wishes = BTreeMap::new();
        let mut number = 0;
        for (port, input) in self.routers[router].inputs.iter().enumerate() {
            for queue in &input.queues {
                if let Some(packet) = self.asking(queue, now) {
                    let place = Place { router, port, virtual_channel: queue.virtual_channel };
                    let (open, chooses) = self.open_to(place, packet, now);
                    if let Some(&(output, _)) = open.first() {
                        wishes.insert(number, Wish { packet, place, open, chooses, output });
                    }
                }
                number += 1;
            }
        }
        wishes
    }

    /// By queue the virtual channels that are offered to it, in ascending order of output and
    /// number.
    fn offers_of_virtual_channels(
        &self,
        router: usize,
        wishes: &BTreeMap<usize, Wish>,
    ) -> BTreeMap<usize, Vec<OutputVc>> {
        let mut offers: BTreeMap<usize, Vec<OutputVc>> = BTreeMap::new();
        for (place, output) in self.routers[router].outputs.iter().enumerate() {
            for (number, virtual_channel) in output.virtual_channels.iter().enumerate() {
                let output_vc = (place, number);
                let asking = wishes.iter().filter(|(_, wish)| wish.open.contains(&output_vc));
                let asking = asking.map(|(&queue, _)| queue);
                if let Some(queue) = first_from(virtual_channel.pointer, asking) {
                    offers.entry(queue).or_default().push(output_vc);
                }
            }
        }
        offers
    }

    fn accepted(&mut self, queue: usize, wish: &Wish, offers: &[OutputVc]) -> OutputVc {
        if wish.chooses {
            return self.preferred(wish.place, wish.packet, offers);
        }
        let virtual_channels = self.virtual_channels();
        let pointer = self.routers[wish.place.router].queue(queue).pointer;
        let numbers = offers.iter().map(|&(output, number)| output * virtual_channels + number);
        let number = first_from(pointer, numbers).expect("there is an offer");
        (number / virtual_channels, number % virtual_channels)
    }

    fn move_pointers(&mut self, router: usize, queue: usize, (output, number): OutputVc) {
        let behind = output * self.virtual_channels() + number + 1;
        let router = &mut self.routers[router];
        router.queue(queue).pointer = behind;
        router.outputs[output].virtual_channels[number].pointer = queue + 1;
    }

    fn take_virtual_channel(
        &mut self,
        wish: &Wish,
        queue: usize,
        output_vc: OutputVc,
        now: Picoseconds,
    ) {
        let &Wish { packet, place, .. } = wish;
        let router = place.router;
        let (output, virtual_channel) = output_vc;
        let mut asks_from = now + self.sharing().virtual_channel_allocation;
        self.due.insert(asks_from);
        if self.waits_for_copies(virtual_channel) {
            asks_from = Picoseconds::NEVER;
        }
        if self.packets[packet].operation.is_none() {
            let came =
                self.came_to_head(self.routers[router].queue_at(queue), packet).expect("it asks");
            let ready = came + self.parameters.routing_latency;
            self.routers[router].outputs[output].waited += now - ready;
        }
        let held = &mut self.routers[router].outputs[output].virtual_channels[virtual_channel];
        assert!(held.held_by.is_none(), "a virtual channel is held by one packet");
        held.held_by = Some(packet);
        if self.packets[packet].operation.is_none() {
            held.taken = now;
        }
        if self.terminals.adaptive.as_ref().is_some_and(|it| it.is_adaptive(virtual_channel)) {
            self.routers[router].outputs[output].granted = now;
        }
        let channel = self.routers[router].outputs[output].channel;
        if self.channels[channel].failed {
            self.swallow(packet, channel);
        }
        let way = Way { packet, output, virtual_channel, asks_from, sent: 0 };
        self.routers[router].queue(queue).way = Some(way);
        if let Routes::Relation(routes) = self.routes {
            let hops = self.hops(routes, place, packet);
            let of_fallback = hops.iter().any(|hop| hop.output_vc == output_vc && hop.last);
            self.packets[packet].fallbacks += u32::from(of_fallback);
        }
        self.goes_on(router, packet, output_vc);
    }
}
