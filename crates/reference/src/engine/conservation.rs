//! What must hold at any tick: no space is lost, made up or used twice.

use flitlab_base::units::Picoseconds;

use super::{
    Simulator,
    collective::Unit,
    link::Link,
    network::{Channel, Flit, Sending},
};

impl Simulator<'_> {
    /// Panics if, for a buffer, what is free, taken, used and on its way doesn't add up.
    pub fn check_conservation(&self) {
        let channels = self.channels.iter().enumerate();
        for (number, channel) in channels.filter(|(_, channel)| !channel.ends_in_sink()) {
            for virtual_channel in 0..self.virtual_channels() {
                let buffer = &channel.buffers[virtual_channel];
                if let Some(link) = &channel.link {
                    self.check_rooms(channel, link, virtual_channel);
                    continue;
                }
                let used = buffer.flits.len() as u32 + buffer.departed;
                assert!(used <= channel.capacity, "a buffer overflows");
                assert_eq!(
                    channel.credits[virtual_channel]
                        + self.taken(number, virtual_channel)
                        + self.flits_on_wire(number, virtual_channel)
                        + used
                        + credits_on_wire(channel, virtual_channel),
                    channel.capacity,
                    "space is conserved"
                );
            }
            let sending = channel.buffers.iter().filter(|buffer| buffer.is_sending).count();
            assert!(sending <= self.parameters.crossbar_speedup as usize);
        }
    }

    /// Panics if anything is left anywhere.
    pub fn check_empty(&self) {
        for channel in &self.channels {
            assert!(channel.sending.is_none() && channel.flits.is_empty());
            assert!(channel.credits.iter().all(|&credits| credits == channel.capacity));
            assert!(channel.returning.is_empty());
            assert!(channel.buffers.iter().all(|buffer| buffer.flits.is_empty()));
            if let Some(link) = &channel.link {
                assert!(link.sender.is_idle() && link.far_end.is_idle());
                assert!(link.rooms.is_empty() && link.replies.is_empty());
            }
        }
        self.collective.iter().flat_map(|it| &it.units).for_each(Unit::check_empty);
    }

    /// Checks the room of a buffer in which copies come and go. Each packet's room counts once, and
    /// each packet in the buffer or beside it has some.
    fn check_rooms(&self, channel: &Channel, link: &Link, virtual_channel: usize) {
        let rooms = link.rooms.values().filter(|room| room.0 == virtual_channel);
        let taken: u32 = rooms.map(|room| room.1).sum();
        assert_eq!(
            channel.credits[virtual_channel] + taken + credits_on_wire(channel, virtual_channel),
            channel.capacity,
            "space is conserved"
        );
        let buffer = &channel.buffers[virtual_channel];
        let there = buffer.flits.iter().map(|(_, flit)| flit).chain(&buffer.latest);
        let departed = usize::from(buffer.departed > 0);
        let there = there.take(buffer.flits.len() + departed);
        let beside = link.far_end.beside.values().flatten();
        for flit in there.chain(beside.filter(|flit| flit.virtual_channel == virtual_channel)) {
            let room = link.rooms.get(&flit.number);
            let flits = self.packets[flit.packet].flits;
            assert_eq!(room, Some(&(virtual_channel, flits)), "what is there has room");
        }
        // A bad copy is in the room of the next copy, so their flits count once.
        let place = |(_, flit): &(Picoseconds, Flit)| (flit.number, flit.index);
        let mut places: Vec<(u64, u32)> = buffer.flits.iter().map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() as u32 <= taken, "a buffer overflows");
    }

    /// Flits for which the sender has taken credits and which have not started.
    fn taken(&self, channel: usize, virtual_channel: usize) -> u32 {
        let sending = self.channels[channel].sending.as_ref();
        let takes_room = |sending: &&Sending| !self.swallows(channel, sending.packet);
        sending.filter(takes_room).map_or(0, |sending| {
            let packet = &self.packets[sending.packet];
            if sending.out_vc == virtual_channel { packet.flits - sending.started } else { 0 }
        })
    }

    fn flits_on_wire(&self, channel: usize, virtual_channel: usize) -> u32 {
        let flits = self.channels[channel].flits.iter().map(|moving| moving.content);
        let there = flits.filter(|flit| flit.virtual_channel == virtual_channel);
        there.filter(|flit| !self.swallows(channel, flit.packet)).count() as u32
    }
}

fn credits_on_wire(channel: &Channel, virtual_channel: usize) -> u32 {
    let messages = channel.returning.iter().map(|moving| &moving.content);
    let same = messages.filter(|message| message.virtual_channel == virtual_channel);
    same.map(|message| message.flits).sum()
}
