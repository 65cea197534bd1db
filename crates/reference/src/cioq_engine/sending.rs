//! Channels: which packet of a source queue or of an output's buffers is sent, and its flits.

use flitlab_base::units::Picoseconds;

use crate::shared::channel::Moving;

use super::{
    Simulator,
    network::{Channel, Flit},
    passage::{Passage, paced},
};

impl Simulator<'_> {
    /// Gives each free injection channel the next packet that its credits cover.
    pub fn inject(&mut self, now: Picoseconds) {
        for queues in self.adapters.iter_mut().flatten() {
            let channel = &mut self.channels[queues.channel];
            if channel.sending.is_some() {
                continue;
            }
            let fits = |packet: usize, virtual_channel: usize| {
                self.packets[packet].flits <= channel.credits[virtual_channel]
            };
            let Some((number, virtual_channel)) = queues.take(fits) else { continue };
            let packet = &mut self.packets[number];
            self.terminals.inject(packet, virtual_channel, self.routes, now);
            channel.credits[virtual_channel] -= packet.flits;
            // In the adapter all flits are there from the start.
            let there = self.own.there.entry(number).or_default();
            *there = vec![now; packet.flits as usize];
            send(channel, number, virtual_channel, there, now);
        }
    }

    /// Gives each free channel of a router the next packet whose header is there and that has room
    /// at the far end.
    pub fn grant_channels(&mut self, router: usize, now: Picoseconds) {
        let virtual_channels = self.virtual_channels();
        for output in &mut self.routers[router].outputs {
            let channel = &mut self.channels[output.channel];
            if channel.sending.is_some() {
                continue;
            }
            let fits = |&virtual_channel: &usize| {
                output.buffers[virtual_channel].flits.front().is_some_and(|header| {
                    assert_eq!(header.index, 0, "packets leave a buffer whole");
                    channel.ends_in_sink()
                        || self.packets[header.packet].flits <= channel.credits[virtual_channel]
                })
            };
            let mut cyclic =
                (0..virtual_channels).map(|step| (output.next_vc + step) % virtual_channels);
            let Some(virtual_channel) = cyclic.find(fits) else { continue };
            output.next_vc = (virtual_channel + 1) % virtual_channels;
            let buffer = &mut output.buffers[virtual_channel];
            let number = buffer.flits.front().expect("it was looked at").packet;
            let flits = self.packets[number].flits;
            output.waited += now - buffer.headers.pop_front().expect("its header is there");
            if channel.ends_in_sink() {
                // What is being sent is in no queue any more.
                buffer.queued.drain(..flits as usize);
            } else {
                channel.credits[virtual_channel] -= flits;
            }
            let there = self.own.there.get_mut(&number).expect("it has been injected");
            let passage = send(channel, number, virtual_channel, there, now);
            self.due.extend(buffer.leaving.plan(passage));
        }
    }

    /// Starts the next flit of each packet that is being sent, if its channel is free of the flit
    /// before and the flit is here.
    pub fn start_flits(&mut self, now: Picoseconds) {
        for queues in self.adapters.iter().flatten() {
            let channel = &mut self.channels[queues.channel];
            if let Some(flit) = due_flit(channel, now) {
                self.due.extend(start(channel, flit, now));
            }
        }
        for output in self.routers.iter_mut().flat_map(|router| &mut router.outputs) {
            let channel = &mut self.channels[output.channel];
            let Some(flit) = due_flit(channel, now) else { continue };
            let buffer = &mut output.buffers[flit.virtual_channel];
            if buffer.flits.front() != Some(&flit) {
                assert!(flit.index > 0, "a packet is sent when its header is there");
                continue;
            }
            buffer.flits.pop_front();
            buffer.leaving.departed += 1;
            self.due.extend(start(channel, flit, now));
        }
    }
}

/// Gives a channel to a packet, some of whose flits may be on their way to where it is sent from.
fn send<'a>(
    channel: &'a mut Channel,
    packet: usize,
    virtual_channel: usize,
    there: &mut [Picoseconds],
    now: Picoseconds,
) -> &'a Passage {
    let starts = paced(there, now, channel.flit_time);
    let passage = Passage::new(packet, virtual_channel, &starts, channel.flit_time);
    there.iter_mut().zip(starts).for_each(|(there, starts)| *there = starts + channel.latency);
    channel.sending.insert(passage)
}

/// The flit that a channel can send now if it is here.
fn due_flit(channel: &Channel, now: Picoseconds) -> Option<Flit> {
    let sending = channel.sending.as_ref()?;
    let &Passage { packet, virtual_channel, gone: index, .. } = sending;
    sending.is_due(now).then_some(Flit { packet, index, virtual_channel })
}

/// Starts a flit on a channel; the instants at which that matters next.
fn start(channel: &mut Channel, flit: Flit, now: Picoseconds) -> [Picoseconds; 2] {
    channel.sending.as_mut().expect("its packet is being sent").go(now);
    let arrives = now + channel.latency;
    channel.flits.push_back(Moving { arrives, content: flit });
    [now + channel.flit_time, arrives]
}
