//! Packets that are dropped, as they have waited at the head of a buffer for too long
//! (docs/model.md, "Head-of-queue lifetime").

use flitlab_base::units::Picoseconds;

use crate::shared::network::Place;

use super::Simulator;

impl Simulator<'_> {
    /// Drops the packets whose time is over.
    pub fn drop_expired(&mut self, now: Picoseconds) {
        let Some(lifetime) = self.parameters.head_of_queue_lifetime else { return };
        let inputs: Vec<usize> = self.routers.iter().flat_map(|it| it.inputs.clone()).collect();
        for channel in inputs {
            for virtual_channel in 0..self.virtual_channels() {
                while self.drop_head(Place { channel, virtual_channel }, lifetime, now) {}
            }
        }
    }

    /// Drops the packet at the head of a buffer if its time is over; whether it did.
    fn drop_head(&mut self, place: Place, lifetime: Picoseconds, now: Picoseconds) -> bool {
        let asking = self.asking(place, now);
        let buffer = &mut self.channels[place.channel].buffers[place.virtual_channel];
        let Some(packet) = asking else {
            buffer.asks = None;
            return false;
        };
        let since = match buffer.asks {
            Some((same, since)) if same == packet => since,
            _ => now,
        };
        buffer.asks = Some((packet, since));
        let over = since + lifetime;
        self.due.insert(over.max(now));
        let there = buffer.flits.iter().take_while(|(_, flit)| flit.packet == packet).count();
        if now < over || there < self.packets[packet].flits as usize {
            return false;
        }
        let last = buffer.flits.drain(..there).next_back().expect("a packet has flits").1;
        buffer.asks = None;
        self.return_room(place.channel, last, now);
        self.lose(packet);
        true
    }
}
